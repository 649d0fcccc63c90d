"""Index arithmetic: what ``a[key]`` means, worked out without touching data.

A key becomes a Box for the C reader (ints, slices, ellipsis, newaxis), or a Gather when integer
arrays or boolean masks are involved.  Both follow NumPy, error types included.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

_BOOLEAN = (bool, np.bool_)  # making a union each time takes longer than asking


class Box(NamedTuple):
    """A basic selection.

    start, counts, step : one per axis of the array, step >= 1
    flip : how to turn the box round where steps were negative; () when none was
    shape : of the result, without the axes of integers and with those of newaxis
    axes : for each axis of the result that of the array, -1 for newaxis
    """

    start: Shape
    counts: Shape
    step: Shape
    flip: tuple[slice, ...]
    shape: Shape
    axes: Shape


class Gather(NamedTuple):
    """A selection with index arrays.

    box : the other axes; along an indexed axis it covers all
    axes : the indexed axes, ascending; (-1,) when scalar booleans repeat or drop the box
    points : for each of them the indices, of one common shape, none negative
    at : position of the points' axes in the result
    layout : shape of the result without the points' axes
    layout_axes : for each of those the axis of the array, -1 for newaxis
    """

    box: Box
    axes: tuple[int, ...]
    points: tuple[Array, ...]
    at: int
    layout: Shape
    layout_axes: Shape

    @property
    def shape(self) -> Shape:
        """Shape of the result."""
        return (*self.layout[: self.at], *self.points[0].shape, *self.layout[self.at :])


def parse_key(key: Any, shape: Shape) -> Box | Gather:
    """What `key` selects of an array of `shape`.

    Raises IndexError for what is out of range or no index, as NumPy.
    """
    if type(key) is not tuple:
        key = (key,)
    box = _plain_box(key, shape)
    if box is not None:
        return box
    points = _only_array(key, shape)
    if points is not None:
        return points
    entries = expand_key(key, len(shape))
    if any(isinstance(entry, np.ndarray) for entry in entries):
        return _gather(entries, shape)
    return _box(entries, shape)


def _plain_box(key: tuple[Any, ...], shape: Shape) -> Box | None:
    """The same for the keys that most reads have: ints that are in range and slices forward."""
    ndim = len(shape)
    if len(key) > ndim:
        return None
    start, counts, steps = [0] * ndim, list(shape), [1] * ndim
    axes: list[int] = []
    for axis, item in enumerate(key):
        kind, n = type(item), shape[axis]
        if kind is int:
            index = item + n if item < 0 else item
            if not 0 <= index < n:
                return None
            start[axis] = index
            counts[axis] = 1
        elif kind is slice:
            first, stop, step = item.indices(n)
            if step < 0:
                return None
            start[axis] = first
            counts[axis] = (stop - first + step - 1) // step if stop > first else 0
            steps[axis] = step if counts[axis] > 1 else 1  # one that is not taken may be of any size
            axes.append(axis)
        else:
            return None
    axes.extend(range(len(key), ndim))
    result = counts if len(axes) == ndim else [counts[axis] for axis in axes]
    return Box(tuple(start), tuple(counts), tuple(steps), (), tuple(result), tuple(axes))


def _only_array(key: tuple[Any, ...], shape: Shape) -> Gather | None:
    """The same for a key that is one array of integers, or a list of them."""
    if len(key) != 1 or not shape or type(key[0]) not in (np.ndarray, list):
        return None
    entry = _entry(key[0])
    if not isinstance(entry, np.ndarray) or entry.dtype == np.bool_:
        return None
    ndim = len(shape)
    axes = tuple(range(ndim))
    box = Box((0,) * ndim, shape, (1,) * ndim, (), shape, axes)
    return Gather(box, (0,), (_in_range(entry, 0, shape[0]),), 0, shape[1:], axes[1:])


def expand_key(key: tuple[Any, ...], ndim: int) -> list[Any]:
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
        used += naxes_of(entry)
    if used > ndim:
        raise IndexError(f"too many indices: the array has {ndim} dimensions, {used} were indexed")
    where = len(entries) if ellipsis_at is None else ellipsis_at
    # The ellipsis stays as an entry of no axis: even then it separates index arrays.
    entries[where:where] = [slice(None)] * (ndim - used) + [Ellipsis] * (ellipsis_at is not None)
    return entries


def _entry(item: Any) -> Any:
    if item is None or isinstance(item, slice):
        return item
    if not isinstance(item, _BOOLEAN) and hasattr(item, "__index__"):
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


def naxes_of(entry: Any) -> int:
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
    if len(numbers) == 1:
        return first, 1, 1, False  # a step that is not taken may be of any size
    return min(first, last), len(numbers), abs(step), step < 0


def _box(entries: list[Any], shape: Shape) -> Box:
    start: list[int] = []
    count: list[int] = []
    step: list[int] = []
    flip: list[slice] = []
    result: list[int] = []
    axes: list[int] = []
    for entry in entries:
        if entry is Ellipsis:
            continue
        if entry is None:
            result.append(1)
            axes.append(-1)
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
        axes.append(axis)
    turned = tuple(flip) if any(f.step == -1 for f in flip) else ()
    return Box(tuple(start), tuple(count), tuple(step), turned, tuple(result), tuple(axes))


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
        points = np.broadcast_arrays(*arrays) if len(arrays) > 1 else arrays
    except ValueError:
        shapes = " ".join(str(array.shape) for array in arrays)
        raise IndexError(f"index arrays could not be broadcast together: shapes {shapes}") from None
    adjacent = places[-1] - places[0] == len(places) - 1
    box, layout, layout_axes = _cover(basic, axes, shape)
    used = [(a, p) for a, p in zip(axes, points, strict=True) if a is not None]
    if not used:  # only scalar booleans: points without an axis
        used = [(-1, points[0])]
    return Gather(
        box,
        tuple(a for a, _ in used),
        tuple(p for _, p in used),
        layout_before[0] if adjacent else 0,
        layout,
        layout_axes,
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
    yield axis, _in_range(np.asarray(entry, np.intp), axis, shape[axis])


def _in_range(indices: Array, axis: int, n: int) -> Array:
    """Indices counted from the start of an axis of this size."""
    found = np.where(indices < 0, indices + n, indices)
    as_seen = found.view(np.uintp)  # those that are still negative are large
    if as_seen.size and as_seen.max() >= n:
        wrong = int(indices[as_seen >= n].flat[0])
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {n}")
    return found


def _cover(basic: list[Any], axes: list[int | None], shape: Shape) -> tuple[Box, Shape, Shape]:
    """The box with all of the indexed axes; the result's shape and axes without them."""
    box = _box([slice(0, 0) if isinstance(e, int) else e for e in basic], shape)
    counts = list(box.counts)
    for axis in axes:
        if axis is not None:
            counts[axis] = shape[axis]
    kept = tuple(axis for axis in box.axes if axis not in axes)
    layout = tuple(1 if axis < 0 else box.counts[axis] for axis in kept)
    return Box(box.start, tuple(counts), *box[2:]), layout, kept


def rest_of(plan: Gather) -> tuple[Shape, tuple[slice, ...]]:
    """Counts of the axes that are not indexed, and how to turn the rows round (() if not at all)."""
    box, indexed = plan.box, plan.axes
    counts = tuple(n for axis, n in enumerate(box.counts) if axis not in indexed)
    flip = tuple(f for axis, f in enumerate(box.flip) if axis not in indexed)
    return counts, ((slice(None), *flip) if flip else ())


def place_points(plan: Gather, rows: Array) -> Array:
    """The result from an array whose first axis are the points, in their order, and then the rest."""
    if plan.box.flip:
        rows = rows[rest_of(plan)[1]]
    result = rows.reshape(*plan.points[0].shape, *plan.layout)
    nd = plan.points[0].ndim
    return np.moveaxis(result, range(nd), range(plan.at, plan.at + nd)) if plan.at else result


def rows_of(plan: Gather, values: Array) -> Array:
    """The reverse of place_points(): an array of the result's shape, points first."""
    nd = plan.points[0].ndim
    counts, flip = rest_of(plan)
    rows = np.moveaxis(values, range(plan.at, plan.at + nd), range(nd)) if plan.at else values
    rows = rows.reshape(plan.points[0].size, *counts)
    return rows[flip] if flip else rows


def part_of_plan(plan: Box | Gather, box: tuple[slice, ...]) -> Box | Gather:
    """The plan for a box of the result: slices with a start, a stop and step 1."""
    if isinstance(plan, Box):
        return _part_of_box(plan, plan.axes, box)._replace(shape=tuple(s.stop - s.start for s in box))
    nd = plan.points[0].ndim
    points = tuple(p[box[plan.at : plan.at + nd]] for p in plan.points)
    others = (*box[: plan.at], *box[plan.at + nd :])
    layout = tuple(s.stop - s.start for s in others)
    inner = _part_of_box(plan.box, plan.layout_axes, others)
    return plan._replace(box=inner, points=points, layout=layout)


def _part_of_box(plan: Box, axes: Shape, box: tuple[slice, ...]) -> Box:
    """The part of a box that slices of some of its axes select."""
    start, counts = list(plan.start), list(plan.counts)
    for axis, s in zip(axes, box, strict=True):
        if axis < 0:
            continue
        is_reversed = bool(plan.flip) and plan.flip[axis].step == -1
        first = plan.counts[axis] - s.stop if is_reversed else s.start
        start[axis] += first * plan.step[axis]
        counts[axis] = s.stop - s.start
    return plan._replace(start=tuple(start), counts=tuple(counts))
