# SPDX-License-Identifier: BSD-3-Clause
"""Arrays both ways between this library and the reference."""

from __future__ import annotations

import blosc2
import msgpack
import numpy as np
import pytest
from arrays import DTYPES, STRUCTURED, dtypes, partitions, values
from hypothesis import given, settings
from hypothesis import strategies as st

import blosc2c as b2


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def alike(mine: np.dtype, other: np.dtype) -> bool:
    """Equal dtypes; the reference stores a plain void as a record of one."""
    plain_void = other.kind == "V" and other.fields is None
    return mine.itemsize == other.itemsize if plain_void else mine == other


@settings(max_examples=150)
@given(partitions(max_ndim=5), dtypes(), st.integers(0, 99))
def test_frames_of_ours(parts, dtype, seed):
    shape, chunks, blocks = parts
    a = values(dtype, shape, seed)
    frame = b2.asarray(a, chunks=chunks, blocks=blocks).to_cframe()
    r = blosc2.ndarray_from_cframe(frame)
    assert (r.shape, r.chunks, r.blocks) == (shape, chunks, blocks) and alike(r.dtype, dtype)
    same(r[...].view(dtype), a)


@settings(max_examples=150)
@given(partitions(max_ndim=5), dtypes(), st.integers(0, 99))
def test_frames_of_the_reference(parts, dtype, seed):
    shape, chunks, blocks = parts
    a = values(dtype, shape, seed)
    r = blosc2.asarray(np.ascontiguousarray(a).reshape(shape), chunks=chunks, blocks=blocks)
    b = b2.ndarray_from_cframe(r.to_cframe())
    assert (b.shape, b.chunks, b.blocks) == (shape, chunks, blocks)
    if dtype.itemsize > 255 and 0 in shape:
        return  # REFBUG: such frames say 1 byte per item, and no chunk is there that tells better
    assert alike(b.dtype, dtype)
    same(b[...].view(dtype), a)


@pytest.mark.parametrize("dtype", DTYPES + STRUCTURED, ids=str)
@pytest.mark.parametrize("contiguous", [True, False])
def test_files(dtype, contiguous, tmp_path):
    dtype = np.dtype(dtype)
    a = values(dtype, (7, 9), 5)
    kw = {"chunks": (3, 4), "blocks": (2, 3), "contiguous": contiguous}
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    b2.asarray(a, urlpath=ours, **kw).close()
    blosc2.asarray(a, urlpath=theirs, **kw)
    for path in (ours, theirs):
        r, b = blosc2.open(path), b2.open(path)
        assert alike(r.dtype, dtype) and alike(b.dtype, dtype) and r.shape == b.shape == a.shape
        same(r[...].view(dtype), a)
        same(b[...].view(dtype), a)
        same(np.ascontiguousarray(b[1::2, ::-1]).view(dtype), np.ascontiguousarray(a[1::2, ::-1]))
        same(b[-1, -1].view(dtype), a[-1, -1, ...])


@pytest.mark.parametrize("make", ["zeros", "nans", "uninit", "full", "empty", "ones"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_constant_arrays(make, contiguous, tmp_path):
    kw = {"chunks": (4, 5), "blocks": (3, 2), "contiguous": contiguous, "dtype": "<f8"}
    args = ((9, 7), 2.5) if make == "full" else ((9, 7),)
    theirs, ours = str(tmp_path / "theirs"), str(tmp_path / "ours")
    getattr(blosc2, make)(*args, urlpath=theirs, **kw)
    getattr(b2, make)(*args, urlpath=ours, **kw).close()
    value = {"zeros": 0.0, "nans": np.nan, "full": 2.5, "ones": 1.0}.get(make)
    for path in (ours, theirs):
        got = b2.open(path)[...], blosc2.open(path)[...]
        if value is not None:
            same(got[0], np.full((9, 7), value))
            same(got[1], np.full((9, 7), value))
        assert got[0].shape == got[1].shape == (9, 7)


def test_sixteen_dimensions():
    """The markers of the metalayer are invalid msgpack then; positions still are what they are."""
    shape = (1, 2) * 8
    a = np.arange(256, dtype="<i4").reshape(shape)
    same(b2.ndarray_from_cframe(blosc2.asarray(a, chunks=shape, blocks=(1,) * 16).to_cframe())[...], a)
    same(blosc2.ndarray_from_cframe(b2.asarray(a, chunks=shape, blocks=(1,) * 16).to_cframe())[...], a)


def test_resized_by_the_reference(tmp_path):
    """Growing leaves chunks of zeros between, shrinking leaves old data in the padding."""
    path = str(tmp_path / "x.b2nd")
    a = np.arange(30, dtype="<i8").reshape(6, 5)
    r = blosc2.asarray(a, urlpath=path, chunks=(4, 4), blocks=(2, 3))
    for shape in [(9, 5), (9, 9), (5, 3), (6, 8), (0, 3), (2, 3)]:
        r.resize(shape)
        b = b2.open(path)
        assert b.shape == shape
        if shape not in ((6, 8), (2, 3)):  # grown back: what was cut off may show again
            want = np.zeros(shape, "<i8")
            part = tuple(slice(0, min(n, m)) for n, m in zip(shape, a.shape, strict=True))
            want[part] = a[part]
            same(b[...], want)
        same(b[...], r[...])
        b.close()


@pytest.mark.parametrize("contiguous", (True, False))
@pytest.mark.parametrize("shape", ((0, 3), (3, 0), (0, 0)))
def test_empty_arrays_grow_there(shape, contiguous, tmp_path):
    path = str(tmp_path / "a")
    b2.zeros(shape, dtype="i4", chunks=(4, 2), blocks=(2, 1), urlpath=path, contiguous=contiguous).close()
    blosc2.open(path, mode="a").resize((7, 3))
    same(b2.open(path, mode="r")[:], np.zeros((7, 3), "i4"))
    assert b2.verify(path).ok


def test_written_in_parts_by_the_reference(tmp_path):
    path = str(tmp_path / "x.b2nd")
    r = blosc2.zeros((10, 11), dtype="<f4", urlpath=path, chunks=(4, 5), blocks=(3, 3))
    want = np.zeros((10, 11), "<f4")
    rng = np.random.default_rng(0)
    for _ in range(12):
        i, j = sorted(rng.integers(0, 11, 2)), sorted(rng.integers(0, 12, 2))
        key = (slice(*map(int, i)), slice(*map(int, j)))
        want[key] = rng.normal(size=want[key].shape)
        if want[key].size:
            r[key] = want[key].copy()
        same(b2.open(path)[...], want)


def test_chunks_larger_than_the_shape():
    a = np.arange(6, dtype="<i4").reshape(2, 3)
    same(blosc2.ndarray_from_cframe(b2.asarray(a, chunks=(5, 7), blocks=(2, 4)).to_cframe())[...], a)
    same(b2.ndarray_from_cframe(blosc2.asarray(a, chunks=(5, 7), blocks=(2, 4)).to_cframe())[...], a)


@pytest.mark.parametrize("codec", [b2.Codec(n) for n in (0, 1, 2, 4, 5)])
@pytest.mark.parametrize("filters", [[], [1], [2], [3, 1]], ids=str)
def test_codecs_and_filters(codec, filters):
    a = np.cumsum(np.random.default_rng(1).integers(0, 9, (40, 50)), axis=1).astype("<i4")
    cparams = {"codec": codec, "filters": [b2.Filter(f) for f in filters], "clevel": 5}
    frame = b2.asarray(a, cparams=cparams, chunks=(17, 23), blocks=(5, 8)).to_cframe()
    same(blosc2.ndarray_from_cframe(frame)[...], a)
    theirs = {"codec": blosc2.Codec(codec.value), "filters": [blosc2.Filter(f) for f in filters], "clevel": 5}
    frame = blosc2.asarray(a, cparams=theirs, chunks=(17, 23), blocks=(5, 8)).to_cframe()
    b = b2.ndarray_from_cframe(frame)
    same(b[...], a)
    same(b[3:30:4, 7:40], a[3:30:4, 7:40])


def test_large_array(tmp_path):
    a = np.arange(3_000_000, dtype="<f8").reshape(1500, 2000)
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    b2.asarray(a, urlpath=ours).close()
    blosc2.asarray(a, urlpath=theirs)
    for path in (ours, theirs):
        same(b2.open(path)[...], a)
        same(b2.open(path)[700:705, ::333], a[700:705, ::333])
        same(blosc2.open(path)[700:705, ::333], a[700:705, ::333])


def test_metalayer_bytes():
    """The example of the format: shape 5 x 7, chunks 4 x 5, blocks 3 x 2, int32."""
    a = np.arange(35, dtype="<i4").reshape(5, 7)
    b = b2.asarray(a, chunks=(4, 5), blocks=(3, 2))
    want = bytes.fromhex(
        "970002 92d30000000000000005d30000000000000007 92d200000004d200000005"
        "92d200000003d200000002 00db000000033c6934"
    )
    assert b.meta.raw("b2nd") == want
    assert msgpack.unpackb(want) == [0, 2, [5, 7], [4, 5], [3, 2], 0, "<i4"]
    assert b2.asarray(np.array(1.0)).meta.raw("b2nd") == bytes.fromhex("97000090909000db000000033c6638")
    chunk = np.frombuffer(b.schunk.decompress_chunk(0), "<i4")
    assert chunk.tolist() == [
        *[0, 1, 7, 8, 14, 15, 2, 3, 9, 10, 16, 17, 4, 0, 11, 0, 18, 0],
        *[21, 22, 0, 0, 0, 0, 23, 24, 0, 0, 0, 0, 25, 0, 0, 0, 0, 0],
    ]  # fmt: skip
    assert np.frombuffer(b.schunk.decompress_chunk(1), "<i4")[:6].tolist() == [5, 6, 12, 13, 19, 20]


def test_caterva_metalayer():
    """The predecessor of b2nd: another name, no dtype."""
    raw = bytes.fromhex("950001 91d3000000000000000a 91d200000005 91d200000005")
    place = b"x" * (len(raw) - 2)  # a value that is as long as the metalayer
    r = blosc2.SChunk(
        chunksize=20, contiguous=True, meta={"caterva": place}, cparams={"typesize": 4, "blocksize": 20}
    )
    for first in (0, 5):
        r.append_data(np.arange(first, first + 5, dtype="<i4"))
    frame = r.to_cframe()
    assert frame.count(place) == 1
    frame = frame.replace(bytes([0xC4, len(place)]) + place, raw)
    b = b2.from_cframe(frame)
    assert isinstance(b, b2.NDArray) and (b.shape, b.chunks, b.itemsize) == ((10,), (5,), 4)
    assert b.tobytes() == np.arange(10, dtype="<i4").tobytes()
    same(b[3:8].view("<i4"), np.arange(3, 8, dtype="<i4"))


def test_user_metadata(tmp_path):
    path = str(tmp_path / "x.b2nd")
    r = blosc2.asarray(np.arange(5), urlpath=path, meta={"author": "x", "n": (1, 2)})
    r.vlmeta["k"] = [1, {"a": (2,)}]
    del r
    with b2.open(path, mode="a") as b:
        assert b.meta["author"] == "x" and b.meta["n"] == (1, 2) and b.vlmeta["k"] == [1, {"a": (2,)}]
        b.vlmeta["more"] = (1, "two")
    r = blosc2.open(path)
    assert r.vlmeta["more"] == (1, "two") and r.vlmeta["k"] == [1, {"a": (2,)}]
    same(r[...], np.arange(5))
