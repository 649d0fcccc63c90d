#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seed corpora corpus/<target>/ with the reference (`pip install blosc2`) and this library.

Usage: make_corpus.py [target ...]

Files that are there already stay (crashers found by fuzzing are kept under their own names);
seeds are named after what they are and rewritten.
"""

from __future__ import annotations

import itertools
import random
import re
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import blosc2
import msgpack
import numpy as np

CORPUS = Path(__file__).parent / "corpus"
CODECS = ("BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD")
Seeds = Iterator[tuple[str, bytes]]


def text(n: int, seed: int = 0) -> bytes:
    rng = random.Random(seed)
    words = (b"chunk ", b"block ", b"stream ", b"codec\n")
    return b"".join(rng.choice(words) for _ in range(n // 5 + 1))[:n]


def ramp(n: int) -> bytes:
    return np.arange(n // 4 + 1, dtype="<i4").tobytes()[:n]


def skewed(n: int) -> bytes:
    """Bytes of which some are frequent, but that seldom repeat."""
    return np.random.default_rng(3).normal(0, 3, n).astype("i1").tobytes()


def compress(data: bytes, filters: list[int] | None = None, **kw: object) -> bytes:
    filters = [1] if filters is None else filters
    return blosc2.compress2(
        data,
        filters=[blosc2.Filter(f) for f in filters],
        filters_meta=[4 if f in (4, 35) else 0 for f in filters],
        nthreads=1,
        **{"typesize": 4, "blocksize": 512, **kw},
    )


def special(kind: int, typesize: int, nbytes: int, tail: bytes = b"") -> bytes:
    head = struct.pack("<4B3i", 5, 1, 5, typesize, nbytes, nbytes, 32 + len(tail))
    return head + bytes(15) + bytes([kind << 4]) + tail


def blosc1(data: bytes, typesize: int, blocksize: int, flags: int, nstreams: int) -> bytes:
    nblocks = -(-len(data) // blocksize)
    starts, body = [], b""
    for i in range(nblocks):
        part = data[i * blocksize : (i + 1) * blocksize]
        starts.append(16 + 4 * nblocks + len(body))
        n = len(part) // (nstreams if len(part) == blocksize else 1)
        for k in range(0, len(part), n):
            body += struct.pack("<i", n) + part[k : k + n]
    head = struct.pack("<4B3i", 2, 1, flags, typesize, len(data), blocksize, 16 + 4 * nblocks + len(body))
    return head + struct.pack(f"<{nblocks}i", *starts) + body


def vlblocks() -> bytes:
    parts = [b"a" * 10, b"hello", b"x"]
    starts, body, at = [], b"", 32 + 4 * len(parts)
    for part in parts:
        starts.append(at + len(body))
        body += struct.pack("<i", len(part)) + part
    head = struct.pack("<4B3i", 6, 1, 0x35, 1, sum(map(len, parts)), len(parts), at + len(body))
    return head + bytes(6) + b"\1\0" + bytes(6) + b"\1\0" + struct.pack("<3i", *starts) + body


def chunk_seeds() -> Seeds:
    for codec in CODECS:
        kw = {"codec": blosc2.Codec[codec]}
        yield f"{codec}-ramp", compress(ramp(1500), **kw)
        yield f"{codec}-text", compress(text(1500), [], typesize=1, **kw)
        yield f"{codec}-delta", compress(ramp(1500), [3, 1], **kw)
        yield f"{codec}-bits", compress(ramp(1500), [2], typesize=3, blocksize=510, **kw)
        yield f"{codec}-unsplit", compress(ramp(1500), splitmode=blosc2.SplitMode.NEVER_SPLIT, **kw)
    for codec in ("LZ4", "ZSTD"):
        data = text(7000)
        yield f"{codec}-dictionary", compress(data, codec=blosc2.Codec[codec], use_dict=True, blocksize=1024)
    # Literals in four Huffman streams; Zstandard chooses between its two decoders by their number.
    for decoder, n in (("x1", 960), ("x2", 5120)):
        kw = {"codec": blosc2.Codec.ZSTD, "typesize": 1, "blocksize": n}
        yield f"ZSTD-huffman-{decoder}", compress(skewed(n), [], **kw)
    yield "trunc", compress(np.linspace(0, 1, 300).tobytes(), [4], typesize=8)
    yield "bytedelta", compress(ramp(1500), [1, 35])
    yield "memcpy", compress(text(100), clevel=0)
    yield "empty", compress(b"")
    yield "zeros", special(1, 4, 1000)
    yield "nan4", special(2, 4, 1000)
    yield "nan8", special(2, 8, 1000)
    yield "value", special(3, 3, 999, b"abc")
    yield "uninit", special(4, 4, 1000)
    yield "vlblocks", vlblocks()
    yield "blosc1-split", blosc1(text(1200), 4, 512, 0x01, 4)
    yield "blosc1-small", blosc1(text(300), 4, 128, 0x04, 1)


def frame_seeds() -> Seeds:
    import tempfile

    chunks = [ramp(1000), bytes(1000), text(1000), text(500, 1)]

    def fill(s: blosc2.SChunk) -> bytes:
        for chunk in chunks:
            s.append_data(chunk)
        s.vlmeta["user"] = {"k": [1, (2, "x")]}
        return s.to_cframe()

    yield (
        "plain",
        fill(blosc2.SChunk(1000, contiguous=True, cparams={"typesize": 4}, meta={"a": 1, "b": "x"})),
    )
    yield "empty", blosc2.SChunk(1000, contiguous=True).to_cframe()
    r = blosc2.SChunk(1000, contiguous=True, cparams={"typesize": 4})
    fill(r)
    r.insert_data(1, text(1000, 5), copy=True)
    r.delete_chunk(0)
    r.reorder_offsets(np.array([3, 1, 2, 0]))
    yield "mutated", r.to_cframe()
    r = blosc2.SChunk(1000, contiguous=True, cparams={"typesize": 4})
    for n in (1000, 400, 12):
        r.append_data(text(n))
    yield "variable", r.to_cframe()
    for kind in ("ZERO", "NAN", "UNINIT"):
        r = blosc2.SChunk(400, contiguous=True, cparams={"typesize": 4})
        r.fill_special(350, blosc2.SpecialValue[kind])
        yield kind.lower(), r.to_cframe()
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/f"
        blosc2.SChunk(600, data=text(1800), cparams={"typesize": 300}, urlpath=path)
        yield "typesize300", Path(path).read_bytes()
    arrays = {
        "nd0": np.array(1.5),
        "nd1": np.arange(300),
        "nd2": np.arange(35, dtype="<i4").reshape(5, 7),
        "nd3": np.arange(210, dtype="<i2").reshape(5, 6, 7),
        "nd-empty": np.zeros((0, 3)),
    }
    for name, a in arrays.items():
        parts = {"chunks": tuple(-(-n // 2) for n in a.shape), "blocks": tuple(-(-n // 3) for n in a.shape)}
        yield name, blosc2.asarray(a, **(parts if a.size and a.ndim else {})).to_cframe()
    yield "nd16", blosc2.asarray(np.ones((1,) * 14 + (2, 3), "u1")).to_cframe()
    import blosc2c

    s = blosc2c.SChunk(1000, contiguous=True, cparams={"typesize": 4}, meta={"a": 1, "b": "x"})
    yield "ours", fill(s)
    yield (
        "ours-nd",
        blosc2c.asarray(np.arange(60.0).reshape(3, 4, 5), chunks=(2, 2, 3), blocks=(1, 2, 2)).to_cframe(),
    )
    yield "ours-empty", blosc2c.SChunk(1000).to_cframe()
    s = blosc2c.SChunk(cparams={"typesize": 1, "codec": "blosclz"})
    s.append_vlblocks([text(n, n) for n in (5, 300, 1, 80, 7)])
    s.append_vlblocks([text(200, 3)])
    yield "ours-vlblocks", s.to_cframe()


def legacy_seeds() -> Seeds:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
    import legacy_frames as legacy

    chunks = [legacy.of_that_time(compress(data)) for data in (ramp(1000), text(1000), text(300))]
    meta = {"alpha": b"\x01", "b2nd": b"\x97"}
    for name, layout in legacy.LAYOUTS.items():
        word = name.replace(" ", "-")
        kw = {"usermeta": legacy.memcpy_chunk(b"user")}
        if layout.trailer.endswith(b"\x93"):
            kw = {"vlmeta": {"v": compress(b"\xa1x", [], typesize=1)}}
        yield word, legacy.build(layout, chunks, chunksize=1000, meta=meta, **(kw if layout.trailer else {}))
        yield f"{word}-variable", legacy.build(layout, chunks, chunksize=0)
        yield f"{word}-empty", legacy.build(layout, [])
    entries = [legacy.ZEROS, chunks[0], legacy.NANS, legacy.UNINIT, legacy.ZEROS]
    yield "special", legacy.build(legacy.LAYOUTS["2021-02-05"], entries, nbytes=4100, chunksize=1000)


def ndcodec_seeds() -> Seeds:
    wave = np.sin(np.arange(32 * 32) / 50).reshape(32, 32)
    steps = (np.indices((32, 32)).sum(0) // 7).astype("u1")
    for number, meta, data in [
        (32, 4, steps),
        (32, 8, steps),
        (33, 253, wave),
        (34, 10, wave.astype("<f4")),
        (35, 40, wave.reshape(32, 8, 4)),
        (33, 0, wave.ravel()[:200]),
        (35, 25, wave.astype("<f4").reshape(8, 4, 8, 4)),
    ]:
        kw = {"codec": blosc2.Codec(number), "codec_meta": meta, "filters": [0] * 6, "filters_meta": [0] * 6}
        a = blosc2.asarray(data, chunks=data.shape, blocks=data.shape, cparams={**kw, "nthreads": 1})
        shape = bytes(data.shape).ljust(4, b"\0")
        head = bytes([number - 32, meta, data.itemsize]) + shape + bytes([data.ndim])
        yield f"codec{number}-{data.ndim}d-{meta}", head + a.schunk.get_chunk(0)[40:]
        if number == 32:
            yield f"data-{meta}", head + data.tobytes()


def blosclz_seeds() -> Seeds:
    yield (
        "zeros",
        struct.pack("<H", 928)
        + bytes.fromhex("2300000000e0da03010003e0dd00010302e0dd00010201e0db0002010101"),
    )
    yield "words", struct.pack("<H", 116) + b"\x27abcdefgh\xe0\x4e\x07\x14h" + b"0123456789" * 2
    yield "literals", struct.pack("<H", 32) + b"\x3f" + bytes(range(32))
    far = b"".join(b"\x1f" + bytes(range(32)) for _ in range(257))
    yield "far", struct.pack("<H", 8224 + 3 + 1) + far + b"\x3f\xff\x00\x00" + b"\x00x"
    yield "far-long", struct.pack("<H", 8224 + 20 + 1) + far + b"\xff\x0b\xff\x00\x05" + b"\x00x"
    chunk = compress(text(3000), [], codec=blosc2.Codec.BLOSCLZ, clevel=9, typesize=1, blocksize=3000)
    yield "text", struct.pack("<H", 3000) + chunk[40:]


def lz4_seeds() -> Seeds:
    def seed(n: int, block: bytes, dictionary: bytes = b"") -> bytes:
        return struct.pack("<HB", n, len(dictionary)) + dictionary + block

    yield "literals", seed(40, b"\xf0\x19" + bytes(range(40)))
    yield "run", seed(300, bytes.fromhex("1f070100ff12") + b"\x50abcde")
    yield "words", seed(96, bytes.fromhex("8f6162636465666768080040506465666768"))
    yield "dictionary", seed(25, b"\x0f\x08\x00\x01\x50abcde", b"temperature=____;station")
    for codec in ("LZ4", "LZ4HC"):
        kw = {"codec": blosc2.Codec[codec], "clevel": 9, "typesize": 1, "blocksize": 3000}
        yield f"text-{codec}", seed(3000, compress(text(3000), [], **kw)[40:])


def deflate_seeds() -> Seeds:
    def seed(data: bytes, level: int, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
        c = zlib.compressobj(level, zlib.DEFLATED, -15, 8, strategy)
        return struct.pack("<H", len(data)) + c.compress(data) + c.flush()

    yield "stored", seed(text(300), 0)
    yield "fixed", seed(text(300), 9, zlib.Z_FIXED)
    yield "dynamic", seed(text(2000), 9)
    yield "codes-only", seed(text(2000), 9, zlib.Z_HUFFMAN_ONLY)
    yield "runs", seed(bytes(5000) + b"a" * 700 + bytes(range(256)), 9)
    yield "ramp", seed(ramp(4000), 6)
    yield "empty", struct.pack("<H", 0) + b"\x03\x00"


def b2nd(
    shape: tuple[int, ...], chunks: tuple[int, ...], blocks: tuple[int, ...], dtype: str | None
) -> bytes:
    def numbers(values: tuple[int, ...], mark: bytes, code: str) -> bytes:
        return bytes([0x90 + len(values)]) + b"".join(mark + struct.pack(code, v) for v in values)

    out = bytes([0x97 if dtype is not None else 0x95, 0, len(shape)])
    out += numbers(shape, b"\xd3", ">q") + numbers(chunks, b"\xd2", ">i") + numbers(blocks, b"\xd2", ">i")
    if dtype is not None:
        out += b"\0\xdb" + struct.pack(">I", len(dtype)) + dtype.encode()
    return out


def nd_seeds() -> Seeds:
    yield "0d", b2nd((), (), (), "<f8")
    yield "2d", b2nd((5, 7), (4, 5), (3, 2), "<i4")
    yield "3d-large", b2nd((1 << 40, 1, 1000), (1 << 20, 1, 10), (1 << 10, 1, 5), "|u1")
    yield "16d", b2nd((2,) * 16, (2,) * 16, (1,) * 16, "|u1")
    yield "empty", b2nd((0, 3), (0, 3), (0, 3), "<i8")
    yield "structured", b2nd((9,), (9,), (9,), "[('x', '<i4'), ('y', 'S300')]")
    yield "caterva", b2nd((6, 5), (4, 4), (2, 2), None)
    yield "overflow", b2nd((1 << 62,) * 3, (1 << 30,) * 3, (1 << 30,) * 3, "<i4")
    yield "msgpack", bytes(msgpack.packb([0, 1, [10], [5], [2], 0, "<i4"]))


def roundtrip_seeds() -> Seeds:
    def params(
        codec: int, clevel: int, typesize: int, blocksize: int, split: int, *filters: int, times: int = 1
    ) -> bytes:
        head = bytes(
            [codec, clevel, typesize, 0, blocksize & 255, blocksize >> 8, split, 3 if codec == 5 else 0]
        )
        slots = bytes(filters).ljust(6, b"\0")
        return head + slots + bytes([10]) * 6 + bytes([7 if times > 1 else 0, times, 1, 0])

    for codec in (0, 1, 2, 4, 5):
        yield f"codec{codec}", params(codec, 5, 4, 512, 3, 1, times=8) + ramp(700)
        yield f"codec{codec}-bits", params(codec, 9, 3, 300, 1, 2) + text(1000)
    yield "delta", params(1, 5, 8, 256, 4, 3, 1, times=3) + ramp(999)
    yield "trunc", params(1, 5, 4, 256, 4, 4) + np.linspace(0, 1, 100, dtype="<f4").tobytes()
    yield "many-filters", params(0, 5, 4, 0, 2, 3, 1, 2, 1, 3, 2) + ramp(800)
    yield "store", params(1, 0, 4, 0, 3, 1) + ramp(100)
    yield "empty", params(1, 5, 4, 0, 3, 1)


def edit_seeds() -> Seeds:
    for place in range(4):
        for seed in range(3):
            yield f"script-{place}-{seed}", bytes([place]) + random.Random(seed).randbytes(120)


def folded(kind: int, raw: bytes) -> bytes:
    """The input for a file, with its longest run of zeros told by two numbers."""
    best, at = 0, 0
    for part in re.finditer(rb"\0{64,}", raw):
        if len(part[0]) > best:
            best, at = len(part[0]), part.start()
    return struct.pack("<BII", kind, at, best) + raw[:at] + raw[at + best :]


def flipped(raw: bytes, at: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ 0x15]) + raw[at + 1 :]


# Of the log that a killed writer of six chunks leaves: names, in which chunk, at which byte of it.
DAMAGES = (("chunk", 2, 100), ("header", 2, 0), ("length", 2, 4), ("end", 5, 100))


def file_seeds() -> Seeds:
    import tempfile

    import blosc2c

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "frame")
        s = blosc2c.SChunk(600, cparams={"typesize": 4}, urlpath=path, meta={"a": 1})
        for i in range(9):
            s.append_data(text(600, i) if i % 3 else bytes(600))
            if i % 2:
                s.vlmeta["i"] = i
            # What a writer leaves behind that is killed here: commits, records, reserve.
            yield f"open-{i}", folded(0, path.read_bytes())
        s.delete_chunk(2)
        s.update_data(1, ramp(600))
        yield "open-edited", folded(0, path.read_bytes())
        s.close()
        yield "closed", folded(0, path.read_bytes())
        with blosc2c.SChunk(600, cparams={"typesize": 4}, urlpath=folder + "/log") as s:
            for i in range(6):
                s.append_data(text(600, i))
            raw = Path(folder, "log").read_bytes()
            for name, i, at in DAMAGES:
                yield f"log-damaged-{name}", folded(0, flipped(raw, raw.index(s.get_chunk(i)) + at))
        r = blosc2.SChunk(600, cparams={"typesize": 4}, urlpath=folder + "/reference")
        for i in range(3):
            r.append_data(text(600, i))
        yield "reference", folded(0, Path(folder, "reference").read_bytes())
        for n, shape in enumerate([(5, 7), (40,), ()]):
            a = np.arange(np.prod(shape, dtype=int), dtype="<i4").reshape(shape)
            blosc2c.asarray(a, urlpath=f"{folder}/array{n}").close()
            yield f"array-{n}", folded(0, Path(folder, f"array{n}").read_bytes())
        with blosc2c.SChunk(urlpath=f"{folder}/vlblocks", cparams={"codec": "blosclz"}) as s:
            s.append_vlblocks([text(n, n) for n in (5, 300, 1, 80, 7)])
            s.append_vlblocks([text(200, 3)])
        yield "vlblocks", folded(0, Path(folder, "vlblocks").read_bytes())
        for library in (blosc2c, blosc2):
            name = Path(folder, library.__name__)
            d = library.SChunk(600, cparams={"typesize": 4}, urlpath=str(name), contiguous=False)
            d.append_data(text(600))
            d.append_data(bytes(600))
            if library is blosc2c:
                d.close()
            index, chunk = ((name / n).read_bytes() for n in ("chunks.b2frame", "00000000.chunk"))
            yield f"directory-{name.name}", struct.pack("<BII", 1, len(index), 0) + index + chunk


def repair_seeds() -> Seeds:
    """Damaged ones; those of fuzz_file are replayed as well."""
    import tempfile

    import blosc2c

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "frame")
        with blosc2c.SChunk(600, cparams={"typesize": 4}, urlpath=path, meta={"a": 1}) as s:
            for i in range(4):
                s.append_data(text(600, i))
            s.vlmeta["i"] = 1
        raw = path.read_bytes()
        yield "cut", folded(0, raw[:-200])
        yield "cut-in-a-chunk", folded(4, raw[:400])
        yield "no-header", folded(2, raw[110:])
        for name, at in [
            ("header-len", 0x0E),
            ("nbytes", 0x20),
            ("cbytes", 0x2D),
            ("index", raw.index(b"\x94\1\x93") - 20),
        ]:
            copy = bytearray(raw)
            copy[at] ^= 0x15
            yield f"damaged-{name}", folded(0, bytes(copy))
        # A sound one, whose chunks decode only in their array.
        items = np.arange(1024, dtype="<i4").reshape(32, 32) // 40
        cparams = {"filters": [blosc2c.Filter.NDCELL], "filters_meta": [4], "codec": blosc2c.Codec.BLOSCLZ}
        array = blosc2c.asarray(items, chunks=(16, 32), blocks=(8, 16), cparams=cparams)
        yield "array-of-cells", folded(0, array.to_cframe())
        # Special chunks of a size that is no multiple of the items'.
        with blosc2c.SChunk(1 << 19, cparams={"typesize": 1}, urlpath=path, mode="w") as s:
            s.fill_special(5 << 19, blosc2c.SpecialValue.ZERO)
        odd = bytearray(path.read_bytes())
        odd[0x33] = 7
        yield "odd-zeros", folded(0, bytes(odd))
        with blosc2c.SChunk(600, urlpath=folder + "/d", contiguous=False) as d:
            d.append_data(text(600))
        yield "no-index-file", struct.pack("<BII", 1, 0, 0) + Path(folder, "d", "00000000.chunk").read_bytes()


def getitem_seeds() -> Seeds:
    wanted = ["LZ4-ramp", "BLOSCLZ-text", "ZSTD-delta", "ZLIB-bits", "memcpy", "value", "nan4", "zeros"]
    wanted += ["vlblocks", "blosc1-split", "blosc1-small", "LZ4-dictionary"]
    chunks = dict(chunk_seeds())
    ranges = [(0, 1), (200, 3), (126, 5), (7, 300)]
    head = struct.pack("<B8I", len(ranges), *(n for r in ranges for n in r))
    for name in wanted:
        yield name, head + chunks[name]
    beyond = [(0, 1 << 31), (374, 2), (1 << 31, 1 << 31), (375, 0)]
    raw = struct.pack("<B8I", 0x80 | len(beyond), *(n for r in beyond for n in r))
    yield "ranges-beyond", raw + chunks["LZ4-ramp"]


def slice_seeds() -> Seeds:
    rng = random.Random(7)
    keys = [rng.randbytes(144), bytes([0, 3, 0] * 48), bytes([9, 255, 200] * 48), bytes([250, 30, 1] * 48)]
    metas = {name: meta for name, meta in nd_seeds() if name != "msgpack"}
    metas["1d"] = b2nd((100,), (30,), (7,), "<i4")
    metas["3d"] = b2nd((6, 5, 7), (4, 4, 3), (2, 3, 3), "<i2")
    metas["large-blocks"] = b2nd((5, 6), (2, 3), (2, 3), "|u1")
    for i, (name, meta) in enumerate(metas.items()):
        yield name, bytes([3 if i % 3 else 8]) + keys[i % 4] + meta
        yield f"{name}-zeros", bytes([32]) + keys[(i + 1) % 4] + meta


def meta_seeds() -> Seeds:
    import blosc2c

    def parts(frame: bytes) -> bytes:
        header_len = struct.unpack_from(">I", frame, 0x0B)[0]
        trailer_len = struct.unpack_from(">I", frame, len(frame) - 22)[0]
        first = frame[0x57:header_len]
        return struct.pack("<H", len(first)) + first + frame[-trailer_len:-23]

    for library in (blosc2c, blosc2):
        s = library.SChunk(1000, contiguous=True, meta={"a": 1, "bb": "x" * 40})
        yield f"fixed-{library.__name__}", parts(s.to_cframe())
        for i in range(5):
            s.vlmeta[f"name{i}"] = "value" * i
        s.vlmeta["long"] = list(range(300))
        yield f"both-{library.__name__}", parts(s.to_cframe())
    yield "none", parts(blosc2c.SChunk(1000).to_cframe())
    # Hostile ones: a name twice, contents that overlap, places outside, lengths beyond the end.
    content = b"\xc6\0\0\0\2hi"
    trailer = b"\x94\1\x93\xcd\0\6\xde\0\0\xdc\0\0"

    def section(names: list[tuple[bytes, int]], contents: bytes) -> bytes:
        body = b"".join(bytes([0xA0 + len(n)]) + n + struct.pack(">BI", 0xD2, at) for n, at in names)
        head = b"\x93\xcd\0\7\xde" + struct.pack(">H", len(names)) + body + b"\xdc\0\1" + contents
        return struct.pack("<H", len(head)) + head + trailer

    yield "same-name", section([(b"a", 113), (b"a", 113)], content * 9)
    yield "overlap", section([(bytes([97 + i]), 0x57 + 102) for i in range(13)], content)
    yield "outside", section([(b"a", 0xFFFFFFF0)], content)
    yield "too-long", section([(b"a", 0x57 + 17)], b"\xc6\xff\xff\xff\xffhi")
    yield "zero-in-name", section([(b"a\0", 0x57 + 18)], content)


def sframe_seeds() -> Seeds:
    import tempfile

    import blosc2c

    a_file, link_out, link_to_dir, loop, folder_kind, fifo = range(6)
    index_name, lock_name, tmp_name = 240, 241, 242

    def entry(kind: int, name: int, raw: bytes | None = None) -> bytes:
        return bytes([kind, name]) + (struct.pack("<I", len(raw)) + raw if raw is not None else b"")

    with tempfile.TemporaryDirectory() as folder:
        for library in (blosc2c, blosc2):
            path = Path(folder, library.__name__)
            s = library.SChunk(300, cparams={"typesize": 4}, urlpath=str(path), contiguous=False)
            for i in range(3):
                s.append_data(text(300, i) if i % 2 == 0 else bytes(300))
            if library is blosc2c:
                s.close()
            index = entry(a_file, index_name, (path / "chunks.b2frame").read_bytes())
            chunks = [
                entry(a_file, n, (path / f"{n:08X}.chunk").read_bytes())
                for n in range(2)
                if (path / f"{n:08X}.chunk").exists()
            ]
            for flags in range(8):
                if flags in (0, 3, 6, 7):
                    yield f"{library.__name__}-{flags}", bytes([flags]) + index + b"".join(chunks)
        path = Path(folder, "log")
        with blosc2c.SChunk(300, cparams={"typesize": 4}, urlpath=str(path), contiguous=False) as s:
            for i in range(6):
                s.append_data(text(300, i))
            log = [(path / f"{n:08X}.chunk").read_bytes() for n in range(6)]
            log_index = entry(a_file, index_name, (path / "chunks.b2frame").read_bytes())
        for name, i, at in DAMAGES:
            damaged = [*log[:i], flipped(log[i], at), *log[i + 1 :]]
            files = b"".join(entry(a_file, n, raw) for n, raw in enumerate(damaged))
            yield f"log-damaged-{name}", b"\6" + log_index + files
        files = b"".join(entry(a_file, n, raw) for n, raw in enumerate(log) if n != 2)
        yield "log-without-a-file", b"\6" + log_index + files
        for word, kind in [
            ("link-out", link_out),
            ("link-to-directory", link_to_dir),
            ("loop", loop),
            ("directory", folder_kind),
            ("fifo", fifo),
        ]:
            yield f"chunk-is-{word}", b"\7" + index + entry(kind, 0) + b"".join(chunks[1:])
            yield f"index-is-{word}", b"\7" + entry(kind, index_name) + b"".join(chunks)
            yield f"lock-is-{word}", b"\3" + index + b"".join(chunks) + entry(kind, lock_name)
            yield f"tmp-is-{word}", b"\2" + index + b"".join(chunks) + entry(kind, tmp_name)
        names = b"".join(entry(a_file, n, b"x") for n in range(243, 256))
        yield "strange-names", b"\7" + index + b"".join(chunks) + names
        yield "lock-file", b"\3" + index + b"".join(chunks) + entry(a_file, lock_name, b"\xff" * 16)
        yield "no-index", b"\4" + b"".join(chunks)


def frame_files() -> Seeds:
    """The seeds of `frame` that are small."""
    for name, frame in frame_seeds():
        if len(frame) < 3000:
            yield name, frame


def userio_seeds() -> Seeds:
    faults = {
        "none": b"",
        "fails": b"\0\4\5\0",
        "stumbles": b"\1\7\5\0",
        "short": b"\2\6\3\0",
        "flips": b"\3\5\x20\0",
        "changes": b"\4\6\x70\0",
        "shrinks": b"\5\6\x20\0",
        "grows": b"\5\2\x21\0",
        "several": b"\3\1\0\0\4\3\x30\0\5\x09\x04\0",
    }
    for i, (name, frame) in enumerate(frame_files()):
        for kind, fault in faults.items():
            if i < 2 or kind in ("none", "several"):
                yield f"{name}-{kind}", bytes([len(fault) // 4 | i % 2 << 7]) + fault + frame


def offset_seeds() -> Seeds:
    for i, (name, frame) in enumerate(frame_files()):
        yield name, bytes([i * 29 % 256, i % 3 * 40]) + frame
    for name, seed in file_seeds():
        if name in ("open-4", "closed", "array-0"):
            yield f"file-{name}", bytes([77, 8]) + seed[9:]


def others_seeds() -> Seeds:
    """Each file with some of 24 edits."""
    numbers = (4, 8, 40, 64, 1, 200)
    for i, (name, seed) in enumerate(file_seeds()):
        edits = [((5 * i + 7 * k) % 24, (i * 37 + k * 91) % 256, numbers[(i + k) % 6]) for k in range(9)]
        options = 1 << i % 5 if i % 2 else 0
        yield name, bytes([options, len(edits)]) + b"".join(map(bytes, edits)) + seed


def array_seeds() -> Seeds:
    """Arrays of both libraries, as files and directories, with some of 14 edits, or with appends."""
    import tempfile

    import blosc2c

    rng, rng_appends = random.Random(5), random.Random(6)
    resize, begin, end, flush, append = 6, 9, 10, 11, 14
    appends = (append, append, flush, begin, append, resize, append, end, append)
    arrays = (
        ((5, 7), (4, 5), (3, 2), "<i4"),
        ((40,), (16,), (5,), "<f8"),
        ((), (), (), "<i4"),
        ((6, 5, 7), (4, 4, 3), (2, 3, 3), "<i2"),
        ((0, 3), (4, 3), (2, 3), "|u1"),
        ((9, 2), (4, 2), (4, 2), "|S20"),
    )
    with tempfile.TemporaryDirectory() as folder:
        for i, (library, contiguous, (shape, chunks, blocks, dtype)) in enumerate(
            itertools.product((blosc2c, blosc2), (True, False), arrays)
        ):
            path = Path(folder, str(i))
            items = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
            place = {"urlpath": str(path), "contiguous": contiguous}
            array = library.asarray(items, chunks=chunks, blocks=blocks, **place)
            if library is blosc2c:
                array.close()
            if contiguous:
                seed = folded(0, path.read_bytes())
            else:
                files = [path / name for name in ("chunks.b2frame", "00000000.chunk")]
                index, chunk = (file.read_bytes() if file.exists() else b"" for file in files)
                seed = struct.pack("<BII", 1, len(index), 0) + index + chunk
            for options in (0, 1 << i % 5):
                edits = [
                    bytes([rng.randrange(14), rng.randrange(256), rng.randrange(256)])
                    + bytes([rng.choice((0, 1, 3, 77, 129, 200, 255))])
                    for _ in range(10)
                ]
                yield f"{i}-{options}", bytes([options, len(edits)]) + b"".join(edits) + seed
            edits = [
                bytes([op, rng_appends.randrange(256), rng_appends.randrange(12)])
                + bytes([rng_appends.choice((0, 1, 77))])
                for op in appends
            ]
            yield f"{i}-appends", bytes([1 << i % 5, len(edits)]) + b"".join(edits) + seed


def lock_seeds() -> Seeds:
    def counted(n: int) -> bytes:
        return struct.pack("<QQ", 0, n % 2**64)

    for kind in range(8):
        for where in (0, 8):
            yield f"kinds-{kind}-{where}", bytes([kind | where, (kind * 5 + 3) % 8, 16]) + counted(3) * 2
    for name, first, second in [
        ("same", 2, 2),
        ("back", 100, 3),
        ("last", -1, -2),
        ("first", 0, 0),
    ]:
        yield f"count-{name}", bytes([0, 0, 16]) + counted(first) + counted(second)
    yield "short", bytes([0, 0, 9]) + counted(7)[:9] + counted(8)[:15]


TARGETS = {
    "userio": userio_seeds,
    "offset": offset_seeds,
    "others": others_seeds,
    "array": array_seeds,
    "lock": lock_seeds,
    "getitem": getitem_seeds,
    "slice": slice_seeds,
    "meta": meta_seeds,
    "sframe": sframe_seeds,
    "repair": repair_seeds,
    "chunk": chunk_seeds,
    "frame": frame_seeds,
    "legacy": legacy_seeds,
    "ndcodec": ndcodec_seeds,
    "blosclz": blosclz_seeds,
    "lz4": lz4_seeds,
    "deflate": deflate_seeds,
    "nd": nd_seeds,
    "roundtrip": roundtrip_seeds,
    "edit": edit_seeds,
    "file": file_seeds,
}


def main() -> None:
    for target in sys.argv[1:] or TARGETS:
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, seed in TARGETS[target]():
            (folder / f"seed-{name}").write_bytes(seed)
        files = list(folder.iterdir())
        print(f"{target}: {len(files)} files, {sum(f.stat().st_size for f in files)} bytes")


if __name__ == "__main__":
    main()
