"""What arrays are made from: objects of which a box at a time is asked for.

A source has a ``shape`` and gives NumPy arrays for boxes: ``source[slice, slice, ...]``, all slices
with a start, a stop and step 1.  NumPy and blosc2c arrays are sources, and so are datasets of other
libraries; those here compute their boxes from others.  Nothing is ever asked for whole.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .dtype import as_array
from .errors import ParameterError
from .indexing import Box, Gather, part_of_plan
from .partition import Shape, boxes, grid_of, in_order, slab_of

if TYPE_CHECKING:
    from .ndarray import NDArray

Array = np.ndarray[Any, Any]
Slices = tuple[slice, ...]

SLAB_NBYTES = 16 << 20  # boxes that are asked for are of chunks together up to this
ROWS_NBYTES = 64 << 20  # and up to this where a source has to read more for smaller ones
_POINTS_NBYTES = 1 << 21  # items that are looked up one by one, at a time
_NUMBERED_NITEMS = 1 << 16  # whose numbers are told at once


class Permuted:
    """A source with its axes in another order: for each of them its number in the source."""

    def __init__(self, source: Any, axes: Shape) -> None:
        self._source, self._axes = source, axes
        self.shape: Shape = tuple(source.shape[axis] for axis in axes)

    def __getitem__(self, box: Slices) -> Array:
        theirs = [slice(None)] * len(box)
        for axis, s in zip(self._axes, box, strict=True):
            theirs[axis] = s
        permuted: Array = np.asarray(self._source[tuple(theirs)]).transpose(self._axes)
        return permuted


class OfArrays:
    """A source whose items are arrays: their axes come behind those that it says it has."""

    def __init__(self, source: Any) -> None:
        items = np.dtype(source.dtype)
        self.dtype, self.inner = items.base, items.shape
        self._source, self._ndim = source, len(source.shape)
        self.shape: Shape = (*source.shape, *self.inner)

    def __getitem__(self, box: Slices) -> Array:
        part = np.asarray(self._source[box[: self._ndim]])
        inner: Array = part[(slice(None),) * self._ndim + box[self._ndim :]]
        return inner


def stores_like(array: NDArray, other: NDArray) -> bool:
    """Whether chunks of one array may be chunks of the other."""
    same = array._chunks == other._chunks and array._blocks == other._blocks
    return same and array._dtype == other._dtype


class Stored(NamedTuple):
    """Chunks of arrays that are, as they are stored, those of a box of another array, in C order."""

    arrays: Sequence[NDArray]
    whose: Array  # of each chunk the array's place among `arrays`
    numbers: Array  # -1: none is


def numbers_in_order(grid: Shape, along: Iterable[Sequence[int] | Array]) -> Array:
    """Numbers in C order of the cells of a grid that have these along each axis."""
    numbers: Array = np.zeros(1, np.int64)
    for n, cells in zip(grid, along, strict=True):
        numbers = np.add.outer(numbers * n, cells).ravel()
    return numbers


def cells_of(s: slice, chunk: int) -> range:
    """The chunks from one item of an axis up to another."""
    return range(s.start // chunk, -(-s.stop // chunk))


class ByNumber:
    """Items of a dtype that a rule gives for their numbers in C order."""

    def __init__(self, shape: Shape, dtype: np.dtype[Any], rule: Callable[[Array], Array]) -> None:
        self.shape, self._dtype, self._rule = shape, dtype, rule

    def __getitem__(self, box: Slices) -> Array:
        out: Array = np.ndarray(tuple(s.stop - s.start for s in box), self._dtype)
        # What a rule computes with, an array for each step, stays in the processor's cache.
        for inner in boxes(out.shape, _part_of(out.shape, _NUMBERED_NITEMS)):
            along = (np.arange(a.start + s.start, a.start + s.stop) for a, s in zip(box, inner, strict=True))
            out[inner] = self._rule(self._numbers(np.ix_(*along)))
        return out

    def _numbers(self, coords: Sequence[Array]) -> Array:
        total: Array = np.zeros((), np.int64)
        for coord, n in zip(coords, self.shape, strict=True):
            total = total * n + coord
        return total


def box_of(source: Any, box: Slices, dtype: np.dtype[Any]) -> Array:
    """What a source gives for a box, which must have its shape: items of this dtype, or of another one."""
    part: Array = np.asarray(as_array(source[box], dtype))
    want = tuple(s.stop - s.start for s in box)
    if part.shape != want:
        raise ParameterError(f"the source gave shape {part.shape} where {want} was asked for")
    return part


def slab_nitems(source: Any, shape: Shape, chunks: Shape, itemsize: int) -> int:
    """Items that a source should be asked for at once."""
    itemsize = max(itemsize, getattr(getattr(source, "dtype", None), "itemsize", 0))
    nitems: int = getattr(source, "slab_nbytes", SLAB_NBYTES) // itemsize
    if getattr(source, "wants_runs", False) and not in_order(shape, slab_of(shape, chunks, nitems)):
        nitems = ROWS_NBYTES // itemsize
    return nitems


# ---- Selections ------------------------------------------------------------


class Selected:
    """What an index selects of an array; also its chunks, where they begin and end with the array's."""

    def __init__(self, array: NDArray, plan: Box | Gather) -> None:
        self._array, self._plan = array, plan
        self.shape = plan.shape
        # Index arrays may name the same blocks again and again: the fewer parts the better.
        self.slab_nbytes = SLAB_NBYTES if isinstance(plan, Box) else ROWS_NBYTES

    def __getitem__(self, box: Slices) -> Array:
        plan = part_of_plan(self._plan, box)
        if isinstance(plan, Box):
            return self._array._read_plain(plan)
        return self._array._read_gather(plan)

    def _is_cut_out(self) -> bool:
        plan = self._plan
        if not isinstance(plan, Box) or plan.flip or any(step != 1 for step in plan.step):
            return False
        return plan.axes == tuple(range(self._array.ndim))

    def to_end(self) -> list[bool]:
        """For each axis whether the selection goes from the start of a chunk to the array's end."""
        plan, array = self._plan, self._array
        if not isinstance(plan, Box) or not self._is_cut_out():
            return [False] * array.ndim
        ends = zip(plan.start, plan.counts, array.chunks, array.shape, strict=True)
        return [first % chunk == 0 and first + n == end for first, n, chunk, end in ends]

    def stored_chunks(self, new: NDArray, box: Slices) -> Stored | None:
        """Those of a box of `new`."""
        plan, array = self._plan, self._array
        if not (isinstance(plan, Box) and self._is_cut_out() and stores_like(array, new)):
            return None
        along, are_there = [], np.ones(1, bool)
        for s, first, chunk, n in zip(box, plan.start, array._chunks, array._shape, strict=True):
            if first % chunk:
                return None
            cells = cells_of(slice(s.start + first, s.stop + first), chunk)
            is_whole = np.ones(len(cells), bool)
            is_whole[-1] = s.stop + first == min(cells.stop * chunk, n)
            are_there = np.logical_and.outer(are_there, is_whole).ravel()
            along.append(cells)
        numbers = numbers_in_order(grid_of(array._shape, array._chunks), along)
        return Stored([array], np.zeros_like(numbers), np.where(are_there, numbers, -1))


class Joined:
    """Arrays of these shapes one after the other along an axis."""

    def __init__(self, arrays: Sequence[Any], shapes: Sequence[Shape], axis: int) -> None:
        self._arrays, self._axis = arrays, axis
        self._sizes = sizes = [shape[axis] for shape in shapes]
        self._starts = [0, *itertools.accumulate(sizes)]
        self.shape = (*shapes[0][:axis], self._starts[-1], *shapes[0][axis + 1 :])

    def _parts(self, box: Slices) -> Iterator[tuple[Any, Slices]]:
        axis, wanted = self._axis, box[self._axis]
        for start, n, source in zip(self._starts, self._sizes, self._arrays, strict=False):
            low, high = max(wanted.start - start, 0), min(wanted.stop - start, n)
            if low < high:
                yield source, (*box[:axis], slice(low, high), *box[axis + 1 :])

    def __getitem__(self, box: Slices) -> Array:
        parts = [np.asarray(source[part]) for source, part in self._parts(box)]
        joined: Array = parts[0] if len(parts) == 1 else np.concatenate(parts, self._axis)
        return joined

    def wholes(self, chunks: Shape) -> list[NDArray]:
        """The arrays, if their chunks of these sizes are those of all, one array after the other; else none."""
        from .ndarray import NDArray

        axis = self._axis
        if not all(0 < n <= c for n, c in zip(self.shape[:axis], chunks[:axis], strict=True)):
            return []
        if not all(isinstance(a, NDArray) for a in self._arrays) or 0 in self.shape:
            return []
        if any(n % chunks[axis] for n in self._sizes[:-1]):
            return []
        return [a for a, n in zip(self._arrays, self._sizes, strict=True) if n]

    def stored_chunks(self, new: NDArray, box: Slices) -> Stored | None:
        """Those of a box of `new`."""
        from .ndarray import NDArray

        axis, chunks = self._axis, new._chunks
        along = [cells_of(s, chunk) for s, chunk in zip(box, chunks, strict=True)]
        grid = grid_of(new._shape, chunks)
        chunk, stop, cells = chunks[axis], box[axis].stop, along[axis]
        # For each chunk along the axis: whose it is, how many that has, and which one of those it is.
        whose, n, number = np.zeros((3, len(cells), 1), np.int64)
        number -= 1
        for k, array in enumerate(self._arrays):
            first, last = self._starts[k], self._starts[k + 1]
            begin = max(first // chunk, cells.start)
            end = min(-(-last // chunk) if last >= stop else last // chunk, cells.stop)
            if begin < end and first % chunk == 0 and isinstance(array, NDArray) and stores_like(array, new):
                its = slice(begin - cells.start, end - cells.start)
                whose[its], n[its] = k, -(-self._sizes[k] // chunk)
                number[its, 0] = range(begin - first // chunk, end - first // chunk)
        if (number < 0).all():
            return None
        before = numbers_in_order(grid[:axis], along[:axis])[:, None, None]
        after = numbers_in_order(grid[axis + 1 :], along[axis + 1 :])
        found = np.where(number < 0, -1, (before * n + number) * math.prod(grid[axis + 1 :]) + after)
        return Stored(self._arrays, (whose + np.zeros_like(found)).ravel(), found.ravel())


# ---- Other shapes ----------------------------------------------------------


def flat_boxes(shape: Shape, first: int, stop: int) -> Iterator[Slices]:
    """Boxes that hold the items of numbers first <= i < stop in C order, one after the other."""
    while first < stop:
        # The largest run of whole rows, of any axis, that begins here and does not go too far.
        row, axis = 1, len(shape)
        while axis > 0 and first % (row * shape[axis - 1]) == 0 and first + row * shape[axis - 1] <= stop:
            axis -= 1
            row *= shape[axis]
        place = np.unravel_index(first, shape) if shape else ()
        box = [slice(int(i), int(i) + 1) for i in place[:axis]] + [slice(0, n) for n in shape[axis:]]
        if axis > 0:
            i = box[axis - 1].start
            n = min(shape[axis - 1] - i, (stop - first) // row)
            box[axis - 1] = slice(i, i + n)
            row *= n
        yield tuple(box)
        first += row


class Reshaped:
    """The items of a source, in C order, in another shape."""

    wants_runs = True  # of whole rows, even if these are large

    def __init__(self, source: Any, shape: Shape, dtype: np.dtype[Any]) -> None:
        self._source, self._dtype = source, dtype
        self.shape = shape
        self._taken = 0

    def run(self, first: int, stop: int) -> Array:
        """Items by their numbers."""
        from .ndarray import NDArray

        out: Array = np.ndarray(stop - first, self._dtype)
        at = 0
        for box in flat_boxes(self._source.shape, first, stop):
            shape = tuple(s.stop - s.start for s in box)
            part = out[at : at + math.prod(shape)].reshape(shape)
            if isinstance(self._source, NDArray):
                self._source.read_into(part, box)
            else:
                part[...] = self._source[box]
            at += part.size
        return out

    def take(self, n: int) -> Array:
        """The next n items that this has not given yet."""
        self._taken += n
        return self.run(self._taken - n, self._taken)

    def __getitem__(self, box: Slices) -> Array:
        counts = tuple(s.stop - s.start for s in box)
        first = number_of(self.shape, [s.start for s in box])
        n = math.prod(counts)
        if n and number_of(self.shape, [s.stop - 1 for s in box]) - first == n - 1:
            return self.run(first, first + n).reshape(counts)
        out: Array = np.ndarray(counts, self._dtype)
        self._pick(out, box)
        return out

    def _pick(self, out: Array, box: Slices) -> None:
        """Fill `out` with the items of a box that is no run, some at a time."""
        from .ndarray import NDArray

        numbers = ByNumber(self.shape, np.dtype(np.int64), np.asarray)
        part = _part_of(out.shape, max(_POINTS_NBYTES // self._dtype.itemsize, 1))
        for inner in boxes(out.shape, part):
            where = tuple(slice(a.start + s.start, a.start + s.stop) for a, s in zip(box, inner, strict=True))
            wanted = numbers[where]
            if isinstance(self._source, NDArray):
                out[inner] = self._source[np.unravel_index(wanted, self._source.shape)]
                continue
            flat = wanted.reshape(-1, wanted.shape[-1])
            runs = [self.run(int(row[0]), int(row[-1]) + 1) for row in flat]
            out[inner] = np.concatenate(runs).reshape(wanted.shape)


def _part_of(shape: Shape, nitems: int) -> Shape:
    """A box of at most `nitems` that fills the last axes of a shape first."""
    part = []
    for n in reversed(shape):
        part.append(max(min(n, nitems), 1))
        nitems //= part[-1]
    return tuple(reversed(part))


def number_of(shape: Shape, place: Sequence[int]) -> int:
    """Number of an item in C order."""
    number = 0
    for i, n in zip(place, shape, strict=True):
        number = number * n + i
    return number


class InStorageOrder:
    """Items, in the order in which they are given, one chunk after the other.

    take(n) gives the next n of them.  With `slab_nbytes`, boxes of more chunks are asked for: they
    must be runs of the whole, and the order is then that of C.
    """

    def __init__(self, shape: Shape, take: Callable[[int], Array], slab_nbytes: int = 0) -> None:
        self.shape = shape
        self.slab_nbytes = slab_nbytes
        self._take = take

    def __getitem__(self, box: Slices) -> Array:
        counts = tuple(s.stop - s.start for s in box)
        return self._take(math.prod(counts)).reshape(counts)


class Items:
    """The first `n` items of an iterable, in its order."""

    def __init__(self, iterable: Iterable[Any], n: int, dtype: np.dtype[Any]) -> None:
        self._iterator = iter(iterable)
        self._dtype, self._n = dtype, n
        self._done = 0

    def take(self, n: int) -> Array:
        """The next `n`; ValueError when there are not so many."""
        items = np.fromiter(itertools.islice(self._iterator, n), self._dtype)
        self._done += len(items)
        if len(items) < n:
            raise ParameterError(
                f"iterator too short: expected {self._n} items, it had {self._done}", field="iterable"
            )
        return items
