"""Checking files against a manifest of what is in them; see tools/make_conformance.py.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import Blosc2Error, FormatError, UnknownCodecError
from .replacing import check_not_special

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST = "manifest.json"
_NOT_COMPARED = {"name", "shows", "kind", "member", "needs", "error", "says"}


@dataclass
class Outcome:
    """What became of one file; `problem` is empty when all is as the manifest says."""

    name: str
    shows: str
    problem: str = ""
    without: str = ""  # the codec that is missing here, as the error rightly said

    def __str__(self) -> str:
        state = "FAILED" if self.problem else "ok"
        note = self.problem or (self.without and f"refused, as {self.without} is not here")
        return f"{state:8}{self.name}: {self.shows}" + (f" ({note})" if note else "")


def run(directory: str) -> Iterator[Outcome]:
    """Read every file that DIR/manifest.json lists, and compare.

    An entry has name, shows, kind (chunk, vlblocks, schunk, array), for containers `member`, and what
    contents() gives.  Or it has `error`, the exception's class or one above it, and `says`, a part of
    its message.  Where it `needs` a codec, an error that names the codec is right as well.

    Raises
    ------
    FormatError : the manifest is not understood
    OSError : it cannot be read
    """
    manifest = os.path.join(directory, MANIFEST)
    check_not_special(manifest)
    with open(manifest, encoding="utf-8") as f:
        try:
            entries = json.load(f)["files"]
            for entry in entries:
                _ = entry["name"] + entry["shows"] + entry["kind"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"{MANIFEST} is not understood: {error!r}", path=f.name) from error
    for entry in entries:
        yield _check(os.path.join(directory, entry["name"]), entry)


def _check(path: str, entry: dict[str, Any]) -> Outcome:
    outcome = Outcome(entry["name"], entry["shows"])
    needs = entry.get("needs", "")
    try:
        found = contents(path, entry["kind"], entry.get("member"))
    except UnknownCodecError as error:
        if needs and needs in str(error).lower():
            outcome.without = needs
        else:
            outcome.problem = _against(error, entry)
        return outcome
    except Blosc2Error as error:
        outcome.problem = _against(error, entry)
        return outcome
    except OSError as error:
        outcome.problem = f"{type(error).__name__}: {error}"
        return outcome
    if "error" in entry:
        outcome.problem = f"it was read, but {entry['error']} was expected"
    for key in entry.keys() - _NOT_COMPARED:
        if found.get(key) != entry[key]:
            outcome.problem = f"{key} is {found.get(key, 'not told')}, expected {entry[key]}"
    return outcome


def _against(error: Blosc2Error, entry: dict[str, Any]) -> str:
    """Why this is not the error that a manifest expects; '' when it is."""
    said = f"{type(error).__name__}: {error}"
    if entry.get("error") not in [t.__name__ for t in type(error).__mro__]:
        return said + (f", expected {entry['error']}" if "error" in entry else "")
    if entry.get("says", "") not in str(error):
        return f"{said} does not say {entry['says']!r}"
    return ""


def contents(path: str, kind: str, member: str | None = None) -> dict[str, Any]:
    """What a manifest says of a file, or of a container's member: size and hash, and the metadata."""
    check_not_special(path)
    if kind == "chunk":
        from .compress import decompress2

        with open(path, "rb") as f:
            data = decompress2(f.read())
        return described(bytes(data or b""))
    if kind == "vlblocks":
        from .vlblocks import vldecompress

        with open(path, "rb") as f:
            parts = [bytes(part) for part in vldecompress(f.read())]
        return {**described(b"".join(parts)), "sizes": [len(part) for part in parts]}
    from .ndarray import NDArray
    from .store import open as open_any

    where: dict[str, Any] = {} if member is None else {"member": member}
    with open_any(path, **where) as obj:
        if isinstance(obj, NDArray):
            facts = {"shape": list(obj.shape), "dtype": obj.dtype.str}
            return {**described(obj[...].tobytes()), **facts}
        data = b"".join(bytes(obj.decompress_chunk(n) or b"") for n in range(obj.nchunks))
        meta = {name: obj.meta.raw(name).hex() for name in obj.meta}
        return {**described(data), "nchunks": obj.nchunks, "meta": meta, "vlmeta": sorted(obj.vlmeta)}


def described(data: bytes) -> dict[str, Any]:
    """Size and hash of data, as a manifest has them."""
    return {"nbytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
