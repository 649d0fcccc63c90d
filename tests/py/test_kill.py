# SPDX-License-Identifier: BSD-3-Clause
"""Writers that are killed, readers beside a writer, fork, several handles on one file."""

from __future__ import annotations

import contextlib
import os
import random
import select
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import blosc2
import numpy as np
import pytest
from kill_writer import SIZE, START, data, states

import blosc2c as b2

PLACES = ("file", "directory")
ROUNDS = 15  # for each place and kind of edits
WRITER = str(Path(__file__).with_name("kill_writer.py"))


@contextlib.contextmanager
def writer(path: Path, place: str, kind: str, durability: str) -> Iterator[subprocess.Popen]:
    """A process that edits, after its first report; killed at the end."""
    command = [sys.executable, WRITER, str(path), place, kind, durability]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    try:
        assert process.stdout.read(2) == b"0\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def last_count(process: subprocess.Popen) -> int:
    """The number of edits that a killed writer has reported."""
    process.kill()
    assert process.stdout is not None
    lines = process.stdout.read().decode().split("\n")
    return max([int(line) for line in lines[:-1]], default=0)


def content(s) -> tuple[list[bytes], int]:
    return [s.decompress_chunk(i) for i in range(s.nchunks)], s.vlmeta["value"]


def one_round(path: Path, place: str, kind: str, durability: str, delay: float) -> int:
    with writer(path, place, kind, durability) as process:
        time.sleep(delay)
        count = last_count(process)
    possible = states(kind, count + 1)

    # The reference sees a committed state: a part of the latest edits may be missing.
    assert content(blosc2.open(str(path), mode="r")) in possible

    with b2.open(path) as s:
        assert content(s) in possible[count:], f"an edit of {count} is lost"
    with b2.open(path, mode="a") as s:
        found = content(s)
        assert found in possible[count:]
        s.append_data(data(1))
    expected = ([*found[0], data(1)], found[1])
    assert content(b2.open(path)) == expected
    assert content(blosc2.open(str(path), mode="r")) == expected
    return count


@pytest.mark.parametrize("kind", ("append", "mixed"))
@pytest.mark.parametrize("place", (*PLACES, "file-plain", "directory-plain"))
def test_a_killed_writer_loses_nothing(tmp_path, place: str, kind: str) -> None:
    moments = random.Random(f"{place} {kind}")
    counts = [
        one_round(tmp_path / f"{i}.b2frame", place, kind, "process", moments.uniform(0, 0.1))
        for i in range(ROUNDS)
    ]
    assert max(counts) > 5


@pytest.mark.parametrize("place", PLACES)
def test_a_killed_writer_that_synchronises_loses_nothing(tmp_path, place: str) -> None:
    moments = random.Random(place)
    for i in range(5):
        one_round(tmp_path / f"{i}.b2frame", place, "mixed", "commit", moments.uniform(0, 0.2))


@pytest.mark.parametrize("place", PLACES)
def test_readers_beside_a_writer(tmp_path, place: str) -> None:
    """Whatever the moment, a reader in another process sees a complete state, and never an older one."""
    path = tmp_path / "shared.b2frame"
    seen = [START]
    with writer(path, place, "append", "process") as process, b2.open(path) as first:
        begun = time.monotonic()
        nfirst = first.nchunks
        # A disk that is busy may hold up the writer for longer than the test lasts.
        while (since := time.monotonic() - begun) < 1.5 or (len(set(seen)) <= 3 and since < 60):
            with b2.open(path) as s:
                n = s.nchunks
                assert n >= seen[-1]
                for i in (0, n // 2, n - 1):
                    assert s.decompress_chunk(i) == data(i)
                assert len(s[:]) == n * SIZE
            seen.append(n)
            while select.select([process.stdout], [], [], 0)[0]:
                os.read(process.stdout.fileno(), 65536)
        assert first.nchunks == nfirst
        assert [first.decompress_chunk(i) for i in range(nfirst)] == [data(i) for i in range(nfirst)]
    assert len(set(seen)) > 3


@pytest.mark.parametrize("place", PLACES)
def test_handles_of_one_process(tmp_path, place: str) -> None:
    """A reader keeps the state that it opened; a new one sees every edit that was made."""
    path = str(tmp_path / "shared.b2frame")
    s = b2.SChunk(chunksize=SIZE, urlpath=path, contiguous=place == "file")
    readers = []
    for i in range(40):
        s.append_data(data(i))
        readers.append(b2.open(path))
        r = blosc2.open(path, mode="r")
        assert [r.decompress_chunk(k) for k in range(r.nchunks)] == [data(k) for k in range(r.nchunks)]
    for n, reader in enumerate(readers, 1):
        assert reader.nchunks == n
        assert [reader.decompress_chunk(k) for k in range(n)] == [data(k) for k in range(n)]
    s.close()
    for n, reader in enumerate(readers, 1):
        assert reader.decompress_chunk(n - 1) == data(n - 1)
        reader.close()
    assert b2.open(path).nchunks == blosc2.open(path, mode="r").nchunks == 40


FORK = """
    import os, sys
    import numpy as np
    import blosc2c as b2

    folder = sys.argv[1]
    b2.set_nthreads(4)
    a = np.arange(4_000_000)
    raw = a.tobytes()
    part = len(raw) // 4
    shared = b2.SChunk(chunksize=part, data=a, urlpath=f"{folder}/shared.b2frame", contiguous=True)
    assert shared[:] == raw
    shared.flush()
    child = os.fork()
    name = "child" if child == 0 else "parent"
    if child == 0:  # what the parent writes is closed here
        try:
            shared[:]
        except b2.ClosedError:
            shared = b2.open(f"{folder}/shared.b2frame")
    own = b2.SChunk(chunksize=part, urlpath=f"{folder}/{name}.b2frame", contiguous=True)
    for i in range(4):
        own.append_data(raw[i * part:(i + 1) * part])
        assert own.decompress_chunk(i) == shared.decompress_chunk(i)
    own.close()
    if child == 0:
        assert not shared.is_writable
        assert shared[:] == raw
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    shared.append_data(raw[:part])
    shared.close()
"""


def test_fork_after_threads_were_used(tmp_path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK), str(tmp_path)]
    subprocess.run(command, check=True, timeout=120)
    raw = np.arange(4_000_000).tobytes()
    for name, nchunks in (("parent", 4), ("child", 4), ("shared", 5)):
        s = b2.open(tmp_path / f"{name}.b2frame")
        assert s.nchunks == nchunks
        assert s[:4_000_000] == raw if name == "shared" else s[:] == raw
        assert blosc2.open(str(tmp_path / f"{name}.b2frame"), mode="r").nchunks == nchunks
