"""Chunks of buffers of any sizes: each is a block that can be read alone.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from . import _ffi
from ._ffi import check, ffi, in_buffer, lib, new_error
from .compress import decompress2
from .edit import Editing
from .errors import ChunkIndexError
from .limits import check_result
from .params import MAX_COUNT, compiled_cparams

if TYPE_CHECKING:
    from ._ffi import Buffer

_FIRST_GUESS = 64  # of the number of blocks


class _Blocks:
    """Buffers as C wants them."""

    def __init__(self, blocks: Iterable[Buffer]) -> None:
        self.buffers = [in_buffer(block, f"block {i}") for i, block in enumerate(blocks)]
        self.count = len(self.buffers)
        self.pointers = ffi.new("void *[]", self.buffers)
        self.lens = ffi.new("size_t[]", [len(buffer) for buffer in self.buffers])
        self.nbytes = sum(self.lens)
        self.bound = self.nbytes + 8 * self.count + lib.B2C_HEADER_LEN


def vlcompress(srcs: Iterable[Buffer], **kwargs: Any) -> bytes:
    """Compress buffers into one chunk, each as a block of its own size.

    Parameters
    ----------
    srcs : bytes-like objects of one byte or more, C-contiguous
    kwargs : as for compress2(); ``use_dict=True`` helps small blocks of which there are many.  The
        delta filter is refused: the reference library cannot undo it here

    Raises
    ------
    ParameterError : no or an empty block, a parameter is out of range
    LimitError : too much for a chunk

    Examples
    --------
    >>> chunk = vlcompress([b"one", b"two" * 100])
    >>> vldecompress_block(chunk, 0), len(vldecompress(chunk)[1])
    (b'one', 300)
    """
    cparams, nthreads = compiled_cparams(kwargs)
    blocks = _Blocks(srcs)
    ctx = _ffi.context(nthreads, blocks.nbytes)

    def call(dst: Any, cap: int, need: Any, err: Any) -> int:
        status = lib.b2c_vlcompress(
            ctx, cparams, blocks.pointers, blocks.lens, blocks.count, dst, cap, need, err
        )
        return int(status)

    return _ffi.sized_bytes(call, min(blocks.bound, lib.B2C_MAX_CHUNK_NBYTES))


def _lens(call: Any, path: str | None = None) -> list[int]:
    """The sizes that `call(lens, cap, nblocks, err)` gives."""
    need, err, cap = ffi.new("size_t *"), new_error(), _FIRST_GUESS
    while True:
        lens = ffi.new("uint32_t[]", cap)
        status = call(lens, cap, need, err)
        if status != lib.B2C_E_OUTPUT_SIZE:
            check(status, err, path)
            return list(ffi.unpack(lens, need[0]))
        cap = need[0]


def _cut(data: Any, lens: list[int]) -> list[bytes]:
    ends = list(accumulate(lens))
    return [bytes(data[end - n : end]) for n, end in zip(lens, ends, strict=True)]


def vldecompress(src: Buffer, **kwargs: Any) -> list[bytes]:
    """All blocks of a chunk of vlcompress(), with ``nthreads=`` or ``dparams=``.

    Raises FormatError for another kind of chunk, otherwise as decompress2().
    """
    chunk = in_buffer(src)
    lens = _lens(lambda *out: lib.b2c_vlblock_lens(_ffi.context(1), chunk, len(chunk), *out))
    return _cut(decompress2(src, **kwargs), lens)


def vldecompress_block(src: Buffer, nblock: int) -> bytes:
    """One block of a chunk of vlcompress(); ChunkIndexError when there is none of this number.

    LimitError when it is larger than a result may be.
    """
    chunk, number = in_buffer(src), nblock.__index__()
    if not 0 <= number <= MAX_COUNT:
        raise ChunkIndexError(f"there is no block {number}", block=number)

    def call(dst: Any, cap: int, need: Any, err: Any) -> int:
        ctx = _ffi.context(1)
        return int(lib.b2c_vldecompress_block(ctx, chunk, len(chunk), number, dst, cap, need, err))

    return _ffi.sized_bytes(call, _ffi.SMALL_NBYTES, check_size=check_result)


class VLBlocks(Editing):
    """The part of SChunk for chunks of blocks that have sizes of their own."""

    def append_vlblocks(self, blocks: Iterable[Buffer]) -> int:
        """Append a chunk of buffers, see vlcompress(); returns nchunks.

        Python-Blosc2 appends no ordinary data to a super-chunk that has such chunks.
        """
        c = _Blocks(blocks)
        ctx = _ffi.context(self._c_nthreads, c.nbytes)
        self._edit(lib.b2c_schunk_append_vlblocks, ctx, c.pointers, c.lens, c.count)
        return self.nchunks

    def get_vlblock(self, nchunk: int, nblock: int) -> bytes:
        """One block of a chunk of append_vlblocks(); only that is decoded.

        Raises
        ------
        ChunkIndexError : there is no such chunk or block
        FormatError : a chunk of another kind
        LimitError : the block is larger than a result may be
        """
        number, inner = self._number(nchunk), self._number(nblock)

        def read(ptr: Any) -> bytes:
            def call(dst: Any, cap: int, need: Any, err: Any) -> int:
                ctx = _ffi.context(self._dparams.nthreads, 0)
                return int(lib.b2c_schunk_get_vlblock(ptr, ctx, number, inner, dst, cap, need, err))

            return _ffi.sized_bytes(call, _ffi.SMALL_NBYTES, self.urlpath, check_size)

        def check_size(nbytes: int) -> None:
            check_result(nbytes, self.handle)

        block: bytes = self.reading(read)
        return block

    def get_vlblocks(self, nchunk: int) -> list[bytes]:
        """All blocks of a chunk of append_vlblocks(); ChunkIndexError, FormatError, LimitError."""
        number = self._number(nchunk)

        def read(ptr: Any) -> list[bytes]:
            lens = _lens(lambda *out: lib.b2c_schunk_vlblock_lens(ptr, number, *out), self.urlpath)
            n = check_result(sum(lens), self.handle)
            return _cut(_ffi.bytes_from(n, lambda out: self._decode(ptr, number, out, n)), lens)

        blocks: list[bytes] = self.reading(read)
        return blocks
