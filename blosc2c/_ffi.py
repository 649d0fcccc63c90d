"""The boundary to C: errors, buffers, threads and handles.  Nobody else imports the extension.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from . import errors
from ._b2c import ffi as ffi
from ._b2c import lib as lib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import TypeAlias

    Buffer: TypeAlias = Any  # an object with the buffer protocol

MAX_NTHREADS = 256
DEFAULT_MAX_NTHREADS = 8  # more threads rarely help one array; set_nthreads() goes higher
SERIAL_NBYTES = 1 << 18  # below this a thread hand-over costs more than it gains

# ---- Errors ----------------------------------------------------------------

_EXCEPTIONS: dict[int, type[errors.Blosc2Error]] = {
    lib.B2C_E_ARGUMENT: errors.ParameterError,
    lib.B2C_E_RANGE: errors.ChunkIndexError,
    lib.B2C_E_OUTPUT_SIZE: errors.ParameterError,
    lib.B2C_E_READ_ONLY: errors.ReadOnlyError,
    lib.B2C_E_EXISTS: errors.FrameExistsError,
    lib.B2C_E_NOT_FOUND: errors.NotFoundError,
    lib.B2C_E_FORMAT: errors.FormatError,
    lib.B2C_E_CORRUPT: errors.CorruptError,
    lib.B2C_E_TRUNCATED: errors.TruncatedError,
    lib.B2C_E_UNSUPPORTED: errors.FormatError,
    lib.B2C_E_UNKNOWN_CODEC: errors.UnknownCodecError,
    lib.B2C_E_UNKNOWN_FILTER: errors.UnknownFilterError,
    lib.B2C_E_CHECKSUM: errors.ChecksumError,
    lib.B2C_E_LIMIT: errors.LimitError,
    lib.B2C_E_CALLBACK: errors.InternalError,
    lib.B2C_E_INTERNAL: errors.InternalError,
}


def text(chars: Any) -> str:
    """A C string as str; '' for NULL."""
    return str(ffi.string(chars).decode()) if chars != ffi.NULL else ""


def new_error() -> Any:
    """A b2c_error to hand to a call and then to check()."""
    return ffi.new("b2c_error *")


def check(status: int, err: Any = None, path: str | None = None) -> None:
    """Raise the exception that `status` stands for; return if it is success."""
    if status != lib.B2C_OK:
        raise exception(status, err, path)


def exception(status: int, err: Any = None, path: str | None = None) -> BaseException:
    """The exception for a failing `status`; `err` and `path` tell the circumstances."""
    what = text(lib.b2c_status_text(status))
    if err is None:
        facts: dict[str, Any] = {}
    else:
        what = text(err.what) or what
        facts = {
            "offset": None if err.offset == lib.B2C_NO_OFFSET else err.offset,
            "field": text(err.field) or None,
            "chunk": None if err.chunk == lib.B2C_NO_NUMBER else err.chunk,
            "block": None if err.block == lib.B2C_NO_NUMBER else err.block,
        }
        if err.expected or err.actual:
            facts.update(expected=err.expected, actual=err.actual)
    message = _describe(what, facts, path, "there are" if status == lib.B2C_E_RANGE else "expected")
    if status == lib.B2C_E_MEMORY:
        return MemoryError(message)
    if status == lib.B2C_E_CALLBACK and err is not None and err.sys_errno in _failures:
        return _failures.pop(err.sys_errno)
    if status in (lib.B2C_E_IO, lib.B2C_E_LOCKED):
        return _os_error(status, err, message, path)
    return _EXCEPTIONS.get(status, errors.InternalError)(message, path=path, **facts)


# Exceptions on their way through C, by the number that stands for them there.
_failures: dict[int, BaseException] = {}
_failure_numbers = itertools.count(1 << 20)  # no errno
_MAX_FAILURES = 64  # C drops some: of several at once it reports one


def keep_failure(exc: BaseException) -> int:
    """The number by which a function called from C reports `exc`; check() raises it."""
    number = next(_failure_numbers) & 0x7FFFFFFF
    _failures[number] = exc
    for old in list(_failures)[:-_MAX_FAILURES]:
        _failures.pop(old, None)
    return number


def _describe(what: str, facts: dict[str, Any], path: str | None, relation: str) -> str:
    where = [path] if path else []
    where += [f"{name} {facts[name]}" for name in ("chunk", "block", "field") if facts.get(name) is not None]
    if facts.get("offset") is not None:
        where.append(f"byte {facts['offset']}")
    message = f"{what} ({', '.join(where)})" if where else what
    if "expected" in facts:
        message += f": {relation} {facts['expected']}, not {facts['actual']}"
    return message


def _os_error(status: int, err: Any, message: str, path: str | None) -> OSError:
    import errno

    number = err.sys_errno if err is not None else 0
    if status == lib.B2C_E_LOCKED:
        number = number or errno.EAGAIN
    if not number:
        return OSError(message)
    # OSError picks FileNotFoundError, PermissionError... by itself from the number.
    return OSError(number, os.strerror(number), path) if path else OSError(number, message)


# ---- Buffers ---------------------------------------------------------------


def in_buffer(src: Buffer, name: str = "src") -> Any:
    """The bytes of a C-contiguous buffer, without copying; len() counts bytes."""
    try:
        return ffi.from_buffer(src)
    except TypeError:
        raise TypeError(f"{name} must be a bytes-like object, not {type(src).__name__}") from None
    except (ValueError, BufferError):
        raise errors.ParameterError(
            f"{name} is not C-contiguous; make a copy first (numpy.ascontiguousarray)", field=name
        ) from None


def out_buffer(dst: Buffer, name: str = "dst") -> Any:
    """The bytes of a writable C-contiguous buffer."""
    try:
        return ffi.from_buffer(dst, require_writable=True)
    except TypeError:
        raise TypeError(f"{name} must be a writable bytes-like object, not {type(dst).__name__}") from None
    except (ValueError, BufferError):
        raise errors.ParameterError(f"{name} must be writable and C-contiguous", field=name) from None


raw_memory = ffi.new_allocator(should_clear_after_alloc=False)
_MAY_FILL_BYTES = sys.implementation.name == "cpython"


def bytes_from(nbytes: int, fill: Callable[[Any], None]) -> bytes:
    """A bytes object of `nbytes` whose memory `fill(char *)` writes.

    Large results are written in place: nobody else has seen the object yet, and it is longer
    than the ones that CPython shares.
    """
    if nbytes >= 4096 and _MAY_FILL_BYTES:
        out = bytes(nbytes)
        fill(ffi.from_buffer(out))
        return out
    scratch = raw_memory("char[]", max(nbytes, 1))
    fill(scratch)
    return bytes(ffi.buffer(scratch, nbytes))


def sized_bytes(call: Callable[[Any, int, Any, Any], int], guess: int, path: str | None = None) -> bytes:
    """The output of `call(dst, cap, dst_len, err)`, which tells the size it needs."""
    need, err = ffi.new("size_t *"), new_error()
    cap = guess
    while True:
        dst = raw_memory("char[]", max(cap, 1))
        status = call(dst, cap, need, err)
        if status != lib.B2C_E_OUTPUT_SIZE or need[0] <= cap:
            check(status, err, path)
            return bytes(ffi.buffer(dst, need[0]))
        cap = need[0]


# ---- Threads ---------------------------------------------------------------


def count_cores() -> int:
    """Cores that this process may run on."""
    try:
        return max(len(os.sched_getaffinity(0)), 1)
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1


def _default_nthreads() -> int:
    wish = os.environ.get("BLOSC_NTHREADS", "")
    if wish.isdigit() and 1 <= int(wish) <= MAX_NTHREADS:
        return int(wish)
    return min(count_cores(), DEFAULT_MAX_NTHREADS)


class _Threads:
    """The default number of threads and the pool that all contexts share."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.nthreads = _default_nthreads()
        self.pool: Any = None
        self.pool_size = 0

    def pool_for(self, nthreads: int) -> Any:
        """A pool of at least `nthreads`; None while one thread is enough."""
        if nthreads <= self.pool_size or nthreads == 1:
            return self.pool
        with self.lock:
            if nthreads > self.pool_size:
                out, err = ffi.new("b2c_pool **"), new_error()
                check(lib.b2c_pool_new(nthreads, out, err), err)
                # A pool that is replaced here lives on until its last context is gone.
                self.pool = ffi.gc(out[0], lib.b2c_pool_free)
                self.pool_size = nthreads
            return self.pool

    def forget_pool(self) -> None:
        with self.lock:
            self.pool, self.pool_size = None, 0


threads = _Threads()


class _Local(threading.local):
    ctx: Any = None
    pool: Any = None
    nthreads: int = 0


_local = _Local()


def context(nthreads: int = 0, nbytes: int | None = None) -> Any:
    """This thread's b2c_ctx, set to `nthreads` (0: the default); small jobs run serially."""
    if nbytes is not None and nbytes < SERIAL_NBYTES:
        nthreads = 1
    elif not nthreads:
        nthreads = threads.nthreads
    local = _local
    if nthreads == local.nthreads and local.pool is threads.pool:
        return local.ctx
    return _prepare_context(local, nthreads)


def _prepare_context(local: _Local, nthreads: int) -> Any:
    pool = threads.pool_for(nthreads)
    err = new_error()
    if local.ctx is None or local.pool is not pool:
        out = ffi.new("b2c_ctx **")
        check(lib.b2c_ctx_new(pool or ffi.NULL, nthreads, ffi.NULL, out, err), err)

        # The default argument keeps the pool alive for as long as the context.
        def free(ctx: Any, _pool: Any = pool) -> None:
            lib.b2c_ctx_free(ctx)

        local.ctx, local.pool = ffi.gc(out[0], free), pool
    else:
        check(lib.b2c_ctx_set_nthreads(local.ctx, nthreads, err), err)
    local.nthreads = nthreads
    return local.ctx


# ---- Handles ---------------------------------------------------------------


class Handle:
    """A C object that threads share: many readers, or one writer.

    ``with handle as ptr`` keeps the object alive and unchanged during the block;
    ``with handle.writing() as ptr`` waits for the readers and keeps everybody else out.
    close() is a writer too, so that no thread is left with a freed pointer.
    """

    def __init__(self, ptr: Any, free: Any, noun: str) -> None:
        self._ptr = ffi.gc(ptr, free)
        self.noun = noun
        self.writes_to: str | None = None  # path of a file that is to be closed
        self._closed_because = ""
        self._nreaders = 0
        self._nwaiting = 0  # writers
        self._writer = 0  # thread that is writing
        self._cond = threading.Condition(threading.RLock())
        _handles.add(self)

    @property
    def is_closed(self) -> bool:
        return self._ptr is None

    def get(self) -> Any:
        """The pointer, for those who hold the handle already; ClosedError when there is none."""
        if self._ptr is None:
            raise errors.ClosedError(f"I/O operation on closed {self.noun}{self._closed_because}")
        return self._ptr

    def __enter__(self) -> Any:
        with self._cond:
            # Readers let a waiting writer go first, or it might wait for ever; but not the
            # writer itself, when it reads what it is changing.
            while self._nwaiting and self._writer != threading.get_ident():
                self._cond.wait()
            ptr = self.get()
            self._nreaders += 1
            return ptr

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        with self._cond:
            self._nreaders -= 1
            if not self._nreaders:
                self._cond.notify_all()

    @contextlib.contextmanager
    def writing(self) -> Iterator[Any]:
        """Wait until nobody reads, and keep everybody else out during the block."""
        with self._cond:
            self._nwaiting += 1
            try:
                while self._nreaders:
                    self._cond.wait()
            finally:
                self._nwaiting -= 1
                self._cond.notify_all()
            outer, self._writer = self._writer, threading.get_ident()
            try:
                yield self.get()
            finally:
                self._writer = outer

    def close(self, close: Callable[[Any, Any], int], path: str | None) -> None:
        """Call close(ptr, err), which frees; nothing happens the second time."""
        if self._ptr is None:
            return
        with self.writing() as ptr:
            self._ptr = None
            err = new_error()
            ffi.gc(ptr, None)  # the call frees, also when it fails
            check(close(ptr, err), err, path)

    def replace(self, other: Handle) -> None:
        """Take over what `other`, which nobody else knows, refers to, and drop the own."""
        with self.writing():
            self._ptr, other._ptr = other._ptr, None

    def after_fork(self) -> None:
        """In a forked child: the threads that held the lock do not exist here.

        A file has one writer, and that is the parent: the child must not even close it.
        """
        self._nreaders = self._nwaiting = self._writer = 0
        self._cond = threading.Condition(threading.RLock())
        if self.writes_to is not None and self._ptr is not None:
            ffi.gc(self._ptr, None)
            self._ptr = None
            self._closed_because = ": it is being written by the process that this one was forked from"

    def __del__(self, warn: Any = warnings.warn) -> None:  # globals may be gone at the end
        if self.writes_to is not None and self._ptr is not None:
            warn(f"{self.writes_to} was open for writing and never closed", ResourceWarning, 2, source=self)


_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


def _after_fork() -> None:
    threads.lock = threading.Lock()
    for handle in list(_handles):
        handle.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
