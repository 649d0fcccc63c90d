# SPDX-License-Identifier: BSD-3-Clause
"""NDArray against NumPy: making, reading, keys, dtypes, shapes, copies and life."""

from __future__ import annotations

import math
import os
import pickle

import numpy as np
import pytest
from arrays import DTYPES, STRUCTURED, basic_keys, dtypes, fancy_keys, partitions, values
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import blosc2c as b2
from blosc2c.partition import even_part, extended, near_part, whole_part

A = np.arange(5 * 6 * 7, dtype="<i4").reshape(5, 6, 7)
PARTS = {"chunks": (3, 4, 5), "blocks": (2, 2, 3)}


def same(got, want):
    """Equal in type, shape, dtype and every bit."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def pick(a: np.ndarray, key) -> np.ndarray:
    """a[key], but a single item as an array without axes: scalars forget byte order and width."""
    key = key if isinstance(key, tuple) else (key,)
    return a[key if any(k is Ellipsis for k in key) else (*key, Ellipsis)]


@settings(max_examples=250)
@given(st.data(), partitions(), dtypes(), st.integers(0, 99))
def test_whole_and_basic_keys(data, parts, dtype, seed):
    shape, chunks, blocks = parts
    a = values(dtype, shape, seed)
    b = b2.asarray(a, chunks=chunks, blocks=blocks)
    assert (b.shape, b.dtype, b.ndim, b.size, b.nbytes) == (a.shape, a.dtype, a.ndim, a.size, a.nbytes)
    assert (b.chunks, b.blocks) == (chunks, blocks)
    same(b[...], a)
    assert b.tobytes() == a.tobytes()
    for _ in range(4):
        key = data.draw(basic_keys(shape))
        same(b[key], pick(a, key))


@settings(max_examples=150)
@given(st.data(), partitions(max_ndim=3), st.integers(0, 99))
def test_fancy_keys(data, parts, seed):
    shape, chunks, blocks = parts
    if not shape or 0 in shape:
        return
    a = values(np.dtype("<i8"), shape, seed)
    b = b2.asarray(a, chunks=chunks, blocks=blocks)
    key = data.draw(fancy_keys(shape))
    try:
        want = a[key]
    except IndexError:
        with pytest.raises(IndexError):
            b[key]
        return
    same(b[key], want)


@settings(max_examples=60)
@given(partitions(max_ndim=6), st.integers(0, 99))
def test_up_to_six_dimensions(parts, seed):
    shape, chunks, blocks = parts
    a = values(np.dtype("<u2"), shape, seed)
    b = b2.asarray(a, chunks=chunks, blocks=blocks)
    same(b[...], a)
    key = tuple(slice(n // 3, n, 2) for n in shape)
    same(b[key], a[key])


def test_sixteen_dimensions():
    shape = (2, 1, 3) + (1, 2) * 6 + (2,)
    a = np.arange(np.prod(shape), dtype="<u2").reshape(shape)
    b = b2.asarray(a, chunks=tuple(max(1, n - 1) for n in shape), blocks=(1,) * 16)
    same(b[...], a)
    same(b[1, 0, ::-2, ..., 1], a[1, 0, ::-2, ..., 1])
    same(b2.ndarray_from_cframe(b.to_cframe())[...], a)
    with pytest.raises(ValueError):
        b2.zeros((1,) * 17)


@pytest.mark.parametrize("dtype", DTYPES + STRUCTURED, ids=str)
def test_dtypes_survive_storage(dtype, tmp_path):
    dtype = np.dtype(dtype)
    a = values(dtype, (7, 9), 3)
    for kw in ({"urlpath": tmp_path / "file"}, {"urlpath": tmp_path / "dir", "contiguous": False}):
        b2.asarray(a, chunks=(3, 4), blocks=(2, 3), **kw).close()
        with b2.open(kw["urlpath"]) as b:
            assert isinstance(b, b2.NDArray)
            same(b[...], a)
            same(b[2:5, ::3], a[2:5, ::3])
            same(b[3, 4], pick(a, (3, 4)))


def test_object_dtype_is_refused():
    with pytest.raises(TypeError, match="object"):
        b2.asarray(np.array([1, "x"], dtype=object))
    with pytest.raises(TypeError):
        b2.zeros(5, dtype=object)
    with pytest.raises(TypeError):
        b2.zeros(5, dtype=[("a", "O")])


@pytest.mark.parametrize(
    "source",
    [
        A.T,
        A[::2, ::-1],
        np.asfortranarray(A),
        A[:0],
        np.float32(3),
        5,
        [1.5, 2],
        [[1, 2], [3, 4]],
        memoryview(b"abc"),
    ],
    ids=lambda s: type(s).__name__,
)
def test_sources(source):
    want = np.asarray(source)
    same(b2.asarray(source)[...], want)
    same(b2.array(source)[...], want)


def test_asarray_of_an_ndarray():
    b = b2.asarray(A, **PARTS)
    assert b2.asarray(b) is b
    other = b2.asarray(b, chunks=(5, 6, 7))
    assert other is not b and other.chunks == (5, 6, 7)
    same(other[...], A)
    same(b2.asarray(b, dtype="f8")[...], A.astype("f8"))
    assert b2.array(b) is not b
    with pytest.raises(ValueError):
        b2.asarray(A, copy=False)


@pytest.mark.parametrize("shape", [(), 0, 7, (5,), (0, 3), (3, 4), [2, 3]], ids=repr)
@pytest.mark.parametrize("dtype", ["<f8", "<i4", "?", "S3"])
def test_constructors(shape, dtype):
    same(b2.zeros(shape, dtype)[...], np.zeros(shape, dtype))
    same(b2.empty(shape, dtype)[...], np.zeros(shape, dtype))
    assert b2.uninit(shape, dtype)[...].shape == np.zeros(shape).shape
    value = b"ab" if dtype == "S3" else 1
    same(b2.full(shape, value, dtype=dtype)[...], np.full(shape, value, dtype))
    if dtype != "S3":
        same(b2.ones(shape, dtype)[...], np.ones(shape, dtype))


def test_constructor_defaults():
    assert b2.zeros(3).dtype == b2.empty(3).dtype == b2.nans(3).dtype == np.float64
    assert b2.full(3, 2).dtype == np.full(3, 2).dtype
    assert b2.full(3, 2.5).dtype == np.float64
    assert np.isnan(b2.nans((3, 4), "<f4")[...]).all()
    with pytest.raises((TypeError, ValueError)):
        b2.nans(3, "<i4")
    like = b2.zeros_like(A)
    same(like[...], np.zeros_like(A))
    same(b2.ones_like(A)[...], np.ones_like(A))
    same(b2.full_like(A, 3)[...], np.full_like(A, 3))
    assert b2.empty_like(A).shape == A.shape


def test_large_constant_arrays_are_small():
    b = b2.full((1 << 20, 1 << 12), 2.5)
    assert b.nbytes == 1 << 35 and b.cbytes < 1 << 20
    same(b[1 << 19, 77:79], np.full(2, 2.5))
    z = b2.zeros((1 << 14, 1 << 14), "u1")
    assert len(z.to_cframe()) < 1000
    assert z[5:3000:1000, -1].tolist() == [0, 0, 0]


def test_ranges_and_iterators():
    same(b2.arange(10)[...], np.arange(10))
    same(b2.arange(3, 20, 4, dtype="<i2")[...], np.arange(3, 20, 4, dtype="<i2"))
    same(b2.linspace(0, 1, 11)[...], np.linspace(0, 1, 11))
    same(b2.eye(5)[...], np.eye(5))
    same(b2.fromiter(range(12), shape=(3, 4), dtype="<i4")[...], np.arange(12, dtype="<i4").reshape(3, 4))
    same(
        b2.frombuffer(bytes(range(24)), (2, 3), dtype="<i4")[...],
        np.frombuffer(bytes(range(24)), "<i4").reshape(2, 3),
    )


@pytest.mark.parametrize("shape", [(240_000,), (3, 80_000), (400, 600), (20, 3, 4000), (1, 240_000, 1)])
@pytest.mark.parametrize("chunks", ["auto", "halves"])
def test_long_ranges(shape, chunks):
    """Of whose numbers some are told at a time."""
    parts = {} if chunks == "auto" else {"chunks": tuple(-(-n // 2) for n in shape)}
    same(b2.arange(240_000, shape=shape, **parts)[...], np.arange(240_000).reshape(shape))
    same(b2.linspace(3, -5, shape=shape, **parts)[...], np.linspace(3, -5, 240_000).reshape(shape))
    want = np.linspace(0, 9, 240_000, endpoint=False, dtype="f4").reshape(shape)
    same(b2.linspace(0, 9, shape=shape, endpoint=False, dtype="f4", **parts)[...], want)


def test_ranges_without_items_compute_nothing():
    """Not even the gap between items, which text does not have."""
    assert b2.arange(0, dtype="U4").shape == (0,)


@pytest.mark.parametrize("parts", [{}, PARTS], ids=["auto", "given"])
def test_reshaping_functions(parts):
    b = b2.asarray(A, **parts)
    same(b2.reshape(b, (7, 30))[...], A.reshape(7, 30))
    same(b.reshape((210,))[...], A.reshape(210))
    same(b2.squeeze(b2.asarray(A[:1, :, :1]))[...], A[:1, :, :1].squeeze())
    same(b2.expand_dims(b, 1)[...], np.expand_dims(A, 1))
    same(b2.concat([b, b], axis=1)[...], np.concatenate([A, A], axis=1))
    same(b2.stack([b, b], axis=1)[...], np.stack([A, A], axis=1))
    same(b2.take(b, [4, 0, -1], axis=1)[...], np.take(A, [4, 0, -1], axis=1))
    same(b2.astype(b, "f4")[...], A.astype("f4"))
    same(b.slice((slice(1, 4), 2))[...], A[1:4, 2])
    same(b.copy(chunks=(2, 2, 2))[...], A)


def test_orthogonal_selection():
    b = b2.asarray(A, **PARTS)
    same(b.oindex[[0, 4], :, [1, -1]], A[np.ix_([0, 4], range(6), [1, 6])])
    same(b.oindex[[3, 1], 2:4], A[np.ix_([3, 1], [2, 3])])
    same(b.oindex[np.array([1, 0, 0, 1, 1], bool), 5], A[[0, 3, 4], 5])
    same(b.oindex[2, ..., [0, 1]], A[2, :, [0, 1]].T)
    with pytest.raises(IndexError):
        b.oindex[np.array([True, False])]
    with pytest.raises(IndexError):
        b.oindex[[5]]


def test_bad_keys():
    b = b2.asarray(A, **PARTS)
    for key in (5, (0, 6), (0, 0, 0, 0), 1.5, (Ellipsis, Ellipsis), [7], np.zeros((5, 5), bool)):
        with pytest.raises(IndexError):
            b[key]
    with pytest.raises(ValueError):
        b[::0]
    with pytest.raises(KeyError):
        b["field"]


def test_read_into():
    b = b2.asarray(A, **PARTS)
    key = (slice(1, 5, 2), slice(None), 3)
    for out in (
        np.empty((2, 6), "<i4"),
        np.empty((2, 6), "f8"),
        np.empty((6, 2), "<i4").T,
        np.zeros((2, 12), "<i4")[:, ::2],
    ):
        b.read_into(out, key)
        assert_array_equal(out, A[key])
    raw = bytearray(48)
    b.read_into(raw, key)
    assert bytes(raw) == np.ascontiguousarray(A[key]).tobytes()
    out = np.empty((3, 6, 7), "<i4")
    b.read_into(out, (slice(None, None, -2),))
    same(out, A[::-2])
    for bad in (np.empty((6, 2), "<i4"), bytearray(47), bytearray(49), bytes(48)):
        with pytest.raises((ValueError, TypeError)):
            b.read_into(bad, key)


def test_fields():
    a = values(np.dtype(STRUCTURED[0]), (9, 4), 1)
    b = b2.asarray(a, chunks=(4, 4), blocks=(2, 3))
    assert list(b.fields) == ["a", "b"]
    same(b.fields["a"][2:7], a["a"][2:7])
    same(b["b"][...], a["b"])
    same(np.asarray(b["a"]), a["a"])
    assert b["a"].shape == a.shape and b["a"].dtype == a.dtype["a"]
    with pytest.raises(KeyError):
        b["c"]
    assert len(b["a"]) == 9


def test_array_protocols():
    b = b2.asarray(A, **PARTS)
    same(np.asarray(b), A)
    same(np.array(b, dtype="f8"), A.astype("f8"))
    with pytest.raises(ValueError):
        b.__array__(copy=False)
    assert len(b) == 5 and [row.tolist() for row in b] == A.tolist()
    with pytest.raises(TypeError):
        len(b2.asarray(np.array(1)))
    with pytest.raises(TypeError):
        iter(b2.asarray(np.array(1))).__next__()
    assert not hasattr(b, "__array_ufunc__") and not hasattr(b, "__array_namespace__")
    assert "(5, 6, 7)" in repr(b) and "int32" in repr(b) and "(3, 4, 5)" in repr(b)
    assert "(5, 6, 7)" in str(b.info)


def test_pickling(tmp_path):
    b = b2.asarray(A, **PARTS)
    again = pickle.loads(pickle.dumps(b))
    assert (again.chunks, again.blocks) == (b.chunks, b.blocks)
    same(again[...], A)
    b2.asarray(A, urlpath=tmp_path / "x.b2nd").close()
    with b2.open(tmp_path / "x.b2nd") as disk:
        pickled = pickle.dumps(disk)
        assert len(pickled) < 400  # the path, not the data
        same(pickle.loads(pickled)[...], A)


@pytest.mark.parametrize(
    "kw",
    [
        {"chunks": (3, 4)},
        {"chunks": (3, 4, 0)},
        {"chunks": (3, 4, -1)},
        {"chunks": (3, 4, 5), "blocks": (4, 4, 5)},
        {"blocks": (0, 1, 1)},
        {"blocks": (1, 1)},
        {"cparams": {"chunks": (1, 1, 1)}},
        {"cparams": {"clevel": 11}},
        {"mode": "x"},
    ],
    ids=str,
)
def test_bad_parameters(kw):
    with pytest.raises(ValueError):
        b2.asarray(A, **kw)


def test_unknown_keywords_are_key_errors():
    with pytest.raises(KeyError):
        b2.asarray(A, chunk=(3, 4, 5))
    with pytest.raises(KeyError):
        b2.zeros(5, compression="zstd")
    with pytest.raises(ValueError):
        b2.SChunk(chunk=5)


@pytest.mark.parametrize("make", [b2.SChunk, b2.asarray, b2.zeros], ids=lambda make: make.__name__)
def test_where_parameters_of_compression_belong(make):
    first = () if make is b2.SChunk else ((5,),)
    with pytest.raises((KeyError, ValueError), match=r"pass cparams=\{'codec'"):
        make(*first, codec="lz4")


@pytest.mark.parametrize("shape", ["x", 1.5, None, {1: 2}, (1, "x"), (2.5,)], ids=repr)
def test_shapes_of_another_type(shape):
    with pytest.raises(TypeError):
        b2.zeros(shape)


def test_existing_files(tmp_path):
    path = tmp_path / "x.b2nd"
    b2.asarray(A, urlpath=path).close()
    with pytest.raises(FileExistsError, match="mode='w'") as info:
        b2.asarray(A, urlpath=path)
    assert isinstance(info.value, RuntimeError) and isinstance(info.value, b2.FrameExistsError)
    same(b2.open(path)[...], A)
    b2.asarray(A + 1, urlpath=path, mode="w").close()
    same(b2.open(path)[...], A + 1)
    with pytest.raises(FileNotFoundError):
        b2.open(tmp_path / "nothing")
    (tmp_path / "text").write_text("no frame, but long enough to hold a header of one" * 5)
    with pytest.raises(RuntimeError):
        b2.open(tmp_path / "text")
    with pytest.raises(ValueError):
        b2.open(path, mode="rw")
    with pytest.raises(TypeError):
        b2.open(path, moode="r")


def test_life(tmp_path):
    path = tmp_path / "x.b2nd"
    with b2.asarray(A, urlpath=path, **PARTS) as b:
        schunk, vlmeta = b.schunk, b.vlmeta
        vlmeta["note"] = {"k": (1, 2)}
        same(b[...], A)
    for use in (lambda: b[...], lambda: b.vlmeta["note"], lambda: schunk[0:1], b.to_cframe):
        with pytest.raises(ValueError, match="closed"):
            use()
    b.close()
    assert "closed" in repr(b)
    with b2.open(path) as c:
        assert c.vlmeta["note"] == {"k": (1, 2)}
        assert c.meta["b2nd"][2] == [5, 6, 7]
        with pytest.raises(b2.ReadOnlyError):
            c.vlmeta["note"] = 1
        with pytest.raises(ValueError):
            c.schunk.append_data(bytes(10))
    schunk = b2.asarray(A, **PARTS).schunk  # outlives its array
    assert schunk.nchunks == 2 * 2 * 2 and schunk.decompress_chunk(7)


def test_save_load_and_copies(tmp_path):
    b = b2.asarray(A, **PARTS)
    b.save(tmp_path / "one")
    b2.save(b, tmp_path / "two", contiguous=False)
    for name in ("one", "two"):
        loaded = b2.load(tmp_path / name)
        b2.remove_urlpath(tmp_path / name)
        assert not (tmp_path / name).exists()
        assert (loaded.chunks, loaded.blocks) == (b.chunks, b.blocks)
        same(loaded[...], A)
    b2.remove_urlpath(tmp_path / "never was")
    b2.remove_urlpath(None)


@pytest.mark.parametrize("contiguous", [True, False])
def test_what_is_no_file_is_not_replaced(tmp_path, contiguous):
    """A device in its place would be gone for all programs."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="neither a file nor a directory"):
        b2.asarray(A, urlpath=pipe, mode="w", contiguous=contiguous)
    with pytest.raises(ValueError, match="neither a file nor a directory"):
        b2.remove_urlpath(pipe)
    assert pipe.is_fifo()
    link = tmp_path / "link"
    link.symlink_to(pipe)
    b2.asarray(A, urlpath=link, mode="w", contiguous=contiguous).close()
    same(b2.open(link)[...], A)
    assert pipe.is_fifo()


def test_chunks_touched_by_a_slice():
    b = b2.asarray(A, **PARTS)
    numbered = np.zeros(A.shape, int)
    for n, (i, j, k) in enumerate(np.ndindex(2, 2, 2)):
        numbered[i * 3 : i * 3 + 3, j * 4 : j * 4 + 4, k * 5 : k * 5 + 5] = n
    for key in (np.s_[...], np.s_[4], np.s_[:2, 5], np.s_[3:5, 0:4, 5:], np.s_[2:2], np.s_[::4, ::-5]):
        assert b2.get_slice_nchunks(b, key).tolist() == sorted(set(numbered[key].ravel().tolist()))
    for n, chunk in ((50, 7), (49, 7), (20, 1)):
        b = b2.zeros((n,), chunks=(chunk,))
        for step in (-20, -8, -7, -6, -1, 1, 2, 6, 7, 8, 13, 60):
            key = np.s_[::step]
            expected = sorted({i // chunk for i in range(n)[key]})
            assert b2.get_slice_nchunks(b, key).tolist() == expected
    huge = b2.zeros((1 << 40,), dtype="i1", chunks=(1 << 30,), blocks=(1 << 20,))
    assert b2.get_slice_nchunks(huge, np.s_[:]).tolist() == list(range(1024))
    assert b2.get_slice_nchunks(huge, np.s_[:: 3 << 30]).tolist() == list(range(0, 1024, 3))
    s = b2.SChunk(data=bytes(100), chunksize=30)
    assert b2.get_slice_nchunks(s, slice(29, 61)).tolist() == [0, 1, 2]
    assert b2.get_slice_nchunks(s, (30, 60)).tolist() == [1]
    assert b2.get_slice_nchunks(s, slice(5, 5)).tolist() == []


def test_chunk_facts():
    a = np.zeros((4, 4), "<i4")
    a[2:, 2:] = [[1, 2], [3, 4]]
    b = b2.asarray(a, chunks=(2, 2), blocks=(2, 2))
    facts = list(b.iterchunks_info())
    assert [f.coords for f in facts] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [f.special.name for f in facts] == ["ZERO"] * 3 + ["NOT_SPECIAL"]


@settings(max_examples=200)
@given(partitions(max_ndim=4), st.sampled_from([1, 2, 4, 8, 12, 300]), st.sampled_from([1, 97, 3001]))
def test_automatic_partitions(parts, itemsize, scale):
    shape = tuple(n * scale for n in parts[0])
    chunks, blocks = b2.compute_chunks_blocks(shape, dtype=f"V{itemsize}")
    assert len(chunks) == len(blocks) == len(shape)
    for n, c, b in zip(shape, chunks, blocks, strict=True):
        assert n >= c >= b and (n == 0 or b >= 1)
    assert b2.compute_chunks_blocks(shape, dtype=f"V{itemsize}") == (chunks, blocks)
    nbytes = math.prod(shape) * itemsize
    ext = [-(-c // b) * b if b else 0 for c, b in zip(chunks, blocks, strict=True)]
    if nbytes >= 16 << 20:
        assert 2 << 20 <= math.prod(ext) * itemsize <= 16 << 20
        assert math.prod(blocks) * itemsize <= (max(64, 8 * itemsize) if itemsize <= 16 else 64) << 10
    # Parts along an axis are equal but for the last, which is as long as there are parts at most shorter.
    for n, c in zip(shape, chunks, strict=True):
        assert n == c or -(-n // c) * c - n < -(-n // c) * max(blocks)


@pytest.mark.parametrize(
    ("shape", "dtype", "chunks", "blocks"),
    [
        ((10**7,), "f8", (1000000,), (8000,)),
        ((10**4, 10**4), "f8", (100, 10000), (4, 2000)),
        ((1000, 10000), "f4", (200, 10000), (4, 3334)),
        ((200, 300, 200), "i2", (50, 300, 200), (1, 150, 200)),
        ((3, 10**9), "u1", (3, 2000000), (3, 16000)),
        ((10007, 10007), "f8", (104, 10007), (4, 2002)),
        ((75, 52256), "V32", (5, 52256), (5, 368)),
        ((10**6,), "c16", (504000,), (8000,)),
        ((10**4, 10**4), "c16", (40, 10000), (4, 2000)),
        ((10**4, 10**4), "S12", (68, 10000), (4, 2000)),
        ((), "f8", (), ()),
        ((5, 0), "f8", (5, 0), (5, 0)),
    ],
    ids=str,
)
def test_partitions_do_not_depend_on_the_machine(shape, dtype, chunks, blocks):
    """What docs/partition.md promises; a change makes other files."""
    assert b2.compute_chunks_blocks(shape, dtype=dtype) == (chunks, blocks)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "V32"])
@pytest.mark.parametrize(
    "shape",
    [(10**7,), (10**6, 3), (10**4, 10**4), (60000, 28, 28), (480, 300, 200), (1000, 224, 224, 3)],
    ids=str,
)
def test_chunks_divide_shapes_where_they_can(shape, dtype):
    chunks, blocks = b2.compute_chunks_blocks(shape, dtype=dtype)
    assert all(n % c == 0 for n, c in zip(shape, chunks, strict=True))
    assert math.prod(extended(chunks, blocks)) <= math.prod(chunks) * 17 / 16


@given(st.integers(1, 10**6) | st.integers(1, 1 << 62), st.integers(1, 200) | st.integers(1, 1 << 16))
def test_parts_of_an_axis(n, limit):
    limit = min(n, limit)
    for part in (even_part(n, limit), near_part(n, limit), whole_part(n, limit)):
        assert 1 <= part <= limit < 3 * part
    assert near_part(n, limit) >= even_part(n, limit) * 15 // 16
    nparts = -(-n // whole_part(n, limit))
    if n < 10**6:
        least = -(-n // limit)
        whole = [k for k in range(least, 2 * least) if n % k == 0]
        assert n % whole_part(n, limit) == 0 or not whole
        assert nparts == (whole or [-(-n // even_part(n, limit))])[0] or least >= limit


def test_chunks_divide_only_where_a_frame_may_have_so_many():
    n, many = 6_000_000, 300_000_007
    assert b2.compute_chunks_blocks((n * 1_000_003,))[0] == (n,)
    a = b2.zeros((n * many,), dtype="u1")
    assert a.chunks[0] > n and a.schunk.nchunks == -(-n * many // a.chunks[0])


def test_default_chunks_are_joined_as_they_are_stored():
    a = b2.asarray(np.random.default_rng(0).integers(0, 99, (10**6, 3), "i4"))
    joined = b2.concat([a, a])
    stored, taken = ([x.schunk.get_chunk(i) for i in range(x.schunk.nchunks)] for x in (a, joined))
    assert len(stored) > 1 and taken == stored * 2


@pytest.mark.parametrize(
    ("name", "dtype", "blocks"),
    [
        ("noise", "f4", (4, 2000)),
        ("noise", "i2", (8, 2000)),
        ("noise", "f8", (4, 2000)),
        ("noise", "u1", (32, 2000)),
        ("noise", "c16", (4, 2000)),
        ("regular", "c16", (8, 2000)),
        ("regular", "f4", (10, 2000)),
        ("far", "c16", (5, 2000)),
        ("far", "f4", (20, 2000)),
        ("far", "u1", (80, 2000)),
        ("between", "f4", (8, 2000)),
    ],
)
def test_blocks_fit_the_data(name, dtype, blocks):
    """What docs/partition.md promises; a change makes other files."""
    a = np.arange(4 * 10**6).reshape(2000, 2000)  # each byte repeats itself farther away than the one before
    rng = np.random.default_rng(0)
    if name == "regular":
        a = np.repeat(rng.integers(0, 1 << 20, (2000, 10)), 200, axis=1)
    elif name != "far":
        a = rng.integers(0, 1 << 20, a.shape) * (a % 32 == 0 if name == "between" else 1)
    a = a.astype(dtype)
    b = b2.asarray(a)
    assert b.blocks == blocks
    np.testing.assert_array_equal(b[:], a)
    chunks, unseen = b2.compute_chunks_blocks(a.shape, dtype=dtype)
    assert b.chunks == chunks
    for kwargs in ({"blocks": unseen}, {"cparams": {"codec": b2.Codec.LZ4}}):
        assert b2.asarray(a, **kwargs).blocks == unseen
    assert b2.asarray(a[:30]).blocks == b2.compute_chunks_blocks((30, 2000), dtype=dtype)[1]


def test_blocks_fit_second_best():
    """Where the longest would pad too much, regular data still get longer ones than others."""
    a = np.arange(83 * 2048.0).reshape(83, 2048)
    b = b2.asarray(a)
    assert b2.compute_chunks_blocks(a.shape, dtype=a.dtype)[1] == (4, 2048)
    assert b.blocks == (8, 2048)
    np.testing.assert_array_equal(b[:], a)


def test_blocks_fit_where_they_may(monkeypatch):
    noise = np.random.default_rng(0).integers(0, 1 << 20, (1 << 20, 2)).astype("f4")
    fitting = b2.asarray(noise).blocks
    unseen = b2.compute_chunks_blocks(noise.shape, dtype="f4")[1]
    assert fitting != unseen
    # Other defaults change what is compressed, not how data is looked at.
    with monkeypatch.context() as patch:
        for name, value in (("filters", [b2.Filter.NDCELL]), ("filters_meta", [4]), ("clevel", 0)):
            patch.setitem(b2.cparams_dflts, name, value)
        assert b2.asarray(noise, cparams=b2.CParams()).blocks == fitting
    # A cast may warn, and is not made twice; chunks near the limit have no room for other blocks.
    assert b2.asarray(noise, dtype="i4").blocks == unseen
    with pytest.raises(b2.ParameterError, match="size of the items"):
        b2.asarray(noise, dtype="(2,)f4")
    big = b2.asarray(np.zeros((64, 98527)), chunks=(2724, 98527))
    assert big.shape == (64, 98527) and not big[-1].any()
    np.testing.assert_array_equal(b2.asarray(noise, chunks=(1 << 21, 3))[-9:], noise[-9:])


def test_blocks_fit_rules_and_tall_arrays():
    assert b2.arange(10**6).blocks == (20000,)
    assert b2.linspace(0, 1, 10**6).blocks == (20000,)
    noise = np.random.default_rng(0).integers(0, 1 << 20, (10**6, 3), "i4")
    assert b2.asarray(noise).blocks == (2718, 3)
    assert b2.asarray(noise.T).chunks == b2.compute_chunks_blocks((3, 10**6), dtype="i4")[0]


def test_bytes_depend_on_data_and_parameters_alone(tmp_path):
    a = np.random.default_rng(0).integers(0, 50, (300, 400), dtype="<i4")
    frames = {b2.asarray(a, cparams={"nthreads": n}, **{"chunks": (100, 130)}).to_cframe() for n in (1, 2, 5)}
    assert len(frames) == 1
