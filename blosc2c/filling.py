"""The chunks of a new array, made from a source; see sources.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._ffi import check, ffi, lib, new_error
from .dtype import storable
from .errors import ParameterError
from .partition import grid_of, slabs
from .sources import Joined, slab_nitems

if TYPE_CHECKING:
    from .ndarray import Array, NDArray


_MOST_CHUNKS = 1 << 16  # whose numbers are looked for at once


def fill_from(array: NDArray, source: Any, takes_over: bool = False) -> None:
    """Append all chunks of an array from a source of its shape.

    takes_over : chunks that the source has as they would be stored here are not decoded
    """
    if isinstance(source, np.ndarray) and source.dtype == array._dtype and source.flags.c_contiguous:
        _append(array, 0, math.prod(grid_of(array._shape, array._chunks)), source)
        return
    if takes_over and isinstance(source, Joined) and _join(array, source.wholes(array._chunks)):
        return
    nitems = slab_nitems(source, array._shape, array._chunks, array._dtype.itemsize)
    if takes_over:
        nitems = min(nitems, _MOST_CHUNKS * math.prod(array._chunks))
    first = 0
    for box, n in slabs(array._shape, array._chunks, nitems):
        if not (takes_over and _take_over(array, source, first, n)):
            _append(array, first, n, _box_of(source, box, array._dtype))
        first += n


def _join(array: NDArray, wholes: list[NDArray]) -> bool:
    """Append all chunks of these arrays, one after the other, as they are; False: they are not like ours."""
    if not wholes or not all(_stores_like(whole, array) for whole in wholes):
        return False
    for whole in wholes:
        nchunks = math.prod(grid_of(whole._shape, whole._chunks))
        for first in range(0, nchunks, _MOST_CHUNKS):
            numbers = np.arange(first, min(first + _MOST_CHUNKS, nchunks), dtype=np.uint64)
            array._schunk.copy_some(whole._schunk, numbers)
    return True


def _take_over(array: NDArray, source: Any, first: int, n: int) -> bool:
    """Append chunks `first` and on, so many, those of the source as they are; False: it has none."""
    grid = grid_of(array._shape, array._chunks)
    coords = np.unravel_index(np.arange(first, first + n), grid) if grid else ()
    starts = [at * chunk for at, chunk in zip(coords, array._chunks, strict=True)]
    stops = [np.minimum(at + c, end) for at, c, end in zip(starts, array._chunks, array._shape, strict=True)]
    given = [
        (stored, np.broadcast_to(numbers, n))
        for stored, numbers in source.stored_chunks(starts, stops)
        if _stores_like(stored, array) and (numbers >= 0).any()
    ]
    whose = np.full(n, -1)
    for i, (_, numbers) in enumerate(given):
        whose[numbers >= 0] = i
    if not given:
        return False
    for run in np.split(np.arange(n), np.flatnonzero(np.diff(whose)) + 1):
        if whose[run[0]] >= 0:
            stored, numbers = given[whose[run[0]]]
            array._schunk.copy_some(stored._schunk, numbers[run].astype(np.uint64))
            continue
        for i in run.tolist():
            box = tuple(slice(int(at[i]), int(end[i])) for at, end in zip(starts, stops, strict=True))
            _append(array, first + i, 1, _box_of(source, box, array._dtype))
    return True


def _append(array: NDArray, first: int, n: int, data: Array) -> None:
    """Chunks `first` and on, so many, of which `data` has the items."""
    schunk, err = array._schunk, new_error()
    src = ffi.from_buffer(data)
    ctx = _ffi.context(schunk._c_nthreads)

    def append(ptr: Any) -> None:
        status = lib.b2c_nd_append_chunks(ptr, ctx, array._nd, first, n, src, len(src), err)
        check(status, err, schunk.urlpath)

    schunk.handle.edit(append)


def _stores_like(array: NDArray, other: NDArray) -> bool:
    """Whether chunks of one array may be chunks of the other."""
    same = array._chunks == other._chunks and array._blocks == other._blocks
    return same and array._dtype == other._dtype


def _box_of(source: Any, box: tuple[slice, ...], dtype: np.dtype[Any]) -> Array:
    """A box of a source as it is to be stored."""
    part = np.asarray(source[box])
    want = tuple(s.stop - s.start for s in box)
    if part.shape != want:
        raise ParameterError(f"the source gave shape {part.shape} where {want} was asked for")
    return storable(part, dtype)
