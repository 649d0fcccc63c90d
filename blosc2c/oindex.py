"""Orthogonal selection: each index array applies to its own axis.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import SelectionError
from .indexing import Box, parse_key
from .ndarray import replanned
from .ndedit import fitted, loaded, set_plan, write_rows
from .partition import Shape
from .places import Places

if TYPE_CHECKING:
    from .ndarray import Array, NDArray


class Combined(NamedTuple):
    """All combinations of indices along some axes, and for each of them a box along the others.

    box : of the other axes; along those of the vectors it covers all
    axes : of the vectors, ascending
    vectors : their indices, none negative
    """

    box: Box
    axes: Shape
    vectors: tuple[Array, ...]

    @property
    def order(self) -> Shape:
        """The axes of the array that the result has, those of the vectors first."""
        others = tuple(axis for axis in self.box.axes if axis not in self.axes)
        return self.axes + others

    @property
    def shape(self) -> Shape:
        """Of the result, in that order."""
        return tuple(len(v) for v in self.vectors) + tuple(
            self.box.counts[axis] for axis in self.order[len(self.axes) :]
        )

    @property
    def flip(self) -> tuple[slice, ...]:
        """How to turn the result round where steps are negative."""
        flip = self.box.flip
        return tuple(flip[axis] for axis in self.order) if flip else ()

    def places(self) -> Places:
        """The same for C."""
        counts = tuple(len(v) for v in self.vectors)
        return Places(self.box, self.axes, np.concatenate(self.vectors), counts, combined=True)


class OIndex:
    """What ``array.oindex`` gives: ``oindex[i, j]`` takes the rows i and of those the columns j.

    An index is an int, a slice, or a vector of ints or booleans (an array, list or tuple); a list of
    vectors, or an array of two axes, has one for each axis, as a tuple has.  Each block is decoded once, and memory
    is taken for the result and the vectors only.
    """

    def __init__(self, array: NDArray) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Array:
        return _read(self._array, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._array.schunk.locking:
            value = loaded(value, self._array.dtype)
            with self._array.schunk.handle.writing():  # what the key means depends on the present shape
                self._set(key, value)
        else:
            self._set(key, value)

    def _set(self, key: Any, value: Any) -> None:
        plan = parse_orthogonal(key, self._array.shape)
        if isinstance(plan, Box):
            set_plan(self._array, plan, value)
            return
        where = np.argsort(plan.order)
        values = fitted(self._array, value, tuple(plan.shape[i] for i in where))
        if 0 not in plan.shape:
            rows = values.transpose(np.argsort(where))[plan.flip] if values.ndim else values
            write_rows(self._array, plan.places(), rows)


@replanned
def _read(array: NDArray, key: Any) -> Array:
    plan = parse_orthogonal(key, array.shape)
    if isinstance(plan, Box):
        return array._read_plain(plan)
    rows = array._read_places(plan.places()).reshape(plan.shape)
    # Where the user wants the axes: in the order of the array's.
    result: Array = rows[plan.flip].transpose(np.argsort(plan.order))
    return result


def parse_orthogonal(key: Any, shape: Shape) -> Box | Combined:
    """What ``oindex[key]`` selects; SelectionError for what is out of range or no index."""
    entries = _entries(key, shape)
    axes = tuple(axis for axis, entry in enumerate(entries) if isinstance(entry, np.ndarray))
    vectors = tuple(entries[axis] for axis in axes)
    box = parse_key(tuple(slice(None) if axis in axes else e for axis, e in enumerate(entries)), shape)
    assert isinstance(box, Box)
    return Combined(box, axes, vectors) if axes else box


def _entries(key: Any, shape: Shape) -> list[Any]:
    """An int, slice or vector of indices for each axis."""
    entries = list(key) if isinstance(key, tuple) or _holds_indices(key) else [key]
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise SelectionError("an index can only have a single ellipsis ('...')")
    if len(entries) - len(dots) > len(shape):
        raise SelectionError(f"too many indices: the array has {len(shape)} dimensions")
    at = dots[0] if dots else len(entries)
    entries[at : at + len(dots)] = [slice(None)] * (len(shape) - len(entries) + len(dots))
    for axis, (entry, n) in enumerate(zip(entries, shape, strict=True)):
        if entry is None:
            raise SelectionError("orthogonal selection has no new axes")
        if isinstance(entry, slice):
            continue
        try:
            plan = parse_key(list(entry) if isinstance(entry, tuple) else entry, (n,))
        except IndexError as exc:
            raise SelectionError(f"axis {axis}: {exc}") from None
        if isinstance(plan, Box):
            entries[axis] = plan.start[0]
        elif plan.axes == (0,) and plan.points[0].ndim == 1:
            entries[axis] = _as_slice(plan.points[0])
        else:
            raise SelectionError("orthogonal indices have one dimension")
    return entries


def _holds_indices(key: Any) -> bool:
    """Whether it is a list that has more than numbers in it, or an array of vectors of numbers."""
    if isinstance(key, np.ndarray):
        return key.ndim == 2 and key.dtype.kind in "iu"
    return isinstance(key, list) and any(
        isinstance(entry, list | tuple | slice) or getattr(entry, "ndim", 0) for entry in key
    )


def _as_slice(vector: Array) -> slice | Array:
    """Indices at even distances as a slice: a part of a box is read faster than single places."""
    if len(vector) < 2:
        first = int(vector[0]) if len(vector) else 0
        return slice(first, first + len(vector))
    first, last, step = int(vector[0]), int(vector[-1]), int(vector[1]) - int(vector[0])
    if step == 0 or last - first != step * (len(vector) - 1) or (np.diff(vector) != step).any():
        return vector
    stop = last + (1 if step > 0 else -1)
    return slice(first, None if stop < 0 else stop, step)
