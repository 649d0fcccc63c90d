# SPDX-License-Identifier: BSD-3-Clause
"""Two writers on one file without a lock: the one that comes second is told, and destroys nothing."""

from __future__ import annotations

import os
import resource
import sys

import blosc2
import pytest
from inputs import make

import blosc2c as b2

SIZE = 2000
DATA = [make("random", SIZE, i) for i in range(8)]


@pytest.fixture(params=["file", "directory", "mmap"])
def disk(request):
    return request.param


def create(path, disk: str, n: int = 3, close: bool = False, **kwargs) -> b2.SChunk:
    """A super-chunk with the first n of DATA, still open; or opened again."""
    s = b2.SChunk(chunksize=SIZE, urlpath=path, contiguous=disk != "directory", meta={"m": 1}, **kwargs)
    for data in DATA[:n]:
        s.append_data(data)
    s.vlmeta["v"] = 0
    if close or disk == "mmap":
        s.close()
        s = b2.open(path, "a", mmap_mode="r+" if disk == "mmap" else None)
    else:
        s.flush()
    return s


def append(s) -> None:
    s.append_data(DATA[5])


def delete(s) -> None:
    s.delete_chunk(1)


def update(s) -> None:
    s.update_data(0, DATA[6], True)


def set_vlmeta(s) -> None:
    s.vlmeta["v"] = [1, 2, 3]


def change_vlmeta(s) -> None:
    s.vlmeta["v"] = 7  # of the same length


def change_meta(s) -> None:
    s.meta["m"] = 2


def compact(s) -> None:
    s.compact()


EDITS = (append, delete, update, set_vlmeta, change_vlmeta, change_meta)


def state(s) -> tuple:
    return [s.decompress_chunk(i) for i in range(s.nchunks)], dict(s.vlmeta[:]), s.meta["m"]


@pytest.mark.parametrize("unpacked", [True, False], ids=["unpacked", "packed"])
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("other", EDITS)
@pytest.mark.parametrize("library", [b2, blosc2], ids=["ours", "reference"])
def test_the_second_is_told(library, other, edit, unpacked, disk, tmp_path):
    path = str(tmp_path / "x")
    mine = create(path, disk, close=not unpacked)
    theirs = library.open(path, mode="a")
    other(theirs)
    if library is b2:
        theirs.close()
    del theirs
    with blosc2.open(path, mode="r") if library is blosc2 else b2.open(path) as seen:
        expected = state(seen)
    # The file of the chunk that both remove is not there any more.
    gone = disk == "directory" and edit is other and edit in (delete, update)
    with pytest.raises((b2.ConflictError, b2.CorruptError) if gone else b2.ConflictError):
        edit(mine)
        mine.flush()
    with pytest.raises(b2.ConflictError if mine.is_writable else b2.ReadOnlyError):
        append(mine)
        mine.flush()
    mine.close()
    for lib in (b2, blosc2):
        with lib.open(path, mode="r") as seen:
            assert state(seen) == expected
    assert b2.verify(path)
    with b2.open(path, "a") as s:  # life goes on
        append(s)
    with blosc2.open(path, mode="r") as seen:
        assert seen.decompress_chunk(seen.nchunks - 1) == DATA[5]


@pytest.mark.parametrize("n", [0, 3])
def test_both_append_in_turn(n, disk, tmp_path):
    """Neither overwrites what the other has not even committed."""
    mine = create(tmp_path / "x", disk, n)
    theirs = b2.open(tmp_path / "x", "a")
    told = 0
    for i in range(4):
        for s in (mine, theirs):
            if s.is_writable:
                try:
                    s.append_data(DATA[i])
                except b2.ConflictError:
                    told += 1
    assert told == 1
    mine.close()
    theirs.close()
    assert b2.verify(tmp_path / "x")
    with b2.open(tmp_path / "x") as s:
        assert [s.decompress_chunk(i) for i in range(s.nchunks)] == DATA[:n] + DATA[:4]


def test_both_in_a_transaction(disk, tmp_path):
    writers = [create(tmp_path / "x", disk), b2.open(tmp_path / "x", "a")]
    transactions = [s.transaction() for s in writers]
    told = []
    for t in transactions:
        t.__enter__()
    for s in writers:
        try:
            append(s)
        except b2.ConflictError as exc:
            told.append(exc)
    for t in transactions:
        try:
            t.__exit__(None, None, None)
        except (b2.ConflictError, b2.ReadOnlyError) as exc:
            told.append(exc)
    assert isinstance(told[0], b2.ConflictError)
    for s in writers:
        s.close()
    assert b2.verify(tmp_path / "x")
    with b2.open(tmp_path / "x") as s:
        assert [s.decompress_chunk(i) for i in range(s.nchunks)] == [*DATA[:3], DATA[5]]


@pytest.mark.parametrize("level", ["none", "process", "commit"])
@pytest.mark.parametrize("n", [0, 3])
def test_opening_for_writing_disturbs_nobody(n, level, disk, tmp_path):
    """Who changes nothing leaves what others are about to store."""
    s = b2.SChunk(chunksize=SIZE, urlpath=tmp_path / "x", contiguous=disk != "directory", durability=level)
    for i in range(n):
        s.append_data(DATA[i])
    for i in range(n, n + 2):
        s.append_data(DATA[i])
        b2.open(tmp_path / "x", "a").close()
    with s.transaction():
        for i in range(n + 2, n + 4):
            s.append_data(DATA[i])
            b2.open(tmp_path / "x", "a").close()
    b2.open(tmp_path / "x", "a").close()
    s.close()
    for lib in (b2, blosc2):
        with lib.open(str(tmp_path / "x"), mode="r") as seen:
            assert [seen.decompress_chunk(i) for i in range(seen.nchunks)] == DATA[: n + 4]
    assert os.listdir(tmp_path) == ["x"]


def test_compact_by_somebody_else(tmp_path):
    mine = create(tmp_path / "x", "file")
    update(mine)
    mine.flush()
    with b2.open(tmp_path / "x", "a") as s:
        s.compact()
    with pytest.raises(b2.ConflictError):
        mine.compact()
    assert mine.decompress_chunk(0) == DATA[6]  # of the file that has no name any more
    with pytest.raises(b2.ConflictError):
        append(mine)
        mine.flush()
    mine.close()
    with blosc2.open(str(tmp_path / "x"), mode="r") as seen:
        assert [seen.decompress_chunk(i) for i in range(3)] == [DATA[6], *DATA[1:3]]


@pytest.mark.parametrize("unpacked", [True, False], ids=["unpacked", "packed"])
@pytest.mark.parametrize("other", EDITS)
def test_compact_after_somebody_else(other, unpacked, tmp_path):
    mine = create(tmp_path / "x", "file", close=not unpacked)
    with b2.open(tmp_path / "x", "a") as s:
        other(s)
    with b2.open(tmp_path / "x") as s:
        expected = state(s)
    with pytest.raises(b2.ConflictError):
        mine.compact()
    mine.close()
    with b2.open(tmp_path / "x") as s:
        assert state(s) == expected


def test_a_file_that_was_moved(tmp_path):
    """Its writer goes on with it; nothing appears at its old place, or what is there stays."""
    s = create(tmp_path / "x", "file")
    os.rename(tmp_path / "x", tmp_path / "y")
    append(s)
    delete(s)
    (tmp_path / "x").write_bytes(b"something else")
    append(s)
    with pytest.raises(b2.ConflictError, match="moved"):
        s.compact()
    s.close()
    assert (tmp_path / "x").read_bytes() == b"something else"
    with blosc2.open(str(tmp_path / "y"), mode="r") as seen:
        assert [seen.decompress_chunk(i) for i in range(4)] == [DATA[0], DATA[2], DATA[5], DATA[5]]


def test_an_empty_file_that_was_moved(tmp_path):
    s = create(tmp_path / "x", "file", 0)
    os.rename(tmp_path / "x", tmp_path / "y")
    (tmp_path / "x").write_bytes(b"something else")
    with pytest.raises(b2.ConflictError, match="moved"):
        append(s)
    s.close()
    assert (tmp_path / "x").read_bytes() == b"something else"
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_what_killed_writers_left_is_removed(tmp_path):
    path = tmp_path / "x"
    create(path, "file").close()
    left = [tmp_path / "x.b2tmp", tmp_path / "x.b2new"]
    for name in left:
        name.write_bytes(b"half a frame")
    b2.open(path).close()
    assert all(name.exists() for name in left)
    b2.open(path, "a").close()
    assert os.listdir(tmp_path) == ["x"]
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    left[0].symlink_to(target)
    left[1].mkdir()  # not what a writer leaves
    with b2.open(path, "a") as s:
        append(s)
        with pytest.raises(OSError, match=r"\.b2tmp\) cannot be removed"):
            s.compact()
    assert target.read_bytes() == b"precious"
    assert b2.verify(path)


@pytest.mark.parametrize("level", ["none", "process", "commit"])
@pytest.mark.parametrize("edit", [*EDITS, lambda s: None])
def test_closing_what_was_stored_before_disturbs_nobody(edit, level, disk, tmp_path):
    """As in ``s = open(...)`` where s is the writer that has made the file."""
    path = tmp_path / "x"
    mine = create(path, disk, durability=level)
    edit(mine)
    expected, values, meta = state(mine)
    with b2.open(path, "a") as theirs:
        assert state(theirs) == (expected, values, meta)
        mine.close()
        append(theirs)
        theirs.update_data(0, DATA[7], True)
        expected = [DATA[7], *expected[1:], DATA[5]]
        assert state(theirs) == (expected, values, meta)
    for lib in (b2, blosc2):
        with lib.open(path, mode="r") as seen:
            assert state(seen) == (expected, values, meta)
    assert b2.verify(path)
    assert os.listdir(tmp_path) == ["x"]


def test_who_is_opened_beside_may_be_edited_first(disk, tmp_path):
    mine = create(tmp_path / "x", disk)
    b2.open(tmp_path / "x", "a").close()
    for edit in EDITS:
        edit(mine)
        b2.open(tmp_path / "x", "a").close()
    expected = state(mine)
    mine.close()
    with blosc2.open(str(tmp_path / "x"), mode="r") as seen:
        assert state(seen) == expected
    assert b2.verify(tmp_path / "x")


def test_opening_beside_a_transaction_commits_nothing(tmp_path):
    mine = create(tmp_path / "x", "file")
    with mine.transaction():
        append(mine)
        with b2.open(tmp_path / "x", "a") as theirs:
            assert theirs.nchunks == 3
    assert mine.nchunks == 4


def test_arrays_that_are_opened_again(tmp_path):
    path = tmp_path / "x.b2nd"
    a = b2.zeros((10,), urlpath=path)
    a[:3] = 1
    a = b2.open(path, "a")
    a[3:] = 5
    a.resize((12,))
    a = b2.open(path, "a")
    a.vlmeta["n"] = 7
    a[:2] = 2
    a.close()
    for lib in (b2, blosc2):
        seen = lib.open(path, mode="r")
        assert seen[...].tolist() == [2, 2, 1, 5, 5, 5, 5, 5, 5, 5, 0, 0] and seen.vlmeta["n"] == 7


def edit_elsewhere(path) -> None:
    """By another process."""
    pid = os.fork()
    if pid == 0:
        try:
            with b2.open(path, "a") as s:
                s.vlmeta["theirs"] = 1
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("level", ["none", "process"])
@pytest.mark.parametrize("end", [lambda s: s.close(), append])
def test_who_could_not_be_stored_before_is_told(end, level, disk, tmp_path):
    """Not who opens the file: the writer that loses what it has done."""
    path = tmp_path / "x"
    mine = create(path, disk, durability=level, close=True)
    mine.set_durability(level)
    append(mine)
    edit_elsewhere(path)
    with b2.open(path, "a") as seen:
        assert seen.vlmeta["theirs"] == 1
    with pytest.raises(b2.ConflictError):
        end(mine)
    with pytest.raises(b2.ReadOnlyError) if not mine.handle.is_closed else pytest.raises(b2.ClosedError):
        append(mine)
    mine.close()
    with b2.open(path) as seen:
        assert seen.vlmeta["theirs"] == 1


@pytest.mark.parametrize("contiguous", [True, False])
def test_a_full_disk_when_another_one_is_opened(contiguous, tmp_path):
    path = tmp_path / "x"
    b2.SChunk(chunksize=SIZE, data=DATA[0] + DATA[1], urlpath=path, contiguous=contiguous).close()
    mine = b2.open(path, "a")
    mine.set_durability("none")
    append(mine)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        b2.open(path, "a").close()
        with pytest.raises(OSError):
            mine.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    mine.close()
    assert b2.verify(path)


@pytest.mark.parametrize("makes", [True, False])
def test_opening_while_another_one_is_being_opened(makes, tmp_path):
    """As by another thread: at no step of it is the other one in the way."""
    path, other = str(tmp_path / "x"), str(tmp_path / "y")
    b2.SChunk(chunksize=SIZE, data=DATA[0], urlpath=other).close()
    if not makes:
        b2.SChunk(chunksize=SIZE, data=DATA[0], urlpath=path).close()
    steps = 0

    def trace(frame, event, arg):
        nonlocal steps
        if frame.f_code.co_name not in ("_create", "_attach"):
            return trace if event == "call" else None
        sys.settrace(None)
        b2.open(other, "a").close()
        steps += 1
        sys.settrace(trace)
        return trace

    sys.settrace(trace)
    try:
        s = b2.SChunk(chunksize=SIZE, data=DATA[0], urlpath=path) if makes else b2.open(path, "a")
    finally:
        sys.settrace(None)
    s.close()
    assert steps > 5
