"""Files and directories that hold several frames: `.b2z`, `.b2d`, `.b2e`.

A `.b2d` directory has a file for each large object and the small ones in an `embed.b2e`; a `.b2z`
is a ZIP of the same files, stored as they are, so that a frame is opened where it lies.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING, Any

from .errors import Blosc2Error, CorruptError, FormatError, NotFoundError
from .meta import printable

if TYPE_CHECKING:
    from .schunk import SChunk

SUFFIXES = (".b2nd", ".b2f", ".b2b")
EMBED = "embed.b2e"
_LOCAL_HEADER = 30
_ZIP_MAGIC = b"PK\x03\x04"
_BLOSCPACK_MAGIC = b"blpk"
_CHUNK_HEADER = 32
_EMBED_LAYER = "b2embed"


def kind_of(path: str) -> str | None:
    """ "b2z" or "b2d" when something of that kind is at the path; a `.b2e` is a frame as others are."""
    if os.path.isdir(path):
        return "b2d" if os.path.isfile(os.path.join(path, EMBED)) else None
    if not os.path.isfile(path):
        return None  # opening a pipe would wait for who writes to it
    try:
        with open(path, "rb") as f:
            return "b2z" if f.read(4) == _ZIP_MAGIC else None
    except OSError:
        return None


def refuse_whole(path: str) -> None:
    """FormatError that says what is at the path, when it is a container or a lone chunk."""
    kind = kind_of(path)
    if kind is None:
        _refuse_chunks(path)
        return
    what = "ZIP (.b2z)" if kind == "b2z" else "directory (.b2d)"
    raise FormatError(f"{path} is a {what} of {_listed(keys(path))}", path=path)


def _refuse_chunks(path: str) -> None:
    from .compress import get_cbuffer_sizes

    if os.path.isdir(path):
        return
    with open(path, "rb") as f:
        head, size = f.read(_CHUNK_HEADER), os.fstat(f.fileno()).st_size
    if head.startswith(_BLOSCPACK_MAGIC):
        what = "a file of bloscpack, another format; decompress() takes the Blosc chunks inside"
        raise FormatError(f"{path} is {what}", path=path)
    try:
        cbytes = get_cbuffer_sizes(head)[1]
    except Blosc2Error:
        return
    if cbytes == size:
        raise FormatError(f"{path} is a single chunk, no frame; decompress2() takes its bytes", path=path)


def summary(embed: SChunk) -> str:
    """What is in an opened `.b2e`; "" when it is another kind of frame."""
    if _EMBED_LAYER not in embed.meta:
        return ""
    try:
        names = sorted(_embedded(embed, embed.urlpath or "the embed store"))
    except FormatError:
        return "embed store (.b2e) whose list of objects is damaged"
    return f"embed store (.b2e) of {_listed(names)}"


def _listed(names: list[str]) -> str:
    some = ", ".join(map(printable, names[:5])) + (", ..." if len(names) > 5 else "")
    return f"{len(names)} object{'s' * (len(names) != 1)}; open one with member=: {some}"


def keys(path: str) -> list[str]:
    """The names of the objects in a container, sorted."""
    kind = kind_of(path)
    if kind is None:
        with _open_frame(path, 0, {}) as embed:
            return sorted(_embedded(embed, path))
    found = {"/" + os.path.splitext(name)[0] for name in _files(path, kind) if name.endswith(SUFFIXES)}
    place = _place(path, kind, EMBED)
    if place is not None:
        with _open_frame(*place, {}) as embed:
            found |= set(_embedded(embed, path))
    return sorted(found)


def open_member(path: str, key: str, kwargs: dict[str, Any]) -> SChunk:
    """The object of a container with this name, for reading; as "/group/name" or its file's name."""
    name = key.strip("/")
    kind = kind_of(path)
    if kind is not None:
        for candidate in (name, *(name + suffix for suffix in SUFFIXES)):
            place = _place(path, kind, candidate) if candidate.endswith(SUFFIXES) else None
            if place is not None:
                return _open_frame(*place, kwargs)
        place = _place(path, kind, EMBED)
    else:
        place = (path, 0)
    if place is not None:
        with _open_frame(*place, kwargs) as embed:
            spot = _embedded(embed, path).get("/" + name)
            if spot is not None:
                return _from_bytes(embed[spot[0] : sum(spot)], kwargs)
    raise NotFoundError(f"{path} has no object {key!r}", path=path)


def _from_bytes(cframe: bytes, kwargs: dict[str, Any]) -> SChunk:
    from .read import Origin
    from .schunk import SChunk, handle_from_cframe

    handle, keep = handle_from_cframe(cframe, False, kwargs.get("limits"))
    return SChunk._wrap(handle, Origin(None, True, keep, mode="r"), kwargs)


def _open_frame(path: str, offset: int, kwargs: dict[str, Any]) -> SChunk:
    from .store import open_schunk

    return open_schunk(path, "r", offset, **kwargs)


def _files(path: str, kind: str) -> list[str]:
    if kind == "b2z":
        return [member.filename for member in _members(path)]
    return [
        os.path.relpath(os.path.join(folder, name), path).replace(os.sep, "/")
        for folder, _, names in os.walk(path)
        for name in names
        if not os.path.islink(os.path.join(folder, name))
    ]


def _place(path: str, kind: str, name: str) -> tuple[str, int] | None:
    """File and offset of a frame, or None."""
    if kind == "b2d":
        if any(part in ("", ".", "..") for part in name.split("/")):
            return None
        place = os.path.join(path, *name.split("/"))
        if not os.path.isfile(place):
            return None
        if os.path.realpath(place) != os.path.join(os.path.realpath(path), *name.split("/")):
            raise FormatError(
                f"{name} in {path} is or lies behind a symbolic link, which may lead anywhere", path=path
            )
        return (place, 0)
    for member in _members(path):
        if member.filename == name:
            if member.compress_type != zipfile.ZIP_STORED:
                raise FormatError(f"{name} in {path} is compressed by ZIP; unpack it first", path=path)
            return path, _data_offset(path, member)
    return None


def _members(path: str) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
        raise CorruptError(f"{path} is a damaged ZIP: {error}", path=path) from error


def _data_offset(path: str, member: zipfile.ZipInfo) -> int:
    """Where the bytes of a member start; the lengths in the local header may differ from the directory's."""
    with open(path, "rb") as f:
        if member.header_offset >= 0:
            f.seek(member.header_offset)
            head = f.read(_LOCAL_HEADER)
            if len(head) == _LOCAL_HEADER and head[:4] == _ZIP_MAGIC:
                lengths = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
                return member.header_offset + _LOCAL_HEADER + lengths
    raise CorruptError(f"{member.filename} is not where the directory of {path} says", path=path)


def _embedded(embed: SChunk, path: str) -> dict[str, tuple[int, int]]:
    """Offset and length of the frames in the data of an embed store; remote ones are left out."""
    if "estore_metadata" not in embed.vlmeta:
        raise FormatError(f"{path} is no container: it has no list of objects", path=path)
    listed = embed.vlmeta["estore_metadata"]
    entries = listed.get("embed_map") if isinstance(listed, dict) else None
    if not isinstance(entries, dict):
        raise CorruptError(f"the list of objects of {path} is not understood", path=path)
    found = {}
    for key, entry in entries.items():
        place: dict[str, Any] = entry if isinstance(entry, dict) else {"offset": "?"}
        offset, length = place.get("offset"), place.get("length")
        if offset is None and length is None:
            continue  # it is elsewhere
        if not (isinstance(offset, int) and isinstance(length, int)):
            raise CorruptError(f"the place of {key!r} in {path} is not understood", path=path)
        if offset < 0 or length < 0 or offset + length > embed.nbytes:
            raise CorruptError(f"{key!r} in {path} does not lie in its data", path=path)
        found[str(key)] = (offset, length)
    return found
