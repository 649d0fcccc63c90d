# SPDX-License-Identifier: BSD-3-Clause
"""Chunks given as bytes: worked examples of the format, hand-made ones and damaged ones."""

from __future__ import annotations

import struct
import zlib

import blosc2
import numpy as np
import pytest
import spec_chunk as spec
from inputs import build_chunk, make, patch, raw_stream

import blosc2c as b2

VL_EXAMPLE = [b"a" * 10, b"hello world" * 3 + b"hello wo", bytes(100), make("random", 256), b"x"]


def h(*parts: str) -> bytes:
    return bytes.fromhex("".join(parts).replace("|", " "))


def chunk_getitem(chunk: bytes, first: int, stop: int) -> bytes:
    s = b2.SChunk(chunksize=max(spec.header(chunk).nbytes, 1), cparams={"typesize": 1})
    s.append_chunk(chunk)
    return s[first:stop]


# ---- worked examples: bytes and what they stand for ----

BLOSCLZ_4000 = h(
    "05 01 05 04  a0 0f 00 00  00 04 00 00  8b 00 00 00",
    "00 00 00 00 00 01  00 00  00 00 00 00 00 00  00 00",
    "30 00 00 00  43 00 00 00  56 00 00 00  69 00 00 00",
    "00 00 00 00  fd ff ff ff 01  fe ff ff ff 01  ff ff ff ff 01" * 3,
    "1e 00 00 00",
    "23 00 00 00 00 e0 da 03 01 00 03 e0 dd 00 01 03 02 e0 dd 00 01 02 01 e0 db 00 02 01 01 01",
)
LZ4_320 = (
    h(
        "05 01 25 02  40 01 00 00  00 01 00 00  e4 00 00 00",
        "01 00 00 00 00 00  01 00  00 00 00 00 00 00  00 00",
        "28 00 00 00  b0 00 00 00  80 00 00 00",
    )
    + bytes(range(128))
    + h("00 00 00 00  30 00 00 00")
    # 32 literals 80…9f, then zeros: literals 15 + 18 = 33, match of 26 at distance 1, five literals
    + h("ff 12")
    + bytes(range(0x80, 0xA0))
    + b"\0"
    + h("01 00 07 50 00 00 00 00 00")
)
VALUE_300 = h("05 01 05 01 b8 0b 00 00 b8 0b 00 00 4c 01 00 00", "00" * 15, "30") + make("random", 300)
ZEROS_1000 = h("05 01 05 04 e8 03 00 00 e8 03 00 00 20 00 00 00", "00" * 15, "10")
NAN_1000 = h("05 01 05 04 e8 03 00 00 e8 03 00 00 20 00 00 00", "00" * 15, "20")
VALUE_1000 = h("05 01 05 04 e8 03 00 00 e8 03 00 00 24 00 00 00", "00" * 15, "30 44 33 22 11")

EXAMPLES = {
    "blosclz": (BLOSCLZ_4000, struct.pack("<I", 0x01020300) * 1000),
    "zeros": (ZEROS_1000, bytes(1000)),
    "nan f32": (NAN_1000, h("00 00 c0 7f") * 250),
    "nan f64": (patch(NAN_1000, 3, b"\x08"), h("00 00 00 00 00 00 f8 7f") * 125),
    "value": (VALUE_1000, h("44 33 22 11") * 250),
    "value of 300 bytes": (VALUE_300, make("random", 300) * 10),
    "uninit": (patch(ZEROS_1000, 31, b"\x40"), bytes(1000)),
    "zeros found by compressing": (
        h("05 01 05 04  a0 0f 00 00  a0 0f 00 00  20 00 00 00", "00 00 00 00 00 01", "00" * 9, "10"),
        bytes(4000),
    ),
    "empty": (h("05 01 07 04 00000000 01000000 20000000 000000000001", "00" * 10), b""),
    "hello": (h("05 01 07 01 05000000 05000000 25000000 000000000001", "00" * 10) + b"hello", b"hello"),
}


def lz4_example() -> tuple[bytes, bytes]:
    """The LZ4 example with its short block as a stream that we make by hand."""
    data = np.arange(160, dtype="<u2").tobytes()
    body = LZ4_320[: LZ4_320.index(h("30 00 00 00 ff"))]
    # short block: 32 elements 0x80…0x9f shuffled: 32 low bytes, 32 zero bytes
    stream = b"\xff\x12" + bytes(range(0x80, 0xA0)) + b"\0" + h("01 00 07 50 00 00 00 00 00")
    chunk = body + struct.pack("<i", len(stream)) + stream
    return patch(chunk, 12, struct.pack("<i", len(chunk))), data


EXAMPLES["lz4, raw streams"] = lz4_example()


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example(name):
    chunk, data = EXAMPLES[name]
    assert spec.decode(chunk) == data
    assert b2.decompress2(chunk) == data
    assert b2.decompress(chunk) == data
    header = spec.header(chunk)
    assert b2.get_cbuffer_sizes(chunk) == (len(data), len(chunk), header.blocksize)


@pytest.mark.parametrize("name", [n for n in EXAMPLES if n != "empty"])
def test_worked_example_in_parts(name):
    chunk, data = EXAMPLES[name]
    for first, stop in [(0, 1), (1, 4), (len(data) - 3, len(data)), (len(data) // 3, len(data) // 2)]:
        assert chunk_getitem(chunk, first, stop) == data[first:stop]


def test_bytes_after_the_chunk_are_ignored():
    chunk, data = EXAMPLES["blosclz"]
    assert b2.decompress2(chunk + b"garbage") == data


# ---- variable-size blocks ----


def vl_chunk(data: list[bytes], filters=(), typesize=1, codec_of=zlib.compress, **kw) -> bytes:
    blocks = []
    for d in data:
        packed = codec_of(d)
        blocks.append(struct.pack("<i", len(d)) + (packed if len(packed) < len(d) else d))
    return build_chunk(
        sum(map(len, data)), blocks, blocksize=len(blocks), version=6, flags=0x75, flags2=1,
        filters=filters, typesize=typesize, codec=4, **kw,
    )  # fmt: skip


def test_variable_size_blocks():
    assert b2.decompress2(vl_chunk(VL_EXAMPLE)) == b"".join(VL_EXAMPLE)


def test_variable_size_blocks_lz4_stream():
    zeros = h("1f 00 01 00 4b 50 00 00 00 00 00")  # from the format: LZ4 of 100 zeros
    blocks = [raw_stream(b"a" * 10), struct.pack("<i", 100) + zeros, raw_stream(b"x")]
    chunk = build_chunk(111, blocks, blocksize=3, version=6, flags=0x35, flags2=1, codec=1)
    assert b2.decompress2(chunk) == b"a" * 10 + bytes(100) + b"x"


def test_variable_size_blocks_stand_alone_under_delta():
    # The reference XORs later blocks with block 0; each block is its own reference.
    plain = [np.array([10, 13, 13, 1], "<u2"), np.array([7, 7, 9], "<u2")]
    stored = [np.concatenate([p[:1], p[1:] ^ p[:-1]]).tobytes() for p in plain]
    chunk = vl_chunk(stored, filters=(3,), typesize=2)
    assert b2.decompress2(chunk) == b"".join(p.tobytes() for p in plain)


def test_variable_size_blocks_have_no_items():
    chunk = vl_chunk(VL_EXAMPLE)
    s = b2.SChunk(chunksize=len(b"".join(VL_EXAMPLE)), cparams={"typesize": 1})
    s.append_chunk(chunk)
    assert s.decompress_chunk(0) == b"".join(VL_EXAMPLE)


# ---- headers that readers must tolerate ----


def test_version_alone_refuses_nothing():
    chunk, data = EXAMPLES["blosclz"]
    assert b2.decompress2(patch(chunk, 0, b"\xc8")) == data
    assert b2.decompress2(patch(chunk, 0, b"\x04")) == data


def test_newer_version_with_unknown_flags_is_refused():
    chunk = patch(patch(EXAMPLES["blosclz"][0], 0, b"\xc8"), 30, b"\x02")
    with pytest.raises(b2.FormatError):
        b2.decompress2(chunk)


def test_alpha_chunks_ignore_the_last_filter_slot():
    data = bytes(range(64))
    chunk = build_chunk(
        64,
        [raw_stream(data)],
        blocksize=64,
        typesize=4,
        version=3,
        filters=(0,) * 5 + (99,),
        metas=(0,) * 5 + (7,),
    )
    assert b2.decompress2(chunk) == data


def test_blocks_in_any_order():
    data = make("random", 1000)
    blocks = [raw_stream(data[i : i + 256]) for i in range(0, 1000, 256)]
    chunk = build_chunk(1000, blocks, blocksize=256, order=[2, 0, 3, 1])
    assert spec.decode(chunk) == data
    assert b2.decompress2(chunk) == data
    assert chunk_getitem(chunk, 250, 600) == data[250:600]


@pytest.mark.parametrize("nbytes, blocksize, typesize", [(3000, 1000, 3), (1002, 1024, 4), (2000, 70, 16)])
def test_unrounded_block_size(nbytes, blocksize, typesize):
    """REFBUG: the reference records the block size it was asked for and cuts at the rounded one."""
    data = make("text", nbytes)
    cut = blocksize // typesize * typesize
    if cut > nbytes:
        cut = nbytes // typesize * typesize
    blocks = [raw_stream(data[i : i + cut]) for i in range(0, nbytes, cut)]
    chunk = build_chunk(nbytes, blocks, blocksize=blocksize, typesize=typesize)
    assert b2.decompress2(chunk) == data


def test_unrounded_block_size_as_the_reference_writes_it():
    data = make("text", 3000)
    for blocksize, typesize in [(1000, 3), (512, 5), (1000, 7)]:
        chunk = blosc2.compress2(
            data, typesize=typesize, blocksize=blocksize, codec=blosc2.Codec.ZLIB, nthreads=1,
            filters=[blosc2.Filter.SHUFFLE],
        )  # fmt: skip
        assert spec.header(chunk).blocksize % typesize != 0
        assert b2.decompress2(chunk) == data


def test_memcpy_chunk_ignores_dictionary_flag_and_filters():
    data = make("random", 100)
    head = struct.pack("<4B3i", 5, 1, 0x97, 4, 100, 100, 132)
    chunk = head + bytes([1, 2, 3, 0, 0, 0, 5, 0]) + bytes(7) + b"\x01" + data
    assert b2.decompress2(chunk) == data
    assert chunk_getitem(chunk, 10, 90) == data[10:90]


def test_reference_memcpy_fallback_with_dictionary_flag():
    """REFBUG: the reference leaves the dictionary flag set on incompressible data."""
    data = make("random", 20000)
    chunk = blosc2.compress2(data, use_dict=True, codec=blosc2.Codec.ZSTD, typesize=4, nthreads=1)
    assert b2.decompress2(chunk) == data


def test_instrumented_chunk_gives_its_records():
    record = struct.pack("<3f4B", 2.0, 1.0, 1.0, 0, 0, 0, 0)
    blocks = [raw_stream(record) for _ in range(4)]
    chunk = build_chunk(64, blocks, blocksize=16, typesize=1, filters=(0, 0, 0, 0, 0, 1), flags3=0x80)
    assert b2.decompress2(chunk) == record * 4


# ---- dictionaries ----


# An LZ4 stream of one match (distance 40 000 or so) into an external prefix, then five literals.
def lz4_match_into_dictionary(distance: int, length: int) -> bytes:
    extra = length - 4 - 15
    assert 0 <= extra < 255
    return b"\x0f" + struct.pack("<H", distance) + bytes([extra]) + b"\x50" + b"hello"


@pytest.mark.parametrize("size", [300, 32768, 40000, 131072])
def test_dictionaries_up_to_128_kib(size):
    """Old writers made dictionaries up to 128 KiB, which the reference no longer reads."""
    words = make("random", size)
    distance = min(size, 60000)
    stream = lz4_match_into_dictionary(distance, 200)
    want = (words[size - distance :][:200]) + b"hello"
    assert spec.lz4(stream, words) == want
    block = raw_stream(stream)
    chunk = build_chunk(410, [block, block], blocksize=205, flags=0x35, codec=1, dictionary=words)
    assert b2.decompress2(chunk) == want * 2


def test_dictionary_larger_than_128_kib_is_refused():
    chunk = build_chunk(
        100, [raw_stream(bytes(100))], blocksize=100, flags=0x35, codec=1, dictionary=bytes(131073)
    )
    with pytest.raises(b2.CorruptError) as info:
        b2.decompress2(chunk)
    assert info.value.offset == 36


# ---- Blosc1 ----


def blosc1(data: bytes, typesize: int, blocksize: int, flags: int, nstreams: int, version: int = 2) -> bytes:
    blocks = []
    for i in range(0, len(data), blocksize):
        part = data[i : i + blocksize]
        n = len(part) // nstreams if len(part) == blocksize else len(part)
        blocks.append(b"".join(raw_stream(part[k : k + n]) for k in range(0, len(part), n)))
    return build_chunk(
        len(data), blocks, blocksize=blocksize, typesize=typesize, flags=flags, version=version
    )


@pytest.mark.parametrize(
    "typesize, blocksize, nstreams",
    [(4, 512, 4), (4, 508, 1), (16, 2048, 16), (17, 17 * 128, 1), (2, 256, 2), (2, 254, 1), (1, 64, 1)],
)
@pytest.mark.parametrize("version", [1, 2])
def test_blosc1_implicit_split_rule(typesize, blocksize, nstreams, version):
    """Before 1.11 no flag said that a block was split: type size and block size did."""
    data = make("random", blocksize * 2 + blocksize // 2)
    chunk = blosc1(data, typesize, blocksize, 0, nstreams, version)
    assert b2.decompress2(chunk) == data
    assert chunk_getitem(chunk, blocksize - 3, blocksize + 9) == data[blocksize - 3 : blocksize + 9]


@pytest.mark.parametrize("typesize, blocksize", [(32, 32 * 20), (4, 128)])
def test_blosc1_always_split(typesize, blocksize):
    """Written by request since 1.11; Blosc1's own rule would not split these."""
    data = make("random", blocksize * 2)
    assert b2.decompress2(blosc1(data, typesize, blocksize, 0, typesize)) == data


def test_16_byte_header_of_version_5_obeys_the_flag():
    data = make("random", 640)
    assert b2.decompress2(blosc1(data, 4, 128, 0, 4, version=5)) == data


def test_blosc1_filters():
    data = np.arange(256, dtype="<u4").tobytes()
    stored = np.frombuffer(data, np.uint8).reshape(-1, 4).T.tobytes()
    assert b2.decompress2(blosc1(stored, 4, 1024, 0x11, 1)) == data
    bits = np.unpackbits(np.frombuffer(data, np.uint8).reshape(256, 4), axis=1, bitorder="little")
    stored = np.packbits(bits.T, axis=1, bitorder="little").tobytes()
    assert b2.decompress2(blosc1(stored, 4, 1024, 0x14, 1)) == data


@pytest.mark.parametrize("nitems, tail", [(16, 3), (15, 0), (17, 2)])
def test_blosc1_bitshuffle_of_odd_lengths(nitems, tail):
    """A number of items that is no multiple of 8 was stored as it came."""
    data = make("random", nitems * 4 + tail)
    stored = data
    if nitems % 8 == 0:
        bits = np.unpackbits(np.frombuffer(data[:64], np.uint8).reshape(16, 4), axis=1, bitorder="little")
        stored = np.packbits(bits.T, axis=1, bitorder="little").tobytes() + data[64:]
    assert b2.decompress2(blosc1(stored, 4, len(data), 0x14, 1)) == data


def test_blosc1_memcpy_and_empty():
    data = make("random", 100)
    assert b2.decompress2(struct.pack("<4B3i", 2, 1, 0x02, 4, 100, 100, 116) + data) == data
    assert b2.decompress2(struct.pack("<4B3i", 2, 1, 0x02, 4, 0, 1, 16)) == b""


def test_blosc1_has_no_runs():
    chunk = build_chunk(100, [struct.pack("<iB", -3, 1)], blocksize=100, flags=0x10, version=2)
    with pytest.raises(b2.CorruptError):
        b2.decompress2(chunk)


def test_blosc1_snappy_is_named():
    chunk = build_chunk(100, [raw_stream(b"\0" * 50)], blocksize=100, flags=0x50, version=2)
    with pytest.raises(b2.UnknownCodecError):
        b2.decompress2(chunk)


@pytest.mark.parametrize("name", ["1.14.0-zstd", "1.7.0-blosclz", "1.7.0-lz4"])
def test_blosc1_samples(samples, name):
    chunk = (samples / "blosc1" / f"compat-blosc-{name}.cdata").read_bytes()
    want = np.arange(1_000_000, dtype="<i4").tobytes()
    assert b2.decompress2(chunk) == want
    assert chunk_getitem(chunk, 123456, 654321) == want[123456:654321]


# ---- delta ----


def test_delta_of_the_format():
    blocks = [h("10 00 03 00 00 00 13 01"), h("01 00 00 00 13 00 01 00")]
    chunk = build_chunk(16, [raw_stream(b) for b in blocks], blocksize=8, typesize=2, filters=(3,))
    want = h("10 00 13 00 13 00 00 01 | 11 00 13 00 00 00 01 01")
    assert b2.decompress2(chunk) == want
    # REFBUG: the reference gives wrong data for a part of a delta chunk beyond block 0.
    assert chunk_getitem(chunk, 9, 15) == want[9:15]


@pytest.mark.parametrize("typesize, tail", [(2, 1), (4, 3), (8, 5), (16, 9), (24, 1)])
def test_delta_tails_are_verbatim(typesize, tail):
    w = spec.delta_unit(typesize)
    blocksize = typesize * 8
    data = make("random", blocksize + blocksize // 2 // w * w + tail % w)
    first = np.frombuffer(data[:blocksize], f"<u{w}")
    rest = data[blocksize:]
    n = len(rest) // w * w
    stored = [
        np.concatenate([first[:1], first[1:] ^ first[:-1]]).tobytes(),
        (np.frombuffer(rest[:n], f"<u{w}") ^ first[: n // w]).tobytes() + rest[n:],
    ]
    chunk = build_chunk(
        len(data), [raw_stream(s) for s in stored], blocksize=blocksize, typesize=typesize, filters=(0, 3)
    )
    assert spec.decode(chunk) == data
    assert b2.decompress2(chunk) == data


# ---- bytedelta ----


def planes_of_deltas(typesize: int, n: int) -> tuple[np.ndarray, list[bytes]]:
    """Planes of n bytes each, and streams of their differences: runs, raw, and compressed in turn."""
    noise = np.frombuffer(make("random", typesize * n), "u1").reshape(typesize, n)
    deltas = np.zeros((typesize, n), "u1")
    streams = []
    for k in range(typesize):
        kind = ("coded", "zeros", "raw", "run")[k % 4]
        if kind == "coded":
            deltas[k] = noise[k] % 3 // 2
            payload = zlib.compress(deltas[k].tobytes())
            streams.append(struct.pack("<i", len(payload)) + payload)
        elif kind == "zeros":
            streams.append(struct.pack("<i", 0))
        elif kind == "raw":
            deltas[k] = noise[k]
            streams.append(struct.pack("<i", n) + deltas[k].tobytes())
        else:
            deltas[k] = k
            streams.append(struct.pack("<i", -k) + b"\1")
    return np.add.accumulate(deltas, axis=1, dtype="u1"), streams


@pytest.mark.parametrize("typesize", [2, 3, 4, 7, 8, 16, 33])
@pytest.mark.parametrize("n", [40, 64, 1000, 4097, 70_000])
def test_bytedelta_of_streams_of_every_kind(typesize, n):
    planes, streams = planes_of_deltas(typesize, n)
    data = planes.T.tobytes()
    chunk = build_chunk(
        len(data), [b"".join(streams)], blocksize=len(data), typesize=typesize, flags=0x65,
        filters=(1, 35), metas=(0, typesize),
    )  # fmt: skip
    assert spec.decode(chunk) == data
    assert b2.decompress2(chunk) == data
    assert chunk_getitem(chunk, typesize, 30 * typesize) == data[typesize : 30 * typesize]
    assert blosc2.decompress2(chunk) == data


@pytest.mark.parametrize("metas", [(0, 2), (2, 4), (4, 0, 4), (0, 4, 4)])
def test_bytedelta_of_other_planes(metas):
    """Planes that are not those of the streams, or more filters: no short cut may be taken."""
    data = make("walk", 4096)
    filters = (1, 35, 35)[: len(metas)] if metas != (4, 0, 4) else (1, 0, 35)
    chunk = b2.compress2(data, typesize=4, filters=filters, filters_meta=metas, codec=b2.Codec.LZ4)
    assert spec.header(chunk).metas[: len(metas)] == metas
    assert spec.decode(chunk) == data
    assert b2.decompress2(chunk) == data
