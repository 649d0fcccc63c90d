# SPDX-License-Identifier: BSD-3-Clause
"""Frames read through objects (files, remote storage), and verify()."""

from __future__ import annotations

import io
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import blosc2
import numpy as np
import pytest
from hostile import array_with

import blosc2c as b2
from blosc2c import _ffi

A = np.random.default_rng(0).integers(0, 1000, (400, 500)).astype("<i4")
FRAME = b2.asarray(A, chunks=(50, 60), blocks=(10, 20)).to_cframe()


class Plain:
    """read_at() and nothing else; counts what is read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.calls, self.nread = data, 0, 0
        self.lock = threading.Lock()

    def read_at(self, at: int, n: int) -> bytes:
        with self.lock:
            self.calls += 1
            self.nread += n
        return self.data[at : at + n]


class Sized(Plain):
    @property
    def size(self) -> int:
        return len(self.data)


class SizedByCall(Plain):
    def size(self) -> int:
        return len(self.data)


class WithLen(Plain):
    def __len__(self) -> int:
        return len(self.data)


class Ranges:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def read_ranges(self, ranges):
        return [memoryview(self.data)[at : at + n] for at, n in ranges]


@pytest.mark.parametrize("kind", [Plain, Sized, SizedByCall, WithLen, Ranges, io.BytesIO])
@pytest.mark.parametrize("offset", [0, 77])
def test_objects(kind, offset):
    source = kind(b"x" * offset + FRAME)
    with b2.open(source, offset=offset) as a:
        assert isinstance(a, b2.NDArray)
        assert np.array_equal(a[...], A)
        assert np.array_equal(a[3:300:7, ::-2], A[3:300:7, ::-2])
        with pytest.raises(b2.ReadOnlyError):
            a[0] = 1
    with pytest.raises(ValueError, match="closed"):
        a[0]


def test_file_objects(tmp_path):
    (tmp_path / "x").write_bytes(FRAME + b"behind the frame")
    with open(tmp_path / "x", "rb") as file, b2.open(file) as a:
        assert np.array_equal(a[...], A)
    with open(tmp_path / "x", "rb", buffering=0) as file, b2.open(file) as a:
        assert np.array_equal(a[123], A[123])


def test_only_what_is_needed_is_read():
    source = Sized(FRAME)
    with b2.open(source) as a:
        opened = source.nread
        assert opened < len(FRAME) / 4
        assert np.array_equal(a[0, 0:5], A[0, 0:5])
        assert source.nread - opened < len(FRAME) / 20


def test_many_threads():
    for source in (Sized(FRAME), io.BytesIO(FRAME)):
        with b2.open(source) as a, ThreadPoolExecutor(6) as pool:
            rows = list(pool.map(lambda i, a=a: np.array_equal(a[i : i + 9], A[i : i + 9]), range(0, 400, 9)))
            assert all(rows)


class Faulty(Sized):
    after = 10**9
    error: BaseException = ConnectionError("the network is gone")

    def read_at(self, at: int, n: int) -> bytes:
        if self.calls >= self.after:
            self.calls += 1
            raise self.error
        return super().read_at(at, n)


def test_exceptions_come_through():
    counting = Faulty(FRAME)
    with b2.open(counting) as a:
        a[...]
    for after in range(counting.calls):
        source = Faulty(FRAME)
        source.after = after
        with pytest.raises(ConnectionError, match="the network is gone"), b2.open(source) as a:
            a[...]
    source = Faulty(FRAME)
    with b2.open(source) as a:
        source.after = 0
        with pytest.raises(ConnectionError):
            a[5]
        source.after = 10**9  # the network is back
        assert np.array_equal(a[5], A[5])


def test_objects_that_give_less():
    class Short(Sized):
        def read_at(self, at: int, n: int) -> bytes:
            return super().read_at(at, n)[:-1]

    with pytest.raises(b2.TruncatedError) as caught:
        b2.open(Short(FRAME))
    assert caught.value.field == "read_at" and caught.value.expected == caught.value.actual + 1

    class Long(Sized):
        def read_at(self, at: int, n: int) -> bytes:
            return super().read_at(at, n) + b"x"

    with pytest.raises(b2.ParameterError, match="gave"):
        b2.open(Long(FRAME))

    class Wrong(Sized):
        def read_at(self, at: int, n: int):
            return "text"

    with pytest.raises((TypeError, b2.Blosc2Error)):
        b2.open(Wrong(FRAME))


class Busy(Sized):
    """Does something in the middle of each read."""

    def act(self) -> None:
        pass

    def read_at(self, at: int, n: int) -> bytes:
        self.act()
        return super().read_at(at, n)


@pytest.mark.parametrize("nthreads", [1, 2])
def test_objects_that_use_what_is_read_through_them(nthreads):
    """They may read it; changing or closing it would wait for the read that they are called by."""
    source = Busy(FRAME)
    refused, read = [], []

    def act() -> None:
        source.act = lambda: None
        for call in (a.close, a.schunk.refresh, lambda: a.schunk.set_checksums(False)):
            with pytest.raises(b2.ParameterError, match=r"callback.* cannot (close|change)"):
                call()
            refused.append(call)
        read.append(a[7])

    a = b2.open(source, dparams={"nthreads": nthreads})
    source.act = act
    assert np.array_equal(a[...], A)
    assert len(refused) == 3 and np.array_equal(read, A[7:8])
    a.close()


@pytest.mark.parametrize("method", ["seek", "read"])
def test_file_objects_that_are_read_in_the_middle_of_a_read(method):
    """As by a signal handler or a finalizer: the lock is this thread's, and the position is put back."""

    class Interrupted(io.BytesIO):
        nested = None

    def interrupted(self, *args):
        nested, self.nested = self.nested, None
        found = getattr(io.BytesIO, method)(self, *args)
        if nested:
            read.append(nested())
        return found

    read = []
    setattr(Interrupted, method, interrupted)
    source = Interrupted(FRAME)
    with b2.open(source) as a:
        source.nested = lambda: a[390]
        assert np.array_equal(a[:60], A[:60])
    assert np.array_equal(read, A[390:391])


class Changing(Sized):
    """When its header has been read, the first chunk is another one."""

    first = other = b""

    def read_at(self, at: int, n: int) -> bytes:
        found = super().read_at(at, n)
        if self.first and n > 32 and found.startswith(self.first[:32]):
            return self.other + found[len(self.other) :]
        return found


def test_chunks_that_get_smaller_between_two_reads():
    """Memory that the smaller one does not fill is not returned."""
    s = b2.SChunk(data=A[:50], chunksize=1 << 20, cparams={"typesize": 4})
    source = Changing(s.to_cframe())
    source.other = b2.compress2(A[:1], typesize=4)
    with b2.open(source, checksums=False) as opened:
        source.first = s.get_chunk(0)
        with pytest.raises(b2.CorruptError, match="not the one the frame expects") as caught:
            opened.decompress_chunk(0)
        assert caught.value.expected == A[:50].nbytes and caught.value.actual == A[:1].nbytes


def test_bytes_that_are_cut_to_nothing():
    """As those for a chunk that grew since its size was asked for."""
    for _ in range(100):
        assert _ffi.cut_bytes(100_000, lambda dst: 0) == b""
        found = _ffi.cut_bytes(100_000, lambda dst: 70_000)
        other = bytes(len(found))  # what a name counts for is another number in Python 3.14
        assert len(found) == 70_000 and sys.getrefcount(found) == sys.getrefcount(other)


@pytest.mark.parametrize("offset", [0, 77])
@pytest.mark.parametrize("kind", [Plain, Ranges])
def test_short_frames_without_a_size(kind, offset):
    """Where the frame says that it ends is no end of the object."""
    for n in (*range(0, 120, 7), len(FRAME) // 2, len(FRAME) - 1):
        with (
            pytest.raises(b2.FormatError) as caught,
            b2.open(kind(bytes(offset) + FRAME[:n]), offset=offset) as a,
        ):
            a[...]
        if n >= 24:
            assert isinstance(caught.value, b2.TruncatedError)
            assert offset <= caught.value.offset <= offset + len(FRAME)


@pytest.mark.parametrize("offset", [0, 77])
@pytest.mark.parametrize("frame_len", [1 << 63, (1 << 64) - 1])
def test_impossible_frame_lengths_without_a_size(frame_len, offset):
    raw = bytes(offset) + FRAME[:16] + frame_len.to_bytes(8, "big") + FRAME[24:]
    with pytest.raises(b2.CorruptError) as caught:
        b2.open(Plain(raw), offset=offset)
    error = caught.value
    assert (error.field, error.offset, error.actual) == ("frame_len", offset + 16, frame_len)


@pytest.mark.parametrize(
    ("size", "error"),
    [
        (-1, ValueError),
        (1 << 63, ValueError),
        (1 << 64, ValueError),
        (10**30, ValueError),
        (float("nan"), TypeError),
        (1000.5, TypeError),
        ("1000", TypeError),
        ([], TypeError),
    ],
)
def test_objects_that_state_an_impossible_size(size, error):
    class Sizes(Sized):
        size = None

    for stated in (size, lambda: size):
        source = Sizes(FRAME)
        source.size = stated
        with pytest.raises(error):
            b2.open(source)
    source.size = lambda: 1 // 0
    with pytest.raises(ZeroDivisionError):
        b2.open(source)


def test_a_size_that_cannot_be_told_reaches_the_caller():
    """Also when it is C that asks."""
    from blosc2c import _ffi, reader

    source = reader.Reader(Sized(FRAME), 0)
    source.size = -1
    handle, out = _ffi.ffi.new_handle(source), _ffi.ffi.new("uint64_t *")
    number = reader.user_size(handle, out)
    assert isinstance(_ffi._failures.pop(number), OverflowError)


@pytest.mark.parametrize("n", [0, 10, 50, 96, 97, 1000])
def test_objects_that_are_no_frame(n):
    for kind in (Sized, io.BytesIO):
        with pytest.raises(b2.FormatError):
            b2.open(kind(FRAME[:n]))
    with pytest.raises(b2.FormatError):
        b2.open(Sized(b"no frame " * 100))


def test_super_chunks_behind_objects():
    s = b2.SChunk(data=A.tobytes(), chunksize=100_000, cparams={"typesize": 4})
    s.vlmeta["k"] = (1, 2)
    with b2.open(Sized(s.to_cframe())) as r:
        assert isinstance(r, b2.SChunk) and r[:] == A.tobytes() and r.vlmeta["k"] == (1, 2)


def test_modes_of_objects():
    with pytest.raises(ValueError):
        b2.open(Sized(FRAME), mode="a")
    for source in (5, 1.5, object(), [1]):
        with pytest.raises(TypeError):
            b2.open(source)


# ---- verify ----


@pytest.fixture(params=[True, False], ids=["file", "directory"])
def stored(request, tmp_path):
    path = tmp_path / "x.b2nd"
    b2.asarray(A, chunks=(50, 60), blocks=(10, 20), urlpath=path, contiguous=request.param).close()
    return path


def test_all_is_well(stored):
    report = b2.verify(stored)
    assert report and report.ok and report.problems == []
    assert report.nchunks == 8 * 9 and report.nunverified == 0
    assert str(stored) in str(report) and "ok" in str(report)


def test_damage_is_reported_not_raised(stored):
    victim = stored if stored.is_file() else stored / "00000007.chunk"
    raw = bytearray(victim.read_bytes())
    chunk = b2.open(stored).get_chunk(7)
    at = bytes(raw).index(chunk)
    raw[at + len(chunk) - 1] ^= 0x40
    victim.write_bytes(raw)
    report = b2.verify(stored)
    assert not report and len(report.problems) == 1
    (problem,) = report.problems
    assert problem.chunk == 7 and problem.kind in ("chunk", "checksum") and problem.what
    with b2.open(stored) as a, pytest.raises(b2.CorruptError):
        a[...]


@pytest.mark.parametrize("where", ["header", "index", "trailer", "cut", "empty", "text"])
def test_damage_of_the_frame(where, tmp_path):
    raw = bytearray(FRAME)
    if where == "header":
        raw[0x20] ^= 1
    elif where == "index":
        index_at = int.from_bytes(raw[11:15], "big") + int.from_bytes(raw[0x27:0x2F], "big")
        raw[index_at + 12] ^= 0x55
    elif where == "trailer":
        raw[-23] ^= 0xFF
    raw = {"cut": raw[:-40], "empty": b"", "text": b"some text " * 50}.get(where, raw)
    (tmp_path / "x").write_bytes(raw)
    report = b2.verify(tmp_path / "x")
    assert not report.ok and report.problems[0].kind == "frame"
    assert "problem" in str(report)


def test_files_of_the_reference_are_unverified(tmp_path):
    blosc2.asarray(A, chunks=(50, 60), blocks=(10, 20), urlpath=str(tmp_path / "x"))
    report = b2.verify(tmp_path / "x")
    assert report.ok and report.nunverified == report.nchunks == 72


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s: s.delete_chunk(0), "fewer chunks than its shape asks for"),
        (lambda s: s.append_data(bytes(64)), "more chunks than its shape asks for"),
        (lambda s: s.truncate(7), "not have the size that the array's shapes ask for"),
    ],
)
def test_arrays_whose_chunks_do_not_fit_their_shape(spoil, words, tmp_path):
    """Each chunk is sound, but all who ask whether they fit are told the same."""
    path = tmp_path / "x.b2nd"
    path.write_bytes(array_with("<i8", n=8))
    with b2.open_schunk(path, "a") as s:
        spoil(s)
    (problem,) = b2.verify(path).problems
    assert problem.kind == "array" and words in problem.what
    if "size" not in words:  # repair() makes zeros of such a chunk
        assert words in str(b2.repair(path, tmp_path / "repaired"))
    with b2.open_array(path, "a") as a:
        with pytest.raises(b2.FormatError, match=words):
            a.resize((9,))
        if "more" not in words:
            with pytest.raises(b2.FormatError, match=words):
                a[...]
        if "fewer" in words:
            with pytest.raises(b2.TruncatedError, match=words):
                b2.get_slice_nchunks(a, ...)


def test_what_cannot_be_read_at_all(tmp_path):
    with pytest.raises(FileNotFoundError):
        b2.verify(tmp_path / "nothing")


def test_every_flipped_bit_of_a_small_file_is_found(tmp_path):
    """Headers, index, chunks and trailer carry checksums; what is left is what nobody reads."""
    path = tmp_path / "x"
    with b2.SChunk(chunksize=200, cparams={"typesize": 4}, urlpath=path) as s:
        for i in range(3):
            s.append_data(A.tobytes()[i * 200 : i * 200 + 200])
    raw = path.read_bytes()
    want = A.tobytes()[:600]
    for at in range(len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        if b2.verify(path).ok:
            with b2.open(path) as s:
                assert s[:] == want and s.nchunks == 3


def test_verify_reports_what_is_gone_from_a_directory(tmp_path):
    path = tmp_path / "d"
    with b2.SChunk(400, urlpath=path, contiguous=False) as s:
        for i in range(4):
            s.append_data(bytes([i, 1]) * 200)
    (path / "00000001.chunk").unlink()
    (path / "00000002.chunk").unlink()
    (path / "00000002.chunk").symlink_to(path / "00000003.chunk")
    report = b2.verify(path)
    assert [(p.kind, p.chunk) for p in report.problems] == [("chunk", 1), ("chunk", 2)]
    (path / "chunks.b2frame").rename(path / "x")
    assert [p.kind for p in b2.verify(path).problems] == ["frame"]
    (path / "chunks.b2frame").symlink_to(path / "x")
    assert [p.kind for p in b2.verify(path).problems] == ["frame"]


def test_verify_of_many_special_chunks_takes_no_time(tmp_path):
    with b2.SChunk(4, urlpath=tmp_path / "x", cparams={"typesize": 4}) as s:
        s.fill_special(1 << 21, b2.SpecialValue.ZERO)
        s.append_data(b"1234")
    report = b2.verify(tmp_path / "x")
    assert report.ok and report.nchunks == (1 << 21) + 1 and report.nunverified == 0


def test_arrays_of_other_libraries():
    """Of objects that have no more than DLPack; what has NumPy's interface goes by that."""

    class Other:
        dtype = "theirs"

        def __init__(self, array) -> None:
            self.array, self.shape = array, array.shape

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class Both(Other):
        def __array__(self, dtype=None, copy=None):
            return self.array + 1

    items = np.arange(12.0).reshape(3, 4)[:, ::2]
    for dtype in (None, "f4"):
        made = b2.asarray(Other(items), dtype=dtype)
        assert made.dtype == np.dtype(dtype or "f8")
        assert (made[...] == items).all() and made.shape == items.shape
        assert (b2.asarray(Both(items), dtype=dtype)[...] == items + 1).all()
