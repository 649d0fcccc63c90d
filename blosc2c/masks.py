"""Reading what a mask selects, where that is much.

Items that are looked up one by one take 24 to 47 ns each.  Where a mask selects one in 16 or more,
all of them are read, as many rows of chunks at a time as are cheap to keep, and NumPy selects.

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
_SLAB_NBYTES, _MOST_NBYTES = 4 << 20, 64 << 20  # what is read at once, and most of that


def dense_mask(key: Any, shape: Shape) -> Array | None:
    """The mask that is all of a key, of an array of this shape, if it selects much."""
    mask = key[0] if type(key) is tuple and len(key) == 1 else key
    if type(mask) is not np.ndarray or mask.dtype != np.bool_ or mask.shape != shape or mask.size == 0:
        return None
    return mask if mask.ndim and np.count_nonzero(mask) * _DENSE >= mask.size else None


def read_masked(array: NDArray, mask: Array) -> Array | None:
    """What a mask of the array's shape selects, in C order; None: its rows of chunks are too large."""
    schunk, shape, itemsize = array.schunk, mask.shape, array._dtype.itemsize
    height, row_nbytes = array._chunks[0], math.prod(shape[1:]) * itemsize
    if height * row_nbytes > _MOST_NBYTES:
        return None
    nrows = min(max(_SLAB_NBYTES // (height * row_nbytes), 1) * height, shape[0])
    out, dtype = array._room_for((int(np.count_nonzero(mask)),))
    slab: Array = np.ndarray((nrows, *shape[1:]), dtype)
    ctx, err = _ffi.context(schunk._dparams.nthreads), new_error()
    others, steps = (0,) * (len(shape) - 1), (1,) * len(shape)

    def read(ptr: Any) -> None:
        array._expect(dtype, len(shape))
        end = 0
        for first in range(0, shape[0], nrows):
            chosen = mask[first : first + nrows]
            start, end = end, end + np.count_nonzero(chosen)
            if start == end:
                continue
            is_whole = end - start == chosen.size
            dst = out[start:end] if is_whole else slab[: len(chosen)]
            status = lib.b2c_nd_read(
                ptr,
                ctx,
                array._nd,
                (first, *others),
                chosen.shape,
                steps,
                ffi.from_buffer(dst),
                dst.nbytes,
                err,
            )
            check(status, err, schunk.urlpath)
            if not is_whole:
                # Where half of them are chosen this takes a quarter of the time of dst[chosen].
                dst.reshape(-1).take(np.flatnonzero(chosen), out=out[start:end], mode="clip")
        if end != len(out):  # the rest of it would be what was in that memory
            raise ParameterError("another thread changed the mask while it was used", field="key")

    schunk.reading(read)
    return out
