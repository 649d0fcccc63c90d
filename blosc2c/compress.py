"""One-shot compression: a buffer to a chunk and back.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
from collections.abc import Sized
from typing import TYPE_CHECKING, Any

from . import _ffi, runtime
from ._ffi import (
    buffer_itemsize,
    calls,
    check,
    check_call,
    context,
    ffi,
    in_buffer,
    lib,
    new_error,
    out_buffer,
)
from .errors import LimitError, ParameterError, TruncatedError
from .limits import check_chunk, check_result
from .params import (
    MAX_BUFFERSIZE,
    MAX_TYPESIZE,
    MIN_HEADER_LENGTH,
    Codec,
    CParams,
    DParams,
    Filter,
    compiled_cparams,
    dparams_dflts,
    one_form,
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


def _encode(src: Buffer, cparams: Any, nthreads: int) -> bytes:
    """Compress `src` with a b2c_cparams."""
    chunk = calls.compress(ffi.buffer(cparams), src)
    if type(chunk) is bytes:
        return chunk
    check_call(chunk, None)
    return _encode_large(src, cparams, nthreads)


def _check_length(n: int) -> None:
    if n > MAX_BUFFERSIZE:
        raise LimitError(f"a chunk holds at most {MAX_BUFFERSIZE} bytes, not {n}; use an SChunk", field="src")


def _encode_large(src: Buffer, cparams: Any, nthreads: int) -> bytes:
    data = in_buffer(src)
    nbytes = len(data)
    _check_length(nbytes)
    ctx, need, err = context(nthreads, nbytes), ffi.new("size_t *"), new_error()
    cap = nbytes + _ffi.HEADER_NBYTES

    def call(dst: Any) -> int:
        check(lib.b2c_compress(ctx, cparams, data, nbytes, dst, cap, need, err), err)
        return int(need[0])

    return _ffi.cut_bytes(cap, call)


def _decode_new(src: Buffer, nthreads: int) -> bytes:
    data = calls.decompress(src)
    return data if type(data) is bytes else _decode_long(src, data, nthreads)


def _decode_long(src: Buffer, found: Any, nthreads: int) -> bytes:
    """Decompress what calls.decompress() has not decoded, and gave `found` for."""
    chunk = in_buffer(src)
    nbytes = check_result(_check_found(src, found))
    return _ffi.cut_bytes(nbytes, lambda dst: _decode_large(chunk, dst, nbytes, nthreads))


def _decode_into(src: Buffer, dst: Buffer, nthreads: int) -> None:
    found = calls.decompress(src, dst, nthreads == 1)
    if found is True:
        return
    chunk, out = in_buffer(src), out_buffer(dst)
    nbytes = _check_found(src, found)
    room = len(out)
    if room == 0:
        raise ParameterError("dst is empty", field="dst")
    if room < nbytes:
        raise ParameterError(
            f"dst holds {room} bytes, the chunk decompresses to {nbytes}",
            field="dst",
            expected=nbytes,
            actual=room,
        )
    _decode_large(chunk, out, nbytes, nthreads)


def _check_found(src: Buffer, found: Any) -> int:
    """How many bytes the chunk has, which calls.decompress() has not decoded and gave `found` for."""
    nbytes: int = inspect_chunk(src).nbytes
    check_chunk(nbytes)
    check_call(found, None)
    return nbytes


def _decode_large(chunk: Any, dst: Any, nbytes: int, nthreads: int) -> int:
    """Decompress a chunk that had `nbytes`; how many it has, should another thread have changed it."""
    ctx, done, err = context(nthreads, nbytes), ffi.new("size_t *"), new_error()
    check(lib.b2c_decompress(ctx, chunk, len(chunk), dst, nbytes, done, err), err)
    return int(done[0])


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
    filter, codec : member, number or name; codec None is the one of set_compressor().  Filters that
        need a parameter, such as TRUNC_PREC, are left out, as in Python-Blosc2: use compress2()

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
    if typesize is None:
        typesize = buffer_itemsize(src)
    typesize = to_int(typesize, "typesize", 1, MAX_TYPESIZE)
    codec = runtime.default_codec() if codec is None else codec
    try:
        cparams = _plain_cparams(typesize, clevel, filter, codec, runtime.get_blocksize())
    except TypeError:  # what cannot be hashed, and is wrong
        cparams = _plain_cparams.__wrapped__(typesize, clevel, filter, codec, runtime.get_blocksize())
    try:
        nbytes = len(in_buffer(src))  # not before: a wrong parameter is told of whatever src is
    except TypeError:
        if isinstance(src, Sized):
            _check_length(len(src))  # which is told of whatever src is, too
        raise
    if nbytes % typesize and not _ignore_multiple_size:
        raise ParameterError(f"{nbytes} bytes are no multiple of typesize {typesize}", field="typesize")
    return _encode(src, cparams, _ffi.threads.nthreads)


@functools.lru_cache(maxsize=256, typed=True)  # making it takes longer than compressing 4 kB
def _plain_cparams(typesize: int, clevel: int, filter: Any, codec: Any, blocksize: int) -> Any:
    filters = [Filter.NOFILTER] * 5 + [_without_parameter(filter)]
    return CParams(codec=codec, clevel=clevel, typesize=typesize, blocksize=blocksize, filters=filters).to_c()


_PARAMETRIC = (Filter.TRUNC_PREC, Filter.NDCELL, Filter.NDMEAN, Filter.INT_TRUNC)


def _without_parameter(filter: Filter | int | str) -> Filter | int:
    """The filter for who cannot give it a parameter."""
    member = to_enum(Filter, filter, "filters", user_ids=True)
    return Filter.NOFILTER if member in _PARAMETRIC else member


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
    data = calls.decompress(src)
    if type(data) is bytes:  # what is short is copied sooner than its length is known
        return bytearray(data)
    result = bytearray(check_result(_check_found(src, data)))
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
    cparams, nthreads = compiled_cparams(kwargs)
    return _encode(src, cparams, nthreads)


def decompress2(
    src: Buffer, dst: Buffer | None = None, *, nthreads: int | None = None, **kwargs: Any
) -> bytes | None:
    """Decompress a chunk, with ``nthreads=`` or ``dparams=``; None is the default number.

    Returns
    -------
    The data, or None when it went to `dst`.

    Raises
    ------
    As decompress(); TypeError for unknown keywords.
    """
    if nthreads is None and not kwargs:
        if dst is None:  # without another call of Python, which takes a tenth of a short one's time
            data = calls.decompress(src)
            return data if type(data) is bytes else _decode_long(src, data, dparams_dflts["nthreads"])
        nthreads = dparams_dflts["nthreads"]
    elif kwargs or not (type(nthreads) is int and 0 < nthreads <= _ffi.MAX_NTHREADS):
        nthreads = _nthreads_of(nthreads, kwargs)
    if dst is not None:
        _decode_into(src, dst, nthreads)
        return None
    return _decode_new(src, nthreads)


def _nthreads_of(nthreads: int | None, kwargs: dict[str, Any]) -> int:
    """The number of threads that the keywords of decompress2() ask for."""
    given = kwargs if nthreads is None else {"nthreads": nthreads, **kwargs}
    return to_dparams(one_form(given, "dparams", "decompress2()", DParams)).nthreads


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
