# SPDX-License-Identifier: BSD-3-Clause
"""Editing super-chunks: random edits against a list of bytes, read back by both libraries."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap

import blosc2
import numpy as np
import pytest
from inputs import make

import blosc2c as b2

PLACES = ("memory", "file", "directory")
SIZE, TYPESIZE = 2000, 4
SPECIAL = {
    "ZERO": (None, bytes(TYPESIZE)),
    "NAN": (None, np.float32("nan").tobytes()),
    "VALUE": (b"abcd", b"abcd"),
}


def place_of(place: str, tmp_path, name: str = "edited.b2frame") -> dict:
    return {} if place == "memory" else {"urlpath": str(tmp_path / name), "contiguous": place == "file"}


def new(place: str, tmp_path, **kw):
    return b2.SChunk(
        chunksize=SIZE, cparams={"typesize": TYPESIZE, "clevel": 1}, **place_of(place, tmp_path), **kw
    )


def reopened(s, place: str):
    """The state that everybody sees once it was flushed."""
    if place == "memory":
        return b2.schunk_from_cframe(s.to_cframe(), copy=True)
    s.flush()
    return b2.open(s.urlpath)


def check(s, model: list[bytes]) -> None:
    assert s.nchunks == len(model)
    assert s.nbytes == sum(map(len, model))
    assert [s.decompress_chunk(i) for i in range(len(model))] == model
    assert s[:] == b"".join(model)


def check_reference(s, place: str, model: list[bytes]) -> None:
    if s.is_writable:
        s.flush()
    r = blosc2.schunk_from_cframe(s.to_cframe()) if place == "memory" else blosc2.open(s.urlpath)
    assert r.nchunks == len(model)
    assert [r.decompress_chunk(i) for i in range(len(model))] == model


class Editor:
    """Random edits of a super-chunk and the same of a list."""

    def __init__(self, s, seed: int, *, equal_sizes: bool) -> None:
        self.s, self.model = s, []
        self.rng = random.Random(seed)
        self.equal_sizes = equal_sizes
        self.meta: dict = {}

    def data(self) -> bytes:
        n = (
            SIZE
            if self.equal_sizes or self.rng.random() < 0.6
            else self.rng.choice((4, 40, 1000, 2400, 5000))
        )
        return make(self.rng.choice(("text", "ramp", "random", "zeros", "runs")), n, self.rng.randrange(999))

    def step(self) -> None:
        names = ["append", "insert", "update", "delete", "reorder", "special", "write", "vlmeta", "ready"]
        getattr(self, self.rng.choice(names))()

    def append(self) -> None:
        data = self.data()
        assert self.s.append_data(data) == len(self.model) + 1
        self.model.append(data)

    def ready(self) -> None:
        data, k = self.data(), self.rng.randint(0, len(self.model))
        library = self.rng.choice((b2, blosc2))
        chunk = library.compress2(data, typesize=TYPESIZE, codec=library.Codec.ZLIB)
        assert self.s.insert_chunk(k, chunk) == len(self.model) + 1
        self.model.insert(k, data)
        assert self.s.get_chunk(k) == chunk or not any(data)

    def insert(self) -> None:
        data, k = self.data(), self.rng.randint(0, len(self.model))
        assert self.s.insert_data(k, data) == len(self.model) + 1
        self.model.insert(k, data)

    def update(self) -> None:
        if self.model:
            data, k = self.data(), self.rng.randrange(len(self.model))
            assert self.s.update_data(k, data) == len(self.model)
            self.model[k] = data

    def delete(self) -> None:
        if self.model:
            k = self.rng.randrange(len(self.model))
            assert self.s.delete_chunk(k) == len(self.model) - 1
            del self.model[k]

    def reorder(self) -> None:
        order = self.rng.sample(range(len(self.model)), len(self.model))
        self.s.reorder_offsets(order)
        self.model = [self.model[i] for i in order]

    def special(self) -> None:
        kind = self.rng.choice(list(SPECIAL))
        value, item = SPECIAL[kind]
        if self.model and self.rng.random() < 0.5:
            k = self.rng.randrange(len(self.model))
            self.s.update_special(k, b2.SpecialValue[kind], value)
            self.model[k] = item * (len(self.model[k]) // TYPESIZE)
        elif self.s.chunksize == SIZE and all(len(m) == SIZE for m in self.model):
            self.s.fill_special(2 * SIZE // TYPESIZE, b2.SpecialValue[kind], value)
            self.model += [item * (SIZE // TYPESIZE)] * 2

    def write(self) -> None:
        flat = bytearray(b"".join(self.model))
        n = len(flat) // TYPESIZE
        if n:
            a, b = sorted(self.rng.sample(range(n + 1), 2))
            data = make("text", (b - a) * TYPESIZE, a)
            self.s[a:b] = data
            flat[a * TYPESIZE : b * TYPESIZE] = data
            at = 0
            for i, chunk in enumerate(self.model):
                self.model[i] = bytes(flat[at : at + len(chunk)])
                at += len(chunk)

    def vlmeta(self) -> None:
        name = self.rng.choice("abc")
        if name in self.meta and self.rng.random() < 0.4:
            del self.s.vlmeta[name], self.meta[name]
        else:
            self.s.vlmeta[name] = self.meta[name] = ["v"] * self.rng.randrange(50)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("equal_sizes", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_random_edits(place, equal_sizes, seed, tmp_path):
    editor = Editor(new(place, tmp_path), seed, equal_sizes=equal_sizes)
    for n in range(40):
        editor.step()
        check(editor.s, editor.model)
        if n % 8 == 7:
            again = reopened(editor.s, place)
            check(again, editor.model)
            assert again.vlmeta[:] == editor.meta
            # REFBUG: special entries of the index have no size in frames of various sizes, and
            # repeated values no room: only what we write into such frames is checked.
            check_reference(editor.s, place, editor.model)
    if place != "memory":
        path = editor.s.urlpath
        editor.s.close()
        with b2.open(path, mode="a") as editor.s:
            for _ in range(10):
                editor.step()
            check(editor.s, editor.model)
            editor.s.compact() if place == "file" else None
            check(editor.s, editor.model)
            check_reference(editor.s, place, editor.model)
        check_reference(b2.open(path), place, editor.model)


@pytest.mark.parametrize("place", ["file", "directory"])
@pytest.mark.parametrize("seed", range(6))
def test_others_see_a_state_of_the_past(place, seed, tmp_path):
    """Without a flush a reader beside the writer sees a complete older state, or the newest one."""
    editor = Editor(new(place, tmp_path), seed, equal_sizes=True)
    states: list[list[bytes]] = [[]]
    for _ in range(40):
        editor.step()
        states.append(list(editor.model))
        for library in (b2, blosc2):
            r = library.open(editor.s.urlpath)
            assert [r.decompress_chunk(i) for i in range(r.nchunks)] in states


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(4))
def test_transactions(place, seed, tmp_path):
    """Others see all of a transaction or nothing; an exception undoes it, metadata included."""
    editor = Editor(new(place, tmp_path), seed, equal_sizes=True)
    for _ in range(5):
        editor.append()
    for round_ in range(6):
        before, meta_before = list(editor.model), dict(editor.meta)
        committed = round_ % 2 == 0
        editor.s.flush()
        try:
            with editor.s.transaction():
                for _ in range(6):
                    editor.step()
                check(editor.s, editor.model)
                if place != "memory":
                    check(b2.open(editor.s.urlpath), before)
                if not committed:
                    raise KeyError("no")
        except KeyError:
            editor.model, editor.meta = before, meta_before
        check(editor.s, editor.model)
        assert editor.s.vlmeta[:] == editor.meta
        check(reopened(editor.s, place), editor.model)
    check_reference(editor.s, place, editor.model)


@pytest.mark.parametrize("place", PLACES)
def test_slices(place, tmp_path):
    s = new(place, tmp_path)
    s[0:3] = b"aaaabbbbcccc"
    assert s[:] == b"aaaabbbbcccc" and len(s) == 3
    s[1:5] = b"BBBBCCCCddddeeee"  # past the end: it grows
    assert s[:] == b"aaaaBBBBCCCCddddeeee"
    s[-1] = b"EEEE"
    s.set_slice(np.array([1, 2], "<i4"), 0, 2)
    assert s[:] == b"\1\0\0\0\2\0\0\0CCCCddddEEEE"
    big = make("text", 10 * SIZE)
    s[5:] = big
    assert s[5:] == big and s.nchunks == -(-(20 + 10 * SIZE) // SIZE)
    s[2:2] = b""
    s.truncate(7)
    assert s[:] == b"\1\0\0\0\2\0\0\0CCCCddddEEEE" + big[:8]
    for key, value in [(slice(0, 2), b"abc"), (slice(9, 12), bytes(12)), (slice(0, 4, 2), bytes(8))]:
        with pytest.raises((ValueError, IndexError)):
            s[key] = value
    with pytest.raises(IndexError):
        s[99] = b"abcd"
    with pytest.raises(ValueError):
        s.truncate(100)
    assert reopened(s, place)[:] == s[:]


@pytest.mark.parametrize("place", PLACES)
def test_edits_that_fail_change_nothing(place, tmp_path):
    s = new(place, tmp_path)
    model = [make("text", SIZE, i) for i in range(4)]
    for data in model:
        s.append_data(data)
    bad = bytearray(s.get_chunk(0))
    bad[14] = 0x7F  # longer than it is
    for call in (
        lambda: s.insert_data(6, model[0]),
        lambda: s.insert_data(-1, model[0]),
        lambda: s.update_data(4, model[0]),
        lambda: s.delete_chunk(4),
        lambda: s.update_special(4, b2.SpecialValue.ZERO),
    ):
        with pytest.raises(b2.ChunkIndexError):
            call()
    for call in (
        lambda: s.append_chunk(bytes(bad)),
        lambda: s.insert_chunk(0, b"x"),
        lambda: s.update_chunk(0, b""),
        lambda: s.reorder_offsets([0, 1, 2]),
        lambda: s.reorder_offsets([0, 1, 2, 2]),
        lambda: s.fill_special(-1, b2.SpecialValue.ZERO),
        lambda: s.fill_special(5, b2.SpecialValue.VALUE, b"abc"),
        lambda: s.fill_special(5, b2.SpecialValue.VALUE),
        lambda: s.fill_special(5, b2.SpecialValue.VALUE, 1 + 2j),  # in 4 bytes
        lambda: s.fill_special(5, b2.SpecialValue.ZERO, b"abcd"),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        s.append_data("text")
    with pytest.raises(TypeError):
        s.fill_special(5, b2.SpecialValue.NOT_SPECIAL)
    check(s, model)
    check(reopened(s, place), model)


def test_reading_mode(tmp_path):
    for place in ("file", "directory"):
        with new(place, tmp_path, mode="w", meta={"m": 1}) as s:
            s.append_data(bytes(SIZE))
        r = b2.open(tmp_path / "edited.b2frame")
        for call in (
            lambda r=r: r.append_data(bytes(SIZE)),
            lambda r=r: r.delete_chunk(0),
            lambda r=r: r.update_data(0, bytes(SIZE)),
            lambda r=r: r.reorder_offsets([0]),
            lambda r=r: r.vlmeta.__setitem__("a", 1),
            lambda r=r: r.meta.__setitem__("m", 2),
            lambda r=r: r.__setitem__(slice(0, 1), b"abcd"),
        ):
            with pytest.raises(b2.ReadOnlyError):
                call()
        r.close()
        b2.remove_urlpath(tmp_path / "edited.b2frame")


def test_checksums_find_what_decoding_cannot(tmp_path):
    """A flipped bit in raw data decodes well: only the checksum tells."""
    data = make("random", SIZE)
    for place in ("file", "directory"):
        with new(place, tmp_path, mode="w") as s:
            s.append_data(data)
            path = tmp_path / "edited.b2frame"
        victim = path if place == "file" else path / "00000000.chunk"
        raw = bytearray(victim.read_bytes())
        at = raw.index(data[:100])
        raw[at + 50] ^= 4
        victim.write_bytes(raw)
        with b2.open(path) as s, pytest.raises(b2.ChecksumError) as info:
            s.decompress_chunk(0)
        assert info.value.chunk == 0 and info.value.expected != info.value.actual
        b2.remove_urlpath(path)


@pytest.mark.parametrize("level", ["none", "process", "commit"])
def test_durability_levels(level, tmp_path):
    s = new("file", tmp_path)
    s.set_durability(level)
    model = []
    for i in range(30):
        model.append(make("text", SIZE, i))
        s.append_data(model[-1])
    s.flush()
    check(b2.open(s.urlpath), model)
    assert len(blosc2.open(s.urlpath)[:]) == 30 * SIZE
    with pytest.raises(ValueError):
        s.set_durability("maybe")


@pytest.mark.parametrize("place", ["file", "directory"])
def test_a_killed_writer_leaves_a_whole_state(place, tmp_path):
    """kill -9 at any moment: what is there opens, in both libraries, and is a prefix of the writes."""
    code = """
        import sys, blosc2c as b2
        s = b2.SChunk(chunksize=1000, urlpath=sys.argv[1], contiguous=sys.argv[2] == "file")
        print("go", flush=True)
        for i in range(1_000_000):
            s.append_data(bytes([i % 251]) * 900 + i.to_bytes(100, "little"))
            if i % 7 == 3:
                s.vlmeta["n"] = i
    """
    for trial in range(6):
        path = str(tmp_path / f"killed{trial}")
        command = [sys.executable, "-c", textwrap.dedent(code), path, place]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.03 * (trial + 1))
            process.kill()
        with b2.open(path) as s:
            for i in range(s.nchunks):
                assert s.decompress_chunk(i) == bytes([i % 251]) * 900 + i.to_bytes(100, "little")
        r = blosc2.open(path)
        for i in range(r.nchunks):
            assert r.decompress_chunk(i)[-100:] == i.to_bytes(100, "little")
        with b2.open(path, mode="a") as s:
            n = s.append_data(b"x" * 1000)
            assert s.decompress_chunk(n - 1) == b"x" * 1000


def test_copying_chunks(tmp_path):
    s = new("file", tmp_path)
    model = [make("text", SIZE, i) for i in range(3)]
    for data in model:
        s.append_data(data)
    s.vlmeta["a"] = 1
    t = b2.SChunk(chunksize=SIZE, cparams={"typesize": TYPESIZE})
    t.append_data(model[0])
    t.copy_chunks(s)
    check(t, [model[0], *model])
    assert t.vlmeta["a"] == 1
    with pytest.raises(ValueError):
        t.copy_chunks(t)


@pytest.mark.parametrize("dtype", ["c8", "c16", "f2", "f4", "f8", "i2"])
def test_special_values_are_numbers(dtype):
    s = b2.SChunk(chunksize=160, cparams={"typesize": np.dtype(dtype).itemsize})
    number = 1 + 2j if dtype[0] == "c" else 3 if dtype[0] == "i" else 1.5
    scalar = np.dtype(dtype).type(number)
    for value in (number, scalar, np.complex128(number) if dtype == "c8" else scalar):
        s.fill_special(2, b2.SpecialValue.VALUE, value)
    s.append_data(bytes(160))
    s.update_special(s.nchunks - 1, b2.SpecialValue.VALUE, number)
    np.testing.assert_array_equal(np.frombuffer(s[:], dtype), scalar)
