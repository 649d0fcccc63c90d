# SPDX-License-Identifier: BSD-3-Clause
"""The one-shot functions: arguments, buffers, results and exceptions."""

from __future__ import annotations

import array
import ctypes
import mmap
import pickle

import blosc2
import numpy as np
import pytest
import spec_chunk as spec
from inputs import make
from numpy.testing import assert_array_equal

import blosc2c as b2
from blosc2c import params

DATA = make("ramp", 80_000)
CHUNK = b2.compress2(DATA, typesize=4)


# ---- compress, compress2 ----


def test_defaults_of_compress():
    h = spec.header(b2.compress(DATA))
    assert (h.typesize, h.codec, h.filters) == (8, 5, (0, 0, 0, 0, 0, 1))
    assert h.filters == spec.header(blosc2.compress(DATA)).filters


def test_defaults_of_compress2():
    h = spec.header(b2.compress2(DATA))
    assert (h.typesize, h.codec, h.filters) == (8, 5, (0, 0, 0, 0, 0, 1))


def test_typesize_none_is_that_of_the_buffer():
    assert spec.header(b2.compress(np.arange(100, dtype="i2"), typesize=None)).typesize == 2


@pytest.mark.parametrize(
    "kw",
    [{"clevel": 10}, {"clevel": -1}, {"typesize": 0}, {"typesize": 3}, {"filter": 99}, {"codec": 3}],
    ids=str,
)
def test_compress_refuses(kw):
    with pytest.raises(ValueError):
        b2.compress(bytes(1000), **kw)


def test_compress_allows_odd_sizes_when_told():
    chunk = b2.compress(b"x" * 1001, typesize=8, _ignore_multiple_size=True)
    assert b2.decompress(chunk) == b"x" * 1001


def test_unknown_keywords_are_refused_with_a_suggestion():
    with pytest.raises(TypeError, match="clevel"):
        b2.compress2(DATA, cleval=3)
    with pytest.raises(TypeError, match="nthreads"):
        b2.decompress2(CHUNK, nthread=3)
    with pytest.raises(TypeError):
        b2.compress2(DATA, shuffle=1)


def test_one_form_of_parameters():
    expected = b2.compress2(DATA, codec=b2.Codec.LZ4, typesize=4)
    assert b2.compress2(DATA, cparams={"codec": b2.Codec.LZ4, "typesize": 4}) == expected
    assert b2.compress2(DATA, cparams=b2.CParams(codec="lz4", typesize=4)) == expected
    assert b2.decompress2(CHUNK, dparams=b2.DParams(nthreads=2)) == DATA
    assert b2.decompress2(CHUNK, dparams={"nthreads": 2}) == DATA
    with pytest.raises(AttributeError):
        b2.compress2(DATA, cparams=b2.CParams(), clevel=3)
    with pytest.raises(AttributeError):
        b2.decompress2(CHUNK, dparams=b2.DParams(), nthreads=3)
    with pytest.raises(ValueError):
        b2.compress2(DATA, cparams={"cleval": 3})


@pytest.mark.parametrize("codec", [b2.Codec.OPENZL, b2.Codec.GROK, 200, 3], ids=str)
def test_codecs_that_are_not_built_in(codec):
    with pytest.raises(b2.UnknownCodecError):
        b2.compress2(DATA, codec=codec)


@pytest.mark.parametrize("filter_", [37, 200, 5], ids=str)
def test_filters_that_are_not_built_in(filter_):
    with pytest.raises(b2.UnknownFilterError):
        b2.compress2(DATA, filters=[filter_])


@pytest.mark.parametrize("src", ["text", 5, None, [1, 2], 1.5, {}], ids=repr)
def test_sources_without_a_buffer(src):
    for call in (b2.compress, b2.compress2, b2.decompress, b2.decompress2, b2.get_cbuffer_sizes):
        with pytest.raises(TypeError):
            call(src)


def sources():
    yield "bytes", DATA
    yield "bytearray", bytearray(DATA)
    yield "memoryview", memoryview(DATA)
    yield "memoryview of items", memoryview(DATA).cast("I")
    yield "memoryview 2-d", memoryview(DATA).cast("B", (100, 800))
    yield "array", array.array("I", DATA)
    yield "numpy", np.frombuffer(DATA, "<u4")
    yield "numpy 2-d", np.frombuffer(DATA, "<u4").reshape(100, -1)
    yield "numpy structured", np.frombuffer(DATA, [("a", "<u4"), ("b", "<f4")])
    yield "ctypes", (ctypes.c_char * len(DATA)).from_buffer_copy(DATA)
    m = mmap.mmap(-1, len(DATA))
    m[:] = DATA
    yield "mmap", m


@pytest.mark.parametrize("name, src", list(sources()), ids=lambda x: x if isinstance(x, str) else "")
def test_every_kind_of_buffer(name, src):
    chunk = b2.compress2(src, typesize=4)
    assert chunk == CHUNK and type(chunk) is bytes
    assert b2.compress(src, typesize=4, clevel=5) == b2.compress(DATA, typesize=4, clevel=5)


def test_chunks_in_every_kind_of_buffer():
    for chunk in (bytearray(CHUNK), memoryview(CHUNK), np.frombuffer(CHUNK, np.uint8)):
        assert b2.decompress2(chunk) == DATA
        assert b2.decompress(chunk) == DATA
        assert b2.get_cbuffer_sizes(chunk) == b2.get_cbuffer_sizes(CHUNK)


@pytest.mark.parametrize(
    "src",
    [memoryview(DATA)[::2], np.frombuffer(DATA, "<u4")[::3], np.asfortranarray(np.ones((30, 40)))],
    ids=["memoryview", "strided", "fortran"],
)
def test_buffers_that_are_not_contiguous(src):
    with pytest.raises(ValueError):
        b2.compress2(src)
    with pytest.raises(ValueError):
        b2.compress(src, typesize=1)


def test_the_source_is_not_kept_or_changed():
    src = bytearray(DATA)
    b2.compress2(src, filters=[1, 2, 1], typesize=4)
    assert src == DATA
    src.append(0)  # a buffer that is still exported could not grow
    out = bytearray(len(DATA))
    b2.decompress2(bytearray(CHUNK), dst=out)
    out.append(0)


def test_empty_input():
    for chunk in (b2.compress(b""), b2.compress2(b""), b2.compress2(np.empty((0, 5)))):
        assert len(chunk) == 32
        assert b2.decompress(chunk) == b2.decompress2(chunk) == b""
        assert b2.decompress(chunk, as_bytearray=True) == bytearray()


# ---- decompress, decompress2 ----


def test_result_types():
    assert type(b2.decompress(CHUNK)) is bytes
    assert type(b2.decompress2(CHUNK)) is bytes
    result = b2.decompress(CHUNK, as_bytearray=True)
    assert type(result) is bytearray and result == DATA


@pytest.mark.parametrize("function", [b2.decompress, b2.decompress2])
def test_destinations(function):
    for dst in (
        bytearray(len(DATA)),
        np.zeros(20_000, "<u4"),
        np.zeros((4, 5000), "<u4"),
        array.array("B", DATA),
    ):
        assert function(CHUNK, dst=dst) is None
        assert bytes(memoryview(dst).cast("B")) == DATA
    longer = bytearray(b"\x07" * (len(DATA) + 5))
    function(CHUNK, dst=memoryview(longer)[2:-1])
    assert longer == b"\x07\x07" + DATA + b"\x07" * 3


@pytest.mark.parametrize("function", [b2.decompress, b2.decompress2])
def test_destinations_that_do_not_fit(function):
    with pytest.raises(ValueError, match="dst holds 16 bytes, the chunk decompresses to 80000"):
        function(CHUNK, dst=bytearray(16))
    with pytest.raises(ValueError):
        function(CHUNK, dst=bytearray())
    short = bytearray(b"\x05" * (len(DATA) - 1))
    with pytest.raises(ValueError):
        function(CHUNK, dst=short)
    assert short == b"\x05" * (len(DATA) - 1)


@pytest.mark.parametrize("function", [b2.decompress, b2.decompress2])
def test_destinations_that_cannot_be_written(function):
    frozen = np.zeros(len(DATA), np.uint8)
    frozen.flags.writeable = False
    for dst in (bytes(len(DATA)), memoryview(bytes(len(DATA))), frozen):
        with pytest.raises((ValueError, TypeError)):
            function(CHUNK, dst=dst)
    with pytest.raises((ValueError, TypeError)):
        function(CHUNK, dst=np.zeros(2 * len(DATA), np.uint8)[::2])
    with pytest.raises(TypeError):
        function(CHUNK, dst="text")


def test_short_and_foreign_sources():
    for function in (b2.decompress, b2.decompress2, b2.get_cbuffer_sizes, b2.get_clib):
        for src in (b"", b"x", b"x" * 15):
            with pytest.raises(ValueError):
                function(src)
    with pytest.raises(RuntimeError):
        b2.decompress(b"no chunk at all, whatever it may be")
    with pytest.raises(ValueError):
        b2.decompress2(b"no chunk at all, whatever it may be")


def test_sizes_from_a_header_alone():
    assert b2.get_cbuffer_sizes(CHUNK[:32])[:2] == (len(DATA), len(CHUNK))
    assert b2.get_cbuffer_sizes(CHUNK) == blosc2.get_cbuffer_sizes(CHUNK)


@pytest.mark.parametrize("codec", [b2.Codec(n) for n in (0, 1, 2, 4, 5)])
def test_get_clib(codec):
    chunk = b2.compress2(DATA, codec=codec)
    assert b2.get_clib(chunk) == blosc2.get_clib(chunk)


# ---- pickle: pack, unpack ----


@pytest.mark.parametrize("dtype", ["f8", ">i4", "S5", "M8[s]", "?", [("a", "i4"), ("b", "f8")]], ids=str)
def test_pack_both_ways(dtype):
    arr = np.zeros(300, dtype)
    assert_array_equal(b2.unpack(b2.pack(arr)), arr)
    assert_array_equal(b2.unpack_array(b2.pack_array(arr)), arr)
    assert_array_equal(b2.unpack_array(blosc2.pack_array(arr)), arr)
    assert_array_equal(blosc2.unpack_array(b2.pack_array(arr)), arr)


def test_pack_takes_objects_with_itemsize():
    assert b2.get_clib(b2.pack(np.arange(1000))) == "BloscLZ"
    for obj in ([1, 2], "text", 5):
        with pytest.raises(AttributeError):
            b2.pack(obj)
    with pytest.raises(ValueError):
        b2.pack(np.arange(10), clevel=10)


def test_unpack_array_of_python_2():
    packed = b2.compress(pickle.dumps(np.array([b"abc", b"d"]), protocol=2), typesize=1)
    assert_array_equal(b2.unpack_array(packed, encoding="bytes"), np.array(["abc", "d"]))


# ---- frames: pack_array2, save_array ----

ARRAYS = {
    "0-d": np.array(5.5),
    "1-d": np.arange(1000),
    "3-d": np.arange(24, dtype="<u2").reshape(2, 3, 4),
    "empty": np.zeros((0, 3)),
    "big-endian": np.arange(10, dtype=">f8"),
    "unicode": np.array(["ab", "cdé"]),
    "bytes": np.array([b"ab", b"cde"]),
    "datetime": np.arange("2020-01-01", "2020-03-01", dtype="M8[D]"),
    "bool": np.array([True, False, True]),
    "complex": np.arange(6, dtype="c16"),
    "structured": np.array([(1, 2.5, b"x"), (3, 4.5, b"yz")], [("a", "<i4"), ("b", "<f8"), ("c", "S3")]),
    "fortran": np.asfortranarray(np.arange(12).reshape(3, 4)),
    "strided": np.arange(100)[::7],
    "wide item": np.array([b"w" * 300, b"v" * 299]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_frames_of_arrays(name, tmp_path):
    arr = ARRAYS[name]

    def same(other):
        assert other.dtype == arr.dtype and other.shape == arr.shape
        assert_array_equal(other, arr)

    same(b2.unpack_array2(b2.pack_array2(arr)))
    same(b2.unpack_tensor(b2.pack_tensor(arr)))
    path = tmp_path / "a.b2frame"
    assert b2.save_array(arr, path) == path.stat().st_size
    same(b2.load_array(path))
    same(b2.load_tensor(str(path)))
    with pytest.raises(FileExistsError):
        b2.save_array(arr, path)
    b2.save_tensor(arr, path, mode="w")
    same(b2.load_array(path))


@pytest.mark.parametrize("name", [n for n in ARRAYS if n not in ("empty", "wide item")])
def test_frames_of_arrays_and_the_reference(name, tmp_path):
    arr = np.require(ARRAYS[name], requirements="C")  # the reference takes no other order
    their_file, our_file = str(tmp_path / "theirs"), str(tmp_path / "ours")
    blosc2.save_array(arr, their_file)
    b2.save_array(arr, our_file)
    for other in (
        b2.unpack_array2(blosc2.pack_array2(arr)),
        blosc2.unpack_array2(b2.pack_array2(arr)),
        b2.load_array(their_file),
        blosc2.load_array(our_file),
    ):
        assert other.dtype == arr.dtype and other.shape == arr.shape
        assert_array_equal(other, arr)


def test_frame_of_several_chunks():
    arr = np.arange(10_000)
    frame = b2.pack_array2(arr, chunksize=8000)
    assert b2.schunk_from_cframe(frame).nchunks == 10
    assert_array_equal(b2.unpack_array2(frame), arr)
    assert_array_equal(blosc2.unpack_array2(frame), arr)


def test_object_arrays_are_refused():
    with pytest.raises(TypeError, match="object"):
        b2.pack_array2(np.array([1, "x", None], dtype=object))


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        b2.load_array(tmp_path / "nothing")
    other = tmp_path / "other"
    other.write_bytes(b"not a frame" * 20)
    with pytest.raises(RuntimeError):
        b2.load_array(other)
    with pytest.raises(b2.FormatError):
        b2.unpack_array2(b2.SChunk(data=b"plain").to_cframe())
    with pytest.raises(b2.Blosc2Error):
        b2.unpack_array2(b"")


# ---- what calls keep: parameters in C form, scratch memory of small results ----


def test_kept_parameters_are_those_of_equal_type():
    """1 == 1.0 == True, but only integers are levels."""
    assert b2.compress2(DATA, clevel=1) == b2.compress2(DATA, clevel=1)
    for clevel in (1.0, "1"):
        with pytest.raises(TypeError):
            b2.compress2(DATA, clevel=clevel)
    assert b2.compress2(DATA, filters=[1], filters_meta=[4]) is not None
    with pytest.raises(TypeError):
        b2.compress2(DATA, filters=[1], filters_meta=[4.0])


def test_parameters_of_an_object_are_kept():
    cparams = b2.CParams(clevel=7, filters_meta=[0] * 6, blocksize=1234)
    before = len(params._compiled)
    for _ in range(3):
        b2.compress2(DATA, cparams=cparams)
        assert len(params._compiled) == before + 1


def test_kept_parameters_of_compress():
    data = bytes(range(64)) * 40
    for codec in (b2.Codec.LZ4, "lz4", 1):
        for clevel in (1, 9, True):
            chunk = b2.compress(data, 8, clevel, b2.Filter.SHUFFLE, codec)
            assert chunk == b2.compress(data, 8, int(clevel), "shuffle", b2.Codec.LZ4)
    for wrong in ({"clevel": 1.0}, {"clevel": [1]}, {"codec": []}, {"filter": {}}):
        for _ in range(2):
            with pytest.raises(TypeError, match=next(iter(wrong))):
                b2.compress(data, **wrong)
    b2.set_blocksize(256)
    try:
        assert b2.get_cbuffer_sizes(b2.compress(data))[2] == 256
    finally:
        b2.set_blocksize(0)
    assert b2.get_cbuffer_sizes(b2.compress(data))[2] > 256


def test_kept_parameters_follow_the_objects_and_lists_they_came_from():
    filters, cparams = [b2.Filter.SHUFFLE], b2.CParams(clevel=1)
    shuffled, first = b2.compress2(DATA, filters=filters), b2.compress2(DATA, cparams=cparams)
    filters[0], cparams.clevel = b2.Filter.BITSHUFFLE, 9
    cparams.filters[5] = b2.Filter.NOFILTER
    assert spec.header(shuffled).filters[0] == 1
    assert spec.header(b2.compress2(DATA, filters=filters)).filters[0] == 2
    assert spec.header(first).filters[5] == 1
    assert spec.header(b2.compress2(DATA, cparams=cparams)).filters[5] == 0


def test_kept_parameters_follow_the_defaults(monkeypatch):
    assert spec.header(b2.compress2(DATA)).typesize == 8
    monkeypatch.setitem(b2.cparams_dflts, "typesize", 4)
    assert spec.header(b2.compress2(DATA)).typesize == 4
    monkeypatch.undo()
    assert spec.header(b2.compress2(DATA)).typesize == 8


def test_many_different_parameters():
    for blocksize in range(1000, 2000):
        assert b2.decompress2(b2.compress2(DATA[:3000], blocksize=blocksize)) == DATA[:3000]


@pytest.mark.parametrize("nbytes", [0, 1, 31, 32, 32767, 32768, 32769, 65536, 5 << 20])
def test_results_of_all_sizes(nbytes):
    """Small ones come from scratch memory, large ones are written in place and cut."""
    noise = np.random.default_rng(nbytes).integers(0, 256, nbytes, "u1").tobytes()
    for data in (noise, bytes(nbytes), make("ramp", nbytes)):
        chunks = [b2.compress2(data, typesize=4, clevel=clevel) for clevel in (0, 1)]
        for chunk in chunks:
            assert len(chunk) == spec.header(chunk).cbytes <= nbytes + 32
            assert b2.decompress2(chunk) == b2.decompress(chunk) == data
            out = bytearray(b"\xaa" * (nbytes + 3))
            assert b2.decompress2(chunk, dst=out) is None
            assert out == data + b"\xaa" * 3
        assert b2.compress2(data, typesize=4, clevel=1) == chunks[1]


def test_a_damaged_small_chunk_is_described_like_a_large_one():
    small = bytearray(b2.compress2(make("ramp", 1000), typesize=4))
    small[32:36] = b"\xff" * 4
    with pytest.raises(b2.CorruptError, match="block"):
        b2.decompress2(bytes(small))
    with pytest.raises(b2.CorruptError, match="block"):
        b2.decompress2(bytes(small), dst=bytearray(1000))


def test_what_is_wrong_is_told_of_the_argument():
    """Of src before dst, by the name that it has."""
    for call in (b2.decompress, b2.decompress2):
        for dst in (None, [1]):
            with pytest.raises(TypeError, match="src must be a bytes-like object, not int"):
                call(5, dst)
            with pytest.raises(ValueError, match="src is not C-contiguous"):
                call(np.zeros(100, "u1")[::2], dst)
        with pytest.raises(TypeError, match="dst must be a writable bytes-like object, not list"):
            call(b"no chunk", [1])
