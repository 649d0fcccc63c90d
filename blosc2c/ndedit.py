"""Writing to an array: items by index, and its size.

Chunks that an edit touches in part are decoded, changed and compressed again; all chunks of an
edit are stored together or not at all.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._ffi import check, ffi, lib, new_error
from .errors import ParameterError
from .indexing import Gather, parse_key
from .partition import Shape, grid_of, to_shape

if TYPE_CHECKING:
    from .ndarray import Array, NDArray


# ---- Items -----------------------------------------------------------------


def set_items(array: NDArray, key: Any, value: Any) -> None:
    """``array[key] = value`` as in NumPy.

    Raises IndexError for a key that is out of range, ValueError when `value` does not fit.
    """
    plan = parse_key(key, array.shape)
    if isinstance(plan, Gather):
        points = plan.points[0].shape
        shape = (*plan.layout[: plan.at], *points, *plan.layout[plan.at :])
        values = _fitted(array, value, shape)
        if values.size:
            _set_flat(array, _numbers(array, plan).reshape(-1), values.reshape(-1))
        return
    values = _fitted(array, value, plan.shape).reshape(plan.count)
    if values.size:
        _write_box(array, plan.start, plan.count, plan.step, values[plan.flip] if plan.flip else values)


def _fitted(array: NDArray, value: Any, shape: Shape) -> Array:
    """`value` as an array of the dtype and shape that are to be written."""
    source = value if isinstance(value, np.ndarray) else np.asarray(value)
    if source.dtype != array.dtype:
        # Through an assignment, whose rules for records and text are those of NumPy's arrays.
        converted = np.empty(source.shape, array.dtype)
        converted[...] = value
        source = converted
    try:
        # NumPy drops axes of size 1 that the value has too many.
        while source.ndim > len(shape) and source.shape[0] == 1:
            source = source[0]
        return np.broadcast_to(source, shape)
    except ValueError:
        raise ParameterError(
            f"a value of shape {np.shape(value)} does not fit a selection of shape {shape}", field="value"
        ) from None


def _write_box(array: NDArray, start: Shape, count: Shape, step: Shape, values: Array) -> None:
    schunk, err = array.schunk, new_error()
    src = ffi.from_buffer(np.ascontiguousarray(values))
    ctx = _ffi.context(schunk._c_nthreads, max(values.nbytes, array.chunksize))
    with schunk.handle.writing() as ptr:
        status = lib.b2c_nd_write(
            ptr,
            ctx,
            array._nd,
            ffi.new("uint64_t[]", start),
            ffi.new("uint64_t[]", count),
            ffi.new("uint64_t[]", step),
            src,
            len(src),
            err,
        )
        check(status, err, schunk.urlpath)


def _numbers(array: NDArray, plan: Gather) -> Array:
    """Numbers, in C order of the array, of the selected items, in the shape of the result."""
    strides = [math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim)]
    npoints = plan.points[0].ndim
    total: Any = np.zeros(plan.points[0].shape, np.int64)
    if plan.axes != (-1,):
        for axis, p in zip(plan.axes, plan.points, strict=True):
            total = total + p * strides[axis]
    rest = [axis for axis in range(array.ndim) if axis not in plan.axes]
    total = total.reshape(total.shape + (1,) * len(rest))
    for place, axis in enumerate(rest):
        numbers = plan.box.start[axis] + plan.box.step[axis] * np.arange(plan.box.count[axis])
        if plan.box.flip and plan.box.flip[axis].step == -1:
            numbers = numbers[::-1]
        total = total + (numbers * strides[axis]).reshape((-1,) + (1,) * (len(rest) - place - 1))
    total = total.reshape(*plan.points[0].shape, *plan.layout)
    return np.moveaxis(total, range(npoints), range(plan.at, plan.at + npoints))


def _set_flat(array: NDArray, numbers: Array, values: Array) -> None:
    """Set items by their numbers in C order; of several values for one item the last counts."""
    coords = np.unravel_index(numbers, array.shape) if array.ndim else ()
    grid = grid_of(array.shape, array.chunks)
    nchunks = np.zeros(numbers.shape, np.int64)
    for coord, chunk, n in zip(coords, array.chunks, grid, strict=True):
        nchunks = nchunks * n + coord // chunk
    order = np.argsort(nchunks, kind="stable")
    borders = np.flatnonzero(np.diff(nchunks[order])) + 1
    with array.schunk.transaction():
        for group in np.split(order, borders):
            _set_points(array, [c[group] for c in coords], values[group])


def _set_points(array: NDArray, coords: list[Array], values: Array) -> None:
    """Set items of one chunk: the box around them is read, changed and written."""
    low = tuple(int(c.min()) for c in coords)
    count = tuple(int(c.max()) - a + 1 for c, a in zip(coords, low, strict=True))
    step = (1,) * len(low)
    items = array._read(low, count, step)
    items[tuple(c - a for c, a in zip(coords, low, strict=True))] = values if coords else values[-1]
    _write_box(array, low, count, step, items)


# ---- Size ------------------------------------------------------------------


def resize(array: NDArray, newshape: Any) -> None:
    """Grow or shrink; chunks and blocks stay, items keep their indices, new ones are zero.

    Raises ValueError for another number of dimensions.
    """
    shape = to_shape(newshape, "newshape")
    if len(shape) != array.ndim:
        raise ParameterError(
            f"newshape {shape} must have {array.ndim} dimensions, as the array", field="newshape"
        )
    schunk, err = array.schunk, new_error()
    ctx = _ffi.context(schunk._c_nthreads, array.chunksize)
    with schunk.handle.writing() as ptr:
        # Readers hold the handle while they use the old one, so it is never changed in place.
        old, new = array._nd, ffi.new("b2c_nd *", array._nd[0])
        status = lib.b2c_nd_resize(ptr, ctx, new, ffi.new("uint64_t[]", shape), err)
        check(status, err, schunk.urlpath)
        schunk.on_rollback(functools.partial(array._set_nd, old))
        array._set_nd(new)


def append(array: NDArray, values: Any) -> int:
    """Add items at the end of a one-dimensional array; returns its new length."""
    if array.ndim != 1:
        raise ParameterError(f"append() needs an array of 1 dimension, not {array.ndim}")
    items = _fitted(array, values, np.shape(values)).reshape(-1)
    with array.schunk.transaction():
        start = array.shape[0]
        resize(array, (start + items.size,))
        set_items(array, slice(start, None), items)
    return array.shape[0]
