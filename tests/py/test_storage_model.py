# SPDX-License-Identifier: BSD-3-Clause
"""A super-chunk against a list of bytes: hypothesis looks for a sequence of edits that tells them apart."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

import blosc2
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from inputs import make

import blosc2c as b2

TYPESIZE = 4
SIZE = 400
ITEMS = SIZE // TYPESIZE
MAX_NCHUNKS = 12

contents = st.builds(
    make, st.sampled_from(("text", "ramp", "random", "zeros")), st.just(SIZE), st.integers(0, 99)
)
vlvalues = (
    st.none() | st.integers(-5, 5) | st.text(max_size=300) | st.tuples(st.booleans(), st.binary(max_size=9))
)
names = st.sampled_from(("a", "b", "longer name"))
numbers = st.integers(0, 1000)


class UndoneError(Exception):
    pass


class Machine(RuleBasedStateMachine):
    """Chunks of SIZE bytes, the last one perhaps shorter, and vlmetalayers."""

    kind = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "model"
        self.chunks: list[bytes] = []
        self.vlmeta: dict = {}
        self.before: tuple | None = None  # the state that a rollback restores
        self.stack = contextlib.ExitStack()

    @initialize(durability=st.sampled_from(("none", "process", "commit")), checksums=st.booleans())
    def create(self, durability, checksums) -> None:
        self.safety = {"durability": durability, "checksums": checksums}
        where = {} if self.kind == "memory" else {"urlpath": self.path, "contiguous": self.kind == "file"}
        cparams = {"typesize": TYPESIZE, "clevel": 1}
        self.s = b2.SChunk(chunksize=SIZE, cparams=cparams, **where, **self.safety)

    @property
    def ends_evenly(self) -> bool:
        return all(len(chunk) == SIZE for chunk in self.chunks)

    @property
    def has_room(self) -> bool:
        return self.ends_evenly and len(self.chunks) < MAX_NCHUNKS

    # ---- chunks ------------------------------------------------------------

    @precondition(lambda self: self.has_room)
    @rule(data=contents, nbytes=st.sampled_from((SIZE, SIZE, SIZE, 4, 200)))
    def append(self, data, nbytes) -> None:
        self.chunks.append(data[:nbytes])
        assert self.s.append_data(data[:nbytes]) == len(self.chunks)

    @precondition(lambda self: self.has_room)
    @rule(data=contents, k=numbers, ready=st.booleans())
    def insert(self, data, k, ready) -> None:
        k %= len(self.chunks) + 1
        if ready:
            self.s.insert_chunk(k, b2.compress2(data, typesize=TYPESIZE))
        else:
            self.s.insert_data(k, data)
        self.chunks.insert(k, data)

    @precondition(lambda self: self.chunks)
    @rule(data=contents, k=numbers, ready=st.booleans())
    def update(self, data, k, ready) -> None:
        k %= len(self.chunks)
        data = data[: len(self.chunks[k])]
        if ready:
            self.s.update_chunk(k, b2.compress2(data, typesize=TYPESIZE))
        else:
            self.s.update_data(k, data)
        self.chunks[k] = data

    @precondition(lambda self: self.chunks)
    @rule(k=numbers)
    def delete(self, k) -> None:
        k %= len(self.chunks)
        assert self.s.delete_chunk(k) == len(self.chunks) - 1
        del self.chunks[k]

    @precondition(lambda self: self.ends_evenly)
    @rule(rng=st.randoms(use_true_random=False))
    def reorder(self, rng) -> None:
        order = list(range(len(self.chunks)))
        rng.shuffle(order)
        self.s.reorder_offsets(order)
        self.chunks = [self.chunks[i] for i in order]

    @precondition(lambda self: self.has_room)
    @rule(n=st.integers(0, 2 * ITEMS), value=st.sampled_from((None, b"abcd")))
    def fill(self, n, value) -> None:
        kind = b2.SpecialValue.ZERO if value is None else b2.SpecialValue.VALUE
        self.s.fill_special(n, kind, value)
        data = (value or bytes(TYPESIZE)) * n
        self.chunks += [data[i : i + SIZE] for i in range(0, len(data), SIZE)]

    @precondition(lambda self: self.chunks)
    @rule(k=numbers)
    def update_special(self, k) -> None:
        k %= len(self.chunks)
        self.s.update_special(k, b2.SpecialValue.VALUE, b"wxyz")
        self.chunks[k] = b"wxyz" * (len(self.chunks[k]) // TYPESIZE)

    # ---- items -------------------------------------------------------------

    @rule(start=numbers, n=st.integers(0, 2 * ITEMS), seed=st.integers(0, 99))
    def write(self, start, n, seed) -> None:
        flat = bytearray(b"".join(self.chunks))
        if len(flat) > MAX_NCHUNKS * SIZE:
            n = 0
        start %= len(flat) // TYPESIZE + 1
        data = make("text", n * TYPESIZE, seed)
        self.s[start : start + n] = data
        flat[start * TYPESIZE : (start + n) * TYPESIZE] = data
        self.chunks = [bytes(flat[i : i + SIZE]) for i in range(0, len(flat), SIZE)]

    @rule(nitems=numbers)
    def truncate(self, nitems) -> None:
        flat = b"".join(self.chunks)
        nitems %= len(flat) // TYPESIZE + 1
        self.s.truncate(nitems)
        flat = flat[: nitems * TYPESIZE]
        self.chunks = [flat[i : i + SIZE] for i in range(0, len(flat), SIZE)]

    @rule(start=numbers, stop=numbers)
    def read(self, start, stop) -> None:
        flat = b"".join(self.chunks)
        n = len(flat) // TYPESIZE + 1
        start, stop = sorted((start % n, stop % n))
        assert self.s[start:stop] == flat[start * TYPESIZE : stop * TYPESIZE]

    # ---- metadata ----------------------------------------------------------

    @rule(name=names, value=vlvalues)
    def set_vlmeta(self, name, value) -> None:
        self.s.vlmeta[name] = self.vlmeta[name] = value

    @rule(name=names)
    def delete_vlmeta(self, name) -> None:
        if name in self.vlmeta:
            del self.s.vlmeta[name], self.vlmeta[name]
        else:
            with pytest.raises(KeyError):
                del self.s.vlmeta[name]

    # ---- transactions ------------------------------------------------------

    @precondition(lambda self: self.before is None)
    @rule()
    def begin(self) -> None:
        self.stack.enter_context(self.s.transaction())
        self.before = list(self.chunks), dict(self.vlmeta)

    @precondition(lambda self: self.before is not None)
    @rule()
    def commit(self) -> None:
        self.stack.close()
        self.before = None

    @precondition(lambda self: self.before is not None)
    @rule()
    def rollback(self) -> None:
        with contextlib.suppress(UndoneError), self.stack:
            raise UndoneError
        self.stack = contextlib.ExitStack()
        self.chunks, self.vlmeta = self.before
        self.before = None

    # ---- others ------------------------------------------------------------

    @precondition(lambda self: self.before is None)
    @rule()
    def compact(self) -> None:
        self.s.compact()

    @precondition(lambda self: self.before is None and self.kind != "memory")
    @rule()
    def reopen(self) -> None:
        self.s.close()
        assert b2.verify(self.path).ok
        self.s = b2.open(self.path, mode="a", **self.safety)

    @precondition(lambda self: self.before is None)
    @rule()
    def others_see_the_same(self) -> None:
        if self.kind == "memory":
            frame = self.s.to_cframe()
            views = [b2.schunk_from_cframe(frame), blosc2.schunk_from_cframe(frame)]
        else:
            self.s.flush()
            views = [b2.open(self.path), blosc2.open(str(self.path), mode="r")]
        for view in views:
            self.compare(view)

    def compare(self, seen) -> None:
        assert [seen.decompress_chunk(i) for i in range(seen.nchunks)] == self.chunks
        assert seen.vlmeta[:] == self.vlmeta

    @invariant()
    def same(self) -> None:
        if hasattr(self, "s"):
            self.compare(self.s)
            assert len(self.s) == sum(map(len, self.chunks)) // TYPESIZE

    def teardown(self) -> None:
        self.stack.close()
        if hasattr(self, "s"):
            self.s.close()
            if self.kind != "memory":
                self.compare(b2.open(self.path))
                self.compare(blosc2.open(str(self.path), mode="r"))
        shutil.rmtree(self.folder)


class FileMachine(Machine):
    kind = "file"


class DirectoryMachine(Machine):
    kind = "directory"


TestMemory = Machine.TestCase
TestFile = FileMachine.TestCase
TestDirectory = DirectoryMachine.TestCase
TestMemory.settings = TestFile.settings = TestDirectory.settings = settings(
    max_examples=100, stateful_step_count=30
)
