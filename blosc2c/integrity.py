"""Checking what is on disk: every checksum, every chunk, all metadata; and getting back what is sound.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import _ffi
from . import limits as bounds
from ._ffi import check, ffi, lib, new_error
from .errors import Blosc2Error, ChecksumError, FrameExistsError, ParameterError
from .meta import decode, in_one_line, max_meta_nbytes, printable

if TYPE_CHECKING:
    from .schunk import SChunk

MAX_PROBLEMS = 10_000  # of one report: a hostile file can have as many as it likes


def counted(n: int, noun: str) -> str:
    """So many: 1 chunk, 2 chunks."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


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
        return in_one_line(f"{self.kind}: {self.what}")


@dataclass
class Report:
    """What verify() found; true when all is well.

    Attributes
    ----------
    path : what was checked
    problems : Problem objects, in the order of the file
    nchunks : chunks in the frame
    nunverified : chunks without a checksum, which decode but may hold other data than was stored
    nomitted : problems beyond the first 10 000
    """

    path: str
    problems: list[Problem] = field(default_factory=list)
    nchunks: int = 0
    nunverified: int = 0
    nomitted: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def add(self, problem: Problem) -> None:
        """Keep a problem, unless there are too many of them."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        else:
            self.nomitted += 1

    def _facts(self) -> str:
        facts = counted(self.nchunks, "chunk")
        if self.nunverified:
            facts += f", {self.nunverified} without a checksum"
        return facts

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        n = len(lines) + self.nomitted
        state = "ok" if self.ok else counted(n, "problem")
        if self.nomitted:
            lines.append(f"... and {self.nomitted} more")
        return "\n".join([*lines, f"{printable(self.path)}: {state} ({self._facts()})"])


@dataclass
class RepairReport(Report):
    """What repair() could and could not get back; true when nothing was wrong.

    Attributes
    ----------
    path, problems : the damaged one, and what is wrong with it
    target : what was written
    nchunks : chunks of the new one
    nkept : chunks that were copied
    nlost : chunks that were there, or should have been, and could not be read
    lost : their numbers, as ranges
    has_index : False when the chunks are in the order of the file, since nothing tells a better one
    """

    target: str = ""
    nkept: int = 0
    nlost: int = 0
    lost: list[range] = field(default_factory=list)
    has_index: bool = True

    def _facts(self) -> str:
        order = "" if self.has_index else ", in the order of the file"
        return f"{counted(self.nkept, 'chunk')} kept{order}, {self.nlost} lost; written to {printable(self.target)}"


def verify(
    urlpath: str | bytes | os.PathLike[str], offset: int = 0, *, limits: bounds.Limits | None = None
) -> Report:
    """Read and decode everything in a file or directory, and compare all checksums.

    Parameters
    ----------
    urlpath : file or directory
    offset : byte in the file where the frame starts
    limits : what to accept; None: those of set_limits()

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
    _attempt(report, "frame", lambda: found.append(open_schunk(urlpath, offset=offset, limits=limits)))
    for schunk in found:
        with schunk:
            _verify_metadata(schunk, report)
            _verify_chunks(schunk, report)
    return report


def _attempt(report: Report, kind: str, action: Callable[[], Any]) -> bool:
    """Make a call; True when it fails, which is reported."""
    try:
        action()
    except Blosc2Error as exc:
        if kind == "chunk" and isinstance(exc, ChecksumError):
            kind = "checksum"
        report.add(Problem(kind, str(exc), exc.offset, exc.chunk, exc.block))
        return True
    except OSError as exc:
        # A chunk file that is gone, a link in its place, a bad sector are damage as well.
        if kind != "chunk" and not os.path.isdir(report.path):
            raise
        report.add(Problem(kind, str(exc)))
        return True
    except MemoryError as exc:
        report.add(Problem(kind, str(exc) or "it takes more memory than there is"))
        return True
    return False


def _verify_metadata(schunk: SChunk, report: Report) -> None:
    for name in schunk.meta:
        _attempt(report, "meta", functools.partial(schunk.meta.__getitem__, name))
    _verify_vlmeta(schunk, report)
    if schunk.is_array:
        from .ndarray import NDArray

        _attempt(report, "array", lambda: NDArray._from_schunk(schunk)._check_chunks())


def _verify_vlmeta(schunk: SChunk, report: Report) -> None:
    vlmeta, nbytes, most = schunk.vlmeta, 0, max_meta_nbytes(schunk)

    def check_value(name: str) -> None:
        nonlocal nbytes
        packed = vlmeta.raw(name)
        nbytes += len(packed)
        decode(packed, name, schunk)

    for name in vlmeta:
        if nbytes > most:
            what = f"vlmetalayers decode to more than max_meta_nbytes, {most}: {name!r} and later ones were not read"
            report.add(Problem("vlmeta", what))
            return
        _attempt(report, "vlmeta", functools.partial(check_value, name))


_AT_ONCE = 64  # chunks that are verified by one call, so that it can be interrupted


def _verify_chunks(schunk: SChunk, report: Report) -> None:
    report.nchunks = schunk.nchunks
    nsound, nunverified = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    ctx = _ffi.context(schunk.dparams.nthreads)
    first = 0

    def verify_from(nchunk: int) -> None:
        err = new_error()
        with schunk.handle as ptr:
            status = lib.b2c_schunk_verify_chunks(ptr, ctx, nchunk, _AT_ONCE, nsound, nunverified, err)
        if status != lib.B2C_OK and err.chunk == lib.B2C_NO_NUMBER:
            err.chunk = nchunk + nsound[0]
        check(status, err, schunk.urlpath)

    while first < report.nchunks:
        before = len(report.problems)
        failed = _attempt(report, "chunk", functools.partial(verify_from, first))
        first += nsound[0]
        report.nunverified += nunverified[0]
        if not failed:
            continue
        if report.problems[before:] and report.problems[-1].chunk is None:
            report.problems[-1] = replace(report.problems[-1], chunk=first)
        is_whole = report.problems[before:] and report.problems[-1].block is None
        if is_whole and report.problems[-1].kind == "checksum" and schunk.chunksize:
            # One checksum of the whole chunk told that; those of the blocks know more.
            report.problems[before:] = _blocks_of(schunk, first) or report.problems[before:]
        first += 1


def _blocks_of(schunk: SChunk, nchunk: int) -> list[Problem]:
    """The damaged blocks of a chunk; none when its blocks have no checksums of their own."""
    report, info, err = Report(""), ffi.new("b2c_chunk_info *"), new_error()
    with schunk.handle as ptr:
        status = lib.b2c_schunk_chunk_info(ptr, nchunk, info, err)
    if status != lib.B2C_OK or not info.blocksize:
        return []
    start = nchunk * schunk.chunksize
    for at in range(start, start + info.nbytes, info.blocksize):
        n = min(info.blocksize, start + info.nbytes - at)
        out = _ffi.raw_memory("char[]", n)
        failed = _attempt(report, "chunk", functools.partial(schunk._read, at, n, out))
        if failed and report.problems[-1].block is None:
            return []  # what was compared is the whole chunk: so it would be for each of its blocks
    return report.problems


# ---- Repair ----------------------------------------------------------------

_PARTS = {
    lib.B2C_PART_FRAME: "frame",
    lib.B2C_PART_CHUNK: "chunk",
    lib.B2C_PART_META: "meta",
    lib.B2C_PART_VLMETA: "vlmeta",
    lib.B2C_PART_ARRAY: "array",
}


class _Listener:
    """What C tells while it repairs."""

    def __init__(self, report: RepairReport, progress: Callable[[int, int], None] | None) -> None:
        self.report = report
        self.progress = progress
        self.of_dtype: list[Problem] = []

    def note(self, note: Any) -> None:
        exc = _ffi.exception(note.error.status, note.error)
        kind = _PARTS[note.part]
        if kind == "chunk" and isinstance(exc, ChecksumError):
            kind = "checksum"
        # A damaged frame may have names that are no UTF-8.
        name = f"{bytes(ffi.string(note.name)).decode(errors='surrogateescape')!r}: " if note.name else ""
        facts = _ffi.facts_of(note.error)
        self.report.add(Problem(kind, f"{name}{exc}", facts["offset"], facts["chunk"], facts["block"]))
        if note.nchunks and len(self.report.lost) < MAX_PROBLEMS:
            self.report.lost.append(range(note.error.chunk, note.error.chunk + note.nchunks))

    def is_known(self, damaged: Any) -> bool:
        """Whether the dtype of the array can be told; if not, items become plain bytes."""
        from .description import read_description

        found = Report(self.report.path)
        if _attempt(found, "array", lambda: read_description(damaged, found.path)):
            self.of_dtype = found.problems
        return not self.of_dtype


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def repair_note(handle: Any, note: Any) -> int:
    try:
        ffi.from_handle(handle).note(note)
    except BaseException as exc:  # raised again by check(), on the other side of C
        return _ffi.keep_failure(exc)
    return 0


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def repair_progress(handle: Any, done: int, total: int) -> int:
    try:
        listener = ffi.from_handle(handle)
        if listener.progress is not None:
            listener.progress(done, total)
    except BaseException as exc:
        return _ffi.keep_failure(exc)
    return 0


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def repair_dtype(handle: Any, damaged: Any, is_known: Any) -> int:
    try:
        is_known[0] = ffi.from_handle(handle).is_known(damaged)
    except BaseException as exc:
        return _ffi.keep_failure(exc)
    return 0


def repair(
    src: str | bytes | os.PathLike[str],
    dst: str | bytes | os.PathLike[str],
    *,
    mode: str = "a",
    offset: int = 0,
    contiguous: bool | None = None,
    lost: str = "zeros",
    limits: bounds.Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RepairReport:
    """Write a new file or directory of all that is sound in a damaged one, which stays as it is.

    Chunks that do not decode or differ from their checksums are lost.  Where the index is gone,
    chunks are found by their headers and come in the order of the file; so a file that was cut off
    gives back all its whole chunks.  An array keeps its shape, with zeros in place of what was lost.

    Parameters
    ----------
    src : the damaged file or directory
    dst : path of the new one
    mode : "a": `dst` must not exist; "w": it is replaced, once the new one is complete
    offset : byte in the file where the damaged frame starts
    contiguous : whether to write a file or a directory; None: what `src` is
    lost : "zeros": they take the place of lost chunks whose size is known: all but, where sizes
        vary, several whose headers are damaged; "drop": these are left out, and later chunks move
        up (not in arrays)
    limits : what to accept; None: those of set_limits()
    progress : called with the number of chunks that are done and that of all

    Returns
    -------
    A RepairReport; damage is reported, not raised.

    Raises
    ------
    FormatError : there is neither a header nor a sound chunk
    FrameExistsError : `dst` is there and `mode` is not "w"
    OSError : `src` cannot be read or `dst` not written
    """
    from . import params

    source, target = params.to_path(src, "src"), params.to_path(dst, "dst")
    if not target:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
    if mode not in ("a", "w"):
        raise ParameterError(f"repair() takes the modes 'a' and 'w', not {mode!r}", field="mode")
    if lost not in ("zeros", "drop"):
        raise ParameterError(f"lost is 'zeros' or 'drop', not {lost!r}", field="lost")
    if os.path.lexists(target):
        if os.path.exists(source) and os.path.exists(target) and os.path.samefile(source, target):
            raise ParameterError("repair() does not write to the damaged file itself", field="dst")
        if mode != "w":
            exc = FrameExistsError(f"{target} is already there: pass mode='w' to replace it", path=target)
            exc.errno, exc.filename = errno.EEXIST, target
            raise exc
    report = RepairReport(source, target=target)
    c = ffi.new("b2c_repair_params *")
    lib.b2c_repair_params_init(c)
    is_dir = os.path.isdir(source) if contiguous is None else not contiguous
    c.storage = lib.B2C_STORAGE_DIR if is_dir else lib.B2C_STORAGE_FILE
    c.drop_lost = lost == "drop"
    c.offset = params.to_int(offset, "offset", 0, (1 << 63) - 1)
    c.limits = c_limits = bounds.c_limits_of(limits)
    listener = _Listener(report, progress)
    c.handle = handle = ffi.new_handle(listener)
    c.note, c.progress, c.dtype = lib.repair_note, lib.repair_progress, lib.repair_dtype
    c.replaces = mode == "w"
    _repair(report, c, listener, limits)
    del handle, c_limits
    return report


_OF_TARGET = (lib.B2C_E_EXISTS, lib.B2C_E_CONFLICT)  # what failed is about the new frame


def _repair(report: RepairReport, c: Any, listener: _Listener, limits: bounds.Limits | None) -> None:
    from .replacing import check_removable
    from .store import open_schunk

    check_removable(report.target)
    result, err = ffi.new("b2c_repair_result *"), new_error()
    status = lib.b2c_repair(os.fsencode(report.path), os.fsencode(report.target), c, result, err)
    is_about_target = status in _OF_TARGET or _ffi.text(err.field) == "to"
    check(status, err, report.target if is_about_target else report.path)
    written = Report(report.target)
    with open_schunk(report.target, limits=limits) as schunk:
        _verify_metadata(schunk, written)
    for problem in [*written.problems, *listener.of_dtype]:  # of values of metalayers, which were kept
        report.add(replace(problem, what=problem.what.replace(report.target, report.path)))
    report.nchunks, report.nkept, report.nlost = result.nchunks, result.nkept, result.nlost
    report.has_index = bool(result.has_index)
