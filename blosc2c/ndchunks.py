"""The chunks of an array: facts of each, and which ones an index touches.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import SelectionError
from .facts import ChunkInfo
from .indexing import Gather, parse_key
from .partition import Shape, cells, grid_of

if TYPE_CHECKING:
    from .ndarray import Array, NDArray


class NDChunkInfo(ChunkInfo):
    """Facts of one chunk of an array; see ChunkInfo.

    coords : its place in the grid of chunks
    repeated_value : an item of the array's dtype when special is VALUE, else None
    """

    _fields = ("nchunk", "coords", "cratio", "special", "repeated_value", "lazychunk")

    def __init__(self, facts: ChunkInfo, coords: Shape, dtype: np.dtype[Any]) -> None:
        value = facts.repeated_value
        item = None if value is None else _item_of(value, dtype)
        super().__init__(facts._schunk, facts.nchunk, facts.cratio, facts.special, item)
        self.coords = coords


def _item_of(value: bytes, dtype: np.dtype[Any]) -> Any:
    """A scalar of NumPy; of what is none, such as a text of no characters, the bytes."""
    try:
        return np.frombuffer(value, dtype)[0]
    except (ValueError, SystemError):
        return np.void(value)


def chunk_infos(array: NDArray) -> Iterator[NDChunkInfo]:
    """Facts of the chunks in turn, without decoding them."""
    for nchunk, coords in enumerate(cells(grid_of(array.shape, array._chunks))):
        yield NDChunkInfo(array._schunk.chunk_facts(nchunk), coords, array._dtype)


def chunks_touched(array: NDArray, key: Any) -> Array:
    """Numbers of the chunks that a basic index touches, ascending.

    Raises SelectionError for an index with arrays in it or that does not fit, TruncatedError when the array
    lacks chunks.
    """
    try:
        box = parse_key(key, array.shape)
    except IndexError as exc:
        raise SelectionError(str(exc)) from None
    if isinstance(box, Gather):
        raise SelectionError("only ints, slices and ellipsis tell a range of chunks")
    grid = grid_of(array.shape, array._chunks)
    if 0 in box.counts:
        return np.empty(0, np.int64)
    if math.prod(grid) > array._schunk.nchunks:  # else the numbers could take all memory
        array._check_chunks()
    axes = [
        _chunks_along(first, n, stride, chunk)
        for first, n, stride, chunk in zip(box.start, box.counts, box.step, array._chunks, strict=True)
    ]
    numbers = np.zeros((1,), np.int64)
    for ids, n in zip(axes, grid, strict=True):
        numbers = (numbers[:, None] * n + ids).reshape(-1)
    return numbers


def _chunks_along(first: int, n: int, stride: int, chunk: int) -> Array:
    """Numbers of the chunks along an axis that n items touch; takes no longer than there are chunks."""
    if abs(stride) > chunk:  # no two of them in one chunk
        return np.unique((first + stride * np.arange(n)) // chunk)
    ends = sorted((first, first + stride * (n - 1)))
    return np.arange(ends[0] // chunk, ends[1] // chunk + 1)
