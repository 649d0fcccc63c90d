# SPDX-License-Identifier: BSD-3-Clause
"""Fields of structured arrays against NumPy: nested ones, several at once, arrays in fields."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import basic_keys, values
from hypothesis import given
from hypothesis import strategies as st

import blosc2c as b2

DTYPE = np.dtype(
    [
        ("x", "<i4"),
        ("m", ">f8", (2, 3)),
        ("in", [("p", "u1"), ("q", "S3", (2,))]),
        ("r", [("s", "<i2")], (2,)),
    ]
)
PATHS = (["x"], ["m"], ["in"], ["in", "p"], ["in", "q"], ["r"], ["r", "s"], [["x", "in"]], [["m"], "m"])
SHAPE = (5, 4)


def make(seed: int = 1) -> tuple[np.ndarray, b2.NDArray]:
    a = values(DTYPE, SHAPE, seed)
    return a.copy(), b2.asarray(a, chunks=(2, 3), blocks=(2, 2))


def walk(obj, path):
    for name in path:
        obj = obj[name]
    return obj


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.array_equal(got, want)


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_whole_fields(path):
    a, b = make()
    field, want = walk(b, path), walk(a, path)
    assert isinstance(field, b2.NDField) and field.ndarray is b and field.schunk is b.schunk
    assert (field.shape, field.dtype, field.ndim, field.size) == (
        want.shape,
        want.dtype,
        want.ndim,
        want.size,
    )
    assert len(field.chunks) == len(field.blocks) == field.ndim and len(field) == len(want)
    same(field, want)
    for got, row in zip(field, want, strict=True):
        same(got, row)
    same(b2.asarray(field), want)  # a field is a source of arrays


@given(st.data(), st.sampled_from(PATHS))
def test_keys(data, path):
    a, b = make()
    field, want = walk(b, path), walk(a, path)
    key = data.draw(basic_keys(want.shape))
    same(field[key], want[key])
    new = walk(values(DTYPE, SHAPE, 7), path)[key]
    field[key] = new
    want[key] = new
    same(b, a)


MASK = np.arange(4) % 2 == 0
KEYS = (
    [[1, 3, 1]], [MASK[[0, 1, 2, 3, 0]]], [slice(None), MASK], [[0, 1], [1, 2]], [..., [0, 1]], [0, ..., [1, 0]],
    [[[0], [1]], slice(None), 1], [None, [1, 2]], [[1, 2], slice(None), [0, 1]], [np.ones(SHAPE, bool)],
    [slice(None, None, -2), -1, ..., None], [np.ones((5, 4, 2), bool)], [True], [False, 1],
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("path", [["x"], ["m"], ["r", "s"]], ids=str)
def test_index_arrays(path, key):
    a, b = make()
    field, want, key = walk(b, path), walk(a, path), tuple(key)
    try:
        wanted = want[key]
    except IndexError:
        with pytest.raises(IndexError):
            field[key]
        with pytest.raises(IndexError):
            field[key] = 1
        return
    same(field[key], wanted)
    want[key] = 3
    field[key] = 3
    same(b, a)


def test_assigning_to_names():
    a, b = make()
    a["x"] = b["x"] = 5
    a["in"]["p"] = b["in"]["p"] = np.arange(4)
    b["in"]["q"] = b"abc"
    a["in"]["q"] = b"abc"
    a[["x", "in"]] = a[["x", "in"]][::-1].copy()
    b[["x", "in"]] = b[["x", "in"]][::-1]
    same(b, a)


def test_records_from_tuples():
    a, b = make()
    record = (1, np.ones((2, 3)).tolist(), (2, [b"a", b"b"]), [(3,), (4,)])
    for key, value in ((2, record), ((0, 1), record), (slice(1, 3), [record] * 4), ((4, 3), a[0, 0])):
        a[key] = value
        b[key] = value
    same(b, a)


@pytest.mark.parametrize("key", ["no", ["x", "no"], ["no"]])
def test_fields_that_are_not_there(key):
    _, b = make()
    with pytest.raises(KeyError, match="there is no field 'no'; the fields are: x, m, in, r"):
        b[key]
    with pytest.raises(KeyError, match="no field 'no'"):
        b[key] = 1
    with pytest.raises(KeyError, match="the fields are: p, q"):
        b["in"]["no"]
    with pytest.raises(KeyError, match="the fields are: none"):
        b["x"]["no"]
    with pytest.raises(KeyError, match="the fields are: none"):
        b2.zeros(3)["no"]


def test_two_threads_write_different_fields():
    """Each reads records, changes its field and writes them: the other one must wait."""
    import threading

    b = b2.zeros(400, [("a", "<i4"), ("b", "<i4")], chunks=(400,), blocks=(400,))

    def write(name):
        for i in range(150):
            b[name][i] = i + 1

    workers = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    want = [i + 1 if i < 150 else 0 for i in range(400)]
    assert b["a"][:].tolist() == want and b["b"][:].tolist() == want
