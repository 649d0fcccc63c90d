# SPDX-License-Identifier: BSD-3-Clause
"""Index arithmetic against NumPy, without any compressed data."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import basic_keys, fancy_keys
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from blosc2c.indexing import Box, Gather, parse_key, place_points, rest_of, rows_of

shapes = st.lists(st.integers(0, 6), max_size=4).map(tuple)
full_shapes = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)


def numbered(shape):
    return np.arange(int(np.prod(shape, dtype=int))).reshape(shape)


def take(a: np.ndarray, box: Box) -> np.ndarray:
    """What the reader of boxes must give: only boxes inside the array are allowed."""
    for s, c, k, n in zip(box.start, box.counts, box.step, a.shape, strict=True):
        assert k >= 1 and c >= 0 and (c == 0 or 0 <= s <= s + (c - 1) * k < n)
    key = zip(box.start, box.counts, box.step, strict=True)
    return a[tuple(slice(s, s + c * k, k) for s, c, k in key)]


def gather(a: np.ndarray, plan: Gather) -> np.ndarray:
    """What the reader of places must give: a row for each point."""
    if plan.axes == (-1,):
        return np.broadcast_to(take(a, plan.box), (plan.points[0].size, *plan.box.counts))
    assert list(plan.axes) == sorted(set(plan.axes))
    for axis, p in zip(plan.axes, plan.points, strict=True):
        assert p.size == 0 or (p.min() >= 0 and p.max() < a.shape[axis])
        assert (plan.box.start[axis], plan.box.counts[axis], plan.box.step[axis]) == (0, a.shape[axis], 1)
    part = np.moveaxis(take(a, plan.box), plan.axes, range(len(plan.axes)))
    return part[tuple(p.reshape(-1) for p in plan.points)]


def apply(plan: Box | Gather, a: np.ndarray) -> np.ndarray:
    if isinstance(plan, Box):
        part = take(a, plan)
        return (part[plan.flip] if plan.flip else part).reshape(plan.shape)
    rows = gather(a, plan)
    assert rows.shape == (plan.points[0].size, *rest_of(plan)[0])
    result = place_points(plan, rows)
    assert_array_equal(rows_of(plan, result), rows)
    return result


@settings(max_examples=400)
@given(st.data(), shapes)
def test_basic_keys(data, shape):
    a, key = numbered(shape), data.draw(basic_keys(shape))
    plan = parse_key(key, shape)
    assert isinstance(plan, Box)
    result = apply(plan, a)
    assert result.shape == a[key].shape
    assert_array_equal(result, a[key])


@settings(max_examples=400)
@given(st.data(), full_shapes)
def test_fancy_keys(data, shape):
    a, key = numbered(shape), data.draw(fancy_keys(shape))
    try:
        want = a[key]
    except IndexError:  # shapes that do not broadcast: we must say so too
        with pytest.raises(IndexError):
            apply(parse_key(key, shape), a)
        return
    plan = parse_key(key, shape)
    assert isinstance(plan, Gather)
    result = apply(plan, a)
    assert result.shape == want.shape
    assert_array_equal(result, want)


@settings(max_examples=150)
@given(st.data(), full_shapes, st.integers(0, 99))
def test_masks_of_several_axes(data, shape, seed):
    ndim = data.draw(st.integers(1, len(shape)))
    a, mask = numbered(shape), np.random.default_rng(seed).integers(0, 2, shape[:ndim]).astype(bool)
    assert_array_equal(apply(parse_key(mask, shape), a), a[mask])


@pytest.mark.parametrize("key", [True, False, np.True_, (True, 0), (0, False), (None, True)], ids=repr)
def test_scalar_booleans(key):
    a = numbered((3, 4))
    result = apply(parse_key(key, a.shape), a)
    assert result.shape == a[key].shape
    assert_array_equal(result, a[key])


BAD = [
    (3,),
    (-4,),
    (0, 4),
    (0, 0, 0),
    (slice(None),) * 3,
    (Ellipsis, Ellipsis),
    "x",
    1.0,
    (1.5, 0),
    [0, 3],
    [-4],
    [1.0],
    np.zeros((2, 2), bool),
    np.zeros(4, bool),
    ([0, 1], [0, 1, 2]),
    {},
    (0, "a"),
    np.array(["a"]),
]


@pytest.mark.parametrize("key", BAD, ids=repr)
def test_bad_keys(key):
    a = numbered((3, 4))
    with pytest.raises(IndexError):
        a[key]
    with pytest.raises(IndexError):
        parse_key(key, a.shape)


def test_zero_step():
    with pytest.raises(ValueError):
        parse_key(slice(None, None, 0), (3,))


@pytest.mark.parametrize("key", [np.int64(2), np.uint8(1), np.array(2), np.array(-1)], ids=repr)
def test_numpy_integers(key):
    a = numbered((3, 4))
    assert_array_equal(apply(parse_key(key, a.shape), a), a[key])


def test_huge_bounds_and_axes():
    shape = (1 << 60, 3)
    plan = parse_key((slice(-(1 << 70), 1 << 70, 1 << 61), 1), shape)
    assert plan.counts[0] == 1
    plan = parse_key((slice(-2, None), slice(None, None, -2)), shape)
    assert (plan.start, plan.counts, plan.step) == (((1 << 60) - 2, 0), (2, 2), (1, 2))


@given(full_shapes, st.data())
def test_a_list_is_an_array(shape, data):
    indices = data.draw(st.lists(st.integers(-shape[0], shape[0] - 1), max_size=5))
    assume(indices or len(shape))
    a = numbered(shape)
    assert_array_equal(apply(parse_key(indices, shape), a), a[indices])


def told(key, shape):
    """What a key selects, or the error, as values that can be compared."""
    try:
        plan = parse_key(key, shape)
    except IndexError as exc:
        return str(exc)
    assert isinstance(plan, Gather)
    return plan._replace(points=tuple(p.tolist() for p in plan.points), box=plan.box._replace(shape=()))


ENDS = np.iinfo(np.int64)


@pytest.mark.parametrize("shape", [(3,), (3, 4, 2), (0, 4)])
@pytest.mark.parametrize(
    "key",
    [
        [0, -1],
        [],
        [3],
        [-4, 3],
        [2.0],
        [True, False, True],
        np.array([[2], [-3]], np.int8),
        np.empty((0, 2), int),
        np.array([ENDS.min, 0]),
        np.array([0, ENDS.max]),
    ],
    ids=repr,
)
def test_an_array_alone_is_one_beside_an_ellipsis(key, shape):
    assert told(key, shape) == told((key, Ellipsis), shape)
