# SPDX-License-Identifier: BSD-3-Clause
"""Whatever reads damaged bytes says where in the file they are."""

from __future__ import annotations

import blosc2
import numpy as np
import pytest

import blosc2c as b2

ROWS = np.random.default_rng(3).integers(0, 1 << 20, (400, 400)).astype("<i4")
READS = {
    "all": lambda a: a[...],
    "item": lambda a: a[205, 207],
    "row": lambda a: a[205],
    "column": lambda a: a[:, 207],
    "steps": lambda a: a[5::25, 7::25],
    "places": lambda a: a.oindex[[205, 3], [207, 9]],
    "chunk": lambda a: a.schunk.decompress_chunk(3),
    "items": lambda a: a.schunk[120_000:120_025],
    "all items": lambda a: a.schunk[:],
    "change": lambda a: a.__setitem__((206, 206), 5),
    "change of items": lambda a: a.schunk.__setitem__(slice(120_000, 120_003), bytes(12)),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("where", ["header", "table", "block"])
@pytest.mark.parametrize("library", [b2, blosc2])
@pytest.mark.parametrize("offset", [0, 77])
def test_chunks(tmp_path, read, where, library, offset):
    path = tmp_path / "x.b2nd"
    frame = library.asarray(ROWS, chunks=(200, 200), blocks=(20, 20)).to_cframe()
    with b2.ndarray_from_cframe(frame) as a:
        chunk = a.schunk.get_chunk(3)
    first = int.from_bytes(chunk[32:36], "little")
    place, n = {"header": (8, 4), "table": (32, 4), "block": (first, 4)}[where]
    damaged = bytearray(bytes(offset) + frame)
    at = damaged.index(chunk)
    damaged[at + place : at + place + n] = b"\x7f" * n  # sizes and a place
    path.write_bytes(damaged)
    mode = "a" if read.startswith("change") and offset == 0 else "r"
    if read.startswith("change") and offset != 0:
        read = "all"
    with b2.open(path, mode, offset=offset) as a, pytest.raises(b2.CorruptError) as caught:
        READS[read](a)
    error = caught.value
    assert (error.path, error.chunk) == (str(path), 3) and f"byte {error.offset}" in str(error)
    assert at <= error.offset < at + place + n


def contents(frame):
    """Where the chunks of vlmetalayers are: behind their marker and length."""
    for at in range(len(frame) - 37):
        n = int.from_bytes(frame[at + 1 : at + 5], "big")
        if frame[at] == 0xC6 and n >= 32 and n == int.from_bytes(frame[at + 17 : at + 21], "little"):
            yield at + 5


@pytest.mark.parametrize("offset", [0, 77])
def test_vlmetalayers(tmp_path, offset):
    """Of the reference: here the checksum of the trailer tells it at once."""
    path = tmp_path / "x.b2frame"
    s = blosc2.SChunk(data=b"abc" * 1000, chunksize=1000)
    s.vlmeta["sound"] = {"a": list(range(500))}
    s.vlmeta["other"] = {"b": list(range(700))}
    damaged = bytearray(bytes(offset) + s.to_cframe())
    _, at = contents(bytes(damaged))
    damaged[at + 4 : at + 8] = b"\xff" * 4  # the chunk's decoded size
    path.write_bytes(damaged)
    with b2.open(path, "r", offset=offset) as s:
        assert s.vlmeta["sound"] == {"a": list(range(500))}
        with pytest.raises(b2.CorruptError) as caught:
            s.vlmeta["other"]
    error = caught.value
    assert (error.path, error.field, error.offset) == (str(path), "nbytes", at + 4)
    assert "'other'" in str(error) and f"byte {at + 4}" in str(error)


@pytest.mark.parametrize("offset", [0, 77])
@pytest.mark.parametrize("where", ["header", "index", "trailer", "cut"])
def test_structure(tmp_path, where, offset):
    path = tmp_path / "x.b2frame"
    s = blosc2.SChunk(data=b"abc" * 1000, chunksize=1000)
    s.vlmeta["name"] = 1
    frame = bytes(offset) + s.to_cframe()
    damaged = bytearray(frame)
    index = damaged.index(s.get_chunk(2)) + len(s.get_chunk(2))
    (content,) = contents(frame)
    first, new = {
        "header": (offset + 0x1A, b"\xff"),
        "index": (index + 4, b"\xff" * 4),
        "trailer": (content - 5, b"\0"),
        "cut": (len(frame) - 50, b""),
    }[where]
    damaged[first : first + len(new) if new else len(frame)] = new
    path.write_bytes(damaged)
    with pytest.raises(b2.FormatError) as caught:
        b2.open(path, offset=offset)
    assert caught.value.offset == first, str(caught.value)
    offsets = [problem.offset for problem in b2.repair(path, tmp_path / "new", offset=offset).problems]
    told = {known for known in offsets if known is not None}
    assert told, "some problem has a place"
    assert min(told) >= offset + 0x10 and (where == "cut" or first in told), told


def test_vlmetalayers_of_a_frame_that_moved_or_grew(tmp_path):
    path = tmp_path / "x.b2frame"

    def make():
        path.unlink(missing_ok=True)
        s = blosc2.SChunk(data=b"abc" * 1000, chunksize=1000, urlpath=str(path))
        s.vlmeta["other"] = {"b": list(range(700))}
        for _ in range(3):
            s.update_data(0, np.random.default_rng(0).bytes(1000), copy=True)
        del s
        damaged = bytearray(path.read_bytes())
        (at,) = contents(bytes(damaged))
        damaged[at + 4 : at + 8] = b"\xff" * 4
        path.write_bytes(damaged)

    def refused(s):
        with pytest.raises(b2.CorruptError, match="'other'") as caught:
            s.vlmeta["other"]
        assert caught.value.args == (str(caught.value),)
        assert caught.value.offset in (None, list(contents(path.read_bytes()))[-1] + 4)

    make()
    with b2.open(path, "a") as s:
        s.compact()
        refused(s)
    make()
    with b2.open(path) as s:
        blosc2.open(str(path), mode="a").append_data(np.random.default_rng(1).bytes(1000))
        assert len(s[:10]) == 10
        refused(s)


def test_vlmetalayers_after_a_change(tmp_path):
    """The trailer is somewhere else then."""
    path = tmp_path / "x.b2frame"
    s = blosc2.SChunk(data=b"abc" * 1000, chunksize=1000, urlpath=str(path))
    s.vlmeta["other"] = {"b": list(range(700))}
    damaged = bytearray(path.read_bytes())
    (at,) = contents(bytes(damaged))
    damaged[at + 4 : at + 8] = b"\xff" * 4
    path.write_bytes(damaged)
    with b2.open(path, "a") as s:
        s.append_data(b"xyz" * 300)
        with pytest.raises(b2.CorruptError, match="'other'") as caught:
            s.vlmeta["other"]
    assert caught.value.offset is None
    (problem,) = b2.verify(path).problems
    now = path.read_bytes()
    assert problem.kind == "vlmeta" and problem.offset == list(contents(now))[-1] + 4


def stored(path, contiguous, parts, chunksize=0, **kwargs):
    """The chunks that these become."""
    with b2.SChunk(chunksize, urlpath=path, contiguous=contiguous, **kwargs) as s:
        for part in parts:
            s.append_data(part)
        return [s.get_chunk(i) for i in range(len(parts))]


def with_a_wrong_size(path, contiguous, parts, **kwargs):
    """Chunks of 400 bytes, the last one of fewer, of which the first tells a length that is not its own."""
    chunk, *_ = stored(path, contiguous, parts, 400, **kwargs)
    file = path if contiguous else path / "00000000.chunk"
    raw = bytearray(file.read_bytes())
    raw[raw.index(chunk) + 12] += 16  # of its header: the bytes that it has
    file.write_bytes(raw)


@pytest.mark.parametrize("contiguous", [True, False])
def test_a_damaged_size_does_not_keep_others_from_opening(tmp_path, contiguous):
    """Chunks of several sizes tell theirs when a frame is opened: that one reaches too far is for its readers."""
    path = tmp_path / "f"
    parts = [np.random.default_rng(i).integers(0, 9, 100 if i < 5 else 50).astype("<i4") for i in range(6)]
    with_a_wrong_size(path, contiguous, parts, cparams={"typesize": 4})
    with b2.open(path, "a") as s:
        s.delete_chunk(4)
        s.append_data(parts[4])  # behind a shorter one: from now on each has a size of its own
        s.vlmeta["k"] = 1
    parts.insert(5, parts.pop(4))
    with b2.open(path) as s:
        with pytest.raises(b2.CorruptError):
            s.decompress_chunk(0)
        assert s.nchunks == 6 and s.vlmeta["k"] == 1
        assert all(s.decompress_chunk(i) == parts[i].tobytes() for i in range(1, 6))


@pytest.mark.parametrize("contiguous", [True, False])
def test_no_edit_makes_a_frame_that_cannot_be_opened(tmp_path, contiguous):
    """Nobody could tell the size of a chunk that did not shrink and whose header tells another length."""
    path = tmp_path / "f"
    parts = [np.random.default_rng(i).bytes(400 if i < 5 else 200) for i in range(6)]
    with_a_wrong_size(path, contiguous, parts)
    with b2.open(path, "a") as s:
        s.delete_chunk(4)
        with pytest.raises(b2.CorruptError, match="memcpy"):
            s.append_data(parts[4])
        s.vlmeta["k"] = 1
    with b2.open(path) as s:
        assert s.nchunks == 5 and s.vlmeta["k"] == 1
        assert [s.decompress_chunk(i) for i in range(1, 5)] == [*parts[1:4], parts[5]]


SEVERAL_SIZES = [np.random.default_rng(i).bytes(n) for i, n in enumerate((100, 400, 200, 300))]


@pytest.mark.parametrize("contiguous", [True, False])
def test_one_chunk_without_a_header_does_not_keep_others_from_opening(tmp_path, contiguous):
    """Of chunks of several sizes, its size follows from those of the others; that of two would not."""
    path = tmp_path / "f"
    parts = SEVERAL_SIZES
    chunks = stored(path, contiguous, parts)

    def damage(nchunk: int) -> None:
        file = path if contiguous else path / f"{nchunk:08X}.chunk"
        raw = bytearray(file.read_bytes())
        at = raw.index(chunks[nchunk])
        raw[at : at + 32] = b"\xff" * 32
        file.write_bytes(raw)

    damage(1)
    assert [(p.kind, p.chunk) for p in b2.verify(path).problems] == [("chunk", 1)]
    with b2.open(path) as s:
        with pytest.raises(b2.FormatError) as caught:
            s.decompress_chunk(1)
        assert caught.value.chunk == 1
        assert s[500:1000] == b"".join(parts[2:])
    with b2.open(path, on_damage="fill") as s, pytest.warns(b2.DamageWarning):
        assert s[:] == parts[0] + bytes(400) + b"".join(parts[2:])
    with b2.open(path, "a") as s:
        s.delete_chunk(0)
        s.append_data(parts[0])
    with b2.open(path, "a") as s:
        assert s[400:1000] == b"".join(parts[2:] + parts[:1])
        s.update_data(0, parts[1])
    with b2.open(path) as s:
        assert s[:] == b"".join(parts[1:] + parts[:1])
    damage(2)
    b2.open(path).close()
    damage(3)
    with pytest.raises(b2.FormatError) as caught:
        b2.open(path)
    assert caught.value.chunk in (1, 2)


@pytest.mark.parametrize("place", ["nothing", "folder", "loop"])
def test_one_chunk_without_a_file_does_not_keep_others_from_opening(tmp_path, place):
    """The same, with nothing in its place or with what the system does not read."""
    path = tmp_path / "f"
    parts = SEVERAL_SIZES
    stored(path, False, parts)

    def damage(nchunk: int) -> None:
        file = path / f"{nchunk:08X}.chunk"
        file.unlink()
        if place == "folder":
            file.mkdir()
        elif place == "loop":
            file.symlink_to(file)

    error = b2.CorruptError if place == "nothing" else OSError
    damage(1)
    with b2.open(path) as s:
        with pytest.raises(error):
            s.decompress_chunk(1)
        assert s[500:1000] == b"".join(parts[2:])
    with b2.open(path, "a") as s:
        s.update_data(1, parts[1])
    with b2.open(path) as s:
        assert s[:] == b"".join(parts)
    damage(2)
    damage(3)
    with pytest.raises(error):
        b2.open(path)
