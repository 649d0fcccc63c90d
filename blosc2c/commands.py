"""The commands: each is called with its arguments and returns the exit status.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import errno
import json
import math
import os
import shutil
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .errors import Blosc2Error, FormatError, LimitError
from .params import Codec, Filter
from .replacing import folder_beside
from .runtime import compressor_list, filter_list, version_report
from .terminal import BAD, DONE, Progress, UsageError, fail, hint_as_option, say, write, write_line

if TYPE_CHECKING:
    from .limits import Limits
    from .ndarray import NDArray
    from .schunk import SChunk

# The pipelines behind --filter: the differences of two filters want a shuffle with them.
FILTERS = {
    "nofilter": ["nofilter"],
    "shuffle": ["shuffle"],
    "bitshuffle": ["bitshuffle"],
    "delta": ["delta", "shuffle"],
    "bytedelta": ["shuffle", "bytedelta"],
}
LOSSY = (Filter.TRUNC_PREC, Filter.INT_TRUNC)


@contextlib.contextmanager
def _new_file(path: str, force: bool) -> Iterator[str]:
    """A temporary name next to `path` that becomes `path` when all went well; failures name `path`."""
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if os.path.isdir(path):
        raise UsageError(f"{path} is a directory")
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} is already there; --force replaces it")
    if os.path.exists(path) and not os.path.isfile(path):  # replacing /dev/null would harm everybody
        raise UsageError(f"{path} is no regular file, which is all that --force replaces")
    with folder_beside(path) as folder:
        temporary = os.path.join(folder, "new")
        try:
            yield temporary
            os.replace(temporary, path)
        except OSError as exc:
            if exc.filename == temporary:
                exc.filename = path
            raise
        except Blosc2Error as exc:
            exc.message = exc.message.replace(temporary, path)
            raise


def _output(args: argparse.Namespace, ending: str) -> str:
    """The file to write, which is of another format than the input and so never that."""
    # A slash behind a directory would make it a name of nothing in there.
    named: str = os.path.splitext(args.input.rstrip("/") or args.input)[0] + ending
    if named == args.input and args.output is None:
        other = {"pack": "unpack", "unpack": "pack"}[args.command]
        raise UsageError(f"{named} is named as what {args.command} writes: {other} it, or name an output")
    output: str = named if args.output is None else args.output
    with contextlib.suppress(OSError):  # one of them is not there
        if os.path.samefile(args.input, output):
            raise UsageError(f"{output} is the input: name another output")
    return output


def _cparams(args: argparse.Namespace) -> dict[str, Any]:
    cparams: dict[str, Any] = {"codec": args.codec, "clevel": args.clevel}
    if args.filter:
        cparams["filters"] = FILTERS[args.filter]
    if args.threads is not None:
        cparams["nthreads"] = args.threads
    return cparams


def _npy(path: str) -> Any:
    """The array of an .npy file, mapped."""
    import numpy as np

    from .replacing import check_not_special

    check_not_special(path)
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (OSError, MemoryError):
        raise
    except Exception as exc:  # of a damaged header NumPy may raise what its tokenizer raises
        raise FormatError(f"{path} is no .npy file of plain data: {exc}") from None


def pack(args: argparse.Namespace) -> int:
    """Compress an .npy file into a .b2nd file, chunk by chunk."""
    from .creation import asarray
    from .facts import human

    output = _output(args, ".b2nd")
    source = _npy(args.input)
    start = time.monotonic()
    with (
        _new_file(output, args.force) as temporary,
        _too_large_is_usage(),
        Progress(os.path.basename(output), source.nbytes) as progress,
    ):
        array = asarray(
            _Watched(source, progress) if source.ndim else source,
            chunks=args.chunks,
            blocks=args.blocks,
            cparams=_cparams(args),
            urlpath=temporary,
            mode="w",
        )
        report = f"{array.shape} {array.dtype}, {human(array.nbytes)} -> "
        array.close()
        report += human(os.path.getsize(temporary))
    say(f"{output}: {report} in {time.monotonic() - start:.2f} s")
    return DONE


@contextlib.contextmanager
def _too_large_is_usage() -> Iterator[None]:
    """Chunks or blocks beyond the limits are a mistake of who asked for them."""
    try:
        yield
    except LimitError as exc:
        if exc.field in ("chunks", "blocks"):
            raise UsageError(str(exc)) from None
        raise


class _Watched:
    """An array that tells a progress bar what has been read of it."""

    def __init__(self, source: Any, progress: Progress) -> None:
        self.shape, self.dtype = source.shape, source.dtype
        self._source, self._progress, self._done = source, progress, 0

    def __getitem__(self, key: Any) -> Any:
        part = self._source[key]
        self._done += part.nbytes
        self._progress.show(self._done)
        return part


def unpack(args: argparse.Namespace) -> int:
    """Decompress a .b2nd file into an .npy file, chunk by chunk."""
    import numpy as np

    output = _output(args, ".npy")
    with _open_array(args, args.threads) as array, _new_file(output, args.force) as temporary:
        _check_result(array.nbytes, args)
        _check_room(array.nbytes, output)
        if not array.size or not array.ndim:
            with open(temporary, "wb") as file:
                np.save(file, array[...])
        else:
            target = np.lib.format.open_memmap(temporary, "w+", array.dtype, array.shape)
            with Progress(os.path.basename(output), array.shape[0]) as progress:
                _copy_rows(array, target, progress)
            target.flush()
    say(f"{output}: {array.shape} {array.dtype}")
    return DONE


def _check_room(nbytes: int, output: str) -> None:
    """A file of a few bytes can stand for more zeros than any disk holds."""
    free = shutil.disk_usage(os.path.dirname(output) or ".").free
    if nbytes > free:
        raise OSError(errno.ENOSPC, f"would have {nbytes} bytes, and {free} are free", output)


def _copy_rows(array: NDArray, target: Any, progress: Progress) -> None:
    rows = max(array.chunks[0], 1)
    for first in range(0, array.shape[0], rows):
        key = slice(first, first + rows)
        array.read_into(target[key], key)
        progress.show(first + rows)


def _open_array(args: argparse.Namespace, threads: int | None = None) -> NDArray:
    from .store import open_array

    dparams = None if threads is None else {"nthreads": threads}
    return open_array(args.input, dparams=dparams, limits=_limits(args))


def _limits(args: argparse.Namespace) -> Limits | None:
    """What --limit gives, if anything."""
    from .limits import Limits

    return Limits(**dict(args.limit)) if args.limit else None


def _check_result(nbytes: int, args: argparse.Namespace) -> None:
    """What is written part by part may have any size, unless --limit says something else."""
    from .limits import check_limit

    limits = _limits(args)
    if limits is not None and limits.max_result_nbytes is not None:
        check_limit(nbytes, limits.max_result_nbytes)


def info(args: argparse.Namespace) -> int:
    """Tell what is in a file or directory: shape, type, compression, metadata."""
    from . import store

    with store.open(args.input, limits=_limits(args)) as obj:
        write_line(json.dumps(_facts(obj), indent=2) if args.json else repr(obj.info) + _metadata(obj))
    return DONE


def _facts(obj: SChunk | NDArray) -> dict[str, Any]:
    from .ndarray import NDArray

    cparams = obj.cparams
    facts: dict[str, Any] = {"type": type(obj).__name__, "urlpath": obj.urlpath}
    if isinstance(obj, NDArray):
        facts.update(shape=obj.shape, chunks=obj.chunks, blocks=obj.blocks, dtype=str(obj.dtype))
        schunk = obj.schunk
    else:
        schunk = obj
    facts.update(
        nbytes=obj.nbytes,
        cbytes=obj.cbytes,
        cratio=round(obj.cratio, 3),
        nchunks=schunk.nchunks,
        chunksize=schunk.chunksize,
        typesize=schunk.typesize,
        contiguous=schunk.contiguous,
        legacy=schunk.is_legacy,
        codec=_member(cparams.codec),
        clevel=cparams.clevel,
        filters=[_member(f) for f in cparams.filter_members()],
        meta=_plain(schunk.meta.getall()),
        vlmeta=_plain(schunk.vlmeta.getall()),
    )
    return facts


def _member(value: Any) -> Any:
    return value.name.lower() if hasattr(value, "name") else value


def _plain(value: Any) -> Any:
    """Values of metalayers as JSON can tell them."""
    from .meta import shown

    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str | int | float | bool | None):
        return str(value) if isinstance(value, float) and not math.isfinite(value) else value
    try:
        return str(value)
    except Exception:  # NumPy cannot show it
        return shown(value)


def _metadata(obj: SChunk | NDArray) -> str:
    from .meta import printable, shown

    lines = [f"meta    : {printable(name)} = {shown(value)}" for name, value in obj.meta.getall().items()]
    lines += [f"vlmeta  : {printable(name)} = {shown(value)}" for name, value in obj.vlmeta.getall().items()]
    return "\n".join(lines)


def cat(args: argparse.Namespace) -> int:
    """Print a selection of an array: as text, or with --npy as an .npy file."""
    from . import printing

    key = parse_index(args.index)
    with _open_array(args) as array:
        selection = printing.Selection(array, key)
        _check_result(selection.nbytes, args)
        if args.npy:
            for part in printing.npy(selection):
                write(part)
        else:
            for line in printing.text(selection):
                write(line)
    return DONE


def parse_index(text: str) -> Any:
    """An index as written in Python ('[3, :, 1:9]'), without running anything."""
    source = text.strip()
    if source.startswith("[") and source.endswith("]"):
        source = source[1:-1]
    try:
        tree = ast.parse(f"_[{source or '...'}]", mode="eval").body
        if not isinstance(tree, ast.Subscript):
            raise ValueError
        return _literal(tree.slice)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(f"{text!r} is no index such as '[3, :, 1:9]'") from None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_literal(item) for item in node.elts)
    if isinstance(node, ast.Slice):
        parts = [
            None if part is None else ast.literal_eval(part) for part in (node.lower, node.upper, node.step)
        ]
        if parts[2] == 0 or not all(part is None or isinstance(part, int) for part in parts):
            raise ValueError
        return slice(*parts)
    value = ast.literal_eval(node)
    if value is Ellipsis or value is None or isinstance(value, int | str | list):
        return value
    raise ValueError


def convert(args: argparse.Namespace) -> int:
    """Write a file or directory anew in the current format; for frames of 2019 to 2021, too."""
    from .conversion import convert as convert_path
    from .integrity import counted
    from .store import open_schunk

    limits = _limits(args)
    with _new_file(args.output, args.force) as temporary:
        convert_path(args.input, temporary, mode="w", limits=limits)
    with open_schunk(args.output, limits=limits) as new:
        parts = ((new.nchunks, "chunk"), (len(new.meta), "metalayer"), (len(new.vlmeta), "vlmetalayer"))
        say(f"{args.output}: {', '.join(counted(n, noun) for n, noun in parts)}")
    return DONE


def verify(args: argparse.Namespace) -> int:
    """Check everything in files: checksums, chunks, metadata."""
    from .integrity import verify as verify_path

    limits = _limits(args)
    status = DONE
    for path in args.input:
        try:
            report = verify_path(path, limits=limits)
        except OSError as exc:  # the other files are checked all the same
            status = fail(exc, BAD)
            continue
        write_line(hint_as_option(report))
        status = status if report else BAD
    return status


def repair(args: argparse.Namespace) -> int:
    """Write a new file of all that is sound in a damaged one, and tell what was lost."""
    from .integrity import repair as repair_path
    from .replacing import is_sparse_frame

    if os.path.lexists(args.output) and not args.force:
        raise UsageError(f"{args.output} is already there; --force replaces it")
    if os.path.isdir(args.output) and not is_sparse_frame(args.output):
        raise UsageError(f"{args.output} is a directory but no sparse frame; it is not replaced")
    lost = "drop" if args.drop_lost else "zeros"
    contiguous = False if args.directory else None
    with Progress(os.path.basename(args.output)) as progress:
        report = repair_path(
            args.input,
            args.output,
            mode="w" if args.force else "a",
            contiguous=contiguous,
            lost=lost,
            limits=_limits(args),
            progress=progress.show,
        )
    write_line(hint_as_option(report))
    return DONE if report else BAD


def conformance(args: argparse.Namespace) -> int:
    """Check the files of a directory against its manifest.json."""
    from .conformance import run

    failures = number = 0
    for outcome in run(args.directory):
        number += 1
        failures += bool(outcome.problem)
        write_line(outcome)
    write_line(
        f"{number} files, {failures} of them FAILED" if failures else f"{number} files are as they should be"
    )
    return BAD if failures else DONE


def selftest(args: argparse.Namespace) -> int:
    """Check this installation: round trips through every codec and filter."""
    write_line(version_report())
    failures = 0
    for codec in compressor_list():
        results = []
        for kind in filter_list():
            problem = _round_trip(codec, kind)
            failures += bool(problem)
            results.append(f"{kind.name.lower()} {problem or 'ok'}")
        write_line(f"{codec.name.lower():8} {', '.join(results)}")
    write_line("all round trips are fine" if not failures else f"{failures} round trips FAILED")
    return BAD if failures else DONE


def _round_trip(codec: Codec, kind: Filter) -> str:
    """Why a round trip fails; '' when it does not."""
    from .compress import compress2, decompress2

    data = b"".join((i * i // 7).to_bytes(4, "little") for i in range(50_000))
    try:
        for clevel in (0, 1, 5, 9):
            meta = [8 if kind in LOSSY else 0]
            chunk = compress2(data, codec=codec, filters=kind, filters_meta=meta, clevel=clevel, typesize=4)
            back = decompress2(chunk)
            # Truncating bits loses them: there only the size can be compared.
            if kind not in LOSSY and back != data:
                return f"DIFFERS at level {clevel}"
            if back is None or len(back) != len(data):
                return f"has a wrong size at level {clevel}"
    except Blosc2Error as exc:
        return f"FAILED: {exc}"
    return ""
