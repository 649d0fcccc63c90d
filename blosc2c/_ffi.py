"""The boundary to C: errors, buffers, threads and handles.  Nobody else imports the extension.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import os
import sys
import threading
import warnings
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from . import errors
from ._b2c import ffi as ffi
from ._b2c import lib as lib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Buffer: TypeAlias = Any  # an object with the buffer protocol

T = TypeVar("T")

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
    lib.B2C_E_CONFLICT: errors.ConflictError,
    lib.B2C_E_CALLBACK: errors.InternalError,
    lib.B2C_E_INTERNAL: errors.InternalError,
}


def text(chars: Any) -> str:
    """A C string as str; '' for NULL."""
    return str(ffi.string(chars).decode()) if chars != ffi.NULL else ""


_ERROR = ffi.typeof("b2c_error *")  # found again it costs as much as the rest


def new_error() -> Any:
    """A b2c_error to hand to a call and then to check()."""
    return ffi.new(_ERROR)


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
        facts = facts_of(err)
        if status in _UNKNOWN and "actual" in facts:
            what = f"{_unknown(status, facts.pop('actual'))}: {what}"
            del facts["expected"]
    sizes = "asked for {actual}, there are {expected}" if status == lib.B2C_E_RANGE else _SIZES
    message = _describe(what, facts, path, sizes)
    if status == lib.B2C_E_LIMIT and facts.get("field") in _LIMITS and facts.get("actual"):
        name = _LIMITS[facts["field"]]
        message += f"; limits=Limits({name}={facts['actual']}) allows it"
    if status in _UNKNOWN and err is not None:
        unknown = _EXCEPTIONS[status](message, path=path, **facts)
        unknown.__cause__ = broken_plugins.get((_UNKNOWN[status], err.actual))
        return unknown
    if status == lib.B2C_E_MEMORY:
        return MemoryError(message)
    if status == lib.B2C_E_CALLBACK and err is not None and err.sys_errno in _failures:
        return _failures.pop(err.sys_errno)
    if status in (lib.B2C_E_IO, lib.B2C_E_LOCKED):
        failure = _os_error(status, err, message, path)
        failure.chunk = facts.get("chunk")  # type: ignore[attr-defined]
        return failure
    return _EXCEPTIONS.get(status, errors.InternalError)(message, path=path, **facts)


def facts_of(err: Any) -> dict[str, Any]:
    """What a b2c_error tells, under the names of Blosc2Error's attributes."""
    facts = {
        "offset": None if err.offset == lib.B2C_NO_OFFSET else err.offset,
        "field": text(err.field) or None,
        "chunk": None if err.chunk == lib.B2C_NO_NUMBER else err.chunk,
        "block": None if err.block == lib.B2C_NO_NUMBER else err.block,
    }
    if err.expected or err.actual:
        facts.update(expected=err.expected, actual=err.actual)
    return facts


# Limits as C and as Python call them.
_LIMITS = {
    "max_nbytes": "max_nbytes",
    "max_chunk_nbytes": "max_chunk_nbytes",
    "max_meta_nbytes": "max_meta_nbytes",
    "max_nchunks": "max_chunks",
    "max_nmeta": "max_metalayers",
    "max_ndim": "max_ndim",
    "max_open_files": "max_open_files",
}
_UNKNOWN = {lib.B2C_E_UNKNOWN_CODEC: "codec", lib.B2C_E_UNKNOWN_FILTER: "filter"}


def _unknown(status: int, number: int) -> str:
    """A codec or filter that nobody has, by number and name."""
    name_of = lib.b2c_codec_name if status == lib.B2C_E_UNKNOWN_CODEC else lib.b2c_filter_name
    name = text(name_of(number))
    return f"{_UNKNOWN[status]} {number}" + (f" ({name})" if name else "")


# What packages raised that should have registered a codec or filter.
broken_plugins: dict[tuple[str, int], BaseException] = {}


@ffi.def_extern()  # type: ignore[untyped-decorator]
def plugin_wanted(kind: int, number: int) -> None:
    from .plugins import load

    load(kind, number)


lib.b2c_set_plugin_loader(lib.plugin_wanted)

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


def escaped(kind: Any, exc: BaseException, tb: Any) -> int:
    """Of functions called from C: what to do about an exception that a signal raised outside their try."""
    return keep_failure(exc)


_SIZES = "expected {expected}, not {actual}"


def _describe(what: str, facts: dict[str, Any], path: str | None, sizes: str) -> str:
    where = [path] if path else []
    where += [f"{name} {facts[name]}" for name in ("chunk", "block", "field") if facts.get(name) is not None]
    if facts.get("offset") is not None:
        where.append(f"byte {facts['offset']}")
    message = f"{what} ({', '.join(where)})" if where else what
    if "expected" in facts:
        message += ": " + sizes.format_map(facts)
    return message


def _os_error(status: int, err: Any, message: str, path: str | None) -> OSError:
    number = err.sys_errno if err is not None else 0
    if status == lib.B2C_E_LOCKED:
        number = number or errno.EAGAIN
    if not number:
        return OSError(message)
    # OSError picks FileNotFoundError, PermissionError... by itself from the number.
    return OSError(number, os.strerror(number), path) if path else OSError(number, message)


def chunk_of(exc: BaseException) -> int | None:
    """The chunk whose damage `exc` reports, if it does."""
    chunk = getattr(exc, "chunk", None)
    return chunk if isinstance(exc, errors.FormatError | OSError) else None


# ---- Buffers ---------------------------------------------------------------


def _held_unseen(view: memoryview) -> Any:
    """The memory of `view` as an object through which the garbage collector does not see `view`.

    What cffi holds of a memoryview ends the process when both are garbage in a cycle, as what is in
    the traceback of a kept exception: CPython clears the view although its memory is still in use.
    """
    import numpy as np

    return np.frombuffer(view, np.uint8) if view.nbytes else view.tobytes()


def in_buffer(src: Buffer, name: str = "src") -> Any:
    """The bytes of a C-contiguous buffer, without copying; len() counts bytes."""
    try:
        return ffi.from_buffer(_held_unseen(src) if type(src) is memoryview else src)
    except TypeError:
        raise TypeError(f"{name} must be a bytes-like object, not {type(src).__name__}") from None
    except (ValueError, BufferError):
        raise errors.ParameterError(
            f"{name} is not C-contiguous; make a copy first (numpy.ascontiguousarray)", field=name
        ) from None


_from_buffer, _BYTES = ffi.from_buffer, ffi.typeof("char[]")  # found again they cost 100 ns


def out_buffer(dst: Buffer, name: str = "dst") -> Any:
    """The bytes of a writable C-contiguous buffer."""
    try:
        if type(dst) is memoryview and dst.nbytes:
            dst = _held_unseen(dst)
        return _from_buffer(_BYTES, dst, True)  # require_writable; keywords cost 100 ns
    except TypeError:
        raise TypeError(f"{name} must be a writable bytes-like object, not {type(dst).__name__}") from None
    except (ValueError, BufferError):
        raise errors.ParameterError(f"{name} must be writable and C-contiguous", field=name) from None


raw_memory = ffi.new_allocator(should_clear_after_alloc=False)
SMALL_NBYTES = 1 << 15  # results up to this are copied from scratch memory of the thread
HEADER_NBYTES: int = lib.B2C_HEADER_LEN
_HUGE_NBYTES = 1 << 22  # results from this on are worth pages of 2 MB

if sys.implementation.name == "cpython":
    import ctypes  # numpy has it already

    # Bytes objects that are not filled with zeros first, and that can be cut to the size needed.
    # Nobody else has seen them while C writes into them; they are longer than those CPython shares.
    _new_bytes: Any = ctypes.pythonapi.PyBytes_FromStringAndSize
    _new_bytes.restype, _new_bytes.argtypes = ctypes.py_object, (ctypes.c_char_p, ctypes.c_ssize_t)
    _resize_bytes: Any = ctypes.pythonapi._PyBytes_Resize
    _resize_bytes.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_ssize_t)
    _take, _drop = ctypes.pythonapi.Py_IncRef, ctypes.pythonapi.Py_DecRef
    _take.argtypes = _drop.argtypes = (ctypes.py_object,)
    _take.restype = _drop.restype = None
else:
    _new_bytes = None


def _empty_bytes(nbytes: int) -> Any:
    out = _new_bytes(None, nbytes)
    if nbytes >= _HUGE_NBYTES:
        lib.b2c_advise_huge_pages(out, nbytes)
    return out


def bytes_from(nbytes: int, fill: Callable[[Any], None]) -> bytes:
    """A bytes object of `nbytes` whose memory `fill(char *)` writes."""
    if nbytes > SMALL_NBYTES and _new_bytes is not None:
        out = _empty_bytes(nbytes)
        fill(ffi.from_buffer(out))
        return bytes(out)
    scratch = raw_memory("char[]", max(nbytes, 1))
    fill(scratch)
    return bytes(ffi.buffer(scratch, nbytes))


def cut_bytes(room: int, fill: Callable[[Any], int]) -> bytes:
    """A bytes object of what `fill(char *)` writes into `room` bytes and returns the length of."""
    if room <= SMALL_NBYTES or _new_bytes is None:
        scratch = raw_memory("char[]", max(room, 1))
        return bytes(ffi.buffer(scratch, fill(scratch)))
    out = _empty_bytes(room)
    nbytes = fill(out)
    if nbytes < room:
        # A number, for an object of ctypes would keep the address that the bytes had before.
        address = ctypes.c_void_p(id(out))
        _take(out)
        del out  # that reference must be the only one
        _resize_bytes(ctypes.byref(address), nbytes)
        out = ctypes.cast(address, ctypes.py_object).value
        _drop(out)
    return bytes(out)


def sized_bytes(
    call: Callable[[Any, int, Any, Any], int],
    guess: int,
    path: str | None = None,
    check_size: Callable[[int], Any] | None = None,
) -> bytes:
    """The output of `call(dst, cap, dst_len, err)`, which tells the size it needs.

    check_size : raises when that is too much; called before there is memory for more than `guess`
    """
    need, err = ffi.new("size_t *"), new_error()
    cap = guess
    while True:
        too_small = False

        def fill(dst: Any) -> int:
            nonlocal too_small
            status = call(dst, cap, need, err)  # noqa: B023
            too_small = status == lib.B2C_E_OUTPUT_SIZE and need[0] > cap  # noqa: B023
            if not too_small:
                check(status, err, path)
            if check_size is not None:
                check_size(int(need[0]))
            return 0 if too_small else int(need[0])

        out = cut_bytes(cap, fill)
        if not too_small:
            return out
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
    lent: tuple[Handle, ...] = ()  # objects whose calls this thread works for
    ctx: Any = None
    pool: Any = None
    nthreads: int = 0
    nrefs: int = 0  # references to ctx when no call uses it, without those of small
    small: Any = None  # see small_call()


_local = _Local()

# Whether C may call Python code: a signal handler or a finalizer may run at its first step, before
# nested(), and must not use the context of the call that is under way.
calls_back = False


def may_call_back() -> None:
    global calls_back
    calls_back = True


def _nrefs(local: _Local) -> int:
    return sys.getrefcount(local.ctx) if hasattr(sys, "getrefcount") else 0


def _is_in_use(local: _Local) -> bool:
    """Whether somebody further up holds this thread's context, or what small_call() gave with it."""
    if local.small is None:
        return local.ctx is not None and _nrefs(local) > local.nrefs
    return local.small[4][0] or _nrefs(local) > local.nrefs + 1


def context(nthreads: int = 0, nbytes: int | None = None) -> Any:
    """This thread's b2c_ctx, set to `nthreads` (0: the default); small jobs run serially."""
    if nbytes is not None and nbytes < SERIAL_NBYTES:
        nthreads = 1
    elif not nthreads:
        nthreads = threads.nthreads
    local = _local
    if nthreads == local.nthreads and local.pool is threads.pool and not (calls_back and _is_in_use(local)):
        return local.ctx
    return _prepare_context(local, nthreads)


@contextlib.contextmanager
def collecting_damage(path: str | None) -> Iterator[Callable[[], list[BaseException]]]:
    """Reads of this thread go on past damaged chunks; what is given tells those of a read that failed.

    They come in the order of the chunks, and of the blocks of a chunk.
    """
    ctx, err, damage = _local.ctx or context(), new_error(), new_error()

    def found() -> list[BaseException]:
        failures: list[tuple[int, int, BaseException]] = []
        while lib.b2c_ctx_damage(ctx, len(failures), damage, err) == lib.B2C_OK:
            failures.append((damage.chunk, damage.block, exception(damage.status, damage, path)))
        return [exc for _, _, exc in sorted(failures, key=lambda failure: failure[:2])]

    check(lib.b2c_ctx_collect_damage(ctx, True, err), err)
    _local.nrefs += 1  # the reads are to use it
    try:
        yield found
    finally:
        _local.nrefs -= _local.ctx is ctx
        check(lib.b2c_ctx_collect_damage(ctx, False, err), err)


def _prepare_context(local: _Local, nthreads: int) -> Any:
    pool = threads.pool_for(nthreads)
    err = new_error()
    if local.ctx is None or local.pool is not pool or (calls_back and _is_in_use(local)):
        out = ffi.new("b2c_ctx **")
        check(lib.b2c_ctx_new(pool or ffi.NULL, nthreads, ffi.NULL, out, err), err)

        # The default argument keeps the pool alive for as long as the context.
        def free(ctx: Any, _pool: Any = pool) -> None:
            lib.b2c_ctx_free(ctx)

        local.ctx, local.pool, local.small = ffi.gc(out[0], free), pool, None
        local.nrefs = _nrefs(local)
    else:
        check(lib.b2c_ctx_set_nthreads(local.ctx, nthreads, err), err)
    local.nthreads = nthreads
    return local.ctx


def serial_context() -> Any:
    """This thread's b2c_ctx with any number of threads, for C does jobs below SERIAL_NBYTES in one."""
    local = _local
    if local.ctx is None or (calls_back and _is_in_use(local)):
        return _prepare_context(local, 1)
    return local.ctx


def small_call() -> Any:
    """What short calls need, kept per thread: ``(ctx, scratch, size_t *, b2c_error *, is_taken)``.

    It is the caller's alone until that sets ``is_taken[0] = False``, for a signal handler or a
    finalizer may call as well; after an exception this need not be done.  The context is that of
    serial_context(), the scratch memory holds SMALL_NBYTES and a chunk header.
    """
    small = _local.small
    if small is None or small[4][0] or (calls_back and _is_in_use(_local)):
        ctx, scratch = serial_context(), raw_memory("char[]", SMALL_NBYTES + HEADER_NBYTES)
        small = _local.small = ctx, scratch, ffi.new("size_t *"), new_error(), [True]
    small[4][0] = True
    return small


def nested(call: Callable[[], T], schunk: Any = ffi.NULL) -> T:
    """What `call` gives, Python code that C calls: what it calls in turn gets a context of its own.

    This thread's context is in use by the call that is under way.  When that is for a b2c_schunk,
    the code may read it, not change it.
    """
    local = _local
    kept = local.lent, local.ctx, local.pool, local.nthreads, local.nrefs, local.small
    try:
        handle = handle_at(schunk)
        if handle is not None:
            local.lent = (*local.lent, handle)
        local.ctx, local.pool, local.nthreads, local.small = None, None, 0, None
        return call()
    finally:  # and no context manager, whose own steps a signal handler may interrupt
        local.lent, local.ctx, local.pool, local.nthreads, local.nrefs, local.small = kept


# ---- Handles ---------------------------------------------------------------


MIN_PAUSE, MAX_PAUSE = 5e-5, 1e-3  # seconds between two looks whether the last reader has left


def _address(ptr: Any) -> int:
    return int(ffi.cast("uintptr_t", ptr))


# Plain dictionaries of weak references, from which handles take themselves: a WeakValueDictionary
# takes five times as long.
_handles: dict[int, weakref.ref[Handle]] = {}  # by id()
_by_address: dict[int, weakref.ref[Handle]] = {}  # open ones, until just before the C object goes


def handle_at(ptr: Any) -> Handle | None:
    """The handle of a C object, if it has one."""
    ref = _by_address.get(_address(ptr))
    handle = None if ref is None else ref()
    return None if handle is None or handle.is_closed else handle


class Handle:
    """A C object that threads share: many readers, or one writer.

    ``with handle as ptr`` keeps the object alive and unchanged during the block;
    ``with handle.writing() as ptr`` waits for the readers and keeps everybody else out.
    close() is a writer too, so that no thread is left with a freed pointer.
    A handle with a lock file holds that meanwhile, and sees what other processes have stored.

    A signal handler may raise an exception between any two steps of Python code, such as those of
    an __exit__().  A reader is therefore a view of a bytearray, which keeps its size while there is
    one; the with statement has nothing but the view, and releases it by C code.
    """

    _turns: threading.RLock  # held to write, or to wait for others
    _cond: threading.Condition  # of those who wait
    _ptr: Any = None

    writes_to: str | None = None  # path of a file that is to be closed
    _locks: str | None = None
    limits: Any = None  # Limits of what it returns; None: the default
    is_new = False  # made here, not opened: its metalayers may have any size
    may_outdate = False  # others may change what it was opened on
    # Damaged chunks, which are read as zeros, and what is wrong; None: that is an error.
    damage: dict[int, BaseException] | None = None
    _closed_because = ""
    _unstored: BaseException | None = None  # why settle() failed, of which nobody has been told
    _nwriters = 0  # that wait or write
    _nwaiting = 0  # of those
    _writer = 0  # thread that is writing
    _is_free = True  # to be read at once: open, no writer about, no lock file
    _is_locked = False  # readers hold the lock file
    owner: weakref.ref[Any] | None = None  # the SChunk that shows it

    def __init__(self, ptr: Any, free: Any, noun: str) -> None:
        self._address = _address(ptr)
        self._ptr = ffi.gc(ptr, free)
        self.noun = noun
        self._filled: dict[int, int] = {}  # how many damaged chunks there were before each of them
        self._followers: dict[int, weakref.ref[Any]] = {}  # by id(); a WeakSet takes far longer
        self._views = bytearray()  # each reader has one
        self.called: dict[str, Any] = {}  # what C calls for it, by kind
        _handles[id(self)] = _by_address[self._address] = weakref.ref(self)

    def __getattr__(self, name: str) -> Any:
        """What threads wait with: made when first somebody may have to."""
        if name == "_turns":
            return self.__dict__.setdefault(name, threading.RLock())
        if name == "_cond":
            return self.__dict__.setdefault(name, threading.Condition(self._turns))
        raise AttributeError(name)

    @property
    def locks(self) -> str | None:
        """Path of a frame with a lock file."""
        return self._locks

    @locks.setter
    def locks(self, path: str | None) -> None:
        self._locks = path
        self._update()

    def _update(self) -> None:
        self._is_free = not self._nwriters and self._ptr is not None and self._locks is None

    @property
    def is_closed(self) -> bool:
        return self._ptr is None

    def get(self) -> Any:
        """The pointer, for those who hold the handle already; ClosedError when there is none."""
        if self._ptr is None:
            raise errors.ClosedError(f"I/O operation on closed {self.noun}{self._closed_because}")
        return self._ptr

    @property
    def __exit__(self) -> Callable[..., None]:
        """Enter: what the with statement looks up before it calls __enter__(), and calls at the end."""
        # A reader has a view before it looks at the flag, and a writer clears the flag before it
        # looks for views: so one of them sees the other, without a lock.
        leave = memoryview(self._views).__exit__
        if self._is_free:
            return leave
        if self in _local.lent:
            self.get()
            return leave  # whoever holds it waits for this thread
        leave(None, None, None)
        return self._enter_in_turn()

    def __enter__(self) -> Any:
        return self._ptr

    def _enter_in_turn(self) -> Callable[..., None]:
        with self._turns:
            # Readers let a waiting writer go first, or it might wait for ever; but not the
            # writer itself, when it reads what it is changing.
            while self._nwaiting and self._writer != threading.get_ident():
                self._cond.wait()
            ptr = self.get()
            self._update()  # an exception may have kept the last writer from it
            if self.locks is None:
                return memoryview(self._views).__exit__
            if not self._is_locked:
                self._lock(ptr, False)
                self._is_locked = True
            view = memoryview(self._views)
            leave = functools.partial(self._leave, weakref.ref(view))
            leave.view = view  # type: ignore[attr-defined]
            return leave

    def _leave(self, ref: Callable[[], memoryview | None], *_: object) -> None:
        # Only a weak reference: an exception would keep this frame, and with it the view.
        with self._turns:
            ref().release()  # type: ignore[union-attr]
            if not self._is_read():
                self._unlock_read()

    def _is_read(self) -> bool:
        try:
            self._views.append(0)
            self._views.pop()
        except BufferError:
            return True
        return False

    def _unlock_read(self) -> None:
        if self._is_locked:
            self._unlock()
            self._is_locked = False

    @contextlib.contextmanager
    def writing(self) -> Iterator[Any]:
        """Wait until nobody reads, and keep everybody else out during the block."""
        if self.damage is not None:
            raise errors.ReadOnlyError(f"the {self.noun} was opened with on_damage='fill', for reading")
        with self._alone() as ptr:
            if self._unstored is not None:
                self._raise_unstored()
            if self.locks is None:
                yield ptr
                return
            self._lock(ptr, self.writes_to is not None)
            try:
                yield ptr
            finally:
                self._unlock()

    @contextlib.contextmanager
    def _alone(self, closes: bool = False) -> Iterator[Any]:
        """writing(), as far as this process is concerned; who closes may find it closed."""
        if self in _local.lent:
            raise errors.ParameterError(f"a callback cannot change the {self.noun} that it works for")
        with self._turns:
            self._nwriters += 1
            self._is_free = False
            try:
                self._wait_for_readers()
                outer, self._writer = self._writer, threading.get_ident()
                try:
                    yield None if closes else self.get()
                finally:
                    self._writer = outer
            finally:
                self._nwriters -= 1
                self._update()

    def _wait_for_readers(self) -> None:
        self._nwaiting += 1
        try:
            pause = MIN_PAUSE
            while self._is_read():
                self._cond.wait(pause)
                pause = min(2 * pause, MAX_PAUSE)
            self._unlock_read()  # an exception may have kept the last reader from it
        finally:
            self._nwaiting -= 1
            self._cond.notify_all()

    def _lock(self, ptr: Any, exclusive: bool) -> None:
        changed, err = ffi.new("int *", -1), new_error()
        try:
            status = lib.b2c_schunk_lock(ptr, exclusive, changed, err)
            while status == lib.B2C_E_IO and err.sys_errno == errno.EINTR:
                # Python's signal handlers run between two calls.
                status = lib.b2c_schunk_lock(ptr, exclusive, changed, err)
            check(status, err, self.locks)
            if changed[0]:
                self.tell(ptr)
        except BaseException:
            if changed[0] >= 0:  # the call has succeeded
                self._unlock()
            raise

    def _unlock(self) -> None:
        if self.locks is not None and self._ptr is not None:
            err = new_error()
            check(lib.b2c_schunk_unlock(self._ptr, err), err, self.locks)

    def recheck(self) -> bool:
        """After a read: whether it was of a state whose chunks are still there.

        If not, the object shows the present state from now on.
        """
        if not self.may_outdate:
            return True
        with self as ptr:
            if lib.b2c_schunk_is_current(ptr):
                return True
        lost, err = ffi.new("int *"), new_error()
        with self._alone() as ptr:
            check(lib.b2c_schunk_recheck(ptr, lost, err), err)
            if lost[0]:
                self.tell(ptr)
        return not lost[0]

    def refresh(self, path: str | None) -> bool:
        """See what others have stored; whether that is anything new."""
        change, err = ffi.new("int *"), new_error()
        with self._alone() as ptr:
            check(lib.b2c_schunk_refresh(ptr, change, err), err, path)
            if change[0] != lib.B2C_CHANGE_NONE:
                self.tell(ptr)
        return bool(change[0] != lib.B2C_CHANGE_NONE)

    def fill(self, failures: list[BaseException], known: int, path: str | None) -> None:
        """After a read that failed for damaged chunks alone: they are zeros from now on.

        known : how many there were before the read.  What it has found in one of those, or is not
            the damage of a chunk, is raised
        """
        if self.damage is None:
            raise failures[0]
        for exc in failures:
            chunk = chunk_of(exc)
            if chunk is None or self._filled.get(chunk, known) < known:
                raise exc
            with self._alone() as ptr:
                if chunk in self.damage:  # another thread, or another block of it
                    continue
                self._fill(ptr, chunk, path)
                self._filled[chunk] = len(self.damage)
                self.damage[chunk] = exc
            where = f"{path}: " if path else ""
            warnings.warn(f"{where}chunk {chunk} is read as zeros: {exc}", errors.DamageWarning, 2)

    def _fill(self, ptr: Any, chunk: int, path: str | None) -> None:
        err = new_error()
        check(lib.b2c_schunk_update_special(ptr, chunk, lib.B2C_SPECIAL_ZERO, ffi.NULL, err), err, path)
        self.tell(ptr)

    def settle(self) -> None:
        """Store what closing would; nothing when somebody is using the object.

        A failure is not that of who calls this: the next edit, or close(), raises it.
        """
        if not self._turns.acquire(blocking=False):
            return
        try:
            if self not in _local.lent and not (self._writer or self._is_read() or self.is_closed):
                err = new_error()
                with self._alone() as ptr:
                    status = lib.b2c_schunk_settle(ptr, err)
                    if status:
                        self._unstored = exception(status, err, self.writes_to)
        finally:
            self._turns.release()

    def _raise_unstored(self) -> None:
        failure, self._unstored = self._unstored, None
        if failure is not None:
            raise failure

    def add_follower(self, follower: Any) -> None:
        """Let it be told of every new state, by follow(ptr), as long as it lives."""
        key, followers = id(follower), self._followers
        followers[key] = weakref.ref(follower, lambda _: followers.pop(key, None))

    def drop_follower(self, follower: Any) -> None:
        self._followers.pop(id(follower), None)

    def followers(self) -> list[Any]:
        found = [ref() for ref in list(self._followers.values())]
        return [follower for follower in found if follower is not None]

    def tell(self, ptr: Any) -> None:
        """Those who have derived something from the object learn that it shows a new state.

        All of them do, also when some raise; then the first exception is raised.
        """
        failures = []
        for follower in self.followers():
            try:
                follower.follow(ptr)
            except Exception as exc:
                failures.append(exc)
        if failures:
            raise failures[0]

    def close(self, close: Callable[[Any, Any], int], path: str | None) -> None:
        """Call close(ptr, err), which frees; nothing happens the second time."""
        if self._ptr is None:
            return
        with self._alone(closes=True):
            ptr = self.__dict__.pop("_ptr", None)  # in one step: a signal handler may close it, too
            if ptr is None:
                return
            _by_address.pop(self._address, None)
            err = new_error()
            ffi.gc(ptr, None)  # the call frees, also when it fails
            check(close(ptr, err), err, path)
            self._raise_unstored()

    def after_fork(self) -> None:
        """In a forked child: the threads that held the lock do not exist here.

        A file has one writer, and that is the parent: the child must not even close it.
        """
        self._nwriters = self._nwaiting = self._writer = 0
        self._views, self._is_locked = bytearray(), False
        self._turns = threading.RLock()
        self._cond = threading.Condition(self._turns)
        if self.writes_to is not None and self._ptr is not None:
            ffi.gc(self._ptr, None)
            self._ptr = None
            self._closed_because = ": it is being written by the process that this one was forked from"
        self._update()

    # The default arguments, because globals may be gone at the end.
    def __del__(
        self, warn: Any = warnings.warn, handles: Any = _handles, by_address: Any = _by_address
    ) -> None:
        if self._ptr is not None and self.writes_to is not None:
            # Whoever records the warning may bring the handle to life again.
            warn(f"{self.writes_to} was open for writing and never closed", ResourceWarning, 2, source=self)
            return
        handles.pop(id(self), None)
        if self._ptr is not None:
            by_address.pop(self._address, None)


def writers() -> list[Handle]:
    """The open handles that write to files."""
    handles = [ref() for ref in list(_handles.values())]
    return [h for h in handles if h is not None and h.writes_to is not None and not h.is_closed]


def _after_fork() -> None:
    threads.lock = threading.Lock()
    for ref in list(_handles.values()):
        handle = ref()
        if handle is not None:
            handle.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
