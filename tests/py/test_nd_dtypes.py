# SPDX-License-Identifier: BSD-3-Clause
"""Every dtype whose items are plain bytes, to the reference and back."""

from __future__ import annotations

import pickle

import blosc2
import ml_dtypes
import msgpack
import numpy as np
import pytest
from arrays import STRUCTURED, values
from hostile import array_with

import blosc2c as b2

KINDS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "g", "G"]
KINDS += [
    "M8[D]",
    "M8[ns]",
    "M8[25us]",
    "m8[s]",
    "m8",
    "M8",
    "S1",
    "S20",
    "S300",
    "U1",
    "U64",
    "V1",
    "V7",
    "V256",
    "V1000",
]
DTYPES = [np.dtype(kind).newbyteorder(order) for kind in KINDS for order in "<>"]
GENERIC = [dtype for dtype in DTYPES if dtype.str in (">m8", ">M8")]  # numpy.empty() makes them "<"
DTYPES = [dtype for dtype in DTYPES if dtype not in GENERIC]
RECORDS = [np.dtype(fields).newbyteorder(order) for fields in STRUCTURED for order in "<>"]
RECORDS += [
    np.dtype([("a", "u1"), ("b", "<f8")], align=True),
    np.dtype({"names": ["x", "y"], "formats": ["<i4", "S3"], "offsets": [8, 0], "itemsize": 20}),
    np.dtype([("a b", "<i4"), ("ü", "V3"), ("é", [("z", ">u2", (2, 2))])]),
]


PADDED = [*RECORDS[-3:-1], *(d for d in DTYPES if d.itemsize > 8 and d.kind in "fc" and d != "c16")]


def same(got, want):
    assert got.shape == want.shape and got.dtype == want.dtype, (got.dtype, want.dtype)
    if want.dtype.kind in "fcV" and want.dtype in PADDED:  # NumPy does not copy the padding
        assert np.array_equal(got, want)
        return
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def make(dtype: np.dtype) -> np.ndarray:
    return values(dtype, (7, 5), 1).copy()


@pytest.mark.parametrize("dtype", DTYPES + RECORDS, ids=str)
def test_dtypes(dtype, tmp_path):
    a = make(dtype)
    path = tmp_path / "x.b2nd"
    with b2.asarray(a, chunks=(4, 3), blocks=(2, 2), urlpath=path) as b:
        same(b[...], a)
        same(b[3, 4], a[3, 4, ...])
        same(b[::-2, 1], a[::-2, 1])
        same(b[[1, 6], [0, 4]], a[[1, 6], [0, 4]])
        b[2] = a[3]
        b[5, 4] = a[0, 0]
    a[2] = a[3]
    a[5, 4] = a[0, 0]
    same(b2.open(path)[...], a)
    same(pickle.loads(pickle.dumps(b2.open(path)))[...], a)
    same(np.asarray(blosc2.open(str(path))[...]), a)
    same(b2.load(path)[1:3], a[1:3])
    theirs = blosc2.asarray(a, chunks=(4, 3), blocks=(2, 2), urlpath=str(tmp_path / "y"), mode="w")
    mine = b2.open(tmp_path / "y")[...]
    assert mine.dtype == theirs.dtype  # which is not that of `a` for all records and bytes
    assert mine.tobytes() == theirs[...].tobytes()


@pytest.mark.parametrize("dtype", DTYPES + RECORDS, ids=str)
def test_constructors(dtype):
    for made, like in ((b2.zeros, np.zeros), (b2.ones, np.ones)):
        try:
            want = like((5, 3), dtype)
        except (TypeError, ValueError):
            continue
        same(made((5, 3), dtype, chunks=(2, 2))[...], want)
    item = make(dtype)[1, 1]
    full = b2.full((5, 3), item, dtype, chunks=(2, 2))
    same(full[...], np.full((5, 3), item, dtype))
    same(b2.full_like(full, item)[...], full[...])
    same(b2.zeros_like(full)[...], np.zeros((5, 3), dtype))
    same(b2.frombuffer(full[...].tobytes(), (5, 3), dtype)[...], full[...])
    assert b2.uninit((5, 3), dtype).dtype == dtype
    same(blosc2.ndarray_from_cframe(b2.zeros(3, dtype).to_cframe())[...], np.zeros(3, dtype))


@pytest.mark.parametrize("dtype", GENERIC, ids=str)
def test_dates_without_a_unit(dtype):
    a = np.frombuffer(bytes(range(48)), dtype)
    b = b2.ndarray_from_cframe(b2.asarray(a, chunks=(4,), blocks=(2,)).to_cframe(), copy=True)
    for got, want in ((b[...], a), (b[1:3], a[1:3]), (b[[3, 1]], a[[3, 1]]), (b[2], a[2:3].reshape(()))):
        assert got.dtype == dtype and got.tobytes() == want.tobytes()
    b[1] = a[0:1]
    assert b[1].tobytes() == a[0:1].tobytes()


@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8", ">f8", "<c8", "<c16", ">c16", "g"])
def test_nans(dtype):
    assert np.isnan(b2.nans((4, 5), dtype, chunks=(3, 3))[...]).all()
    assert np.isnan(blosc2.ndarray_from_cframe(b2.nans((4, 5), dtype).to_cframe())[...]).all()
    for other in ("<i4", "?", "S3"):
        with pytest.raises(TypeError, match="NaN"):
            b2.nans(3, other)


EXTENSIONS = [
    "bfloat16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e8m0fnu",
    "float4_e2m1fn",
    "int4",
    "uint4",
    "int2",
]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_ml_dtypes(name, tmp_path):
    dtype = np.dtype(getattr(ml_dtypes, name))
    a = np.arange(2).repeat(18).reshape(6, 6).astype(dtype)
    with b2.asarray(a, chunks=(4, 3), blocks=(2, 2), urlpath=tmp_path / "x") as b:
        assert b.dtype == dtype
        same(b[...], a)
        same(b[3, 4], a[3, 4, ...])
        b[0] = 1
    a[0] = 1
    read = b2.open(tmp_path / "x")
    same(read[...], a)
    assert read.meta["ml_dtype"] == name
    copy = read.copy()
    same(copy[...], a)
    same(pickle.loads(pickle.dumps(copy))[...], a)
    same(copy.slice(np.s_[1:3])[...], a[1:3])
    floats = read.astype("<f4")
    same(floats[...], a.astype("<f4"))
    assert "ml_dtype" not in floats.meta
    same(b2.full((3, 3), 1, dtype)[...], np.ones((3, 3), dtype))
    # The reference knows no name for it and reads the bytes.
    assert blosc2.open(str(tmp_path / "x"))[...].tobytes() == a.tobytes()
    with pytest.raises(TypeError, match=name):
        b2.pack_tensor(a)


def test_ml_dtypes_that_are_not_there(monkeypatch):
    a = np.arange(4).astype(ml_dtypes.bfloat16)
    frame = b2.asarray(a).to_cframe()
    assert np.isnan(b2.nans(3, ml_dtypes.bfloat16)[...].astype("f4")).all()
    with pytest.raises(TypeError, match="NaN"):
        b2.nans(3, ml_dtypes.int4)
    same(b2.arange(9, dtype=ml_dtypes.bfloat16)[...], np.arange(9, dtype=ml_dtypes.bfloat16))
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    plain = b2.ndarray_from_cframe(frame)
    assert plain.dtype == "V2"
    assert plain[...].tobytes() == a.tobytes()


@pytest.mark.parametrize(
    "dtype",
    [*RECORDS, np.dtype([("in", np.dtype((np.record, RECORDS[0])), (2,)), ("n", "i4")])],
    ids=str,
)
def test_record_arrays(dtype):
    """np.record is np.void with attributes, of which files know nothing."""
    fields = np.dtype([("in", RECORDS[0], (2,)), ("n", "i4")]) if "in" in dtype.names else dtype
    a = np.zeros(3, np.dtype((np.record, dtype)))
    for b in (b2.asarray(a), b2.zeros_like(a), b2.concat([a[:1], a[1:]]), b2.full((3,), a[0])):
        assert str(b.dtype) == str(fields)
        same(b[...], a.view(fields))
    b[...] = a
    assert str(b2.unpack_tensor(b2.pack_tensor(a)).dtype) == str(fields)


def _left_open(source, dtype):
    # Of dates in lists that are no dates yet, NumPy takes the numbers whatever their units.
    return np.array(source).astype(dtype) if dtype in ("M8", "m8") else np.array(source, dtype)


@pytest.mark.parametrize("dtype", [str, "S", "V", "M8", "m8"], ids=str)
@pytest.mark.parametrize(
    "source",
    [
        [1, 22],
        ["2020-01-01", "2020-01-01T05"],
        [b"a", b"bb"],
        [np.datetime64("2020-01-01"), np.datetime64("2020-01-02T05")],
        [np.timedelta64(1, "h"), np.timedelta64(1, "m")],
        np.array([1, "abc"], object),
        np.arange(3, dtype="i2"),
        np.array(["2020-01-01"], "M8[D]"),
        np.array(["1"], "U7"),
    ],
    ids=lambda source: f"{type(source).__name__}{source}",
)
def test_sizes_and_units_that_are_left_open(source, dtype):
    """What NumPy makes of them."""
    try:
        want, last = _left_open(source, dtype), _left_open(source[-1:], dtype)
    except (TypeError, ValueError):
        return
    same(b2.asarray(source, dtype=dtype), want)
    if isinstance(source, list):
        same(b2.fromiter(source, want.shape, dtype), want)
        same(b2.full((2,), source[-1], dtype), np.repeat(last, 2))
    elif source.dtype != object:
        stored = b2.asarray(source)
        for made in (stored.astype(dtype), b2.copy(stored, dtype), b2.asarray(stored, dtype=dtype)):
            same(made, want)
        same(b2.concat([stored, source], dtype=dtype), np.concatenate([want, want]))
        assert b2.asarray(made, dtype=dtype) is made


@pytest.mark.parametrize("dtype", [str, "S", ">U", "M8", ">m8"])
def test_sizes_that_follow_from_nothing(dtype):
    want = {"S": "S1", str: "U1", ">U": ">U1"}.get(dtype, dtype)
    for made in (b2.zeros((2,), dtype), b2.empty((2,), dtype), b2.zeros_like(np.zeros(2), dtype)):
        assert made.dtype == want and made.dtype.byteorder == np.dtype(want).byteorder
        np.testing.assert_array_equal(made[...].view("u1"), 0)
    assert b2.fromiter([], (0,), str).dtype == b2.asarray([], dtype=str).dtype == "U1"
    with pytest.raises(TypeError, match="no bytes"):
        b2.frombuffer(b"ab", (2,), "S")


@pytest.mark.parametrize("name", ["finfo", "__name__", "no such", 5, None, ["bfloat16"], "int8"])
def test_names_of_nothing(name):
    """A name that comes from a file picks a dtype of ml_dtypes of the right size, or nothing."""
    frame = array_with("|V2", 2, {"ml_dtype": msgpack.packb(name)})
    assert b2.ndarray_from_cframe(frame).dtype == "V2"


@pytest.mark.parametrize("ndim", range(17))
def test_numbers_of_dimensions(ndim, tmp_path):
    shape = (2,) * ndim if ndim < 13 else (2,) * 12 + (1,) * (ndim - 12)
    a = np.arange(int(np.prod(shape)), dtype="<i4").reshape(shape)
    with b2.asarray(a, chunks=(1,) * ndim if ndim < 6 else None, urlpath=tmp_path / "x") as b:
        assert b.ndim == ndim
        same(b[...], a)
        same(b[(0,) * ndim], a[(0,) * ndim + (...,)])
        if ndim:
            same(b[..., -1], a[..., -1])
            b.resize((3, *shape[1:]))
            b[2] = 7
            a = np.concatenate([a, np.full((1, *shape[1:]), 7, "<i4")])
    same(b2.open(tmp_path / "x")[...], a)
    same(np.asarray(blosc2.open(str(tmp_path / "x"))[...]), a)
    with pytest.raises(ValueError, match="17"):
        b2.zeros((1,) * 17)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 5), (0, 0), (1, 0, 0, 2)], ids=str)
def test_axes_of_no_items(shape, tmp_path):
    a = np.zeros(shape, "<f4")
    b2.asarray(a, urlpath=tmp_path / "x").close()
    for b in (b2.asarray(a), b2.zeros(shape, "<f4"), b2.load(tmp_path / "x")):
        same(b[...], a)
        assert (b.nbytes, b.size, b.cratio) == (0, 0, 0.0)
        assert list(b.iterchunks_info()) == []
        same(b[..., None], a[..., None])
        b[...] = 5
        assert len(b) == shape[0]
        same(np.asarray(list(b)).reshape(shape).astype("<f4"), a)
    same(np.asarray(blosc2.ndarray_from_cframe(b2.asarray(a).to_cframe())[...]), a)
    same(b2.ndarray_from_cframe(blosc2.asarray(a).to_cframe())[...], a)
    grown = b2.zeros(shape, "<f4", chunks=tuple(max(n, 2) for n in shape), blocks=(1,) * len(shape))
    grown.resize((4,) * len(shape))
    same(grown[...], np.zeros((4,) * len(shape), "<f4"))
    grown[...] = 3
    grown.resize(shape)
    same(grown[...], a)


def test_large_items_of_an_array_that_loses_all_chunks(tmp_path):
    a = np.array([b"x" * 300, b"y" * 256, b""], dtype="S300")
    frame = blosc2.asarray(a, chunks=(2,), blocks=(1,)).to_cframe()
    for source in (frame, blosc2.asarray(a[:1]).to_cframe()):
        (tmp_path / "x").write_bytes(source)  # whose header has 1 as type size
        with b2.open(tmp_path / "x", mode="a") as b:
            b.resize((0,))
            assert (b.dtype, b.schunk.typesize) == (a.dtype, 300)
            b.resize((3,))
            b[...] = a
        same(b2.open(tmp_path / "x")[...], a)
        assert np.array_equal(blosc2.open(str(tmp_path / "x"))[...], a)


def test_16_dimensions_are_as_good_as_others(tmp_path):
    """Their metalayer is no valid msgpack, which only its own parser is to mind."""
    shape = (2, 1, 3, 1) * 4
    want = np.arange(6**4).reshape(shape)
    with b2.asarray(want, urlpath=tmp_path / "a.b2nd", meta={"mine": 5}, chunks=(1,) * 8 + (2,) * 8) as a:
        version, ndim, *shapes = a.meta["b2nd"][:5]
        assert (version, ndim) == (0, 16)
        assert [tuple(s) for s in shapes] == [a.shape, a.chunks, a.blocks]
        assert set(a.meta[:]) == {"b2nd", "mine"}
        for copied in (
            a.copy(),
            a.copy(chunks=shape),
            a.astype("<i8"),
            b2.ndarray_from_cframe(a.to_cframe()),
        ):
            assert copied.meta["mine"] == 5
            np.testing.assert_array_equal(copied[...], want)
        a.save(tmp_path / "b.b2nd")
    report = b2.verify(tmp_path / "b.b2nd")
    assert report.ok, report
    np.testing.assert_array_equal(blosc2.open(str(tmp_path / "b.b2nd"))[...], want)


@pytest.mark.parametrize("described", [[("a", "<i4"), ("b", "<f8")], "<i4,<f8"])
def test_fields_that_somebody_renames(tmp_path, described):
    """NumPy lets everybody change the names of a dtype: that of one array is no other's."""
    data = np.zeros(10, described)
    names = data.dtype.names
    b2.asarray(data, urlpath=tmp_path / "x.b2nd", mode="w").schunk.close()
    with b2.open(tmp_path / "x.b2nd") as a:
        a[...].dtype.names = ("x", "y")
    with b2.open(tmp_path / "x.b2nd") as a:
        assert a.dtype.names == names and a[...].dtype.names == names
