"""Files of the conformance set that must be refused, each with one defect.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import handmade as hm
import numpy as np

if TYPE_CHECKING:
    from make_conformance import Maker

DATA = np.arange(200, dtype="<i4").tobytes()


def changed(stored: bytes, at: int, new: bytes) -> bytes:
    """These bytes in place of what is there."""
    return stored[:at] + new + stored[at + len(new) :]


def i32(value: int) -> bytes:
    """As chunks have it."""
    return struct.pack("<i", value)


def chunks(m: Maker) -> None:
    """Chunks."""
    good = hm.assemble(hm.cut(DATA, 400, hm.raw), 800, 400, flags=0x15)
    stream = 32 + 8  # the first one

    def add(name: str, shows: str, stored: bytes, error: str, **more: Any) -> None:
        m.add(f"bad-{name}.chunk", shows, "chunk", stored, error=error, **more)

    add("short", "a chunk cut short", good[:-5], "TruncatedError")
    add("short-header", "a header cut short", good[:20], "TruncatedError")
    add("typesize", "items of 0 bytes", changed(good, 3, b"\0"), "CorruptError")
    add("nbytes", "a negative size", changed(good, 4, i32(-1)), "CorruptError")
    add("blocksize", "blocks of 0 bytes", changed(good, 8, i32(0)), "CorruptError")
    add("cbytes", "shorter than its header", changed(good, 12, i32(20)), "CorruptError")
    add("flags2", "a flag of a later version", changed(changed(good, 0, b"\7"), 30, b"\2"), "FormatError")
    add("start", "a block that starts in the header", changed(good, 32, i32(8)), "CorruptError")
    add("start-behind", "a block that starts behind the end", changed(good, 36, i32(9999)), "CorruptError")
    add("stream", "a stream longer than the chunk", changed(good, stream, i32(9999)), "CorruptError")
    add("stream-length", "a stream that decodes to too few bytes", _short_stream(), "CorruptError")
    add("run", "a run without its mark", changed(good, stream, i32(-5) + b"\0"), "CorruptError")
    add("run-value", "a run of a byte above 255", changed(good, stream, i32(-256) + b"\1"), "CorruptError")
    for kind in (5, 6, 7):
        add(f"special-{kind}", "an unknown kind", hm.special(kind << 4, 800), "CorruptError")
    add("value", "a value that does not fit", hm.special(hm.VALUE, 802, b"abcd"), "CorruptError")
    add("value-none", "a value of no bytes", hm.special(hm.VALUE, 800), "CorruptError")
    add("nans", "NaN of half an item", hm.special(hm.NAN, 802, typesize=4), "CorruptError")
    add("nans-2", "NaN of 2 bytes", hm.special(hm.NAN, 800, typesize=2), "FormatError")
    add("memcpy", "stored data of another size", changed(hm.memcpy(DATA), 4, i32(700)), "CorruptError")
    special = hm.special(hm.ZERO, 800, flags2=1)
    add("vlblocks-special", "blocks of any sizes in a special chunk", special, "CorruptError")
    fields: dict[str, Any] = {"version": 6, "flags": 0x15, "flags2": 1, "typesize": 1}
    parts = [hm.sized(b"abc"), hm.sized(b"")]
    add("vlblocks-empty", "an empty block", hm.assemble(parts, 3, 2, **fields), "CorruptError")
    parts = [hm.sized(b"abc"), hm.sized(b"d")]
    add("vlblocks-sum", "blocks that do not add up", hm.assemble(parts, 5, 2, **fields), "CorruptError")
    blocks = hm.cut(DATA, 400, hm.raw)
    stored = hm.assemble(blocks, 800, 400, between=i32(9999), flags=0x95, special=1, codec=5)
    add("dictionary", "a dictionary longer than the chunk", stored, "CorruptError")
    for number, says in ((200, "200"), (38, "openzl"), (41, "41")):
        stored = hm.assemble([hm.sized(bytes(9))], 800, 800, flags=0xD5, codec=number)
        add(f"codec-{number}", f"codec {number}", stored, "UnknownCodecError", says=says)
    for number in (40, 200):
        stored = hm.assemble(blocks, 800, 400, flags=0x15, filters=[number])
        add(f"filter-{number}", f"filter {number}", stored, "UnknownFilterError", says=str(number))


def _short_stream() -> bytes:
    return hm.assemble([hm.coded(b"ab" * 100, "BLOSCLZ")], 800, 800, flags=0x15)


def frames(m: Maker, good: bytes) -> None:
    """Frames of three chunks."""
    good = unsealed(good)
    header_len = struct.unpack(">I", good[11:15])[0]
    cbytes = struct.unpack(">q", good[0x27:0x2F])[0]

    def add(name: str, shows: str, stored: bytes, error: str) -> None:
        m.add(f"bad-{name}.b2frame", shows, "schunk", stored, error=error)

    add("short", "a frame cut short", good[:-9], "TruncatedError")
    add("magic", "another magic", b"x" + good[1:], "FormatError")
    add("version", "a version of the future", changed(good, 0x19, b"\x1f"), "FormatError")
    add("typesize", "items of 0 bytes", changed(good, 0x30, bytes(4)), "CorruptError")
    add("chunksize", "a chunk size below -1", changed(good, 0x3A, b"\xff\xff\xff\xf0"), "CorruptError")
    add(
        "nbytes", "more data than the chunks have", changed(good, 0x1E, b"\0" * 6 + b"\x20\0"), "CorruptError"
    )
    add("header-length", "a header longer than the frame", changed(good, 11, b"\0\1\0\0"), "FormatError")
    add("trailer", "no trailer", changed(good, len(good) - 23, b"\0"), "CorruptError")
    index = hm.memcpy(struct.pack("<3q", 0, 1 << 40, 0), typesize=8)
    at = header_len + cbytes
    tail = good[-35:]
    stored = good[:at] + index + tail
    stored = changed(stored, 0x10, struct.pack(">Q", len(stored)))
    add("index", "a chunk far behind the end", stored, "CorruptError")
    add("chunk", "a chunk that is damaged", changed(good, header_len + 3, b"\0"), "CorruptError")


def arrays(m: Maker, good: bytes) -> None:
    """Arrays of one dimension."""
    at = good.index(b"b2nd", 0x57)
    layer = good.index(b"\x97\0\1\x91", at)

    def add(name: str, shows: str, where: int, new: bytes) -> None:
        stored = unsealed(changed(good, layer + where, new))
        m.add(f"bad-{name}.b2nd", shows, "array", stored, error="CorruptError")

    add("ndim", "17 dimensions", 2, b"\x11")
    add("shape", "a negative shape", 5, b"\xff" * 8)
    add("chunkshape", "a negative chunk shape", 15, b"\xff" * 4)
    add("blockshape", "a block shape of 0", 21, bytes(4))


def unsealed(stored: bytes) -> bytes:
    """Without the fingerprint: the defect is to be found, not that something changed."""
    return changed(stored, len(stored) - 17, bytes(17))
