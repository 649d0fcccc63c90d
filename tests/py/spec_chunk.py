# SPDX-License-Identifier: BSD-3-Clause
"""A second, independent reader of chunks in plain Python: slow, and easy to check by eye.

It decodes everything but zstd streams, of which it checks the container only.  Tests use
it to look at the bytes that the library writes, so it must never import the library.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np

FORMAT_NAMES = {0: "blosclz", 1: "lz4", 3: "zlib", 4: "zstd"}
BLOSCLZ, LZ4, LZ4HC, ZLIB, ZSTD = 0, 1, 2, 4, 5
NOFILTER, SHUFFLE, BITSHUFFLE, DELTA, TRUNC_PREC, BYTEDELTA = 0, 1, 2, 3, 4, 35
ALWAYS, NEVER, AUTO, FORWARD_COMPAT = 1, 2, 3, 4


class Opaque(Exception):
    """A stream that this reader does not decode (zstd)."""


@dataclass(frozen=True)
class Header:
    version: int
    versionlz: int
    flags: int
    typesize: int
    nbytes: int
    blocksize: int
    cbytes: int
    filters: tuple[int, ...]
    codec: int
    codec_meta: int
    metas: tuple[int, ...]
    flags2: int
    flags3: int

    @property
    def extended(self) -> bool:
        return self.flags & 5 == 5

    @property
    def length(self) -> int:
        return 32 if self.extended else 16

    @property
    def memcpy(self) -> bool:
        return bool(self.flags & 2)

    @property
    def split(self) -> bool:
        return not self.flags & 0x10

    @property
    def format(self) -> str:
        return FORMAT_NAMES.get(self.flags >> 5, "?")

    @property
    def special(self) -> int:
        return self.flags3 >> 4 & 7

    @property
    def has_dict(self) -> bool:
        return bool(self.flags3 & 1)

    @property
    def vlblocks(self) -> bool:
        return bool(self.flags2 & 1)

    @property
    def nblocks(self) -> int:
        if self.vlblocks:
            return self.blocksize
        if self.memcpy or self.special or self.nbytes == 0:
            return 0
        return -(-self.nbytes // min(self.blocksize, self.nbytes))


@dataclass(frozen=True)
class Stream:
    kind: str  # zeros, run, raw or codec
    at: int  # position of the size
    csize: int
    nbytes: int  # decoded size
    payload: bytes


@dataclass(frozen=True)
class Block:
    at: int
    nbytes: int
    streams: tuple[Stream, ...]

    @property
    def end(self) -> int:
        last = self.streams[-1]
        return last.at + 4 + (1 if last.csize < 0 else max(last.csize, 0))


def header(chunk: bytes) -> Header:
    fields = struct.unpack_from("<4B3i", chunk)
    if fields[2] & 5 != 5:
        return Header(*fields, (0,) * 6, 0, 0, (0,) * 6, 0, 0)
    ext = chunk[16:32]
    return Header(*fields, tuple(ext[:6]), ext[6], ext[7], tuple(ext[8:14]), ext[14], ext[15])


def dictionary(chunk: bytes) -> bytes:
    h = header(chunk)
    if not h.has_dict or h.nblocks == 0:
        return b""
    at = h.length + 4 * h.nblocks
    (size,) = struct.unpack_from("<i", chunk, at)
    assert 0 < size <= len(chunk) - at - 4
    return chunk[at + 4 : at + 4 + size]


def starts(chunk: bytes) -> list[int]:
    h = header(chunk)
    return list(struct.unpack_from(f"<{h.nblocks}i", chunk, h.length))


def _streams(chunk: bytes, at: int, nstreams: int, nbytes: int) -> tuple[Stream, ...]:
    out = []
    for _ in range(nstreams):
        (csize,) = struct.unpack_from("<i", chunk, at)
        n = nbytes // nstreams
        if csize == 0:
            out.append(Stream("zeros", at, 0, n, b""))
        elif csize < 0:
            assert csize >= -255 and chunk[at + 4] & 1, "invalid run"
            out.append(Stream("run", at, csize, n, bytes([-csize])))
        else:
            payload = chunk[at + 4 : at + 4 + csize]
            assert len(payload) == csize, "stream runs past the chunk"
            out.append(Stream("raw" if csize == n else "codec", at, csize, n, payload))
        at += 4 + (1 if csize < 0 else csize)
    return tuple(out)


def blocks(chunk: bytes) -> list[Block]:
    """Blocks of a regular chunk, in the order of the data."""
    h = header(chunk)
    if h.vlblocks:
        ends = [*starts(chunk)[1:], h.cbytes]
        return [_vlblock(chunk, a, b) for a, b in zip(starts(chunk), ends, strict=True)]
    size = min(h.blocksize, h.nbytes)
    out = []
    for i, at in enumerate(starts(chunk)):
        n = min(size, h.nbytes - i * size)
        nstreams = h.typesize if h.split and n == size else 1
        out.append(Block(at, n, _streams(chunk, at, nstreams, n)))
    return out


def _vlblock(chunk: bytes, start: int, end: int) -> Block:
    (n,) = struct.unpack_from("<i", chunk, start)
    payload = chunk[start + 4 : end]
    kind = "raw" if len(payload) == n else "codec"
    return Block(start, n, (Stream(kind, start, len(payload), n, payload),))


# ---- codecs ----


def blosclz(src: bytes) -> bytes:
    out = bytearray()
    ctrl, i = src[0] & 31, 1
    while True:
        if ctrl < 32:
            assert i + ctrl + 1 <= len(src)
            out += src[i : i + ctrl + 1]
            i += ctrl + 1
            if i == len(src):
                return bytes(out)
        else:
            length, high = (ctrl >> 5) - 1, ctrl & 31
            while length >= 6:
                length += src[i]
                i += 1
                if src[i - 1] != 255:
                    break
            low = src[i]
            i += 1
            if (high, low) == (31, 255):
                distance = 8192 + src[i] * 256 + src[i + 1]
                i += 2
            else:
                distance = high * 256 + low + 1
            _copy_match(out, distance, length + 3)
        ctrl = src[i]
        i += 1


def lz4(src: bytes, prefix: bytes = b"") -> bytes:
    out = bytearray(prefix)
    i = 0

    def extended(n: int, i: int) -> tuple[int, int]:
        while n >= 15:
            n += src[i]
            i += 1
            if src[i - 1] != 255:
                break
        return n, i

    while True:
        token = src[i]
        n, i = extended(token >> 4, i + 1)
        assert i + n <= len(src)
        out += src[i : i + n]
        i += n
        if i == len(src):
            return bytes(out[len(prefix) :])
        distance = src[i] | src[i + 1] << 8
        n, i = extended(token & 15, i + 2)
        _copy_match(out, distance, n + 4)


def _copy_match(out: bytearray, distance: int, length: int) -> None:
    assert 0 < distance <= len(out), "match before the start"
    start = len(out) - distance
    if distance >= length:
        out += out[start : start + length]
    else:
        period = bytes(out[start:])
        out += (period * (length // distance + 1))[:length]


def _decode_stream(h: Header, s: Stream, prefix: bytes) -> bytes:
    if s.kind == "zeros":
        return bytes(s.nbytes)
    if s.kind == "run":
        return s.payload * s.nbytes
    if s.kind == "raw":
        return s.payload
    if h.format == "zstd":
        assert s.payload[:4] == b"\x28\xb5\x2f\xfd"
        raise Opaque
    decode = {"blosclz": blosclz, "lz4": lambda p: lz4(p, prefix), "zlib": zlib.decompress}
    data = decode[h.format](s.payload)
    assert len(data) == s.nbytes, "a stream decodes to another size"
    return data


# ---- filters, backward ----


def unshuffle(data: bytes, unit: int) -> bytes:
    e = len(data) // unit
    out = bytearray(data)
    for k in range(unit):
        out[k : e * unit : unit] = data[k * e : (k + 1) * e]
    return bytes(out)


def unbitshuffle(data: bytes, unit: int) -> bytes:
    e = len(data) // unit // 8 * 8
    if e == 0:
        return data
    rows = np.frombuffer(data, np.uint8, e * unit).reshape(unit * 8, e // 8)
    bits = np.unpackbits(rows, axis=1, bitorder="little").reshape(unit, 8, e)
    return np.packbits(bits, axis=1, bitorder="little").reshape(unit, e).T.tobytes() + data[e * unit :]


def delta_unit(typesize: int) -> int:
    return typesize if typesize in (1, 2, 4, 8) else 8 if typesize % 8 == 0 else 1


def undelta(data: bytes, typesize: int, ref: bytes | None) -> bytes:
    w = delta_unit(typesize)
    n = len(data) // w * w
    units = np.frombuffer(data[:n], f"<u{w}")
    if ref is None:
        out = np.bitwise_xor.accumulate(units) if n else units
    else:
        out = units ^ np.frombuffer(ref[:n], f"<u{w}")
    return out.tobytes() + data[n:]


def unbytedelta(data: bytes, unit: int) -> bytes:
    e = len(data) // unit
    rows = np.frombuffer(data, np.uint8, e * unit).reshape(unit, e)
    return np.add.accumulate(rows, axis=1, dtype=np.uint8).tobytes() + data[e * unit :]


def _undo_filters(h: Header, data: bytes, ref: bytes | None) -> bytes:
    for f, meta in reversed(list(zip(h.filters, h.metas, strict=True))):
        if f == SHUFFLE:
            data = unshuffle(data, meta or h.typesize)
        elif f == BITSHUFFLE:
            data = unbitshuffle(data, h.typesize)
        elif f == DELTA:
            data = undelta(data, h.typesize, ref)
        elif f == BYTEDELTA:
            data = unbytedelta(data, meta)
        else:
            assert f in (NOFILTER, TRUNC_PREC)
    return data


def _special(h: Header, chunk: bytes) -> bytes:
    if h.special == 2:
        item = {4: b"\0\0\xc0\x7f", 8: b"\0\0\0\0\0\0\xf8\x7f"}[h.typesize]
        return item * (h.nbytes // h.typesize)
    if h.special == 3:
        item = chunk[32 : h.cbytes]
        return item * (h.nbytes // len(item))
    return bytes(h.nbytes)


def decode(chunk: bytes) -> bytes:
    """The data of a chunk with a 32-byte header; Opaque when a zstd stream is met."""
    h = header(chunk)
    assert h.extended and len(chunk) == h.cbytes
    if h.special:
        return _special(h, chunk)
    if h.memcpy or h.nbytes == 0:
        return chunk[32:]
    prefix = dictionary(chunk)
    out: list[bytes] = []
    for b in blocks(chunk):
        data = b"".join(_decode_stream(h, s, prefix) for s in b.streams)
        ref = out[0] if out and not h.vlblocks else None
        out.append(_undo_filters(h, data, ref))
    return b"".join(out)


def check_layout(chunk: bytes) -> None:
    """What every chunk made by a careful writer obeys: no gaps, no overlaps, sizes add up."""
    h = header(chunk)
    assert h.version == 5 and h.versionlz == 1 and h.extended
    assert len(chunk) == h.cbytes and h.flags2 == 0 and not h.flags3 & 0x8E
    assert 1 <= h.blocksize <= max(h.nbytes, 1)
    assert h.blocksize == h.nbytes or h.blocksize % h.typesize == 0 or h.blocksize == 1
    if h.memcpy:
        assert h.cbytes == 32 + h.nbytes and not h.has_dict and h.special == 0
        return
    if h.special:
        assert not h.has_dict
        return
    at = 32 + 4 * h.nblocks + (4 + len(dictionary(chunk)) if h.has_dict else 0)
    for b in blocks(chunk):
        assert b.at == at, "blocks are stored in order without gaps"
        at = b.end
        for s in b.streams:
            assert s.kind != "codec" or s.csize < s.nbytes
    assert at == h.cbytes


TRIAL_NBYTES = 256 * 1024  # from there on codecs with long windows try whether splitting pays
HC_TRIAL_NBYTES = 64 * 1024


def auto_split(h: Header, clevel: int) -> bool | None:
    """Whether full blocks are split; None when the data decides."""
    if SHUFFLE not in h.filters or h.typesize > 16 or h.blocksize // h.typesize < 32:
        return False
    if h.codec in (BLOSCLZ, LZ4) or (h.codec == ZSTD and clevel <= 5):
        return True
    if h.codec == ZLIB and h.nbytes < TRIAL_NBYTES:
        return h.typesize > 1 and h.blocksize // h.typesize >= 2048
    least = HC_TRIAL_NBYTES if h.codec == LZ4HC and clevel > 2 else TRIAL_NBYTES
    return None if h.nbytes >= least and h.typesize > 1 and not h.has_dict else False
