# SPDX-License-Identifier: BSD-3-Clause
"""Arrays made from others and from rules: values against NumPy, and never more at once than a part."""

from __future__ import annotations

import importlib
import itertools
import math
import threading

import blosc2
import numpy as np
import pytest
from arrays import basic_keys, fancy_keys, partitions, values
from hypothesis import given, settings
from hypothesis import strategies as st

import blosc2c as b2
from blosc2c.partition import boxes, grid_of, slab_of, slabs
from blosc2c.sources import Reshaped, flat_boxes

A = np.arange(9 * 10 * 11, dtype="<i4").reshape(9, 10, 11)
PARTS = {"chunks": (4, 5, 6), "blocks": (2, 3, 4)}


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


class Recorder:
    """A foreign array: shape, dtype and slicing.  Notes the largest part that it gave."""

    def __init__(self, a: np.ndarray, **attributes) -> None:
        self._a, self.largest, self.nparts = a, 0, 0
        self.shape, self.dtype = a.shape, a.dtype
        for name, value in attributes.items():
            setattr(self, name, value)

    def __getitem__(self, key):
        part = self._a[key]
        self.largest, self.nparts = max(self.largest, part.nbytes), self.nparts + 1
        return part


# ---- Sources ---------------------------------------------------------------


def test_foreign_arrays_are_read_in_parts():
    big = Recorder(np.arange(1 << 23, dtype="<f8").reshape(1 << 10, 1 << 13))
    for make in (
        lambda: b2.asarray(big),
        lambda: b2.asarray(big, chunks=(100, 1000), blocks=(10, 100)),
        lambda: b2.reshape(big, (1 << 13, 1 << 10)),
        lambda: b2.concat([big, big], axis=0),
        lambda: b2.asarray(big, dtype="<f4"),
    ):
        big.largest = big.nparts = 0
        made = make()
        assert made.size and big.largest <= 17 << 20 and big.nparts > 3, (big.largest, big.nparts)
    same(b2.asarray(big)[5:9], big[5:9])


def test_partitions_of_foreign_arrays_are_taken_where_they_fit():
    a = np.zeros((100, 200), "<i4")
    assert b2.asarray(Recorder(a, chunks=(20, 50))).chunks == (20, 50)
    made = b2.asarray(Recorder(a, chunks=(20, 50), blocks=(10, 10)))
    assert (made.chunks, made.blocks) == ((20, 50), (10, 10))
    auto = b2.asarray(a).chunks
    for odd in ((20,), ((50, 50), (100, 100)), None, "auto", (0, 3), [20, 50]):  # dask has tuples of tuples
        assert b2.asarray(Recorder(a, chunks=odd)).chunks == auto
    huge = Recorder(np.broadcast_to(np.int8(1), (1 << 16, 1 << 16)), chunks=(1 << 16, 1 << 16))
    chunks, _ = b2.compute_chunks_blocks(huge.shape, dtype="i1")
    assert chunks != huge.chunks
    made = b2.asarray(Recorder(a[:0], chunks=(20, 50)))
    assert made.shape == (0, 200)


@pytest.mark.parametrize(
    "change",
    [np.transpose, lambda a: a[0], lambda a: a[:1], lambda a: a[None], lambda a: a[0, 0], lambda a: 7],
)
def test_sources_that_give_another_shape_are_refused(change):
    """Nor is what they give spread over the box."""

    class Liar(Recorder):
        def __getitem__(self, key):
            return change(self._a[key])

    liar = Liar(np.zeros((30, 20), "<i4"))
    array = b2.ones((5, 20), dtype="<i4")
    for make in (lambda: b2.asarray(liar), lambda: array.append(liar, 0)):
        with pytest.raises(
            b2.ParameterError, match=r"^the source gave shape \(.*\) where \(30, 20\) was asked for$"
        ):
            make()
    assert array.shape == (5, 20)


@pytest.mark.parametrize("nchunks", [4, 2000])
def test_what_fails_to_be_made_in_memory_is_closed(nchunks, monkeypatch):
    made = []

    class Failing(Recorder):
        slab_nbytes = 0  # a chunk at a time

        def __getitem__(self, key):
            if self.nparts == nchunks // 2:
                made.extend(owned.values())
                raise OSError("gone")
            return super().__getitem__(key)

    owned = {}
    monkeypatch.setattr(b2.SChunk, "being_made", _noting(owned, b2.SChunk.being_made))
    with pytest.raises(OSError, match="gone"):
        b2.asarray(Failing(np.ones((nchunks, 3))), chunks=(1, 3), blocks=(1, 3))
    assert [schunk.handle.is_closed for schunk in made] == [True]


def _noting(owned, function):
    def being_made(schunk, *args, **kwargs):
        owned[0] = schunk
        return function(schunk, *args, **kwargs)

    return being_made


def test_parameters_that_arrays_are_made_with_stay_as_they_are():
    cparams = b2.CParams(codec="lz4", typesize=3)
    cparams.filters = "bitshuffle"
    for _ in range(2):
        got = b2.zeros((4, 5), "f8", cparams=cparams).cparams
        assert (got.codec, got.typesize, got.filters[0]) == (b2.Codec.LZ4, 8, b2.Filter.BITSHUFFLE)
        assert (cparams.filters, cparams.typesize) == ("bitshuffle", 3)
    cparams.clevel = 12
    with pytest.raises(ValueError, match="clevel must be between 0 and 9, not 12"):
        b2.zeros((4, 5), cparams=cparams)


@pytest.mark.parametrize("name", ["h5py", "zarr"])
def test_datasets_of_other_libraries(name, tmp_path):
    library = importlib.import_module(name)
    a = np.random.default_rng(0).integers(0, 99, (70, 90)).astype("<i2")
    if name == "h5py":
        file = library.File(tmp_path / "x.h5", "w")
        data = file.create_dataset("d", data=a, chunks=(16, 32))
        plain = file.create_dataset("e", data=a)
        assert b2.asarray(plain).chunks == b2.asarray(a).chunks
    else:
        data = library.create_array(store=str(tmp_path / "x.zarr"), data=a, chunks=(16, 32))
    made = b2.asarray(data, urlpath=tmp_path / "x.b2nd")
    assert made.chunks == (16, 32)
    same(made, a)
    same(b2.concat([data, made], axis=1), np.concatenate([a, a], axis=1))
    made.close()


def test_datasets_whose_items_are_arrays(tmp_path):
    """h5py gives their axes behind those of the dataset, whose shape does not have them."""
    h5py = importlib.import_module("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        data = file.create_dataset("d", (5,), "(2,3)<f4")
        data[...] = a = np.arange(30, dtype="<f4").reshape(5, 2, 3)
        same(b2.asarray(data), a)
        same(b2.asarray(data, chunks=(2, 2, 2), dtype="<i4"), a.astype("<i4"))
        same(b2.asarray(data, dtype=data.dtype), a)
        same(b2.asarray(data, dtype="(2,3)<f8"), a.astype("<f8"))
        same(b2.concat([data, a]), np.concatenate([a, a]))
        same(b2.reshape(data, (6, 5)), a.reshape(6, 5))
        same(b2.permute_dims(data), a.transpose())
        same(b2.matrix_transpose(data), a.swapaxes(1, 2))


def test_chunks_whose_blocks_are_in_order_and_others():
    """Where blocks follow each other as the items do, a chunk is compressed from where the items are."""
    a = np.arange(4 * 6 * 8, dtype="<i2").reshape(4, 6, 8)
    sizes = ((1, 2, 3, 4), (1, 3, 4, 6), (1, 4, 5, 8))
    for blocks in itertools.product(*sizes):
        for chunks in itertools.product((blocks[0], 4), (blocks[1], 6), (blocks[2], 8)):
            b = b2.asarray(a, chunks=chunks, blocks=blocks)
            same(b[...], a)
            same(b[1:, 2:, 3:], a[1:, 2:, 3:])


def test_the_buffer_protocol_and_array_protocol():
    import array

    same(b2.asarray(array.array("i", range(7))), np.arange(7, dtype="i4"))
    same(b2.asarray(memoryview(bytes(range(9)))), np.arange(9, dtype="u1"))
    same(b2.asarray(bytearray(b"abc")), np.frombuffer(b"abc", "u1"))

    class Has:
        def __array__(self, dtype=None, copy=None):
            return np.arange(6.0).reshape(2, 3)

    same(b2.asarray(Has()), np.arange(6.0).reshape(2, 3))
    same(b2.asarray([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]))
    same(b2.asarray(np.ma.masked_equal([1, 2], 2)), np.array([1, 2]))
    same(b2.asarray(A.T, **{"chunks": (6, 5, 4)}), A.T)
    same(b2.asarray(A[::2, ::-1]), A[::2, ::-1])


def test_objects_are_refused_by_name():
    for dtype in (object, [("a", "<i4"), ("b", object)], np.dtypes.StringDType()):
        with pytest.raises(TypeError, match="cannot be stored"):
            b2.asarray(np.zeros(3, dtype))
        with pytest.raises(TypeError, match="cannot be stored"):
            b2.zeros(3, dtype=dtype)
    with pytest.raises(TypeError, match="object"):
        b2.asarray([{}, 1])


# ---- Iterables and rules ---------------------------------------------------


@pytest.mark.parametrize("name", ["b2nd", b"b2nd", "caterva", "ml_dtype", b"ml_dtype"])
def test_metalayers_of_the_arrays_own_are_refused(tmp_path, name):
    path, meta = tmp_path / "x.b2nd", {"mine": 1, name: 5}
    b2.arange(3, urlpath=path).close()
    a = b2.arange(3)
    for make in (
        lambda: b2.asarray(np.arange(4), meta=meta, urlpath=path, mode="w"),
        lambda: b2.zeros(3, storage=b2.Storage(meta=meta)),
        lambda: a.copy(meta=meta),
        lambda: a.save(path, mode="w", meta=meta),
    ):
        with pytest.raises(b2.ParameterError, match=f"the metalayer {name!r} is the array's own"):
            make()
    np.testing.assert_array_equal(b2.open(path), np.arange(3))


@pytest.mark.parametrize("shape", [(0,), (1,), (77,), (7, 11), (5, 0), (3, 4, 5), ()], ids=str)
def test_fromiter(shape):
    n = int(np.prod(shape))
    kw = (
        {}
        if 0 in shape
        else {"chunks": tuple(min(s, 3) for s in shape), "blocks": tuple(min(s, 2) for s in shape)}
    )
    for c_order in (True, False):
        endless = itertools.count()
        mine = b2.fromiter(endless, shape, "<i8", c_order=c_order, **kw)
        assert next(endless) == n
        if shape:
            same(mine, blosc2.fromiter(iter(range(n)), shape, np.int64, c_order=c_order, **kw)[...])
        if c_order:
            same(mine, np.arange(n).reshape(shape))
    if n:
        with pytest.raises(ValueError, match=f"expected {n} items, it had {n - 1}"):
            b2.fromiter(range(n - 1), shape, "<i8", **kw)


def test_fromiter_takes_a_part_at_a_time(monkeypatch, tmp_path):
    largest = 0
    fromiter = np.fromiter

    def noting(*args, **kwargs):
        nonlocal largest
        out = fromiter(*args, **kwargs)
        largest = max(largest, out.nbytes)
        return out

    monkeypatch.setattr(np, "fromiter", noting)
    monkeypatch.setattr("blosc2c.creation.ROWS_NBYTES", 1 << 16)
    kw = {"chunks": (100, 50), "blocks": (10, 50)}
    for c_order in (True, False):
        made = b2.fromiter(
            range(400 * 500), (400, 500), "<i8", c_order, urlpath=tmp_path / str(c_order), **kw
        )
        assert largest <= 8 << 20
        if c_order:
            same(made, np.arange(400 * 500).reshape(400, 500))
        made.close()
    with pytest.raises(ValueError):
        b2.fromiter(range(10), (400, 500), "<i8", urlpath=tmp_path / "short", **kw)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["False", "True"]


@pytest.mark.parametrize("on_disk", [True, False])
def test_fromiter_gathers_wide_rows_where_the_array_is(on_disk, monkeypatch, tmp_path):
    """Not in memory for an array in a file: that may be larger than the memory."""
    monkeypatch.setattr("blosc2c.creation.ROWS_NBYTES", 1 << 12)
    monkeypatch.chdir(tmp_path)
    seen: list[str] = []

    def from_rows(*args):
        seen.extend(p.name for p in tmp_path.glob(".fromiter-*/*"))
        return Reshaped(*args)

    monkeypatch.setattr("blosc2c.creation.Reshaped", from_rows)
    kw = {
        "chunks": (30, 20),
        "blocks": (10, 20),
        "cparams": {"filters": [b2.Filter.NDMEAN], "filters_meta": [4]},
    }
    if not on_disk:
        kw.pop("cparams")
    items = iter(range(60 * 70))
    with b2.fromiter(items, (60, 70), "<f4", **kw, **({"urlpath": "x"} if on_disk else {})) as made:
        assert seen == ["items.b2nd"] * on_disk
        if not on_disk:
            same(made, np.arange(60 * 70, dtype="<f4").reshape(60, 70))
    assert [p.name for p in tmp_path.iterdir()] == ["x"] * on_disk

    def broken():
        yield from range(4000)
        raise KeyError("no more")

    with pytest.raises(KeyError, match="no more"):
        b2.fromiter(broken(), (60, 70), "<i8", urlpath=tmp_path / "y", chunks=(30, 20), blocks=(10, 20))
    assert [p.name for p in tmp_path.iterdir()] == ["x"] * on_disk


def test_fromiter_of_records():
    dt = np.dtype([("a", "<i4"), ("b", "S3")])
    rows = [(i, b"x%d" % i) for i in range(9)]
    same(b2.fromiter(rows, 9, dt, chunks=(4,), blocks=(2,)), np.array(rows, dt))


@pytest.mark.parametrize(
    "args",
    [(7,), (2, 9), (0, 1, 0.1), (1.5, 40, 0.7), (9, -3, -2), (0,), (5, 5), (-1.0, 1.0, 1 / 3), (0, 6e4, 7)],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, "<f4", "<f8", "<i4", "<f2"])
def test_arange_is_that_of_numpy(args, dtype):
    try:
        want = np.arange(*args, dtype=dtype)
    except ValueError:
        return
    same(b2.arange(*args, dtype=dtype, chunks=(max(len(want) // 3, 1),) if len(want) else None), want)


@pytest.mark.parametrize("num", [1, 2, 5, 77, 1000])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("ends", [(0, 1), (-3.5, 1e9), (5, 5), (2, -7), (0, 1 + 2j)], ids=str)
def test_linspace_is_that_of_numpy(num, endpoint, ends):
    for dtype in (None, "<f4", "<i4"):
        if dtype is not None and isinstance(ends[1], complex):
            continue
        want = np.linspace(*ends, num, endpoint=endpoint, dtype=dtype)
        same(b2.linspace(*ends, num, endpoint=endpoint, dtype=dtype, chunks=(max(num // 3, 1),)), want)


@given(st.integers(0, 30), st.none() | st.integers(0, 30), st.integers(-35, 35))
def test_eye(n, m, k):
    kw = {} if n == 0 or m == 0 else {"chunks": (7, 4), "blocks": (3, 4)}
    same(b2.eye(n, m, k, dtype="<f4", **kw), np.eye(n, m, k, dtype="<f4"))


def test_a_large_eye_stores_its_diagonal_only():
    e = b2.eye(1 << 20, dtype="i1", chunks=(1 << 12, 1 << 12), blocks=(1 << 8, 1 << 8))
    assert e.schunk.nchunks == 1 << 16
    assert (
        sum(f.special is b2.SpecialValue.NOT_SPECIAL for f in itertools.islice(e.iterchunks_info(), 3 << 8))
        == 3
    )
    assert e[77777, 77777] == 1 and e[77777, 77778] == 0


# ---- Selections ------------------------------------------------------------


@settings(max_examples=150)
@given(st.data(), partitions(max_ndim=3))
def test_slices_of_any_kind(data, parts):
    shape, chunks, blocks = parts
    a = values(np.dtype("<i8"), shape, 1)
    b = b2.asarray(a, chunks=chunks, blocks=blocks)
    fancy = shape and 0 not in shape and data.draw(st.booleans())
    key = data.draw(fancy_keys(shape) if fancy else basic_keys(shape))
    try:
        want = a[key]
    except IndexError:
        with pytest.raises(IndexError):
            b.slice(key)
        return
    got = b.slice(key)
    assert isinstance(got, b2.NDArray)
    same(got, want)
    same(blosc2.ndarray_from_cframe(got.to_cframe())[...], want)
    small = {} if 0 in want.shape else {"chunks": tuple(min(n, 2) for n in want.shape)}
    same(b.slice(key, **small), want)


def test_aligned_slices_take_chunks_over(monkeypatch):
    """What begins and ends with chunks is copied as it is stored; nothing is decoded."""
    b = b2.asarray(A, cparams={"codec": "zlib", "clevel": 9}, **PARTS)
    calls = []
    read = b2.NDArray._read_box
    monkeypatch.setattr(b2.NDArray, "_read_box", lambda self, *a: (calls.append(a[:2]), read(self, *a)))
    none = A[:0]
    for key, decoded, chunks in (
        (np.s_[4:, 5:, 6:], none, (4, 5, 6)),
        (np.s_[...], none, (4, 5, 6)),
        (np.s_[4:8, :, 6:], none, (4, 5, 6)),
        (np.s_[:4], none, (4, 5, 6)),
        (np.s_[8:], none, (4, 5, 6)),
        (np.s_[:5], A[4:5], (4, 5, 6)),  # the second row of chunks ends elsewhere
        (np.s_[:, :, :5], A[:, :, :5], (4, 5, 5)),
        (np.s_[1:], A[1:], (4, 5, 6)),
        (np.s_[::2], A[::2], (4, 5, 6)),
    ):
        calls.clear()
        got = b.slice(key)
        nread = sum(math.prod(counts) for _, counts in calls)
        assert (nread, got.chunks) == (decoded.size, chunks), key
        same(got, A[key])
        same(blosc2.ndarray_from_cframe(got.to_cframe())[...], A[key])
    part = b.slice(np.s_[4:8, 5:, 6:])
    assert part.get_chunk(0) == b.get_chunk(1 * 4 + 1 * 2 + 1)
    assert part.cparams.codec is b2.Codec.ZLIB


def test_chunks_are_taken_over_from_many_arrays(tmp_path):
    """Runs of them, between those that have to be made anew."""
    a = A.reshape(-1)[:96].copy()
    parts = {"chunks": (4,), "blocks": (2,), "cparams": {"codec": "zlib", "clevel": 9}}
    b = b2.asarray(a, **parts)
    b.save(tmp_path / "x.b2nd")
    stored = b2.open(tmp_path / "x.b2nd", mode="r")
    locked = b2.asarray(a, urlpath=tmp_path / "y.b2nd", locking=True, **parts)
    sources = [
        b,
        b[:0],
        stored,
        a[:8],
        b2.asarray(a, chunks=(8,), blocks=(2,)),
        locked,
        b.slice(np.s_[:10]),
        b,
        b,
    ]
    got = b2.concat(sources)
    want = np.concatenate([s[...] for s in sources])
    same(got, want)
    same(blosc2.ndarray_from_cframe(got.to_cframe())[...], want)
    sound = [b.get_chunk(i) for i in range(24)]
    chunks = [got.get_chunk(i) for i in range(got.schunk.nchunks)]
    assert chunks[:24] == chunks[24:48] == sound
    assert chunks[50 + 24 : 50 + 48] == sound  # those of twice the size are made anew, and two of `a`
    assert chunks[98 + 2] != sound[2] and len(chunks) == 149  # items 8 to 11 are of two arrays, and so on
    same(b2.concat(sources, urlpath=tmp_path / "z.b2nd"), want)
    locked.close()


def test_nothing_that_was_cut_off_is_stored():
    secret = np.frombuffer(b"secretsecretsecret!!", "u1").copy()
    b = b2.asarray(
        np.concatenate([np.zeros(5, "u1"), secret]), chunks=(25,), blocks=(25,), cparams={"clevel": 0}
    )
    assert b"secret" in b.to_cframe()
    assert b"secret" not in b.slice(slice(0, 5)).to_cframe()
    assert b"secret" not in b.slice(slice(0, 5), chunks=(5,)).to_cframe()


def test_slices_are_made_in_parts(tmp_path):
    b = b2.zeros((1 << 15, 1 << 15), dtype="<f8")  # 8 GB
    b[77, 78] = 5
    part = b.slice(np.s_[:, ::2], urlpath=tmp_path / "x")
    assert part.shape == (1 << 15, 1 << 14) and part[77, 39] == 5
    part.close()


@settings(max_examples=60)
@given(st.data(), partitions(max_ndim=3))
def test_taking(data, parts):
    shape, chunks, blocks = parts
    if not shape or 0 in shape:
        return
    a = values(np.dtype("<i4"), shape, 1)
    b = b2.asarray(a, chunks=chunks, blocks=blocks)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = shape[axis]
    indices = data.draw(st.lists(st.integers(-n, n - 1), max_size=9))
    same(b.take(indices, axis=axis), a.take(indices, axis=axis))
    flat = data.draw(st.lists(st.integers(-a.size, a.size - 1), max_size=9))
    same(b.take(flat), a.take(flat))
    same(b2.take(a, np.array(flat, int).reshape(-1, 1)), a.take(np.array(flat, int).reshape(-1, 1)))


# ---- Other shapes ----------------------------------------------------------


@settings(max_examples=200)
@given(st.data(), st.lists(st.integers(1, 6), max_size=4).map(tuple))
def test_flat_boxes(data, shape):
    a = np.arange(int(np.prod(shape))).reshape(shape)
    first = data.draw(st.integers(0, a.size))
    stop = data.draw(st.integers(first, a.size))
    found = list(flat_boxes(shape, first, stop))
    numbers = [a[box].reshape(-1) for box in found]
    assert np.concatenate([*numbers, np.empty(0, int)]).tolist() == list(range(first, stop))
    assert len(found) <= max(2 * len(shape) - 1, 1)


@settings(max_examples=200)
@given(partitions(), st.integers(0, 300))
def test_slabs(parts, nitems):
    shape, chunks, _ = parts
    found = list(slabs(shape, chunks, nitems))
    each = list(boxes(shape, chunks))
    assert sum(n for _, n in found) == len(each) == int(np.prod(grid_of(shape, chunks)))
    first = 0
    for box, n in found:
        for axis, s in enumerate(box):  # exactly the chunks whose turn it is
            part = [e[axis] for e in each[first : first + n]]
            assert s.start == min(p.start for p in part) and s.stop == max(p.stop for p in part)
        size = int(np.prod([s.stop - s.start for s in box]))
        assert size == sum(int(np.prod([p.stop - p.start for p in e])) for e in each[first : first + n])
        assert n == 1 or size <= nitems
        first += n
    assert all(s % c == 0 for s, c in zip(slab_of(shape, chunks, nitems), chunks, strict=True) if c)


def _shapes_of(n: int):
    return [
        (a, b, n // a // b)
        for a in range(1, n + 1)
        if n % a == 0
        for b in range(1, n // a + 1)
        if n // a % b == 0
    ]


@settings(max_examples=150)
@given(st.data(), st.sampled_from([1, 12, 36, 64, 210]))
def test_reshaping(data, n):
    old, new = (
        tuple(data.draw(st.permutations(data.draw(st.sampled_from(_shapes_of(n)))))) for _ in range(2)
    )
    chunks = tuple(data.draw(st.integers(1, s)) for s in new)
    a = values(np.dtype("<i2"), old, 1)
    b = b2.asarray(a, chunks=tuple(data.draw(st.integers(1, s)) for s in old))
    same(b.reshape(new, chunks=chunks), a.reshape(new))
    same(b.reshape((-1,)), a.reshape(-1))
    same(b2.reshape(a, new, chunks=chunks), a.reshape(new))
    same(b2.reshape(Recorder(a), new, chunks=chunks), a.reshape(new))
    in_order = b.reshape(new, c_order=False, chunks=chunks)
    stored = np.concatenate([in_order[box].reshape(-1) for box in boxes(new, chunks)])
    same(stored, a.reshape(-1))


@pytest.mark.parametrize("rows", [1 << 26, 1 << 10])
def test_reshaping_in_parts(rows, monkeypatch):
    """Also when a row of chunks is too much at a time."""
    monkeypatch.setattr("blosc2c.sources.SLAB_NBYTES", 1 << 10)
    monkeypatch.setattr("blosc2c.sources.ROWS_NBYTES", rows)
    a = np.arange(120 * 130, dtype="<i4")
    b = b2.asarray(a, chunks=(1000,), blocks=(100,))
    got = b.reshape((120, 130), chunks=(50, 40), blocks=(10, 10))
    same(got, a.reshape(120, 130))
    same(got.reshape((130, 120), chunks=(33, 44)), a.reshape(130, 120))
    same(b2.reshape(Recorder(a), (120, 130), chunks=(50, 40)), a.reshape(120, 130))


def test_arrays_as_shapes():
    b = b2.zeros(np.array([4, 4]), chunks=np.array([2, 4]), blocks=np.array([1, 4], "u1"))
    assert (b.shape, b.chunks, b.blocks) == ((4, 4), (2, 4), (1, 4))
    for chunks in (np.array([2, 4]), [2, 4]):  # blocks are those of the source, as with a tuple
        for made in (b.copy(chunks=chunks), b2.concat([b, b], chunks=chunks), b2.asarray(b, chunks=chunks)):
            assert made.blocks == b.blocks
    b.resize(np.array([4, 3]))
    assert b.shape == (4, 3) and b.reshape(np.array([-1, 6])).shape == (2, 6)
    for shape in (np.array([4.0, 3]), np.array([[4, 3]]), np.array(["4"])):
        for call in (b2.zeros, b.resize, b.reshape):
            with pytest.raises(TypeError, match=r"shape"):
                call(shape)


def test_values_in_arrays_of_one_item():
    dtype = [("a", "i4"), ("b", "f8")]
    for value, dt in (
        (np.array([5]), None),
        ([[5]], "u1"),
        (b2.asarray([5.5]), "f4"),
        ([(1, 2)], dtype),
        (np.array(["a"]), "U3"),
    ):
        same(b2.full((2,), value, dt), np.full((2,), np.asarray(value, dt).reshape(()), dt))
    for value in ([1, 2], [], [(1, 2), (3, 4)]):
        with pytest.raises(ValueError, match="one value"):
            b2.full((2,), value)
    with pytest.raises(OverflowError):
        b2.full((2,), np.array([300]), "u1")


def test_bad_shapes():
    b = b2.asarray(np.arange(12))
    for shape in [(5,), (-1, 5), (-1, -1), (12, 0), (-2, 6), (0, -1)]:
        with pytest.raises(ValueError):
            b.reshape(shape)
    same(b2.zeros((0, 3)).reshape((3, 0)), np.zeros((3, 0)))
    same(b.reshape(12), np.arange(12))
    same(b2.asarray(np.array(5)).reshape((1, 1)), np.array([[5]]))
    same(b2.asarray(np.array([5])).reshape(()), np.array(5))


@settings(max_examples=100)
@given(st.data(), partitions(max_ndim=3), st.integers(1, 4))
def test_joining(data, parts, narrays):
    shape, chunks, blocks = parts
    if not shape:
        return
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    arrays, mine = [], []
    for i in range(narrays):
        size = shape[axis] if i == 0 else data.draw(st.integers(0, 20))
        own = list(shape)
        own[axis] = size
        arrays.append(values(np.dtype("<i4"), tuple(own), i))
        kw = (
            {"chunks": chunks, "blocks": blocks}
            if 0 not in (*own, *chunks) and data.draw(st.booleans())
            else {}
        )
        mine.append(b2.asarray(arrays[-1], **kw) if data.draw(st.booleans()) else arrays[-1])
    got = b2.concat(mine, axis=axis)
    want = np.concatenate(arrays, axis=axis)
    same(got, want)
    same(blosc2.ndarray_from_cframe(got.to_cframe())[...], want)
    kw = {} if 0 in shape else {"chunks": chunks, "blocks": blocks}
    again = [b2.asarray(arrays[0], **kw)] * narrays
    new_axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    same(b2.stack(again, axis=new_axis), np.stack([arrays[0]] * narrays, axis=new_axis))


def test_joining_takes_chunks_over(monkeypatch):
    b = b2.asarray(A[:8], **PARTS)
    monkeypatch.setattr(b2.NDArray, "_read_box", lambda *a: pytest.fail("decoded"))
    joined = b2.concat([b, b, b])
    stacked = b2.stack([b, b], axis=1)
    monkeypatch.undo()
    same(joined, np.concatenate([A[:8]] * 3))
    same(stacked, np.stack([A[:8]] * 2, axis=1))
    assert joined.chunks == b.chunks and stacked.chunks == (4, 1, 5, 6)
    whole, rest = b2.asarray(A[:4], **PARTS), b2.asarray(A[4:9], **PARTS)  # the last has a chunk that is cut
    for axis, arrays in (
        (0, [whole, A[:0], whole, rest]),
        (0, [rest, whole]),
        (1, [b, b]),
        (2, [whole, rest[:4]]),
    ):
        arrays = [b2.asarray(a, **PARTS) if 0 not in a.shape else b2.asarray(a) for a in arrays]
        same(b2.concat(arrays, axis=axis), np.concatenate([a[...] for a in arrays], axis=axis))
    mixed = b2.concat([b, b.astype("<i8")])
    assert mixed.dtype == "<i8"
    same(mixed, np.concatenate([A[:8]] * 2).astype("<i8"))


@pytest.mark.parametrize("sizes", [(10, 20, 5, 10), (10, 7, 20, 3, 5), (3, 10, 4)])
@pytest.mark.parametrize("contiguous", (False, True))
def test_chunks_that_are_joined_along_the_last_axis(sizes, contiguous, tmp_path, monkeypatch):
    """Those of each array are appended at once where none must be made, and put in order."""
    arrays = [np.arange(12 * n).reshape(12, n) + 1000 * i for i, n in enumerate(sizes)]
    parts = [b2.asarray(a, chunks=(4, 5), blocks=(2, 5)) for a in arrays]
    path = tmp_path / "joined"
    ncopies, copy_some = [0], b2.SChunk.copy_some

    def counted(*args):
        ncopies[0] += 1
        copy_some(*args)

    monkeypatch.setattr(b2.SChunk, "copy_some", counted)
    with b2.concat(parts, axis=1, urlpath=path, contiguous=contiguous) as joined:
        same(joined, np.concatenate(arrays, axis=1))
    same(b2.open(path), np.concatenate(arrays, axis=1))
    same(blosc2.open(str(path))[...], np.concatenate(arrays, axis=1))
    assert ncopies[0] == {4: 4, 5: 9, 3: 0}[len(sizes)]  # 9: row by row, what is made between them
    pair = [parts[0], b2.asarray(arrays[0] + 7, chunks=(4, 5), blocks=(2, 5))]
    same(b2.stack(pair, axis=2), np.stack([arrays[0], arrays[0] + 7], axis=2))


# ---- Views -----------------------------------------------------------------


def test_views_show_the_array(tmp_path):
    with b2.asarray(A, urlpath=tmp_path / "x", **PARTS) as b:
        view = b2.expand_dims(b, (0, 2))
        same(view, np.expand_dims(A, (0, 2)))
        assert (view.chunks, view.blocks) == ((1, 4, 1, 5, 6), (1, 2, 1, 3, 4))
        view[0, 3, 0, 4, 5] = -1
        assert b[3, 4, 5] == -1
        b[3, 4, 6] = -2
        assert view[0, 3, 0, 4, 6] == -2
        same(view.squeeze(0), b[...][:, None])
        same(view.squeeze(), b)
        same(b2.squeeze(view, (0, -3)), b)
        assert b2.squeeze(view).squeeze().schunk is b.schunk
        # A view stands for itself wherever it is stored.
        for stored in (
            b2.ndarray_from_cframe(view.to_cframe()),
            view.copy(),
            view.copy(chunks=(1, 2, 1, 2, 2)),
        ):
            assert stored.shape == view.shape
            same(stored, view)
        view.save(tmp_path / "y")
        same(blosc2.open(str(tmp_path / "y"))[...], view[...])
        import pickle

        same(pickle.loads(pickle.dumps(view)), view)
        view.close()
        same(b[0], A[0])
    with pytest.raises(ValueError, match="closed"):
        view[...]


def test_views_and_resizing():
    b = b2.asarray(A[:1], **{"chunks": (1, 5, 6), "blocks": (1, 3, 4)})
    tall, flat = b2.expand_dims(b, 0), b2.squeeze(b, 0)
    with pytest.raises(ValueError, match="view"):
        tall.resize((1, 1, 20, 11))
    b.resize((1, 12, 11))
    assert tall.shape == (1, 1, 12, 11) and flat.shape == (12, 11)
    same(flat[:10], A[0])
    with pytest.raises(ValueError, match="view"):
        b.resize((2, 12, 11))
    assert b.shape == (1, 12, 11)

    def change() -> None:
        with b.schunk.transaction():
            b.resize((1, 3, 3))
            assert flat.shape == (3, 3)
            raise KeyError

    with pytest.raises(KeyError):
        change()
    assert flat.shape == (12, 11)
    same(flat[:10], A[0])
    flat = None  # who leaves the axis out is gone
    b.resize((2, 12, 11))
    assert tall.shape == (1, 2, 12, 11)


def test_squeezing_what_is_no_view():
    b = b2.asarray(A[:1], chunks=(2, 5, 6), blocks=(2, 3, 4))  # chunks longer than the axis
    flat = b.squeeze(0)
    same(flat, A[0])
    flat[0, 0] = -1
    assert b[0, 0, 0] == 0
    for axis in (1, 3, -4, (0, 1)):
        with pytest.raises(ValueError):
            b.squeeze(axis)
    for axis in (4, -5, (0, 0), (1, -4)):
        with pytest.raises(ValueError):
            b2.expand_dims(b, axis)
    for axis in ((0, 0), (0, -3)):
        with pytest.raises(ValueError, match="twice"):
            b.squeeze(axis)
    for call in (b.squeeze, lambda axis: b2.expand_dims(b, axis)):
        with pytest.raises(TypeError):
            call(0.5)


# ---- Appending -------------------------------------------------------------


@settings(max_examples=60)
@given(st.data(), partitions(max_ndim=3))
def test_appending_along_any_axis(data, parts):
    shape, chunks, blocks = parts
    if not shape or 0 in shape:
        return
    want = values(np.dtype("<i4"), shape, 1)
    b = b2.asarray(want, chunks=chunks, blocks=blocks)
    for i in range(3):
        axis = data.draw(st.integers(-len(shape), len(shape) - 1))
        more = list(want.shape)
        more[axis] = data.draw(st.integers(0, 9))
        new = values(np.dtype("<i4"), tuple(more), i)
        assert b.append(new if i % 2 else b2.asarray(new), axis=axis) == want.shape[axis] + more[axis]
        want = np.concatenate([want, new], axis=axis)
        same(b, want)
    same(blosc2.ndarray_from_cframe(b.to_cframe())[...], want)


def test_appending_one_row():
    b = b2.asarray(A, **PARTS)
    assert b.append(A[0], axis=0) == 10
    same(b, np.concatenate([A, A[:1]]))
    for values_, axis in ((A, None), (A[:, :9], 0), (A[0, 0], 0), (A, 3), (5, 0)):
        with pytest.raises(ValueError):
            b.append(values_, axis)
    assert b.shape == (10, 10, 11)


@pytest.mark.parametrize(
    ("shape", "more", "axis"),
    [((0,), (0,), None), ((0, 4), (0, 4), 0), ((0, 4), (0, 2), 1), ((4, 0), (3, 0), 0), ((4,), (0,), 0)],
    ids=str,
)
def test_appending_nothing(shape, more, axis):
    b, want = b2.zeros(shape), np.append(np.zeros(shape), np.zeros(more), axis)
    assert b.append(np.zeros(more), axis) == want.shape[axis or 0]
    same(b, want)


@pytest.mark.parametrize("locking", [False, True])
def test_appending_an_array_to_itself(tmp_path, locking):
    with b2.asarray(A, urlpath=tmp_path / "x", **PARTS, locking=locking) as b:
        want = A
        for axis in (0, 1, -1):
            want = np.concatenate([want, want], axis)
            assert b.append(b, axis) == want.shape[axis]
            same(b, want)
        same(b2.expand_dims(b).squeeze(0), want)
        assert b.append(b2.expand_dims(b).squeeze(0), 0) == 2 * len(want)
        same(b, np.concatenate([want, want]))
    c = b2.asarray([[5]])
    c.append(b2.expand_dims(c.squeeze(1)), 0)  # which then has two columns
    same(c, np.array([[5], [5]]))


def test_appending_by_threads():
    """Each finds the end where the one before has left it."""
    b = b2.zeros((0, 3), "i4", chunks=(7, 2), blocks=(3, 2))

    def add(k: int) -> None:
        for _ in range(20):
            b.append(np.full((2, 3), k, "i8"), 0)

    threads = [threading.Thread(target=add, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert b.shape == (160, 3)
    rows = b[::2]
    same(rows, b[1::2])
    assert np.bincount(rows.ravel()).tolist() == [60] * 4


def test_appending_is_one_commit(tmp_path):
    with b2.asarray(A, urlpath=tmp_path / "x", **PARTS) as b:
        with pytest.raises(ValueError):  # the resizing is taken back too
            b.append(np.full((2, 10, 11), "x"), axis=0)
        assert b.shape == A.shape
        same(b2.open(tmp_path / "x"), A)
        big = Recorder(np.broadcast_to(np.arange(11, dtype="<i4"), (30, 10, 11)))
        b.append(big, axis=0)
        same(b[9:], np.broadcast_to(np.arange(11, dtype="<i4"), (30, 10, 11)))


# ---- Single items ----------------------------------------------------------


def test_scalars():
    one = b2.asarray(np.array([3]))
    assert int(one) == 3 and float(one) == 3.0 and complex(one) == 3 and bool(one)
    assert not b2.asarray(np.array([[0]]))
    assert "abc"[b2.asarray(np.array(1))] == "b"
    for bad in (lambda: bool(b2.zeros(2)), lambda: int(b2.zeros(0)), lambda: float(b2.zeros((2, 2)))):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(TypeError):
        "abc"[b2.asarray(np.array(1.0))]


def test_chunk_infos():
    facts = list(b2.full((4, 4), 7, dtype="<i2", chunks=(2, 4)).iterchunks_info())
    assert [f.coords for f in facts] == [(0, 0), (1, 0)]
    for mine, theirs in zip(
        facts, blosc2.full((4, 4), 7, dtype="<i2", chunks=(2, 4)).iterchunks_info(), strict=True
    ):
        assert mine.repeated_value == theirs.repeated_value == 7
        assert mine.special.name == theirs.special.name == "VALUE"
        assert mine.nchunk == theirs.nchunk
        assert b2.decompress2(mine.lazychunk) == b2.decompress2(theirs.lazychunk)


# ---- The order of axes -----------------------------------------------------


@pytest.mark.parametrize("shape", [(), (5,), (4, 7), (3, 0, 2), (1, 6), (3, 4, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", ["i4", "S3", [("a", "i2"), ("b", "f8")]])
def test_permuted_axes_are_those_of_numpy(shape, dtype, tmp_path):
    plain = np.arange(math.prod(shape)).astype("i4").reshape(shape).astype(dtype)
    a = b2.asarray(plain, chunks=tuple(min(n, 3) for n in shape), cparams={"codec": "lz4"})
    for axes in [None, *itertools.permutations(range(len(shape)))]:
        for source in (a, plain):
            got = b2.permute_dims(source, axes)
            np.testing.assert_array_equal(got[...], plain.transpose(axes))
            assert got.dtype == plain.dtype
        if axes:
            negative = [n - len(shape) for n in axes]
            got = b2.permute_dims(a, negative, urlpath=tmp_path / "x", mode="w")
            np.testing.assert_array_equal(blosc2.open(tmp_path / "x", mode="r")[...], plain.transpose(axes))
            assert got.cparams.codec is b2.Codec.LZ4 and got.chunks == tuple(a.chunks[n] for n in axes)
            got.close()
    if len(shape) >= 2:
        for got in (b2.matrix_transpose(a), a.mT):
            np.testing.assert_array_equal(got[...], plain.swapaxes(-1, -2))
    if len(shape) <= 2:
        np.testing.assert_array_equal(b2.transpose(a, chunks=shape[::-1])[...], plain.T)
    if len(shape) == 2:
        np.testing.assert_array_equal(a.T[...], plain.T)


def test_permuted_axes_are_made_in_parts():
    a = b2.zeros((3000, 4000), dtype="u1", chunks=(300, 500), blocks=(30, 50))
    a[7, 3999] = 1
    got = b2.permute_dims(a, chunks=(1000, 300))
    assert (got.shape, got.chunks, got[3999, 7], got[...].sum()) == ((4000, 3000), (1000, 300), 1, 1)


def test_transposing_a_source_that_has_but_a_shape():
    class Source:
        shape, dtype = (2, 3, 4), np.dtype("i4")
        items = np.arange(24, dtype="i4").reshape(shape)

        def __getitem__(self, key):
            return self.items[key]

    np.testing.assert_array_equal(b2.matrix_transpose(Source())[...], np.swapaxes(Source.items, -1, -2))
    with pytest.raises(ValueError, match="two axes"):
        b2.transpose(Source())


@pytest.mark.filterwarnings("ignore:transpose is deprecated")
@pytest.mark.parametrize("lib", [b2, blosc2], ids=["ours", "theirs"])
def test_axes_that_are_no_permutation(lib):
    a = lib.zeros((2, 3, 4))
    for axes in ((0, 1), (0, 1, 1), (0, 1, 3), (0, 1, -4), (0, -3, 1), ()):
        with pytest.raises(ValueError):
            lib.permute_dims(a, axes)
    for call in (lambda: a.T, lambda: lib.zeros((3,)).mT, lambda: lib.transpose(a)):
        with pytest.raises(ValueError):
            call()


def test_an_array_is_not_permuted_in_its_place(tmp_path):
    a = b2.zeros((2, 3), urlpath=tmp_path / "x")
    with pytest.raises(ValueError, match="copy of itself"):
        b2.permute_dims(a, urlpath=tmp_path / "x", mode="w")
    assert a.shape == (2, 3)
    a.close()
