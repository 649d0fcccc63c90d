"""Chunk and block shapes, and walking over the grid of chunks.

The automatic rule depends on shape, item size and, for arrays of what is in memory, the data, so
that the same call makes the same file on every machine.  docs/partition.md gives its reasons.

* A block is the unit that is decoded: up to 64 KiB, or up to 8 KiB for each byte of items of 9 to 16
  bytes.  Its last axis is filled first, up to runs of a quarter, then the axes before it, from last to
  first.
* A chunk is the unit that is stored and appended: up to 8 MiB, of whole blocks or nearly so, filled from the
  last axis too.
* An axis that does not fit is cut into equal parts, so that the last part is not nearly empty, and into
  chunks that divide it where less than 1.5 times as many as are needed do.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .dtype import check_dtype
from .errors import LimitError, ParameterError
from .params import MAX_BLOCKSIZE, MAX_BUFFERSIZE, MAX_DIM

_BLOCK_NBYTES, _SHORT_NBYTES = 64 << 10, 32 << 10
_PLANE_NBYTES = 8 << 10  # of a block: of each byte of its items
_MAX_PLANES = 16  # that are compressed each by itself
CHUNK_NBYTES = 8 << 20
_MAX_SIZE = (1 << 63) - 1  # of an axis, in items
_MAX_PART = (1 << 31) - 1  # of a chunk's or block's axis
MAX_NCHUNKS = MAX_BUFFERSIZE // 8  # whose index is a chunk

_INTEGER, _SIZES = (int, np.integer), (tuple, list)  # making a union each time takes longer than asking

Shape = tuple[int, ...]
Part = Callable[[int, int], int]  # of an axis of so many items, up to so many


def to_sizes(shape: Any, name: str = "shape") -> Shape:
    """The integers that an int, tuple, list or array of one axis stands for; TypeError otherwise."""
    if isinstance(shape, _INTEGER):
        shape = (shape,)
    if not isinstance(shape, _SIZES) and not (isinstance(shape, np.ndarray) and shape.ndim == 1):
        raise TypeError(
            f"{name} must be an int, tuple, list or array of one axis, not {type(shape).__name__}"
        )
    try:
        return tuple(map(int, map(operator.index, shape)))
    except TypeError:
        raise TypeError(f"{name} {shape} must hold integers") from None


def to_shape(shape: Any, name: str = "shape") -> Shape:
    """A shape from what to_sizes() takes; TypeError, ParameterError or LimitError otherwise."""
    result = to_sizes(shape, name)
    if len(result) > MAX_DIM:
        raise LimitError(f"{name} has {len(result)} dimensions, more than {MAX_DIM}", field=name)
    if max(result, default=0) > _MAX_SIZE:
        raise LimitError(f"{name} {result} has a size above {_MAX_SIZE}", field=name)
    if min(result, default=0) < 0:
        raise ParameterError(f"{name} {result} has a negative size", field=name)
    return result


def even_part(n: int, limit: int) -> int:
    """The largest of the equal parts (but the last) of `n` when none is above `limit`."""
    limit = max(1, min(n, limit))
    return -(-n // -(-n // limit))


def whole_part(n: int, limit: int, times: float = 2) -> int:
    """The same of parts that are all equal, where that takes less than `times` as many."""
    limit = max(1, min(n, limit))
    least = -(-n // limit)
    if least < limit:  # the shorter of two searches
        return -(-n // next((k for k in range(least, math.ceil(times * least)) if n % k == 0), least))
    return next((part for part in range(limit, int(limit / times), -1) if n % part == 0), limit)


def near_part(n: int, limit: int) -> int:
    """whole_part() where that is at most a 16th below even_part(), which it is otherwise."""
    whole, even = whole_part(n, limit), even_part(n, limit)
    return whole if even - whole <= even // 16 else even


def compute_chunks_blocks(
    shape: Any,
    chunks: Any = None,
    blocks: Any = None,
    dtype: Any = np.uint8,
    **kwargs: Any,
) -> tuple[Shape, Shape]:
    """Choose the chunk and block shapes that are not given.

    Parameters
    ----------
    shape, chunks, blocks : int, tuple or list; chunks and blocks may be None.  Blocks without
        chunks are cut to the shape, unless that has a 0
    dtype : NumPy dtype of the items
    kwargs : ignored

    Returns
    -------
    (chunks, blocks), with block <= chunk along every axis

    Raises
    ------
    ValueError : wrong lengths, zeros, blocks beyond their chunks or beyond the format's limits
    """
    return completed(to_shape(shape), chunks, blocks, check_dtype(dtype).itemsize)


def completed(whole: Shape, chunks: Any, blocks: Any, itemsize: int) -> tuple[Shape, Shape]:
    """compute_chunks_blocks() for a shape that has been checked."""
    chunk = None if chunks is None else _given(chunks, whole, "chunks")
    block = None if blocks is None else _given(blocks, whole, "blocks")
    return _completed(whole, chunk, block, itemsize)


@functools.lru_cache(maxsize=256)  # it takes a tenth of making a small array
def _completed(whole: Shape, chunk: Shape | None, block: Shape | None, itemsize: int) -> tuple[Shape, Shape]:
    """The same with shapes that have been checked each by itself."""
    if 0 in whole:
        chunk = chunk or tuple(min(n, _MAX_PART) for n in whole)
        block = block or chunk
    elif chunk is None:
        if block is None:
            chunk, block = _choose_both(whole, itemsize)
        else:
            _check_block_bytes(block, itemsize)
            block = tuple(min(b, n) for b, n in zip(block, whole, strict=True))
            chunk = _choose_chunks(whole, block, itemsize)
    elif block is None:
        block = choose_blocks(chunk, itemsize)
    if any(b > c for b, c in zip(block, chunk, strict=True)):
        raise ParameterError(f"blocks {block} do not fit in chunks {chunk}", field="blocks")
    if 0 not in whole:
        _check_bytes(chunk, block, itemsize)
    return chunk, block


def _given(given: Any, shape: Shape, name: str) -> Shape:
    part = to_shape(given, name)
    if len(part) != len(shape):
        raise ParameterError(
            f"{name} {part} must have {len(shape)} dimensions, as the shape {shape}", field=name
        )
    if 0 in part and any(p == 0 and n > 0 for p, n in zip(part, shape, strict=True)):
        raise ParameterError(f"{name} {part} has a zero along an axis that is not empty", field=name)
    return part


def _check_block_bytes(blocks: Shape, itemsize: int) -> None:
    nbytes = math.prod(blocks) * itemsize
    if nbytes > MAX_BLOCKSIZE:
        raise LimitError(f"blocks {blocks} have {nbytes} bytes, more than {MAX_BLOCKSIZE}", field="blocks")


def _check_bytes(chunks: Shape, blocks: Shape, itemsize: int) -> None:
    _check_block_bytes(blocks, itemsize)
    chunk_nbytes = math.prod(extended(chunks, blocks)) * itemsize
    if chunk_nbytes > MAX_BUFFERSIZE:
        raise LimitError(
            f"chunks {chunks} have {chunk_nbytes} bytes, more than {MAX_BUFFERSIZE}", field="chunks"
        )


def block_nbytes(itemsize: int, least: int = _BLOCK_NBYTES) -> int:
    """Most bytes of a block."""
    return max(itemsize * _PLANE_NBYTES, least) if itemsize <= _MAX_PLANES else _BLOCK_NBYTES


def short_block_nbytes(itemsize: int) -> int:
    """The same where data hardly shrink."""
    return block_nbytes(itemsize, _SHORT_NBYTES)


def choose_blocks(
    within: Shape,
    itemsize: int,
    nbytes: int | None = None,
    part: Part = near_part,
) -> Shape:
    """The shape of blocks of up to `nbytes`, block_nbytes() if None, in a chunk or array."""
    blocks = [1] * len(within)
    usual = block_nbytes(itemsize)
    room = max((usual if nbytes is None else nbytes) // itemsize, 1)
    for axis in reversed(range(len(within))):
        limit = room
        if axis == len(within) - 1 and axis > 0:
            limit = min(limit, max(usual // 4 // itemsize, 1))
        blocks[axis] = part(within[axis], limit)
        room //= blocks[axis]
    return tuple(blocks)


def _choose_both(shape: Shape, itemsize: int) -> tuple[Shape, Shape]:
    """Chunks that divide the shape and the blocks in them; if there are none near, chunks of whole blocks."""
    dividing = choose_blocks(shape, itemsize, part=whole_part)
    chunks = _choose_chunks(shape, dividing, itemsize, functools.partial(whole_part, times=1.5))
    has_too_many = math.prod(grid_of(shape, chunks)) > MAX_NCHUNKS
    if has_too_many or any(n % c for n, c in zip(shape, chunks, strict=True)):
        blocks = choose_blocks(shape, itemsize)
        return _choose_chunks(shape, blocks, itemsize), blocks
    blocks = choose_blocks(chunks, itemsize)
    return chunks, blocks if fill_as_well(blocks, dividing, chunks) else dividing


def _choose_chunks(shape: Shape, blocks: Shape, itemsize: int, part: Part = even_part) -> Shape:
    chunks = list(blocks)
    room = max(CHUNK_NBYTES // (math.prod(blocks) * itemsize), 1)
    for axis in reversed(range(len(shape))):
        nblocks = -(-shape[axis] // blocks[axis])
        take = part(max(nblocks, 1), room)
        chunks[axis] = take * blocks[axis] if take < nblocks else max(shape[axis], blocks[axis])
        room //= take
    return tuple(chunks)


def extended(shape: Sequence[int], part: Sequence[int]) -> Shape:
    """`shape` rounded up to whole parts, axis by axis."""
    return tuple(-(-n // p) * p if p else 0 for n, p in zip(shape, part, strict=True))


def grid_of(shape: Sequence[int], chunks: Sequence[int]) -> Shape:
    """Number of chunks along each axis."""
    return tuple(-(-n // c) if c else 0 for n, c in zip(shape, chunks, strict=True))


def cells(grid: Shape) -> Iterator[Shape]:
    """Coordinates of the cells of a grid in C order.

    itertools.product() and np.ndindex() list all numbers of each axis first: a file that claims 2^40 chunks
    would take all memory.
    """
    for number in range(math.prod(grid)):
        coords = []
        for n in reversed(grid):
            number, i = divmod(number, n)
            coords.append(i)
        yield tuple(reversed(coords))


def boxes(shape: Shape, chunks: Shape) -> Iterator[tuple[slice, ...]]:
    """The part of the array that each chunk holds, in the order of chunk numbers."""
    grid = grid_of(shape, chunks)
    for coords in cells(grid):
        yield tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(coords, chunks, shape, strict=True))


def part_of(box: tuple[slice, ...], chunks: Shape, number: int) -> tuple[slice, ...]:
    """What a box, which begins where a chunk does, has of the chunk that is this one in it."""
    part = []
    for s, chunk in zip(reversed(box), reversed(chunks), strict=True):
        number, i = divmod(number, -(-(s.stop - s.start) // chunk))
        start = s.start + i * chunk
        part.append(slice(start, min(start + chunk, s.stop)))
    return tuple(reversed(part))


def slab_of(shape: Shape, chunks: Shape, nitems: int) -> Shape:
    """Sizes of a box of whole chunks, at least one, whose numbers follow each other.

    It has as many chunks, along the last axes, as have no more than `nitems` together.
    """
    slab = list(chunks)
    for axis in reversed(range(len(shape))):
        n = -(-shape[axis] // chunks[axis]) if chunks[axis] else 0
        taken = max(min(nitems // max(math.prod(slab), 1), n), 1)
        slab[axis] *= taken
        if taken < n:  # those before it must not grow
            break
    return tuple(slab)


def slabs(shape: Shape, chunks: Shape, nitems: int) -> Iterator[tuple[tuple[slice, ...], int]]:
    """Such boxes, cut to the shape, in the order of their chunks, and how many chunks each has."""
    for box in boxes(shape, slab_of(shape, chunks, nitems)):
        yield box, math.prod(grid_of([s.stop - s.start for s in box], chunks))


def fill_as_well(blocks: Shape, others: Shape, chunks: Shape) -> bool:
    """Whether chunks of these blocks are at most a 16th larger, with what pads them, than of the others."""
    padded, least = math.prod(extended(chunks, blocks)), math.prod(extended(chunks, others))
    return padded <= least + least // 16


def fits_format(chunks: Shape, blocks: Shape, itemsize: int) -> bool:
    """Whether chunks and blocks of these shapes are not too large."""
    if any(b > c for b, c in zip(blocks, chunks, strict=True)):
        return False
    chunk_nbytes = math.prod(extended(chunks, blocks)) * itemsize
    return math.prod(blocks) * itemsize <= MAX_BLOCKSIZE and chunk_nbytes <= MAX_BUFFERSIZE


def are_partitions_aligned(shape: Any, chunks: Any, blocks: Any) -> bool:
    """Whether chunks are whole blocks and, but for one dimension, the shape whole chunks."""
    shape, chunks, blocks = to_shape(shape), to_shape(chunks), to_shape(blocks)
    if any(b == 0 or c % b for c, b in zip(chunks, blocks, strict=True)):
        return False
    return all(c and n % c == 0 for n, c in zip(shape, chunks, strict=True))


def are_partitions_behaved(shape: Any, chunks: Any, blocks: Any) -> bool:
    """Whether blocks follow each other in the chunk, and chunks in the array, in C order."""
    shape, chunks, blocks = to_shape(shape), to_shape(chunks), to_shape(blocks)
    return in_order(chunks, blocks) and in_order(shape, chunks)


def in_order(whole: Shape, part: Shape) -> bool:
    """Whether parts of C-ordered data are contiguous: ones, then one cut axis, then full axes."""
    axis = 0
    while axis < len(whole) and part[axis] == 1:
        axis += 1
    return all(p == n for n, p in zip(whole[axis + 1 :], part[axis + 1 :], strict=True))
