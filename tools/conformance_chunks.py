"""Chunks of the conformance set: codecs, filters, special ones, and all ages of the format.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import handmade as hm
import numpy as np

import blosc2c as b2

if TYPE_CHECKING:
    from make_conformance import Maker

NUMBERS = np.arange(400, dtype="<i4").tobytes()
DATA = NUMBERS + b"the quick brown fox " * 20
CODECS = ("BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD")
OWN = {"typesize": 4, "codec": b2.Codec.BLOSCLZ}


def _needs(codec: str) -> dict[str, str]:
    return {} if codec == "BLOSCLZ" else {"needs": codec.lower()}


def regular(m: Maker) -> None:
    """Codecs, splitting, dictionaries, what streams may be."""
    for codec in CODECS:
        for mode in (b2.SplitMode.NEVER_SPLIT, b2.SplitMode.ALWAYS_SPLIT):
            stored = b2.compress2(DATA, typesize=4, codec=b2.Codec[codec], blocksize=800, splitmode=mode)
            split = mode == b2.SplitMode.ALWAYS_SPLIT
            name = f"codec-{codec.lower()}" + ("-split" if split else "")
            shows = f"codec {codec}, " + ("a stream for each byte of the items" if split else "not split")
            m.chunk(name, shows, stored, DATA, **_needs(codec))
    text = b"".join(b"line %d of a text that has many of them, " % i for i in range(300))
    for codec in ("LZ4", "LZ4HC", "ZSTD"):
        stored = b2.compress2(text, typesize=1, use_dict=True, blocksize=1024, codec=b2.Codec[codec])
        assert stored[31] & 1, "no dictionary"
        m.chunk(f"dictionary-{codec.lower()}", "a dictionary for all blocks", stored, text, **_needs(codec))

    block = b"".join((bytes(200), b"\7" * 200, NUMBERS[:200], b"ab" * 100))
    streams = [hm.run(0), hm.run(7), hm.raw(NUMBERS[:200]), hm.coded(b"ab" * 100, "BLOSCLZ")]
    stored = hm.assemble([b"".join(streams)], 800, 800, flags=5)
    m.chunk("streams", "zeros, a run of one byte, raw, and coded", stored, block)
    blocks = hm.cut(DATA, 400, hm.raw, streams=4)
    stored = hm.assemble(blocks, len(DATA), 400, order=[3, 0, 4, 2, 1], flags=5)
    m.chunk("block-order", "blocks in any order", stored, DATA)
    stored = hm.assemble(hm.cut(DATA[:1001], 300, hm.raw), 1001, 300, flags=0x15, typesize=7)
    m.chunk("odd-sizes", "sizes that are no multiples of the item's", stored, DATA[:1001])
    stored = hm.assemble(hm.cut(DATA, 400, hm.raw), len(DATA), 400, flags=5, typesize=1)
    m.chunk("wide-items", "items of more than 255 bytes say 1", stored, DATA)
    text = b"the quick brown fox " * 40
    stored = hm.assemble([hm.coded(text, "BLOSCLZ")], 800, 1600, flags=0x15)
    m.chunk("large-blocksize", "blocks larger than the chunk", stored, text)


def filters(m: Maker) -> None:
    """Filters: whole blocks, a short one, and what is left at the end."""
    for name in ("NOFILTER", "SHUFFLE", "BITSHUFFLE", "DELTA", "BYTEDELTA"):
        chosen = {"filters": [b2.Filter[name]], "blocksize": 800, **OWN}
        m.chunk(f"filter-{name.lower()}", f"filter {name}", b2.compress2(DATA, **chosen), DATA)
    for typesize in (2, 8):
        chosen = {**OWN, "filters": [b2.Filter.DELTA], "blocksize": 800, "typesize": typesize}
        m.chunk(f"filter-delta-{typesize}", "delta of other items", b2.compress2(DATA, **chosen), DATA)
    chosen = {"filters": [b2.Filter.DELTA, b2.Filter.SHUFFLE], "blocksize": 800, **OWN}
    m.chunk("filters-two", "delta, then shuffle", b2.compress2(DATA, **chosen), DATA)
    chosen = {"filters": [b2.Filter.SHUFFLE, b2.Filter.BYTEDELTA], "blocksize": 800, **OWN}
    m.chunk("filters-shuffle-bytedelta", "shuffle, then bytedelta", b2.compress2(DATA, **chosen), DATA)
    chosen = {**OWN, "filters": [b2.Filter.SHUFFLE], "filters_meta": [8], "blocksize": 800, "typesize": 1}
    m.chunk("filter-shuffle-unit", "shuffle of a unit of its own", b2.compress2(DATA, **chosen), DATA)
    for name, code in (("shuffle", hm.shuffled), ("bitshuffle", hm.bitshuffled)):
        data = NUMBERS[:598] + b"\1\2\3"
        blocks = [hm.raw(code(data, 4))]
        number = [0, 0, 0, 0, 0, 1 if name == "shuffle" else 2]
        stored = hm.assemble(blocks, 601, 601, flags=0x15, filters=number)
        m.chunk(f"filter-{name}-tail", "bytes that are left at the end", stored, data)
    shuffled = hm.cut(NUMBERS, 800, lambda b: hm.raw(hm.bytedelta_34(b, 4)))
    stored = hm.assemble(shuffled, 1600, 800, flags=0x15, filters=[34], metas=[4])
    m.chunk("filter-bytedelta-34", "the first bytedelta", stored, NUMBERS)
    _trunc(m)


def _trunc(m: Maker) -> None:
    cases: tuple[tuple[Any, str, int, int], ...] = (
        (b2.Filter.TRUNC_PREC, "<f4", 10, 23 - 10),
        (b2.Filter.TRUNC_PREC, "<f4", -10, 10),
        (b2.Filter.TRUNC_PREC, "<f8", 20, 52 - 20),
        (b2.Filter.INT_TRUNC, "<i2", 12, 16 - 12),
        (b2.Filter.INT_TRUNC, "<i4", -5, 5),
        (b2.Filter.INT_TRUNC, "<i8", -20, 20),
        (b2.Filter.INT_TRUNC, "<u1", 4, 4),
    )
    for kind, code, meta, lost in cases:
        size = int(code[2])
        value = (np.arange(1, 200) // 9 * 4.678).astype("<i8" if code[1] != "f" else code).astype(code)
        kept = value.view(f"<u{size}") & np.array(2 ** (8 * size) - 2**lost, f"<u{size}")
        chosen = {**OWN, "filters": [kind, b2.Filter.SHUFFLE], "filters_meta": [meta, 0], "typesize": size}
        stored = b2.compress2(value.tobytes(), blocksize=size * 100, **chosen)
        name = f"filter-{kind.name.lower().replace('_', '-')}-{code[1:]}-{meta % 256}"
        m.chunk(name, f"{kind.name} of {code}, parameter {meta}", stored, kept.tobytes())


def stored(m: Maker) -> None:
    """Data as they are."""
    chunk = b2.compress2(DATA, clevel=0, **OWN)
    m.chunk("memcpy", "data stored as they are", chunk, DATA)
    noise = np.random.PCG64(1).random_raw(100).astype("<u8").tobytes()
    for flags in (0x27, 0x37, 0x97, 0xD7):
        chunk = hm.memcpy(noise, flags=flags, blocksize=400, filters=[1], codec=200)
        m.chunk(f"memcpy-{flags:02x}", "stored after all, whatever the codec", chunk, noise)
    chunk = hm.memcpy(noise, flags=0x97, special=1)
    m.chunk("memcpy-dictionary", "says that it has a dictionary, which it has not", chunk, noise)
    m.chunk("empty", "no data", b2.compress2(b"", **OWN), b"")
    m.chunk("memcpy-short", "a few bytes", b2.compress2(b"abc", **OWN), b"abc")


def specials(m: Maker) -> None:
    """Chunks that say what they decode to."""
    m.chunk("zeros", "zeros", hm.special(hm.ZERO, 4000), bytes(4000))
    m.chunk("zeros-odd", "zeros, half an item of them", hm.special(hm.ZERO, 4002), bytes(4002))
    m.chunk(
        "zeros-found", "zeros that were found by compressing", b2.compress2(bytes(4000), **OWN), bytes(4000)
    )
    nans = np.full(500, np.nan, "<f4").tobytes()
    m.chunk("nans-4", "NaN of 4 bytes", hm.special(hm.NAN, 2000, typesize=4), nans)
    nans = np.full(500, np.nan, "<f8").tobytes()
    m.chunk("nans-8", "NaN of 8 bytes", hm.special(hm.NAN, 4000, typesize=8), nans)
    m.chunk("value", "one value", hm.special(hm.VALUE, 4000, b"\x44\x33\x22\x11"), b"\x44\x33\x22\x11" * 1000)
    wide = bytes(range(150)) * 2
    m.chunk("value-wide", "a value of 300 bytes", hm.special(hm.VALUE, 3000, wide, typesize=1), wide * 10)
    m.chunk("uninit", "no value: zeros", hm.special(hm.UNINIT, 4000), bytes(4000))
    m.chunk("zeros-empty", "no zeros at all", hm.special(hm.ZERO, 0), b"")


# ---- ages ----


def ages(m: Maker) -> None:
    """Versions 1 to 3 of the format, and headers that are not what they seem."""
    _blosc1(m)
    _alphas(m)
    for version in (4, 200):
        chunk = hm.assemble(hm.cut(DATA, 800, hm.raw), 2000, 800, flags=0x15, version=version)
        m.chunk(f"version-{version}", f"version {version}, which says nothing", chunk, DATA)
    chunk = hm.assemble(hm.cut(DATA, 800, hm.raw), 2000, 800, flags=0x15, special=2)
    m.chunk("big-endian-flag", "a flag that readers ignore", chunk, DATA)


def _blosc1(m: Maker) -> None:
    data = NUMBERS + bytes(64) + NUMBERS[:336]  # blocks of 800 bytes, the last one short

    def add(name: str, shows: str, blocksize: int, blocks: list[bytes], **kw: Any) -> None:
        extra = _needs(kw.pop("codec", "BLOSCLZ"))
        value = kw.pop("data", data)
        chunk = hm.assemble(blocks, len(value), blocksize, **{"version": 2, **kw})
        m.chunk(f"blosc1-{name}", f"Blosc1: {shows}", chunk, value, **extra)

    for version in (1, 2):
        m.chunk(f"blosc1-memcpy-{version}", "Blosc1: data as they are", _memcpy1(data, version), data)
    m.chunk("blosc1-empty", "Blosc1: no data", _memcpy1(b"", 2), b"")
    text = b"the quick brown fox " * 100
    for codec in CODECS:
        blocks = hm.cut(text, 800, lambda b, c=codec: hm.coded(b, c))  # type: ignore[misc]
        flags = hm.FORMATS[codec] << 5 | hm.UNSPLIT
        more = {"data": text, "codec": codec, "flags": flags, "typesize": 1}
        add(codec.lower(), f"codec {codec}", 800, blocks, **more)

    def shuffle(block: bytes) -> bytes:
        return hm.shuffled(block, 4)

    blocks = hm.cut(data, 800, hm.raw, streams=4, shuffle=shuffle)
    add("split", "shuffled, a stream for each byte, the last block short", 800, blocks, flags=1)
    blocks = hm.cut(data, 800, hm.raw, shuffle=shuffle)
    add("unsplit", "shuffled, not split", 800, blocks, flags=0x11)
    blocks = hm.cut(data, 400, hm.raw, shuffle=shuffle)
    add("small-blocks", "no flag, but blocks too small for splitting", 400, blocks, flags=1)
    blocks = hm.cut(data, 400, hm.raw, streams=4, shuffle=shuffle)
    add("small-blocks-split", "blocks that are too small, split", 400, blocks, flags=1)
    wide = hm.cut(DATA, 2000, hm.raw, shuffle=lambda b: hm.shuffled(b, 20))
    add("wide", "no flag, but items too wide for splitting", 2000, wide, flags=1, data=DATA, typesize=20)

    bits = hm.cut(data, 800, hm.raw, shuffle=lambda b: hm.bitshuffled(b, 4) if len(b) % 32 == 0 else b)
    add("bitshuffle", "bitshuffled", 800, bits, flags=0x14)
    odd = NUMBERS[:404]
    add("bitshuffle-odd", "not bitshuffled, as there is no multiple of 8 items", 404, [hm.raw(odd)],
        flags=0x14, data=odd)  # fmt: skip
    tail = NUMBERS[:387]
    add("bitshuffle-tail", "bitshuffled, with bytes left", 387, [hm.raw(hm.bitshuffled(tail, 4))],
        flags=0x14, data=tail)  # fmt: skip
    snappy = hm.assemble([hm.sized(bytes(20))], 800, 800, flags=0x50, version=2)
    m.add(
        "blosc1-snappy.chunk",
        "Blosc1: Snappy",
        "chunk",
        snappy,
        error="UnknownCodecError",
        says="codec Snappy",
    )


def _memcpy1(data: bytes, version: int) -> bytes:
    return hm.memcpy(data, flags=hm.MEMCPY | hm.SHUFFLE, version=version)


def _alphas(m: Maker) -> None:
    data = NUMBERS[:800]
    block = hm.raw(hm.shuffled(data, 4))
    fields: dict[str, Any] = {"flags": 0x15, "version": 3, "metas": [0, 0, 0, 0, 0, 0xEE]}
    chunk = hm.assemble([block], 800, 800, filters=[1, 0, 0, 0, 0, 0xEE], **fields)
    m.chunk("alpha-slot", "version 3: the last filter is not initialised", chunk, data)
    words = np.frombuffer(NUMBERS, "<u4")
    first = words[:200].copy()
    first[1:] ^= words[:199]
    second = words[200:] ^ words[:200]
    blocks = [hm.raw(hm.shuffled(part.tobytes(), 4)) for part in (first, second)]
    chunk = hm.assemble(blocks, 1600, 800, flags=0x19, version=3)
    m.chunk("alpha-delta", "version 3, 16 bytes: delta and shuffle", chunk, NUMBERS)
    lizard = hm.assemble([hm.sized(bytes(20))], 800, 800, flags=0xB5, version=3)
    nameless = hm.assemble([hm.sized(bytes(20))], 800, 800, flags=0xF5)
    says = "does not say which codec"
    m.add("codec-7.chunk", "a codec without name", "chunk", nameless, error="UnknownCodecError", says=says)
    m.add("alpha-lizard.chunk", "Lizard", "chunk", lizard, error="UnknownCodecError", says="codec Lizard")
    header16 = struct.pack("<4B3i", 5, 1, 0x12, 4, 800, 800, 816) + data
    m.chunk("header-16", "version 5 with a header of 16 bytes", header16, data)
