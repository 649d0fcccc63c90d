# SPDX-License-Identifier: BSD-3-Clause
"""What a crashed writer has left on disk, read and edited further by the reference library.

The states come from the C test of crashes: run it with B2C_CRASH_STATES naming an empty folder,
and these tests with the same.  Each state is a folder with "live.b2frame" and "expected": the
contents that are right, each after its length.
"""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import blosc2
import numpy as np
import pytest

import blosc2c as b2

Content = tuple[list[bytes], dict[str, bytes], dict[str, bytes]]

FOLDER = os.environ.get("B2C_CRASH_STATES")
FOLDERS = sorted(Path(FOLDER).iterdir()) if FOLDER else []
if not FOLDERS:
    pytest.skip("B2C_CRASH_STATES does not name a folder of states", allow_module_level=True)


class Cursor:
    def __init__(self, raw: bytes) -> None:
        self.raw, self.at = raw, 0

    def take(self, n: int) -> bytes:
        self.at += n
        assert self.at <= len(self.raw)
        return self.raw[self.at - n : self.at]

    def number(self) -> int:
        return struct.unpack("<I", self.take(4))[0]

    def block(self) -> bytes:
        return self.take(self.number())

    def metas(self) -> dict[str, bytes]:
        return {self.take(32).rstrip(b"\0").decode(): self.block() for _ in range(self.number())}


def unpack_bin(raw: bytes) -> bytes:
    """The bytes in a msgpack "bin" of one or two bytes of length."""
    return raw[2:] if raw[0] == 0xC4 else raw[3:]


def expected_contents(folder: Path) -> list[Content]:
    outer = Cursor((folder / "expected").read_bytes())
    found = []
    while outer.at < len(outer.raw):
        c = Cursor(outer.block())
        chunks = [c.block() for _ in range(c.number())]
        meta, vlmeta = ({k: unpack_bin(v) for k, v in c.metas().items() if k != "b2nd"} for _ in range(2))
        found.append((chunks, meta, vlmeta))
    return found


def content(found) -> Content:
    """Of a super-chunk, or that of an array, but for what describes it as one."""
    s = getattr(found, "schunk", found)
    return (
        [s.decompress_chunk(i) for i in range(s.nchunks)],
        {name: s.meta[name] for name in s.meta.keys() if name != "b2nd"},  # noqa: SIM118
        {name: s.vlmeta[name] for name in s.vlmeta.keys()},  # noqa: SIM118
    )


def can_append(found, path: Path) -> bool:
    """Whether a chunk may follow: the last one is whole, and not of an array, nor are its blocks of any size."""
    header = (path / "chunks.b2frame" if path.is_dir() else path).read_bytes()[:32]
    if hasattr(found, "schunk") or header[0x19] & 0x80:
        return False
    last = len(found.decompress_chunk(found.nchunks - 1)) if found.nchunks else 0
    return found.chunksize == 0 or last in (0, found.chunksize)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_reference_goes_on(tmp_path, folder: Path) -> None:
    expected = expected_contents(folder)
    path = tmp_path / "live.b2frame"
    copy = shutil.copytree if (folder / path.name).is_dir() else shutil.copy
    copy(folder / path.name, path)

    theirs = blosc2.open(str(path), mode="r")
    found = content(theirs)
    assert found in expected
    if hasattr(theirs, "schunk"):  # blocks of an array are asked for one by one
        np.testing.assert_array_equal(theirs[...], b2.open(path)[...])

    chunks, _, vlmeta = found
    s = blosc2.open(str(path), mode="a")
    if can_append(s, path):
        chunks.append(bytes(range(250)) * (len(chunks[0]) // 250 if chunks else 4))
        s.append_data(chunks[-1])
    else:
        vlmeta["more"] = b"new"
        getattr(s, "schunk", s).vlmeta["more"] = b"new"
    del s
    assert content(blosc2.open(str(path), mode="r")) == found
    assert content(b2.open(path)) == found
