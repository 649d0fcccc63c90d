# SPDX-License-Identifier: BSD-3-Clause
"""Frames whose chunks share bytes: copies would be larger than they are, so they are refused."""

from __future__ import annotations

import os
import random
import struct

import numpy as np
import pytest
from forged import entries_of, index_of, join, split

import blosc2c as b2

SIZE = 1000
DATA = b"".join(random.Random(i).randbytes(SIZE // 2) + bytes(SIZE // 2) for i in range(8))


def sound(n: int = 8) -> bytes:
    s = b2.SChunk(chunksize=SIZE, cparams={"typesize": 1}, checksums=False)
    for i in range(n):
        s.append_data(DATA[i * SIZE : (i + 1) * SIZE])
    return s.to_cframe()


def with_entries(entries: list[int], frame: bytes | None = None) -> bytes:
    parts = split(sound() if frame is None else frame)
    return join(parts._replace(index=index_of(entries)), len(entries) * SIZE)


def doubled() -> bytes:
    """Chunk 5 is also chunk 2, chunk 1 also chunk 6."""
    entries = entries_of(split(sound()))
    entries[5], entries[6] = entries[2], entries[1]
    return with_entries(entries)


def nested(which: tuple[int, ...] = (1, 4)) -> bytes:
    """Some chunks reach to the end of the payload, over all that follow; they decode all the same."""
    parts = split(sound())
    payload = bytearray(parts.payload)
    for at in (int(entries_of(parts)[i]) for i in which):
        struct.pack_into("<I", payload, at + 12, len(payload) - at)
    return join(parts._replace(payload=bytes(payload)), 8 * SIZE)


@pytest.mark.parametrize("reverse", [False, True])
def test_each_order_of_sound_chunks_is_read(reverse):
    parts = split(sound())
    order = list(range(8))
    random.Random(2).shuffle(order)
    entries = [entries_of(parts)[i] for i in order]
    zero = 0x81 << 56
    entries[3:3] = [zero] * 2
    frame = with_entries(entries)
    s = b2.from_cframe(frame)
    chunks = [DATA[i * SIZE : (i + 1) * SIZE] for i in order]
    chunks[3:3] = [bytes(SIZE)] * 2
    assert s[:] == b"".join(chunks)
    assert b2.from_cframe(s.to_cframe())[:] == s[:]


@pytest.mark.parametrize("copy", [False, True])
def test_two_entries_for_one_chunk(copy, tmp_path):
    frame = doubled()
    with pytest.raises(b2.CorruptError, match="index names a chunk") as info:
        b2.from_cframe(frame, copy=copy)
    assert (info.value.chunk, info.value.expected, info.value.actual) == (6, 1, 6)
    path = tmp_path / "x.b2frame"
    path.write_bytes(frame)
    for mode in ("r", "a"):
        with pytest.raises(b2.CorruptError, match="index names a chunk"):
            b2.open(path, mode)
    with pytest.raises(b2.CorruptError, match="index names a chunk"):
        b2.convert(path, tmp_path / "y")
    assert [(p.kind, p.chunk) for p in b2.verify(path).problems] == [("frame", 6)]


def test_repair_keeps_one_of_each(tmp_path):
    path, target = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    path.write_bytes(doubled())
    report = b2.repair(path, target)
    assert (report.nkept, report.nlost) == (6, 2)
    assert report.lost == [range(5, 6), range(6, 7)]
    assert [p.chunk for p in report.problems if p.kind == "chunk"] == [5, 6]
    with b2.open(target) as s:
        assert s[:] == DATA[: 5 * SIZE] + bytes(2 * SIZE) + DATA[7 * SIZE :]


def test_all_entries_for_one_chunk(tmp_path):
    """A copy of what a small file claims to have would take gigabytes."""
    path, target = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    path.write_bytes(with_entries([0] * 4_000_000, sound(1)))
    assert path.stat().st_size < 40_000
    with pytest.raises(b2.CorruptError, match="index names a chunk"):
        b2.open(path)
    b2.repair(path, target)
    assert target.stat().st_size < 3000
    with b2.open(target) as s:
        assert s[:] == DATA[:SIZE]


def test_variable_sizes_are_not_read_for_each_entry():
    """The header of one chunk would be read for millions of entries."""
    parts = split(sound(1))
    n = 4_000_000
    frame = join(parts._replace(index=index_of([0] * n)), n * SIZE, chunksize=0)
    with pytest.raises(b2.CorruptError, match="index names a chunk"):
        b2.from_cframe(frame)


def test_directory(tmp_path):
    path, target = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    s = b2.SChunk(chunksize=SIZE, cparams={"typesize": 1}, urlpath=path, contiguous=False, checksums=False)
    for i in range(4):
        s.append_data(DATA[i * SIZE : (i + 1) * SIZE])
    s.close()
    index = path / "chunks.b2frame"
    raw = index.read_bytes()
    parts = split(raw[:0x27] + bytes(8) + raw[0x2F:])
    forged = bytearray(join(parts._replace(index=index_of([0, 1, 2, 1])), 4 * SIZE))
    forged[0x27:0x2F] = raw[0x27:0x2F]
    index.write_bytes(forged)
    with pytest.raises(b2.CorruptError, match="index names a chunk") as info:
        b2.open(path)
    assert info.value.chunk == 3
    report = b2.repair(path, target)
    assert (report.nkept, report.lost) == (3, [range(3, 4)])
    with b2.open(target) as s:
        assert s[:] == DATA[: 3 * SIZE] + bytes(SIZE)


def test_a_chunk_does_not_reach_into_the_next(tmp_path):
    path, target = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    path.write_bytes(nested())
    for mode in ("r", "a"):
        with b2.open(path, mode) as s:
            for i in range(8):
                if i in (1, 4):
                    with pytest.raises(b2.Blosc2Error):
                        s.decompress_chunk(i)
                    with pytest.raises(b2.Blosc2Error):
                        s.get_chunk(i)
                else:
                    assert s.decompress_chunk(i) == DATA[i * SIZE : (i + 1) * SIZE]
            with pytest.raises(b2.Blosc2Error):
                s.to_cframe()
    assert [p.chunk for p in b2.verify(path).problems] == [1, 4]
    report = b2.repair(path, target)
    assert report.lost == [range(1, 2), range(4, 5)]
    with b2.open(target) as s:
        assert s[:SIZE] == DATA[:SIZE]
        assert s[5 * SIZE :] == DATA[5 * SIZE :]


@pytest.mark.parametrize("special", [False, True])
def test_nor_behind_other_entries(special):
    """The next place is not that of the next entry."""
    frame = nested()
    entries = entries_of(split(frame))
    entries = [*entries[:2], 0x81 << 56, *entries[2:]] if special else entries[::-1]
    s = b2.from_cframe(with_entries(entries, frame))
    assert [i for i in range(s.nchunks) if not reads(s, i)] == ([1, 5] if special else [3, 6])


def test_no_chunk_is_where_there_is_no_payload(tmp_path):
    """The first chunk that somebody adds would get its place."""
    parts = split(sound(1))._replace(payload=b"")
    path = tmp_path / "x.b2frame"
    path.write_bytes(join(parts._replace(index=index_of([0])), SIZE))
    for mode in "ra":
        with pytest.raises(b2.CorruptError, match="a chunk lies outside the frame"):
            b2.open(path, mode)


def reads(s: b2.SChunk, nchunk: int) -> bool:
    try:
        s.decompress_chunk(nchunk)
    except b2.Blosc2Error:
        return False
    return True


@pytest.mark.parametrize("where", ["memory", "file"])
def test_copies_after_an_edit_are_no_larger(where, tmp_path):
    """Nobody knows of the places any more, but the chunks together are larger than the frame."""
    path = tmp_path / "x.b2frame"
    path.write_bytes(nested(tuple(range(8))))
    s = b2.open(path, "a") if where == "file" else b2.from_cframe(path.read_bytes(), copy=True)
    s.append_data(DATA[:SIZE])
    with pytest.raises(b2.CorruptError, match="share bytes"):
        s.to_cframe()
    with pytest.raises(b2.CorruptError, match="share bytes"):
        s.copy()
    if where == "file":
        with pytest.raises(b2.CorruptError, match="share bytes"):
            s.compact()


def test_log_of_a_killed_writer_names_no_chunk_again(tmp_path):
    """Chunks of the log in room that was used before are named by their place, too."""
    path, copy = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    s = b2.SChunk(chunksize=SIZE, cparams={"typesize": 1}, urlpath=path)
    for i in range(6):
        s.append_data(DATA[i * SIZE : (i + 1) * SIZE])
    for i in range(20):
        s.update_data(i % 3, np.random.default_rng(i).bytes(SIZE))
    copy.write_bytes(path.read_bytes())
    expected = s[:]
    s.close()
    assert os.path.getsize(copy) > 6 * SIZE
    assert b2.open(copy)[:] == expected


def test_chunks_are_still_refused_after_edits_that_were_taken_back(tmp_path):
    path = tmp_path / "x.b2frame"
    path.write_bytes(nested())
    with b2.open(path, "a") as s:
        for _ in range(2):
            with pytest.raises(b2.Blosc2Error):
                s.decompress_chunk(1)
            with pytest.raises(KeyError), s.transaction():
                s.append_data(bytes(SIZE))
                raise KeyError
