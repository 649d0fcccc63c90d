# SPDX-License-Identifier: BSD-3-Clause
"""Sound frames around content that no writer makes: texts of dtypes, values of metalayers."""

from __future__ import annotations

from blosc2c import _ffi
from blosc2c._ffi import check, ffi, lib, new_error
from blosc2c.params import CParams, DParams, Keeping
from blosc2c.recipe import Recipe
from blosc2c.schunk import SChunk


def schunk_with(meta: dict[str, bytes], vlmeta: dict[str, bytes] | None = None, data: bytes = b"") -> SChunk:
    """A super-chunk in memory whose metalayers have these bytes; names may be any bytes as surrogates."""
    storage = Keeping(urlpath=None, contiguous=True)
    s = SChunk._new(storage, Recipe.of(max(len(data), 1), *CParams(typesize=1).compiled(), meta), DParams())
    if data:
        s.append_data(data)
    for name, value in (vlmeta or {}).items():
        err, ctx = new_error(), _ffi.context(1)
        with s.handle.writing() as ptr:
            key = name.encode(errors="surrogateescape")
            check(lib.b2c_schunk_vlmeta_set(ptr, ctx, key, value, len(value), err), err)
    return s


def frame_with(vlmeta: dict[str, bytes], meta: dict[str, bytes] | None = None, data: bytes = b"") -> bytes:
    """The frame of schunk_with()."""
    return schunk_with(meta or {}, vlmeta, data).to_cframe()


def array_meta(text: str, itemsize: int, n: int = 8, chunk: int | None = None) -> bytes:
    """A b2nd metalayer of `n` items, in one chunk or several, with any text for a dtype."""
    nd, stored = ffi.new("b2c_nd *"), text.encode()
    nd.size, nd.ndim, nd.itemsize = ffi.sizeof("b2c_nd"), 1, itemsize
    nd.shape[0] = n
    nd.chunks[0] = nd.blocks[0] = chunk or n
    return _ffi.sized_bytes(
        lambda dst, cap, need, err: int(lib.b2c_nd_meta_encode(nd, stored, len(stored), dst, cap, need, err)),
        1 << 12,
    )


def array_with(text: str, itemsize: int = 8, meta: dict[str, bytes] | None = None, n: int = 8) -> bytes:
    """The frame of an array of `n` items 0, 1, 2... whose dtype is described by any text."""
    data = bytes(i % 256 for i in range(n * itemsize))
    storage = Keeping(urlpath=None, contiguous=True)
    metas = {"b2nd": array_meta(text, itemsize, n), **(meta or {})}
    s = SChunk._new(storage, Recipe.of(len(data), *CParams(typesize=itemsize).compiled(), metas), DParams())
    s.append_data(data)
    return s.to_cframe()


def tensor_with(value: bytes, data: bytes = b"") -> bytes:
    """A frame as of pack_tensor(), with any bytes for what describes the tensor."""
    return frame_with({"__pack_tensor__": value}, data=data)
