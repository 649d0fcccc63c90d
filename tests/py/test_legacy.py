# SPDX-License-Identifier: BSD-3-Clause
"""Frames of 2019 to 2021: every layout is read, converted, and refused when it is damaged.

The reference opens none of them; the generator is checked against real files when there are some.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
import sys
from pathlib import Path

import blosc2
import numpy as np
import pytest
from inputs import build_chunk, make, raw_stream

import blosc2c as b2
from blosc2c.cli import main

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import legacy_frames as legacy

READABLE = list(legacy.LAYOUTS)
META = {"alpha": b"\x01", "a-second-metalayer-name": b"\xa5hello"}
USERMETA = b"any bytes, not msgpack \xc1" * 3
DATA = [make(kind, 4000, i) for i, kind in enumerate(("ramp", "text", "random"))] + [make("float", 1000)]


def chunk_of(data: bytes, **kw) -> bytes:
    kw = {"typesize": 4, "codec": "lz4", "blocksize": 1024, **kw}
    return legacy.of_that_time(b2.compress2(data, **kw))


CHUNKS = [chunk_of(data) for data in DATA]


def metadata_of(name: str) -> dict:
    trailer = legacy.LAYOUTS[name].trailer
    if trailer.endswith(b"\x93"):
        packed = b"\x83\xa1a\x01\xa1b\x02\xa1c\x03"
        return {"vlmeta": {"v": b2.compress2(packed, typesize=1)}}
    return {"usermeta": legacy.memcpy_chunk(USERMETA)} if trailer else {}


def frame(name: str, **kw) -> bytes:
    kw = {"meta": META, "chunksize": 4000, **metadata_of(name), **kw}
    return legacy.build(legacy.LAYOUTS[name], kw.pop("chunks", CHUNKS), **kw)


def check(s: b2.SChunk, name: str, data: list[bytes] | None = None, meta=META) -> None:
    data = DATA if data is None else data
    assert [s.decompress_chunk(n) for n in range(s.nchunks)] == data
    assert s[:] == b"".join(data) and s[200:1200] == b"".join(data)[800:4800]
    assert {key: s.meta.raw(key) for key in s.meta} == meta
    given = metadata_of(name)
    if "usermeta" in given:
        assert s.vlmeta[:] == {"usermeta": USERMETA}
    else:
        assert s.vlmeta[:] == ({"v": {"a": 1, "b": 2, "c": 3}} if given else {})


@pytest.mark.parametrize("place", ["bytes", "copy", "file", "mapped", "inside", "reader"])
@pytest.mark.parametrize("name", READABLE)
def test_every_layout(name, place, tmp_path):
    stored = frame(name)
    path = tmp_path / "old"
    path.write_bytes(stored if place != "inside" else b"x" * 77 + stored + b"behind" * 9)
    if place in ("bytes", "copy"):
        s = b2.schunk_from_cframe(stored, copy=place == "copy")
    elif place == "reader":
        s = b2.open(path.open("rb"))
    else:
        kw = {"mapped": {"mmap_mode": "r"}, "inside": {"offset": 77}}.get(place, {})
        s = b2.open(path, **kw)
    with s:
        assert s.is_legacy and s.is_writable == (place == "copy")
        assert (s.typesize, s.chunksize, s.nbytes) == (4, 4000, 13000)
        assert (s.cparams.codec, s.cparams.clevel) == (b2.Codec.LZ4, 5)
        assert b2.Filter.SHUFFLE in s.cparams.filters
        check(s, name)
        # What was opened can be written as a frame of today, which the reference opens.
        theirs = blosc2.schunk_from_cframe(s.to_cframe())
        assert theirs[:] == b"".join(DATA)
        if place == "copy":
            s.append_data(b"more")
            assert s[:] == b"".join(DATA) + b"more"


@pytest.mark.parametrize("name", READABLE)
def test_conversion(name, tmp_path, capsys):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(frame(name))
    assert main(["convert", str(old), str(new)]) == 0
    assert "4 chunks, 2 metalayers" in capsys.readouterr().err
    with b2.open(new) as s:
        assert not s.is_legacy and s.chunksize == 4000
        check(s, name)
    theirs = blosc2.open(str(new), mode="r")
    assert theirs[:] == b"".join(DATA) and theirs.chunksize == 4000
    if "usermeta" in metadata_of(name):
        assert theirs.vlmeta["usermeta"] == USERMETA
    assert old.read_bytes() == frame(name)
    assert main(["convert", str(old), str(new)]) == 2
    assert main(["convert", "--force", str(old), str(new)]) == 0
    with b2.open(new, "a") as s:
        s.append_data(b"1234")
    assert b2.verify(new).ok


def test_conversion_of_other_things(tmp_path):
    a = np.arange(1000.0).reshape(20, 50)
    b2.asarray(a, urlpath=tmp_path / "dir", contiguous=False, chunks=(7, 7), blocks=(3, 4)).close()
    b2.convert(tmp_path / "dir", tmp_path / "file")
    assert (b2.open(tmp_path / "file")[...] == a).all()
    b2.convert(tmp_path / "file", tmp_path / "again", contiguous=False)
    assert (tmp_path / "again").is_dir() and (b2.open(tmp_path / "again")[...] == a).all()
    with pytest.raises(FileExistsError):
        b2.convert(tmp_path / "file", tmp_path / "again")
    damaged = bytearray(b2.SChunk(data=make("random", 9000), chunksize=3000).to_cframe())
    damaged[3100:3110] = bytes(10)
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(b2.CorruptError):
        b2.convert(tmp_path / "damaged", tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_large_dictionaries_are_replaced_when_converting(tmp_path):
    """Libraries of that time made dictionaries that those of today refuse."""
    words = make("random", 40000)
    stream = b"\x0f" + struct.pack("<H", 30000) + bytes([181]) + b"\x50hello"
    want = (words[10000:][:200] + b"hello") * 2
    block = raw_stream(stream)
    chunk = build_chunk(410, [block, block], blocksize=205, flags=0x35, version=4, dictionary=words)
    layout = legacy.LAYOUTS["beta.3"]
    (tmp_path / "old").write_bytes(legacy.build(layout, [chunk], typesize=1, filters=()))
    with b2.open(tmp_path / "old") as s:
        assert s[:] == want
    b2.convert(tmp_path / "old", tmp_path / "new")
    assert blosc2.open(str(tmp_path / "new"))[:] == want


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("meta", [{}, META])
def test_empty_frames(name, meta):
    s = b2.schunk_from_cframe(frame(name, chunks=[], chunksize=0, meta=meta))
    assert (s.nchunks, s.nbytes, s[:]) == (0, 0, b"")
    check(s, name, [], meta)


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("chunksize", [0, 4000])
def test_a_shorter_last_chunk(name, chunksize):
    """Whether the frame calls its chunks variable or not, they are of one size but for the last."""
    s = b2.schunk_from_cframe(frame(name, chunksize=chunksize))
    assert s.chunksize == 4000
    check(s, name)


def test_chunks_of_various_sizes():
    data = [DATA[3], DATA[0], DATA[3][:500]]
    s = b2.schunk_from_cframe(frame("beta.3", chunks=[chunk_of(d) for d in data], chunksize=0))
    assert s.chunksize == 0
    check(s, "beta.3", data)


@pytest.mark.parametrize("name", ["2021-01-16", "2021-02-05"])
@pytest.mark.parametrize("sparse", [False, True])
def test_special_entries(name, sparse, tmp_path):
    nan = np.full(1000, np.nan, "<f4").tobytes()
    want = [bytes(4000), CHUNKS[0], nan, bytes(4000), bytes(400)]
    entries = [legacy.ZEROS, CHUNKS[0], legacy.NANS, legacy.UNINIT, legacy.ZEROS]
    stored = frame(name, chunks=entries, nbytes=16400, sparse=sparse)
    if sparse:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "chunks.b2frame").write_bytes(stored)
        (tmp_path / "d" / "00000000.chunk").write_bytes(CHUNKS[0])
        s = b2.open(tmp_path / "d")
        with pytest.raises(b2.ReadOnlyError):
            b2.open(tmp_path / "d", "a")
    else:
        s = b2.schunk_from_cframe(stored)
    want[1] = DATA[0]
    got = [s.decompress_chunk(n) for n in range(5)]
    assert [g.hex() for g in got] == [w.hex() for w in want]
    s.close()
    if sparse and name == "2021-02-05":
        with pytest.raises(b2.CorruptError, match="directory"):
            b2.open(tmp_path / "d" / "chunks.b2frame")


def test_pipelines_of_several_filters():
    data = make("ramp", 4096)
    chunk = chunk_of(data, filters=["delta", "shuffle"], filters_meta=[0, 0])
    for name in READABLE:
        s = b2.schunk_from_cframe(frame(name, chunks=[chunk], filters=(3, 1), chunksize=4096))
        assert s[:] == data
        used = [f for f in s.cparams.filters if f is not b2.Filter.NOFILTER]
        # One layout tells them in a metalayer of its own: slots 4 and 5.
        assert used == [b2.Filter.DELTA, b2.Filter.SHUFFLE]
        assert "_filter_pipeline" not in s.meta
    s = b2.schunk_from_cframe(frame("2019-08-27", chunks=[], chunksize=0))
    assert [f.value for f in s.cparams.filters] == [0, 0, 0, 0, 3, 1]


def test_usermeta_that_outgrew_the_stored_length():
    """The first writers of trailers did not update the frame's length."""
    for n in (0, 1, 1000):
        chunk = legacy.memcpy_chunk(b"u" * n)
        stored = frame("2019-08-26 stale", usermeta=chunk)
        assert struct.unpack(">Q", stored[16:24])[0] == len(stored) - len(chunk)
        s = b2.schunk_from_cframe(stored)
        assert s.vlmeta["usermeta"] == b"u" * n
        assert s.c_info().frame_len == len(stored)


def test_usermeta_is_limited():
    bomb = struct.pack("<4B3i", 4, 1, 5, 1, 1 << 30, 1 << 20, 32) + bytes(15) + b"\x10"
    with pytest.raises(b2.LimitError):
        b2.schunk_from_cframe(frame("beta.3", usermeta=bomb))


@pytest.mark.parametrize("name", READABLE)
def test_entries_that_share_a_chunk(name):
    """Copies would be larger than the frame."""
    shared = frame(name, chunks=[CHUNKS[0], CHUNKS[1], 0, CHUNKS[2]], nbytes=16000)
    with pytest.raises(b2.CorruptError, match="chunk 2") as caught:
        b2.schunk_from_cframe(shared)
    assert "second number" in str(caught.value)


def test_128_bit_entries_must_be_places():
    """The layout of two days; nobody knows what else would be in the upper halves."""
    good = frame("2021-01-05")
    entry = good.rindex(struct.pack("<QQ", len(CHUNKS[0]), 0))
    high = good[: entry + 8] + b"\1" + good[entry + 9 :]
    with pytest.raises(b2.CorruptError, match="128-bit entry"):
        b2.schunk_from_cframe(high)
    narrow = frame("beta.3", chunks=CHUNKS[:3])
    with pytest.raises(b2.CorruptError, match="does not hold 128-bit"):
        b2.schunk_from_cframe(narrow[:0x19] + b"\x31" + narrow[0x1A:])


def test_what_cannot_be_changed_says_so(tmp_path):
    path = tmp_path / "old"
    path.write_bytes(frame("beta.1"))
    before = path.read_bytes()
    for call in (lambda: b2.open(path, "a"), lambda: b2.compact(path)):
        with pytest.raises(b2.ReadOnlyError, match="convert"):
            call()
    with b2.open(path, mmap_mode="c") as s:
        s.append_data(DATA[0])
        assert s.nchunks == 5
    assert path.read_bytes() == before
    assert b2.verify(path).ok and b2.load(path)[:] == b"".join(DATA)


@pytest.mark.parametrize("name", legacy.LAYOUTS)
def test_truncations(name):
    """Every shorter file is refused; of those with a stale length, the user metadata may be cut off."""
    stored = frame(name, chunks=CHUNKS[1:2])
    for n in range(len(stored)):
        try:
            s = b2.schunk_from_cframe(stored[:n])
        except b2.Blosc2Error:
            continue
        assert "stale" in name and s[:] == DATA[1]


@pytest.mark.parametrize("name", legacy.LAYOUTS)
def test_mutations(name):
    """Any change gives an error of ours or some data, never anything else."""
    rng = random.Random(name)
    stored = frame(name, chunks=CHUNKS[1:])
    places = [*range(0, 160), *range(len(stored) - 150, len(stored))]
    for place in places:
        for value in (0, 0xFF, rng.randrange(256)):
            damaged = bytearray(stored)
            damaged[place] = value
            try:
                s = b2.schunk_from_cframe(bytes(damaged))
                for n in range(min(s.nchunks, 5)):
                    s.decompress_chunk(n)
                assert len(s.meta) <= 16 and isinstance(s.vlmeta[:], dict)
                s.to_cframe()
            except b2.Blosc2Error:
                pass


DAMAGES = {  # name: (place, bytes, what is said of it)
    "header length": (0x0B, b"\0\0\0\x10", "header"),
    "frame length": (0x10, b"\xff" * 8, "frame"),
    "decoded size": (0x1E, b"\x80", "negative"),
    "size of the chunks": (0x27, b"\x80", "negative"),
    "index too far away": (0x27, b"\x7f", "index"),
    "type size": (0x30, b"\0\0\0\0", "type size"),
    "chunk size": (0x35, b"\x80\0\0\0", "chunk size"),
    "fixext": (0x40, b"\xd7", "filters"),
    "number of filters": (0x41, b"\7", "filters"),
    "more than it has": (0x1E, b"\0\0\0\0\0\1\0\0", "add up|entries|expects"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damages_are_named(damage):
    place, new, what = DAMAGES[damage]
    stored = frame("beta.3")
    with pytest.raises(b2.FormatError, match=what):
        s = b2.schunk_from_cframe(stored[:place] + new + stored[place + len(new) :])
        s.decompress_chunk(0)


# ---- real files ----


def test_samples(samples, tmp_path):
    expected = json.loads((samples / "legacy" / "expected.json").read_text())["frames"]
    for f in expected:
        path = samples / "legacy" / f["file"]
        with b2.open(path) as s:
            b2.convert(path, tmp_path / f["file"])
            for obj in (s, b2.open(tmp_path / f["file"]), blosc2.open(str(tmp_path / f["file"]), mode="r")):
                assert hashlib.sha256(obj[:]).hexdigest() == f["data_sha256"]
                assert (obj.nchunks, obj.nbytes, obj.typesize) == (f["nchunks"], f["nbytes"], f["typesize"])
            for obj in (s, b2.open(tmp_path / f["file"])):
                assert {key: obj.meta.raw(key).hex() for key in obj.meta} == f["metalayers"]
                usermeta = obj.vlmeta["usermeta"].hex() if "usermeta" in obj.vlmeta else ""
                assert usermeta == f.get("usermeta", "")
                assert obj.cparams.codec.name.lower() == f["codec"] and obj.cparams.clevel == f["clevel"]


LAYOUT_OF = {
    "beta.1": "beta.1",
    "c39cc991": "2019-08-26",
    "beta.2": "beta.2",
    "beta.5": "beta.3",
    "e411d877": "2021-02-05",
}


def test_the_generator_makes_what_was_written_then(samples):
    for f in json.loads((samples / "legacy" / "expected.json").read_text())["frames"]:
        stored, base = (samples / "legacy" / f["file"]).read_bytes(), f["header_len"]
        chunks: list = []
        for entry in f["offsets"]:
            at = int(entry, 16) if isinstance(entry, str) else entry
            n = 0 if at >> 63 else struct.unpack_from("<i", stored, base + at + 12)[0]
            chunks.append(at if at >> 63 else stored[base + at : base + at + n])
        fields = f.get("filters_field")
        at = len(stored) - f.get("trailer_len", 0)
        made = legacy.build(
            legacy.LAYOUTS[LAYOUT_OF[f["file"].split("__")[0]]],
            chunks,
            nbytes=f["nbytes"],
            typesize=f["typesize"],
            codec=int(f["byte_0x1b"], 16) & 15,
            clevel=f["clevel"],
            chunksize=f["chunksize_field"],
            filters=fields if isinstance(fields, list) else (1,),
            meta={name: bytes.fromhex(content) for name, content in f["metalayers"].items()},
            usermeta=stored[at + 7 : -23] if f.get("usermeta") else b"",
        )
        # An index chunk that was given up as incompressible has some flags more.
        differing = {i for i in range(len(stored)) if made[i] != stored[i]}
        assert len(made) == len(stored) and differing <= {base + f["cbytes"] + 2}
