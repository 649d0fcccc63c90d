# SPDX-License-Identifier: BSD-3-Clause
"""Frames that no writer makes: their parts, changed and put together again with lengths that fit."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

import blosc2c as b2

NO_FINGERPRINT_FROM_END = 17


class Parts(NamedTuple):
    header: bytes
    payload: bytes
    index: bytes
    trailer: bytes


def split(frame: bytes) -> Parts:
    """The parts of a contiguous frame."""
    header_len = struct.unpack_from(">I", frame, 0x0B)[0]
    end, nbytes, cbytes = (struct.unpack_from(">Q", frame, at)[0] for at in (0x10, 0x1E, 0x27))
    trailer_len = struct.unpack_from(">I", frame, end - 22)[0]
    index_at = header_len + (cbytes if nbytes else 0)
    return Parts(
        frame[:header_len],
        frame[header_len:index_at],
        frame[index_at : end - trailer_len],
        frame[end - trailer_len : end],
    )


def join(parts: Parts, nbytes: int, chunksize: int | None = None) -> bytes:
    """A frame of these parts without a fingerprint."""
    header, trailer = bytearray(parts.header), bytearray(parts.trailer)
    trailer[-NO_FINGERPRINT_FROM_END] = 0
    struct.pack_into(">Q", header, 0x10, sum(map(len, parts)))
    struct.pack_into(">Q", header, 0x1E, nbytes)
    struct.pack_into(">Q", header, 0x27, len(parts.payload))
    if chunksize is not None:
        struct.pack_into(">I", header, 0x3A, chunksize)
    return bytes(header) + parts.payload + parts.index + bytes(trailer)


def index_of(entries: list[int] | np.ndarray) -> bytes:
    """The index chunk of entries."""
    return b2.compress2(np.array(entries, "<u8").tobytes(), typesize=8, codec=b2.Codec.BLOSCLZ)


def entries_of(parts: Parts) -> list[int]:
    return list(np.frombuffer(b2.decompress2(parts.index), "<u8"))
