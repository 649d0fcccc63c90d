#!/usr/bin/env python3
"""Make the conformance set: one small file for each feature of the formats, and a manifest.

    tools/make_conformance.py [DIR]

What the manifest expects is computed from the data that were written, not read back.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import legacy_frames as legacy
import numpy as np

import blosc2c as b2
from blosc2c.conformance import MANIFEST, described

DATA = bytes(np.arange(1500, dtype="<i4").tobytes()) + b"the quick brown fox " * 100
CODECS = ("BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD")
FILTERS = ("NOFILTER", "SHUFFLE", "BITSHUFFLE", "DELTA", "BYTEDELTA")


class Maker:
    """Writes files and collects what the manifest says of them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files: list[dict[str, Any]] = []
        directory.mkdir(parents=True, exist_ok=True)

    def add(self, name: str, shows: str, kind: str, stored: bytes, **expected: Any) -> None:
        (self.directory / name).write_bytes(stored)
        self.files.append({"name": name, "shows": shows, "kind": kind, **expected})

    def chunks(self) -> None:
        for codec in CODECS:
            stored = b2.compress2(DATA, typesize=4, codec=b2.Codec[codec], blocksize=2048)
            self.add(f"codec-{codec.lower()}.chunk", f"codec {codec}", "chunk", stored, **described(DATA))
        for name in FILTERS:
            stored = b2.compress2(DATA, typesize=4, filters=[b2.Filter[name]], blocksize=2048)
            self.add(f"filter-{name.lower()}.chunk", f"filter {name}", "chunk", stored, **described(DATA))
        many = {"filters": [b2.Filter.DELTA, b2.Filter.SHUFFLE], "blocksize": 2048}
        stored = b2.compress2(DATA, typesize=4, **many)
        self.add("filters-two.chunk", "delta, then shuffle", "chunk", stored, **described(DATA))
        stored = b2.compress2(DATA, typesize=4, clevel=0)
        self.add("memcpy.chunk", "data stored as they are", "chunk", stored, **described(DATA))
        stored = b2.compress2(bytes(4000), typesize=4)
        self.add("zeros.chunk", "a chunk of zeros", "chunk", stored, **described(bytes(4000)))
        stored = b2.compress2(DATA, typesize=4, use_dict=True, blocksize=1024, codec=b2.Codec.ZSTD)
        self.add("dictionary.chunk", "blocks with a dictionary", "chunk", stored, **described(DATA))
        old = struct.pack("<4B3i", 2, 1, 0x02, 1, 100, 100, 116) + DATA[:100]
        self.add("blosc1-memcpy.chunk", "a header of Blosc1", "chunk", old, **described(DATA[:100]))
        parts = [DATA[:10], DATA[10:500], DATA[500:501]]
        told = {**described(b"".join(parts)), "sizes": [len(p) for p in parts]}
        self.add("vlblocks.chunk", "blocks of different sizes", "vlblocks", b2.vlcompress(parts), **told)

    def errors(self) -> None:
        good = b2.compress2(DATA, typesize=4, codec=b2.Codec.LZ4)
        self.add("short.chunk", "a chunk cut short", "chunk", good[:-5], error="TruncatedError")
        foreign = bytearray(good)
        foreign[2], foreign[22] = foreign[2] & 0x1F | 0xC0, 200
        self.add(
            "unknown-codec.chunk", "a codec of number 200", "chunk", bytes(foreign), error="UnknownCodecError"
        )
        frame = b2.SChunk(chunksize=4000, data=DATA, cparams={"typesize": 4}).to_cframe()
        self.add("short.b2frame", "a frame cut short", "schunk", frame[:-9], error="TruncatedError")
        self.add("magic.b2frame", "another magic", "schunk", b"x" + frame[1:], error="FormatError")

    def frames(self) -> None:
        def schunk(**kw: Any) -> b2.SChunk:
            return b2.SChunk(chunksize=4000, data=DATA, cparams={"typesize": 4, **kw})

        told: dict[str, Any] = {**described(DATA), "nchunks": 2, "meta": {}, "vlmeta": []}
        self.add("frame.b2frame", "chunks, the last one smaller", "schunk", schunk().to_cframe(), **told)
        empty = b2.SChunk(chunksize=4000).to_cframe()
        self.add("empty.b2frame", "no chunks", "schunk", empty, **described(b""), nchunks=0)
        meta = b2.SChunk(chunksize=4000, data=DATA, cparams={"typesize": 4}, meta={"one": 1, "two": [2, "x"]})
        meta.vlmeta["user"] = {"a": 1}
        layers = {"one": "01", "two": "9202a178"}
        stored = meta.to_cframe()
        shows = "two metalayers, one of variable length"
        self.add(
            "metalayers.b2frame", shows, "schunk", stored, **{**told, "meta": layers, "vlmeta": ["user"]}
        )

    def arrays(self) -> None:
        def add(name: str, shows: str, value: Any, array: Any) -> None:
            value = np.asarray(value)
            told = {**described(value.tobytes()), "shape": list(value.shape), "dtype": value.dtype.str}
            self.add(f"{name}.b2nd", shows, "array", array.to_cframe(), **told)

        for ndim in range(9):
            value: Any = np.arange(3**ndim, dtype="<i2").reshape((3,) * ndim)
            parts: dict[str, Any] = {"chunks": (2,) * ndim, "blocks": (1,) * ndim} if ndim else {}
            shows = f"an array of {ndim} dimensions, padded"
            if ndim > 5:  # not too large a file
                value, parts = value[(slice(0, 2),) * ndim], {}
                shows = f"an array of {ndim} dimensions"
            add(f"ndim-{ndim}", shows, value, b2.asarray(value.copy(), **parts))
        for code in ("|b1", "<u8", ">f4", "<c16", "|S5", "<U3", "<M8[s]", "<f2"):
            value = np.arange(12).astype("<i8").astype(code)
            add(f"dtype-{np.dtype(code).name}", f"dtype {code}", value, b2.asarray(value))
        add("zeros", "chunks of zeros", np.zeros((50, 60)), b2.zeros((50, 60)))
        add("nans", "chunks of NaN", np.full(500, np.nan), b2.nans((500,)))
        add("value", "chunks of one value", np.full(500, 7, "<i4"), b2.full((500,), 7, "<i4"))
        cell = np.arange(64 * 64, dtype="<i4").reshape(64, 64) // 100
        kw = {"filters": [b2.Filter.NDCELL], "filters_meta": [4]}
        add("filter-ndcell", "filter NDCELL", cell, b2.asarray(cell, blocks=(32, 32), cparams=kw))
        cell = (cell % 3).astype("u1")
        ndlz = {"codec": b2.Codec.NDLZ, "codec_meta": 4, "filters": [b2.Filter.NOFILTER]}
        add("codec-ndlz", "codec NDLZ", cell, b2.asarray(cell, blocks=(32, 32), cparams=ndlz))

    def old(self) -> None:
        chunks = [legacy.memcpy_chunk(DATA[:4000], 4), legacy.memcpy_chunk(DATA[4000:], 4)]
        for name, layout in legacy.LAYOUTS.items():
            told: dict[str, Any] = {**described(DATA), "nchunks": 2}
            if name == legacy.UNREADABLE:
                told = {"error": "FormatError"}
            file = f"legacy-{name.replace(' ', '-')}.b2frame"
            stored = legacy.build(layout, chunks, chunksize=4000)
            self.add(file, f"the layout of {name}", "schunk", stored, **told)

    def finish(self) -> None:
        lines = ",\n".join("  " + json.dumps(entry) for entry in self.files)
        (self.directory / MANIFEST).write_text(
            '{"format": 1, "files": [\n' + lines + "\n]}\n", encoding="utf-8"
        )


def main() -> None:
    """Write all files."""
    default = Path(__file__).parents[1] / "tests" / "data" / "conformance"
    maker = Maker(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    for step in (maker.chunks, maker.frames, maker.arrays, maker.old, maker.errors, maker.finish):
        step()


if __name__ == "__main__":
    main()
