"""Reading what a mask selects, where that is much.

Items that are looked up one by one take 24 to 47 ns each.  Where a mask selects one in 16 or more, and
items are not large, the box around what it selects is read, as many rows of chunks at a time as are
cheap to keep, and NumPy selects.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._ffi import check, ffi, lib, new_error
from .errors import ParameterError
from .partition import Shape

if TYPE_CHECKING:
    from .ndarray import Array, NDArray

_DENSE = 16  # one of so many items
_MOST_EACH = 256  # bytes read in vain for each item: looking it up takes no longer
_SLAB_NBYTES, _MOST_NBYTES = 4 << 20, 64 << 20  # what is read at once, and most of that
_AT_ONCE = 1 << 19  # items that are selected from at once: a place takes 8 bytes


def dense_mask(key: Any, shape: Shape) -> Array | None:
    """The mask that is all of a key, of an array of this shape, if it selects much."""
    mask = key[0] if type(key) is tuple and len(key) == 1 else key
    if type(mask) is not np.ndarray or mask.dtype != np.bool_ or mask.shape != shape or mask.size == 0:
        return None
    return mask if mask.ndim and np.count_nonzero(mask) * _DENSE >= mask.size else None


def read_masked(array: NDArray, mask: Array) -> Array | None:
    """What a mask of the array's shape selects, in C order; None: that is too little, or rows too large."""
    schunk, shape, itemsize, chunks = array.schunk, mask.shape, array._dtype.itemsize, array._chunks
    nchosen = int(np.count_nonzero(mask))
    if len(chunks) != len(shape) or (mask.size - nchosen) * itemsize > nchosen * _MOST_EACH:
        return None
    height, row_nbytes = chunks[0], math.prod(shape[1:]) * itemsize
    if not 0 < height * row_nbytes <= _MOST_NBYTES:
        return None
    nrows = min(max(_SLAB_NBYTES // (height * row_nbytes), 1) * height, shape[0])
    out, dtype = array._room_for((nchosen,))
    slab: Array = np.ndarray(nrows * math.prod(shape[1:]), dtype)
    ctx, err = _ffi.context(schunk._dparams.nthreads), new_error()
    steps = (1,) * len(shape)

    def read(ptr: Any) -> None:
        array._expect(dtype, len(shape))
        end = 0
        for first in range(0, shape[0], nrows):
            rows = mask[first : first + nrows].copy()  # which no other thread changes
            start, end = end, end + np.count_nonzero(rows)
            if start == end:
                continue
            if end > len(out):
                break
            box = _box_around(rows)
            chosen = rows[box]
            is_whole = end - start == chosen.size
            dst = out[start:end] if is_whole else slab[: chosen.size]
            at = (first + box[0].start, *(side.start for side in box[1:]))
            status = lib.b2c_nd_read(
                ptr, ctx, array._nd, at, chosen.shape, steps, ffi.from_buffer(dst), dst.nbytes, err
            )
            check(status, err, schunk.urlpath)
            if not is_whole:
                _select(dst, chosen.reshape(-1), out[start:end])
        if end != len(out):  # the rest of it would be what was in that memory
            raise ParameterError("another thread changed the mask while it was used", field="key")

    schunk.reading(read)
    return out


def _box_around(mask: Array) -> tuple[slice, ...]:
    """The smallest box with all that a mask selects, which is something."""
    axes = range(mask.ndim)
    hits = [mask.any(axis=tuple(a for a in axes if a != axis)).nonzero()[0] for axis in axes]
    return tuple(slice(int(hit[0]), int(hit[-1]) + 1) for hit in hits)


def _select(items: Array, mask: Array, out: Array) -> None:
    """``out[...] = items[mask]``, which takes four times as long where half of them are selected."""
    end = 0
    for at in range(0, len(items), _AT_ONCE):
        places = np.flatnonzero(mask[at : at + _AT_ONCE])
        start, end = end, end + len(places)
        items[at : at + _AT_ONCE].take(places, out=out[start:end], mode="clip")
