# SPDX-License-Identifier: BSD-3-Clause
"""repair(): what a damaged file or directory still holds comes back, and nothing else."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import blosc2
import numpy as np
import pytest

import blosc2c as b2
from blosc2c.cli import main

NCHUNKS, ITEMS = 6, 500
DATA = np.random.default_rng(3).integers(0, 50, NCHUNKS * ITEMS).astype("<i4")
PARTS = DATA.reshape(NCHUNKS, ITEMS)
LIBRARIES = {"ours": b2, "reference": blosc2}


def make_schunk(library: str, path: Path, contiguous: bool = True) -> None:
    lib = LIBRARIES[library]
    s = lib.SChunk(
        ITEMS * 4, contiguous=contiguous, urlpath=str(path), cparams={"typesize": 4}, meta={"fixed": 7}
    )
    for part in PARTS:
        s.append_data(part)
    s.vlmeta["user"] = {"k": [1, 2]}
    s.vlmeta["other"] = "x" * 100
    if lib is b2:
        s.close()


def make_array(library: str, path: Path, contiguous: bool = True) -> np.ndarray:
    a = DATA[:2400].reshape(40, 60)
    x = LIBRARIES[library].asarray(
        a, chunks=(10, 60), blocks=(5, 20), urlpath=str(path), contiguous=contiguous
    )
    if library == "ours":
        x.close()
    return a


def chunks_of(path: Path) -> list[bytes]:
    with b2.open_schunk(path) as s:
        return [s.decompress_chunk(n) for n in range(s.nchunks)]


def place_of_chunks(path: Path) -> list[tuple[int, int]]:
    """Start and length of each chunk of a frame without special chunks."""
    raw = path.read_bytes()
    header_len, cbytes = struct.unpack(">i", raw[11:15])[0], struct.unpack(">q", raw[0x27:0x2F])[0]
    index = np.frombuffer(b2.decompress(raw[header_len + cbytes :]), "<i8")
    return [
        (header_len + int(at), struct.unpack_from("<i", raw, header_len + int(at) + 12)[0]) for at in index
    ]


def is_readable_by_reference(path: Path, expected: bytes) -> bool:
    got = blosc2.open(str(path), mode="r")
    data = got[:] if isinstance(got, blosc2.SChunk) else got[...].tobytes()
    return data == expected


@pytest.fixture(params=["ours", "reference"])
def library(request):
    return request.param


@pytest.mark.parametrize("contiguous", [True, False])
def test_a_sound_one_is_copied(library, contiguous, tmp_path):
    make_schunk(library, tmp_path / "a", contiguous)
    report = b2.repair(tmp_path / "a", tmp_path / "b")
    assert report.ok and report.nkept == NCHUNKS and report.nlost == 0 and not report.lost
    assert (tmp_path / "b").is_dir() == (not contiguous)
    with b2.open(tmp_path / "b") as s:
        assert s[:] == DATA.tobytes()
        assert dict(s.vlmeta) == {"user": {"k": [1, 2]}, "other": "x" * 100} and s.meta["fixed"] == 7
    assert b2.verify(tmp_path / "b").ok
    assert is_readable_by_reference(tmp_path / "b", DATA.tobytes())
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_every_truncation(library, tmp_path):
    path, cut, out = tmp_path / "a", tmp_path / "cut", tmp_path / "out"
    make_schunk(library, path)
    raw, places = path.read_bytes(), place_of_chunks(path)
    cuts = {*range(0, places[0][0] + 40), *range(len(raw) - 200, len(raw))}
    for at, n in places:
        cuts |= set(range(at - 3, at + 40)) | {at + n - 1, at + n, at + n + 1, at + n + 16, at + n // 2}
    for n in sorted(cut for cut in cuts if 0 <= cut < len(raw)):
        cut.write_bytes(raw[:n])
        whole = sum(at + size <= n for at, size in places)
        try:
            report = b2.repair(cut, out, mode="w")
        except b2.FormatError:
            assert n < 97, n
            continue
        assert not report.ok
        assert report.nkept == whole, n
        assert chunks_of(out) == [part.tobytes() for part in PARTS[:whole]], n
        if n >= places[0][0]:
            assert report.nlost == NCHUNKS - whole, n
    assert sorted(os.listdir(tmp_path)) == ["a", "cut", "out"]


def test_truncated_array_keeps_its_shape(library, tmp_path):
    a = make_array(library, tmp_path / "a")
    places = place_of_chunks(tmp_path / "a")
    raw = (tmp_path / "a").read_bytes()
    for whole in range(5):
        end = places[whole][0] + 50 if whole < 4 else len(raw) - 10
        (tmp_path / "cut").write_bytes(raw[:end])
        report = b2.repair(tmp_path / "cut", tmp_path / "out", mode="w")
        assert report.nkept == whole and report.nlost == 4 - whole
        if whole < 4:
            assert report.lost == [range(whole, 4)]
        expected = a.copy()
        expected[whole * 10 :] = 0
        with b2.open(tmp_path / "out") as x:
            assert isinstance(x, b2.NDArray) and x.dtype == a.dtype
            assert np.array_equal(x[...], expected)
        assert is_readable_by_reference(tmp_path / "out", expected.tobytes())


@pytest.mark.parametrize("library", ["ours", "reference"])
def test_each_byte_of_the_structure(library, tmp_path):
    """Header, index or trailer are damaged anywhere: no chunk is lost."""
    path, bad, out = tmp_path / "a", tmp_path / "bad", tmp_path / "out"
    make_schunk(library, path)
    raw, places = path.read_bytes(), place_of_chunks(path)
    expected = {part.tobytes() for part in PARTS}
    first, end = places[0][0], max(at + n for at, n in places)
    vlmetas = 0
    for i in [*range(first), *range(end + 40, len(raw))]:
        copy = bytearray(raw)
        copy[i] ^= (0x01, 0x80, 0xFF)[i % 3]
        bad.write_bytes(copy)
        report = b2.repair(bad, out, mode="w")
        with b2.open_schunk(out) as s:
            got = [s.decompress_chunk(n) for n in range(s.nchunks)]
            vlmetas += len(s.vlmeta)
        assert expected <= set(got), (i, str(report))
    assert vlmetas > 5 / 3 * (len(raw) - end)  # nearly always both of them


@pytest.mark.parametrize("n", [1, 15, 87, 100, 134])
def test_without_a_header(n, library, tmp_path):
    """What the index tells is kept, and checksums are compared: chunks tell where the header ended."""
    path = tmp_path / "a"
    s = LIBRARIES[library].SChunk(
        ITEMS * 4,
        urlpath=str(path),
        cparams={"typesize": 4, "clevel": 0},
        meta={"fixed": 7, "other": "x" * 20},
    )
    for part in (PARTS[0], 0 * PARTS[1], PARTS[2]):
        s.append_data(part)
    if library == "ours":
        s.close()
    raw = bytearray(path.read_bytes())
    header_len = struct.unpack_from(">i", raw, 11)[0]
    assert n < header_len
    raw[:n] = bytes(n)
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert report.has_index and report.nlost == 0
    assert chunks_of(tmp_path / "b") == [part.tobytes() for part in (PARTS[0], 0 * PARTS[1], PARTS[2])]
    raw[header_len + 100] ^= 1  # of the first chunk, which is stored as it is
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "c")
    assert report.lost == ([range(1)] if library == "ours" else [])


def test_values_of_vlmetalayers_are_no_data(tmp_path):
    """Neither index nor trailer begin as they should, but the header and the end of the file tell of both."""
    path = tmp_path / "a"
    make_schunk("ours", path)
    raw, (at, n) = bytearray(path.read_bytes()), place_of_chunks(path)[-1]
    index_at = struct.unpack_from(">i", raw, 11)[0] + struct.unpack_from(">q", raw, 0x27)[0]
    assert index_at >= at + n
    index_len = struct.unpack_from("<i", raw, index_at + 12)[0]
    raw[index_at : index_at + index_len + 9] = bytes(index_len + 9)
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert not report.has_index and report.nlost == 0
    assert chunks_of(tmp_path / "b") == [part.tobytes() for part in PARTS]


def test_damaged_chunks(library, tmp_path):
    path = tmp_path / "a"
    make_schunk(library, path)
    raw = bytearray(path.read_bytes())
    places = place_of_chunks(path)
    at, n = places[2]
    raw[at + n // 2 :] = bytes(b ^ 0x55 for b in raw[at + n // 2 : at + n]) + raw[at + n :]
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert [p.chunk for p in report.problems] == [2] and report.lost == [range(2, 3)]
    assert report.problems[0].kind in ("chunk", "checksum") and at <= report.problems[0].offset < at + n
    expected = PARTS.copy()
    expected[2] = 0
    assert b"".join(chunks_of(tmp_path / "b")) == expected.tobytes()
    report = b2.repair(path, tmp_path / "c", lost="drop")
    assert b"".join(chunks_of(tmp_path / "c")) == np.delete(PARTS, 2, 0).tobytes()
    assert report.nchunks == NCHUNKS - 1 and report.nlost == 1
    assert b2.verify(tmp_path / "b").ok and b2.verify(tmp_path / "c").ok


def test_damaged_chunk_without_index(tmp_path):
    path = tmp_path / "a"
    make_schunk("ours", path)
    raw, places = bytearray(path.read_bytes()), place_of_chunks(path)
    raw[places[1][0] + 60] ^= 0xFF
    path.write_bytes(raw[: places[5][0] - 20])  # the record of the fifth is cut, too
    report = b2.repair(path, tmp_path / "b")
    expected = PARTS[:5].copy()
    expected[1] = 0
    assert b"".join(chunks_of(tmp_path / "b")) == expected.tobytes()
    assert not report.has_index and report.lost == [range(1, 2), range(5, 6)]


def test_order_of_edited_chunks_comes_from_the_index(tmp_path):
    path = tmp_path / "a"
    with b2.SChunk(ITEMS * 4, urlpath=path, cparams={"typesize": 4}) as s:
        for part in PARTS[:4]:
            s.append_data(part)
        s.insert_data(1, PARTS[4])
        s.reorder_offsets([4, 3, 2, 1, 0])
        order = [s.decompress_chunk(n) for n in range(5)]
    raw = bytearray(path.read_bytes())
    raw[0x27:0x2F] = bytes(8)  # the way to the index
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert report.has_index and chunks_of(tmp_path / "b") == order


def test_specials_and_variable_sizes(tmp_path):
    path = tmp_path / "a"
    with b2.SChunk(400, urlpath=path, cparams={"typesize": 4}) as s:
        s.append_data(PARTS[0][:100])
        s.fill_special(250, b2.SpecialValue.ZERO)
        s.fill_special(100, b2.SpecialValue.VALUE, 7)
    before = chunks_of(path)
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1  # the fingerprint
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert report.nlost == 0 and chunks_of(tmp_path / "b") == before
    with b2.SChunk(400, urlpath=path, mode="w", cparams={"typesize": 4}) as s:
        for n in (100, 30, 70, 5):
            s.append_data(PARTS[0][:n])
    raw = bytearray(path.read_bytes())
    at, n = place_of_chunks(path)[1]
    raw[at + n - 5] ^= 0xFF
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b", mode="w")
    assert [len(c) for c in chunks_of(tmp_path / "b")] == [400, 120, 280, 20] and report.lost == [range(1, 2)]
    b2.repair(path, tmp_path / "b", mode="w", lost="drop")
    assert [len(c) for c in chunks_of(tmp_path / "b")] == [400, 280, 20]


def test_unfinished_file(tmp_path):
    """What a killed writer leaves, damaged on top."""
    path, copy = tmp_path / "a", tmp_path / "copy"
    with b2.SChunk(ITEMS * 4, urlpath=path, cparams={"typesize": 4}) as s:
        for part in PARTS:
            s.append_data(part)
            s.vlmeta["n"] = s.nchunks
        raw = path.read_bytes()
    for damage in (None, 16, 0x27, 3, 0x0C):
        copy.write_bytes(raw)
        if damage is not None:
            bad = bytearray(raw)
            bad[damage : damage + 2] = b"\x77\x77"
            copy.write_bytes(bad)
        b2.repair(copy, tmp_path / "b", mode="w")
        with b2.open(tmp_path / "b") as s:
            assert s[:] == DATA.tobytes(), damage
            assert s.vlmeta["n"] == NCHUNKS


def test_directories(library, tmp_path):
    for damage in ("no index", "bad index", "no chunk", "bad chunk", "link", "stray"):
        path, out = tmp_path / "d", tmp_path / "out"
        make_schunk(library, path, contiguous=False)
        index, third = path / "chunks.b2frame", path / "00000002.chunk"
        lost = damage in ("no chunk", "bad chunk", "link")
        if damage == "no index":
            index.unlink()
        elif damage == "bad index":
            index.write_bytes(index.read_bytes()[:120])
        elif damage == "no chunk":
            third.unlink()
        elif damage == "bad chunk":
            third.write_bytes(third.read_bytes()[:-100])
        elif damage == "link":
            (tmp_path / "elsewhere").write_bytes(third.read_bytes())
            third.unlink()
            third.symlink_to(tmp_path / "elsewhere")
        else:
            (path / "0000000g.chunk").write_bytes(b"")
            (path / "other").mkdir()
        report = b2.repair(path, out)
        expected = PARTS.copy()
        expected[2] = 0 if lost else expected[2]
        assert b"".join(chunks_of(out)) == expected.tobytes(), damage
        assert report.nlost == lost and report.has_index == (damage not in ("no index", "bad index"))
        assert out.is_dir() and b2.verify(out).ok
        shutil.rmtree(path)
        shutil.rmtree(out)


def test_array_in_a_directory_and_as_a_file(library, tmp_path):
    a = make_array(library, tmp_path / "d", contiguous=False)
    (tmp_path / "d" / "00000001.chunk").unlink()
    a = a.copy()
    a[10:20] = 0
    for contiguous in (None, True):
        report = b2.repair(tmp_path / "d", tmp_path / "out", mode="w", contiguous=contiguous)
        assert report.lost == [range(1, 2)]
        assert (tmp_path / "out").is_file() == (contiguous is True)
        with b2.open(tmp_path / "out") as x:
            assert np.array_equal(x[...], a)


def test_offset(tmp_path):
    make_schunk("ours", tmp_path / "a")
    raw = (tmp_path / "a").read_bytes()
    (tmp_path / "b").write_bytes(b"y" * 1000 + raw[:-50])
    report = b2.repair(tmp_path / "b", tmp_path / "c", offset=1000)
    assert report.nkept == NCHUNKS and b"".join(chunks_of(tmp_path / "c")) == DATA.tobytes()


def test_foreign_codecs_are_kept(tmp_path):
    path = tmp_path / "a"
    make_schunk("reference", path)
    raw = bytearray(path.read_bytes())
    at, n = place_of_chunks(path)[3]
    chunk = bytearray(raw[at : at + n])
    chunk[2] = chunk[2] & 0x1F | 0xC0
    chunk[22] = 37  # a plugin
    raw[at : at + n] = chunk
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert report.nlost == 0 and [p.chunk for p in report.problems] == [3]
    with b2.open(tmp_path / "b") as s:
        assert s.get_chunk(3) == bytes(chunk)


def test_metalayers(tmp_path):
    path = tmp_path / "a"
    make_schunk("reference", path)
    raw = bytearray(path.read_bytes())
    at = raw.index(b"\xa4user")
    raw[at + 6 : at + 10] = b"\x7f\xff\xff\xff"  # where its content is
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert report.nlost == 0 and not report.ok
    with b2.open(tmp_path / "b") as s:
        assert dict(s.vlmeta) == {"other": "x" * 100} and s[:] == DATA.tobytes()
    make_array("reference", path := tmp_path / "nd")
    raw = bytearray(path.read_bytes())
    at = raw.index(b"\x97\x00\x02\x92")
    raw[at + 5] = 0xFF  # the shape
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "c")
    assert [p.kind for p in report.problems] == ["array"]
    with b2.open(tmp_path / "c") as s:
        assert isinstance(s, b2.SChunk) and s.nchunks == 4


def test_damaged_dtype(tmp_path):
    a = make_array("reference", path := tmp_path / "nd")
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"<i4")] = ord(";")
    path.write_bytes(raw)
    report = b2.repair(path, tmp_path / "b")
    assert [p.kind for p in report.problems] == ["array"] and report.nlost == 0
    with b2.open(tmp_path / "b") as x:
        assert x.shape == a.shape and x.dtype == "S4" and x.tobytes() == a.tobytes()


def test_nothing_to_repair(tmp_path):
    (tmp_path / "x").write_bytes(b"no frame at all" * 100)
    with pytest.raises(b2.FormatError):
        b2.repair(tmp_path / "x", tmp_path / "y")
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(b2.FormatError):
        b2.repair(tmp_path / "x", tmp_path / "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(b2.FormatError):
        b2.repair(tmp_path / "empty", tmp_path / "y")
    with pytest.raises(FileNotFoundError):
        b2.repair(tmp_path / "absent", tmp_path / "y")
    assert sorted(os.listdir(tmp_path)) == ["empty", "x"]


def test_targets(tmp_path):
    make_schunk("ours", tmp_path / "a")
    (tmp_path / "b").write_bytes(b"keep")
    with pytest.raises(FileExistsError):
        b2.repair(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"keep"
    for target in (tmp_path / "a", tmp_path / ".." / tmp_path.name / "a"):
        with pytest.raises(ValueError, match="itself"):
            b2.repair(tmp_path / "a", target, mode="w")
    with pytest.raises(FileNotFoundError):
        b2.repair(tmp_path / "a", tmp_path / "absent" / "b")
    for bad in ({"mode": "r"}, {"lost": "x"}, {"offset": -1}):
        with pytest.raises(ValueError):
            b2.repair(tmp_path / "a", tmp_path / "c", **bad)
    assert b2.verify(tmp_path / "a").ok
    b2.repair(tmp_path / "a", tmp_path / "b", mode="w")
    assert b2.verify(tmp_path / "b").ok


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("kind", ["file", "directory", "link"])
def test_what_is_replaced_stays_until_the_end(tmp_path, kind, contiguous):
    make_schunk("ours", tmp_path / "a")
    target, real = tmp_path / "old", tmp_path / "target"
    b2.SChunk(data=b"keep", urlpath=target if kind != "link" else real, contiguous=kind == "file").close()
    if kind == "link":
        target.symlink_to(real)

    def fails(done: int, total: int) -> None:
        assert b2.open(target)[:] == b"keep"
        if done == total:
            raise OSError("no more")

    names = set(os.listdir(tmp_path))
    with pytest.raises(OSError, match="no more"):
        b2.repair(tmp_path / "a", target, mode="w", contiguous=contiguous, progress=fails)
    assert b2.open(target)[:] == b"keep" and set(os.listdir(tmp_path)) == names
    b2.repair(tmp_path / "a", target, mode="w", contiguous=contiguous)
    assert b2.verify(target).ok and target.is_dir() != contiguous
    assert set(os.listdir(tmp_path)) == names


def test_an_exception_stops_it(tmp_path):
    make_schunk("ours", tmp_path / "a")
    seen = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 3:
            raise KeyboardInterrupt("enough")

    for contiguous in (True, False):
        with pytest.raises(KeyboardInterrupt, match="enough"):
            b2.repair(tmp_path / "a", tmp_path / "b", progress=progress, contiguous=contiguous)
    assert seen == [(n, NCHUNKS) for n in range(4)] * 2
    assert os.listdir(tmp_path) == ["a"]


def test_noise_costs_little(tmp_path):
    """Any number of places that look like large chunks: the search is given up in time."""
    nbytes = 1 << 26
    head = struct.pack("<4B3i", 5, 1, 5, 1, nbytes, nbytes // 2, 48) + bytes(16)
    chunk = head + struct.pack("<2i", 40, 44) + bytes(8)
    path = tmp_path / "x"
    path.write_bytes(chunk * 3)
    b2.repair(path, tmp_path / "y")
    with b2.open(tmp_path / "y") as s:
        assert s.nchunks == 3 and s.nbytes == 3 * nbytes and s[nbytes : nbytes + 9] == bytes(9)
    # A whole block of zeros is decoded before the second one turns out to be none.
    bad = bytearray(chunk)
    bad[44:48] = b"\xff\0\0\0"
    path.write_bytes(bytes(bad) * 20_000)
    report = b2.repair(path, tmp_path / "z")
    assert report.nkept == 0 and "given up" in str(report)


def test_command_line(tmp_path, capsys):
    make_schunk("ours", tmp_path / "a")
    raw = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(raw[:-20])
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    assert main(["repair", a, b]) == 1
    assert f"{NCHUNKS} chunks kept" in capsys.readouterr().out
    assert main(["repair", a, b]) == 2
    assert main(["repair", a, b, "--force", "--directory", "--drop-lost"]) == 1
    assert (tmp_path / "b").is_dir() and main(["verify", b]) == 0
    assert main(["repair", b, str(tmp_path / "c")]) == 0
    assert main(["repair", str(tmp_path / "absent"), str(tmp_path / "d")]) == 1


@pytest.mark.parametrize("contiguous", [True, False])
def test_zeros_in_a_frame_of_variable_sizes(tmp_path, contiguous):
    """The reference keeps them in the index, and their size nowhere: it follows from those of the others."""
    path = tmp_path / "x"
    parts = [PARTS[0].tobytes()[:400], bytes(200), PARTS[1].tobytes()[:400]]
    s = blosc2.SChunk(chunksize=400, urlpath=str(path), contiguous=contiguous)
    for part in parts:
        s.append_data(part)
    del s
    report = b2.repair(path, tmp_path / "y")
    assert report.ok and (report.nkept, report.nlost) == (3, 0)
    with b2.open(tmp_path / "y") as new:
        assert [bytes(new.decompress_chunk(i)) for i in range(3)] == parts


def test_zeros_in_a_damaged_frame_of_variable_sizes(tmp_path):
    """Without the trailer, the index and the other chunks still tell the size of the zeros."""
    path = tmp_path / "x"
    parts = [PARTS[0].tobytes()[:400], bytes(200), PARTS[1].tobytes()[:400]]
    s = blosc2.SChunk(chunksize=400, urlpath=str(path), contiguous=True)
    for part in parts:
        s.append_data(part)
    del s
    frame = bytearray(path.read_bytes())
    frame[-21] ^= 0xFF  # the trailer's length
    path.write_bytes(frame)
    report = b2.repair(path, tmp_path / "y")
    assert not report.ok and (report.nkept, report.nlost) == (3, 0)
    with b2.open(tmp_path / "y") as new:
        assert [bytes(new.decompress_chunk(i)) for i in range(3)] == parts


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("trailer", [True, False])
def test_lost_chunks_of_variable_sizes(tmp_path, contiguous, header, trailer):
    """Zeros take their places as long as one size, at most, is told by the others only."""
    path, sizes = tmp_path / "a", (400, 120, 280, 20, 399)
    with b2.SChunk(400, urlpath=path, contiguous=contiguous) as s:
        for n in sizes:
            s.append_data(PARTS[n % 5].tobytes()[:n])
        chunks = [s.get_chunk(i) for i in range(5)]
        want = [s.decompress_chunk(i) for i in range(5)]

    def damage(nchunk: int) -> None:
        file = path if contiguous else path / f"{nchunk:08X}.chunk"
        at = file.read_bytes().index(chunks[nchunk]) + (0 if header else len(chunks[nchunk]) - 3)
        raw = bytearray(file.read_bytes())
        raw[at : at + 16] = bytes(b ^ 0xFF for b in raw[at : at + 16])
        file.write_bytes(raw)
        want[nchunk] = bytes(sizes[nchunk])

    if not trailer:  # the frame is opened part by part
        file = path if contiguous else path / "chunks.b2frame"
        raw = bytearray(file.read_bytes())
        raw[-21] ^= 0xFF  # the trailer's length
        file.write_bytes(raw)
    damage(1)
    report = b2.repair(path, tmp_path / "b")
    assert report.lost == [range(1, 2)] and report.nkept == 4
    assert chunks_of(tmp_path / "b") == want
    assert b2.verify(tmp_path / "b").ok
    damage(4)
    report = b2.repair(path, tmp_path / "b", mode="w")
    assert report.nlost == 2 and report.nkept == 3
    assert chunks_of(tmp_path / "b") == ([want[0], want[2], want[3]] if header else want)


FULL_DISK = """
import resource, sys
import blosc2c as b2
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    b2.repair("damaged", "new", contiguous=sys.argv[1] == "True")
except OSError as exc:
    print(exc.filename)
"""


@pytest.mark.parametrize("contiguous", [True, False])
def test_a_full_disk_is_that_of_the_new_one(tmp_path, contiguous):
    make_schunk("ours", tmp_path / "damaged")
    command = [sys.executable, "-c", FULL_DISK, str(contiguous)]
    out = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert out.stdout == "new\n"
    assert os.listdir(tmp_path) == ["damaged"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that takes no files")
@pytest.mark.parametrize("contiguous", [True, False])
def test_a_folder_that_takes_no_files_is_named(tmp_path, contiguous):
    make_schunk("ours", tmp_path / "damaged")
    with pytest.raises(OSError) as info:
        b2.repair(tmp_path / "damaged", "/proc/self/new", contiguous=contiguous)
    assert info.value.filename == "/proc/self/new"
