"""Handles: C objects that threads share, and Python code that C calls while it works for one.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from . import errors
from ._ffi import (
    address_of,
    calls,
    check,
    chunk_of,
    exception,
    ffi,
    lib,
    new_error,
    thread_local,
    uninterrupted,
)
from .blocks import block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .limits import Limits

P = ParamSpec("P")
T = TypeVar("T")

_get_ident = threading.get_ident
INFO, _OUT = ffi.typeof("b2c_schunk_info *"), ffi.typeof("b2c_schunk **")
_TURN, _HOLD = ffi.typeof("b2i_turn *"), ffi.typeof("b2i_hold *")
MAX_SECONDS = 10  # of reading again what changes meanwhile
MIN_PAUSE, MAX_PAUSE = 5e-5, 1e-3  # seconds between two looks whether others have left


def new_out() -> Any:
    """A b2c_schunk ** for C to fill and a Handle to take from; what is never taken is freed with it."""
    return ffi.gc(ffi.new(_OUT), lib.b2i_free_left)


# Plain dictionaries of weak references, from which handles take themselves: a WeakValueDictionary
# takes five times as long.
_handles: dict[int, weakref.ref[Handle]] = {}  # by id()
_by_address: dict[int, weakref.ref[Handle]] = {}  # open ones, until just before the C object goes


def _wait(pause: float) -> float:
    """Let others go on; for how long the next time."""
    time.sleep(pause)
    return min(2 * pause, MAX_PAUSE)


def handle_at(ptr: Any) -> Handle | None:
    """The handle of a C object, if it has one."""
    ref = _by_address.get(address_of(ptr))
    handle = None if ref is None else ref()
    return None if handle is None or handle.is_closed else handle


class _Views(dict[int, bytearray]):
    """Of each thread the bytearray that its readers have views of."""

    def __missing__(self, thread: int) -> bytearray:
        return self.setdefault(thread, bytearray())


def _is_viewed(views: bytearray) -> bool:
    try:
        views.append(0)
        views.pop()
    except BufferError:
        return True
    return False


class Handle:
    """A C object that threads share: many readers, or one writer.

    ``with handle as ptr`` keeps the object alive and unchanged during the block;
    ``with handle.writing() as ptr`` waits for the readers and keeps everybody else out, and so does
    edit() for a single call.  What takes a microsecond or two asks C whether it may: see turn.h.
    close() is a writer too, so that no thread is left with a freed pointer.
    A handle with a lock file holds that meanwhile, and sees what other processes have stored.

    A signal handler may raise an exception between any two steps of Python code, such as those of
    an __exit__().  A reader is therefore a view of a bytearray, which keeps its size while there is
    one; the with statement has nothing but the view, and releases it by C code.  What a handler or
    finalizer does must not wait for the thread that it interrupts: hence a bytearray per thread.
    Whoever reads with a lock file is a hold of turn.h instead, which is let go of in the same way.
    Nobody is woken up who waits, for a signal handler could keep the other from that: all look again.
    """

    _ptr: Any = None

    writes_to: str | None = None  # path of a file that is to be closed
    _locks: str | None = None
    _limits: Limits | None = None
    is_new = False  # made here, not opened: its metalayers may have any size
    may_outdate = False  # others may change what it was opened on; told to `turn` as well
    nstates = 0  # how often it has shown another state
    is_untold = False  # and its followers may not know, for a signal handler may raise
    _damage: dict[int, BaseException] | None = None
    _facts: tuple[Any, int] | None = None  # see info()
    _closed_because = ""
    unstored: BaseException | None = None  # why settle() failed, of which nobody has been told
    _nwriters = 0  # one in the other, of one thread
    _nwaiting = 0  # that are to write when others have read
    _is_editing = False  # in a call of edit()
    _is_locked = False  # the writer has the lock file
    owner: weakref.ref[Any] | None = None  # the SChunk that shows it
    noun = "SChunk"  # what users know it as

    def __init__(self, out: Any) -> None:
        ptr = out[0]
        self._address = address_of(ptr)
        self._ptr = calls.take_over(ffi.gc, ptr, lib.b2c_schunk_free, address_of(out))
        ffi.gc(out, None)
        self._filled: dict[int, int] = {}  # how many damaged chunks there were before each of them
        self._followers: dict[int, weakref.ref[Any]] = {}  # by id(); a WeakSet takes far longer
        self._views = _Views()
        self._turns = threading.RLock()  # held to begin to read, and to write
        self.turn = ffi.new(_TURN, {"schunk": ptr, "is_open": lib.B2I_OPEN})
        self.calls = calls.Calls((self.turn, self._ptr), address_of(self.turn))
        self.called: dict[str, list[Any]] = {}  # what C calls for it, the last of each kind
        _handles[id(self)] = _by_address[self._address] = weakref.ref(self)

    @property
    def limits(self) -> Limits | None:
        """Limits of what it returns; None: the default."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits | None) -> None:
        self._limits = limits
        self.turn.max_nbytes = 0 if limits is None else limits.short_nbytes()

    @property
    def damage(self) -> dict[int, BaseException] | None:
        """Damaged chunks, which are read as zeros, and what is wrong; None: that is an error."""
        return self._damage

    @damage.setter
    def damage(self, damage: dict[int, BaseException]) -> None:
        self._damage = damage
        self._update()

    @property
    def locks(self) -> str | None:
        """Path of a frame with a lock file."""
        return self._locks

    @locks.setter
    def locks(self, path: str | None) -> None:
        self._locks = path
        lib.b2i_turn_give_way(self.turn)
        self._update()

    def _update(self) -> None:
        """Let calls of turn.h begin, unless something is against it; by who has the turns."""
        # They know nothing of locks, and of the next two.
        is_else = self._locks is not None or self._damage is not None or self.unstored is not None
        if is_else or self.is_untold or self._ptr is None:
            to = False
        elif self.turn.is_begun:  # in its block, not in an edit, or another block, inside of that
            to = lib.B2I_OPEN_TO_WRITER if self._nwriters == 1 else False
        else:
            to = False if self._nwriters or self._nwaiting else lib.B2I_OPEN
        lib.b2i_turn_open(self.turn, to)

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
        # A reader has a view before it looks whether it may read, and a writer forbids that before
        # it looks for views: so one of them sees the other, without a lock.  No frame has the view
        # as long as a signal handler may raise.
        leave, may_read = memoryview(self._views[_get_ident()]).__exit__, lib.b2i_turn_look(self.turn)
        try:
            if may_read > 0:
                return leave
        except BaseException:  # of a signal handler: Python 3.10 runs them at jumps
            leave(None, None, None)
            raise
        leave(None, None, None)
        if self._is_lent():  # whoever holds it waits for this thread
            ptr = self.get()
            if self.is_untold:
                self.tell(ptr)
            return memoryview(self._views[_get_ident()]).__exit__
        return self._enter_in_turn()

    def __enter__(self) -> Any:
        return self._ptr

    def _enter_in_turn(self) -> Callable[..., None]:
        mark: Any = None
        try:
            pause = MIN_PAUSE
            while mark is None:
                self._let_writers_go_first()
                with self._turns:
                    if self.turn.is_begun and not self.turn.writer:
                        with self._alone():  # which ends a transaction that nobody is in
                            pass
                    ptr = self.get()
                    if self.is_untold:
                        self.tell(ptr)
                    self._update()  # an exception may have kept the last writer from it
                    path = self.locks
                    if path is not None:
                        hold = ffi.new(_HOLD)
                        leave_it = functools.partial(self.calls.let_go, address_of(hold), address_of(ptr))
                        mark = ffi.gc(hold, leave_it)
                        if not self._look_anew(ffi.new("int *"), path, lib.b2i_turn_hold, self.turn, mark):
                            mark = None
                    while mark is None and path is None:
                        mark = memoryview(self._views[_get_ident()])
                        if lib.b2i_turn_look(self.turn) < 0:
                            mark = mark.release()
                            # Until a call that writes has ended; the next one needs the turns.
                            pause = _wait(pause)
                if mark is None:
                    pause = _wait(pause)
            leave: Callable[..., None] = mark.__exit__
        except BaseException:  # whose traceback has this frame
            if mark is not None:
                mark.__exit__(None, None, None)
            raise
        return leave

    def _let_writers_go_first(self) -> None:
        """Readers do, or a writer might wait for ever.

        But not the writer itself, when it reads what it is changing or a signal handler reads while
        it waits, nor whom it waits for.
        """
        pause = MIN_PAUSE
        while self._nwaiting and not (
            thread_local.waits or self.turn.writer == _get_ident() or self._reads_here()
        ):
            pause = _wait(pause)

    def _is_read(self) -> bool:
        return bool(lib.b2i_turn_is_used(self.turn)) or self._has_view()

    def _has_view(self) -> bool:
        return any(map(_is_viewed, list(self._views.values())))

    def _reads_here(self) -> bool:
        """Whether this thread reads, further up."""
        return _is_viewed(self._views[_get_ident()]) or bool(lib.b2i_turn_holds_here(self.turn))

    @block
    def writing(self) -> Iterator[Any]:
        """Wait until nobody reads, and keep everybody else out during the block."""
        if self.damage is not None:
            raise errors.ReadOnlyError(f"the {self.noun} was opened with on_damage='fill', for reading")
        pause = MIN_PAUSE
        while True:
            with self._alone() as ptr:
                if self.unstored is not None:
                    self._raise_unstored()
                if self.locks is None:
                    yield ptr
                    return
                path, err, was_locked = self.locks, new_error(), self._is_locked
                changed = ffi.new("int *", -1)
                try:
                    if self._look_anew(changed, path, lib.b2c_schunk_lock, self.writes_to is not None):
                        self._is_locked = True
                        yield ptr
                        return
                finally:
                    # First of all, without a jump: at any call or jump a signal handler could raise.
                    self._is_locked = was_locked
                    check(lib.b2i_turn_unlock(self.turn, changed, err), err, path)
            pause = _wait(pause)

    def edit(self, call: Callable[[Any], T]) -> T:
        """What call(ptr) gives, made as in a writing() block; the call itself does not close or edit."""
        self._check_not_lent()
        done = self._at_once(self._call, call)
        if done is not None:
            return done[0]
        with self.writing():
            return self._call(call)

    def _at_once(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T] | None:
        """What work() gives, made as in a writing() block; None: somebody has to be waited for."""
        with self._turns:
            me = _get_ident()
            if (
                self.damage is None
                and self.unstored is None
                and (self.turn.is_open == lib.B2I_OPEN or self._is_open_to(me))
            ):
                # What _alone() does, if nobody has to be waited for.
                outer = self.turn.writer
                self._nwriters += 1
                self.turn.writer = me
                try:
                    is_used = lib.b2i_turn_open(self.turn, False) or self._has_view()
                    if not is_used or (outer == me and not self._reads_here()):
                        self.turn.was_read = False
                        return (work(*args, **kwargs),)
                finally:
                    self.turn.writer = outer
                    self._nwriters -= 1
                    self._update()
        return None

    def _is_open_to(self, me: int) -> bool:
        """Whether this thread is writing, and has the lock file if there is one."""
        return self.turn.writer == me and (self.locks is None or self._is_locked)

    def _call(self, call: Callable[[Any], T]) -> T:
        lent, was_editing = thread_local.lent, self._is_editing
        self._is_editing = True  # so that a signal handler does not close it
        try:
            thread_local.lent = (*lent, self)  # a signal may come before nested() lends it
            return call(self.get())
        finally:
            thread_local.lent, self._is_editing = lent, was_editing

    def _is_lent(self) -> bool:
        """Whether this thread works for a call that uses it."""
        return self in thread_local.lent or bool(lib.b2i_turn_is_here(self.turn))

    def _check_not_lent(self) -> None:
        if self._is_lent():
            self._refuse("change")

    def _refuse(self, what: str) -> None:
        raise errors.ParameterError(
            f"a callback, signal handler or finalizer cannot {what} the {self.noun} that is in use"
        )

    @block
    def _alone(self, closes: bool = False) -> Iterator[Any]:
        """writing(), as far as this process is concerned; who closes may find it closed."""
        if self._is_lent() or self._reads_here():
            self._refuse("close" if closes else "change")
        me = _get_ident()
        while True:
            with self._turns:
                lib.b2i_turn_open(self.turn, False)
                # Who writes already sees views only of threads that look whether they may read, and
                # may be waiting for this one by then, in a signal handler.
                if self.turn.writer == me or not self._is_read():
                    outer = self.turn.writer
                    self._nwriters += 1
                    self.turn.writer = me
                    try:
                        self.turn.was_read = False
                        if not (outer or closes):
                            self._roll_back_left()
                        ptr = None if closes else self.get()
                        if ptr is not None and self.is_untold:
                            self.tell(ptr)
                        yield ptr
                    finally:
                        self.turn.writer = outer
                        self._nwriters -= 1
                        self._update()
                    return
            self._wait_for_readers()

    def _wait_for_readers(self) -> None:
        waited, pause = thread_local.waits, MIN_PAUSE
        self._nwaiting += 1
        try:
            thread_local.waits = True
            while self._is_read():
                lib.b2i_turn_open(self.turn, False)  # who came last may have opened it
                pause = _wait(pause)
        finally:
            self._nwaiting -= 1
            thread_local.waits = waited

    def _roll_back_left(self) -> None:
        """End a transaction that signal handlers have kept from its end, one after the other."""
        if self.turn.is_begun:
            self.roll_back()

    def begin(self, err: Any) -> int:
        """The status of b2i_turn_begin(), after which short calls are open to this thread; for a writer."""
        status: int = lib.b2i_turn_begin(self.turn, err)
        self._update()
        return status

    def roll_back(self) -> None:
        """Forget what was edited since b2i_turn_begin(), if that is not over; for a writer."""
        if self.turn.is_begun and self._ptr is not None:
            self.is_untold = True  # whatever comes: a commit that failed may have left the edits
            lib.b2i_turn_rollback(self.turn)
            self.tell(self._ptr)

    def _look_anew(self, change: Any, path: str | None, function: Callable[..., int], *args: Any) -> bool:
        """Make a call after which the object may show another state: then `change` is above 0.

        Signals may end the call too early: it is made again, unless a handler has closed the object.
        False: another thread has the lock file, through another handle.  That may need the turn before it
        gives the lock up, and is to be waited for without.
        """
        err = new_error()
        try:
            # No step is between get() and C code: a handler cannot close it there.
            status = uninterrupted(lambda err: function(self.get(), *args, change, err), err)
            if status == lib.B2C_E_LOCKED and err.sys_errno == errno.EAGAIN:
                return False
            check(status, err, path)
        finally:
            self.is_untold = self.is_untold or change[0] > 0
        if self.is_untold:
            self.tell(self.get())
        return True

    def recheck(self, path: str | None) -> bool:
        """After a read: whether it was of a state whose chunks are still there.

        If not, the object shows the present state from now on.
        """
        if not self.may_outdate:
            return True
        with self as ptr:
            if lib.b2c_schunk_is_current(ptr):
                return True
        lost = ffi.new("int *")
        with self._alone():
            self._look_anew(lost, path, lib.b2c_schunk_recheck)
        return not lost[0]

    def check_state(self, nstates: int, path: str | None) -> None:
        """After several reads: SourceChangedError when it shows another state than `nstates` tells."""
        self.recheck(path)
        if self.nstates != nstates:
            raise errors.SourceChangedError(
                f"the {self.noun} was changed by somebody else while it was copied", path=path
            )

    @contextlib.contextmanager
    def keeping_state(self, nstates: int, path: str | None) -> Iterator[None]:
        """check_state() at the end of the block, also when that fails: it may be why."""
        try:
            yield
        except Exception:
            self.check_state(nstates, path)
            raise
        self.check_state(nstates, path)

    def refresh(self, path: str | None) -> bool:
        """See what others have stored; whether that is anything new."""
        change = ffi.new("int *", lib.B2C_CHANGE_NONE)
        pause, is_seen = MIN_PAUSE, False
        while not is_seen:
            with self._alone():
                is_seen = self._look_anew(change, path, lib.b2c_schunk_refresh)
            if not is_seen:
                pause = _wait(pause)
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
        is_used = self._is_lent() or self.turn.writer or self._nwaiting or self._is_read()
        if is_used or self.is_closed or self.locks is not None:  # then every edit is stored at once
            return
        err = new_error()
        with self._alone(closes=True):
            status = lib.B2C_OK if self._ptr is None else lib.b2c_schunk_settle(self._ptr, err)
            if status:
                self.unstored = exception(status, err, self.writes_to)

    def _raise_unstored(self) -> None:
        failure, self.unstored = self.unstored, None
        if failure is not None:
            raise failure

    def add_follower(self, follower: Any) -> None:
        """Let it be told of every new state, by follow(ptr, known), as long as it lives."""
        key, followers = id(follower), self._followers
        followers[key] = weakref.ref(follower, lambda _: followers.pop(key, None))

    def drop_follower(self, follower: Any) -> None:
        self._followers.pop(id(follower), None)

    def followers(self) -> list[Any]:
        refs = list(self._followers.values())
        return [follower for ref in refs if (follower := ref()) is not None]

    def tell(self, ptr: Any, known: Any = None) -> None:
        """Those who have derived something from the object learn that it shows a new state.

        All of them do, also when some raise; then the first exception is raised.  When a signal
        handler raises, who comes next tells them.

        known : what they would read, if the caller has it
        """
        self.is_untold = True
        self.nstates += 1
        failures = []
        for follower in self.followers():
            try:
                follower.follow(ptr, known)
            except Exception as exc:
                failures.append(exc)
        self.is_untold = False
        if failures:
            raise failures[0]

    def close(self, close: Callable[[Any, Any], int], path: str | None) -> None:
        """Call close(ptr, err), which frees; nothing happens the second time."""
        if self._ptr is None:
            return
        if self._is_lent() or (self._is_editing and self.turn.writer == _get_ident()):
            self._refuse("close")
        if self._at_once(self._free, close, path) is not None:
            return
        pause = MIN_PAUSE
        while self._ptr is not None:
            with self._alone(closes=True):
                # As in _look_anew() it is waited for who has the lock file.
                if not lib.b2i_turn_has_rival(self.turn):
                    self._free(close, path)
                    return
            pause = _wait(pause)

    def _free(self, close: Callable[[Any, Any], int], path: str | None) -> None:
        ptr = self.__dict__.pop("_ptr", None)
        if ptr is not None:  # popped in one step: a signal handler may close it, too
            self.turn.schunk = ffi.NULL
            _by_address.pop(self._address, None)
            err = new_error()
            ffi.gc(ptr, None)  # the call frees, also when it fails
            check(close(ptr, err), err, path)
            self._raise_unstored()

    def info(self) -> Any:
        """The b2c_schunk_info of what it shows, not to be changed."""
        nedits = self.turn.nedits
        if self._facts is not None and self._facts[1] == nedits:
            return self._facts[0]
        info = ffi.new(INFO)
        if lib.b2i_turn_info(self.turn, info) == lib.B2C_OK:
            if self.turn.is_open == lib.B2I_OPEN:  # else they are not yet for other threads
                self._facts = info, nedits
            return info
        with self as ptr:  # this thread may be changing it: nothing to be kept
            lib.b2c_schunk_info_get(ptr, info)
        return info

    def after_fork(self) -> None:
        """In a forked child, where this is the only thread: what the others were at is over.

        A file has one writer, and that is the parent: the child must not even close it.
        """
        me = _get_ident()
        self._views = _Views({me: self._views[me]})
        is_used = lib.b2i_turn_forked(self.turn) or self in thread_local.lent or self._reads_here()
        self._nwaiting = min(self._nwaiting, thread_local.waits)
        self._is_locked = False
        if self.turn.writer != me:
            self._nwriters = self.turn.writer = 0
            self._is_editing = False
            self._turns = threading.RLock()
        if self.writes_to is not None and self._ptr is not None:
            if not is_used:  # else what this thread is at goes on with it, to its end
                lib.b2c_schunk_leave(self._ptr)
            ffi.gc(self._ptr, None)
            self._ptr, self.turn.schunk = None, ffi.NULL
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


@block
def reading(handles: Iterable[Handle]) -> Iterator[None]:
    """``with`` each of the handles, in this order."""
    held: list[Callable[..., None]] = []
    try:
        for handle in handles:
            held.append(handle.__exit__)
        yield
    finally:
        held.clear()  # in one step, which leaves all: the frame may stay in a traceback


def writers() -> list[Handle]:
    """The open handles that write to files."""
    handles = [ref() for ref in list(_handles.values())]
    return [h for h in handles if h is not None and h.writes_to is not None and not h.is_closed]


def again_when_changed(copy: Callable[P, T]) -> Callable[P, T]:
    """A copy that is made again when somebody else has changed what is copied in the middle of it."""

    @functools.wraps(copy)
    def again(*args: P.args, **kwargs: P.kwargs) -> T:
        args = tuple(list(a) if isinstance(a, Iterator) else a for a in args)  # type: ignore[assignment]
        end = time.monotonic() + MAX_SECONDS
        while True:
            try:
                return copy(*args, **kwargs)
            except errors.SourceChangedError:
                if time.monotonic() > end:
                    raise

    return again


def nested(call: Callable[[], T], schunk: Any = ffi.NULL) -> T:
    """What `call` gives, Python code that C calls: what it calls in turn gets a context of its own.

    This thread's context is in use by the call that is under way.  When that is for a b2c_schunk,
    the code may read it, not change it.
    """
    local = thread_local
    kept = local.lent, local.ctx, local.pool, local.nthreads, local.nrefs, local.small
    try:
        handle = handle_at(schunk)
        if handle is not None:
            local.lent = (*local.lent, handle)
        local.ctx, local.pool, local.nthreads, local.small = None, None, 0, None
        result = call()
        if handle is not None:
            handle.get()  # in a forked child it is closed: the call is not to go on there
        return result
    finally:  # and no context manager, whose own steps a signal handler may interrupt
        local.lent, local.ctx, local.pool, local.nthreads, local.nrefs, local.small = kept


def _after_fork() -> None:
    for ref in list(_handles.values()):
        handle = ref()
        if handle is not None:
            handle.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
