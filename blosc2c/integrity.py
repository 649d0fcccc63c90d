"""Checking what is on disk: every checksum, every chunk, all metadata.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _ffi
from ._ffi import check, ffi, lib, new_error
from .errors import Blosc2Error, ChecksumError

if TYPE_CHECKING:
    from .schunk import SChunk


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes
    ----------
    kind : "frame" (header, index, trailer), "chunk", "checksum" (of a chunk), "meta", "vlmeta"
        or "array"
    what : a sentence about it
    offset : byte of the file, of a directory the chunk file, where the trouble lies
    chunk, block : their numbers
    """

    kind: str
    what: str
    offset: int | None = None
    chunk: int | None = None
    block: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


@dataclass
class Report:
    """What verify() found; true when all is well.

    Attributes
    ----------
    path : what was checked
    problems : Problem objects, in the order of the file
    nchunks : chunks in the frame
    nunverified : chunks without a checksum, which decode but may hold other data than was stored
    """

    path: str
    problems: list[Problem] = field(default_factory=list)
    nchunks: int = 0
    nunverified: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        state = "ok" if self.ok else f"{len(lines)} problem{'s' if len(lines) > 1 else ''}"
        facts = f"{self.nchunks} chunks"
        if self.nunverified:
            facts += f", {self.nunverified} of them without a checksum"
        return "\n".join([*lines, f"{self.path}: {state} ({facts})"])


def verify(urlpath: str | bytes | os.PathLike[str], offset: int = 0) -> Report:
    """Read and decode everything in a file or directory, and compare all checksums.

    Parameters
    ----------
    urlpath : file or directory
    offset : byte in the file where the frame starts

    Returns
    -------
    A Report; damage is reported, not raised.

    Raises
    ------
    OSError : it cannot be read at all
    """
    from .params import to_path
    from .store import open_schunk

    report = Report(to_path(urlpath))
    found: list[SChunk] = []
    _attempt(report, "frame", lambda: found.append(open_schunk(urlpath, offset=offset)))
    for schunk in found:
        with schunk:
            _verify_metadata(schunk, report)
            _verify_chunks(schunk, report)
    return report


def _attempt(report: Report, kind: str, action: Callable[[], Any]) -> None:
    try:
        action()
    except Blosc2Error as exc:
        if kind == "chunk" and isinstance(exc, ChecksumError):
            kind = "checksum"
        report.problems.append(Problem(kind, str(exc), exc.offset, exc.chunk, exc.block))


def _verify_metadata(schunk: SChunk, report: Report) -> None:
    for kind, mapping in (("meta", schunk.meta), ("vlmeta", schunk.vlmeta)):
        for name in mapping:
            _attempt(report, kind, functools.partial(mapping.__getitem__, name))
    if schunk.is_array:
        from .ndarray import NDArray

        _attempt(report, "array", lambda: NDArray._from_schunk(schunk))


def _verify_chunks(schunk: SChunk, report: Report) -> None:
    report.nchunks = schunk.nchunks
    has_checksum = ffi.new("int *")
    ctx = _ffi.context(schunk.dparams.nthreads)

    def verify_chunk(nchunk: int) -> None:
        err = new_error()
        with schunk.handle as ptr:
            status = lib.b2c_schunk_verify_chunk(ptr, ctx, nchunk, has_checksum, err)
        if status != lib.B2C_OK and err.chunk == lib.B2C_NO_NUMBER:
            err.chunk = nchunk
        check(status, err, schunk.urlpath)
        report.nunverified += not has_checksum[0]

    for nchunk in range(report.nchunks):
        before = len(report.problems)
        _attempt(report, "chunk", functools.partial(verify_chunk, nchunk))
        if report.problems[before:] and report.problems[-1].kind == "checksum" and schunk.chunksize:
            # One checksum of the whole chunk told that; those of the blocks know more.
            report.problems[before:] = _blocks_of(schunk, nchunk) or report.problems[before:]


def _blocks_of(schunk: SChunk, nchunk: int) -> list[Problem]:
    """The damaged blocks of a chunk; none when its blocks have no checksums of their own."""
    report, info, err = Report(""), ffi.new("b2c_chunk_info *"), new_error()
    with schunk.handle as ptr:
        if lib.b2c_schunk_chunk_info(ptr, nchunk, info, err) != lib.B2C_OK or not info.blocksize:
            return []
    start = nchunk * schunk.chunksize
    for at in range(start, start + info.nbytes, info.blocksize):
        n = min(info.blocksize, start + info.nbytes - at)
        out = _ffi.raw_memory("char[]", n)
        _attempt(report, "chunk", functools.partial(schunk._read, at, n, out))
    return [problem for problem in report.problems if problem.block is not None]
