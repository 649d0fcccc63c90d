"""Index arithmetic: what ``a[key]`` means, worked out without touching data.

A key becomes a Box for the C reader (ints, slices, ellipsis, newaxis), or a Gather when integer
arrays or boolean masks are involved.  Both follow NumPy, error types included.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """A basic selection.

    start, count, step : one per axis of the array, step >= 1
    flip : how to turn the box round where steps were negative; () when none was
    shape : of the result, without the axes of integers and with those of newaxis
    """

    start: Shape
    count: Shape
    step: Shape
    flip: tuple[slice, ...]
    shape: Shape


@dataclass(frozen=True)
class Gather:
    """A selection with index arrays.

    box : the other axes; along an indexed axis it covers all
    axes : the indexed axes
    points : for each of them the indices, of one common shape, none negative
    at : position of the points' axes in the result
    layout : shape of the result without the points' axes
    """

    box: Box
    axes: tuple[int, ...]
    points: tuple[Array, ...]
    at: int
    layout: Shape


def parse_key(key: Any, shape: Shape) -> Box | Gather:
    """What `key` selects of an array of `shape`.

    Raises IndexError for what is out of range or no index, as NumPy.
    """
    entries = _expand(key if isinstance(key, tuple) else (key,), len(shape))
    if any(isinstance(entry, np.ndarray) for entry in entries):
        return _gather(entries, shape)
    return _box(entries, shape)


def _expand(key: tuple[Any, ...], ndim: int) -> list[Any]:
    """Entries of a key as int, slice, None or index array, with the ellipsis written out."""
    entries: list[Any] = []
    used, ellipsis_at = 0, None
    for item in key:
        if item is Ellipsis:
            if ellipsis_at is not None:
                raise IndexError("an index can only have a single ellipsis ('...')")
            ellipsis_at = len(entries)
            continue
        entry = _entry(item)
        entries.append(entry)
        used += _naxes(entry)
    if used > ndim:
        raise IndexError(f"too many indices: the array has {ndim} dimensions, {used} were indexed")
    where = len(entries) if ellipsis_at is None else ellipsis_at
    # The ellipsis stays as an entry of no axis: even then it separates index arrays.
    entries[where:where] = [slice(None)] * (ndim - used) + [Ellipsis] * (ellipsis_at is not None)
    return entries


def _entry(item: Any) -> Any:
    if item is None or isinstance(item, slice):
        return item
    if not isinstance(item, bool | np.bool_) and hasattr(item, "__index__"):
        try:
            return item.__index__()
        except TypeError:  # arrays have the method too
            pass
    array = np.asarray(item)
    if array.dtype == np.bool_:
        return array
    if array.size == 0 and not isinstance(item, np.ndarray):
        return array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise IndexError(
            "only integers, slices, ellipsis, numpy.newaxis and integer or boolean arrays are "
            f"valid indices, not {type(item).__name__}"
        )
    return array.astype(np.intp)


def _naxes(entry: Any) -> int:
    """Axes of the array that an entry uses up."""
    if entry is None:
        return 0
    if isinstance(entry, np.ndarray) and entry.dtype == np.bool_:
        return entry.ndim
    return 1


def _integer(index: int, axis: int, n: int) -> int:
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    return index % n


def _range(item: slice, n: int) -> tuple[int, int, int, bool]:
    """(start, count, step, reversed) of a slice, with step >= 1."""
    numbers = range(*item.indices(n))
    if not numbers:
        return 0, 0, 1, False
    first, last, step = numbers[0], numbers[-1], numbers.step
    return min(first, last), len(numbers), abs(step), step < 0


def _box(entries: list[Any], shape: Shape) -> Box:
    start: list[int] = []
    count: list[int] = []
    step: list[int] = []
    flip: list[slice] = []
    result: list[int] = []
    for entry in entries:
        if entry is Ellipsis:
            continue
        if entry is None:
            result.append(1)
            continue
        axis = len(start)
        if isinstance(entry, int):
            start.append(_integer(entry, axis, shape[axis]))
            count.append(1)
            step.append(1)
            flip.append(slice(None))
            continue
        first, n, stride, is_reversed = _range(entry, shape[axis])
        start.append(first)
        count.append(n)
        step.append(stride)
        flip.append(slice(None, None, -1) if is_reversed else slice(None))
        result.append(n)
    turned = tuple(flip) if any(f.step == -1 for f in flip) else ()
    return Box(tuple(start), tuple(count), tuple(step), turned, tuple(result))


def _gather(entries: list[Any], shape: Shape) -> Gather:
    axes: list[int | None] = []
    arrays: list[Array] = []
    basic: list[Any] = []  # entries for _box(), None for newaxis
    places: list[int] = []  # positions in `entries` of the advanced ones
    layout_before: list[int] = []  # result axes before each of those positions
    result_axes = axis = 0
    for position, entry in enumerate(entries):
        if entry is Ellipsis:
            continue
        if entry is None or isinstance(entry, slice):
            basic.append(entry)
            result_axes += 1
            axis += entry is not None
            continue
        places.append(position)
        layout_before.append(result_axes)
        for one_axis, indices in _index_arrays(entry, axis, shape):
            axes.append(one_axis)
            arrays.append(indices)
            if one_axis is not None:
                basic.append(0 if shape[one_axis] else slice(None))
                axis += 1
    try:
        points = np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = " ".join(str(array.shape) for array in arrays)
        raise IndexError(f"index arrays could not be broadcast together: shapes {shapes}") from None
    adjacent = places[-1] - places[0] == len(places) - 1
    box, layout = _cover(basic, axes, shape)
    used = [(a, p) for a, p in zip(axes, points, strict=True) if a is not None]
    if not used:  # only scalar booleans: points without an axis
        used = [(-1, points[0])]
    return Gather(
        box,
        tuple(a for a, _ in used),
        tuple(p for _, p in used),
        layout_before[0] if adjacent else 0,
        layout,
    )


def _index_arrays(entry: Any, axis: int, shape: Shape) -> Iterator[tuple[int | None, Array]]:
    """The (axis, indices) that an integer, integer array or boolean mask stands for."""
    if isinstance(entry, np.ndarray) and entry.dtype == np.bool_:
        if entry.ndim == 0:
            yield None, np.zeros(int(entry), np.intp)
            return
        part = shape[axis : axis + entry.ndim]
        if entry.shape != part:
            raise IndexError(f"a boolean index of shape {entry.shape} does not fit dimensions {part}")
        for i, indices in enumerate(entry.nonzero()):
            yield axis + i, indices
        return
    n, indices = shape[axis], np.asarray(entry, np.intp)
    if indices.size and (int(indices.min()) < -n or int(indices.max()) >= n):
        wrong = int(indices[(indices < -n) | (indices >= n)].flat[0])
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {n}")
    yield axis, np.where(indices < 0, indices + n, indices)


def _cover(basic: list[Any], axes: list[int | None], shape: Shape) -> tuple[Box, Shape]:
    """The box with all of the indexed axes, and the result's shape without them."""
    box = _box([slice(0, 0) if isinstance(e, int) else e for e in basic], shape)
    count = list(box.count)
    for axis in axes:
        if axis is not None:
            count[axis] = shape[axis]
    indexed = set(axes)
    layout, at = [], 0
    for entry in basic:
        if entry is None:
            layout.append(1)
            continue
        if at not in indexed:
            layout.append(box.count[at])
        at += 1
    return Box(box.start, tuple(count), box.step, box.flip, box.shape), tuple(layout)


def run_gather(
    plan: Gather, chunks: Shape, dtype: np.dtype[Any], read: Callable[[Shape, Shape, Shape], Array]
) -> Array:
    """Carry out a Gather: each chunk along the indexed axes is read once.

    read(start, count, step) gives a box of the array, of shape count.
    """
    axes, box = plan.axes, plan.box
    points = [p.reshape(-1) for p in plan.points]
    npoints = points[0].size
    if axes == (-1,):  # a scalar boolean: all of the box, or nothing
        whole = read(box.start, box.count, box.step) if npoints else np.empty(box.count, dtype)
        whole = whole[box.flip] if box.flip else whole
        out = np.broadcast_to(whole, (npoints, *whole.shape))
    else:
        rest = tuple(n for axis, n in enumerate(box.count) if axis not in axes)
        out = np.empty((npoints, *rest), dtype)
        if out.size:
            for group in _groups(points, [chunks[axis] for axis in axes]):
                out[group] = _read_points(plan, [p[group] for p in points], read)
    return place_points(plan, out)


def place_points(plan: Gather, out: Array) -> Array:
    """Give the points, on the first axis of `out`, their shape and place in the result."""
    out = out.reshape(*plan.points[0].shape, *plan.layout)
    nd = plan.points[0].ndim
    return np.moveaxis(out, range(nd), range(plan.at, plan.at + nd)) if plan.at else out


def _groups(points: list[Array], sizes: list[int]) -> Iterator[Array]:
    """Numbers of the points that share a chunk, chunk by chunk."""
    cells = np.stack([p // size for p, size in zip(points, sizes, strict=True)])
    order = np.lexsort(cells[::-1])
    cells = cells[:, order]
    borders = np.flatnonzero((cells[:, 1:] != cells[:, :-1]).any(axis=0)) + 1
    yield from np.split(order, borders)


def _read_points(plan: Gather, points: list[Array], read: Callable[[Shape, Shape, Shape], Array]) -> Array:
    """The items at `points`, all of one chunk, with the points' axis first."""
    start, count, step = list(plan.box.start), list(plan.box.count), list(plan.box.step)
    for axis, p in zip(plan.axes, points, strict=True):
        low = int(p.min())
        start[axis], count[axis], step[axis] = low, int(p.max()) - low + 1, 1
    part = read(tuple(start), tuple(count), tuple(step))
    if plan.box.flip:
        part = part[plan.box.flip]
    part = np.moveaxis(part, plan.axes, range(len(plan.axes)))
    local = tuple(p - start[axis] for axis, p in zip(plan.axes, points, strict=True))
    picked: Array = part[local]
    return picked
