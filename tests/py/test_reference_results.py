# SPDX-License-Identifier: BSD-3-Clause
"""What calls give is what they give in python-blosc2, found by running the same ones on both."""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType

import blosc2
import numpy as np
import pytest

import blosc2c as b2
from blosc2c import building

A = np.arange(10)
BOTH = pytest.mark.parametrize("lib", [b2, blosc2], ids=["ours", "theirs"])


@BOTH
def test_blocks_beyond_the_shape_are_cut_to_it(lib):
    for shape, blocks in (((10, 10), (20, 20)), ((1000,), (1200,)), ((10, 10), (3, 20)), ((10, 10), (20, 5))):
        chunks, found = lib.compute_chunks_blocks(shape, blocks=blocks)
        assert all(n >= c >= b > 0 for n, c, b in zip(shape, chunks, found, strict=True))
        a = lib.zeros(shape, blocks=blocks)
        assert all(n >= c >= b > 0 for n, c, b in zip(shape, a.chunks, a.blocks, strict=True))
    assert lib.zeros((10,), chunks=(20,), blocks=(15,)).blocks == (15,)
    with pytest.raises(ValueError, match=r"have .* bytes, more than|too large"):
        lib.zeros((3, 4, 5), blocks=(99999999999, 9, 9))


@BOTH
@pytest.mark.parametrize("dtype", [None, "i4", "u1", "f8", "?", "M8[s]", "S3"])
def test_bytes_are_items_of_their_own_length(lib, dtype):
    a = lib.full((3,), b"123", dtype=dtype)
    assert a.dtype == np.dtype("S3") and a[:].tolist() == [b"123"] * 3
    like = lib.full_like(lib.zeros((3,), dtype="i2"), b"123", dtype=dtype)
    assert like.dtype == np.dtype("S3") and like[:].tolist() == [b"123"] * 3


def test_longer_bytes_are_not_cut():
    assert b2.full((2,), b"ab", dtype="S4").dtype == np.dtype("S4")
    assert b2.full((2,), b"ab", dtype="V2").dtype == np.dtype("V2")


@BOTH
@pytest.mark.parametrize("dtype", ["M8[s]", "m8[D]", "i2", "c16"])
def test_the_item_size_of_any_dtype(lib, dtype):
    data = np.zeros(20, dtype)
    chunk = lib.compress(data, typesize=None)
    assert chunk[3] == data.itemsize and lib.decompress(chunk) == data.tobytes()


@BOTH
def test_a_slice_of_nothing_is_no_bytes(lib):
    s = lib.SChunk(chunksize=40, data=np.arange(20, dtype="i4"))
    out = bytearray(8)
    for start, stop in ((5, 5), (7, 3), (20, None), (-3, -3)):
        assert s.get_slice(start, stop) == s.get_slice(start, stop, out) == b""
    assert out == bytes(8)
    assert s.get_slice(3, 5, out) is None and out == np.arange(3, 5, dtype="i4").tobytes()


@pytest.mark.parametrize("kind", ["memory", "file", "directory"])
def test_chunks_of_any_size(kind, tmp_path):
    path = None if kind == "memory" else str(tmp_path / "s")
    s = b2.SChunk(chunksize=0, cparams={"typesize": 4}, urlpath=path, contiguous=kind == "file")
    assert (s.chunksize, s.nchunks, s.nbytes, s[:]) == (0, 0, 0, b"")
    data = [np.arange(n, dtype="i4").tobytes() for n in (100, 200, 2)]
    for i, part in enumerate(data):
        assert s.append_data(part) == i + 1
    assert s.chunksize == 0 and s[:] == b"".join(data)
    if path is not None:
        s.close()
        t = blosc2.open(path)
        assert t.nchunks == 3 and t.chunksize == 0
        assert [t.decompress_chunk(i) for i in range(3)] == data


def test_data_are_not_cut_into_chunks_of_nothing():
    with pytest.raises(ValueError, match="chunksize"):
        b2.SChunk(chunksize=0, data=bytes(8))


@BOTH
def test_there_is_one_device(lib):
    a = lib.asarray(np.ones(3, [("x", "i4")]))
    assert a.device == "cpu" and a.to_device("cpu") is a
    field = a.fields["x"]
    assert field.to_device("cpu") is field
    for device in ("gpu", None):
        with pytest.raises(ValueError, match="cpu"):
            a.to_device(device)


MAKERS = {
    "zeros": lambda lib, **kw: lib.zeros((3,), **kw),
    "full": lambda lib, **kw: lib.full((3,), 7, **kw),
    "arange": lambda lib, **kw: lib.arange(3, **kw),
    "linspace": lambda lib, **kw: lib.linspace(0, 1, 3, **kw),
    "ones_like": lambda lib, **kw: lib.ones_like(lib.zeros((3,)), **kw),
    "asarray": lambda lib, **kw: lib.asarray(np.arange(3), **kw),
    "copy": lambda lib, **kw: lib.asarray(lib.zeros((3,)), copy=True, **kw),
}


@BOTH
@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("maker", MAKERS)
def test_arrays_are_made_on_the_only_device(lib, maker, device):
    a = MAKERS[maker](lib, device=device)
    assert a.shape == (3,) and a.device == "cpu"
    assert lib.asarray(a, device=device) is a


@pytest.mark.parametrize("maker", MAKERS)
def test_no_arrays_are_made_on_other_devices(maker):
    with pytest.raises(ValueError, match="the only device"):
        MAKERS[maker](b2, device="gpu")


@pytest.mark.parametrize("mode", ["r", "a"])
def test_parameters_of_an_opened_frame(mode, tmp_path):
    """Those of a CParams are for later chunks: a typesize that it has by default is not one to change to."""
    path = str(tmp_path / "s")
    b2.SChunk(chunksize=40, data=np.arange(20, dtype="i4"), urlpath=path).close()
    with b2.open(path, mode=mode, cparams=b2.CParams(clevel=1, codec=b2.Codec.LZ4)) as s:
        assert (s.cparams.clevel, s.cparams.codec, s.typesize) == (1, b2.Codec.LZ4, 4)
        assert s[3:5] == np.arange(3, 5, dtype="i4").tobytes()
    for wrong in (b2.CParams(typesize=2), {"typesize": 8}):
        with pytest.raises(ValueError, match="do not change"):
            b2.open(path, mode=mode, cparams=wrong)


def test_data_for_a_frame_that_is_opened_are_refused(tmp_path):
    path = str(tmp_path / "s")
    b2.SChunk(data=b"x" * 8, urlpath=path).close()
    for how in ({"mode": "r"}, {"mmap_mode": "r"}):
        with pytest.raises(ValueError, match="no data"):
            b2.SChunk(data=b"y" * 8, urlpath=path, **how)
    assert b2.SChunk(urlpath=path, mode="r")[:] == b"x" * 8


@pytest.mark.parametrize(
    "names", ["Anna Bernhard Carla Dmitri Eleonore Fritz", "Łódź 東京 Ελλάδα Ísafjörður"]
)
@pytest.mark.parametrize("cparams", [None, {"clevel": 1}])
def test_bytes_of_texts_are_shuffled_by_code_points(names, cparams):
    """As in Python-Blosc2, also with parameters that leave the filters to us."""
    words = np.array(names.split())
    a = words[np.random.default_rng(0).integers(0, len(words), 60000)].astype("U12")
    b = b2.asarray(a, cparams=cparams)
    assert b.cparams.filters_meta == blosc2.asarray(a).cparams.filters_meta == [0, 0, 0, 0, 0, 4]
    assert (b[:] == a).all() and (blosc2.ndarray_from_cframe(b.to_cframe())[:] == a).all()
    for told in (b2.CParams(), {"filters_meta": [0] * 6}, {"filters": [b2.Filter.SHUFFLE]}):
        other = b2.asarray(a, cparams=told)
        assert other.cparams.filters_meta == [0] * 6 and (other[:] == a).all()
        assert cparams or b.schunk.cbytes * 2 < other.schunk.cbytes
    for other in (b2.zeros(3, dtype="U5"), b2.full(3, "abc"), b2.concat([b, b]), b.copy(), b.astype("U20")):
        assert other.cparams.filters_meta == [0, 0, 0, 0, 0, 4]
    assert b2.asarray(np.array(["1", "22"])).astype("i8").cparams.filters_meta == [0] * 6


def test_texts_that_shrink_more_by_whole_items():
    a = np.array([f"n{i * 7 % 9973:06}" for i in range(50000)])
    b = b2.asarray(a)
    assert b.cparams.filters_meta == [0] * 6 and b.schunk.cbytes < blosc2.asarray(a).schunk.cbytes
    assert b2.asarray(a[:1000]).cparams.filters_meta == [0, 0, 0, 0, 0, 4]  # nobody looks at so few
    assert (b[:] == a).all() and (blosc2.ndarray_from_cframe(b.to_cframe())[:] == a).all()
    long = np.array(["x" * 100, "y"] * 5000)
    assert (b2.asarray(long)[:] == long).all()


def test_filters_that_users_have_given_are_kept():
    """Also those of numbers whose parameters are the ones that texts get."""
    for last in (b2.Filter.SHUFFLE, b2.Filter.TRUNC_PREC):
        told = {"filters": [0] * 5 + [last], "filters_meta": [0] * 5 + [4]}
        a = b2.asarray(np.linspace(0, 1, 1000), cparams=told)
        for b in (a.copy(), a.copy(chunks=(300,)), a.astype("f4"), b2.concat([a, a])):
            assert b.cparams.filters_meta == [0, 0, 0, 0, 0, 4]


@pytest.mark.parametrize("given", [{"typesize": 4}, {"blocksize": 4096}, {"typesize": 4, "blocksize": 64}])
def test_sizes_that_do_not_count_do_not_choose_how_texts_are_shuffled(given):
    a = np.array([f"file_{i:08}.txt" for i in range(50000)]).astype("U40")
    assert b2.asarray(a, cparams=given).cparams.filters_meta == b2.asarray(a).cparams.filters_meta == [0] * 6


def test_texts_in_large_blocks_are_looked_at_in_part(monkeypatch):
    looked_at = []
    compress2 = building.compress2
    monkeypatch.setattr(building, "compress2", lambda s, **kw: looked_at.append(len(s)) or compress2(s, **kw))
    a = np.array(["Anna", "Bernhard", "Carla"] * 50000)
    b = b2.asarray(a, chunks=a.shape, blocks=a.shape)
    assert (b[:] == a).all() and len(looked_at) == 2 and max(looked_at) <= 3 * 65536


@pytest.mark.parametrize("filters", [[b2.Filter.SHUFFLE], [], [b2.Filter.NOFILTER] * 6])
def test_changed_default_filters_are_for_texts_too(filters, monkeypatch):
    monkeypatch.setitem(b2.cparams_dflts, "filters", filters)
    a = b2.asarray(np.array(["Anna", "Bernhard"]))
    assert a.cparams.filters_meta == [0] * 6 and a.cparams.filters == b2.asarray(A).cparams.filters
    assert a[:].tolist() == ["Anna", "Bernhard"]


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_any_mapping_leaves_the_filters_open(kind):
    a = b2.asarray(np.array(["Anna", "Bernhard"]), cparams=kind({"clevel": 1}))
    assert a.cparams.filters_meta == [0, 0, 0, 0, 0, 4]


def test_texts_and_a_codec_that_needs_the_shape():
    a = np.full((1000, 512), "ab", "U2")
    cparams = {"codec": b2.Codec.NDLZ, "codec_meta": 4, "splitmode": b2.SplitMode.ALWAYS_SPLIT}
    assert (b2.asarray(a, cparams=cparams)[:] == a).all()
