"""Writing to an array: items by index, and its size.

A chunk that an edit touches is decoded, changed and compressed again; all chunks of an edit are
stored together or not at all.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._ffi import check, ffi, lib, new_error
from .errors import ParameterError
from .indexing import Box, Gather, parse_key
from .params import SpecialValue
from .partition import Shape, grid_of, to_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .ndarray import Array, NDArray


# ---- Items -----------------------------------------------------------------


def set_items(array: NDArray, key: Any, value: Any) -> None:
    """``array[key] = value`` as in NumPy.

    Raises IndexError for a key that is out of range, ValueError when `value` does not fit.
    """
    plan = parse_key(key, array.shape)
    source = np.asarray(value)
    if isinstance(plan, Gather):
        _set_gather(array, plan, source)
        return
    try:
        # NumPy drops axes of size 1 that `value` has too many.
        while source.ndim > len(plan.shape) and source.shape[0] == 1:
            source = source[0]
        source = np.broadcast_to(source, plan.shape)
    except ValueError:
        raise ParameterError(
            f"a value of shape {np.shape(value)} does not fit a selection of shape {plan.shape}",
            field="value",
        ) from None
    if math.prod(plan.shape):
        _set_box(array, plan, source.reshape(plan.count))


def _set_box(array: NDArray, box: Box, source: Array) -> None:
    if box.flip:
        source = source[box.flip]
    with array.schunk.transaction():
        for nchunk, inner, part in _pieces(array, box):
            low, shape = _extent(array, nchunk)
            piece = source[part]
            if piece.shape == shape:
                chunk = np.ascontiguousarray(piece, array.dtype)
            else:
                chunk = array._read(low, shape, (1,) * len(shape))
                chunk[inner] = piece
            _store(array, nchunk, chunk)


def _extent(array: NDArray, nchunk: int) -> tuple[Shape, Shape]:
    """Start and shape of the part of the array that a chunk holds."""
    grid = grid_of(array.shape, array.chunks)
    coords = np.unravel_index(nchunk, grid) if grid else ()
    low = tuple(int(i) * c for i, c in zip(coords, array.chunks, strict=True))
    shape = tuple(min(c, n - a) for c, n, a in zip(array.chunks, array.shape, low, strict=True))
    return low, shape


def _pieces(array: NDArray, box: Box) -> Iterator[tuple[int, tuple[slice, ...], tuple[slice, ...]]]:
    """The chunks of a box: (number, items inside the chunk, items of the box)."""
    axes = []
    for first, n, step, chunk in zip(box.start, box.count, box.step, array.chunks, strict=True):
        cuts = []
        at = 0
        while at < n:
            item = first + at * step
            index = item // chunk
            # Items of the box that lie before the end of this chunk.
            stop = min(n, -(-((index + 1) * chunk - first) // step))
            low = item - index * chunk
            cuts.append((index, slice(low, low + (stop - at - 1) * step + 1, step), slice(at, stop)))
            at = stop
        axes.append(cuts)
    grid = grid_of(array.shape, array.chunks)
    for cell in product(*axes):
        nchunk = 0
        for (index, _, _), n in zip(cell, grid, strict=True):
            nchunk = nchunk * n + index
        yield nchunk, tuple(c[1] for c in cell), tuple(c[2] for c in cell)


def _set_gather(array: NDArray, plan: Gather, source: Array) -> None:
    """Assignment through index arrays: the chunks' own items are numbered and picked likewise."""
    points = plan.points[0].shape
    result = (*plan.layout[: plan.at], *points, *plan.layout[plan.at :])
    try:
        values = np.broadcast_to(source, result)
    except ValueError:
        raise ParameterError(
            f"a value of shape {source.shape} does not fit a selection of shape {result}", field="value"
        ) from None
    if not values.size:
        return
    targets = _flat_targets(array, plan)
    flat_values = np.ascontiguousarray(values.reshape(-1), array.dtype)
    _set_flat(array, targets.reshape(-1), flat_values)


def _flat_targets(array: NDArray, plan: Gather) -> Array:
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


def _set_flat(array: NDArray, targets: Array, values: Array) -> None:
    """Set items by their numbers in C order; of several values for one item the last counts."""
    coords = np.unravel_index(targets, array.shape) if array.ndim else ()
    grid = grid_of(array.shape, array.chunks)
    nchunks = np.zeros(targets.shape, np.int64)
    for coord, chunk, n in zip(coords, array.chunks, grid, strict=True):
        nchunks = nchunks * n + coord // chunk
    order = np.argsort(nchunks, kind="stable")
    borders = np.flatnonzero(np.diff(nchunks[order])) + 1
    with array.schunk.transaction():
        for group in np.split(order, borders):
            nchunk = int(nchunks[group[0]])
            low, shape = _extent(array, nchunk)
            items = array._read(low, shape, (1,) * len(shape))
            items[tuple(c[group] - a for c, a in zip(coords, low, strict=True))] = values[group]
            _store(array, nchunk, items)


def _store(array: NDArray, nchunk: int, chunk: Array) -> None:
    """Replace a chunk by the items of its part of the array."""
    array.schunk.update_chunk(nchunk, _encode(array, chunk))


def _encode(array: NDArray, items: Array) -> bytes:
    """The stored form of a chunk that holds `items`: made in an array of this one chunk."""
    from .ndarray import new_nd
    from .params import Storage
    from .schunk import SChunk

    source = array.schunk
    nd = new_nd(items.shape, array.chunks, array.blocks, array.dtype.itemsize)
    scratch = SChunk._new(Storage(), array.chunksize, source.cparams, source.dparams, {})
    ctx, err = _ffi.context(source._c_nthreads, array.chunksize), new_error()
    with scratch.handle.writing() as ptr:
        data = ffi.from_buffer(items)
        check(lib.b2c_nd_append_chunk(ptr, ctx, nd, 0, data, len(data), err), err, source.urlpath)
    return scratch.get_chunk(0)


# ---- Size ------------------------------------------------------------------


def resize(array: NDArray, newshape: Any) -> None:
    """Grow or shrink; chunks and blocks stay.  New items are zero unless they were cut off before.

    Raises ValueError for another number of dimensions.
    """
    from .ndarray import encode_meta, new_nd

    shape = to_shape(newshape, "newshape")
    if len(shape) != array.ndim:
        raise ParameterError(
            f"newshape {shape} must have {array.ndim} dimensions, as the array", field="newshape"
        )
    if any(c == 0 and n for c, n in zip(array.chunks, shape, strict=True)):
        raise ParameterError("an axis whose chunks have size 0 cannot grow", field="newshape")
    if shape == array.shape:
        return
    nd = new_nd(shape, array.chunks, array.blocks, array.dtype.itemsize)
    schunk, content, err = array.schunk, encode_meta(nd, array.dtype), new_error()
    with schunk.transaction():
        _clear_cut_items(array, shape)
        _change_grid(array, grid_of(array.shape, array.chunks), grid_of(shape, array.chunks))
        with schunk.handle.writing() as ptr:
            status = lib.b2c_schunk_meta_update(ptr, b"b2nd", content, len(content), err)
            check(status, err, schunk.urlpath)
        schunk.on_rollback(functools.partial(_set_nd, array, array._nd))
        _set_nd(array, nd)


def _set_nd(array: NDArray, nd: Any) -> None:
    array._nd = nd
    array._set_shape()


def _clear_cut_items(array: NDArray, shape: Shape) -> None:
    """Zero what is cut off inside chunks that stay, so that growing again does not bring it back."""
    for axis, (new, old, chunk) in enumerate(zip(shape, array.shape, array.chunks, strict=True)):
        if new >= old or new == 0 or new % chunk == 0:
            continue
        end = min(-(-new // chunk) * chunk, old)
        start = [0] * array.ndim
        count = [min(n, s) for n, s in zip(shape, array.shape, strict=True)]
        start[axis], count[axis] = new, end - new
        if 0 in count:
            continue
        box = Box(tuple(start), tuple(count), (1,) * array.ndim, (), tuple(count))
        _set_box(array, box, np.broadcast_to(np.zeros((), array.dtype), count))


def _change_grid(array: NDArray, old: Shape, new: Shape) -> None:
    """Delete the chunks that leave the grid, then insert zeros for those that come in."""
    schunk = array.schunk
    kept = tuple(min(a, b) for a, b in zip(old, new, strict=True))
    for nchunk in reversed(range(math.prod(old))):
        if any(i >= n for i, n in zip(np.unravel_index(nchunk, old), kept, strict=True)):
            schunk.delete_chunk(nchunk)
    zeros = _zero_chunk(array)
    for nchunk in range(math.prod(new)):
        if any(i >= n for i, n in zip(np.unravel_index(nchunk, new), kept, strict=True)):
            schunk.insert_chunk(nchunk, zeros)


def _zero_chunk(array: NDArray) -> bytes:
    cparams = array.schunk.cparams.to_c()
    return _ffi.sized_bytes(
        lambda dst, cap, need, err: int(
            lib.b2c_special_chunk(
                cparams, SpecialValue.ZERO.value, array.chunksize, ffi.NULL, dst, cap, need, err
            )
        ),
        64,
    )


def append(array: NDArray, values: Any) -> int:
    """Add items at the end of a one-dimensional array; returns its new length."""
    if array.ndim != 1:
        raise ParameterError(f"append() needs an array of 1 dimension, not {array.ndim}")
    items = np.asarray(values, array.dtype).reshape(-1)
    start = array.shape[0]
    resize(array, (start + items.size,))
    set_items(array, slice(start, None), items)
    return array.shape[0]
