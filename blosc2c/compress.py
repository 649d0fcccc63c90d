"""One-shot compression: a buffer to a chunk and back.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _ffi, runtime
from ._ffi import check, ffi, in_buffer, lib, new_error, out_buffer
from .errors import LimitError, ParameterError, TruncatedError
from .params import (
    MAX_BUFFERSIZE,
    MAX_TYPESIZE,
    MIN_HEADER_LENGTH,
    Codec,
    CParams,
    DParams,
    Filter,
    field_names,
    reject_unknown,
    to_cparams,
    to_dparams,
    to_enum,
    to_int,
)

if TYPE_CHECKING:
    from ._ffi import Buffer


def inspect_chunk(chunk: Buffer) -> Any:
    """The b2c_chunk_info of a chunk of which at least the header is there."""
    data = in_buffer(chunk, "chunk")
    if len(data) < MIN_HEADER_LENGTH:
        raise TruncatedError(
            f"a chunk has at least {MIN_HEADER_LENGTH} bytes, not {len(data)}",
            expected=MIN_HEADER_LENGTH,
            actual=len(data),
        )
    info, err = ffi.new("b2c_chunk_info *"), new_error()
    check(lib.b2c_chunk_inspect(data, len(data), info, err), err)
    return info


def _encode(src: Any, cparams: CParams) -> bytes:
    if len(src) > MAX_BUFFERSIZE:
        raise LimitError(
            f"a chunk holds at most {MAX_BUFFERSIZE} bytes, not {len(src)}; use an SChunk",
            field="src",
        )
    ctx = _ffi.context(cparams.nthreads, len(src))
    c = cparams.to_c()
    return _ffi.sized_bytes(
        lambda dst, cap, need, err: int(lib.b2c_compress(ctx, c, src, len(src), dst, cap, need, err)),
        lib.b2c_compress_bound(len(src)),
    )


def _decode(chunk: Any, nbytes: int, dst: Any, nthreads: int) -> None:
    done, err = ffi.new("size_t *"), new_error()
    ctx = _ffi.context(nthreads, nbytes)
    check(lib.b2c_decompress(ctx, chunk, len(chunk), dst, nbytes, done, err), err)


def _decode_new(src: Buffer, nthreads: int) -> bytes:
    nbytes = inspect_chunk(src).nbytes
    chunk = in_buffer(src)
    return _ffi.bytes_from(nbytes, lambda dst: _decode(chunk, nbytes, dst, nthreads))


def _decode_into(src: Buffer, dst: Buffer, nthreads: int) -> None:
    nbytes = int(inspect_chunk(src).nbytes)
    out = out_buffer(dst)
    if len(out) == 0:
        raise ParameterError("dst is empty", field="dst")
    if len(out) < nbytes:
        raise ParameterError(
            f"dst holds {len(out)} bytes, the chunk decompresses to {nbytes}",
            field="dst",
            expected=nbytes,
            actual=len(out),
        )
    _decode(in_buffer(src), nbytes, out, nthreads)


def compress(
    src: Buffer,
    typesize: int | None = 8,
    clevel: int = 1,
    filter: Filter | int | str = Filter.SHUFFLE,
    codec: Codec | int | str | None = Codec.ZSTD,
    _ignore_multiple_size: bool = False,
) -> bytes:
    """Compress a buffer into one chunk.

    Parameters
    ----------
    src : bytes-like, C-contiguous, at most 2^31 - 33 bytes
    typesize : bytes of an item; None takes the buffer's own
    clevel : 0...9; 0 stores
    filter, codec : member, number or name; codec None is the one of set_compressor()

    Raises
    ------
    ValueError : a parameter is out of range, or len(src) is no multiple of typesize
    TypeError : src is not bytes-like

    Examples
    --------
    >>> chunk = compress(bytes(80_000), codec="lz4")
    >>> len(chunk) < 100 and decompress(chunk) == bytes(80_000)
    True
    """
    data = in_buffer(src)
    if typesize is None:
        typesize = memoryview(src).itemsize
    typesize = to_int(typesize, "typesize", 1, MAX_TYPESIZE)
    if len(data) % typesize and not _ignore_multiple_size:
        raise ParameterError(f"{len(data)} bytes are no multiple of typesize {typesize}", field="typesize")
    cparams = CParams(
        codec=runtime.default_codec() if codec is None else codec,
        clevel=clevel,
        typesize=typesize,
        blocksize=runtime.get_blocksize(),
        filters=[Filter.NOFILTER] * 5 + [to_enum(Filter, filter, "filters", user_ids=True)],
    )
    return _encode(data, cparams)


def decompress(
    src: Buffer, dst: Buffer | None = None, as_bytearray: bool = False
) -> bytes | bytearray | None:
    """Decompress a chunk of Blosc2 or Blosc1.

    Parameters
    ----------
    src : the chunk; bytes after its end are ignored
    dst : writable buffer for the data; None returns them
    as_bytearray : return a bytearray rather than bytes

    Returns
    -------
    The data, or None when `dst` is given.

    Raises
    ------
    ValueError : src is shorter than a chunk header, or dst is too small
    FormatError, CorruptError, TruncatedError : src is no sound chunk (RuntimeErrors)
    """
    if dst is not None:
        _decode_into(src, dst, 0)
        return None
    if not as_bytearray:
        return _decode_new(src, 0)
    result = bytearray(inspect_chunk(src).nbytes)
    if result:
        _decode_into(src, result, 0)
    return result


def compress2(src: Buffer, **kwargs: Any) -> bytes:
    """Compress a buffer into one chunk with any of the parameters of CParams.

    Give them as keywords or as ``cparams=`` (CParams or dict).  The defaults are those of
    CParams; the length of `src` need not be a multiple of the typesize.

    Raises
    ------
    TypeError : unknown keyword, or src is not bytes-like
    AttributeError : ``cparams`` together with other keywords
    ValueError : a parameter is out of range
    """
    cparams = to_cparams(_one_form(kwargs, "cparams", "compress2()", CParams))
    return _encode(in_buffer(src), cparams)


def decompress2(src: Buffer, dst: Buffer | None = None, **kwargs: Any) -> bytes | None:
    """Decompress a chunk, with ``nthreads=`` or ``dparams=``.

    Returns
    -------
    The data, or None when it went to `dst`.

    Raises
    ------
    As decompress(); TypeError for unknown keywords.
    """
    dparams = to_dparams(_one_form(kwargs, "dparams", "decompress2()", DParams))
    if dst is not None:
        _decode_into(src, dst, dparams.nthreads)
        return None
    return _decode_new(src, dparams.nthreads)


def _one_form(kwargs: dict[str, Any], name: str, where: str, cls: type) -> Any:
    if name in kwargs:
        if len(kwargs) > 1:
            raise AttributeError(f"{where} takes {name} or its fields as keywords, not both")
        return kwargs[name]
    reject_unknown(kwargs, field_names(cls), where)
    return kwargs


def get_cbuffer_sizes(src: Buffer) -> tuple[int, int, int]:
    """``(nbytes, cbytes, blocksize)`` from the header of a chunk, all in bytes.

    Raises FormatError, CorruptError or TruncatedError (ValueErrors) when `src` has no such header.
    """
    info = inspect_chunk(src)
    return info.nbytes, info.cbytes, info.blocksize


_LIBRARIES = {"blosclz": "BloscLZ", "lz4": "LZ4", "lz4hc": "LZ4", "zlib": "Zlib", "zstd": "Zstd"}


def get_clib(bytesobj: Buffer) -> str:
    """Name of the codec library behind a chunk: BloscLZ, LZ4, Zlib or Zstd.

    Raises FormatError, CorruptError or TruncatedError (ValueErrors) when there is no chunk header.
    """
    name = _ffi.text(lib.b2c_codec_name(inspect_chunk(bytesobj).codec))
    return _LIBRARIES.get(name, name)
