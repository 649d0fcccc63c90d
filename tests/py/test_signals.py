# SPDX-License-Identifier: BSD-3-Clause
"""Signal handlers, which Python runs between any two steps of this package."""

from __future__ import annotations

import signal
import threading

import cffi
import numpy as np
import pytest

import blosc2c as b2
from blosc2c import _ffi
from blosc2c._ffi import lib

A = np.arange(5000, dtype="<i8")
N = signal.SIGUSR1

libc = cffi.FFI()
libc.cdef("int raise(int);")


class Stop(BaseException):
    pass


class Signal(int):
    """Signal(N).send: the handler does not run now, but at the first step of the next function."""

    # signal.raise_signal() would look for handlers itself.
    send = property(getattr(libc.dlopen(None), "raise"))


@pytest.fixture
def on_signal():
    """Sets what the handler does."""
    before = signal.getsignal(N)
    yield lambda call: signal.signal(N, lambda *_: call())
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
    take = lib.b2c_schunk_lock

    class Interrupted:
        def __getattr__(self, name):
            return getattr(lib, name)

        def b2c_schunk_lock(self, *args):
            take(*args)
            raise Stop

    monkeypatch.setattr(_ffi, "lib", Interrupted())
    for call in (lambda: s.nchunks, lambda: s.append_data(bytes(8))):
        with pytest.raises(Stop):
            call()
    monkeypatch.undo()
    with b2.open(path, mode="a", locking=True) as other:
        assert is_done(lambda: other.append_data(bytes(8)))
    s.close()
