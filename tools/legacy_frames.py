#!/usr/bin/env python3
"""Frames as the libraries of 2019 to early 2021 wrote them, made from their description.

No library writes these any more; tests, fuzzing and the conformance set need some of every
layout.  ``build(LAYOUTS["beta.2"], chunks)`` gives the bytes of one.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ZEROS, NANS, UNINIT = (kind << 56 | 1 << 63 for kind in (1, 2, 4))  # index entries without a chunk


@dataclass(frozen=True)
class Layout:
    """One of the ways in which frames were laid out.

    Attributes
    ----------
    flags : general_flags, byte 0x19
    fixed : length of the header's fixed part
    first : first byte: 0 for 9b without metalayers and 9c with them
    trailer : its first three bytes, empty for none
    gap : bytes between index and trailer, until user metadata is added
    filter_flags : byte 0x1a
    pipeline : content of the metalayer `_filter_pipeline`; empty for none
    is_stale : the stored length is that before user metadata was added
    """

    flags: int
    fixed: int = 82
    first: int = 0
    trailer: bytes = b"\x94\x01\xc6"
    gap: int = 0
    filter_flags: int = 0
    pipeline: bytes = b""
    is_stale: bool = False
    entry_len: int = 8


_OLD = b"\x0d\x00\xc6"
_NEW = b"\x94\x01\x93"
LAYOUTS = {
    "beta.1": Layout(0x24, 64, trailer=b"", filter_flags=6),
    "2019-08-19": Layout(0x24, 64, trailer=b"", filter_flags=4),
    "2019-08-20": Layout(0x24, 64, trailer=b"", pipeline=b"\x92\x92\x03\x01" + bytes(11)),
    "2019-08-26": Layout(0x24, 64, trailer=_OLD, filter_flags=0x0A),
    "2019-08-26 stale": Layout(0x24, 64, trailer=_OLD, filter_flags=0x0A, is_stale=True),
    "2019-08-27": Layout(0x24, 64, trailer=_OLD, pipeline=b"\x92\x96\0\0\0\0\3\1" + bytes(7)),
    "2019-08-30 first": Layout(0x24, trailer=_OLD),
    "2019-08-30 second": Layout(0x24, first=0x9C, trailer=_OLD),
    "2019-08-30 third": Layout(0x21, first=0x9D, trailer=_OLD),
    "beta.2": Layout(0x21, first=0x9D, trailer=_OLD, gap=30),
    "beta.3": Layout(0x21, first=0x9D),
    "2021-01-05": Layout(0x31, first=0x9D, entry_len=16),
    "2021-01-16": Layout(0x11, first=0x9D, trailer=_NEW),
    "2021-02-05": Layout(0x12, first=0x9D, trailer=_NEW),
}


def _section(base: int, contents: Mapping[str, bytes], mark: bytes) -> bytes:
    """The map of names and the array of contents of a header or trailer; offsets count from -base."""
    names = [name.encode() for name in contents]
    map_len = len(mark) + 3 + 3 + sum(1 + len(name) + 5 for name in names)
    at, entries, body = base + map_len + 3, b"", b""
    for name, content in zip(names, contents.values(), strict=True):
        entries += bytes([0xA0 + len(name)]) + name + b"\xd2" + struct.pack(">I", at + len(body))
        body += b"\xc6" + struct.pack(">I", len(content)) + content
    count = struct.pack(">H", len(names))
    return mark + b"\xcd" + struct.pack(">H", map_len) + b"\xde" + count + entries + b"\xdc" + count + body


def memcpy_chunk(data: bytes, typesize: int = 1) -> bytes:
    """A chunk of that time that holds its data as it is."""
    head = struct.pack("<4B3i", 4, 1, 0x17, typesize, len(data), len(data) or 1, 32 + len(data))
    return head + bytes([0, 0, 0, 0, 0, 1]) + bytes(10) + data


def of_that_time(chunk: bytes) -> bytes:
    """A chunk of today with the header that it would have had."""
    return b"\4" + chunk[1:22] + b"\0" + chunk[23:]


def _index(entries: Sequence[int], entry_len: int) -> bytes:
    return memcpy_chunk(b"".join(e.to_bytes(entry_len, "little") for e in entries), 8)


def _trailer(layout: Layout, usermeta: bytes, vlmeta: Mapping[str, bytes]) -> bytes:
    if not layout.trailer:
        return b""
    if layout.trailer == _NEW:
        body = layout.trailer[:2] + _vlsection(vlmeta)
    else:
        body = layout.trailer + struct.pack(">I", len(usermeta)) + usermeta
    return body + b"\xce" + struct.pack(">I", len(body) + 23) + b"\xd8\0" + bytes(16)


def _vlsection(vlmeta: Mapping[str, bytes]) -> bytes:
    # The size of the map does not count the mark here.
    section = _section(2, vlmeta, b"\x93")
    size = struct.unpack(">H", section[2:4])[0] - 1
    return section[:2] + struct.pack(">H", size) + section[4:]


def build(
    layout: Layout,
    chunks: Sequence[bytes | int],
    *,
    nbytes: int | None = None,
    typesize: int = 4,
    codec: int = 1,
    clevel: int = 5,
    chunksize: int | None = None,
    filters: Sequence[int] = (1,),
    meta: Mapping[str, bytes] | None = None,
    usermeta: bytes = b"",
    vlmeta: Mapping[str, bytes] | None = None,
    sparse: bool = False,
) -> bytes:
    """A frame; of a sparse one (a directory) its index file.

    Parameters
    ----------
    chunks : bytes of chunks, or ZEROS, NANS, UNINIT
    nbytes : decoded size of all, when the chunks do not tell it
    chunksize : the field; None: the size of the first chunk
    usermeta : a chunk
    vlmeta : chunks by name
    """
    meta = dict(meta or {})
    if layout.pipeline:
        meta["_filter_pipeline"] = layout.pipeline
    payload, entries, number = b"", [], 0
    for chunk in chunks:
        if isinstance(chunk, int):
            entries.append(chunk)
            continue
        entries.append(number if sparse else len(payload))
        payload, number = payload + chunk, number + 1
    sizes = [struct.unpack("<i", c[4:8])[0] for c in chunks if isinstance(c, bytes)]
    nbytes = sum(sizes) if nbytes is None else nbytes
    chunksize = (sizes or [0])[0] if chunksize is None else chunksize

    first = layout.first or (0x9C if meta else 0x9B)
    section = _section(layout.fixed, meta, b"\x93") if first != 0x9B else b""
    header_len = layout.fixed + len(section)
    index = _index(entries, layout.entry_len) if entries else b""
    body = (b"" if sparse else payload) + index
    old_len = header_len + len(body) + (len(_trailer(layout, b"", {})) if layout.trailer else 0)
    trailer = _trailer(layout, usermeta, vlmeta or {})
    gap = b"" if usermeta or not chunks else bytes(layout.gap)
    frame_len = old_len if layout.is_stale else header_len + len(body) + len(gap) + len(trailer)
    return (
        bytes([first]) + b"\xa8b2frame\0"
        + b"\xd2" + struct.pack(">I", header_len)
        + b"\xcf" + struct.pack(">Q", frame_len)
        + b"\xa4" + bytes([layout.flags, layout.filter_flags or int(sparse), clevel << 4 | codec, 0])
        + b"\xd3" + struct.pack(">q", nbytes)
        + b"\xd3" + struct.pack(">q", len(payload))
        + b"\xd2" + struct.pack(">i", typesize)
        + b"\xd2" + struct.pack(">i", chunksize)
        + b"\xd1\0\1\xd1\0\1" + (b"\xc3" if meta and not layout.trailer else b"\xc2")
        + (b"" if layout.fixed == 64 else _filters(filters))
        + section + body + gap + trailer
    )  # fmt: skip


def _filters(filters: Sequence[int]) -> bytes:
    used = bytes(f for f in filters if f)
    return b"\xd8" + bytes([len(used)]) + used.ljust(8, b"\0") + bytes(8)
