"""Frames behind Python objects: files, remote storage, whatever can give bytes by position.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import io
import operator
import os
import threading
from typing import TYPE_CHECKING, Any

from . import _ffi, limits
from ._ffi import check, ffi, lib, new_error
from .errors import Blosc2Error, CorruptError, ParameterError, TruncatedError
from .handles import Handle, nested, new_out

if TYPE_CHECKING:
    from collections.abc import Callable

_FRAME_LEN_AT = 16  # the length of a frame: 8 bytes, big-endian, at this byte of its header


def is_readable(source: Any) -> bool:
    """Whether `source` is not a path but an object to read from."""
    if isinstance(source, str | bytes | os.PathLike):
        return False
    return any(hasattr(source, name) for name in ("read_at", "read_ranges")) or (
        hasattr(source, "read") and hasattr(source, "seek")
    )


def _plain_file(source: Any) -> io.FileIO | None:
    """The file behind an object that does nothing but read it: its bytes can be had by position."""
    raw = source.raw if type(source) is io.BufferedReader else source
    return raw if type(raw) is io.FileIO and hasattr(os, "pread") else None


def _joined(n: int, read: Callable[[int, int], Any]) -> Any:
    """n bytes, or fewer at the end, of what read(most, done) gives: some, or none at the end."""
    parts, done = [], 0
    while done < n and (part := read(n - done, done)):
        parts.append(part)
        done += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


class Reader:
    """What the C library reads a user's object through; any thread may call it."""

    schunk: Any = ffi.NULL  # what is read through it; NULL until that is open

    def __init__(self, source: Any, offset: int) -> None:
        self.source = source
        self._lock = threading.RLock()
        self._is_reading = False
        if hasattr(source, "read_at"):
            self.read = source.read_at
        elif hasattr(source, "read_ranges"):
            self.read = self._read_range
        elif (file := _plain_file(source)) is not None:
            # Processes that were forked have one position: seeking would move that of the others.
            self.read = lambda at, n: _joined(n, lambda n, done: os.pread(file.fileno(), n, at + done))
        else:
            self.read = self._seek_and_read
        self.size = self._find_size(offset)

    def after_fork(self) -> None:
        """In a forked child: the thread that held the lock does not exist here."""
        self._lock = threading.RLock()
        self._is_reading = False

    def _read_range(self, at: int, n: int) -> Any:
        (data,) = self.source.read_ranges([(at, n)])
        return data

    def _seek_and_read(self, at: int, n: int) -> Any:
        with self._lock:  # the position is common to all threads
            # A signal handler or a finalizer may read in the middle of a read of its thread.
            before = self.source.seek(0, os.SEEK_CUR) if self._is_reading else None
            self._is_reading = True
            try:
                self.source.seek(at)
                return _joined(n, lambda n, _: self.source.read(n))
            finally:
                self._is_reading = before is not None
                if before is not None:
                    self.source.seek(before)

    def _stated_size(self) -> Any:
        """What the object itself says, or None."""
        source = self.source
        size = getattr(source, "size", None)
        if size is not None:
            return size() if callable(size) else size
        if hasattr(source, "__len__"):
            return len(source)
        if hasattr(source, "seek"):
            with self._lock:
                return source.seek(0, os.SEEK_END)
        return None

    def _find_size(self, offset: int) -> int:
        """The object's own size, or else where the frame says that it ends."""
        source, size = self.source, self._stated_size()
        if size is not None:
            size = operator.index(size)
            if not 0 <= size < 1 << 63:
                raise ParameterError(f"{type(source).__name__} says that it has {size} bytes", field="size")
            return size
        place = offset + _FRAME_LEN_AT
        stored = bytes(memoryview(self.read(place, 8)).cast("B"))[:8]
        frame_len = int.from_bytes(stored, "big")
        if frame_len >= (1 << 63) - offset:
            raise CorruptError(
                f"the frame cannot be of {frame_len} bytes (field frame_len, byte {place})",
                path=self._name(),
                offset=place,
                field="frame_len",
                actual=frame_len,
            )
        # A frame of another length, or something that is no frame, is the parser's business.
        return offset + max(frame_len, _FRAME_LEN_AT + len(stored))

    def _name(self) -> str | None:
        """A file object's own name, for messages."""
        name = getattr(self.source, "name", None)
        return name if isinstance(name, str) else None

    def wrong_length(self, at: int, n: int, got: int) -> Blosc2Error:
        """Why a read that should give n bytes is no good."""
        what = f"reading {n} bytes of {type(self.source).__name__} at byte {at} gave {got}"
        facts: dict[str, Any] = {"path": self._name(), "field": "read_at", "expected": n, "actual": got}
        if got > n:
            return ParameterError(what, offset=at, **facts)
        return TruncatedError(what, offset=at + got, **facts)


# C has a pointer only: these keep the readers alive until it calls close.
_alive: dict[Any, Reader] = {}


def _after_fork() -> None:
    for reader in _alive.values():
        reader.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def user_read_at(handle: Any, at: int, dst: Any, n: int) -> int:
    try:
        reader = ffi.from_handle(handle)
        data = memoryview(nested(lambda: reader.read(at, n), reader.schunk)).cast("B")
        if len(data) != n:
            raise reader.wrong_length(at, n, len(data))
        ffi.memmove(dst, data, n)
    except BaseException as exc:  # raised again by check(), on the other side of C
        return _ffi.keep_failure(exc)
    return 0


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def user_size(handle: Any, size: Any) -> int:
    try:
        size[0] = ffi.from_handle(handle).size
    except BaseException as exc:
        return _ffi.keep_failure(exc)
    return 0


@ffi.def_extern()  # type: ignore[untyped-decorator]
def user_close(handle: Any, alive: dict[Any, Reader] = _alive) -> None:
    alive.pop(handle, None)  # globals may be gone at the end of the process


def open_reader(source: Any, offset: int, bounds: limits.Limits | None = None) -> Handle:
    """Open the frame that starts at byte `offset` of an object.

    Parameters
    ----------
    source : an object with ``read_at(offset, size)``; or with ``read_ranges([(offset, size), ...])``,
        which gives a list; or a file object with read() and seek().  All give exactly the bytes
        asked for.  ``size`` (attribute or method) or ``len()`` tell how many there are; when the object
        has neither, the length that the frame's header states is taken.
    bounds : what to accept; None: the default limits

    Raises
    ------
    Whatever the methods of `source` raise, besides the errors of open(); ParameterError for one that changes or
    closes what is read through it, of which it may only read; ValueError for a size that is
    negative or beyond 2^63 - 1, TypeError for one that is no integer.  TruncatedError when a read gives
    less than was asked for, ParameterError when it gives more.
    """
    reader = Reader(source, offset)
    handle = ffi.new_handle(reader)
    table = ffi.new("b2c_io_table *")
    table.handle, table.read_at = handle, lib.user_read_at
    table.size, table.close = lib.user_size, lib.user_close
    _alive[handle] = reader
    _ffi.may_call_back()
    out, err = new_out(), new_error()
    check(lib.b2c_schunk_open_io(table, offset, limits.c_limits_of(bounds), out, err), err)
    opened = Handle(out)
    opened.limits = bounds
    reader.schunk = opened.get()
    return opened
