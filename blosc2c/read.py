"""The reading half of SChunk: what it is and where, its chunks and items.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import errno
import functools
import operator
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import _ffi, limits, params
from ._ffi import check, check_call, ffi, lib, new_error, out_buffer
from .errors import ChunkIndexError, ParameterError
from .facts import ChunkInfo
from .handles import INFO, MAX_SECONDS
from .params import MAX_COUNT, DParams, SpecialValue, to_dparams

if TYPE_CHECKING:
    import numpy as np

    from ._ffi import Buffer
    from .handles import Handle

T = TypeVar("T")

_SPECIAL_VALUES = tuple(SpecialValue)  # by number, from 0 on: calling the enum takes longer than C


class Origin(NamedTuple):
    """Where an SChunk was opened from."""

    urlpath: str | None
    contiguous: bool
    keep: Any = None  # memory that the C object borrows, or the object that it reads from
    offset: int = 0
    mmap_mode: str | None = None
    locking: bool = False
    place: str = ""  # urlpath, absolute, for when the working directory is another one
    mode: str = "a"
    mapping_size: int | None = None


class Reading:
    """What tells of a super-chunk and its data, and changes neither."""

    handle: Handle
    _origin: Origin
    _dparams: DParams

    def c_info(self, ptr: Any = None) -> Any:
        """The b2c_schunk_info of now, not to be changed; `ptr` when the caller holds the handle."""
        if ptr is None:
            return self.handle.info()
        info = ffi.new(INFO)
        lib.b2c_schunk_info_get(ptr, info)
        return info

    @property
    def nchunks(self) -> int:
        """Number of chunks."""
        nchunks: int | None = self.handle.calls.nchunks
        return int(self.c_info().nchunks) if nchunks is None else nchunks

    @property
    def nbytes(self) -> int:
        """Decoded size of all chunks in bytes."""
        nbytes: int | None = self.handle.calls.nbytes
        return int(self.c_info().nbytes) if nbytes is None else nbytes

    @property
    def cbytes(self) -> int:
        """Stored size of all chunks in bytes."""
        cbytes: int | None = self.handle.calls.cbytes
        return int(self.c_info().cbytes) if cbytes is None else cbytes

    @property
    def cratio(self) -> float:
        """nbytes / cbytes; 0.0 when there is nothing."""
        cratio: float | None = self.handle.calls.cratio
        if cratio is None:
            info = self.c_info()
            cratio = info.nbytes / info.cbytes if info.cbytes else 0.0
        return cratio

    @property
    def chunksize(self) -> int:
        """Decoded size of a chunk in bytes; 0 when they vary."""
        chunksize: int | None = self.handle.calls.chunksize
        return max(int(self.c_info().chunksize), 0) if chunksize is None else chunksize

    @property
    def chunkshape(self) -> int:
        """Items of a chunk; 0 when they vary."""
        return self.chunksize // self.typesize

    @property
    def blocksize(self) -> int:
        """Bytes of a block as asked for; 0: chosen for each chunk."""
        blocksize: int | None = self.handle.calls.blocksize
        return int(self.c_info().blocksize) if blocksize is None else blocksize

    @property
    def typesize(self) -> int:
        """Bytes of an item."""
        typesize: int | None = self.handle.calls.typesize
        return int(self.c_info().typesize) if typesize is None else typesize

    @property
    def urlpath(self) -> str | None:
        """Path of the file or directory; None in memory."""
        return self._origin.urlpath

    @property
    def place(self) -> str:
        """`urlpath`, absolute, for when the working directory is another one; "" in memory."""
        return self._origin.place

    @property
    def contiguous(self) -> bool:
        """Whether it is kept as one frame; not what is a copy of one in memory."""
        return self._origin.contiguous

    @property
    def mode(self) -> str:
        """The mode that it was opened or made with."""
        return self._origin.mode

    @property
    def mmap_mode(self) -> str | None:
        """The mmap_mode that it was opened with."""
        return self._origin.mmap_mode

    @property
    def initial_mapping_size(self) -> int | None:
        """The initial_mapping_size that it was opened or made with."""
        return self._origin.mapping_size

    @property
    def change_tick(self) -> int:
        """How often it has come to show what others have stored: what is derived from it is outdated then.

        Asking does not look at the file; a call that reads, with ``locking``, or refresh() does.
        """
        return self.handle.nstates

    @property
    def locking(self) -> bool:
        """Whether it takes its lock file for every call."""
        return self._origin.locking

    @property
    def must_look(self) -> bool:
        """Whether what is known of it may be outdated: only who has held the handle knows."""
        return self._origin.locking or self.handle.is_untold

    @property
    def is_writable(self) -> bool:
        """Whether it can be changed."""
        return self.handle.damage is None and bool(self.c_info().is_writable)

    @property
    def damage(self) -> dict[int, BaseException]:
        """Damaged chunks that were read as zeros so far, and what is wrong with each.

        Empty without ``open(on_damage="fill")``.
        """
        return dict(self.handle.damage or {})

    def __len__(self) -> int:
        nitems: int | None = self.handle.calls.nitems
        if nitems is None:
            info = self.c_info()
            nitems = int(info.nbytes // info.typesize)
        return nitems

    def _number(self, nchunk: int) -> int:
        try:
            number = operator.index(nchunk)
        except TypeError:
            raise TypeError(f"the number of a chunk is an integer, not {type(nchunk).__name__}") from None
        if not 0 <= number <= MAX_COUNT:
            raise ChunkIndexError(f"there is no chunk {number}", path=self.urlpath, chunk=number)
        return number

    def _key(self, key: int | slice) -> tuple[int | None, int | None]:
        """The start and stop that an index means."""
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise IndexError(f"the step of an SChunk slice must be 1, not {key.step}")
            return key.start, key.stop
        try:
            number, n = operator.index(key), len(self)
        except TypeError:
            raise TypeError(
                f"an SChunk is indexed by an integer or slice, not {type(key).__name__}"
            ) from None
        if not -n <= number < n:
            raise IndexError(f"item {number} is beyond the {n} items")
        number %= n
        return number, number + 1

    @property
    def dparams(self) -> DParams:
        """Parameters of reading.  Settable."""
        return DParams(self._dparams.nthreads)

    @dparams.setter
    def dparams(self, value: DParams | Mapping[str, Any]) -> None:
        self._dparams = to_dparams(value)

    # ---- reading -----------------------------------------------------------

    def reading(self, call: Callable[[Any], T]) -> T:
        """What `call` gives with the pointer; all that it reads is of one committed state.

        Beside a writer it is called again when the room of chunks was used for others meanwhile.
        """
        if self.handle.damage is not None:
            return self._around_damage(call)
        if not self.handle.may_outdate:
            with self.handle as ptr:
                return call(ptr)
        end = time.monotonic() + MAX_SECONDS
        while time.monotonic() < end:
            try:
                with self.handle as ptr:
                    result = call(ptr)
                    if lib.b2c_schunk_is_current(ptr):
                        return result
            except Exception:
                if self.handle.recheck(self.urlpath):
                    raise
            else:
                if self.handle.recheck(self.urlpath):
                    return result
        raise BlockingIOError(
            errno.EAGAIN, "changes faster than it can be read; open it with locking=True", self.urlpath
        )

    def settle_damage(self) -> None:
        """Fill what is damaged, if that was asked for, before the chunks are used as they are stored."""
        if self.handle.damage is None:
            return
        at_once = 64  # so that it can be interrupted
        nsound, ignored = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        ctx, nchunk = _ffi.context(self._dparams.nthreads), 0
        while nchunk < self.nchunks:
            with self.handle as ptr:
                status = lib.b2c_schunk_verify_chunks(ptr, ctx, nchunk, at_once, nsound, ignored, new_error())
            nchunk += int(nsound[0])
            if status != lib.B2C_OK:
                self.decompress_chunk(nchunk)  # fills it
                nchunk += 1

    def _around_damage(self, call: Callable[[Any], T]) -> T:
        while True:  # each time without the damaged chunks that the one before has found
            known = len(self.handle.damage or ())
            with _ffi.collecting_damage(self.urlpath) as found:
                try:
                    with self.handle as ptr:
                        return call(ptr)
                except Exception as exc:
                    failures = found() or [exc]
            self.handle.fill(failures, known, self.urlpath)

    def _chunk_info(self, ptr: Any, nchunk: int) -> Any:
        info, err = ffi.new("b2c_chunk_info *"), new_error()
        check(lib.b2c_schunk_chunk_info(ptr, nchunk, info, err), err, self.urlpath)
        return info

    def decompress_chunk(self, nchunk: int, dst: Buffer | None = None) -> bytes | None:
        """The data of a chunk as bytes, or written to `dst` (then None).

        Raises
        ------
        ChunkIndexError : there is no such chunk
        ValueError : dst is too small
        CorruptError : the chunk is damaged
        """
        calls = self.handle.calls
        data = calls.decompress_chunk(nchunk) if dst is None else calls.decompress_chunk(nchunk, dst)
        if type(data) is bytes:
            return data
        if data is not True:
            check_call(data, self.urlpath)
            return self._decode_long(self._number(nchunk), dst)
        return None

    def _decode_long(self, number: int, dst: Buffer | None) -> bytes | None:
        if dst is None:
            return self._decode_new(number)
        out = out_buffer(dst)
        self.reading(lambda ptr: self._decode(ptr, number, out, len(out)))
        return None

    def _decode_new(self, number: int) -> bytes:
        def decode(ptr: Any) -> bytes:
            nbytes = int(self._chunk_info(ptr, number).nbytes)
            limits.check_result(nbytes, self.handle)
            return _ffi.bytes_from(nbytes, lambda out: self._decode(ptr, number, out, nbytes))

        return self.reading(decode)

    def _decode(self, ptr: Any, number: int, out: Any, room: int) -> None:
        ctx, done, err = _ffi.context(self._dparams.nthreads, room), ffi.new("size_t *"), new_error()
        status = lib.b2c_schunk_decode_chunk(ptr, ctx, number, out, room, done, err)
        if status == lib.B2C_E_OUTPUT_SIZE:
            raise ParameterError(
                f"dst holds {room} bytes, chunk {number} decompresses to {done[0]}",
                field="dst",
                expected=done[0],
                actual=room,
            )
        check(status, err, self.urlpath)

    def get_chunk(self, nchunk: int) -> bytes:
        """The stored bytes of a chunk; ChunkIndexError when there is no such chunk."""
        chunk = self.handle.calls.get_chunk(nchunk)
        if type(chunk) is bytes:
            return chunk
        return self._get_chunk_long(chunk, self._number(nchunk))

    def _get_chunk_long(self, given: Any, number: int) -> bytes:
        check_call(given, self.urlpath)

        def get(ptr: Any) -> bytes:
            def call(dst: Any, cap: int, need: Any, err: Any) -> int:
                return int(lib.b2c_schunk_get_chunk(ptr, number, dst, cap, need, err))

            return _ffi.sized_bytes(call, int(self._chunk_info(ptr, number).cbytes), self.urlpath)

        return self.reading(get)

    get_lazychunk = get_chunk

    def _item_range(self, start: int | None, stop: int | None) -> tuple[int, int, int]:
        info = self.c_info()
        first, last, _ = slice(start, stop).indices(int(info.nbytes // info.typesize))
        return first, max(last, first), int(info.typesize)

    def _read(self, at: int, nbytes: int, out: Any) -> None:
        err, ctx = new_error(), _ffi.context(self._dparams.nthreads, nbytes)

        def read(ptr: Any) -> None:
            check(lib.b2c_schunk_read(ptr, ctx, at, nbytes, out, nbytes, err), err, self.urlpath)

        self.reading(read)

    def get_slice(
        self, start: int | None = 0, stop: int | None = None, out: Buffer | None = None
    ) -> bytes | None:
        """Items `start` to `stop` (excluded; as in Python slices), as bytes or into `out`.

        Into `out` the result is None, or b"" when there are no such items.

        Raises
        ------
        ValueError : out is too small
        CorruptError : a chunk is damaged
        """
        calls, key = self.handle.calls, slice(start, stop)
        data = calls.items(key) if out is None else calls.items(key, out)
        if type(data) is bytes:
            return data
        return None if data is True else self._get_long(data, start, stop, out)

    def _get_long(self, given: Any, start: int | None, stop: int | None, out: Buffer | None) -> bytes | None:
        check_call(given, self.urlpath)
        while True:
            planned = self._item_range(start, stop)
            try:
                return self._get_range(*planned, out)
            except ChunkIndexError:  # it may have become shorter meanwhile
                if self._item_range(start, stop) == planned:
                    raise

    def _get_range(self, first: int, last: int, typesize: int, out: Buffer | None) -> bytes | None:
        nbytes = (last - first) * typesize
        if out is None:
            limits.check_result(nbytes, self.handle)
            return _ffi.bytes_from(nbytes, lambda dst: self._read(first * typesize, nbytes, dst))
        dst = out_buffer(out, "out")
        if len(dst) < nbytes:
            raise ParameterError(
                f"out holds {len(dst)} bytes, the slice has {nbytes}",
                field="out",
                expected=nbytes,
                actual=len(dst),
            )
        self._read(first * typesize, nbytes, dst)
        return None if nbytes else b""

    def read_into(self, out: Buffer, start: int = 0) -> None:
        """Fill `out` with the data from item `start` on; ValueError when there is less."""
        typesize = self.typesize
        is_filled = self.handle.calls.read_bytes(start * typesize, out)
        if is_filled is True:
            return
        check_call(is_filled, self.urlpath)
        dst = out_buffer(out, "out")
        if start < 0 or start * typesize + len(dst) > self.nbytes:
            raise ParameterError(f"there are no {len(dst)} bytes from item {start} on", field="out")
        self._read(start * typesize, len(dst), dst)

    def __getitem__(self, key: int | slice) -> bytes:
        data = self.handle.calls.items(key)
        if type(data) is not bytes:
            data = self._get_long(data, *self._key(key), None)
            assert data is not None
        return data

    def iterchunks(self, dtype: Any) -> Iterator[np.ndarray[Any, Any]]:
        """The chunks in turn, as arrays of `dtype`."""
        import numpy as np

        dtype = np.dtype(dtype)
        for nchunk in range(self.nchunks):
            data = self.decompress_chunk(nchunk)
            assert data is not None
            yield np.frombuffer(data, dtype)

    def iterchunks_info(self) -> Iterator[ChunkInfo]:
        """Facts of the chunks in turn, without decoding them."""
        for nchunk in range(self.nchunks):
            yield self.chunk_facts(nchunk)

    def chunk_facts(self, nchunk: int) -> ChunkInfo:
        """Facts of one chunk; ChunkIndexError when there is no such chunk."""
        nchunk = self._number(nchunk)
        given = self.handle.calls.chunk_info(nchunk)
        if given is None or len(given) < 3:
            check_call(given, self.urlpath)
            info = self.reading(lambda ptr: self._chunk_info(ptr, nchunk))
            given = info.nbytes, info.cbytes, info.special
        nbytes, cbytes, kind = given
        special = _SPECIAL_VALUES[kind]
        value = None
        if special is SpecialValue.VALUE:
            value = self.get_chunk(nchunk)[params.EXTENDED_HEADER_LENGTH :]
        cratio = nbytes / cbytes if cbytes else 0.0
        return ChunkInfo(self, nchunk, cratio, special, value)

    def to_cframe(self) -> bytes:
        """All of it as one contiguous frame."""
        frame = self.handle.calls.to_cframe()
        if type(frame) is bytes:
            return frame
        check_call(frame, self.urlpath)

        def store(ptr: Any) -> bytes:
            call = functools.partial(lib.b2c_schunk_to_frame, ptr)
            return _ffi.sized_bytes(call, _ffi.SMALL_NBYTES, self.urlpath)

        self.settle_damage()
        return self.reading(store)
