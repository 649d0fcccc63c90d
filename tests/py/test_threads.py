# SPDX-License-Identifier: BSD-3-Clause
"""Threads, the GIL and fork."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from inputs import make

import blosc2c as b2
from blosc2c import _ffi

A = np.cumsum(np.random.default_rng(0).integers(0, 9, (600, 700)), axis=1).astype("<i4")


@pytest.fixture(params=["memory", "file", "directory"])
def array(request, tmp_path):
    parts = {"chunks": (150, 170), "blocks": (40, 60)}
    if request.param == "memory":
        return b2.asarray(A, **parts)
    b2.asarray(A, urlpath=tmp_path / "a.b2nd", contiguous=request.param == "file", **parts).close()
    return b2.open(tmp_path / "a.b2nd")


@pytest.mark.parametrize("nthreads", [1, 3])
def test_many_threads_read_one_array(array, nthreads):
    array.dparams = b2.DParams(nthreads=nthreads)

    def read(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(30):
            i, j = (sorted(rng.sample(range(n + 1), 2)) for n in A.shape)
            key = (slice(*i, rng.randint(1, 3)), slice(*j))
            assert np.array_equal(array[key], A[key])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(16)))


def test_many_threads_compress_and_decompress():
    data = [make("mixed", 300_000 + i, i) for i in range(8)]
    want = [b2.compress2(d, typesize=4, nthreads=1) for d in data]

    def work(i: int) -> None:
        for _ in range(3):
            chunk = b2.compress2(data[i % 8], typesize=4, nthreads=1 + i % 4)
            assert chunk == want[i % 8]
            assert b2.decompress2(chunk, nthreads=1 + i % 3) == data[i % 8]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))


@pytest.mark.parametrize("urlpath", [None, "x.b2frame"])
def test_short_calls_of_many_threads(tmp_path, urlpath):
    """Those that come and go in C, beside those that do it in Python."""
    n, nturns = 1024, 150
    where = {} if urlpath is None else {"urlpath": tmp_path / urlpath}
    s = b2.SChunk(chunksize=n, cparams={"typesize": 1, "codec": b2.Codec.BLOSCLZ}, **where)
    for value in range(4):
        s.append_data(bytes([value]) * n)
    appended, inserted = [], []

    def check(data: bytes, length: int = n) -> None:
        assert data == data[:1] * length

    def update(i: int) -> None:
        assert s.update_data(i % 4, bytes([i % 256]) * n) >= 4

    def append(i: int) -> None:
        appended.append(s.append_data(bytes([i % 256]) * n))

    def transact(i: int) -> None:
        with s.transaction():
            s.update_data(0, bytes([i % 256]) * n)
            inserted.append(s.insert_data(3, bytes([i % 256]) * n))

    def decompress(i: int) -> None:
        check(s.decompress_chunk(i % 4))
        out = bytearray(n)
        s.decompress_chunk(3, out)
        check(out)

    def get(i: int) -> None:
        check(b2.decompress2(s.get_chunk(i % 4)))

    def read(i: int) -> None:
        check(s[n : n + 100], 100)
        check(b2.schunk_from_cframe(s.to_cframe()).decompress_chunk(1))
        assert s.nbytes % n == 0 and s.nchunks >= 4

    calls = [update, append, decompress, get, read, update, decompress]
    with ThreadPoolExecutor(len(calls) + 1) as pool:
        tasks = [pool.submit(lambda c=c: [c(i) for i in range(nturns)]) for c in calls]
        tasks.append(pool.submit(lambda: [transact(i) for i in range(nturns // 5)]))
        for task in tasks:
            task.result()
    assert s.nchunks == 4 + nturns + nturns // 5
    assert len(set(appended + inserted)) == nturns + nturns // 5  # each call has counted its own
    for i in range(s.nchunks):
        check(s.decompress_chunk(i))


def test_edits_of_a_transaction_let_nobody_in(monkeypatch):
    """Not even while another thread looks whether it may read, as which it counts for a moment."""
    s = b2.SChunk(chunksize=8, cparams={"typesize": 1})
    looks = iter([False, True, True, False, True, False])
    has_view = type(s.handle)._has_view
    monkeypatch.setattr(type(s.handle), "_has_view", lambda self: next(looks, False) or has_view(self))
    with s.transaction():
        other = threading.Thread(target=lambda: s.append_data(b"b" * 8))
        other.start()
        time.sleep(0.05)
        for n in (1, 2, 3):
            s.handle.turn.was_read = True  # as who looks leaves it
            assert s.append_data(b"a" * 8) == n
    other.join()
    assert next(looks, None) is None  # each was taken
    assert s[:] == b"a" * 24 + b"b" * 8


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("nblocks", [1, 2])
def test_nobody_is_shown_what_is_in_a_transaction(fails, nblocks):
    """Its own thread edits and looks in the short way, which keeps nothing for others, nor for later."""
    s = b2.SChunk(data=bytes(8), chunksize=8)
    seen = []

    def look() -> None:
        seen.extend((s.c_info().nchunks, s.nchunks, len(s), s[:1]))

    with contextlib.suppress(ZeroDivisionError), contextlib.ExitStack() as blocks:
        for _ in range(nblocks):
            blocks.enter_context(s.transaction())
        s.append_data(b"1" * 8)
        s.update_data(0, b"1" * 8)
        assert (s.c_info().nchunks, s.nchunks, len(s), s[:1]) == (2, 2, 16, b"1")
        other = threading.Thread(target=look)
        other.start()
        time.sleep(0.05)
        assert not seen and s.c_info().nchunks == 2
        if fails:
            raise ZeroDivisionError
    other.join()
    assert seen == ([1, 1, 8, b"\0"] if fails else [2, 2, 16, b"1"])
    assert [s.c_info().nchunks, s.nchunks, len(s), s[:1]] == seen
    assert s.handle.turn.is_open == _ffi.lib.B2I_OPEN


def test_a_reader_in_a_transaction_keeps_its_thread_from_editing():
    s = b2.SChunk(data=bytes(8), chunksize=8)
    with s.transaction():
        s.append_data(bytes(8))
        with s.handle, pytest.raises(b2.ParameterError, match="cannot change"):
            s.append_data(bytes(8))
        assert s.append_data(bytes(8)) == s.nchunks == 3


@pytest.mark.parametrize("edit", ["append_data", "insert_data"])
def test_callbacks_of_worker_threads_cannot_edit(edit):
    s = b2.SChunk(chunksize=1 << 22, cparams={"typesize": 1, "nthreads": 2, "blocksize": 1 << 18})
    told = []

    @s.prefilter("u1")
    def callback(data, out, offset):
        out[:] = data
        if threading.current_thread() is not caller:
            s.append_data(b"1234")

    def call() -> None:
        nonlocal caller
        caller = threading.current_thread()
        try:
            args = (0,) if edit == "insert_data" else ()
            for _ in range(50):  # until a worker has had a block
                getattr(s, edit)(*args, bytes(1 << 22))
        except b2.ParameterError as exc:
            told.append(str(exc))

    caller = None
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive() and "a callback" in told[0] and "cannot change" in told[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_fork_in_a_callback():
    """The child ends the call as well, and its readers count from then on."""
    assert (
        run(
            """
        import os, threading, warnings, blosc2c as b2
        warnings.simplefilter("ignore")
        s = b2.SChunk(data=bytes(1000), chunksize=1000)
        pids, inside, go = [], threading.Event(), threading.Event()
        @s.postfilter("u1")
        def callback(data, out, offset):
            out[:] = data
            if not pids:
                pids.append(os.fork())
            elif threading.current_thread() is not threading.main_thread():
                inside.set()
                go.wait(60)
        s.decompress_chunk(0)
        if pids[0]:
            assert os.waitpid(pids[0], 0)[1] == 0
        else:
            assert s.handle.turn.nreaders == 0
            thread = threading.Thread(target=s.decompress_chunk, args=(0,))
            thread.start()
            inside.wait(60)
            threading.Timer(0.2, go.set).start()
            s.handle.edit(lambda ptr: go.is_set() or os._exit(1))
            os._exit(0)
        print("fine")
        """
        )
        == "fine\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_fork_in_a_transaction():
    """In the child that of another thread is rolled back, and its own goes on."""
    assert (
        run(
            """
        import os, threading, warnings, blosc2c as b2
        warnings.simplefilter("ignore")
        inside, go = threading.Event(), threading.Event()
        def edit(s):
            with s.transaction():
                s.update_data(0, b"1")
                inside.set()
                go.wait(60)
        def child(call):
            pid = os.fork()
            if pid == 0:
                try:
                    call()
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(pid, 0)[1] == 0
        def check(s, data):
            assert s[:] == data, s[:]
            edit(s)
            assert s[:1] == b"1" and s.handle.turn.is_open == b2._ffi.lib.B2I_OPEN
        def fail(s):
            try:
                s.update_data(1, b"2")
                raise ZeroDivisionError
            except ZeroDivisionError as exc:
                end(type(exc), exc, None)
                check(s, bytes(2))
        def go_on(s):
            s.update_data(1, b"2")
            end(None, None, None)
            check(s, b"12")

        s = b2.SChunk(data=bytes(2), chunksize=1)
        thread = threading.Thread(target=edit, args=(s,))
        thread.start()
        inside.wait(60)
        child(lambda: go.set() or check(s, bytes(2)))
        go.set()
        thread.join()
        for call in fail, go_on:
            s = b2.SChunk(data=bytes(2), chunksize=1)
            block = s.transaction()
            end = block.__exit__
            block.__enter__()
            s.update_data(0, b"1")
            try:
                child(lambda: call(s))
            finally:
                end(None, None, None)
            assert s[:] == b"1\\0"
        print("fine")
        """
        )
        == "fine\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("contiguous", [True, False])
def test_fork_in_a_call_that_writes_to_a_file(tmp_path, contiguous):
    """The child, in which the file is closed, neither writes to it nor reads from what is gone."""
    assert (
        run(
            f"""
        import os, warnings, blosc2c as b2
        path, contiguous = {str(tmp_path / "f")!r}, {contiguous}
        """
            """
        class Index:
            def __index__(self):
                fork(None, None, None)
                return 0
        def fork(data, out, offset):
            if data is not None:
                out[:] = data
            if not pids:
                pids.append(os.fork())
        def edit_together(s):
            with s.transaction():
                s.append_data(b"2")
        calls = {
            "prefilter": lambda s: s.append_data(b"2"),
            "postfilter": lambda s: s.decompress_chunk(0),
            "transaction": edit_together,
            "index": lambda s: s.update_data(Index(), b"2"),
        }
        for name, call in calls.items():
            pids = []
            s = b2.SChunk(data=b"1", urlpath=path, mode="w", contiguous=contiguous)
            if name != "index":
                (s.postfilter if name == "postfilter" else s.prefilter)("u1")(fork)
            try:
                call(s)
            except b2.ClosedError:
                os._exit(0 if pids[0] == 0 else 1)
            assert os.waitpid(pids[0], 0)[1] == 0
            s.append_data(b"3")
            s.close()
            assert b2.open(path)[-1] == b"3"
        print("fine")
        """
        )
        == "fine\n"
    )


def test_facts_are_those_of_now():
    s = b2.SChunk(chunksize=8)
    for i in range(1, 4):
        s.append_data(bytes(8))
        assert (s.nchunks, s.nbytes, len(s)) == (i, 8 * i, 8 * i)
    with s.transaction():
        assert s.nchunks == 3
        s.delete_chunk(0)
        assert s.nchunks == 2
        s.append_data(bytes(8))
        s.append_data(bytes(8))
        assert s.nchunks == 4
    with pytest.raises(ZeroDivisionError), s.transaction():
        s.append_data(bytes(8))
        assert s.nchunks == 5
        raise ZeroDivisionError
    assert (s.nchunks, s.nbytes) == (4, 32)
    s.close()
    with pytest.raises(b2.ClosedError):
        s.nchunks  # noqa: B018


def test_readers_while_metadata_is_written():
    """Writers and readers of one object take turns; nobody sees half a change."""
    s = b2.SChunk(data=A.tobytes(), chunksize=100_000, cparams={"typesize": 4})
    stop, failures = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                assert s[1000:2000] == A.tobytes()[4000:8000]
            except Exception as exc:
                failures.append(exc)
                return

    threads = [threading.Thread(target=read, daemon=True) for _ in range(4)]
    for t in threads:
        t.start()
    for i in range(100):
        s.vlmeta["i"] = i
        s.append_data(b"more" * 25)
    stop.set()
    for t in threads:
        t.join()
    assert failures == [] and s.vlmeta["i"] == 99


def test_close_waits_for_readers():
    for _ in range(20):
        a = b2.asarray(A, chunks=(150, 170), blocks=(40, 60))
        results = []

        def read(a=a, results=results) -> None:
            try:
                while True:
                    results.append(np.array_equal(a[100:300, 50:400], A[100:300, 50:400]))
            except b2.ClosedError:
                results.append("closed")

        threads = [threading.Thread(target=read, daemon=True) for _ in range(3)]
        for t in threads:
            t.start()
        time.sleep(0.002)
        a.close()
        for t in threads:
            t.join(30)
        assert results.count("closed") == 3 and False not in results


def ticks_during(work, also=lambda: None) -> int:
    """How often another Python thread got to run, and through also(), while work() ran."""
    count, stop, ready = [0], threading.Event(), threading.Event()

    def tick() -> None:
        ready.set()
        while not stop.is_set():
            also()
            count[0] += 1
            time.sleep(0.0005)

    t = threading.Thread(target=tick, daemon=True)
    t.start()
    ready.wait()
    before = count[0]
    try:
        work()
        return count[0] - before
    finally:
        stop.set()
        t.join()


def test_the_gil_is_released():
    # With the GIL held the other thread could tick once before and once after the call.
    data, nbytes = make("text", 1_500_000), 120_000_000
    chunk = b2.compress2(make("text", nbytes // 8) * 8, codec="lz4", clevel=1, typesize=1, nthreads=1)
    out = bytearray(nbytes)
    assert ticks_during(lambda: b2.compress2(data, clevel=9, typesize=1, nthreads=1)) > 3
    assert ticks_during(lambda: b2.decompress2(chunk, dst=out, nthreads=1)) > 3


def run(code: str) -> str:
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert out.returncode == 0, out.stderr
    return out.stdout


def test_contexts_that_outlive_the_module():
    """The interpreter empties modules at its end, while objects elsewhere may still hold a context."""
    code = """
        import threading, blosc2c as b2
        from blosc2c import _ffi
        def use():
            b2.compress2(bytes(100))
            _ffi.lib = None
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        """
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert (out.returncode, out.stderr) == (0, "")


@pytest.mark.parametrize("storage", ({}, {"contiguous": True}, {"contiguous": False}), ids=str)
def test_readers_do_not_wait_for_each_other(storage, tmp_path):
    """Small reads go on while a large one lasts."""
    if storage:
        storage = storage | {"urlpath": tmp_path / "a.b2nd"}
    data = np.tile(A, (70, 1))
    cparams = b2.CParams(codec=b2.Codec.ZLIB, clevel=1)  # the slowest to read
    array = b2.asarray(data, cparams=cparams, dparams={"nthreads": 1}, **storage)
    out = np.empty_like(data)
    # With the GIL, or a lock, held the other thread could read once before and once after.
    assert ticks_during(lambda: array.read_into(out), lambda: array[300:310, 20:90]) > 3
    assert np.array_equal(out, data)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork_after_threaded_use():
    """A child starts its own workers and reads what its parent opened."""
    assert (
        run(
            """
        import os, warnings, numpy as np, blosc2c as b2
        warnings.simplefilter("ignore")  # of fork with threads: that is what is tested
        a = np.arange(4_000_000)
        b = b2.asarray(a, cparams={"nthreads": 4}, dparams={"nthreads": 4})
        chunk = b2.compress2(a, nthreads=4)
        assert (b[...] == a).all()
        pids = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                ok = (b[...] == a).all() and b2.decompress2(chunk, nthreads=4) == a.tobytes()
                ok = ok and b2.compress2(a, nthreads=4) == chunk
                os._exit(0 if ok else 1)
            pids.append(pid)
        assert all(os.waitpid(pid, 0)[1] == 0 for pid in pids)
        assert (b[...] == a).all()
        print("fine")
        """
        )
        == "fine\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork_while_threads_read():
    assert (
        run(
            """
        import os, threading, warnings, numpy as np, blosc2c as b2
        warnings.simplefilter("ignore")
        a = np.arange(1_000_000)
        b = b2.asarray(a, dparams={"nthreads": 3})
        stop = threading.Event()
        def read():
            while not stop.is_set():
                b[...]
        threads = [threading.Thread(target=read, daemon=True) for _ in range(3)]
        for t in threads: t.start()
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                ok = (b[5000:900_000] == a[5000:900_000]).all()
                b.close()
                os._exit(0 if ok else 1)
            assert os.waitpid(pid, 0)[1] == 0
        stop.set()
        for t in threads: t.join()
        print("fine")
        """
        )
        == "fine\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork_while_a_thread_reads_a_file_object():
    """The child does not wait for a thread that does not exist there."""
    assert (
        run(
            """
        import io, os, signal, threading, warnings, numpy as np, blosc2c as b2
        warnings.simplefilter("ignore")
        a = np.arange(5000)
        begun, go_on = threading.Event(), threading.Event()
        class Slow(io.BytesIO):
            def read(self, n=-1):
                if threading.current_thread() is t:
                    begun.set()
                    go_on.wait(60)
                return super().read(n)
        t = None
        b = b2.open(Slow(b2.asarray(a).to_cframe()))
        t = threading.Thread(target=lambda: b[:])
        t.start()
        begun.wait()
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            os._exit(0 if (b[:] == a).all() else 1)
        status = os.waitpid(pid, 0)[1]
        go_on.set()
        t.join()
        print("fine" if status == 0 else status)
        """
        )
        == "fine\n"
    )


@pytest.mark.parametrize("buffering", [-1, 0])
def test_a_file_object_keeps_its_position(tmp_path, buffering):
    """It is that of forked processes as well, which may be reading at this moment."""
    path = tmp_path / "a.b2nd"
    b2.asarray(A, urlpath=path, chunks=(150, 170)).close()
    with open(path, "rb", buffering=buffering) as file:
        array = b2.open(file)
        file.seek(123)
        before = os.lseek(file.fileno(), 0, os.SEEK_CUR)
        assert np.array_equal(array[100:400], A[100:400])
        assert file.tell() == 123 and os.lseek(file.fileno(), 0, os.SEEK_CUR) == before
    with pytest.raises(ValueError, match="closed file"):
        array[:100]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("when", ["in C", "at the end"])
def test_fork_while_a_thread_closes(tmp_path, when):
    """The child finds it closed, where the thread that would end closing does not exist."""
    assert (
        run(
            f"""
        import os, signal, threading, warnings, blosc2c as b2
        from blosc2c._ffi import lib
        from blosc2c.handles import Handle
        warnings.simplefilter("ignore")
        s = b2.SChunk(data=bytes(5000), urlpath={str(tmp_path / "f.b2frame")!r}, mode="w")
        begun, go_on = threading.Event(), threading.Event()
        def pause():
            if threading.current_thread() is t:
                begun.set()
                go_on.wait(60)
        def close(ptr, err):
            if {when!r} == "in C": pause()
            return lib.b2c_schunk_close(ptr, err)
        update = Handle._update
        def slow_update(self):
            if {when!r} == "at the end": pause()
            update(self)
        Handle._update = slow_update
        t = threading.Thread(target=s.handle.close, args=(close, None))
        t.start()
        begun.wait()
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            Handle._update = update
            try:
                s.nchunks
            except b2.ClosedError:
                os._exit(0)
            os._exit(1)
        status = os.waitpid(pid, 0)[1]
        go_on.set()
        t.join()
        print("fine" if status == 0 else status)
        """
        )
        == "fine\n"
    )


def test_closing_twice_at_once():
    """The first one closes, for the second one there is nothing left to do."""
    calls = []
    s = b2.SChunk(data=bytes(5000))

    def close(ptr, err):
        calls.append(ptr)
        return _ffi.lib.b2c_schunk_close(ptr, err)

    with ThreadPoolExecutor(2) as pool:
        with s.handle:  # both wait for this reader
            closing = [pool.submit(s.handle.close, close, None) for _ in range(2)]
            while s.handle._nwaiting < 2:
                time.sleep(0.01)
        for future in closing:
            future.result()
    assert len(calls) == 1 and s.handle.is_closed


def test_exit_with_idle_workers():
    assert (
        run("import blosc2c as b2; b2.compress2(bytes(range(256)) * 8000, nthreads=4); print('fine')")
        == "fine\n"
    )


def test_multiprocessing_by_fork_and_spawn(tmp_path):
    code = """
        import multiprocessing, sys, warnings, numpy as np, blosc2c as b2
        warnings.simplefilter("ignore")
        def total(a): return int(a[::7].sum())
        if __name__ == "__main__":
            a = np.arange(500_000)
            b = b2.asarray(a, dparams={"nthreads": 2})
            b[...]
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    assert pool.map(total, [b] * 4) == [int(a[::7].sum())] * 4
            print("fine")
        """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert out.stdout == "fine\n", out.stderr
