# SPDX-License-Identifier: BSD-3-Clause
"""Orthogonal selection against NumPy: one index for each axis."""

from __future__ import annotations

import blosc2
import numpy as np
import pytest
from arrays import partitions, values
from hypothesis import given, settings
from hypothesis import strategies as st

import blosc2c as b2


@st.composite
def indices(draw, n: int):
    """What may stand for an axis of size n, and the numbers that it means."""
    kind = draw(st.sampled_from(["int", "slice", "vector", "range", "mask", "list"]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    if kind == "int" and n:
        i = draw(st.integers(-n, n - 1))
        return i, np.array([i])
    if kind == "slice":
        bound = st.none() | st.integers(-n - 2, n + 2)
        s = slice(draw(bound), draw(bound), draw(st.none() | st.integers(-3, 3).filter(bool)))
        return s, np.arange(n)[s]
    if kind == "range" and n:
        step = draw(st.integers(-3, 3).filter(bool))
        v = np.arange(n)[::step][: draw(st.integers(0, n))]
        return v, v
    if kind == "mask":
        m = rng.integers(0, 2, n).astype(bool)
        return m, np.flatnonzero(m)
    v = rng.integers(-n, n, draw(st.integers(0, 7))) if n else np.zeros(0, np.intp)
    return (v.tolist() if kind == "list" else v), v


def grid_of(key, numbers):
    """The same for NumPy, and the shape without the axes of ints."""
    shape = tuple(len(v) for k, v in zip(key, numbers, strict=True) if not isinstance(k, int))
    return np.ix_(*(np.asarray(v, np.intp) for v in numbers)), shape


@settings(max_examples=300)
@given(st.data(), partitions(), st.sampled_from(["<i4", "u1", "S3", "<c16"]))
def test_read_and_write(data, parts, dtype):
    shape, chunks, blocks = parts
    want = values(np.dtype(dtype), shape, 1).copy()
    b = b2.asarray(want, chunks=chunks, blocks=blocks)
    for i in range(3):
        pairs = [data.draw(indices(n)) for n in shape]
        grid, visible = grid_of([k for k, _ in pairs], [v for _, v in pairs])
        key = tuple(k for k, _ in pairs)
        got = b.oindex[key]
        assert got.dtype == want.dtype and got.shape == visible
        expected = want[grid].reshape(visible) if shape else want
        np.testing.assert_array_equal(got, expected)
        new = values(np.dtype(dtype), visible, i + 2)
        b.oindex[key] = new
        if shape:
            want[grid] = new.reshape(want[grid].shape)
        else:
            want[...] = new
        np.testing.assert_array_equal(b[...], want)


def test_values_broadcast_and_the_last_of_several_counts():
    b = b2.zeros((50, 60), "i4", chunks=(20, 25), blocks=(7, 8))
    b.oindex[[3, 3, 44], [59, 2, 59]] = np.arange(9).reshape(3, 3)
    assert b.oindex[[3, 44], [2, 59]].tolist() == [[4, 5], [7, 8]]
    b.oindex[[1, 0], [5, 3, 9]] = [1, 2, 3]
    assert b[:2, [5, 3, 9]].tolist() == [[1, 2, 3]] * 2
    b.oindex[[1, 0], ::-20] = 6
    assert b.oindex[:2, [59, 39, 19]].tolist() == [[6] * 3] * 2


@pytest.mark.parametrize("n", [4, 16])
def test_many_axes(n):
    a = np.arange(2**n).reshape((2,) * n)
    b = b2.asarray(a, chunks=(1, 2) * (n // 2), blocks=(1,) * n)
    rng = np.random.default_rng(n)
    vectors = [rng.integers(-2, 2, 1 + i % 3 // 2).tolist() for i in range(n)]
    np.testing.assert_array_equal(b.oindex[tuple(vectors)], a[np.ix_(*vectors)])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (([0, 99], [0]), "axis 0: index 99 is out of bounds"),
        (([0], [0, -7]), "axis 1: index -7 is out of bounds"),
        (([[0]], [0]), "one dimension"),
        (([0], None), "no new axes"),
        (([0], [1.5]), "axis 1: only integers"),
        (([0], np.ones(5, bool)), "axis 1: a boolean index"),
        ((0, 0, 0), "too many indices"),
        ((..., ...), "single ellipsis"),
        (("x", 0), "axis 0"),
        (np.ones((5, 6), bool), "axis 0"),
    ],
)
def test_wrong_indices(key, words):
    b = b2.zeros((5, 6))
    with pytest.raises(IndexError, match=words):
        b.oindex[key]
    with pytest.raises(IndexError, match=words):
        b.oindex[key] = 1


def test_wrong_values_change_nothing():
    b = b2.zeros((5, 6))
    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit a selection of shape \(2, 2\)"):
        b.oindex[[0, 3], [1, 5]] = [1, 2, 3]
    assert not b[...].any()


def test_read_only(tmp_path):
    b2.zeros((5, 6), urlpath=tmp_path / "a.b2nd").close()
    with b2.open(tmp_path / "a.b2nd") as b, pytest.raises(b2.ReadOnlyError):
        b.oindex[[0, 3], [1, 5]] = 1


@pytest.mark.parametrize(
    "key",
    [
        ((0, 1), [3, 4], (5, 6)),
        [[0, 1], [3, 4], [5, 6]],
        [(0, 1), np.array([3, 4]), [5, 6]],
        [np.array([0, 1]), np.array([3, 4]), np.array([5, 6])],
    ],
)
def test_tuples_of_indices_and_lists_of_selections(key):
    a = np.arange(512).reshape(8, 8, 8)
    for lib in (b2, blosc2):
        b = lib.asarray(a)
        want = a[np.ix_([0, 1], [3, 4], [5, 6])]
        np.testing.assert_array_equal(b.oindex[key], want)
        np.testing.assert_array_equal(b.get_oselection_numpy(key), want)
        b.oindex[key] = -want
        np.testing.assert_array_equal(b[:2, 3:5, 5:7], -want)
        b.set_oselection_numpy(key, want)
        np.testing.assert_array_equal(b[...], a)


def test_lists_of_selections_may_be_shorter_and_of_slices():
    a = np.arange(60).reshape(3, 4, 5)
    b = b2.asarray(a)
    np.testing.assert_array_equal(b.oindex[[[2, 0]]], a[[2, 0]])
    np.testing.assert_array_equal(b.oindex[[[2, 0], slice(1, 3), (4,)]], a[np.ix_([2, 0], [1, 2], [4])])
    np.testing.assert_array_equal(b.oindex[(), 1], a[[], 1])
    np.testing.assert_array_equal(b.oindex[[2, 0]], a[[2, 0]])  # one vector
    np.testing.assert_array_equal(b.oindex[(2, 0)], a[2, 0])  # two numbers
