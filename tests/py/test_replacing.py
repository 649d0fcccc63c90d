"""mode 'w': what is replaced stays until the new is complete, and comes back when that fails."""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import blosc2c as b2
from blosc2c.meta import VLMeta

OLD = np.arange(5000, dtype="i4")


class Failing:
    """An array whose second half cannot be read."""

    shape, dtype, ndim = (40, 1000), np.dtype("i4"), 2

    def __getitem__(self, key):
        if key[0].stop is None or key[0].stop > 20:
            raise OSError("the source is gone")
        return np.zeros((key[0].stop - key[0].start, 1000), "i4")


def make_damaged(path):
    with b2.asarray(np.arange(40_000), urlpath=path, chunks=(10_000,), cparams={"codec": b2.Codec.LZ4}) as a:
        at = a.schunk.cbytes // 2
    data = bytearray(path.read_bytes())
    data[at : at + 100] = bytes(100)
    path.write_bytes(data)


def failures(tmp_path):
    """Calls that replace a path and fail when something is there already, by name."""
    make_damaged(tmp_path / "damaged")
    damaged = b2.open(tmp_path / "damaged")
    return {
        "asarray": lambda **to: b2.asarray(Failing(), chunks=(10, 1000), **to),
        "fromiter": lambda **to: b2.fromiter((1 // (5 - i) for i in range(9)), (9,), "i4", **to),
        "cparams": lambda **to: b2.zeros((5,), dtype="i4", cparams={"clevel": 10}, **to),
        "schunk": lambda **to: b2.SChunk(data=bytes(range(200)) * 50, cparams={"clevel": 10}, **to),
        "copy": lambda **to: damaged.copy(chunks=(3000,), **to),
        "schunk copy": lambda **to: damaged.schunk.copy({"clevel": 1}, **to),
        "save": lambda **to: damaged.save(to.pop("urlpath"), chunks=(3000,), **to),
        "convert": lambda **to: b2.convert(tmp_path / "damaged", to.pop("urlpath"), **to),
    }


@pytest.mark.parametrize("contiguous", [True, False])
def test_a_failure_leaves_what_was_there(tmp_path, contiguous):
    path = tmp_path / "old"
    for name, call in failures(tmp_path).items():
        b2.asarray(OLD, urlpath=path, mode="w", contiguous=contiguous).close()
        with pytest.raises((b2.Blosc2Error, OSError, ZeroDivisionError)):
            call(urlpath=path, mode="w", contiguous=contiguous)
        np.testing.assert_array_equal(b2.open(path)[...], OLD, err_msg=name)
        assert sorted(os.listdir(tmp_path)) == ["damaged", "old"], name


@pytest.mark.parametrize("contiguous", [True, False])
def test_slashes_at_the_end_of_a_path(tmp_path, contiguous):
    path, to = tmp_path / "array", {"urlpath": f"{tmp_path}/array//", "contiguous": contiguous}
    for n in (3, 4):
        b2.arange(n, **to, mode="w").close()
        assert b2.open(path).shape == b2.open(f"{path}/").shape == (n,)
    with pytest.raises(b2.FrameExistsError, match="pass mode='w' to replace it"):
        b2.arange(5, **to)
    with b2.open(path) as a, pytest.raises(b2.ParameterError, match="a copy of itself"):
        a.copy(**to, mode="w")
    (tmp_path / "link").symlink_to(path)
    b2.remove_urlpath(f"{tmp_path}/link/")
    np.testing.assert_array_equal(b2.open(path), np.arange(4))
    b2.remove_urlpath(f"{path}/")
    assert os.listdir(tmp_path) == []


FULL_DISK = """
import os, resource, sys
import numpy as np
import blosc2c as b2
from blosc2c.meta import VLMeta
path, contiguous, kind = sys.argv[1], sys.argv[2] == "True", sys.argv[3]
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
noise = np.random.default_rng(0).bytes(1 << 20)
to = {"urlpath": path, "mode": "w", "contiguous": contiguous}
try:
    b2.asarray(np.frombuffer(noise, "u1"), **to) if kind == "array" else b2.SChunk(data=noise, **to)
except OSError:
    sys.exit(7)
"""


@pytest.mark.parametrize("kind", ["array", "schunk"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_a_full_disk_leaves_what_was_there(tmp_path, contiguous, kind):
    path = tmp_path / "old"
    b2.asarray(OLD, urlpath=path, contiguous=contiguous).close()
    args = [sys.executable, "-c", FULL_DISK, str(path), str(contiguous), kind]
    assert subprocess.run(args, check=False).returncode == 7
    np.testing.assert_array_equal(b2.open(path)[...], OLD)
    assert os.listdir(tmp_path) == ["old"]


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("tensor", [OLD * 2, OLD[:0]], ids=["items", "none"])
def test_a_tensor_and_its_description_are_one_commit(tmp_path, monkeypatch, contiguous, tensor):
    path = tmp_path / "old"
    to = {"urlpath": path, "contiguous": contiguous, "mode": "w"}
    b2.save_tensor(OLD, **to)

    def full_disk(*args):
        raise OSError(errno.ENOSPC, "no room for the description")

    with monkeypatch.context() as patched:
        patched.setattr(VLMeta, "__setitem__", full_disk)
        with pytest.raises(OSError, match="no room for the description"):
            b2.save_tensor(tensor, **to)
    np.testing.assert_array_equal(b2.load_tensor(path), OLD)
    assert os.listdir(tmp_path) == ["old"]
    with pytest.raises(b2.ParameterError, match="takes no data"):
        b2.save_tensor(tensor, path, mode="r")
    b2.save_tensor(tensor, **to)
    np.testing.assert_array_equal(b2.load_tensor(path), tensor)


def test_a_failure_leaves_nothing_where_nothing_was(tmp_path):
    for name, call in failures(tmp_path).items():
        with pytest.raises((b2.Blosc2Error, OSError, ZeroDivisionError)):
            call(urlpath=tmp_path / "new", mode="w")
        assert os.listdir(tmp_path) == ["damaged"], name


@pytest.mark.parametrize("was_contiguous", [True, False])
@pytest.mark.parametrize("contiguous", [True, False])
def test_success_leaves_the_new_alone(tmp_path, was_contiguous, contiguous):
    path = tmp_path / "array"
    (tmp_path / "array.b2old").write_bytes(b"of somebody else")
    b2.asarray(OLD, urlpath=path, contiguous=was_contiguous).close()
    b2.asarray(OLD * 2, urlpath=path, mode="w", contiguous=contiguous).close()
    np.testing.assert_array_equal(b2.open(path)[...], OLD * 2)
    b2.SChunk(urlpath=path, mode="w", contiguous=was_contiguous).close()
    assert b2.open(path).nchunks == 0
    assert sorted(os.listdir(tmp_path)) == ["array", "array.b2old"]
    assert (tmp_path / "array.b2old").read_bytes() == b"of somebody else"


KILLED = """
import os, sys
import numpy as np
import blosc2c as b2
from blosc2c.meta import VLMeta

def numbers(last):
    yield from range(last)
    os.kill(os.getpid(), 9)

to = {"urlpath": sys.argv[1], "contiguous": sys.argv[2] == "True", "mode": "w"}
b2.fromiter(numbers(9000), (100, 100), "i4", chunks=(10, 100), **to)
"""


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("there", [None, "file", "directory", "link"])
def test_a_killed_process_has_replaced_nothing(tmp_path, there, contiguous):
    path = tmp_path / "old"
    if there == "link":
        path.symlink_to(tmp_path / "target")
        b2.asarray(OLD, urlpath=tmp_path / "target", contiguous=contiguous).close()
    elif there:
        b2.asarray(OLD, urlpath=path, contiguous=there == "file").close()
    args = [sys.executable, "-c", KILLED, str(path), str(contiguous)]
    assert subprocess.run(args, check=False).returncode == -9
    if there:
        np.testing.assert_array_equal(b2.open(path)[...], OLD)
    assert os.path.lexists(path) == (there is not None)
    b2.asarray(OLD * 2, urlpath=path, mode="w", contiguous=contiguous).close()
    np.testing.assert_array_equal(b2.open(path)[...], OLD * 2)
    assert set(os.listdir(tmp_path)) == {"old"} | ({"target"} if there == "link" else set())
    if there == "link":
        np.testing.assert_array_equal(b2.open(tmp_path / "target")[...], OLD)


def left_behind(path):
    """What a process leaves that is killed while it makes a directory."""
    args = [sys.executable, "-c", KILLED, str(path), "False"]
    assert subprocess.run(args, check=False).returncode == -9
    return {"old", "old.b2new"}


def test_who_writes_next_removes_what_a_killed_process_left(tmp_path):
    path = tmp_path / "old"
    for was_contiguous, contiguous in itertools.product([True, False], repeat=2):
        b2.asarray(OLD, urlpath=path, contiguous=was_contiguous, mode="w").close()
        left = left_behind(path)
        b2.open(path, "r").close()
        assert set(os.listdir(tmp_path)) == left
        b2.asarray(OLD, urlpath=path, contiguous=contiguous, mode="w").close()
        assert os.listdir(tmp_path) == ["old"]
        left_behind(path)
        with b2.open(path, "a") as a:
            a.schunk.vlmeta["a"] = 1
        assert os.listdir(tmp_path) == ["old"]


def test_a_directory_of_somebody_else_beside_it_stays(tmp_path):
    path, beside = tmp_path / "new", tmp_path / "new.b2new"
    beside.mkdir()
    (beside / "letter").write_text("dear reader")
    for contiguous in (True, False):
        with pytest.raises(OSError, match=r"\.b2new\) holds other files") as failure:
            b2.asarray(OLD, urlpath=path, contiguous=contiguous)
        assert failure.value.errno == errno.ENOTEMPTY
    beside.rename(tmp_path / "moved")
    b2.asarray(OLD, urlpath=path).close()
    (tmp_path / "moved").rename(beside)
    b2.open(path, "a").close()
    assert (beside / "letter").read_text() == "dear reader"


@pytest.mark.parametrize("contiguous", [True, False])
def test_what_somebody_else_has_put_there_stays(tmp_path, contiguous):
    path = tmp_path / "new"

    def numbers():
        yield from range(5)
        (tmp_path / "other").write_bytes(b"of somebody else")
        os.replace(tmp_path / "other", path)
        yield from range(5)

    for there in (False, True):
        with pytest.raises((b2.ConflictError, b2.FrameExistsError)):
            b2.fromiter(numbers(), (10,), "i4", urlpath=path, mode="w", contiguous=contiguous)
        assert path.read_bytes() == b"of somebody else", there
        assert os.listdir(tmp_path) == ["new"]


def test_what_cannot_be_removed_is_named_with_its_folder(tmp_path, monkeypatch):
    """shutil.rmtree() tells the name of a file in it alone, such as '.b2lock'."""
    path = tmp_path / "sparse"
    b2.asarray(OLD, urlpath=path, contiguous=False).close()

    def refuse(name, dir_fd=None):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), name)

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(OSError) as info:
        b2.remove_urlpath(path)
    assert (info.value.errno, info.value.filename) == (errno.EROFS, str(path))
