# SPDX-License-Identifier: BSD-3-Clause
"""Columns and planes that run through many blocks: those beside them are kept, but of no state that is gone."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import blosc2c as b2

# Blocks of whole rows: a column touches all of the array, more than is kept in blocks.
A = np.arange(700 * 900, dtype="<i4").reshape(700, 900)
PARTS = {"chunks": (200, 900), "blocks": (16, 900)}
CUBE = np.arange(90 * 80 * 100, dtype="<u2").reshape(90, 80, 100) * 3
CUBE_PARTS = {"chunks": (90, 80, 100), "blocks": (30, 80, 100)}


@pytest.fixture(params=[{}, {"contiguous": True}, {"contiguous": False}], ids=str)
def array(request, tmp_path):
    kw = request.param and request.param | {"urlpath": tmp_path / "x"}
    with b2.asarray(A, **PARTS, **kw) as b:
        yield b


@pytest.mark.parametrize("nthreads", (1, 3))
def test_columns_in_turn(array, nthreads):
    array.dparams = b2.DParams(nthreads=nthreads)
    for i in (*range(50), *range(899, 860, -1), *range(0, 900, 29), 7, 7, 7):
        np.testing.assert_array_equal(array[:, i], A[:, i])


@pytest.mark.parametrize(
    "parts", (PARTS, {"chunks": (300, 430), "blocks": (300, 430)}, {"blocks": (700, 7)}), ids=str
)
def test_columns_of_all_kinds(parts):
    b = b2.asarray(A, **parts)
    rng = random.Random(1)
    for _ in range(60):
        lo, hi = sorted(rng.sample(range(701), 2))
        rows = slice(lo, hi, rng.choice((1, 1, 2, 13)))
        at = rng.randrange(900)
        for i in range(at, min(at + rng.choice((2, 5, 30)), 900), rng.choice((1, 3))):
            for key in ((rows, i), (rows, slice(i, i + 1)), (slice(None), i)):
                np.testing.assert_array_equal(b[key], A[key])


@pytest.mark.parametrize("parts", (CUBE_PARTS, {}, {"chunks": (50, 80, 33), "blocks": (50, 41, 33)}), ids=str)
def test_planes_of_a_cube(parts):
    b, rng = b2.asarray(CUBE, **parts), random.Random(2)
    for at in (0, 31, 70):
        for i in range(at, at + 10):
            for key in (
                np.s_[i],
                np.s_[:, i],
                np.s_[:, :, i],
                np.s_[::2, i, 5:],
                np.s_[3, :, i],
                np.s_[:, i, i],
            ):
                for _ in range(rng.choice((1, 2))):
                    np.testing.assert_array_equal(b[key], CUBE[key])


@pytest.mark.parametrize("dtype", ["u1", ">f8", "S7", "<U3", "V300", [("a", "<i4"), ("b", "S3")]], ids=str)
def test_columns_of_any_items(dtype):
    itemsize = np.dtype(dtype).itemsize
    raw = np.arange(300 * 100 * itemsize, dtype="u4").astype("u1")
    a = raw.reshape(300, 100, itemsize).copy()
    if np.dtype(dtype).kind == "U":
        a.view("<u4")[...] = 65 + np.arange(300 * 100 * 3).reshape(300, 100, 3) % 50
    a = a.view(dtype)[..., 0]
    b = b2.asarray(a, chunks=(300, 100), blocks=(3, 100))
    for i in (5, 6, 7, 8, 50, 51, 52, 7):
        got = b[:, i]
        assert got.dtype == a.dtype and got.tobytes() == a[:, i].tobytes()


def test_columns_follow_every_edit(array):
    want = A.copy()

    def check() -> None:
        for i in (5, 6, 7, 6):
            np.testing.assert_array_equal(array[:, i], want[:, i])

    for edit in (
        lambda x: x.__setitem__((5, 6), -1),
        lambda x: x.__setitem__((slice(0, 20), slice(0, 30)), -2),
        lambda x: x.__setitem__(([5, 40], [6, 6]), -3),
        lambda x: x.__setitem__((slice(None), 6), -4),
        lambda x: x.__setitem__(np.s_[::3, ::2], -5),
    ):
        check()
        edit(array)
        edit(want)
        check()
    with pytest.raises(KeyError), array.schunk.transaction():
        array[:, 6] = 0
        np.testing.assert_array_equal(array[:, 6], np.zeros(700))
        raise KeyError
    check()
    array.resize((690, 900))
    want = want[:690]
    check()
    array.resize((720, 900))
    want = np.concatenate([want, np.zeros((30, 900), "<i4")])
    check()
    array.close()
    with pytest.raises(b2.ClosedError):
        array[:, 6]


def test_a_reader_that_refreshes_sees_new_columns(tmp_path):
    with b2.asarray(A, urlpath=tmp_path / "x", **PARTS) as b, b2.open(tmp_path / "x") as reader:
        for i in (5, 6, 7):
            np.testing.assert_array_equal(reader[:, i], A[:, i])
        b[:, 7] = -1
        assert reader.refresh()
        assert (reader[:, 7] == -1).all()
        np.testing.assert_array_equal(reader[:, 8], A[:, 8])


def test_columns_beside_a_writer(tmp_path):
    """A column is of one state, and never of an older one than that before it."""
    with b2.asarray(A, urlpath=tmp_path / "x", **PARTS) as b, b2.open(tmp_path / "x") as reader:
        seen = 0
        for state in range(1, 15):
            b[...] = A + state
            for i in (5, 6, 7, 8):
                found = np.unique(reader[:, i] - A[:, i])
                assert found.size == 1 and seen <= found[0] <= state
                seen = found[0]
        reader.refresh()
        np.testing.assert_array_equal(reader[:, 8], A[:, 8] + state)


def test_columns_beside_the_last_two_are_there():
    frame, calls = b2.asarray(A, **PARTS).to_cframe(), []

    class Source:
        def read_at(self, at: int, n: int) -> bytes:
            calls.append(n)
            return frame[at : at + n]

        def __len__(self) -> int:
            return len(frame)

    with b2.open(Source()) as b:
        for i, is_there in ((5, False), (6, False), (7, True), (3, True), (5, True), (600, False)):
            calls.clear()
            np.testing.assert_array_equal(b[:, i], A[:, i])
            assert (sum(calls) < len(frame) / 4) == is_there, i
        for i, is_there in ((7, False), (800, True), (300, True), (899, True), (0, True)):
            calls.clear()
            np.testing.assert_array_equal(b[:, i], A[:, i])
            assert (sum(calls) == 0) == is_there, i


@pytest.mark.parametrize("n", (2000, 6000))
def test_columns_far_from_each_other_of_many_arrays(n):
    """Some are kept whole, others are too large, or too many."""
    a = np.arange(1000 * n, dtype="<i4").reshape(1000, n)
    arrays = [b2.asarray(a * k, chunks=(250, n), blocks=(4, n)) for k in range(1, 6)]
    for step in range(12):
        for k, b in enumerate(arrays, 1):
            i = (step * 617 + k * 1001) % n
            np.testing.assert_array_equal(b[::3, i], a[::3, i] * k)
        if step == 6:
            a[30] = -1
            for k, b in enumerate(arrays, 1):
                b[30] = a[30] * k


def test_more_arrays_in_turn_than_are_kept():
    arrays = [b2.asarray(A + k, **PARTS) for k in range(6)]
    for i in range(5, 9):
        for k, b in enumerate(arrays):
            np.testing.assert_array_equal(b[:, i], A[:, i] + k)


def test_many_threads_read_columns(array):
    failures = []

    def read(at: int) -> None:
        for i in range(at, at + 30):
            if not np.array_equal(array[:, i], A[:, i]):
                failures.append(i)

    threads = [threading.Thread(target=read, args=(at,)) for at in (0, 10, 400, 850)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_what_a_post_filter_makes_is_not_kept():
    state = [0]
    b = b2.asarray(A, **PARTS, dparams={"nthreads": 1})

    def post(inputs, output, offset):
        output[:] = inputs + state[0]

    b.schunk.postfilter(np.dtype("<i4"))(post)
    for i in (5, 6, 7, 7):
        state[0] += 1
        np.testing.assert_array_equal(b[:, i], A[:, i] + state[0])


def test_a_column_through_damage_is_named_each_time(tmp_path):
    path = tmp_path / "x"
    noise = np.random.default_rng(0).integers(0, 256, (1 << 11, 1 << 10), "u1")
    b2.asarray(noise, urlpath=path, chunks=(512, 1024), blocks=(64, 1024)).close()
    data = bytearray(path.read_bytes())
    data[data.index(noise[700, 500:520].tobytes())] ^= 1
    path.write_bytes(data)
    with b2.open(path) as b:
        for i in (3, 4, 5, 5, 900, 300, 700, 5):
            with pytest.raises(b2.ChecksumError, match="chunk 1"):
                b[:, i]
    with b2.open(path, on_damage="fill") as b, pytest.warns(b2.DamageWarning):
        for i in (3, 4, 5, 5, 900, 300, 700, 5):
            column = b[:, i]
            np.testing.assert_array_equal(column[:512], noise[:512, i])
            np.testing.assert_array_equal(column[1024:], noise[1024:, i])
            assert (column[512:1024] == 0).all()
