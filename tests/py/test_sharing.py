# SPDX-License-Identifier: BSD-3-Clause
"""Several handles and processes on one frame: turns under the lock, readers beside a writer."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import blosc2
import numpy as np
import pytest
from inputs import make

import blosc2c as b2
from blosc2c import creation, ndedit, rearranging
from blosc2c.edit import Editing
from blosc2c.handles import Handle

SIZE = 2000


@pytest.fixture(params=["file", "directory"])
def disk(request):
    return request.param


def lock_of(path, disk: str):
    return path / ".b2lock" if disk == "directory" else path.with_name(path.name + ".b2lock")


def create(path, disk: str, n: int = 0, **kwargs) -> list[bytes]:
    """Write n chunks of random bytes and close; the chunks."""
    model = [make("random", SIZE, i) for i in range(n)]
    with b2.SChunk(chunksize=SIZE, urlpath=path, contiguous=disk == "file", **kwargs) as s:
        for data in model:
            s.append_data(data)
    return model


class Other:
    """A process that has opened the frame, with our library or the reference, and edits on demand."""

    CODE = """
        import sys
        library, path = sys.argv[1:]
        module = __import__(library)
        s = module.open(path, mode="a", locking=True)
        print("open", flush=True)
        for line in sys.stdin:
            print(eval(line), flush=True)
    """

    def __init__(self, library: str, path) -> None:
        command = [sys.executable, "-c", textwrap.dedent(self.CODE), library, str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "open\n"

    def start(self, expression: str) -> None:
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        return self.process.stdout.readline().strip()

    def ask(self, expression: str) -> str:
        self.start(expression)
        return self.answer()

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *exc) -> None:
        self.process.stdin.close()
        self.process.wait(60)


def edit(rng: random.Random, model: list[bytes]) -> str:
    """A random edit, made in the model, as an expression of `s`."""
    value, n = rng.randrange(1, 256), len(model)
    text, data = f"bytes([{value}]) * {SIZE}", bytes([value]) * SIZE
    at, kind = rng.randrange(n) if n else 0, rng.randrange(5) if n else 0
    if kind <= 1:
        model.append(data)
        return f"s.append_data({text})"
    if kind == 2:
        model[at] = data
        return f"s.update_data({at}, {text}, copy=True)"
    if kind == 3:
        model.insert(at, data)
        return f"s.insert_data({at}, {text}, copy=True)"
    del model[at]
    return f"s.delete_chunk({at})"


# ---- turns ---------------------------------------------------------------------------


def test_handles_take_turns(disk, tmp_path):
    path, rng = tmp_path / "x", random.Random(1)
    model = create(path, disk, 3)
    handles = [b2.open(path, mode="a", locking=True) for _ in range(3)]
    reader = b2.open(path, locking=True)
    for i in range(80):
        s = rng.choice(handles)
        eval(edit(rng, model), {"s": s})
        s.vlmeta["n"] = i
        other = rng.choice(handles)
        assert other.nchunks == reader.nchunks == len(model)
        assert other[:] == reader[:] == b"".join(model)
        assert reader.vlmeta["n"] == other.vlmeta["n"] == i
        if i % 20 == 10:
            s.close()
            handles[handles.index(s)] = b2.open(path, mode="a", locking=True)
    for s in handles:
        s.close()
    assert reader[:] == b"".join(model) == blosc2.open(str(path), mode="r")[:]
    reader.close()


def test_turns_with_the_reference(disk, tmp_path):
    path, rng = tmp_path / "x", random.Random(2)
    model = create(path, disk, 3)
    with Other("blosc2", path) as other, b2.open(path, mode="a", locking=True) as s:
        for i in range(60):
            before = int.from_bytes(lock_of(path, disk).read_bytes()[8:], "little")
            code = edit(rng, model)
            if rng.randrange(2):
                eval(code, {"s": s})
            else:
                other.ask(code)
            assert int.from_bytes(lock_of(path, disk).read_bytes()[8:], "little") > before
            assert s.nchunks == len(model), i
            assert s[:] == b"".join(model), i
            if model:
                # It counts its chunks anew when it has read something, or when told to.
                assert (
                    other.ask(f"[s.refresh(), s[0:{len(model) * SIZE}]][1] == {b''.join(model)!r}") == "True"
                )
    assert b2.open(path)[:] == b"".join(model)


def test_arrays_take_turns(disk, tmp_path):
    path = tmp_path / "a.b2nd"
    first = b2.asarray(
        np.arange(12).reshape(3, 4), urlpath=path, contiguous=disk == "file", locking=True, chunks=(2, 2)
    )
    second, reader = b2.open(path, mode="a", locking=True), b2.open(path, locking=True)
    with Other("blosc2", path) as other:
        first.resize((5, 4))
        second[4] = 7  # in what the other has added
        assert second.shape == (5, 4) and (first[4] == 7).all() and (reader[4] == 7).all()
        other.ask("s.resize((6, 4))")
        other.ask("s.__setitem__(5, 9)")
        assert (reader[5] == 9).all() and reader.shape == (6, 4)
        with first.holding_lock():
            assert first.shape == (6, 4)
            first[0] = first[0] + 1
        assert other.ask("s[0].tolist()") == "[1, 2, 3, 4]"
        second.resize((1, 4))
        with pytest.raises(IndexError):
            first[3]
        assert first.shape == (1, 4)
    for a in (first, second, reader):
        a.close()


def test_arrays_are_appended_to_at_the_same_time(disk, tmp_path):
    path = tmp_path / "a.b2nd"
    b2.zeros((0, 2), "i8", urlpath=path, contiguous=disk == "file", chunks=(5, 2)).close()
    others = [Other("blosc2c", path) for _ in range(3)]
    for i, other in enumerate(others):
        other.start(f"[s.append([[{i}, k]], 0) for k in range(20)][-1]")
    for other in others:
        other.answer()
        other.__exit__()
    assert sorted(b2.open(path)[...].tolist()) == [[i, k] for i in range(3) for k in range(20)]


@pytest.mark.parametrize("libraries", [("blosc2c", "blosc2c", "blosc2c"), ("blosc2c", "blosc2", "blosc2")])
def test_processes_append_at_the_same_time(disk, tmp_path, libraries):
    path = tmp_path / "x"
    create(path, disk)
    loop = "[s.append_data(bytes([i]) * 2000) for i in range(40)][-1]"
    others = [Other(library, path) for library in libraries]
    for other in others:
        other.start(loop)
    for other in others:
        assert int(other.answer()) >= 40
        other.__exit__()
    with b2.open(path, mode="a", locking=True) as s:
        values = [s.decompress_chunk(i)[0] for i in range(s.nchunks)]
        assert sorted(values) == sorted(list(range(40)) * len(libraries))
    assert b2.verify(path).problems == []


def test_a_transaction_is_one_turn(disk, tmp_path):
    path = tmp_path / "x"
    model = create(path, disk, 2)
    with Other("blosc2", path) as other, b2.open(path, mode="a", locking=True) as s:
        with s.transaction():
            s.append_data(model[0])
            other.start("s.append_data(bytes(2000))")
            time.sleep(0.3)
            s.append_data(model[1])
            assert s.nchunks == 4  # and not five
        assert other.answer() == "5"
        with pytest.raises(ZeroDivisionError), s.transaction():
            s.delete_chunk(0)
            raise ZeroDivisionError
        assert other.ask("s.nchunks") == "5"
        with s.holding_lock():
            other.start("s.delete_chunk(0)")
            assert s[:] == b"".join([*model, *model, bytes(SIZE)])
        assert other.answer() == "4"
        s.lock()
        other.start("s.delete_chunk(0)")
        assert s.nchunks == 4
        s.unlock()
        assert other.answer() == "3"
        with pytest.raises(ValueError, match="without lock"):
            s.unlock()
        assert s[:] == b"".join([*model, bytes(SIZE)])


def test_opening_waits_and_ctrl_c_ends_it(disk, tmp_path):
    path = tmp_path / "x"
    create(path, disk, 2)
    waiting = """
        import signal, sys, blosc2c as b2
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it
        print("go", flush=True)
        try:
            with b2.open(sys.argv[1], mode="a", locking=True) as s:
                print(s.nchunks)
        except KeyboardInterrupt:
            print("interrupted")
    """
    command = [sys.executable, "-c", textwrap.dedent(waiting), str(path)]
    with Other("blosc2", path) as other:
        other.start("[s.lock(), sys.stdin.readline(), s.unlock()][1]")
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for process in processes:
            assert process.stdout.readline() == "go\n"
        time.sleep(0.5)
        processes[0].send_signal(signal.SIGINT)
        assert processes[0].communicate(timeout=60)[0] == "interrupted\n"
        assert processes[1].poll() is None
        other.start("")
        assert processes[1].communicate(timeout=60)[0] == "2\n"


@pytest.mark.parametrize("mode", ["a", "r"])
@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_of_handles_take_turns(tmp_path, mode, copied):
    """As the original does: it reads or changes, and sees what others have stored."""
    b2.asarray(np.arange(10), urlpath=tmp_path / "f", chunks=(4,)).close()
    with b2.open(tmp_path / "f", mode=mode, locking=True) as x, copied(x) as y, copied(x.schunk) as s:
        assert y.schunk.locking and s.locking and y.schunk.mode == s.mode == mode
        assert y.schunk.is_writable == s.is_writable == (mode == "a")
        with b2.open(tmp_path / "f", mode="a", locking=True) as other:
            other[0] = 7
        assert y[0] == 7
        if mode == "a":
            y.append([11])
            assert x.shape == (11,) and x[10] == 11
    with b2.open(tmp_path / "f", mode="a") as x, copied(x) as y:
        assert not y.schunk.is_writable  # one writer


def test_one_thread_does_not_wait_for_itself(disk, tmp_path):
    path = tmp_path / "x"
    create(path, disk, 2)
    with b2.open(path, mode="a", locking=True) as s, b2.open(path, mode="a", locking=True) as t:
        with s.transaction():
            with pytest.raises(BlockingIOError):
                t.append_data(bytes(SIZE))
            with pytest.raises(BlockingIOError):
                t.nchunks  # noqa: B018
        t.append_data(bytes(SIZE))
        assert s.nchunks == 3


@pytest.mark.parametrize("how", ["items", "oindex", "field"])
def test_what_is_assigned_is_read_before_the_turn(tmp_path, how):
    """Whoever has locked that may wait for the array: two that assign to each other do not."""
    a = b2.zeros(10, [("x", "i4"), ("y", "f8")], urlpath=tmp_path / "a", locking=True)
    other = b2.open(tmp_path / "a", mode="a", locking=True)
    finished = []

    class Value:
        def __array__(self, dtype=None, copy=None):
            thread = threading.Thread(target=lambda: other.resize(20), daemon=True)
            thread.start()
            thread.join(10)
            finished.append(not thread.is_alive())
            return np.arange(5) if how == "field" else np.ones(5, a.dtype)

    part = slice(0, 5)
    if how == "field":
        a["x"][part] = Value()
    else:
        (a if how == "items" else a.oindex)[part] = Value()
    assert finished == [True]
    assert a.shape == (20,)
    assert a["x"][:6].tolist() == ([0, 1, 2, 3, 4, 0] if how == "field" else [1, 1, 1, 1, 1, 0])
    other.close()
    a.close()


def make_meet(monkeypatch, *functions: tuple[object, str]) -> None:
    """Let whoever calls one of the functions wait a little for another thread to do so."""
    meeting = threading.Barrier(2)

    def meet_before(function):
        def call(*args, **kwargs):
            with contextlib.suppress(threading.BrokenBarrierError):
                meeting.wait(0.5)
            return function(*args, **kwargs)

        return call

    for owner, name in functions:
        monkeypatch.setattr(owner, name, meet_before(getattr(owner, name)))


def run_both(function, *args: tuple[object, ...]) -> None:
    """Call it with each of the arguments, at the same time, and wait for the ends."""
    threads = [threading.Thread(target=function, args=a, daemon=True) for a in args]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)


@pytest.mark.parametrize("locking", [False, True])
@pytest.mark.parametrize("name", ["append", "copy_chunks"])
def test_two_that_take_from_each_other(tmp_path, monkeypatch, name, locking):
    """Neither keeps what the other one waits for."""
    paths = [tmp_path / "a", tmp_path / "b"]
    made = [b2.zeros(10, "i4", chunks=(10,), **({"urlpath": p} if locking else {})) for p in paths]
    if locking:  # handles as of two processes
        for array in made:
            array.close()
        made = [b2.open(p, mode="a", locking=True) for p in paths]
        theirs = [b2.open(p, mode="a", locking=True) for p in reversed(paths)]
    else:
        theirs = made[::-1]
    done = []

    def take(array, source) -> None:
        if name == "append":
            array.append(source, 0)
        else:
            array.schunk.copy_chunks(source.schunk)
        done.append(array.schunk.nchunks)

    make_meet(monkeypatch, (ndedit, "_append_parts"), (Handle, "edit"))
    run_both(take, *zip(made, theirs, strict=True))
    assert sorted(done) == [2, 3]  # the second one takes what the first one has got
    for array in (*made, *theirs):
        array.close()


NESTED = np.dtype([("f", [("f", "i4")])])  # a field of it has one again
MAKERS = {
    "copy": lambda a, others, **kw: a.copy(**kw),
    "copy of chunks": lambda a, others, **kw: a.schunk.copy(**kw),
    "other parameters": lambda a, others, **kw: a.copy(chunks=(2,), **kw),
    "chunks with others": lambda a, others, **kw: a.schunk.copy({"clevel": 9}, **kw),
    "slice": lambda a, others, **kw: a.slice(slice(1, None), **kw),
    "reshape": lambda a, others, **kw: b2.reshape(a, (2, 5), **kw),
    "permute_dims": lambda a, others, **kw: b2.permute_dims(a, (0,), **kw),
    "field": lambda a, others, **kw: b2.asarray(a["f"], **kw),
    "concat": lambda a, others, **kw: b2.concat([others[0], a, np.zeros(1, a.dtype), others[1], a], **kw),
}


@pytest.mark.parametrize("name", MAKERS)
def test_two_that_replace_each_other(tmp_path, monkeypatch, name):
    """Neither has taken the other's place while it waits to read."""
    paths, made = [tmp_path / "b", tmp_path / "d"], []
    for path, value in zip(paths, (1, 2), strict=True):
        b2.full(10, ((value,),), NESTED, urlpath=path).close()
    others = [b2.zeros(10, NESTED, urlpath=tmp_path / n, locking=True) for n in ("a", "c")]
    theirs = [b2.open(path, locking=True) for path in paths]

    def make(array, path) -> None:
        made.append(MAKERS[name](array, others, urlpath=path, mode="w", locking=True))

    make_meet(monkeypatch, (creation, "fill_from"), (rearranging, "fill_from"), (Editing, "copy_all"))
    make_meet(monkeypatch, (b2.SChunk, "append_data"), (b2.SChunk, "being_made"))
    run_both(make, *zip(theirs, reversed(paths), strict=True))
    assert len(made) == 2
    for x in (*made, *others, *theirs):
        x.close()
    values = [set(np.frombuffer(b2.open(path).schunk[:], "i4").tolist()) - {0} for path in paths]
    assert values in ([{1}] * 2, [{2}] * 2)  # the second one takes what the first one has made


def test_a_killed_holder(disk, tmp_path):
    path = tmp_path / "x"
    model = create(path, disk, 2)
    with b2.open(path, mode="a", locking=True) as s:
        with Other("blosc2c", path) as other:
            other.start(
                "[s.lock(), s.append_data(bytes(2000)), __import__('os').kill(__import__('os').getpid(), 9)]"
            )
            assert other.answer() == ""
        s.append_data(model[0])
        assert s[:] == b"".join([*model, bytes(SIZE), model[0]])
    assert blosc2.open(str(path), mode="r")[:] == b"".join([*model, bytes(SIZE), model[0]])


@pytest.mark.parametrize("makes", (False, True))
def test_a_holder_killed_in_a_transaction(makes, disk, tmp_path):
    """What it has left disturbs none of the others, and goes when nobody needs it any more."""
    path, model = tmp_path / "x", [make("random", SIZE, 0)]
    if makes:
        s = b2.SChunk(chunksize=SIZE, urlpath=path, contiguous=disk == "file", locking=True)
        s.append_data(model[0])
    else:
        create(path, disk, 1)
        s = b2.open(path, mode="a", locking=True)
    with s:
        for i in range(3):
            s.append_data(bytes([i]) * SIZE)  # directories: from now on others do not tidy up
            with Other("blosc2c", path) as other:
                other.start(
                    "[t := s.transaction(), t.__enter__(), *(s.append_data(bytes(2000)) for _ in range(2)), "
                    "__import__('os').kill(__import__('os').getpid(), 9)]"
                )
                assert other.answer() == ""
        s.append_data(model[0])
        s.append_data(model[0])
        expected = b"".join([*model, *(bytes([i]) * SIZE for i in range(3)), model[0], model[0]])
        assert s[:] == expected
        assert b2.open(path)[:] == expected == blosc2.open(str(path), mode="r")[:]
    with b2.open(path, mode="a", locking=True) as s:
        s.append_data(model[0])
    assert b2.open(path)[:] == expected + model[0]
    assert disk == "file" or len(list(path.glob("*.chunk"))) == 6  # none for the zeros


def test_threads_of_one_handle(disk, tmp_path):
    path = tmp_path / "x"
    create(path, disk, 4)
    failures = []
    with b2.open(path, mode="a", locking=True) as s, b2.open(path, mode="a", locking=True) as t:

        def work(handle, value):
            try:
                for _ in range(30):
                    handle.update_data(value, bytes([value]) * SIZE)
                    assert handle.decompress_chunk(value) == bytes([value]) * SIZE
            except BaseException as exc:
                failures.append(exc)

        threads = [threading.Thread(target=work, args=(h, v)) for v, h in enumerate([s, s, t, t])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert s[:] == b"".join(bytes([v]) * SIZE for v in range(4))


def test_the_lock_file(disk, tmp_path, monkeypatch):
    path = tmp_path / "x"
    create(path, disk, 2)
    assert not lock_of(path, disk).exists()
    b2.open(path, mode="a").close()
    assert not lock_of(path, disk).exists()
    with b2.open(path, locking=True) as s:
        assert s.locking and s.nchunks == 2
        with pytest.raises(b2.ReadOnlyError):
            s.append_data(bytes(SIZE))
    assert lock_of(path, disk).exists()
    monkeypatch.setenv("BLOSC_LOCKING", "1")
    assert b2.open(path).locking
    with b2.SChunk(chunksize=SIZE, urlpath=tmp_path / "y", contiguous=disk == "file") as s:
        assert s.locking and lock_of(tmp_path / "y", disk).stat().st_size == 16
    assert not b2.SChunk(chunksize=SIZE).locking
    monkeypatch.chdir(tmp_path)
    with b2.open("x", mode="a") as s, b2.open("x", mode="a") as t:
        monkeypatch.chdir("/")
        t.append_data(bytes(SIZE))
        assert s.nchunks == 3


def test_something_else_in_place_of_the_lock_file(disk, tmp_path):
    """It is refused, and does no harm when it has gone."""
    path = tmp_path / "frame"
    model = create(path, disk, 2)
    lock = lock_of(path, disk)
    with b2.open(path, mode="a", locking=True) as s:
        lock.unlink()
        os.mkfifo(lock)
        with pytest.raises(OSError):
            s.append_data(model[0])
        with pytest.raises(OSError):
            b2.open(path, locking=True)
        lock.unlink()
        s.append_data(model[0])
        assert s.decompress_chunk(2) == model[0]


def test_when_the_frame_has_gone(disk, tmp_path):
    path = tmp_path / "x"
    create(path, disk, 2)
    s, t = b2.open(path, mode="a", locking=True), b2.open(path, mode="a", locking=True)
    t.append_data(bytes(SIZE))
    t.close()
    os.rename(path, tmp_path / "away")
    with pytest.raises(FileNotFoundError):
        s.nchunks  # noqa: B018
    os.rename(tmp_path / "away", path)
    assert s.nchunks == 3
    s.close()


# ---- readers without the lock ------------------------------------------------------------

BUSY = """
    import sys, random, blosc2c as b2
    path, seconds, how = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    import time
    rng, end = random.Random(3), time.time() + seconds
    s = b2.open(path, mode="a")
    print("open", flush=True)
    k = n = 0
    while time.time() < end:
        i, k, n = rng.randrange(8), (k + 1) % 200, n + 1
        head = bytes([i, k])
        # of many sizes, so that room is used again in all ways
        s.update_data(i, head + rng.randbytes(rng.randrange(1998)).ljust(1998, head[1:]))
        if how == "flush":
            s.flush()
    s.close()
    print(n, flush=True)
"""


@pytest.mark.parametrize("how", ["flush", "log"])
def test_readers_beside_an_updating_writer(disk, tmp_path, how):
    path = tmp_path / "x"
    with b2.SChunk(chunksize=SIZE, urlpath=path, contiguous=disk == "file") as s:
        for i in range(8):
            s.append_data(bytes([i, 0]) + bytes(SIZE - 2))
    command = [sys.executable, "-c", textwrap.dedent(BUSY), str(path), "2", how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, b2.open(path) as s:
        assert process.stdout.readline() == "open\n"
        nreads = 0
        while process.poll() is None:
            for i in range(8):
                assert s.decompress_chunk(i)[0] == i
                assert s[i * SIZE] == bytes([i])
            whole = s[:]
            assert [whole[i * SIZE] for i in range(8)] == list(range(8))
            nreads += 1
            if nreads % 10 == 0:
                s.refresh()
        assert nreads > 5 and int(process.stdout.read()) > 20
        assert s.refresh() is not None
        assert s[:] == b2.open(path)[:] == blosc2.open(str(path), mode="r")[:]


REWRITING = """
    import sys, time, blosc2c as b2
    end = time.time() + float(sys.argv[2])
    a = b2.open(sys.argv[1], mode="a")
    print("open", flush=True)
    n = 0
    while time.time() < end:
        n += 1
        a[...] = n % 30000
    a.close()
    print(n, flush=True)
"""


@pytest.mark.parametrize("clevel", [0, 1])
@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_arrays_beside_a_writer_are_of_one_state(tmp_path, mmap_mode, clevel):
    """Also when all chunks are as long as before, and where they were: commits look the same then."""
    path = str(tmp_path / "x.b2nd")
    b2.full((20, 50), 7, "i2", chunks=(3, 50), urlpath=path, cparams={"clevel": clevel}).schunk.close()
    command = [sys.executable, "-c", textwrap.dedent(REWRITING), path, "1.5"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
        b2.open(path, mmap_mode=mmap_mode) as a,
    ):
        assert process.stdout.readline() == "open\n"
        seen = set()
        while process.poll() is None:
            items = np.unique(a[...])
            assert len(items) == 1
            seen.add(int(items[0]))
        assert len(seen) > 5 and int(process.stdout.read()) > 20


def test_slices_of_what_has_become_shorter(disk, tmp_path):
    """They are cut at the end of the state that is there."""
    path = tmp_path / "x"
    create(path, disk, 8)
    for read in (
        lambda s: s[:],
        lambda s: s[SIZE : 9 * SIZE],
        lambda s: s[-SIZE:],
        lambda s: s.get_slice(SIZE),
    ):
        with b2.open(path) as s, b2.open(path, mode="a") as writer:
            n = writer.nchunks
            writer.delete_chunk(n - 1)
            for i in range(4):
                writer.update_data(0, make("random", SIZE, n * 10 + i))
                writer.flush()
            assert read(s) == read(writer) and s.nchunks == n - 1


def test_a_reader_keeps_its_state_while_chunks_are_appended(disk, tmp_path):
    path = tmp_path / "x"
    model = create(path, disk, 3)
    with b2.open(path) as s, b2.open(path, mode="a") as writer:
        for i in range(60):
            writer.append_data(bytes([i]) * SIZE)
            writer.flush()
            assert s[:] == b"".join(model) and s.nchunks == 3
        assert s.refresh() and s.nchunks == 63
        writer.update_data(0, bytes(SIZE))
        assert s.decompress_chunk(62) == bytes([59]) * SIZE


@pytest.mark.parametrize("session", ["closes", "begins anew"])
def test_a_read_across_sessions_of_a_writer(tmp_path, session):
    """Packed frames and the next session's count of commits do not hide that room was used again."""
    path, nchunks, size, todo = tmp_path / "x.b2nd", 40, 65536, [1]
    items = np.zeros(nchunks * size, "u1")
    b2.asarray(items, chunks=(size,), blocks=(size,), urlpath=path, cparams={"clevel": 0}).schunk.close()
    writers = [b2.open(path, mode="a")]

    def put(value):
        with writers[-1].schunk.transaction():
            for at in (0, nchunks - 1):
                writers[-1][at * size : (at + 1) * size] = np.full(size, value, "u1")

    def put_others(n):
        for k in range(n):
            writers[-1].schunk.vlmeta["k"] = k
            writers[-1].schunk.flush()

    for value in range(1, 4):
        put(value)
    if session == "begins anew":
        put_others(10)
    reader = b2.open(path, mode="r", dparams={"nthreads": 1})

    @reader.schunk.postfilter(np.uint8, np.uint8)
    def meanwhile(found, out, offset):
        out[:] = found
        if offset == size and todo:
            todo.clear()
            if session == "begins anew":
                writers[-1].schunk.close()
                writers.append(b2.open(path, mode="a"))
            for value in range(7, 11):
                put(value)
            if session == "begins anew":
                put_others(20)  # so that they are more than before
            else:
                writers[-1].schunk.close()

    found = reader[:]
    assert not todo and found[0] == found[-1]
    reader.schunk.remove_postfilter("meanwhile")
    shown = reader[0]
    assert reader.schunk.refresh() or shown == 10
    assert reader[0] == reader[-1] == 10
    writers[-1].schunk.close()


PARTS = {
    "copy": (lambda a: a.copy(chunks=(3, 500)), lambda x: x),
    "slice": (lambda a: a.slice((slice(1, 9), slice(3, 7))), lambda x: x[1:9, 3:7]),
    "reshape": (lambda a: b2.reshape(a, (-1, 1000)), lambda x: x.reshape(-1, 1000)),
    "permute_dims": (lambda a: b2.permute_dims(a, reversed(range(2))), np.transpose),
    "concat": (lambda a: b2.concat(iter([a, a])), lambda x: np.concatenate([x, x])),
    "stack": (lambda a: b2.stack([a, a]), lambda x: np.stack([x, x])),
    "take": (lambda a: b2.take(a, [3, 1, 7], axis=0), lambda x: np.take(x, [3, 1, 7], axis=0)),
}


@pytest.mark.parametrize("shrinks", [False, True])
@pytest.mark.parametrize("name", PARTS)
def test_what_is_made_part_by_part_is_of_one_state(tmp_path, monkeypatch, name, shrinks):
    """When somebody changes the source meanwhile all of it is read again."""
    path = tmp_path / "x.b2nd"
    ours, numpys = PARTS[name]
    writer = b2.asarray(np.arange(20000).reshape(40, 500), chunks=(2, 500), urlpath=path)
    writer.schunk.flush()
    reader, todo, original = b2.open(path), [1], creation.fill_from

    def interrupted(*args):
        if not shrinks:
            original(*args)
        if todo:
            todo.clear()
            writer.resize((10 if shrinks else 40, 500))
            for i in range(4):
                writer[...] = np.arange(20000).reshape(40, 500)[: len(writer), ::-1] * i
                writer.schunk.flush()
            reader.refresh()
        if shrinks:  # parts that are not there any more
            original(*args)

    for module in (creation, rearranging):
        monkeypatch.setattr(module, "fill_from", interrupted)
    np.testing.assert_array_equal(ours(reader)[...], numpys(writer[...]))
    assert not todo
    writer.schunk.close()


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("kind", ["array", "schunk", "chunks"])
def test_copies_beside_a_writer_are_of_one_state(tmp_path, monkeypatch, contiguous, kind):
    """A reader without the lock, whose chunks go while they are copied as they are stored."""
    path, rng = tmp_path / "x.b2nd", np.random.default_rng(5)

    def state(bits):  # of another compressed size each
        return rng.integers(0, 1 << bits, (40, 500), dtype="i4")

    writer = b2.asarray(state(3), chunks=(2, 500), urlpath=path, contiguous=contiguous)
    writer.schunk.flush()
    reader, todo = b2.open(path), [[5, 9, 13, 7, 3, 11], [4, 8, 12, 6]]
    original = Editing._copy_from

    def interrupted(self, source, function, *args):
        for bits in todo.pop() if todo else ():
            writer[...] = state(bits)
            writer.schunk.flush()
        return original(self, source, function, *args)

    monkeypatch.setattr(Editing, "_copy_from", interrupted)
    if kind == "array":
        np.testing.assert_array_equal(reader.copy()[...], writer[...])
    elif kind == "schunk":
        assert reader.schunk.copy()[:] == writer.schunk[:]
    else:
        with b2.SChunk(data=b"ab" * 50) as other:
            with pytest.raises(b2.ConflictError, match="while it was copied"):
                other.copy_chunks(reader.schunk)
            assert other[:] == b"ab" * 50 and other.nchunks == 1
    assert len(todo) == (1 if kind == "chunks" else 0)
    writer.schunk.close()
