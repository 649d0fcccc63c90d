# SPDX-License-Identifier: BSD-3-Clause
"""A thread that has the lock file by one handle, and uses another handle of the same file."""

from __future__ import annotations

import threading
import time

import pytest

import blosc2c as b2

DATA = bytes(range(200))


def run(call) -> tuple[threading.Thread, list]:
    """A thread that makes the call, and a list that it puts the result into, or the exception."""
    results: list = []

    def make() -> None:
        try:
            results.append(call())
        except BaseException as exc:
            results.append(exc)

    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    return thread, results


def finish(thread: threading.Thread) -> None:
    thread.join(20)
    assert not thread.is_alive(), "it waits for ever"


def enter(manager) -> None:
    with manager:
        pass


# How a handle is used; whether it is changed by that.
USES = {
    "slice": (lambda s: s[:], False),
    "chunk": (lambda s: s.get_chunk(0), False),
    "nchunks": (lambda s: s.nchunks, False),
    "vlmeta": (lambda s: list(s.vlmeta), False),
    "refresh": (lambda s: s.refresh(), False),
    "append": (lambda s: s.append_data(DATA), True),
    "update": (lambda s: s.update_data(0, DATA), True),
    "transaction": (lambda s: enter(s.transaction()), True),
    "holding_lock": (lambda s: enter(s.holding_lock()), True),
    "settle": (lambda s: s.handle.settle(), None),
    "close": (lambda s: s.close(), None),
}


@pytest.fixture
def path(tmp_path):
    with b2.SChunk(chunksize=len(DATA), data=DATA * 3, urlpath=tmp_path / "f"):
        pass
    return tmp_path / "f"


def opened(path, mode: str = "a") -> b2.SChunk:
    return b2.open(path, mode=mode, locking=True)


@pytest.mark.parametrize("waiting", [None, "slice", "append", "transaction", "refresh", "close"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("mode", ["a", "r"])
def test_nobody_waits_for_ever(path, mode, use, waiting):
    """Also when other threads use the other handle, and wait for the lock."""
    first, second = opened(path, mode), opened(path)
    call, changes = USES[use]
    others: list[tuple[threading.Thread, list]] = []

    def use_both() -> object:
        with first.holding_lock():
            if waiting:
                others.append(run(lambda: USES[waiting][0](second)))
                time.sleep(0.05)
            return call(second)

    thread, results = run(use_both)
    finish(thread)
    (result,) = results
    if changes is None:
        assert result is None
    elif changes or mode == "a":
        assert isinstance(result, BlockingIOError)
        assert "this thread holds the lock through another handle" in str(result)
    else:
        assert not isinstance(result, BaseException)
    for other, results in others:
        finish(other)
        (result,) = results
        assert not isinstance(result, BaseException) or (
            use == "close" and isinstance(result, b2.ClosedError)
        )
    for s in (first, second):
        s.close()
    assert b2.verify(path).problems == []


def test_who_has_the_lock_of_several_that_read(path):
    """Not the first of them when that has left; who is left would wait for itself."""
    first, second = opened(path), opened(path)
    both, has_left = threading.Barrier(2), threading.Event()

    def leave() -> int:
        with second.handle:
            both.wait(20)
        has_left.set()
        return first.append_data(DATA)  # waits for the other one

    def stay() -> None:
        time.sleep(0.05)
        with second.handle:
            both.wait(20)
            has_left.wait(20)
            with pytest.raises(BlockingIOError, match="this thread holds the lock"):
                first.append_data(DATA)

    threads = [run(leave), run(stay)]
    for thread, _ in threads:
        finish(thread)
    assert [results for _, results in threads] == [[4], [None]]
    first.close()
    second.close()


def test_who_takes_the_lock_again_and_again_lets_others_have_it(path):
    """Who gives way has no place in the queue of the system: it waited for 44 seconds."""
    first, second = opened(path), opened(path)
    is_over = threading.Event()

    def hold() -> None:
        while not is_over.is_set():
            with first.holding_lock():
                time.sleep(0.005)

    def use() -> None:
        for _ in range(20):
            second.update_data(0, DATA)
            second.refresh()
        second.close()

    holder, held = run(hold)
    user, used = run(use)
    user.join(20)
    is_over.set()
    assert used == [None]
    finish(holder)
    assert held == [None]
    first.close()


@pytest.mark.parametrize("waiting", ["open", "replace", "append"])
def test_who_reads_waits_for_nobody_that_waits_for_readers(path, waiting):
    """One of those may be waiting for it."""
    first, second, third = opened(path, "r"), opened(path, "r"), opened(path)

    def wait() -> None:
        if waiting == "open":
            opened(path).close()
        elif waiting == "replace":
            b2.SChunk(chunksize=len(DATA), data=DATA, urlpath=path, mode="w", locking=True).close()
        else:
            third.append_data(DATA)

    with first.holding_lock():
        writer, written = run(wait)
        time.sleep(0.1)
        reader, read = run(lambda: second[:])
        reader.join(5)
        assert read == [DATA * 3]
        assert written == []
    finish(writer)
    assert not isinstance(written[0], BaseException)
    for s in (first, second, third):
        s.close()
