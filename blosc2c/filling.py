"""The chunks of a new array, made from a source; see sources.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._ffi import address_of, check, check_call, ffi, lib, new_error
from .dtype import is_storable, storable
from .partition import part_of, slabs
from .sources import Joined, box_of, slab_nitems, stores_like

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .ndarray import Array, NDArray
    from .sources import Slices


_MOST_CHUNKS = 1 << 16  # whose numbers are looked for at once


def fill_from(array: NDArray, source: Any, takes_over: bool = False) -> None:
    """Append all chunks of an array from a source of its shape.

    takes_over : chunks that the source has as they would be stored here are not decoded
    """
    if isinstance(source, np.ndarray) and is_storable(source, array._dtype):
        _append(array, 0, array._nchunks(), source)
        return
    if takes_over and isinstance(source, Joined) and _join(array, source.wholes(array._chunks)):
        return
    nitems = slab_nitems(source, array._shape, array._chunks, array._dtype.itemsize)
    if takes_over:
        nitems = min(nitems, _MOST_CHUNKS * math.prod(array._chunks))
    first = 0
    for box, n in slabs(array._shape, array._chunks, nitems):
        if not (takes_over and _take_over(array, source, first, box)):
            _append(array, first, n, _stored_box(source, box, array._dtype))
        first += n


def _join(array: NDArray, wholes: list[NDArray]) -> bool:
    """Append all chunks of these arrays, one after the other, as they are; False: they are not like ours."""
    if not wholes or not all(stores_like(whole, array) for whole in wholes):
        return False
    for whole in wholes:
        nchunks = whole._nchunks()
        for first in range(0, nchunks, _MOST_CHUNKS):
            numbers = np.arange(first, min(first + _MOST_CHUNKS, nchunks), dtype=np.uint64)
            array._schunk.copy_some(whole._schunk, numbers)
    return True


def _take_over(array: NDArray, source: Any, first: int, box: Slices) -> bool:
    """Append the chunks in a box, `first` and on, those of the source as they are; False: it has none."""
    found = source.stored_chunks(array, box)
    if found is None or (found.numbers < 0).all():
        return False
    is_stored = found.numbers >= 0
    for begin, end in _runs(is_stored):
        if is_stored[begin]:
            _copy(array, found.arrays, found.whose[begin:end], found.numbers[begin:end])
            continue
        for i in range(begin, end):
            part = part_of(box, array._chunks, i)
            _append(array, first + i, 1, _stored_box(source, part, array._dtype))
    return True


def _runs(values: Array) -> Iterator[tuple[int, int]]:
    """Where the runs of equal values begin and end."""
    begins = np.flatnonzero(values[1:] != values[:-1]) + 1
    return itertools.pairwise([0, *begins.tolist(), values.size])


def _copy(array: NDArray, arrays: Sequence[NDArray], whose: Array, numbers: Array) -> None:
    """Append chunks as they are stored: first all of one array, then those of the next; and put them in order."""
    schunk = array._schunk
    before, places = schunk.nchunks, np.argsort(whose, kind="stable")
    whose, numbers = whose[places], numbers[places].astype(np.uint64)
    for begin, end in _runs(whose):
        schunk.copy_some(arrays[whose[begin]]._schunk, numbers[begin:end])
    if (places[1:] < places[:-1]).any():
        order = np.concatenate([np.arange(before), before + np.argsort(places)])
        schunk.reorder(ffi.from_buffer("uint64_t[]", order.astype(np.uint64)))


def _append(array: NDArray, first: int, n: int, data: Array) -> None:
    """Chunks `first` and on, so many, of which `data` has the items."""
    schunk, nd = array._schunk, array._nd
    nchunks = schunk.handle.calls.append_to_nd(address_of(nd), first, n, data)
    if type(nchunks) is int:
        return
    check_call(nchunks, schunk.urlpath)
    src, err = ffi.from_buffer(data), new_error()
    ctx = _ffi.context(schunk._c_nthreads)

    def append(ptr: Any) -> None:
        status = lib.b2c_nd_append_chunks(ptr, ctx, nd, first, n, src, len(src), err)
        check(status, err, schunk.urlpath)

    schunk.handle.edit(append)


def _stored_box(source: Any, box: Slices, dtype: np.dtype[Any]) -> Array:
    """A box of a source as it is to be stored."""
    return storable(box_of(source, box, dtype), dtype)
