# SPDX-License-Identifier: BSD-3-Clause
"""Signal handlers, which Python runs between any two steps of this package."""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import gc
import importlib
import itertools
import os
import signal
import sys
import threading
import time
from functools import partial

import cffi
import numpy as np
import pytest

import blosc2c as b2
from blosc2c import _ffi, callbacks, handles, meta
from blosc2c._ffi import ffi, lib

LONG = np.arange(40_000)
A = np.arange(5000, dtype="<i8")
N = signal.SIGUSR1
PACKAGE = os.path.dirname(b2.__file__)

libc = cffi.FFI()
libc.cdef("int raise(int);")


class Stop(BaseException):
    pass


class Signal(int):
    """Signal(N).send: the handler does not run now, but at the first step of the next function.

    Up to Python 3.11 a collection of garbage may come before that, and call functions: of finalizers, and one
    that Hypothesis has put into gc.callbacks.  So there is none until the handler runs.
    """

    # signal.raise_signal() would look for handlers itself, and so does the end of a call.
    _raise = property(getattr(libc.dlopen(None), "raise"))

    @property
    def send(self) -> int:
        gc.disable()
        return self._raise


class Late:
    """A number for C; the handler runs after C has got it, in the first function that C calls."""

    def __init__(self, number: int) -> None:
        self.number, self.signal = number, Signal(N)

    def __int__(self) -> int:
        self.signal.send  # noqa: B018
        return self.number

    __index__ = __int__


@pytest.fixture
def on_signal():
    """Sets what the handler does."""
    before = signal.getsignal(N)

    def set_handler(call) -> None:
        def handler(*_) -> None:
            gc.enable()
            call()

        signal.signal(N, handler)

    yield set_handler
    gc.enable()
    signal.signal(N, before)


def stop() -> None:
    raise Stop


def is_done(call) -> bool:
    """Whether call() comes to an end on another thread."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(30)
    return not thread.is_alive()


@pytest.mark.parametrize("locking", [False, True])
def test_an_exception_at_the_end_of_a_read(on_signal, tmp_path, locking):
    """It leaves no reader behind, for whom writers and close() would wait for ever."""
    on_signal(stop)
    path = tmp_path / "f.b2frame"
    s = b2.SChunk(data=A.tobytes(), urlpath=path, locking=locking, cparams={"typesize": 8})
    late = Signal(N)
    try:
        with s.handle:
            late.send  # noqa: B018
    except Stop:  # whose traceback holds frames
        assert is_done(lambda: s.append_data(bytes(8)))
        assert s[-1:] == bytes(8)
        if locking:
            with b2.open(path, mode="a", locking=True) as other:
                assert is_done(lambda: other.append_data(bytes(8)))
            assert s.nbytes == A.nbytes + 16
        assert is_done(s.close)
    else:
        pytest.fail("no exception")


def test_an_exception_after_the_lock_was_taken(on_signal, tmp_path, monkeypatch):
    path = tmp_path / "f.b2frame"
    s = b2.SChunk(data=A.tobytes(), urlpath=path, locking=True)
    calls = {"b2i_turn_hold": lambda: s.nchunks, "b2c_schunk_lock": lambda: s.append_data(bytes(8))}
    for name, call in calls.items():
        monkeypatch.setattr(handles, "lib", Interrupting(name, stop))
        with pytest.raises(Stop):
            call()
        monkeypatch.undo()
    with b2.open(path, mode="a", locking=True) as other:
        assert is_done(lambda: other.append_data(bytes(8)))
    s.close()


def test_an_exception_at_the_end_of_a_read_with_a_lock(on_signal, tmp_path):
    """It gives the lock up, although nobody uses the object afterwards, and the next read sees more."""
    on_signal(stop)
    path = tmp_path / "f.b2frame"
    s = b2.SChunk(data=A.tobytes(), urlpath=path, locking=True)
    nchunks, late = s.nchunks, Signal(N)
    with b2.open(path, mode="a", locking=True) as other:
        with pytest.raises(Stop) as caught, s.handle:
            late.send  # noqa: B018
        assert is_done(lambda: other.append_data(bytes(8)))
        assert s.nchunks == nchunks + 1 and caught.value.__traceback__
    s.close()


class Interrupting:
    """The library; when a function of it returns, the handler runs once."""

    def __init__(self, name: str, handler) -> None:
        self.name, self.handler = name, handler

    def __getattr__(self, name):
        function = getattr(lib, name)
        if name != self.name or self.handler is None:
            return function

        def call(*args):
            result = function(*args)
            handler, self.handler = self.handler, None
            handler()
            return result

        return call


def use_everything() -> None:
    """What a handler may do: small calls of all kinds."""
    other = b2.asarray(-A)
    assert other[7] == -7 and other._schunk.meta["b2nd"]
    assert b2.decompress2(b2.compress2(bytes(range(100)))) == bytes(range(100))
    with pytest.raises(b2.CorruptError):
        b2.decompress2(b"\5" * 40)


@pytest.mark.parametrize(
    ("module", "function", "call"),
    [
        # Those of less than 256 kB are a single step.
        ("compress", "b2c_compress", lambda a: b2.decompress2(b2.compress2(LONG)) == LONG.tobytes()),
        ("compress", "b2c_decompress", lambda a: b2.decompress2(b2.compress2(LONG)) == LONG.tobytes()),
        ("ndarray", "b2c_nd_read_item", lambda a: a[9] == 9),
        ("ndarray", "b2c_nd_read", lambda a: np.array_equal(a[9:20], A[9:20])),
        # Not a._schunk.meta["m"], which is a single step.
        (
            "meta",
            "b2c_schunk_meta_get",
            lambda a: meta.find_meta(a._schunk.handle.get(), "m", None) == b"\xa3own",
        ),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_handler_that_uses_the_package(monkeypatch, module, function, call):
    """The call that it interrupts gives what it would have given."""
    a = b2.asarray(A, meta={"m": "own"})
    module = sys.modules["blosc2c." + module]
    for _ in range(2):  # the second time with what the first one has kept
        monkeypatch.setattr(module, "lib", Interrupting(function, use_everything))
        assert call(a) and module.lib.handler is None
        monkeypatch.undo()
    assert call(a)


def test_an_exception_at_the_first_step_of_a_callback(on_signal, capfd):
    """C gets the number that stands for it, and it is raised by the call that C has been called by."""
    on_signal(stop)
    for module in ("integrity", "plugins", "reader"):
        importlib.import_module("blosc2c." + module)  # where they are
    filler = ffi.new_handle(object())
    block, room = ffi.new("b2c_block *"), ffi.new("char[]", 8)
    err = _ffi.new_error()
    calls = [
        lambda: lib.user_block(filler, block, room, room, Late(8)),
        lambda: lib.user_forward(filler, block, room, room, Late(8)),
        lambda: lib.user_backward(filler, block, room, room, Late(8)),
        lambda: lib.user_decode(filler, block, room, 8, room, Late(8)),
        lambda: lib.user_read_at(filler, 0, room, Late(8)),
        lambda: lib.repair_progress(filler, 0, Late(8)),
    ]
    for call in calls:
        err.sys_errno = call()
        with pytest.raises(Stop):
            _ffi.check(lib.B2C_E_CALLBACK, err)
    assert capfd.readouterr().err == ""


def test_a_handler_at_the_first_step_of_a_callback(on_signal):
    """It does not use the context of the call that is under way."""
    seen = []
    on_signal(lambda: seen.extend((_ffi.context(1), _ffi.serial_context(), _ffi.small_call()[0])))
    _ffi.may_call_back()
    outer = _ffi.context(1)
    room = ffi.new("char[]", 8)
    lib.user_block(ffi.new_handle(object()), ffi.new("b2c_block *"), room, room, Late(8))
    assert len(seen) == 3 and outer not in seen
    del outer
    seen.clear()
    again = {id(_ffi.context(1)) for _ in range(3)}
    assert len(again) == 1  # nobody holds it: the thread goes on with one


def test_callbacks_leave_the_context_of_their_thread(on_signal):
    before = _ffi.context(1)
    with pytest.raises(Stop):
        handles.nested(stop)
    assert _ffi.thread_local.ctx is before and _ffi.thread_local.lent == ()


def open_files() -> list[str]:
    """What this process has open, where the system tells."""
    links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")] if os.path.exists("/proc") else []
    return sorted(os.readlink(link) for link in links if os.path.lexists(link))


@pytest.mark.parametrize("disk", ["file", "directory"])
@pytest.mark.parametrize("call", ["open", "replace", "refresh", "close"])
def test_signals_while_the_lock_is_waited_for(on_signal, tmp_path, disk, call):
    """The handler runs and the wait goes on; close() ends without packing."""
    fcntl = pytest.importorskip("fcntl")
    path, parts = tmp_path / "f", {"contiguous": disk == "file", "locking": True}
    s = b2.SChunk(data=A.tobytes(), urlpath=path, **parts)
    s.append_data(bytes(8))
    seen, waiting = [], threading.get_ident()
    on_signal(lambda: seen.append(time.monotonic()))

    def disturb() -> None:
        for _ in range(4):
            time.sleep(0.05)
            signal.pthread_kill(waiting, N)
        time.sleep(0.05)
        fcntl.flock(lock, fcntl.LOCK_UN)

    with open(tmp_path / "f.b2lock" if disk == "file" else path / ".b2lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            if call == "open":
                b2.open(path, mode="a", locking=True).close()
            elif call == "replace":
                b2.SChunk(data=A.tobytes() + bytes(8), urlpath=path, mode="w", **parts).close()
            elif call == "refresh":
                assert not s.refresh()
            else:
                s.close()
        finally:
            thread.join()
    assert seen
    s.close()
    assert b2.open(path)[:] == A.tobytes() + bytes(8)


class Steps:
    """Runs a call again and again; each time the handler runs at the next step of this package."""

    def __init__(self, call) -> None:
        self.call, self.left = call, 0

    def enter(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace = self.step  # from Python 3.13 on, only this makes the line above work
        return self.step

    def step(self, frame, event, arg):
        self.left -= event == "opcode"
        if self.left == 0:
            sys.settrace(None)
            Signal(N).send  # noqa: B018  # last: the next function would run the handler
            return None
        return self.step

    def __iter__(self):
        """What the call has raised, or None."""
        sys._getframe().f_trace_opcodes = True  # Python 3.12 looks at it in settrace()
        for n in itertools.count(1):
            self.left, raised = n, None
            before = sys.gettrace()
            try:
                sys.settrace(self.enter)
                try:
                    self.call()
                finally:
                    sys.settrace(before)
            except Stop as exc:
                raised = exc
            yield raised
            if self.left > 0:
                return


def opened(path) -> object:
    """What C has opened, for a Handle to take."""
    out, err = handles.new_out(), _ffi.new_error()
    _ffi.check(lib.b2c_schunk_open(os.fsencode(path), 0, lib.B2C_OPEN_READ, ffi.NULL, out, err), err)
    return out


def test_no_memory_for_a_handle(tmp_path):
    """What C has opened is closed when Python has no memory for what is to own it."""
    testcapi = pytest.importorskip("_testcapi")
    b2.SChunk(data=A.tobytes(), urlpath=tmp_path / "f").close()
    gc.collect()  # what other tests have left open
    before, nfailed = open_files(), 0
    for n in range(1, 40):
        out, handle = opened(tmp_path / "f"), None
        try:
            testcapi.set_nomemory(n, n + 1)
            try:
                handle = handles.Handle(out)
            finally:
                testcapi.remove_mem_hooks()
        except (MemoryError, RuntimeError):  # of threading.RLock() it is the latter
            nfailed += 1
        del out, handle
        assert open_files() == before, n
    assert nfailed > 3


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
def test_an_exception_at_any_step_of_making_a_handle(on_signal, tmp_path):
    b2.SChunk(data=A.tobytes(), urlpath=tmp_path / "f").close()
    gc.collect()  # what other tests have left open
    before, made = open_files(), []  # the latter that __del__() is none of the steps
    on_signal(stop)
    steps = Steps(lambda: made.append(handles.Handle(opened(tmp_path / "f"))))
    nraised = sum(exc is not None for exc in steps)
    made.clear()
    gc.collect()
    assert nraised > 20
    assert open_files() == before


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
@pytest.mark.parametrize("locking", [False, True])
def test_an_exception_at_any_step_of_a_read(on_signal, tmp_path, locking):
    """Its traceback keeps nobody from writing or closing, as who handles it may do."""
    on_signal(stop)
    s = b2.SChunk(data=A.tobytes(), urlpath=tmp_path / "f", locking=locking, cparams={"typesize": 8})

    def read() -> None:
        with s.handle:
            pass

    nraised = 0
    for exc in Steps(read):
        assert is_done(lambda: s.append_data(bytes(8)))
        nraised += exc is not None
    assert nraised > 5
    assert is_done(s.close)


@pytest.mark.parametrize("disk", ["file", "directory"])
@pytest.mark.parametrize("call", ["open", "create", "replace"])
def test_an_exception_while_c_opens(monkeypatch, tmp_path, disk, call):
    """What C has opened is closed again, what it has made goes, and what it has replaced comes back."""
    path, parts = tmp_path / "f", {"contiguous": disk == "file", "locking": True}
    if call != "create":
        b2.SChunk(data=A.tobytes(), urlpath=path, **parts).close()
    gc.collect()  # what other tests have left open
    before = set(os.listdir(tmp_path)), open_files()
    if call == "open":
        monkeypatch.setattr(
            importlib.import_module("blosc2c.store"), "lib", Interrupting("b2c_schunk_open", stop)
        )
    else:
        monkeypatch.setattr(
            importlib.import_module("blosc2c.schunk"), "lib", Interrupting("b2c_schunk_new", stop)
        )
    with pytest.raises(Stop):
        b2.open(path, mode="a", locking=True) if call == "open" else b2.SChunk(
            data=bytes(8), urlpath=path, mode="w", **parts
        )
    monkeypatch.undo()
    gc.collect()
    assert (set(os.listdir(tmp_path)) - {"f.b2lock"}, open_files()) == (before[0] - {"f.b2lock"}, before[1])
    if call != "create":
        assert b2.open(path)[:] == A.tobytes()


@pytest.mark.parametrize("name", ["lexists", "isdir", "listdir"])
def test_an_exception_while_what_is_there_is_looked_at(monkeypatch, tmp_path, name):
    path = tmp_path / "f"
    b2.SChunk(data=A.tobytes(), urlpath=path, contiguous=False).close()
    functions = os if name == "listdir" else os.path
    function = getattr(functions, name)

    def interrupted(*args):
        result = function(*args)
        monkeypatch.undo()
        stop()
        return result

    monkeypatch.setattr(functions, name, interrupted)
    with pytest.raises(Stop):
        b2.SChunk(data=bytes(8), urlpath=path, mode="w", contiguous=False)
    assert os.listdir(tmp_path) == ["f"] and b2.open(path)[:] == A.tobytes()


def edits_of(s) -> list:
    special = b2.SpecialValue.ZERO
    return [
        lambda: s.update_special(0, special),
        lambda: s.append_data(bytes(8)),
        lambda: s.insert_data(0, bytes(8)),
    ]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
@pytest.mark.parametrize("n", range(3))
def test_an_exception_at_any_step_of_an_edit(on_signal, n):
    """Nobody is taken for a writer afterwards."""
    on_signal(stop)
    s = b2.SChunk(data=bytes(64), chunksize=8)
    nraised = 0
    for exc in Steps(edits_of(s)[n]):
        assert (s.handle._nwriters, s.handle.turn.writer, s.handle._nwaiting) == (0, 0, 0)
        assert is_done(lambda: s.update_data(0, bytes(8)))
        nraised += exc is not None
    assert nraised > 5
    s.append_data(bytes(8))
    assert s.handle.turn.is_open == lib.B2I_OPEN and s.nchunks == len(list(s.iterchunks_info()))


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
def test_an_exception_at_any_step_of_an_edit_with_a_lock(on_signal, tmp_path):
    """The lock file is not left locked."""
    on_signal(stop)
    s = b2.SChunk(data=bytes(64), chunksize=8, urlpath=tmp_path / "f", locking=True)
    nraised = 0
    for exc in Steps(edits_of(s)[0]):
        with b2.open(tmp_path / "f", mode="a", locking=True) as other:
            other.update_data(0, bytes(8))  # BlockingIOError when this thread has the lock elsewhere
        nraised += exc is not None
    assert nraised > 5
    s.close()


def test_a_handler_that_reads_while_its_thread_waits_to_write(on_signal):
    s, seen = b2.SChunk(data=bytes(64), chunksize=8), []
    has_come = threading.Event()

    def read() -> None:
        end = time.monotonic() + 30
        with s.handle:
            has_come.set()
            while not s.handle._nwaiting and time.monotonic() < end:
                time.sleep(1e-3)
            signal.pthread_kill(threading.main_thread().ident, N)
            while not seen and time.monotonic() < end:
                time.sleep(1e-3)

    on_signal(lambda: seen.append(s[:8]))
    reader = threading.Thread(target=read, daemon=True)
    faulthandler.dump_traceback_later(60, exit=True)
    try:
        reader.start()
        has_come.wait(30)
        s.update_data(0, b"12345678")
    finally:
        faulthandler.cancel_dump_traceback_later()
    reader.join(30)
    assert seen == [bytes(8)] and s[:8] == b"12345678"


def reading_elsewhere(s):
    """Another thread that reads until the event is set that is given; the thread comes first."""
    has_come, may_leave = threading.Event(), threading.Event()

    def read() -> None:
        with s.handle:
            has_come.set()
            may_leave.wait(30)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    has_come.wait(30)
    return reader, may_leave


def test_an_exception_while_others_are_waited_for(monkeypatch):
    """Nobody waits for who has given up: neither readers, nor calls that take their turn in C."""
    s = b2.SChunk(data=bytes(64), chunksize=8)
    reader, may_leave = reading_elsewhere(s)
    monkeypatch.setattr(handles.time, "sleep", lambda _: stop())
    with pytest.raises(Stop):
        s.update_data(0, b"12345678")
    monkeypatch.undo()
    assert is_done(lambda: s.vlmeta.get("x"))
    may_leave.set()
    reader.join(30)
    assert (s.handle._nwriters, s.handle.turn.writer, s.handle._nwaiting) == (0, 0, 0)
    assert is_done(lambda: s.update_data(0, b"12345678")) and s[:8] == b"12345678"
    assert s.handle.turn.is_open == lib.B2I_OPEN


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
@pytest.mark.parametrize("n", range(3))
def test_a_handler_that_closes_what_is_edited(on_signal, n):
    """It does so before or after the edit, or learns that it cannot."""

    def new() -> b2.SChunk:
        s = b2.SChunk(data=bytes(64), chunksize=8)
        with s.handle:  # after a reader in Python an edit is one in Python, not a single step in C
            return s

    made = [new()]
    on_signal(lambda: made[-1].close())
    told = set()

    def edit() -> None:
        try:
            edits_of(made[-1])[n]()
        except b2.Blosc2Error as exc:
            told.add(str(exc))
        finally:
            made.append(new())

    for raised in Steps(edit):
        assert raised is None
    assert any("closed" in text for text in told)
    assert any("signal handler" in text for text in told), told


@pytest.mark.parametrize("locking", [False, True])
@pytest.mark.parametrize("name", ["close", "refresh", "update_data", "transaction"])
def test_a_handler_that_changes_what_is_read(on_signal, tmp_path, name, locking):
    """It does not wait for the read, which waits for it, but learns that it cannot."""
    s = b2.SChunk(data=bytes(64), chunksize=8, urlpath=tmp_path / "f", locking=locking)
    told: list[str] = []
    calls = {
        "update_data": lambda: s.update_data(0, bytes(8)),
        "transaction": lambda: s.transaction().__enter__(),
    }

    def change() -> None:
        try:
            calls.get(name, getattr(s, name))()
        except b2.ParameterError as exc:
            told.append(str(exc))

    def read() -> None:
        with s.handle:
            signal.raise_signal(N)

    on_signal(change)
    faulthandler.dump_traceback_later(30, exit=True)
    try:
        read()
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert len(told) == 1 and "signal handler" in told[0]
    assert is_done(lambda: s.update_data(0, b"12345678")) and s[:8] == b"12345678"
    s.close()


@pytest.mark.parametrize("call", ["read", "append"])
@pytest.mark.parametrize("name", ["close", "refresh", "update_data", "append_data", "transaction"])
def test_a_handler_that_changes_what_c_uses(monkeypatch, call, name):
    """The same at the first step of a callback, which C makes in a call that Python has not begun."""
    s = b2.SChunk(data=bytes(64), chunksize=8)
    told: list[str] = []
    edits = {
        "update_data": lambda: s.update_data(0, bytes(8)),
        "append_data": lambda: s.append_data(bytes(8)),
        "transaction": lambda: s.transaction().__enter__(),
    }
    worker = callbacks.result_of

    def at_first_step(block, work) -> int:
        with pytest.raises(b2.ParameterError) as caught:
            edits.get(name, getattr(s, name))()
        told.append(str(caught.value))
        assert s.get_chunk(0) and s.nbytes == 64  # reading is free to all
        return worker(block, work)

    @(s.postfilter if call == "read" else s.prefilter)("u1")
    def increment(data, out, offset):
        out[:] = data + 1

    monkeypatch.setattr(callbacks, "result_of", at_first_step)
    faulthandler.dump_traceback_later(30, exit=True)
    try:
        if call == "read":
            assert s[:8] == s.decompress_chunk(1) == b"\1" * 8
        else:
            assert s.append_data(bytes(8)) == 9
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert told and all("signal handler" in text for text in told)
    monkeypatch.undo()
    assert s[-8:] == b"\1" * 8
    s.close()


def test_a_handler_that_reads_while_a_writer_waits_for_the_read(on_signal):
    s = b2.SChunk(data=bytes(64), chunksize=8)
    seen = []
    writer = threading.Thread(target=lambda: s.update_data(0, b"12345678"), daemon=True)

    def read() -> None:
        writer.start()
        end = time.monotonic() + 30
        while not s.handle._nwaiting and time.monotonic() < end:
            time.sleep(1e-3)
        seen.append(s[:8])

    on_signal(read)
    faulthandler.dump_traceback_later(30, exit=True)
    try:
        with s.handle:
            signal.raise_signal(N)
    finally:
        faulthandler.cancel_dump_traceback_later()
    writer.join(30)
    assert seen == [bytes(8)] and s[:8] == b"12345678"


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
def test_an_exception_at_any_step_of_a_transaction(on_signal, tmp_path):
    """None is left open, in which later edits would stay until they are lost."""
    on_signal(stop)
    path = tmp_path / "f"

    def make() -> b2.SChunk:
        return b2.SChunk(data=bytes(8), chunksize=8, urlpath=path, mode="w")

    def edit() -> None:
        with s.transaction():
            pass

    s = make()
    for _exc in Steps(edit):  # whose traceback holds nothing that would keep it open
        assert is_done(partial(s.append_data, bytes(8)))
        s.close()
        with b2.open(path) as stored:
            assert stored.nchunks == 2
        s = make()
    s.close()


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
def test_a_handler_that_closes_what_is_in_a_transaction(on_signal):
    """C is not called for what is not there any more."""
    made = [b2.SChunk(data=bytes(8), chunksize=8)]
    on_signal(lambda: made[-1].close())
    nclosed = 0

    def edit() -> None:
        with made[-1].transaction():
            pass

    def closes() -> None:
        nonlocal nclosed
        try:
            edit()
        except b2.ClosedError:
            nclosed += 1

    for raised in Steps(closes):
        assert raised is None
        made.append(b2.SChunk(data=bytes(8), chunksize=8))
    assert nclosed > 5


@pytest.mark.parametrize("block", ["holding_lock", "transaction"])
def test_a_handler_that_edits_what_the_writer_reads(on_signal, block):
    """It learns that it cannot: the read is of one state, also that of who writes."""
    s, told = b2.SChunk(data=bytes(64), chunksize=8), []

    def change() -> None:
        for edit in edits_of(s):
            with pytest.raises(b2.ParameterError, match="signal handler"):
                edit()
            told.append(s.nbytes)

    on_signal(change)
    with getattr(s, block)():
        with s.handle:
            signal.raise_signal(N)
        assert s.append_data(bytes(8)) == 9
    assert told == [64] * 3 and s.nchunks == 9


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
@pytest.mark.parametrize("shape", [(7, 6), (3, 1)])
def test_an_exception_at_any_step_of_a_resize(on_signal, shape):
    """The array and its views show what is stored then."""
    on_signal(stop)
    items = A[:20].reshape(5, 4)
    x = b2.asarray(items, chunks=(2, 2), blocks=(1, 2))
    view = b2.expand_dims(x)
    nraised = 0

    def resize() -> None:
        x.resize(shape)

    for exc in Steps(resize):
        stored = b2.from_cframe(x.to_cframe())
        assert view.shape == (1, *stored.shape) and np.array_equal(view[0], stored[...])
        assert x[0, 0] == 0 and np.array_equal(x[...], stored[...])
        nraised += exc is not None
        x = b2.asarray(items, chunks=(2, 2), blocks=(1, 2))
        view = b2.expand_dims(x)
    assert nraised > 5


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
def test_a_handler_that_reads_what_is_resized(on_signal):
    x = b2.asarray(A[:20].reshape(5, 4))
    seen = []
    on_signal(lambda: seen.append((x.shape, x[...].shape, x[4, 3])))
    _ffi.may_call_back()
    for raised in Steps(lambda: x.resize((6, 4))):
        assert raised is None
        x.resize((5, 4))
    assert len({shape for shape, _, _ in seen}) == 2
    assert all(shape == read and item == 19 for shape, read, item in seen)


@pytest.mark.parametrize("call", ["b2c_schunk_refresh", "b2i_turn_hold"])
def test_an_exception_when_a_new_state_is_shown(monkeypatch, tmp_path, call):
    """The array does not take the new chunks for those of its former shape."""
    path, parts = tmp_path / "f", {"chunks": (2, 2), "blocks": (1, 2)}
    with b2.asarray(A[:40].reshape(10, 4), urlpath=path, locking=True, **parts) as writer:
        reader = b2.open(path, locking=call == "b2i_turn_hold")
        writer.resize((10, 8))
        writer[:, 4:] = 7
        monkeypatch.setattr(handles, "lib", Interrupting(call, stop))
        with pytest.raises(Stop):
            reader.refresh() if call == "b2c_schunk_refresh" else reader[0, 0]
        monkeypatch.undo()
        assert reader[9, 7] == 7 and reader.shape == (10, 8)
        assert np.array_equal(reader[...], writer[...])
        reader.close()


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="steps are CPython's")
def test_an_exception_while_a_postfilter_is_replaced(on_signal):
    """C calls the one or the other, which is there."""
    on_signal(stop)
    s = b2.SChunk(data=A[:10], cparams={"typesize": 8}, dparams={"nthreads": 1})

    def replace() -> None:
        s.postfilter("i8")(lambda *given: np.add(given[0], 1, out=given[1]))

    replace()
    for exc in Steps(replace):
        if exc is not None:
            exc.__traceback__ = None  # it would keep what is replaced
        _ = [ffi.new_handle(object()) for _ in range(50)]  # in the place of one that is gone
        assert s[:] == (A[:10] + 1).tobytes()


def test_an_exception_when_a_codec_has_been_registered(monkeypatch):
    plugins = importlib.import_module("blosc2c.plugins")
    monkeypatch.setattr(plugins, "lib", Interrupting("b2c_register_filter", stop))

    def flip(*given) -> None:
        np.invert(given[0], out=given[1])

    with pytest.raises(Stop):
        b2.register_filter(252, flip, flip)
    monkeypatch.undo()
    gc.collect()
    _ = [ffi.new_handle(object()) for _ in range(50)]
    data = A[:100].tobytes()
    assert b2.decompress2(b2.compress2(data, filters=[252], filters_meta=[0])) == data


@pytest.mark.parametrize("name", ["update_data", "transaction", "close"])
def test_a_handler_that_changes_what_has_just_been_locked(monkeypatch, tmp_path, name):
    """A reader is one as soon as it has the lock file."""
    s = b2.SChunk(data=bytes(64), chunksize=8, urlpath=tmp_path / "f", locking=True)
    told = []
    calls = {"update_data": lambda: s.update_data(0, bytes(8)), "transaction": lambda: hold(s.transaction())}

    def change() -> None:
        with pytest.raises(b2.ParameterError) as caught:
            calls.get(name, s.close)()
        told.append(str(caught.value))
        assert s[:8] == bytes(8)

    monkeypatch.setattr(handles, "lib", Interrupting("b2i_turn_hold", change))
    assert s[:8] == bytes(8)
    assert len(told) == 1 and "signal handler" in told[0]
    s.close()


def hold(manager) -> None:
    with manager:
        pass


def test_a_handler_that_closes_what_waits_for_the_lock(monkeypatch, tmp_path):
    """The call is not made again for what is not there any more."""
    s = b2.SChunk(data=bytes(64), chunksize=8, urlpath=tmp_path / "f", locking=True)

    class Signalled:
        def __getattr__(self, name):
            return getattr(lib, name)

        def b2c_schunk_refresh(self, ptr, change, err):
            err.sys_errno = errno.EINTR
            s.close()
            return lib.B2C_E_IO

    monkeypatch.setattr(handles, "lib", Signalled())
    with pytest.raises(b2.ClosedError):
        s.refresh()


def test_a_handler_that_waits_while_its_thread_looks_whether_it_may_read(monkeypatch):
    """Who writes on another thread, one edit in another, does not take it for a reader."""
    s = b2.SChunk(data=bytes(64), chunksize=8)
    is_in, has_looked, seen = threading.Event(), threading.Event(), []

    def write() -> None:
        with s.transaction():
            is_in.set()
            has_looked.wait(30)
            time.sleep(0.1)  # until the other waits, in the handler
            with s.holding_lock():
                s.update_data(0, b"12345678")

    def read() -> None:
        has_looked.set()
        seen.append(s[:8])

    writer = threading.Thread(target=write, daemon=True)
    faulthandler.dump_traceback_later(30, exit=True)
    try:
        writer.start()
        is_in.wait(30)
        monkeypatch.setattr(handles, "lib", Interrupting("b2i_turn_look", read))
        assert s[:8] == b"12345678" and seen == [b"12345678"]
        writer.join(30)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("locking", [False, True])
def test_exceptions_at_the_end_of_a_transaction(monkeypatch, tmp_path, locking):
    """Of several handlers, one in the other, which keep it from its end: who comes next ends it."""
    s = b2.SChunk(data=bytes(64), chunksize=8, urlpath=tmp_path / "f", locking=locking)

    class Interrupted:
        def __getattr__(self, name):
            return getattr(lib, name)

        def b2i_turn_rollback(self, turn):
            stop()

    for first in (lambda: s[:8], lambda: s.update_data(1, bytes(8)), s.to_cframe):
        with pytest.raises(Stop), s.transaction():
            s.update_data(0, b"12345678")
            monkeypatch.setattr(handles, "lib", Interrupted())
            raise KeyboardInterrupt
        monkeypatch.undo()
        assert is_done(first)
        assert s[:8] == bytes(8)
        hold(s.transaction())
    s.close()
    assert b2.open(tmp_path / "f")[:8] == bytes(8)


@pytest.mark.parametrize("end", ["block", "StopIteration", "stack", "lock"])
def test_the_ways_to_end_a_transaction(end):
    s = b2.SChunk(data=bytes(64), chunksize=8)
    if end == "lock":
        s.lock()
        s.update_data(0, b"12345678")
        s.unlock()
    elif end == "stack":
        with contextlib.ExitStack() as stack:
            stack.enter_context(s.transaction())
            s.update_data(0, b"12345678")
    elif end == "block":
        with s.transaction():
            s.update_data(0, b"12345678")
    else:
        with pytest.raises(StopIteration), s.transaction():
            s.update_data(0, b"12345678")
            raise StopIteration
    assert s[:8] == (bytes(8) if end == "StopIteration" else b"12345678")
    assert is_done(lambda: s.update_data(1, bytes(8)))


def test_a_transaction_that_is_garbage_in_a_cycle(monkeypatch):
    """It is rolled back, and nothing is printed: the collector clears weak references beforehand."""
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    s = b2.SChunk(data=bytes(64), chunksize=8)
    cycle: list[object] = [s.transaction()]
    cycle[0].__enter__()
    s.update_data(0, b"12345678")
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert not told
    assert s[:8] == bytes(8)
    assert is_done(lambda: s.update_data(1, bytes(8)))


def test_an_exception_while_a_handle_is_made(monkeypatch):
    """Nothing is printed of what is not whole yet, and C has its memory back."""
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    at = handles.address_of

    def address(ptr) -> int:
        monkeypatch.setattr(handles, "address_of", at)
        raise Stop

    monkeypatch.setattr(handles, "address_of", address)
    with pytest.raises(Stop):
        b2.SChunk(data=bytes(64))
    gc.collect()
    assert not told
