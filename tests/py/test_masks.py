# SPDX-License-Identifier: BSD-3-Clause
"""Masks of the shape of an array that select much: whole rows of chunks are read."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import blosc2c as b2
from blosc2c import masks

PARTS = [0, 1 / 1000, 1 / 17, 1 / 15, 1 / 2, 1]
SHAPES = [(1,), (1000,), (37, 41), (1, 60), (60, 1), (7, 11, 13), (2, 3, 4, 5), (0, 5), (5, 0), ()]
RECORD = np.dtype([("a", "<i4"), ("b", "<f8")])


@pytest.fixture
def small_slabs(monkeypatch):
    """A row of chunks at a time."""
    monkeypatch.setattr(masks, "_SLAB_NBYTES", 1)


def filled(shape, dtype="f8"):
    data = np.arange(int(np.prod(shape)) * np.dtype(dtype).itemsize, dtype="u4").astype("u1")
    return data.view(dtype).reshape(shape)


def some(shape, part, seed=1):
    return np.asarray(np.random.default_rng(seed).random(shape) < part)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape, part, small_slabs):
    data, mask = filled(shape), some(shape, part)
    chunks = tuple(max(-(-n // 3), 1) if n else 0 for n in shape)
    array = b2.asarray(data, chunks=chunks)
    for key in (mask, (mask,), mask.copy(order="F"), mask.tolist()):
        found = array[key]
        want = data[key]
        assert (found.shape, found.dtype) == (want.shape, want.dtype)
        assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["u1", ">i2", "S7", "U3", "M8[s]", "c16", "V5", RECORD, "S300"], ids=str)
def test_dtypes(dtype, small_slabs):
    data = np.zeros((40, 10), dtype) if np.dtype(dtype).kind == "U" else filled((40, 10), dtype)
    array, mask = b2.asarray(data, chunks=(7, 10)), some((40, 10), 0.4)
    assert array[mask].dtype == data.dtype
    assert array[mask].tobytes() == data[mask].tobytes()


def test_how_it_is_read(monkeypatch):
    read = []
    monkeypatch.setattr(
        "blosc2c.ndarray.read_masked", lambda a, mask: read.append(mask.shape) or masks.read_masked(a, mask)
    )
    data = filled((100, 30))
    array = b2.asarray(data, chunks=(20, 30))
    mask = some(data.shape, 0.5)
    assert_array_equal(array[mask], data[mask])
    assert read == [mask.shape]
    sparse = some(data.shape, 0.01)
    assert_array_equal(array[sparse], data[sparse])
    assert_array_equal(array[mask[:, 0]], data[mask[:, 0]])  # of some axes only
    assert read == [mask.shape]
    monkeypatch.setattr(masks, "_MOST_NBYTES", 20 * 30 * 8 - 1)
    assert masks.read_masked(array, mask) is None
    assert_array_equal(array[mask], data[mask])


@pytest.mark.parametrize(
    "box", [np.s_[:, 3:7], np.s_[13:35, :], np.s_[13:35, 3:7], np.s_[29:30, 9:]], ids=str
)
def test_masks_of_a_box(box, small_slabs, monkeypatch):
    monkeypatch.setattr(masks, "_DENSE", 10**6)
    monkeypatch.setattr(masks, "_MOST_EACH", 10**6)
    monkeypatch.setattr(masks, "_AT_ONCE", 5)
    data = filled((40, 10))
    array, mask = b2.asarray(data, chunks=(8, 4)), np.zeros(data.shape, bool)
    mask[box] = True
    for key in (mask, mask & some(data.shape, 0.5, seed=2)):
        assert_array_equal(masks.read_masked(array, key), data[key])


def test_few_large_items_are_looked_up():
    array = b2.asarray(filled((40, 10), "S300"), chunks=(8, 4))
    assert masks.read_masked(array, some(array.shape, 0.3)) is None
    assert masks.read_masked(array, np.ones(array.shape, bool)) is not None


def test_masks_of_other_shapes():
    array = b2.asarray(filled((10, 4)))
    for shape in [(4, 10), (10, 5), (11, 4), (9, 4), (10, 4, 1)]:
        with pytest.raises(IndexError):
            array[np.ones(shape, bool)]


def test_views(small_slabs):
    data = filled((30, 1, 20))
    view = b2.asarray(data, chunks=(8, 1, 20)).squeeze()
    mask = some((30, 20), 0.5)
    assert_array_equal(view[mask], data[:, 0][mask])


def test_limits():
    cframe = b2.asarray(filled((1000,))).to_cframe()
    array = b2.from_cframe(cframe, limits=b2.Limits(max_result_nbytes=800))
    mask = np.arange(1000) < 100
    assert_array_equal(array[mask], filled((1000,))[mask])
    mask[100] = True
    with pytest.raises(b2.LimitError):
        array[mask]


def test_damage(tmp_path, small_slabs):
    path = tmp_path / "a.b2nd"
    data = np.random.default_rng(3).random((40, 10))
    b2.asarray(data, chunks=(10, 10), urlpath=path).schunk.close()
    stored = bytearray(path.read_bytes())
    with b2.open(path) as array:
        stored[stored.index(array.schunk.get_chunk(1)) + 100] ^= 1
    path.write_bytes(stored)
    mask = some(data.shape, 0.5)
    with b2.open(path) as array, pytest.raises(b2.CorruptError, match="chunk 1"):
        array[mask]
    with b2.open(path, on_damage="fill") as array, pytest.warns(b2.DamageWarning):
        found = array[mask]
        assert list(array.schunk.damage) == [1]
    data[10:20] = 0
    assert_array_equal(found, data[mask])


def test_an_array_that_another_handle_changes(tmp_path, small_slabs):
    path = tmp_path / "a.b2nd"
    data = filled((40, 10))
    b2.asarray(data, chunks=(10, 10), urlpath=path, locking=True).schunk.close()
    mask = some(data.shape, 0.5)
    with b2.open(path, locking=True) as reader, b2.open(path, mode="a", locking=True) as writer:
        assert_array_equal(reader[mask], data[mask])
        writer[...] = data[::-1]
        assert_array_equal(reader[mask], data[::-1][mask])
        writer.resize((30, 10))
        with pytest.raises(IndexError):
            reader[mask]


def test_a_mask_that_loses_items_meanwhile(monkeypatch, small_slabs):
    array = b2.asarray(filled((40, 10)), chunks=(10, 10))
    mask = some(array.shape, 0.5)
    make_room = b2.NDArray._room_for

    def room_and_another_thread(self, shape):
        mask[20:] = False
        return make_room(self, shape)

    monkeypatch.setattr(b2.NDArray, "_room_for", room_and_another_thread)
    with pytest.raises(b2.ParameterError, match="changed the mask"):
        array[mask]
