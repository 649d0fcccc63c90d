# SPDX-License-Identifier: BSD-3-Clause
"""An array against NumPy: hypothesis looks for a sequence of calls that tells them apart."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

import blosc2
import numpy as np
import pytest
from arrays import basic_keys, fancy_keys, partitions, values
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import blosc2c as b2

DTYPES = ["u1", "<i4", ">f8", "S3", [("a", "<i2"), ("b", "S5")], "V300"]
LIMIT = 3000  # items


class UndoneError(Exception):
    pass


def same(got, want) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


class Machine(RuleBasedStateMachine):
    kind = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "model"
        self.nfiles = 0
        self.before: np.ndarray | None = None  # the items that a rollback restores
        self.transaction = contextlib.ExitStack()

    @initialize(
        parts=partitions(max_ndim=3, max_items=LIMIT), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 9)
    )
    def create(self, parts, dtype, seed) -> None:
        shape, chunks, blocks = parts
        if 0 in shape:
            chunks = blocks = None
        self.model = values(np.dtype(dtype), shape, seed).copy()
        where = {} if self.kind == "memory" else {"urlpath": self.path, "contiguous": self.kind == "frame"}
        self.array = b2.asarray(self.model, chunks=chunks, blocks=blocks, **where)
        self.seed = seed

    def new(self, shape) -> np.ndarray:
        """Values that were not there before."""
        self.seed += 1
        return values(self.model.dtype, tuple(shape), self.seed)

    def key(self, data):
        shape = self.model.shape
        fancy = shape and 0 not in shape and data.draw(st.booleans())
        return data.draw(fancy_keys(shape) if fancy else basic_keys(shape))

    # ---- reading -----------------------------------------------------------

    @rule(data=st.data())
    def get(self, data) -> None:
        key = self.key(data)
        try:
            want = self.model[key]
        except IndexError:
            with pytest.raises(IndexError):
                self.array[key]
            return
        got = self.array[key]
        same(got, np.asarray(want, self.model.dtype))
        same(self.array.slice(key), got)
        out = np.empty_like(got)
        self.array.read_into(out, key)
        same(out, got)

    @precondition(lambda self: self.model.size > 0)
    @rule(data=st.data(), n=st.integers(1, 4))
    def get_items(self, data, n) -> None:
        for _ in range(n):
            key = tuple(data.draw(st.integers(-n, n - 1)) for n in self.model.shape)
            same(self.array[key], self.model[(*key, ...)])

    @precondition(lambda self: self.model.ndim > 0 and self.model.size > 0)
    @rule(data=st.data())
    def select_orthogonally(self, data) -> None:
        vectors = [data.draw(st.lists(st.integers(-n, n - 1), max_size=3)) for n in self.model.shape]
        grid = np.ix_(*(np.array(v, int) for v in vectors))
        same(self.array.oindex[tuple(vectors)], self.model[grid])
        if all(
            len(set(np.array(v, int) % n)) == len(v) for v, n in zip(vectors, self.model.shape, strict=True)
        ):
            new = self.new(map(len, vectors))
            self.array.oindex[tuple(vectors)] = new
            self.model[grid] = new

    # ---- writing -----------------------------------------------------------

    @rule(data=st.data(), broadcast=st.booleans())
    def put(self, data, broadcast) -> None:
        key = self.key(data)
        try:
            shape = self.model[key].shape
        except IndexError:
            return
        new = self.new(() if broadcast else shape)
        self.array[key] = new
        self.model[key] = new

    @precondition(lambda self: self.model.size > 0)
    @rule(seed=st.integers(0, 99))
    def put_masked(self, seed) -> None:
        mask = np.random.default_rng(seed).random(self.model.shape) < 0.2
        new = self.new((int(mask.sum()),))
        self.array[mask] = new
        self.model[mask] = new

    @precondition(lambda self: self.model.dtype.names is not None)
    @rule(data=st.data())
    def put_field(self, data) -> None:
        key = data.draw(basic_keys(self.model.shape))
        new = self.new(self.model[key].shape)["a"]
        self.array["a"][key] = new
        self.model["a"][key] = new

    # ---- shape -------------------------------------------------------------

    @rule(data=st.data())
    def resize(self, data) -> None:
        shape = tuple(data.draw(st.integers(0, n + 5)) for n in self.model.shape)
        if np.prod(shape, dtype=object) > LIMIT or (self.array.chunks and 0 in self.array.chunks):
            return
        model = np.zeros(shape, self.model.dtype)
        kept = tuple(slice(0, min(n, m)) for n, m in zip(shape, self.model.shape, strict=True))
        model[kept] = self.model[kept]
        self.array.resize(shape)
        self.model = model

    @precondition(lambda self: self.model.ndim > 0 and 0 not in self.array.chunks)
    @rule(data=st.data(), n=st.integers(0, 6))
    def append(self, data, n) -> None:
        axis = data.draw(st.integers(-self.model.ndim, self.model.ndim - 1))
        shape = list(self.model.shape)
        shape[axis] = n
        if self.model.size + int(np.prod(shape)) > LIMIT:
            return
        new = self.new(shape)
        self.model = np.concatenate([self.model, new], axis).astype(self.model.dtype)
        assert self.array.append(new, axis) == self.model.shape[axis]

    @rule()
    def view(self) -> None:
        tall = b2.expand_dims(self.array, (0, -1))
        same(tall, self.model[None, ..., None])
        if self.model.size:
            place = (0,) * tall.ndim
            tall[place] = self.new(())
            self.model[place[1:-1]] = tall[place]
        same(tall.squeeze((0, -1)), self.model)

    # ---- life --------------------------------------------------------------

    @precondition(lambda self: self.before is None)
    @rule()
    def reopen(self) -> None:
        if self.kind == "memory":
            self.array = b2.ndarray_from_cframe(self.array.to_cframe(), copy=True)
            return
        path = self.array.urlpath
        self.array.close()
        self.array = b2.open(path, mode="a")

    @precondition(lambda self: self.before is None)
    @rule(data=st.data(), same_chunks=st.booleans())
    def copy(self, data, same_chunks) -> None:
        kw = {}
        if not same_chunks and 0 not in self.model.shape:
            kw["chunks"] = tuple(data.draw(st.integers(1, n + 1)) for n in self.model.shape)
        if self.kind != "memory":
            self.nfiles += 1
            kw |= {"urlpath": self.folder / str(self.nfiles), "contiguous": self.kind == "frame"}
        old, self.array = self.array, self.array.copy(**kw)
        old.close()

    @precondition(lambda self: self.before is None)
    @rule()
    def begin(self) -> None:
        self.before = self.model.copy()
        self.transaction.enter_context(self.array.schunk.transaction())

    @precondition(lambda self: self.before is not None)
    @rule(undo=st.booleans())
    def end(self, undo) -> None:
        if undo:

            def fail() -> None:
                raise UndoneError

            self.transaction.callback(fail)
            with pytest.raises(UndoneError):
                self.transaction.close()
            assert self.before is not None
            self.model = self.before
        else:
            self.transaction.close()
        self.before = None

    @invariant()
    def is_the_model(self) -> None:
        if not hasattr(self, "array"):
            return
        assert self.array.shape == self.model.shape
        same(self.array[...], self.model)

    def teardown(self) -> None:
        if hasattr(self, "array"):
            self.transaction.close()
            same(np.asarray(blosc2.ndarray_from_cframe(self.array.to_cframe())[...]), self.model)
            path = self.array.urlpath
            self.array.close()
            if path is not None:
                same(np.asarray(blosc2.open(path)[...]), self.model)
                assert b2.verify(path).ok
        shutil.rmtree(self.folder)


class FrameMachine(Machine):
    kind = "frame"


class DirectoryMachine(Machine):
    kind = "directory"


for machine, nexamples in ((Machine, 60), (FrameMachine, 40), (DirectoryMachine, 25)):
    machine.TestCase.settings = settings(max_examples=nexamples, stateful_step_count=20, deadline=None)

TestMemory = Machine.TestCase
TestFrame = FrameMachine.TestCase
TestDirectory = DirectoryMachine.TestCase
