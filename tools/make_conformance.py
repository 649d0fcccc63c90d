#!/usr/bin/env python3
"""Make the conformance set: one small file for each feature of the formats, and a manifest.

    tools/make_conformance.py [DIR]

What the manifest expects is computed from the data that were written, not read back.  The same
versions of the codecs' libraries, which the manifest names, give the same bytes.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import conformance_chunks
import conformance_damage
import handmade
import legacy_frames as legacy
import numpy as np

import blosc2c as b2
from blosc2c.conformance import MANIFEST, described

TEXT = b"the quick brown fox " * 20
DATA = np.arange(400, dtype="<i4").tobytes() + TEXT
CHUNKSIZE = 800
LIBRARIES = ("lz4", "zlib", "zstd")


def cparams(**kw: Any) -> dict[str, Any]:
    """Parameters whose bytes depend on no library."""
    return {"typesize": 4, "codec": b2.Codec.BLOSCLZ, **kw}


class Maker:
    """Writes files and collects what the manifest says of them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files: list[dict[str, Any]] = []
        directory.mkdir(parents=True, exist_ok=True)

    def add(self, name: str, shows: str, kind: str, stored: bytes, **expected: Any) -> None:
        """A file; `needs` names a codec that not everybody has, `error` what reading must raise."""
        (self.directory / name).write_bytes(stored)
        self.tell(name, shows, kind, **expected)

    def tell(self, name: str, shows: str, kind: str, **expected: Any) -> None:
        """What is in a file."""
        if any(entry["name"] == name for entry in self.files):
            raise ValueError(f"{name} is there already")
        self.files.append({"name": name, "shows": shows, "kind": kind, **expected})

    def chunk(self, name: str, shows: str, stored: bytes, data: bytes, **expected: Any) -> None:
        """A chunk and what it decodes to."""
        self.add(f"{name}.chunk", shows, "chunk", stored, **described(data), **expected)

    def array(self, name: str, shows: str, value: Any, array: Any, **expected: Any) -> None:
        """An array and what is in it."""
        value = np.asarray(value)
        told = {**described(value.tobytes()), "shape": list(value.shape), "dtype": value.dtype.str}
        stored = array if isinstance(array, bytes) else array.to_cframe()
        self.add(f"{name}.b2nd", shows, "array", stored, **told, **expected)

    def finish(self) -> None:
        """Write the manifest."""
        libraries = json.dumps({name: b" ".join(b2.clib_info(name)).decode() for name in LIBRARIES})
        lines = ",\n".join("  " + json.dumps(entry) for entry in self.files)
        (self.directory / MANIFEST).write_text(
            f'{{"format": 1, "libraries": {libraries}, "files": [\n{lines}\n]}}\n', encoding="utf-8"
        )


# ---- frames ----


def _schunk(**kw: Any) -> b2.SChunk:
    return b2.SChunk(chunksize=CHUNKSIZE, data=DATA, cparams=cparams(), **kw)


def _of_chunks(chunks: Sequence[bytes], chunksize: int = CHUNKSIZE, typesize: int = 4) -> bytes:
    s = b2.SChunk(chunksize=chunksize, cparams=cparams(typesize=typesize))
    for chunk in chunks:
        s.append_chunk(chunk)
    return s.to_cframe()


def frames(m: Maker) -> None:
    """Contiguous frames."""
    told: dict[str, Any] = {**described(DATA), "nchunks": 3, "meta": {}, "vlmeta": []}
    m.add("frame.b2frame", "chunks, the last one smaller", "schunk", _schunk().to_cframe(), **told)
    empty = b2.SChunk(chunksize=CHUNKSIZE, cparams=cparams()).to_cframe()
    m.add("empty.b2frame", "no chunks", "schunk", empty, **described(b""), nchunks=0)
    meta = _schunk(meta={"one": 1, "two": [2, "x"]})
    meta.vlmeta["user"] = {"a": 1}
    told |= {"meta": {"one": "01", "two": "9202a178"}, "vlmeta": ["user"]}
    shows = "two metalayers, one of variable length"
    m.add("metalayers.b2frame", shows, "schunk", meta.to_cframe(), **told)

    s = _schunk()
    s.delete_chunk(0)
    s.insert_data(1, bytes(CHUNKSIZE), copy=True)
    s.insert_data(0, TEXT * 2, copy=True)
    told = described(TEXT * 2 + DATA[800:1600] + bytes(800) + DATA[1600:])
    m.add("edited.b2frame", "an index out of order", "schunk", s.to_cframe(), **told, nchunks=4)

    parts = [DATA[:800], DATA[800:1200], DATA[1200:1900], b"x" * 4]
    chunks = [b2.compress2(part, **cparams()) for part in parts]
    told = {**described(b"".join(parts)), "nchunks": 4}
    m.add("variable.b2frame", "chunks of any sizes", "schunk", _of_chunks(chunks), **told)

    value = np.array([1.5, 2.5, -1, 8], "<f4").tobytes() * 50
    chunks = [
        handmade.special(handmade.ZERO, 800, typesize=4),
        b2.compress2(value, **cparams()),
        handmade.special(handmade.NAN, 800, typesize=4),
        handmade.special(handmade.VALUE, 800, value[:4], typesize=4),
        handmade.special(handmade.UNINIT, 800, typesize=4),
    ]
    nans = np.full(200, np.nan, "<f4").tobytes()
    told = described(bytes(800) + value + nans + value[:4] * 200 + bytes(800))
    m.add("specials.b2frame", "chunks in the index alone", "schunk", _of_chunks(chunks), **told, nchunks=5)

    wide = bytes(range(250)) * 36
    s = b2.SChunk(chunksize=3000, data=wide, cparams=cparams(typesize=300))
    shows = "items of 300 bytes"
    m.add("wide-items.b2frame", shows, "schunk", s.to_cframe(), **described(wide), nchunks=3)


def _record(i: int) -> bytes:
    """As records are: the same words, other numbers."""
    words = (f'"field {j}": {(i + 3) * (j + 7) * 7919 % 97}' for j in range(12))
    return ("{" + ", ".join(words) + "}").encode()


def vlblocks(m: Maker) -> None:
    """Chunks of blocks that have sizes of their own."""
    parts = [DATA[:10], DATA[10:500], DATA[500:501], bytes(100)]
    told = {**described(b"".join(parts)), "sizes": [len(p) for p in parts]}
    for codec in ("BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD"):
        stored = b2.vlcompress(parts, typesize=1, codec=b2.Codec[codec])
        needs = {} if codec == "BLOSCLZ" else {"needs": codec.lower()}
        name = f"vlblocks-{codec.lower()}.chunk"
        m.add(name, f"blocks of any sizes, codec {codec}", "vlblocks", stored, **told, **needs)
    raw = [handmade.sized(p) for p in parts]
    fields: dict[str, Any] = {"version": 6, "flags": 0x15, "flags2": 1, "typesize": 1}
    nbytes = sum(len(p) for p in parts)
    stored = handmade.assemble(raw, nbytes, len(parts), **fields)
    m.add("vlblocks-raw.chunk", "blocks of any sizes, stored as they are", "vlblocks", stored, **told)
    stored = b2.vlcompress(parts, typesize=1, codec=b2.Codec.BLOSCLZ, filters=[b2.Filter.BITSHUFFLE])
    m.add("vlblocks-bitshuffle.chunk", "a filter in each block", "vlblocks", stored, **told)
    for codec, n in (("LZ4", 30), ("ZSTD", 45)):
        many = [_record(i) for i in range(n)]
        stored = b2.vlcompress(many, typesize=1, codec=b2.Codec[codec], use_dict=True)
        assert stored[31] & 1, "no dictionary"
        told = {**described(b"".join(many)), "sizes": [len(p) for p in many]}
        name = f"vlblocks-dictionary-{codec.lower()}.chunk"
        m.add(name, "blocks with a dictionary", "vlblocks", stored, **told, needs=codec.lower())
    s = b2.SChunk(chunksize=CHUNKSIZE, cparams=cparams(typesize=1))
    s.append_vlblocks(parts)
    s.append_vlblocks(parts[1:3])
    told = {**described(b"".join(parts + parts[1:3])), "nchunks": 2}
    m.add("vlblocks.b2frame", "chunks of blocks of any sizes", "schunk", s.to_cframe(), **told)


def directories(m: Maker) -> None:
    """Sparse frames."""

    def make(name: str, shows: str, **kw: Any) -> b2.SChunk:
        path = m.directory / name
        shutil.rmtree(path, ignore_errors=True)
        return b2.SChunk(
            chunksize=CHUNKSIZE, cparams=cparams(), urlpath=str(path), contiguous=False, mode="w", **kw
        )

    with make("directory.b2frame", "", meta={"one": 1}) as s:
        for part in (DATA[:800], bytes(800), DATA[800:1600], DATA[1600:]):
            s.append_data(part)
        s.delete_chunk(0)
        s.vlmeta["user"] = 1
    told = described(bytes(800) + DATA[800:])
    more = {"nchunks": 3, "meta": {"one": "01"}, "vlmeta": ["user"]}
    m.tell("directory.b2frame", "a directory, with a gap", "schunk", **told, **more)
    with make("directory-lost.b2frame", "") as s:
        for part in (DATA[:800], DATA[800:1600]):
            s.append_data(part)
    (m.directory / "directory-lost.b2frame" / "00000001.chunk").unlink()
    m.tell("directory-lost.b2frame", "a directory without one of its chunks", "schunk", error="CorruptError")
    value = np.arange(60, dtype="<i2").reshape(6, 10)
    path = m.directory / "directory.b2nd"
    shutil.rmtree(path, ignore_errors=True)
    kw: dict[str, Any] = {
        "chunks": (4, 5),
        "blocks": (2, 5),
        "urlpath": str(path),
        "contiguous": False,
        "mode": "w",
    }
    b2.asarray(value, cparams=cparams(), **kw).close()
    told = {**described(value.tobytes()), "shape": [6, 10], "dtype": "<i2"}
    m.tell("directory.b2nd", "an array in a directory", "array", **told)


# ---- arrays ----


def arrays(m: Maker) -> None:
    """Shapes, dtypes and what arrays alone have."""
    kw: dict[str, Any] = {"cparams": {"codec": b2.Codec.BLOSCLZ}}
    for ndim in range(17):
        edge = 3 if ndim < 5 else 2 if ndim < 9 else 1
        shape = ((2, 3) + (edge,) * (ndim - 2)) if ndim > 4 else (3,) * ndim
        value: Any = np.arange(np.prod(shape, dtype=int), dtype="<i2").reshape(shape)
        parts: dict[str, Any] = {"chunks": (2,) * ndim, "blocks": (1,) * ndim} if 0 < ndim < 5 else {}
        shows = f"an array of {ndim} dimensions" + (", padded" if parts else "")
        m.array(f"ndim-{ndim}", shows, value, b2.asarray(value, **parts, **kw))
    for code in ("|b1", "<u8", ">f4", "<c16", "|S5", "<U3", "<M8[s]", "<f2"):
        value = np.arange(12).astype("<i8").astype(code)
        m.array(f"dtype-{np.dtype(code).name}", f"dtype {code}", value, b2.asarray(value, **kw))
    record = np.zeros(5, [("x", "<i4"), ("y", "S300")])
    record["x"], record["y"] = np.arange(5), b"some text"
    told = b2.asarray(record, **kw)
    m.array("dtype-record", "items of 304 bytes with fields", record, told)
    m.array("shape-0", "no items", np.zeros((0, 3), "<i4"), b2.zeros((0, 3), dtype="<i4", **kw))
    m.array("zeros", "chunks of zeros", np.zeros((50, 60)), b2.zeros((50, 60), **kw))
    m.array("nans", "chunks of NaN", np.full(500, np.nan), b2.nans((500,), **kw))
    m.array("value", "chunks of one value", np.full(500, 7, "<i4"), b2.full((500,), 7, "<i4", **kw))
    _caterva(m)
    _cells(m)
    _zfp(m)


def _caterva(m: Maker) -> None:
    value = np.arange(60, dtype="<i4").reshape(6, 10)
    source = b2.asarray(value, chunks=(4, 5), blocks=(2, 5), cparams=cparams()).schunk
    layer = source.meta.raw("b2nd")
    layer = b"\x95" + layer[1 : layer.index(b"\x00\xdb")]  # an array of five things, not seven
    place = b"x" * (len(layer) - 2)  # as bytes, a value that is as long
    frame = b2.SChunk(chunksize=source.chunksize, cparams=cparams(), meta={"caterva": place})
    for i in range(source.nchunks):
        frame.append_chunk(source.get_chunk(i))
    stored = conformance_damage.unsealed(frame.to_cframe()).replace(bytes([0xC4, len(place)]) + place, layer)
    assert layer in stored
    told = {**described(value.tobytes()), "shape": [6, 10]}
    m.add("caterva.b2nd", "the metalayer before b2nd, without a dtype", "array", stored, **told)


def _cells(m: Maker) -> None:
    cell = np.arange(32 * 32, dtype="<i4").reshape(32, 32) // 100
    none = [b2.Filter.NOFILTER]
    kw = cparams(filters=[b2.Filter.NDCELL], filters_meta=[4])
    m.array("filter-ndcell", "filter NDCELL", cell, b2.asarray(cell, blocks=(16, 16), cparams=kw))
    means = np.repeat(np.repeat(np.arange(64, dtype="<f4").reshape(8, 8), 4, 0), 4, 1)
    noise = np.tile(np.array([[-1, 1], [1, -1]], "<f4"), (16, 16)) / 4
    kw = cparams(filters=[b2.Filter.NDMEAN], filters_meta=[4])
    stored = b2.asarray(means + noise, blocks=(16, 16), cparams=kw)
    m.array("filter-ndmean", "filter NDMEAN, which keeps the mean of a cell", means, stored)
    small = (cell % 3).astype("u1")
    for edge in (4, 8):
        kw = {"codec": b2.Codec.NDLZ, "codec_meta": edge, "filters": none, "typesize": 1}
        stored = b2.asarray(small, blocks=(16, 16), cparams=kw)
        m.array(f"codec-ndlz-{edge}", f"codec NDLZ, cells of {edge}", small, stored, needs="ndlz")


def _zfp(m: Maker) -> None:
    values = [0.0, 1.5, -3.25, 1024.0, -0.0625, 7.0, 0.0, 2.5]
    modes = (
        ("acc", 33, 256 - 3, lambda exponent: exponent + 14, 0, "of a tolerance"),
        ("prec", 34, 27, lambda exponent: 32, 0, "of a precision"),
        ("rate", 35, 50, lambda exponent: 26, 64, "of a rate"),
    )
    for name, codec, meta, planes, room, what in modes:
        value = np.repeat(np.array(values, "<f4"), 4)
        n = value.nbytes
        stream = handmade.zfp(values, 4, planes, room)
        chunk = handmade.assemble([handmade.sized(stream)], n, n, flags=0xD5, codec=codec, meta=meta)
        array = b2.zeros(value.shape, "<f4", chunks=value.shape, blocks=value.shape, cparams=cparams())
        array.schunk.update_chunk(0, chunk)
        m.array(f"codec-zfp-{name}", f"codec ZFP {what}", value, array, needs="zfp")


# ---- frames of 2019 to 2021 ----

USERMETA = b"any bytes, not msgpack \xc1"


def old(m: Maker) -> None:
    """Every layout, with the metadata that it had."""
    parts = [DATA[i : i + CHUNKSIZE] for i in range(0, len(DATA), CHUNKSIZE)]
    chunks = [legacy.of_that_time(b2.compress2(part, **cparams())) for part in parts]
    layers = {"alpha": b"\x01", "a-second-metalayer-name": b"\xa5hello"}
    for name, layout in legacy.LAYOUTS.items():
        file = name.replace(" ", "-")
        more: dict[str, Any] = {}
        if layout.trailer.endswith(b"\x93"):
            more = {"vlmeta": {"v": b2.compress2(b"\x81\xa1a\x01", **cparams(typesize=1))}}
        elif layout.trailer:
            more = {"usermeta": legacy.memcpy_chunk(USERMETA)}
        told = {**described(DATA), "nchunks": 3, "meta": {k: v.hex() for k, v in layers.items()}}
        told["vlmeta"] = ["v"] if "vlmeta" in more else ["usermeta"] if more else []
        stored = legacy.build(layout, chunks, chunksize=CHUNKSIZE, meta=layers, **more)
        m.add(f"legacy-{file}.b2frame", f"the layout of {name}", "schunk", stored, **told)
        told |= {"meta": {}, "vlmeta": []}
        stored = legacy.build(layout, chunks, chunksize=0)
        shows = f"the layout of {name}, without metadata"
        m.add(f"legacy-{file}-bare.b2frame", shows, "schunk", stored, **told)
    stored = legacy.build(legacy.LAYOUTS["beta.3"], [])
    m.add("legacy-beta.3-empty.b2frame", "no chunks", "schunk", stored, **described(b""), nchunks=0)
    stored = legacy.build(legacy.LAYOUTS["beta.1"], [])
    m.add("legacy-beta.1-empty.b2frame", "no chunks", "schunk", stored, **described(b""), nchunks=0)
    specials: list[bytes | int] = [legacy.ZEROS, chunks[0], legacy.NANS, legacy.UNINIT]
    stored = legacy.build(legacy.LAYOUTS["2021-02-05"], specials, nbytes=3200, chunksize=800)
    told = described(bytes(800) + parts[0] + np.full(200, np.nan, "<f4").tobytes() + bytes(800))
    shows = "chunks in the index alone"
    m.add("legacy-2021-02-05-specials.b2frame", shows, "schunk", stored, **told, nchunks=4)


def damaged(m: Maker) -> None:
    """Frames and arrays that must be refused."""
    conformance_damage.frames(m, _schunk().to_cframe())
    conformance_damage.arrays(m, b2.asarray(np.arange(12, dtype="<i4"), cparams=cparams()).to_cframe())


def _embed_store(layer: str, objects: dict[str, bytes]) -> b2.SChunk:
    """Frames one behind the other, and a list of them."""
    s = b2.SChunk(chunksize=8192, cparams=cparams(typesize=1), meta={layer: {"version": 1}})
    places, at = {}, 0
    for name, stored in objects.items():
        places[name] = {"offset": at, "length": len(stored)}
        at += len(stored)
    if at:
        s.append_data(b"".join(objects.values()))
    s.vlmeta["estore_metadata"] = {"embed_map": places, "current_offset": at}
    return s


def containers(m: Maker) -> None:
    """Files that hold several frames, of which one is read by its name; their lists need Zstandard."""
    small = b2.asarray(np.arange(7, dtype="<i4"), cparams=cparams()).to_cframe()
    value = np.arange(50, dtype="<f8")
    large = b2.asarray(value, cparams={"codec": b2.Codec.BLOSCLZ}).to_cframe()
    told = {**described(value.tobytes()), "shape": [50], "dtype": "<f8"}
    embed = _embed_store("b2embed", {"/a": small, "/g/x": large}).to_cframe()
    m.add("container.b2e", "an embed store", "array", embed, **told, member="/g/x", needs="zstd")
    embed = _embed_store("b2dict", {"/a": small}).to_cframe()
    files = {"g/x.b2nd": large, "embed.b2e": embed}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as z:
        for name, stored in files.items():
            z.writestr(zipfile.ZipInfo(name), stored)
    m.add("container.b2z", "a ZIP of frames", "array", packed.getvalue(), **told, member="/g/x", needs="zstd")
    directory = m.directory / "container.b2d"
    for name, stored in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(stored)
    told = {**described(np.arange(7, dtype="<i4").tobytes()), "shape": [7], "dtype": "<i4"}
    m.tell(
        "container.b2d",
        "a directory of frames, one in its embed store",
        "array",
        **told,
        member="/a",
        needs="zstd",
    )
    whole = packed.getvalue()
    shows = "a ZIP of frames, none of which is named"
    m.add(
        "container-whole.b2z", shows, "array", whole, error="FormatError", says="of 2 objects", needs="zstd"
    )


STEPS = (
    conformance_chunks.regular,
    conformance_chunks.filters,
    conformance_chunks.stored,
    conformance_chunks.specials,
    conformance_chunks.ages,
    conformance_damage.chunks,
    vlblocks,
    frames,
    damaged,
    directories,
    arrays,
    containers,
    old,
)


def main(arguments: Sequence[str] = sys.argv[1:]) -> None:
    """Write all files."""
    default = Path(__file__).parents[1] / "tests" / "data" / "conformance"
    maker = Maker(Path(arguments[0]) if arguments else default)
    for step in STEPS:
        step(maker)
    maker.finish()


if __name__ == "__main__":
    main()
