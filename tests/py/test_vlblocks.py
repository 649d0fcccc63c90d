# SPDX-License-Identifier: BSD-3-Clause
"""Chunks of blocks that have sizes of their own: bytes, frames, damage, the reference library."""

from __future__ import annotations

import struct
import threading

import blosc2
import numpy as np
import pytest
import spec_chunk as spec
from blosc2 import blosc2_ext as theirs
from inputs import make

import blosc2c as b2

MIXED = [b"a" * 10, b"hello world " * 4, bytes(100), make("random", 256), b"x", make("text", 5000)]
MANY = [b"item %d of a list of items that are alike" % i * (1 + i % 7) for i in range(300)]
LARGE = [
    make(kind, n) for kind, n in (("ramp", 300_000), ("random", 1), ("text", 700_000), ("zeros", 99_999))
]

CODECS = [b2.Codec.BLOSCLZ, b2.Codec.LZ4, b2.Codec.LZ4HC, b2.Codec.ZLIB, b2.Codec.ZSTD]
FILTERS = [[], [b2.Filter.SHUFFLE], [b2.Filter.BITSHUFFLE], [b2.Filter.SHUFFLE, b2.Filter.BYTEDELTA]]


def params(codec=b2.Codec.ZSTD, filters=(), **more):
    metas = [4 if f is b2.Filter.BYTEDELTA else 0 for f in filters]
    return {"codec": codec, "filters": list(filters), "filters_meta": metas, "typesize": 4, **more}


def for_theirs(given):
    out = dict(given, nthreads=1)
    out["codec"] = blosc2.Codec(given["codec"].value)
    out["filters"] = [blosc2.Filter(f.value) for f in given["filters"]]
    return out


# ---- round trips, bytes ----


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("blocks", [MIXED, MANY, [b"z"]], ids=["mixed", "many", "one"])
def test_exchange_with_the_reference(codec, filters, blocks):
    given = params(codec, filters)
    ours = b2.vlcompress(blocks, **given)
    assert b2.vldecompress(ours) == blocks == theirs.vldecompress(ours)
    assert b2.decompress2(ours) == b"".join(blocks)
    if codec is not b2.Codec.ZSTD:  # which the specification leaves to a library
        assert spec.decode(ours) == b"".join(blocks)
    for i in (0, len(blocks) // 2, len(blocks) - 1):
        assert b2.vldecompress_block(ours, i) == blocks[i] == theirs.vldecompress_block(ours, i)
    other = theirs.vlcompress(blocks, **for_theirs(given))
    assert b2.vldecompress(other) == blocks
    assert other[:12] == ours[:12] and other[16:32] == ours[16:32]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("nblocks", [7, 8, 50, 300])
def test_dictionaries(codec, nblocks):
    blocks = MANY[:nblocks]
    with_dict = theirs.vlcompress(blocks, **for_theirs(params(codec, use_dict=True)))
    assert b2.vldecompress(with_dict) == blocks  # also for codecs that have none
    assert b2.vldecompress_block(with_dict, 3) == blocks[3]
    if codec in (b2.Codec.BLOSCLZ, b2.Codec.ZLIB):
        with pytest.raises(b2.ParameterError, match="dictionary"):
            b2.vlcompress(blocks, **params(codec, use_dict=True))
        return
    ours = b2.vlcompress(blocks, **params(codec, use_dict=True))
    assert b2.vldecompress(ours) == blocks == theirs.vldecompress(ours)
    assert bool(ours[31] & 1) == bool(with_dict[31] & 1)
    if nblocks == 300:
        assert ours[31] & 1 and len(ours) < len(b2.vlcompress(blocks, **params(codec)))


def test_a_dictionary_that_leaves_no_room_is_dropped():
    rng = np.random.default_rng(5)
    blocks = [rng.bytes(700) for _ in range(100)]
    chunk = b2.vlcompress(blocks, **params(use_dict=True))
    assert b2.vldecompress(chunk) == blocks == theirs.vldecompress(chunk)
    assert len(chunk) <= 32 + 100 * 708


@pytest.mark.parametrize("nthreads", [1, 4])
def test_threads_do_not_change_the_bytes(nthreads):
    for blocks in (LARGE, MANY * 20):
        chunk = b2.vlcompress(blocks, nthreads=nthreads)
        assert chunk == b2.vlcompress(blocks, nthreads=1)
        assert b2.vldecompress(chunk, nthreads=nthreads) == blocks
        assert theirs.vldecompress(chunk) == blocks


def test_level_0_stores():
    chunk = b2.vlcompress(MIXED, clevel=0, filters=[], filters_meta=[])
    assert len(chunk) == 32 + sum(len(block) + 8 for block in MIXED)
    assert b2.vldecompress(chunk) == MIXED == theirs.vldecompress(chunk)


def test_buffers_of_any_kind():
    array = np.arange(100, dtype="<i4")
    blocks = [array, bytearray(b"abc"), memoryview(b"defg"), array[10:20]]
    expected = [array.tobytes(), b"abc", b"defg", array[10:20].tobytes()]
    assert b2.vldecompress(b2.vlcompress(blocks)) == expected
    assert b2.vldecompress(b2.vlcompress(iter(blocks))) == expected


def test_parameters_as_compress2():
    assert b2.vlcompress(MIXED, cparams=b2.CParams(clevel=1)) == b2.vlcompress(MIXED, clevel=1)
    with pytest.raises(AttributeError):
        b2.vlcompress(MIXED, cparams=b2.CParams(), clevel=1)
    with pytest.raises(TypeError):
        b2.vlcompress(MIXED, clevell=1)
    with pytest.raises(b2.UnknownCodecError):
        b2.vlcompress(MIXED, codec=99)
    assert b2.vlcompress(MIXED, typesize=300)[3] == 1
    assert b2.vlcompress(MIXED, splitmode=b2.SplitMode.ALWAYS_SPLIT, typesize=4)[2] & 0x10


def test_what_is_refused():
    for blocks in ([], [b""], [b"a", b"", b"c"]):
        with pytest.raises(ValueError):
            b2.vlcompress(blocks)
        with pytest.raises(ValueError):
            theirs.vlcompress(blocks)
    with pytest.raises(TypeError, match="block 1"):
        b2.vlcompress([b"a", "text"])
    with pytest.raises(b2.ParameterError, match="delta"):
        b2.vlcompress(MIXED, filters=[b2.Filter.DELTA], filters_meta=[0])
    for name in (b2.Filter.NDCELL, b2.Filter.NDMEAN):  # which need the shape of blocks
        with pytest.raises(b2.ParameterError, match="blocks of arrays"):
            b2.vlcompress(MIXED, typesize=8, filters=[name], filters_meta=[4])
    with pytest.raises(b2.ParameterError, match="two dimensions"):
        b2.vlcompress(MIXED, typesize=1, codec=b2.Codec.NDLZ, codec_meta=4, filters=[])
    plain = b2.compress2(bytes(range(200)))
    for call in (b2.vldecompress, lambda chunk: b2.vldecompress_block(chunk, 0)):
        with pytest.raises(b2.FormatError, match="variable-size"):
            call(plain)
        with pytest.raises(b2.FormatError):
            call(b"")
    chunk = b2.vlcompress(MIXED)
    for number in (-1, len(MIXED), 1 << 40):
        with pytest.raises(b2.ChunkIndexError):
            b2.vldecompress_block(chunk, number)


# ---- frames ----


@pytest.fixture(params=["memory", "file", "directory"])
def new(request, tmp_path):
    def make_schunk(**kwargs):
        kwargs.setdefault("cparams", {"typesize": 1, "nthreads": 4})
        if request.param == "memory":
            return b2.SChunk(**kwargs)
        return b2.SChunk(urlpath=tmp_path / "x.b2", contiguous=request.param == "file", mode="w", **kwargs)

    return make_schunk


def test_super_chunks(new):
    batches = [MIXED, MANY, [b"z"], LARGE]
    with new() as s:
        for i, batch in enumerate(batches):
            assert s.append_vlblocks(batch) == i + 1
        check(s, batches)
        frame = s.to_cframe()
        assert frame[0x19] == 0xD3
        if s.urlpath:
            s.flush()
            check(b2.open(s.urlpath), batches)
    check(b2.schunk_from_cframe(frame), batches)
    s = blosc2.schunk_from_cframe(frame)
    assert [[s.get_vlblock(n, i) for i in range(len(batch))] for n, batch in enumerate(batches)] == batches


def test_as_many_reads_as_blocks(tmp_path):
    """The table of a chunk is read once; also of one that others follow."""
    blocks = [b"%d" % i for i in range(60_000)]
    with b2.SChunk(urlpath=tmp_path / "x.b2frame", mode="w") as s:
        for k in range(3):
            assert s.append_vlblocks([*blocks, b"the last of %d" % k]) == k + 1
    with b2.open(tmp_path / "x.b2frame") as s:
        for k in range(3):
            assert [s.get_vlblock(k, i) for i in range(len(blocks))] == blocks
        for k in range(3):
            assert s.get_vlblock(k, len(blocks)) == b"the last of %d" % k
            with pytest.raises(b2.ChunkIndexError):
                s.get_vlblock(k, len(blocks) + 1)
            assert s.get_vlblock(k, 0) == b"0"


@pytest.mark.parametrize("checksums", [True, False])
def test_reads_before_and_after_compact(tmp_path, checksums):
    """The chunks are somewhere else then."""
    rng = np.random.default_rng(0)
    batches = [[rng.bytes(50_000) for _ in range(5)] for _ in range(3)]
    path = tmp_path / "x.b2frame"
    with b2.SChunk(urlpath=path, mode="w", cparams={"clevel": 0}, checksums=checksums) as s:
        for batch in batches:
            s.append_vlblocks(batch)
    with b2.open(path, "a", checksums=checksums) as s:
        s.delete_chunk(0)
        assert s.get_vlblock(0, 0) == batches[1][0]
        s.compact()
        assert [s.get_vlblock(0, i) for i in range(5)] == batches[1]


@pytest.mark.parametrize("size", [5_000, 50_000])
def test_chunks_that_others_replace_in_place(tmp_path, size):
    """Nothing but their bytes tells of it."""
    rng = np.random.default_rng(0)
    old, new = ([rng.bytes(size) for _ in range(8)] for _ in range(2))
    other = [rng.bytes(size + (100 if i % 2 else -100)) for i in range(8)]  # as many bytes in all

    def chunk_of(blocks):
        with b2.SChunk(cparams={"clevel": 0}) as s:
            s.append_vlblocks(blocks)
            return s.get_chunk(0)

    assert len(chunk_of(other)) == len(chunk_of(new)) == len(chunk_of(old))
    path = str(tmp_path / "x.b2frame")
    writer = blosc2.SChunk(urlpath=path, mode="w", contiguous=True, chunksize=-1)
    writer.append_chunk(chunk_of(old))
    writer.append_chunk(chunk_of(old))
    del writer
    with b2.open(path) as s:
        assert s.get_vlblock(0, 0) == old[0]
        for now in (new, other):
            blosc2.open(path, mode="a").update_chunk(0, chunk_of(now))
            assert s.get_vlblocks(0) == now and [s.get_vlblock(0, i) for i in range(len(now))] == now


def check(s, batches):
    data = b"".join(b"".join(batch) for batch in batches)
    assert s.nchunks == len(batches) and s.nbytes == len(data)
    assert [s.get_vlblocks(n) for n in range(s.nchunks)] == batches
    assert s.get_vlblock(1, 17) == batches[1][17]
    assert s.get_vlblock(s.nchunks - 1, 0) == batches[-1][0]
    assert s[:] == data and s[5:40_000] == data[5:40_000]
    assert b2.vldecompress(s.get_chunk(0)) == batches[0]


def test_frames_of_the_reference(tmp_path):
    path = tmp_path / "x.b2frame"
    s = blosc2.SChunk(cparams={"typesize": 1, "nthreads": 1})  # to a file it would append no larger chunk
    for batch in (MIXED, MANY, LARGE):
        s.append_chunk(theirs.vlcompress(batch, use_dict=batch is MANY, nthreads=1, typesize=1))
    path.write_bytes(s.to_cframe())
    with b2.open(path, mode="a") as s:
        check(s, [MIXED, MANY, LARGE])
        s.append_vlblocks([b"one more", b"and another"])
        s.update_chunk(0, b2.vlcompress([b"first"]))
        s.insert_chunk(1, b2.vlcompress(MANY[:20], use_dict=True))
        s.delete_chunk(3)
    s = blosc2.open(str(path), mode="r")
    assert s.nchunks == 4 and s.get_vlblock(0, 0) == b"first" and s.get_vlblock(1, 19) == MANY[19]
    assert s.get_vlblock(2, 299) == MANY[299] and s.get_vlblock(3, 1) == b"and another"


def test_batches_of_the_reference_are_read(tmp_path):
    path = tmp_path / "x.b2b"
    batch = blosc2.BatchArray(urlpath=str(path), mode="w", items_per_block=3)
    batch.append([1, "two", {"x": 3}, 4, 5, 6, 7])
    batch.append(["a"])
    del batch
    with b2.open(path) as s:
        assert s.nchunks == 2 and len(s.get_vlblocks(0)) == 3 and len(s.get_vlblocks(1)) == 1
        assert s.get_vlblock(0, 2) == s.get_vlblocks(0)[2]
        assert s.verify().ok if hasattr(s, "verify") else b2.verify(path).ok


def test_blocks_of_one_size_in_all():
    s = b2.SChunk(chunksize=6, cparams={"typesize": 1})
    s.append_vlblocks([b"ab", b"cdef"])
    s.append_vlblocks([b"abc", b"def"])
    assert s.to_cframe()[0x19] == 0x93 and s.chunksize == 6
    assert s.get_vlblocks(1) == [b"abc", b"def"]


def test_wrong_numbers_and_kinds(new):
    with new() as s:
        s.append_vlblocks(MIXED)
        s.append_chunk(b2.compress2(bytes(range(100))))
        for n, i in ((0, len(MIXED)), (0, -1), (2, 0), (-1, 0)):
            with pytest.raises(b2.ChunkIndexError):
                s.get_vlblock(n, i)
        with pytest.raises(b2.ChunkIndexError):
            s.get_vlblocks(2)
        for call in (lambda: s.get_vlblock(1, 0), lambda: s.get_vlblocks(1)):
            with pytest.raises(b2.FormatError, match="chunk 1"):
                call()
        with pytest.raises(ValueError):
            s.append_vlblocks([b"a", b""])
        with pytest.raises(b2.FormatError):
            s[0:3] = b"abc"  # only wholly
        assert s.nchunks == 2


def test_appends_are_edits(tmp_path):
    path = tmp_path / "x.b2frame"
    with b2.SChunk(urlpath=path, cparams={"typesize": 1}) as s:
        s.append_vlblocks(MIXED)
        with pytest.raises(KeyError), s.transaction():
            s.append_vlblocks(MANY)
            assert s.get_vlblock(1, 5) == MANY[5]
            raise KeyError
        assert s.nchunks == 1
    with b2.open(path) as s:
        with pytest.raises(b2.ReadOnlyError):
            s.append_vlblocks(MIXED)
        assert s.get_vlblocks(0) == MIXED
    with b2.open(path, mode="a", locking=True) as s:
        assert s.append_vlblocks([b"q"]) == 2


def test_with_pre_and_postfilters():
    s = b2.SChunk(chunksize=100, cparams={"typesize": 2})
    blocks = [np.arange(n, dtype="<i2") for n in (5, 100, 1)]
    seen = []

    @s.prefilter("<i2")
    def plus(input, output, offset):
        seen.append((input.size, offset))
        output[:] = input + 1

    s.append_vlblocks(blocks)
    s.append_vlblocks(blocks)
    assert seen == [(5, 0), (100, 5), (1, 105), (5, 106), (100, 111), (1, 211)]
    assert s.get_vlblocks(1) == [(block + 1).tobytes() for block in blocks]

    @s.postfilter("<i2")
    def position(input, output, offset):
        output[:] = input + offset

    assert s.get_vlblock(1, 2) == np.array([1 + 211], "<i2").tobytes()
    assert np.frombuffer(b"".join(s.get_vlblocks(0)), "<i2")[5] == 1 + 5


def test_a_user_defined_codec():
    def encode(input, output, meta, schunk):
        if (input != input[0]).any():
            return 0
        output[0] = input[0]
        return 1

    def decode(input, output, meta, schunk):
        output[:] = input[0]
        return output.size

    b2.register_codec("same", 219, encode, decode)
    blocks = [b"a" * 10, b"abc", bytes(1000), b"z"]
    chunk = b2.vlcompress(blocks, **params(nthreads=4) | {"codec": 219})
    assert b2.vldecompress(chunk) == blocks and len(chunk) == 32 + 16 + 5 + 7 + 5 + 5


def test_readers_on_many_threads(tmp_path):
    path = tmp_path / "x.b2frame"
    with b2.SChunk(urlpath=path, cparams={"typesize": 1}) as s:
        s.append_vlblocks(MANY)
    failures = []
    with b2.open(path) as s:

        def read(first):
            for i in range(first, 300, 3):
                if s.get_vlblock(0, i) != MANY[i]:
                    failures.append(i)

        threads = [threading.Thread(target=read, args=(i,)) for i in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not failures


# ---- damage ----


@pytest.mark.parametrize("use_dict", [False, True])
def test_every_change_of_a_byte_is_found_or_harmless(use_dict):
    blocks = MANY[:20] if use_dict else MIXED[:5]
    size = sum(map(len, blocks))
    chunk = b2.vlcompress(blocks * (3 if use_dict else 1), codec="lz4", use_dict=use_dict)
    assert bool(chunk[31] & 1) == use_dict
    for at in range(len(chunk)):
        for value in {chunk[at] ^ 1, chunk[at] ^ 0x80, 0xFF, 0}:
            changed = chunk[:at] + bytes([value]) + chunk[at + 1 :]
            try:
                out = b2.vldecompress(changed)
                assert sum(map(len, out)) <= 300 * size
                assert b2.vldecompress_block(changed, len(out) - 1) == out[-1]
            except (b2.Blosc2Error, MemoryError):
                pass


def test_every_truncation_is_found():
    chunk = b2.vlcompress(MIXED)
    for n in range(len(chunk)):
        with pytest.raises(b2.FormatError):
            b2.vldecompress(chunk[:n])
        with pytest.raises(b2.FormatError):
            b2.vldecompress_block(chunk[:n], 0)


def test_damage_is_located(tmp_path):
    path = tmp_path / "x.b2frame"
    with b2.SChunk(urlpath=path, cparams={"typesize": 1, "codec": "zlib"}, checksums=False) as s:
        s.append_vlblocks([b"first"])
        s.append_vlblocks([b"abc" * 100, b"def" * 100])
        chunk = s.get_chunk(1)
    raw = bytearray(path.read_bytes())
    start = struct.unpack_from("<i", chunk, 36)[0]
    at = raw.index(chunk) + start + 4
    raw[at : at + 4] = b"\xff" * 4
    path.write_bytes(raw)
    with b2.open(path) as s:
        assert s.get_vlblock(1, 0) == b"abc" * 100
        with pytest.raises(b2.CorruptError) as info:
            s.get_vlblock(1, 1)
        assert (info.value.chunk, info.value.block) == (1, 1)
