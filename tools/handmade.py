"""Chunks put together byte by byte: of every age, and of kinds that no compressor makes.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import blosc2c as b2

SHUFFLE, EXTENDED, MEMCPY, BITSHUFFLE, DELTA, UNSPLIT = 1, 5, 2, 4, 8, 16  # flags
FORMATS = {"BLOSCLZ": 0, "LZ4": 1, "LZ4HC": 1, "ZLIB": 3, "ZSTD": 4}
ZERO, NAN, VALUE, UNINIT = 0x10, 0x20, 0x30, 0x40  # blosc2_flags


# ---- streams ----


def raw(data: bytes) -> bytes:
    """A stream of bytes as they are."""
    return struct.pack("<i", len(data)) + data


def run(value: int) -> bytes:
    """A stream of one byte, over and over."""
    return struct.pack("<i", -value) + b"\1" if value else bytes(4)


def sized(coded: bytes) -> bytes:
    """A stream that a codec has made."""
    return struct.pack("<i", len(coded)) + coded


def coded(data: bytes, codec: str) -> bytes:
    """A stream of a codec, taken out of a chunk of one block."""
    kw = {"splitmode": b2.SplitMode.NEVER_SPLIT, "filters": [b2.Filter.NOFILTER]}
    chunk = b2.compress2(data, typesize=1, blocksize=len(data), codec=b2.Codec[codec], **kw)
    assert len(chunk) < len(data), "does not become smaller"
    return bytes(chunk[36:])


# ---- filters, as the format describes them ----


def shuffled(data: bytes, unit: int) -> bytes:
    """Shuffle; what is left at the end stays."""
    n = len(data) // unit * unit
    return bytes(np.frombuffer(data[:n], "u1").reshape(-1, unit).T) + data[n:]


def bitshuffled(data: bytes, unit: int) -> bytes:
    """Bitshuffle of whole groups of eight items; the rest stays."""
    n = len(data) // unit // 8 * 8 * unit
    bits = np.unpackbits(np.frombuffer(data[:n], "u1").reshape(-1, unit), axis=1, bitorder="little")
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes() + data[n:]


def bytedelta_34(data: bytes, unit: int) -> bytes:
    """The first bytedelta, which begins anew behind the last whole 16 bytes of a stream."""
    each = len(data) // unit
    out = b""
    for k in range(unit):
        part = np.frombuffer(data[k * each : (k + 1) * each], "u1")
        whole = each // 16 * 16
        for piece in (part[:whole], part[whole:]):
            out += np.diff(piece, prepend=np.uint8(0)).astype("u1").tobytes()
    return out + data[unit * each :]


# ---- chunks ----


def header(
    nbytes: int,
    blocksize: int,
    cbytes: int,
    *,
    flags: int,
    typesize: int = 4,
    version: int = 5,
    filters: Sequence[int] = (),
    codec: int = 0,
    meta: int = 0,
    metas: Sequence[int] = (),
    flags2: int = 0,
    special: int = 0,
) -> bytes:
    """16 bytes, and 16 more when both shuffle flags are set."""
    head = struct.pack("<4B3i", version, 1, flags, typesize, nbytes, blocksize, cbytes)
    if flags & EXTENDED != EXTENDED:
        return head
    slots = bytes(filters).ljust(6, b"\0"), bytes(metas).ljust(6, b"\0")
    return head + slots[0] + bytes([codec, meta]) + slots[1] + bytes([flags2, special])


def assemble(
    blocks: Sequence[bytes],
    nbytes: int,
    blocksize: int,
    *,
    order: Sequence[int] = (),
    between: bytes = b"",
    **fields: Any,
) -> bytes:
    """A chunk of coded blocks, which stand in this order behind their starts (and a dictionary)."""
    head_len = len(header(0, 0, 0, **fields))
    at = head_len + 4 * len(blocks) + len(between)
    starts, body = [0] * len(blocks), b""
    for i in order or range(len(blocks)):
        starts[i] = at + len(body)
        body += blocks[i]
    head = header(nbytes, blocksize, at + len(body), **fields)
    return head + struct.pack(f"<{len(blocks)}i", *starts) + between + body


def cut(
    data: bytes,
    blocksize: int,
    code: Callable[[bytes], bytes],
    *,
    streams: int = 1,
    shuffle: Callable[[bytes], bytes] = bytes,
) -> list[bytes]:
    """Blocks of data, each shuffled and cut into streams; a short last one has one stream."""
    out = []
    for i in range(0, len(data), blocksize):
        block = shuffle(data[i : i + blocksize])
        n = streams if len(block) == blocksize else 1
        each = len(block) // n
        out.append(b"".join(code(block[j * each : (j + 1) * each]) for j in range(n)))
    return out


def memcpy(data: bytes, *, blocksize: int = 0, flags: int = EXTENDED | MEMCPY, **fields: Any) -> bytes:
    """Data as they are behind a header."""
    head_len = len(header(0, 0, 0, flags=flags, **fields))
    n = len(data)
    return header(n, blocksize or n or 1, head_len + n, flags=flags, **fields) + data


def special(kind: int, nbytes: int, value: bytes = b"", **fields: Any) -> bytes:
    """A chunk that says what it decodes to."""
    head = header(nbytes, max(nbytes, 1), 32 + len(value), flags=EXTENDED, special=kind, **fields)
    return head + value


# ---- zfp ----


class _Bits:
    """Bits in the order of zfp: the lowest of each byte first."""

    def __init__(self) -> None:
        self.bits: list[int] = []

    def put(self, value: int, n: int = 1) -> None:
        self.bits += [value >> i & 1 for i in range(n)]

    def tobytes(self) -> bytes:
        """Whole words of 64 bits."""
        self.put(0, -len(self.bits) % 64)
        return np.packbits(np.array(self.bits, "u1"), bitorder="little").tobytes()


def _zfp_cell(out: _Bits, value: float, itemsize: int, planes: Callable[[int], int]) -> None:
    """A cell of one value everywhere: of its coefficients only the first is not zero."""
    bits = 8 * itemsize
    ebits, bias = (8, 127) if itemsize == 4 else (11, 1023)
    mantissa, exponent = math.frexp(value)
    if value == 0:
        out.put(0)
        return
    out.put(2 * (exponent + bias) + 1, ebits + 1)
    mask = int("a" * (bits // 4), 16)
    number = (int(mantissa * 2 ** (bits - 2)) + mask & (1 << bits) - 1) ^ mask  # negabinary
    known = False
    for k in range(bits - 1, bits - 1 - min(planes(exponent), bits), -1):
        bit = number >> k & 1
        if known:
            out.put(bit)
        elif bit:
            out.put(0b11, 2)  # one of the cell's bits is set, the first
            known = True
        out.put(0)  # no other is set


def zfp(values: Sequence[float], itemsize: int, planes: Callable[[int], int], cell_bits: int = 0) -> bytes:
    """A zfp stream of cells of one value each.

    Parameters
    ----------
    planes : how many bit planes the mode keeps of a cell with this exponent
    cell_bits : room for a cell, when the mode gives each the same
    """
    out = _Bits()
    for i, value in enumerate(values):
        _zfp_cell(out, value, itemsize, planes)
        out.put(0, max(0, cell_bits * (i + 1) - len(out.bits)))
    return out.tobytes()
