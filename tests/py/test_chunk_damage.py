# SPDX-License-Identifier: BSD-3-Clause
"""Damaged chunks: each defect with its exception and place, then every small change of small chunks."""

from __future__ import annotations

import struct

import blosc2
import pytest
from inputs import build_chunk, make, patch, raw_stream
from test_chunk_bytes import EXAMPLES, NAN_1000, VALUE_1000, ZEROS_1000, blosc1, vl_chunk

import blosc2c as b2

i32 = struct.Struct("<i").pack
DATA = make("text", 1000)
PLAIN = build_chunk(1000, [raw_stream(DATA[i : i + 400]) for i in (0, 400, 800)], blocksize=400)
SPLIT = build_chunk(256, [raw_stream(DATA[:64]) * 4], blocksize=256, typesize=4, flags=0x05)
RUN = build_chunk(100, [i32(-7) + b"\x01"], blocksize=100)
VL = vl_chunk([DATA[:300], DATA[300:301], DATA[301:]])
VL_STARTS = struct.unpack_from("<3i", VL, 32)
MEMCPY = EXAMPLES["hello"][0]

# name: (bytes, exception, offset); offset None: not told
BAD = {
    "nothing": (b"", b2.TruncatedError, None),
    "15 bytes": (PLAIN[:15], b2.TruncatedError, None),
    "extended header cut": (PLAIN[:31], b2.TruncatedError, None),
    "typesize 0": (patch(PLAIN, 3, b"\0"), b2.CorruptError, 3),
    "nbytes negative": (patch(PLAIN, 4, i32(-1)), b2.CorruptError, 4),
    "blocksize 0": (patch(PLAIN, 8, i32(0)), b2.CorruptError, 8),
    "blocksize negative": (patch(PLAIN, 8, i32(-400)), b2.CorruptError, 8),
    "blocksize too large": (patch(PLAIN, 8, i32(536866817)), b2.CorruptError, 8),
    "cbytes 15": (patch(PLAIN, 12, i32(15)), b2.CorruptError, 12),
    "cbytes 31 of an extended header": (patch(PLAIN, 12, i32(31)), b2.CorruptError, 12),
    "cbytes beyond the buffer": (patch(PLAIN, 12, i32(len(PLAIN) + 1)), b2.TruncatedError, None),
    "table does not fit": (patch(PLAIN, 8, i32(1)), b2.CorruptError, 8),
    "bstart 0": (patch(PLAIN, 32, i32(0)), b2.CorruptError, 32),
    "bstart inside the table": (patch(PLAIN, 36, i32(40)), b2.CorruptError, 36),
    "bstart negative": (patch(PLAIN, 40, i32(-44)), b2.CorruptError, 40),
    "bstart at the end": (patch(PLAIN, 40, i32(len(PLAIN))), b2.CorruptError, 40),
    "two blocks of one start": (patch(PLAIN, 40, PLAIN[36:40]), b2.CorruptError, 36),
    "all blocks of one start": (patch(PLAIN, 36, PLAIN[32:36] * 2), b2.CorruptError, 32),
    "stream runs out of its block": (patch(PLAIN, 44, i32(401)), b2.CorruptError, 44),
    "stream size below -255": (patch(RUN, 36, i32(-256)), b2.CorruptError, 36),
    "run token even": (patch(RUN, 40, b"\x02"), b2.CorruptError, 40),
    "second stream runs out": (patch(SPLIT, 104, i32(1000)), b2.CorruptError, 104),
    "codec output of the wrong size": (patch(PLAIN, 44, i32(399)), b2.CorruptError, 44),
    "memcpy of another size": (patch(MEMCPY, 4, i32(6)), b2.CorruptError, 12),
    "special kind 5": (patch(ZEROS_1000, 31, b"\x50"), b2.CorruptError, 31),
    "special kind 7": (patch(ZEROS_1000, 31, b"\x70"), b2.CorruptError, 31),
    "value of no bytes": (patch(ZEROS_1000, 31, b"\x30"), b2.CorruptError, 12),
    "value that does not divide": (patch(VALUE_1000, 4, i32(1001)), b2.CorruptError, 12),
    "value longer than the data": (patch(VALUE_1000, 4, i32(3)), b2.CorruptError, 12),
    "nan of 1001 bytes": (patch(NAN_1000, 4, i32(1001)), b2.CorruptError, 4),
    "nan of type size 2": (patch(NAN_1000, 3, b"\x02"), b2.CorruptError, 3),
    "uninit of 1001 bytes": (patch(patch(ZEROS_1000, 31, b"\x40"), 4, i32(1001)), b2.CorruptError, 4),
    "variable blocks, special": (patch(VL, 31, b"\x10"), b2.CorruptError, 30),
    "variable blocks, memcpy": (patch(VL, 2, b"\x77"), b2.CorruptError, 30),
    "variable blocks, starts do not increase": (patch(VL, 36, VL[32:36]), b2.CorruptError, 32),
    "variable blocks, sum differs": (patch(VL, 4, i32(1001)), b2.CorruptError, 4),
    "variable blocks, empty block": (patch(VL, VL_STARTS[1], i32(0)), b2.CorruptError, VL_STARTS[1]),
    "lazy chunk": (patch(PLAIN, 31, b"\x08"), b2.FormatError, 31),
    "codec of a plugin": (patch(patch(patch(PLAIN, 2, b"\xd5"), 22, b"\xc8"), 44, i32(10)), b2.UnknownCodecError, 44),
    "unknown filter": (patch(PLAIN, 16, b"\x63"), b2.UnknownFilterError, None),
    "dictionary of size 0": (
        build_chunk(100, [raw_stream(bytes(100))], blocksize=100, flags=0x35, codec=1, dictionary=b""),
        b2.CorruptError,
        36,
    ),
    "dictionary runs out": (
        patch(patch(patch(PLAIN, 31, b"\x01"), 2, b"\x35"), 44, i32(2000)),
        b2.CorruptError,
        44,
    ),
    "dictionary for blosclz": (
        build_chunk(100, [raw_stream(bytes(100))], blocksize=100, dictionary=b"words"),
        b2.CorruptError,
        31,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_chunk(name):
    chunk, exception, offset = BAD[name]
    with pytest.raises(exception) as info:
        b2.decompress2(chunk)
    assert isinstance(info.value, b2.Blosc2Error)
    assert str(info.value)
    if offset is not None:
        assert info.value.offset == offset


@pytest.mark.parametrize("name", [n for n in BAD if "header" not in n and len(BAD[n][0]) >= 32])
def test_bad_chunk_is_not_read_in_parts_either(name):
    chunk, _, _ = BAD[name]
    s = b2.SChunk(chunksize=1000, cparams={"typesize": 1})

    def read() -> bytes:
        s.append_chunk(chunk)  # looks at the header only
        return s[0 : len(s)]

    with pytest.raises(b2.Blosc2Error):
        read()


def small_chunks() -> dict[str, bytes]:
    data = make("ramp", 700)
    chunks = {"plain": PLAIN, "split": SPLIT, "run": RUN, "vl": VL, "value": VALUE_1000, "nan": NAN_1000}
    chunks["memcpy"] = MEMCPY
    chunks["blosc1"] = blosc1(make("text", 600), 4, 512, 0x01, 4)
    for codec in (blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD):
        kw = {"typesize": 4, "blocksize": 256, "codec": codec, "clevel": 5, "nthreads": 1}
        chunks[codec.name] = blosc2.compress2(data, **kw, filters=[blosc2.Filter.SHUFFLE])
        chunks[codec.name + " delta"] = blosc2.compress2(data, **kw, filters=[blosc2.Filter.DELTA])
    text = make("text", 6000)
    dictionary = blosc2.compress2(
        text, codec=blosc2.Codec.LZ4, use_dict=True, typesize=1, nthreads=1, blocksize=2000
    )
    chunks["dictionary"] = dictionary
    return chunks


SMALL = small_chunks()


def read_all(chunk: bytes) -> bool:
    """Whether the chunk decodes; anything but data or a Blosc2Error is a failure of the test."""
    try:
        nbytes, _, _ = b2.get_cbuffer_sizes(chunk)
        if nbytes > 1 << 24:  # a legal header may ask for much; not what is tested here
            return False
        out = bytearray(nbytes)
        b2.decompress2(chunk, dst=out)
    except b2.Blosc2Error:
        return False
    return True


@pytest.mark.parametrize("name", SMALL)
def test_every_truncation(name):
    chunk = SMALL[name]
    assert read_all(chunk)
    for n in range(len(chunk)):
        assert not read_all(chunk[:n]), f"the first {n} bytes were accepted"


@pytest.mark.parametrize("name", SMALL)
def test_every_single_byte_change(name):
    chunk = SMALL[name]
    for at in range(len(chunk)):
        for value in {chunk[at] ^ 1, chunk[at] ^ 0x80, 0, 0xFF, (chunk[at] + 1) % 256} - {chunk[at]}:
            read_all(patch(chunk, at, bytes([value])))
    assert read_all(chunk), "the library still works"
