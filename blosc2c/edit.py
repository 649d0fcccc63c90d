"""The editing half of SChunk: insert, replace, delete, write by item, transactions.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import operator
import os
import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _ffi
from ._ffi import check, check_call, ffi, in_buffer, lib, new_error
from .blocks import block
from .errors import LimitError, ParameterError
from .handles import INFO, reading
from .params import MAX_COUNT, SpecialValue, check_durability, to_index
from .read import Reading

if TYPE_CHECKING:
    from ._ffi import Buffer


class Editing(Reading):
    """What changes a super-chunk.  Every edit is all or nothing.

    All methods raise ReadOnlyError for a super-chunk opened with mode "r", and ChunkIndexError
    for a chunk that is not there.
    """

    _c_nthreads: int
    _held: list[contextlib.AbstractContextManager[Any]]  # of lock()
    _durability: str | None = None  # as it was set
    _writes_checksums = _verifies = True

    def _edit(self, function: Any, *args: Any) -> int:
        """Call function(ptr, *args, err); returns how many chunks there are then."""

        def edit(ptr: Any) -> int:
            err, info = new_error(), ffi.new(INFO)
            status = function(ptr, *args, err)
            if status:
                check(status, err, self.urlpath)
            lib.b2c_schunk_info_get(ptr, info)
            nchunks: int = info.nchunks
            return nchunks

        return self.handle.edit(edit)

    def _context(self, nbytes: int) -> Any:
        return _ffi.context(self._c_nthreads, nbytes)

    # ---- chunks ------------------------------------------------------------

    def _append(self, src: Any, nbytes: int) -> int:
        return self._edit(lib.b2c_schunk_append, self._context(nbytes), src, nbytes)

    def append_data(self, data: Buffer) -> int:
        """Compress a C-contiguous buffer and append it as one chunk; returns nchunks.

        Raises TypeError or ValueError when `data` is no such buffer, or too large for a chunk.
        """
        nchunks = self.handle.calls.append_data(data)
        if type(nchunks) is not int:
            check_call(nchunks, self.urlpath)
            src = in_buffer(data, "data")
            nchunks = self._append(src, len(src))
        return nchunks

    def append_chunk(self, chunk: Buffer) -> int:
        """Append a ready chunk, as compress2() makes them; returns nchunks.

        Raises FormatError, CorruptError or TruncatedError for an unsound chunk.
        """
        nchunks = self.handle.calls.append_chunk(chunk)
        if type(nchunks) is not int:
            check_call(nchunks, self.urlpath)
            src = in_buffer(chunk, "chunk")
            nchunks = self._edit(lib.b2c_schunk_append_chunk, src, len(src))
        return nchunks

    def insert_data(self, nchunk: int, data: Buffer, copy: bool = True) -> int:
        """Compress a buffer and make it chunk `nchunk`; later ones move up.  Returns nchunks.

        `copy` has no effect: the compressed bytes are always the super-chunk's own.
        """
        nchunks = self.handle.calls.insert_data(nchunk, data)
        if type(nchunks) is not int:
            nchunks = self._put_data(nchunks, lib.b2c_schunk_insert, nchunk, data)
        return nchunks

    def insert_chunk(self, nchunk: int, chunk: Buffer) -> int:
        """Make a ready chunk the chunk `nchunk`; later ones move up.  Returns nchunks."""
        nchunks = self.handle.calls.insert_chunk(nchunk, chunk)
        if type(nchunks) is not int:
            nchunks = self._put_chunk(nchunks, lib.b2c_schunk_insert_chunk, nchunk, chunk)
        return nchunks

    def update_data(self, nchunk: int, data: Buffer, copy: bool = True) -> int:
        """Compress a buffer and replace chunk `nchunk` by it; returns nchunks.

        `copy` has no effect.
        """
        nchunks = self.handle.calls.update_data(nchunk, data)
        if type(nchunks) is not int:
            nchunks = self._put_data(nchunks, lib.b2c_schunk_update, nchunk, data)
        return nchunks

    def update_chunk(self, nchunk: int, chunk: Buffer) -> int:
        """Replace chunk `nchunk` by a ready chunk; returns nchunks."""
        nchunks = self.handle.calls.update_chunk(nchunk, chunk)
        if type(nchunks) is not int:
            nchunks = self._put_chunk(nchunks, lib.b2c_schunk_update_chunk, nchunk, chunk)
        return nchunks

    def _put_data(self, given: Any, function: Any, nchunk: int, data: Buffer) -> int:
        check_call(given, self.urlpath)
        src, number = in_buffer(data, "data"), self._number(nchunk)
        return self._edit(function, self._context(len(src)), number, src, len(src))

    def _put_chunk(self, given: Any, function: Any, nchunk: int, chunk: Buffer) -> int:
        check_call(given, self.urlpath)
        src = in_buffer(chunk, "chunk")
        return self._edit(function, self._number(nchunk), src, len(src))

    def delete_chunk(self, nchunk: int) -> int:
        """Remove chunk `nchunk`; later ones move down.  Returns nchunks."""
        nchunks = self.handle.calls.delete_chunk(nchunk)
        if type(nchunks) is not int:
            check_call(nchunks, self.urlpath)
            nchunks = self._edit(lib.b2c_schunk_delete_chunk, self._number(nchunk))
        return nchunks

    def reorder_offsets(self, order: Sequence[int]) -> None:
        """Make chunk i what chunk ``order[i]`` was; ValueError when `order` is no permutation."""
        numbers = [int(n) for n in order]
        if len(numbers) != self.nchunks or sorted(numbers) != list(range(self.nchunks)):
            raise ParameterError(
                f"order must hold each number from 0 to {self.nchunks - 1} once", field="order"
            )
        self.reorder(ffi.new("uint64_t[]", numbers))

    def reorder(self, order: Any) -> None:
        """reorder_offsets() by a C array of uint64."""
        self._edit(lib.b2c_schunk_reorder, order, len(order))

    def copy_chunks(self, source: Editing) -> None:
        """Append all chunks of another super-chunk as they are stored, and its vlmetalayers.

        Raises ConflictError when somebody else has changed that meanwhile.
        """
        if source.handle is self.handle:
            raise ParameterError("a super-chunk cannot be appended to itself", field="source")
        source.settle_damage()
        with self.taking_from(source):
            of_one_state = source.handle.keeping_state(source.handle.nstates, source.urlpath)
            with self.transaction(), of_one_state:
                self.copy_all(source)

    def copy_all(self, source: Editing) -> None:
        """copy_chunks() to what is being made, for who sees to it that they are of one state."""
        source.settle_damage()
        self._copy_from(source, lib.b2c_schunk_copy_chunks)

    def copy_some(self, source: Editing, numbers: Any) -> None:
        """Append the chunks of another super-chunk with these numbers, as they are stored.

        numbers : an array of uint64
        """
        if source.handle.damage is not None or source.handle.may_outdate:
            for number in numbers.tolist():
                self.append_chunk(source.get_chunk(number))
            return
        nchunks = self.handle.calls.copy_some(source.handle.calls, numbers)
        if type(nchunks) is int:
            return
        if nchunks is not None:
            self._check_copied(nchunks[0], ffi.from_buffer("b2c_error *", nchunks[1]), source)
        c_numbers = ffi.from_buffer("uint64_t[]", numbers)
        self._copy_from(source, lib.b2c_schunk_copy_some, c_numbers, len(numbers))

    def _copy_from(self, source: Editing, function: Any, *args: Any) -> None:
        def edit(ptr: Any) -> None:
            err = new_error()
            self._check_copied(function(other, *args, ptr, err), err, source)

        with source.handle as other:
            self.handle.edit(edit)

    def _check_copied(self, status: int, err: Any, source: Editing) -> None:
        is_of_data = lib.B2C_E_FORMAT <= status <= lib.B2C_E_CHECKSUM  # which were the source's
        check(status, err, source.urlpath if is_of_data else self.urlpath)

    # ---- special values ----------------------------------------------------

    def _special(self, special_value: SpecialValue, value: Any) -> tuple[int, bytes | None]:
        if not isinstance(special_value, SpecialValue) or special_value is SpecialValue.NOT_SPECIAL:
            raise TypeError(f"special_value must be a special SpecialValue, not {special_value!r}")
        if special_value is SpecialValue.VALUE:
            return special_value.value, _item(value, self.typesize)
        if value is not None:
            raise ParameterError("value goes with SpecialValue.VALUE only", field="value")
        return special_value.value, None

    def fill_special(self, nitems: int, special_value: SpecialValue, value: Any = None) -> int:
        """Append `nitems` items as chunks that are no more than a header; returns nchunks.

        Parameters
        ----------
        special_value : what the items are
        value : for SpecialValue.VALUE one item: bytes of typesize, a NumPy scalar of
            that size, or a bool, int, float or complex, stored as such in typesize bytes
        """
        nbytes = to_index(nitems, "nitems") * self.typesize
        if nbytes < 0:
            raise ParameterError(f"nitems must not be negative: {nitems}", field="nitems")
        if nbytes > MAX_COUNT:
            raise LimitError(f"{nitems} items are {nbytes} bytes, more than {MAX_COUNT}", field="nitems")
        kind, item = self._special(special_value, value)
        nchunks = self.handle.calls.fill_special(nbytes, kind, item)
        if type(nchunks) is not int:
            check_call(nchunks, self.urlpath)
            nchunks = self._edit_special(lib.b2c_schunk_fill_special, nbytes, kind, item)
        return nchunks

    def update_special(self, nchunk: int, special_value: SpecialValue, value: Any = None) -> int:
        """Replace chunk `nchunk` by special values, see fill_special(); returns nchunks."""
        kind, item = self._special(special_value, value)
        return self._edit_special(lib.b2c_schunk_update_special, self._number(nchunk), kind, item)

    def _edit_special(self, function: Any, number: int, kind: int, item: bytes | None) -> int:
        def edit(ptr: Any, err: Any) -> int:
            if item is not None:  # other threads may have changed the typesize
                _check_item(item, self.c_info(ptr).typesize)
            status: int = function(ptr, number, kind, item or ffi.NULL, err)
            return status

        return self._edit(edit)

    # ---- items -------------------------------------------------------------

    def set_slice(self, value: Buffer, start: int | None = 0, stop: int | None = None) -> None:
        """Write a buffer over the items from `start` to `stop` (excluded).

        A `stop` beyond the end makes the super-chunk longer; None is the end, or where `value`
        ends if that is beyond.

        Raises ValueError when `value` has another size, or `start` is beyond the end.
        """
        nchunks = self.handle.calls.set_items(slice(start, stop), value)
        if type(nchunks) is int:
            return
        check_call(nchunks, self.urlpath)
        src = in_buffer(value, "value")
        first = 0 if start is None else to_index(start, "start")
        last = None if stop is None else to_index(stop, "stop")
        ctx, err = self._context(len(src)), new_error()

        def write(ptr: Any) -> None:  # where it goes depends on how long the super-chunk is
            at = self._place(ptr, len(src), first, last)
            if len(src):
                check(lib.b2c_schunk_write(ptr, ctx, at, src, len(src), err), err, self.urlpath)

        self.handle.edit(write)

    def _place(self, ptr: Any, nbytes: int, first: int, last: int | None) -> int:
        """The position in the data of what set_slice() writes; `ptr` as its handle gives it."""
        info = self.c_info(ptr)
        typesize: int = info.typesize
        n = info.nbytes // typesize
        first = max(first + n, 0) if first < 0 else first
        if first > n:
            raise ParameterError(f"start {first} is beyond the {n} items", field="start")
        if last is None:
            last = max(n, first + nbytes // typesize)
        last = max(last + n if last < 0 else last, first)
        if nbytes != (last - first) * typesize:
            raise ParameterError(
                f"value has {nbytes} bytes, the slice {(last - first) * typesize}",
                field="value",
                expected=(last - first) * typesize,
                actual=nbytes,
            )
        return first * typesize

    def __setitem__(self, key: int | slice, value: Buffer) -> None:
        self.set_slice(value, *self._key(key))

    def truncate(self, nitems: int) -> None:
        """Cut the super-chunk to its first `nitems` items; ValueError when there are fewer."""
        if not 0 <= to_index(nitems, "nitems") <= len(self):
            raise ParameterError(f"nitems must be between 0 and {len(self)}, not {nitems}", field="nitems")
        self._edit(lib.b2c_schunk_truncate, self._context(1 << 30), nitems * self.typesize)

    # ---- with others -------------------------------------------------------

    @block
    def holding_lock(self) -> Iterator[Editing]:
        """Nobody else reads or edits during the block.

        Other threads wait, and with ``locking`` other handles and processes too; what they have
        stored is seen on entry.  In contrast to transaction(), edits are stored one by one.
        With ``locking`` another handle that this thread uses in the block raises BlockingIOError.
        """
        with self.handle.writing():
            yield self

    @block
    def taking_from(self, *sources: Editing) -> Iterator[None]:
        """holding_lock(), and nobody edits `sources` either during the block.

        Who needs several begins with the same one as everybody else does: two that take from each other
        would wait for ever otherwise, each for what the other holds.
        """
        mine = self.handle
        edited = [s for s in sources if s.handle is not mine and (s.is_writable or s.locking)]
        if not edited:
            with mine.writing():
                yield
            return
        rank = self._rank()
        theirs = sorted(((s._rank(), s.handle) for s in edited), key=operator.itemgetter(0))
        before = [handle for their_rank, handle in theirs if their_rank < rank]
        with reading(before), mine.writing(), reading(handle for _, handle in theirs[len(before) :]):
            yield

    def _rank(self) -> tuple[str, int]:
        """What super-chunks are held in the order of: by all processes, if they have lock files."""
        folder, name = os.path.split(self.place)
        return os.path.join(os.path.realpath(folder), name), id(self.handle)

    def lock(self) -> None:
        """Begin what holding_lock() does for a block; the same thread must call unlock()."""
        self._held.append(self.handle.writing())
        try:
            self._held[-1].__enter__()
        except BaseException:  # of a signal handler, it may be: nobody is to unlock then
            self._held.pop()
            raise

    def unlock(self) -> None:
        """End what lock() has begun; ValueError when nothing was."""
        if not self._held:
            raise ParameterError("unlock() without lock()")
        self._held.pop().__exit__(None, None, None)

    # ---- storing -----------------------------------------------------------

    @block
    def transaction(self) -> Iterator[None]:
        """Edits in this block are stored together at its end, or not at all after an exception.

        Other threads wait meanwhile.  A transaction inside another one is part of that.
        """
        handle, err = self.handle, new_error()
        with handle.writing():
            if self.is_in_transaction:
                yield
                return
            try:
                self._check_open(handle.begin(err), err)
                yield
                handle.get()  # who has closed it has forgotten the edits
                self._check_open(lib.b2i_turn_commit(handle.turn, err), err)
            except BaseException:
                handle.roll_back()
                raise

    def _check_open(self, status: int, err: Any) -> None:
        if status != lib.B2C_OK:
            self.handle.get()  # a signal handler may have closed it before
            check(status, err, self.urlpath)

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, of which an edit is a part."""
        return bool(self.handle.turn.is_begun)

    def flush(self) -> None:
        """Return when everything is on the medium."""
        self._edit(lib.b2c_schunk_flush)

    def compact(self) -> None:
        """Rewrite the file without the room of deleted and replaced chunks."""
        self._edit(lib.b2c_schunk_compact)

    def set_durability(self, level: str) -> None:
        """What later edits survive.

        Parameters
        ----------
        level : "none": edits are stored by flush() and close() only; "process" (the
            default): they survive the process; "commit": they are on the medium when
            the call returns
        """
        self._edit(lib.b2c_schunk_set_durability, check_durability(level))
        self._durability = level

    def set_checksums(self, write: bool = True, verify: bool = True) -> None:
        """Whether checksums are stored with later edits, and compared when reading."""
        self._edit(lib.b2c_schunk_set_checksums, bool(write), bool(verify))
        self._writes_checksums, self._verifies = bool(write), bool(verify)


def _item(value: Any, typesize: int) -> bytes:
    """One item as bytes; ParameterError when `value` is none of `typesize` bytes."""
    if value is None:
        raise ParameterError("SpecialValue.VALUE needs a value", field="value")
    try:
        if isinstance(value, bool | int):
            return int(value).to_bytes(typesize, "little", signed=value < 0)
        if isinstance(value, float) and not hasattr(value, "dtype"):
            return struct.pack({2: "<e", 4: "<f", 8: "<d"}[typesize], value)
        if isinstance(value, complex) and not hasattr(value, "dtype"):
            return struct.pack({8: "<ff", 16: "<dd"}[typesize], value.real, value.imag)
    except (KeyError, OverflowError, struct.error):
        raise ParameterError(f"{value!r} does not fit in {typesize} bytes", field="value") from None
    item = value.tobytes() if hasattr(value, "tobytes") else bytes(ffi.buffer(in_buffer(value, "value")))
    if isinstance(value, float | complex) and len(item) != typesize:
        # numpy.float64 is a float too, numpy.complex128 a complex.
        return _item(complex(value) if isinstance(value, complex) else float(value), typesize)
    _check_item(item, typesize)
    return item


def _check_item(item: bytes, typesize: int) -> None:
    if len(item) != typesize:
        raise ParameterError(
            f"value has {len(item)} bytes, an item {typesize}",
            field="value",
            expected=typesize,
            actual=len(item),
        )
