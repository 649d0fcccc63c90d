"""open(on_damage="fill"): the rest of a damaged file, and what is lost by number.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import os
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import blosc2c
from blosc2c import DamageWarning
from blosc2c.recipe import Recipe

ITEMS = np.arange(10_000, dtype="i4")
BAD = 3


def write_array(path, contiguous=True, **kwargs):
    blosc2c.asarray(
        ITEMS, chunks=(1000,), blocks=(100,), urlpath=path, mode="w", contiguous=contiguous, **kwargs
    ).close()


def chunk_place(path, nchunk):
    """File and offset of a chunk; it is found by its bytes."""
    with blosc2c.open_schunk(path) as s:
        chunk = s.get_chunk(nchunk)
    files = (
        [path] if os.path.isfile(path) else [os.path.join(path, name) for name in sorted(os.listdir(path))]
    )
    for file in files:
        with open(file, "rb") as f:
            at = f.read().find(chunk)
        if at >= 0:
            return file, at, len(chunk)
    raise AssertionError("the chunk is not there")


def flip(path, nchunk, where):
    file, at, n = chunk_place(path, nchunk)
    with open(file, "r+b") as f:
        f.seek(at + where % n)
        byte = f.read(1)[0]
        f.seek(at + where % n)
        f.write(bytes([byte ^ 0x55]))


def expected(bad=(BAD,), items=ITEMS, chunk=1000):
    out = items.copy()
    for n in bad:
        out[n * chunk : (n + 1) * chunk] = 0
    return out


@pytest.fixture(params=[True, False], ids=["file", "directory"])
def path(request, tmp_path):
    path = str(tmp_path / "a.b2nd")
    write_array(path, request.param)
    return path


@pytest.mark.parametrize("where", [0, 1, 2, 5, 9, 13, 40, 200, -1])
def test_array_with_a_damaged_chunk(path, where):
    flip(path, BAD, where)
    with blosc2c.open(path) as a, pytest.raises(blosc2c.FormatError):
        a[:]
    with blosc2c.open(path, on_damage="fill") as a:
        assert a.schunk.damage == {}
        assert (a[:3000] == ITEMS[:3000]).all()
        assert a.schunk.damage == {}
        with pytest.warns(DamageWarning, match=f"chunk {BAD} is read as zeros") as seen:
            assert (a[:] == expected()).all()
        assert len(seen) == 1
        assert list(a.schunk.damage) == [BAD]
        assert isinstance(a.schunk.damage[BAD], blosc2c.FormatError)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (a[:] == expected()).all()
            assert a[BAD * 1000 + 5] == 0
            assert (a[[1, 3005, 9999]] == [1, 0, 9999]).all()
    assert not blosc2c.verify(path)  # the file itself is as it was


def test_each_way_to_read(path):
    flip(path, BAD, 40)
    first = BAD * 1000
    reads = [
        lambda a: a[first] == 0,
        lambda a: (a[[first, 5]] == [0, 5]).all(),
        lambda a: (a[::-7] == expected()[::-7]).all(),
        lambda a: a.schunk[first : first + 2] == bytes(8),
        lambda a: a.schunk.decompress_chunk(BAD) == bytes(4000),
        lambda a: a.schunk.get_slice(first - 1, first + 1) == ITEMS[first - 1].tobytes() + bytes(4),
        lambda a: (a.slice((slice(first - 5, first + 5),))[:] == expected()[first - 5 : first + 5]).all(),
        lambda a: (a.copy()[:] == expected()).all(),
        lambda a: (blosc2c.ndarray_from_cframe(a.to_cframe())[:] == expected()).all(),
        lambda a: (np.asarray(a) == expected()).all(),
        lambda a: b"".join(c.tobytes() for c in a.schunk.iterchunks("u1")) == expected().tobytes(),
    ]
    for number, read in enumerate(reads):
        with blosc2c.open(path, on_damage="fill") as a:
            with pytest.warns(DamageWarning):
                assert read(a), number
            assert list(a.schunk.damage) == [BAD]


def test_several_chunks_and_a_copy_to_memory(path):
    for nchunk in (0, 4, 9):
        flip(path, nchunk, 60)
    with blosc2c.open(path, on_damage="fill") as a, pytest.warns(DamageWarning):
        copied = a.copy(chunks=(500,))
        assert sorted(a.schunk.damage) == [0, 4, 9]
    assert (copied[:] == expected((0, 4, 9))).all()


def test_a_chunk_file_that_is_gone(tmp_path):
    path = str(tmp_path / "d.b2nd")
    write_array(path, contiguous=False)
    os.unlink(chunk_place(path, BAD)[0])
    with blosc2c.open(path, on_damage="fill") as a, pytest.warns(DamageWarning):
        assert (a[:] == expected()).all()
        assert list(a.schunk.damage) == [BAD]


def test_a_chunk_file_that_cannot_be_read(tmp_path):
    path = str(tmp_path / "d.b2nd")
    write_array(path, contiguous=False)
    file = chunk_place(path, BAD)[0]
    os.unlink(file)
    os.mkdir(file)  # read() gives EISDIR
    with blosc2c.open(path, on_damage="fill") as a, pytest.warns(DamageWarning):
        assert (a[:] == expected()).all()
        assert list(a.schunk.damage) == [BAD]


def test_chunks_of_any_sizes(tmp_path):
    path = str(tmp_path / "s.b2frame")
    parts = [bytes([65 + i]) * 50 + os.urandom(100 + 10 * i) for i in range(6)]
    with blosc2c.SChunk(urlpath=path, mode="w") as s:
        for part in parts:
            s.append_data(part)
    flip(path, BAD, 100)
    with blosc2c.open(path, on_damage="fill") as s, pytest.warns(DamageWarning):
        whole = b"".join(bytes(len(p)) if i == BAD else p for i, p in enumerate(parts))
        assert s[:] == whole
        assert s.decompress_chunk(BAD) == bytes(len(parts[BAD]))


def test_nothing_can_be_changed(path):
    with blosc2c.open(path, on_damage="fill") as a:
        assert not a.schunk.is_writable
        with pytest.raises(blosc2c.ReadOnlyError, match="on_damage"):
            a[0] = 1
        with pytest.raises(blosc2c.ReadOnlyError, match="on_damage"):
            a.schunk.vlmeta["name"] = 1
        assert (a[:] == ITEMS).all()
        assert a.schunk.damage == {}


def test_arguments(path):
    for kwargs in ({"mode": "a"}, {"locking": True}, {"mmap_mode": "r+"}):
        with pytest.raises(ValueError, match="on_damage"):
            blosc2c.open(path, on_damage="fill", **kwargs)
    with pytest.raises(ValueError, match="on_damage"):
        blosc2c.open(path, on_damage="ignore")
    blosc2c.open(path, on_damage="raise").close()


def test_mapped_file_at_an_offset(tmp_path):
    path, outer = str(tmp_path / "a.b2nd"), str(tmp_path / "outer")
    write_array(path)
    flip(path, BAD, 60)
    with open(path, "rb") as f, open(outer, "wb") as out:
        out.write(b"x" * 77 + f.read())
    with blosc2c.open(outer, offset=77, mmap_mode="r", on_damage="fill") as a, pytest.warns(DamageWarning):
        assert (a[:] == expected()).all()


def test_damage_of_the_frame_itself_is_still_an_error(tmp_path):
    path = str(tmp_path / "a.b2nd")
    write_array(path)
    os.truncate(path, 60)
    with pytest.raises(blosc2c.FormatError):
        blosc2c.open(path, on_damage="fill")


def test_threads_agree(path):
    for nchunk in range(0, 10, 2):
        flip(path, nchunk, 60)
    wanted, results = expected(range(0, 10, 2)), []
    with blosc2c.open(path, on_damage="fill") as a, pytest.warns(DamageWarning):
        threads = [threading.Thread(target=lambda: results.append((a[:] == wanted).all())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [True] * 4
        assert sorted(a.schunk.damage) == list(range(0, 10, 2))


class Counted:
    """The C library, of which calls of the reading functions are counted."""

    def __init__(self, lib):
        self._lib, self.ncalls = lib, 0

    def __getattr__(self, name):
        if name in ("b2c_schunk_read", "b2c_nd_read", "b2c_nd_read_places"):
            self.ncalls += 1
        return getattr(self._lib, name)


@pytest.fixture
def counted(monkeypatch):
    counted = Counted(blosc2c._ffi.lib)
    for module in ("blosc2c.read", "blosc2c.ndarray"):
        monkeypatch.setattr(f"{module}.lib", counted)
    return counted


READS = {
    "box": lambda a: a[:],
    "steps": lambda a: a[1::7],
    "few items": lambda a: a[::487],
    "places": lambda a: a[[*range(0, 200_000, 250)]],
    "grid": lambda a: a.oindex[np.arange(0, 200_000, 250)],
    "super-chunk": lambda a: np.frombuffer(a.schunk[:], a.dtype),
}


class Sound:
    """What the same reads give of the items that are to be there."""

    def __init__(self, items):
        self.items, self.oindex, self.schunk, self.dtype = items, items, items.view("u1"), items.dtype

    def __getitem__(self, key):
        return self.items[key]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("nthreads", [1, 4])
def test_one_read_finds_all_damage(tmp_path, counted, read, nthreads):
    """The whole is not read again for each damaged chunk, which would take quadratic time."""
    path, items = str(tmp_path / "a.b2nd"), np.arange(200_000, dtype="i8")
    blosc2c.asarray(items, chunks=(1000,), blocks=(100,), urlpath=path).close()
    bad = list(range(1, 200, 3))
    with blosc2c.open_schunk(path) as s:
        chunks = [s.get_chunk(n) for n in bad]
    raw = bytearray(Path(path).read_bytes())
    for chunk in chunks:
        raw[raw.find(chunk) + 60] ^= 0x55
    Path(path).write_bytes(raw)
    wanted = expected(bad, items)
    dparams = {"nthreads": nthreads}
    with blosc2c.open(path, on_damage="fill", dparams=dparams) as a, pytest.warns(DamageWarning) as seen:
        got = READS[read](a)
        ncalls = counted.ncalls
        damage = list(a.schunk.damage)
    assert (got == READS[read](Sound(wanted))).all()
    assert ncalls == 2
    assert damage == bad
    assert [str(w.message).split()[2] for w in seen] == [str(n) for n in bad]


def test_damage_that_zeros_do_not_mend(tmp_path):
    """A chunk whose size is not that of the array's chunks is reported; it cannot be filled."""
    path = str(tmp_path / "a.b2nd")
    write_array(path)
    with blosc2c.open_schunk(path) as s:
        meta = s.meta.raw("b2nd")
    odd = str(tmp_path / "odd.b2nd")
    recipe = Recipe.of(0, *blosc2c.CParams(typesize=4).compiled(), {"b2nd": meta})
    with blosc2c.SChunk._new(blosc2c.params.Keeping(urlpath=odd), recipe, blosc2c.DParams()) as s:
        for _ in range(10):
            s.append_data(np.arange(999, dtype="i4"))
    size = pytest.raises(blosc2c.FormatError, match="size")
    with blosc2c.open(odd, on_damage="fill") as a, pytest.warns(DamageWarning), size:
        a[:]


def test_damaged_chunks_can_be_replaced_and_deleted(path):
    flip(path, BAD, 0)
    flip(path, 5, 9)
    flip(path, 6, 60)
    with blosc2c.open_schunk(path, "a") as s:
        s.update_data(BAD, ITEMS[3000:4000], copy=True)
        s.update_special(5, blosc2c.SpecialValue.ZERO)
        s.update_data(6, ITEMS[6000:7000], copy=True)
    assert blosc2c.verify(path)
    with blosc2c.open(path) as a:
        assert (a[:] == expected((5,))).all()
    flip(path, 9, 0)
    with blosc2c.open_schunk(path, "a") as s:
        assert s.delete_chunk(9) == 9
        assert s[:] == expected((5,))[:9000].tobytes()
