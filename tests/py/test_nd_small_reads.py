# SPDX-License-Identifier: BSD-3-Clause
"""Small reads, whose decoded blocks are kept: never of a state that is gone."""

from __future__ import annotations

import threading
from pathlib import Path

import blosc2
import numpy as np
import pytest

import blosc2c as b2

A = np.arange(60 * 50, dtype="<i4").reshape(60, 50)
PARTS = {"chunks": (20, 30), "blocks": (10, 10)}


@pytest.fixture(params=["memory", "frame", "directory"])
def array(request, tmp_path):
    kw = {"memory": {}, "frame": {"urlpath": tmp_path / "x"}}.get(
        request.param, {"urlpath": tmp_path / "x", "contiguous": False}
    )
    with b2.asarray(A, **PARTS, **kw) as b:
        yield b


def test_items_follow_every_edit(array):
    want = A.copy()
    for step, edit in enumerate(
        (
            lambda x: x.__setitem__((5, 6), -1),
            lambda x: x.__setitem__((slice(0, 20), slice(0, 30)), -2),
            lambda x: x.__setitem__(([5, 40], [6, 6]), -3),
            lambda x: x.__setitem__(np.s_[::3, ::2], -4),
            lambda x: x.__setitem__(x[...] % 2 == 1, -5),
        )
    ):
        assert array[5, 6] == want[5, 6] == array[5, 6]
        assert array[-1, -1] == want[-1, -1]
        edit(array)
        edit(want)
        assert array[5, 6] == want[5, 6], step
        np.testing.assert_array_equal(array[4:7, 5:8], want[4:7, 5:8])
    array.resize((5, 50))
    with pytest.raises(IndexError):
        array[5, 6]
    array.resize((60, 50))
    assert array[5, 6] == 0


def test_rows_follow_every_edit(array):
    want = A.copy()
    np.testing.assert_array_equal(array[5], want[5])
    array[5, 6] = want[5, 6] = -1
    np.testing.assert_array_equal(array[5], want[5])
    array.resize((60, 40))
    np.testing.assert_array_equal(array[5], want[5, :40])
    array.resize((4, 55))
    assert array[3].shape == (55,) and (array[3, 40:] == 0).all()
    np.testing.assert_array_equal(array[-1], array[3])
    with pytest.raises(IndexError):
        array[4]
    array[3][0] = 7  # of its own
    assert array[3, 0] == want[3, 0]
    array.resize((4, 0))
    assert array[3].shape == (0,)
    with pytest.raises(b2.LimitError):
        b2.ndarray_from_cframe(b2.asarray(A).to_cframe(), limits=b2.Limits(max_result_nbytes=199))[5]


def test_a_rolled_back_item_is_not_kept(array):
    def change() -> None:
        with array.schunk.transaction():
            array[5, 6] = -1
            assert array[5, 6] == -1
            raise KeyError

    with pytest.raises(KeyError):
        change()
    assert array[5, 6] == A[5, 6]


def test_a_reader_that_refreshes_sees_new_items(tmp_path):
    with b2.asarray(A, urlpath=tmp_path / "x", **PARTS) as b, b2.open(tmp_path / "x") as reader:
        assert reader[5, 6] == A[5, 6]
        b[5, 6] = -1
        assert reader[5, 6] == A[5, 6]
        assert reader.refresh()
        assert reader[5, 6] == -1
        np.testing.assert_array_equal(reader[5, 6:8], b[5, 6:8])


def test_items_beside_a_writer(tmp_path):
    """The room of the chunks is used again: an item is of one state, and never of an older one."""
    noise = np.random.default_rng(1).integers(0, 1 << 16, A.shape, "<i4") << 8
    with b2.asarray(noise, urlpath=tmp_path / "x", **PARTS) as b, b2.open(tmp_path / "x") as reader:
        seen = np.zeros(A.shape, int)
        places = np.random.default_rng(2).integers(0, (60, 50), (20, 60, 2)).tolist()
        for state, some in enumerate(places):
            b[...] = noise + state
            for i, j in some:
                found = int(reader[i, j]) - int(noise[i, j])
                assert seen[i, j] <= found <= state
                seen[i, j] = found
        reader.refresh()
        assert reader[3, 4] == noise[3, 4] + len(places) - 1


def test_a_chunk_of_equal_length_that_another_library_put_in_place(tmp_path):
    """Its blocks are elsewhere than those of the chunk that earlier reads opened."""
    n = 8192
    noise = np.random.default_rng(1).integers(0, 2**31, n, "i4")
    calm = np.arange(n, dtype="i4")

    def written(name: str, order: list[np.ndarray]) -> tuple[Path, np.ndarray]:
        data, path = np.concatenate(order), tmp_path / name
        cparams = {"codec": blosc2.Codec.LZ4, "nthreads": 1}
        blosc2.asarray(data, chunks=(4 * n,), blocks=(n,), urlpath=str(path), cparams=cparams)
        return path, data

    before, _ = written("before", [noise, calm, calm, noise])
    after, data = written("after", [calm, noise, noise, calm])
    assert before.stat().st_size == after.stat().st_size
    with b2.open(before) as a:
        a[0]
        before.write_bytes(after.read_bytes())
        assert a[n] == data[n]  # an item, then a row
        before.write_bytes(written("again", [noise, calm, calm, noise])[0].read_bytes())
        np.testing.assert_array_equal(a[2 * n + 5 : 2 * n + 9], calm[5:9])


def test_many_arrays_one_after_the_other():
    """A new array may lie where a freed one was, and must not be taken for it."""
    for i in range(300):
        b = b2.full((10,), i, dtype="<i4") if i % 2 else b2.asarray(np.full(10, i, "<i4"))
        assert b[3] == i and b[3] == i
        np.testing.assert_array_equal(b[2:4], [i, i])
        del b


@pytest.mark.parametrize(
    "dtype", ["u1", ">i2", "<f8", "S7", "<U3", "V300", [("a", "<i4"), ("b", "S3")]], ids=str
)
def test_items_are_arrays_of_their_own(dtype):
    raw = np.random.default_rng(1).bytes(40 * np.dtype(dtype).itemsize)
    a = np.frombuffer(raw, dtype).reshape(8, 5)
    if a.dtype.kind == "U":
        a = np.full((8, 5), "äb€", dtype)
    b = b2.asarray(a, chunks=(4, 5), blocks=(2, 5))
    items = [b[i, j] for i in range(8) for j in range(5)]
    for item, (i, j) in zip(items, np.ndindex(8, 5), strict=True):
        want = a[i, j, ...]
        assert isinstance(item, np.ndarray) and item.shape == () and item.dtype == a.dtype
        assert item.tobytes() == want.tobytes()
    items[0][...] = items[1]
    assert b[0, 0].tobytes() == a[0, 0, ...].tobytes()


def test_the_gaps_of_an_item_are_those_that_are_stored():
    dtype = np.dtype({"names": ["a", "b"], "formats": ["u1", "<i8"], "offsets": [0, 8], "itemsize": 24})
    stored = np.zeros(6, dtype)
    stored["b"] = np.arange(6)
    array = b2.asarray(stored, chunks=(4,), blocks=(3,))
    for i in range(6):
        junk = [np.full(dtype.itemsize, 0xFF, "u1") for _ in range(20)]
        del junk  # memory of an item's size, to be used again
        item = array[i]
        assert item.dtype == dtype and item.shape == () and item.flags.writeable
        assert item.reshape(1).view("u1").tobytes() == stored[i : i + 1].tobytes()


def test_numpy_integers_and_booleans_as_indices():
    b = b2.asarray(A, **PARTS)
    for kind in (np.int64, np.int32, np.uint8, np.intp, np.uint64):
        assert b[kind(3), kind(4)] == A[3, 4]
        assert b[3, kind(4)] == A[3, 4]
    assert b[np.int64(-3), -4] == A[-3, -4]
    assert b[True, 1].shape == A[True, 1].shape
    for key in ((60, 0), (0, 50), (-61, 0), (0, -51), (1 << 70, 0), (-(1 << 70), 0), (0, 1.0), (0, "1")):
        with pytest.raises(IndexError):
            b[key]


def test_reading_from_python_inside_a_read():
    """What C reads through may use the library itself: it gets a context of its own."""
    frame = b2.asarray(A, **PARTS).to_cframe()
    inner = b2.frombuffer(
        np.random.default_rng(0).bytes(1 << 22), 1 << 22, chunks=(1 << 21,), blocks=(1 << 18,)
    )
    assert inner.dtype == "u1"

    class Source:
        def read_at(self, at: int, n: int) -> bytes:
            for i in range(16):  # more than a context keeps
                int(inner[i << 18])
            return frame[at : at + n]

        def __len__(self) -> int:
            return len(frame)

    with b2.open(Source()) as b:
        for i, j in ((0, 0), (59, 49), (31, 17), (0, 1), (12, 44)):
            assert b[i, j] == A[i, j]
            np.testing.assert_array_equal(b[i], A[i])
        np.testing.assert_array_equal(b[...], A)
        np.testing.assert_array_equal(b[[3, 50, 3], [1, 2, 3]], A[[3, 50, 3], [1, 2, 3]])


@pytest.mark.parametrize("contiguous", [True, False])
def test_parts_of_chunks_that_are_stored_as_they_are(contiguous, tmp_path):
    """Data that does not compress: its blocks are read, and checked, one by one."""
    path = tmp_path / "x"
    noise = np.random.default_rng(0).integers(0, 256, (1 << 10, 1 << 10), "u1")
    b2.asarray(noise, urlpath=path, chunks=noise.shape, blocks=(64, 1 << 10), contiguous=contiguous).close()
    stored = path if contiguous else next(path.glob("0*"))
    data = bytearray(stored.read_bytes())
    at = data.index(noise[500, 500:520].tobytes())
    with b2.open(path) as b:
        assert b.schunk.cbytes > noise.size
        np.testing.assert_array_equal(b[100:900:50], noise[100:900:50])
    data[at] ^= 1
    stored.write_bytes(data)
    with b2.open(path) as b:
        np.testing.assert_array_equal(b[:448], noise[:448])
        np.testing.assert_array_equal(b[512:, 3], noise[512:, 3])
        assert b[447, 5] == noise[447, 5]
        for key in ((448, 0), (500, 3), np.s_[400:500], np.s_[...], ([3, 500], [3, 3])):
            with pytest.raises(b2.ChecksumError):
                b[key]
    assert not b2.verify(path).ok


def test_readers_and_a_writer(array):
    """An item is always one that some edit has written, and none is older than one seen before."""
    array[...] = 0
    failures: list[str] = []
    done = threading.Event()

    def read(i: int, j: int) -> None:
        last = 0
        while not done.is_set():
            now = int(array[i, j])
            if now < last:
                failures.append(f"{now} after {last}")
            last = now
            row = array[i, j : j + 3]
            if row[0] < last or not (row == row[0]).all():
                failures.append(f"{row} after {last}")

    threads = [threading.Thread(target=read, args=place) for place in ((5, 6), (5, 6), (39, 29), (40, 46))]
    for thread in threads:
        thread.start()
    for n in range(1, 60):
        array[...] = n
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert array[5, 6] == 59


# Of blocks of 3 x 5 x 64 items: one, few apart, few along each axis, runs, almost all, all.
OF_A_BLOCK = (
    np.s_[1, 2, 3],
    np.s_[1, 2, 60:64],
    np.s_[:, 2, 3],
    np.s_[0:2, 1:5, 7],
    np.s_[1, 2, 5:50],
    np.s_[1, :, 5:50],
    np.s_[1, 2, ::3],
    np.s_[:, :, 1:63:2],
    np.s_[::2, 3:, 1:64],
    np.s_[...],
    np.s_[[0, 2, 0], [1, 4, 1], [5, 63, 6]],
    np.s_[[2, 0], :, [63, 1]],
    np.s_[[0, 1, 2, 1] * 50, [0, 1, 2, 3] * 50, [9, 8, 7, 63] * 50],
)


@pytest.mark.parametrize("splitmode", ["ALWAYS_SPLIT", "NEVER_SPLIT"])
@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 12, 16, 255, 300])
@pytest.mark.parametrize("fold", [1, 4])  # one block; one of four
def test_parts_of_a_block_in_any_order(itemsize, splitmode, fold):
    """What is kept of a block for one read is right for the next one, which wants more or less of it."""
    n = 3 * 5 * 64 * fold
    raw = np.random.default_rng(1).integers(0, 256, (n, itemsize), "u1")
    raw[:, : itemsize // 2] = 7  # a run; and planes that shrink, and noise
    raw[:, -1] = np.arange(n) // 9 % 251
    a = raw.reshape(-1).view(f"V{itemsize}").reshape(3, 5, 64 * fold)
    cparams = {"splitmode": b2.SplitMode[splitmode], "codec": b2.Codec.BLOSCLZ}
    for first in OF_A_BLOCK:  # decides what is kept
        b = b2.asarray(a, chunks=a.shape, blocks=(3, 5, 64), cparams=cparams)
        for key in (first, *OF_A_BLOCK):
            assert b[key].tobytes() == a[key].tobytes(), (first, key)
            assert b[key].shape == a[key].shape


def test_items_before_and_after_compact(tmp_path):
    """The chunks are somewhere else then, and those of the reference have no checksums."""
    data = np.random.default_rng(1).integers(0, 1 << 62, (400, 400))
    path = str(tmp_path / "x.b2nd")
    blosc2.asarray(data, chunks=(200, 200), blocks=(20, 20), urlpath=path, cparams={"clevel": 0})
    with b2.open(path, "a") as a:
        a[:200, :200] = 0
        data[:200, :200] = 0
        assert a[205, 207] == data[205, 207]
        a.schunk.compact()
        for i in range(200, 400, 20):
            assert a[i, i] == data[i, i]
            assert np.array_equal(a[i : i + 3, i], data[i : i + 3, i])
