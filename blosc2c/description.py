"""What says that a super-chunk holds an array: shape, chunks, blocks and dtype, in metalayers.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from . import dtype as dtypes
from ._ffi import check, ffi, lib, new_error
from .errors import FormatError
from .meta import find_meta
from .packed import plain_text
from .partition import Shape

if TYPE_CHECKING:
    from .handles import Handle

EXTENSION_META = "ml_dtype"  # metalayer with the name of a dtype of ml_dtypes
ND = ffi.typeof("b2c_nd *")
_SIZE, _TEXT = ffi.typeof("size_t *"), ffi.typeof("void **")


def read_description(ptr: Any, path: str | None) -> tuple[Any, np.dtype[Any]] | None:
    """The b2c_nd and the dtype of the array in a super-chunk; None when there is no array."""
    nd, n, text, err = ffi.new(ND), ffi.new(_SIZE), ffi.new(_TEXT), new_error()
    status = lib.b2c_nd_open(ptr, nd, text, n, err)
    if status == lib.B2C_E_NOT_FOUND:
        return None
    check(status, err, path)
    stored = bytes(ffi.buffer(text[0], n[0])) if n[0] else b""
    dt = _stored_dtype(nd.itemsize, stored, path)
    if dt.kind == "V":
        name = find_meta(ptr, EXTENSION_META, path)
        # A text and nothing else: a frame in its place would be opened by opening this one.
        dt = (name and dtypes.extension(plain_text(name), nd.itemsize)) or dt
    return nd, dt


def description_of(handle: Handle, path: str | None) -> tuple[Any, np.dtype[Any]] | None:
    """The same for who does not hold the handle."""
    short: tuple[bytes, bytes] | None = handle.calls.description()
    if short is not None:
        nd = ffi.from_buffer(ND, short[0])
        dt = _stored_dtype(nd.itemsize, short[1], path)
        if dt.kind != "V":  # which may be one of the other metalayer
            return nd, dt
    with handle as ptr:
        return read_description(ptr, path)


def _stored_dtype(itemsize: int, stored: bytes, path: str | None) -> np.dtype[Any]:
    """The dtype that the array's metalayer tells; bytes when it does not."""
    if not stored:
        return np.dtype((np.bytes_, itemsize))
    try:
        text = stored.decode()
    except UnicodeDecodeError as exc:
        raise FormatError(f"the dtype is not UTF-8: {exc}", path=path, field="dtype") from None
    return dtypes.from_text(text, itemsize, path)


def describe(shape: Shape, chunks: Shape, blocks: Shape, itemsize: int, text: bytes) -> tuple[Any, bytes]:
    """A checked b2c_nd, not to be changed, and the content of the b2nd metalayer; `text` tells the dtype."""
    nd, err = ffi.new(ND), new_error()
    nd.size = ffi.sizeof("b2c_nd")
    nd.ndim, nd.itemsize = len(shape), itemsize
    for axis in range(len(shape)):
        nd.shape[axis], nd.chunks[axis], nd.blocks[axis] = shape[axis], chunks[axis], blocks[axis]
    check(lib.b2c_nd_check(nd, err), err)
    return nd, _ffi.sized_bytes(
        lambda dst, cap, need, err: int(lib.b2c_nd_meta_encode(nd, text, len(text), dst, cap, need, err)),
        512 + len(text),
    )
