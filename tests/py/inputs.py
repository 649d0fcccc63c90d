# SPDX-License-Identifier: BSD-3-Clause
"""Data for the tests: kinds that take each path of a compressor, and hand-made chunks."""

from __future__ import annotations

import struct

import numpy as np

KINDS = ("random", "ramp", "text", "zeros", "runs", "float", "mixed")


def make(kind: str, n: int, seed: int = 0) -> bytes:
    """n bytes of a kind."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        return rng.integers(0, 256, n, dtype=np.uint8).tobytes()
    if kind == "ramp":
        return (np.arange(n // 4 + 1, dtype="<u4") * (seed % 7 + 1)).tobytes()[:n]
    if kind == "text":
        words = [b"chunk", b"block", b"stream", b"codec%d" % seed, b"\n", b" ", b"filter"]
        picks = rng.integers(0, len(words), n // 2 + 1)
        return b"".join(words[i] for i in picks)[:n].ljust(n, b".")
    if kind == "zeros":
        return bytes(n)
    if kind == "runs":
        return bytes([seed % 255 + 1]) * n
    if kind == "float":
        steps = rng.normal(0, 0.01, n // 8 + 1)
        return np.cumsum(steps).astype("<f8").tobytes()[:n]
    parts = [make(k, n // 6 + 1, seed) for k in ("zeros", "random", "ramp", "runs", "text", "float")]
    return b"".join(parts)[:n]


def build_chunk(
    nbytes: int,
    blocks: list[bytes],
    *,
    blocksize: int,
    typesize: int = 1,
    flags: int = 0x15,
    version: int = 5,
    filters: tuple[int, ...] = (),
    metas: tuple[int, ...] = (),
    codec: int = 0,
    flags2: int = 0,
    flags3: int = 0,
    dictionary: bytes | None = None,
    order: list[int] | None = None,
) -> bytes:
    """A chunk around ready blocks (each the bytes from its bstart on); 16-byte header unless flags has 05."""
    extended = flags & 5 == 5
    at = (32 if extended else 16) + 4 * len(blocks)
    extra = b"" if dictionary is None else struct.pack("<i", len(dictionary)) + dictionary
    at += len(extra)
    starts = [0] * len(blocks)
    body = b""
    for i in order or range(len(blocks)):
        starts[i] = at + len(body)
        body += blocks[i]
    head = struct.pack("<4B3i", version, 1, flags, typesize, nbytes, blocksize, at + len(body))
    if extended:
        head += bytes(filters).ljust(6, b"\0") + bytes([codec, 0])
        head += bytes(metas).ljust(6, b"\0") + bytes([flags2, flags3 | (dictionary is not None)])
    return head + struct.pack(f"<{len(starts)}i", *starts) + extra + body


def raw_stream(data: bytes) -> bytes:
    return struct.pack("<i", len(data)) + data


def patch(chunk: bytes, at: int, new: bytes) -> bytes:
    return chunk[:at] + new + chunk[at + len(new) :]
