"""The boundary to C: errors, buffers and threads.  Nobody else imports the extension.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import errno
import importlib.machinery
import itertools
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from . import _b2c, errors
from ._b2c import ffi as ffi
from ._b2c import lib as lib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from .handles import Handle

    Buffer: TypeAlias = Any  # an object with the buffer protocol


def _load_calls() -> Any:
    """The module of csrc/python/calls.c, the second one in the file of _b2c."""
    name, path = f"{__package__}._calls", _b2c.__file__
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    module = loader.create_module(importlib.machinery.ModuleSpec(name, loader, origin=path))
    loader.exec_module(module)
    return module


calls = _load_calls()

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


_ERROR, _ADDRESS = ffi.typeof("b2c_error *"), ffi.typeof("uintptr_t")  # found again they cost much


def address_of(ptr: Any) -> int:
    return int(ffi.cast(_ADDRESS, ptr))


def new_error() -> Any:
    """A b2c_error to hand to a call and then to check()."""
    return ffi.new(_ERROR)


def check(status: int, err: Any = None, path: str | None = None) -> None:
    """Raise the exception that `status` stands for; return if it is success."""
    if status != lib.B2C_OK:
        raise exception(status, err, path)


def check_call(given: tuple[int, bytes] | None, path: str | None) -> None:
    """Raise what a method of calls.c has given of a failure; None: it is to be done in another way."""
    if given is not None:
        status, err = given
        check(status, ffi.from_buffer("b2c_error *", err), path)


def uninterrupted(call: Callable[..., int], *args: Any) -> int:
    """The status of `call(*args)`, whose last argument is a b2c_error.

    It is called again when a signal came while it waited for a lock: Python's handlers run in between.
    """
    status = call(*args)
    while status == lib.B2C_E_IO and args[-1].sys_errno == errno.EINTR:
        status = call(*args)
    return status


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
    message = _describe(what, facts, path, _SIZES.get(status, "expected {expected}, not {actual}"))
    if status == lib.B2C_E_LIMIT and facts.get("field") in LIMITS and facts.get("actual"):
        message += f"; limits=Limits({facts['field']}={facts['actual']}) allows it"
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
    field = text(err.field)
    facts = {
        "offset": None if err.offset == lib.B2C_NO_OFFSET else err.offset,
        "field": _LIMIT_NAMES.get(field, field) or None,
        "chunk": None if err.chunk == lib.B2C_NO_NUMBER else err.chunk,
        "block": None if err.block == lib.B2C_NO_NUMBER else err.block,
    }
    if err.expected or err.actual:
        facts.update(expected=err.expected, actual=err.actual)
    return facts


# Limits as Python and as C call them.
LIMITS = {
    "max_nbytes": "max_nbytes",
    "max_chunk_nbytes": "max_chunk_nbytes",
    "max_meta_nbytes": "max_meta_nbytes",
    "max_chunks": "max_nchunks",
    "max_metalayers": "max_nmeta",
    "max_ndim": "max_ndim",
    "max_open_files": "max_open_files",
}
_LIMIT_NAMES = {c_name: name for name, c_name in LIMITS.items()}
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
    from .handles import nested
    from .plugins import load

    nested(lambda: load(kind, number))


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


_SIZES = {
    lib.B2C_E_RANGE: "asked for {actual}, there are {expected}",
    lib.B2C_E_LIMIT: "at most {expected}, not {actual}",
}


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
    reason = os.strerror(number)
    # EAGAIN and EINVAL are the library's own: of locks, and of what is no regular file.
    if err is not None and (number in (errno.EAGAIN, errno.EINVAL) or text(err.field) == "temporary name"):
        reason += f", {text(err.what)}"
    # OSError picks FileNotFoundError, PermissionError... by itself from the number.
    return OSError(number, message) if path is None else OSError(number, reason, path)


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
        raise errors.UnfitBufferError(
            f"{name} is not C-contiguous; make a copy first (numpy.ascontiguousarray)", field=name
        ) from None


def buffer_itemsize(data: Any) -> int:
    """Bytes of an item of a buffer; arrays tell it also for dtypes that buffers cannot describe."""
    itemsize = getattr(data, "itemsize", None)
    if itemsize is None or callable(itemsize):
        itemsize = memoryview(data).itemsize
    return max(int(itemsize), 1)


_from_buffer, _BYTES = ffi.from_buffer, ffi.typeof("char[]")  # found again they cost 100 ns


def _holds_objects(dst: Buffer) -> bool:
    dtype = getattr(dst, "dtype", None)  # what an array holds cannot always be told by a memoryview
    has = getattr(dtype, "hasobject", None)
    return "O" in memoryview(dst).format if has is None else bool(has)


def out_buffer(dst: Buffer, name: str = "dst") -> Any:
    """The bytes of a writable C-contiguous buffer, but not of Python objects: they would be any pointers."""
    try:
        held = _held_unseen(dst) if type(dst) is memoryview and dst.nbytes else dst
        out = _from_buffer(_BYTES, held, True)  # require_writable; keywords cost 100 ns
    except TypeError:
        raise TypeError(f"{name} must be a writable bytes-like object, not {type(dst).__name__}") from None
    except (ValueError, BufferError):
        raise errors.UnfitBufferError(f"{name} must be writable and C-contiguous", field=name) from None
    if _holds_objects(dst):
        raise TypeError(f"{name} must not hold Python objects: bytes cannot become pointers to them")
    return out


raw_memory = ffi.new_allocator(should_clear_after_alloc=False)
# Results up to this are copied from scratch memory.
SMALL_NBYTES = 1 << 16
HEADER_NBYTES: int = lib.B2C_HEADER_LEN
_MAY_FILL = sys.implementation.name == "cpython"  # elsewhere bytes objects move
_HUGE_NBYTES = 1 << 22  # results from this on are worth pages of 2 MB


def bytes_from(nbytes: int, fill: Callable[[Any], None]) -> bytes:
    """A bytes object of `nbytes` whose memory `fill(char *)` writes."""

    def fill_all(out: Any) -> int:
        fill(out)
        return nbytes

    return cut_bytes(nbytes, fill_all)


def cut_bytes(room: int, fill: Callable[[Any], int]) -> bytes:
    """A bytes object of what `fill(char *)` writes into `room` bytes and returns the length of."""
    if room <= SMALL_NBYTES or not _MAY_FILL:
        scratch = raw_memory("char[]", max(room, 1))
        return bytes(ffi.buffer(scratch, fill(scratch)))

    def fill_it(out: bytes) -> int:
        if room >= _HUGE_NBYTES:
            lib.b2c_advise_huge_pages(out, room)
        return fill(out)

    return bytes(calls.filled(room, fill_it))


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
    waits = False  # to write to an object that others read
    ctx: Any = None
    pool: Any = None
    nthreads: int = 0
    nrefs: int = 0  # references to ctx when no call uses it, without those of small
    small: Any = None  # see small_call()


thread_local = _Local()

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
    local = thread_local
    if nthreads == local.nthreads and local.pool is threads.pool and not (calls_back and _is_in_use(local)):
        return local.ctx
    return _prepare_context(local, nthreads)


@contextlib.contextmanager
def collecting_damage(path: str | None) -> Iterator[Callable[[], list[BaseException]]]:
    """Reads of this thread go on past damaged chunks; what is given tells those of a read that failed.

    They come in the order of the chunks, and of the blocks of a chunk.
    """
    ctx, err, damage = thread_local.ctx or context(), new_error(), new_error()

    def found() -> list[BaseException]:
        failures: list[tuple[int, int, BaseException]] = []
        while lib.b2c_ctx_damage(ctx, len(failures), damage, err) == lib.B2C_OK:
            failures.append((damage.chunk, damage.block, exception(damage.status, damage, path)))
        return [exc for _, _, exc in sorted(failures, key=lambda failure: failure[:2])]

    check(lib.b2c_ctx_collect_damage(ctx, True, err), err)
    thread_local.nrefs += 1  # the reads are to use it
    try:
        yield found
    finally:
        thread_local.nrefs -= thread_local.ctx is ctx
        check(lib.b2c_ctx_collect_damage(ctx, False, err), err)


def _prepare_context(local: _Local, nthreads: int) -> Any:
    pool = threads.pool_for(nthreads)
    err = new_error()
    if local.ctx is None or local.pool is not pool or (calls_back and _is_in_use(local)):
        out = ffi.new("b2c_ctx **")
        check(lib.b2c_ctx_new(pool or ffi.NULL, nthreads, ffi.NULL, out, err), err)

        # The default arguments keep the pool alive for as long as the context, and the function
        # when the interpreter has emptied this module.
        def free(ctx: Any, _pool: Any = pool, _free: Any = lib.b2c_ctx_free) -> None:
            _free(ctx)

        local.ctx, local.pool, local.small = ffi.gc(out[0], free), pool, None
        local.nrefs = _nrefs(local)
    else:
        check(lib.b2c_ctx_set_nthreads(local.ctx, nthreads, err), err)
    local.nthreads = nthreads
    return local.ctx


def serial_context() -> Any:
    """This thread's b2c_ctx with any number of threads, for C does jobs below SERIAL_NBYTES in one."""
    local = thread_local
    if local.ctx is None or (calls_back and _is_in_use(local)):
        return _prepare_context(local, 1)
    return local.ctx


def small_call() -> Any:
    """What short calls need, kept per thread: ``(ctx, scratch, size_t *, b2c_error *, is_taken)``.

    It is the caller's alone until that sets ``is_taken[0] = False``, for a signal handler or a
    finalizer may call as well; after an exception this need not be done.  The context is that of
    serial_context(), the scratch memory holds SMALL_NBYTES.
    """
    small = thread_local.small
    if small is None or small[4][0] or (calls_back and _is_in_use(thread_local)):
        ctx, scratch = serial_context(), raw_memory("char[]", SMALL_NBYTES)
        small = thread_local.small = ctx, scratch, ffi.new("size_t *"), new_error(), [True]
    small[4][0] = True
    return small


def _after_fork() -> None:
    threads.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
