"""The command line: pack, unpack, info, cat, convert, verify, repair, conformance, selftest.

Data goes to stdout, everything else to stderr.  Exit status: 0 done, 1 the data is bad or cannot be
read or written, 2 wrong usage.

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
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from ._ffi import MAX_NTHREADS
from .errors import Blosc2Error, FormatError, LimitError, ParameterError
from .params import Codec, Filter
from .replacing import folder_beside
from .runtime import __version__, compressor_list, filter_list, version_report

if TYPE_CHECKING:
    from .limits import Limits
    from .ndarray import NDArray
    from .schunk import SChunk

DONE, BAD, USAGE = 0, 1, 2
LOSSY = (Filter.TRUNC_PREC, Filter.INT_TRUNC)

# The pipelines behind --filter: the differences of two filters want a shuffle with them.
_FILTERS = {
    "nofilter": ["nofilter"],
    "shuffle": ["shuffle"],
    "bitshuffle": ["bitshuffle"],
    "delta": ["delta", "shuffle"],
    "bytedelta": ["shuffle", "bytedelta"],
}


class UsageError(Exception):
    """A mistake on the command line that argparse cannot see."""


class _Ended(BaseException):
    """A signal that ends the process."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    """What ends the process otherwise raises _Ended, so that no temporary files stay; a second one ends it.

    What a signal raises in a finalizer goes no further: it is raised again a moment later.
    """
    taken: list[int] = []
    lost: list[tuple[type[BaseException], tuple[Any, ...]]] = []
    tell = sys.unraisablehook

    def end(number: int, frame: Any) -> NoReturn:
        for each in taken:
            signal.signal(each, signal.SIG_DFL)
        raise _Ended(number)

    def raise_lost(*_: Any) -> NoReturn:
        kind, args = lost[-1]
        raise kind(*args)

    def not_raised(what: Any) -> None:
        if issubclass(what.exc_type, _Ended | KeyboardInterrupt):
            lost.append((what.exc_type, what.exc_value.args))
            signal.setitimer(signal.ITIMER_REAL, 1e-3)
        else:
            tell(what)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # not where somebody has asked for something else
            taken.append(number)
            signal.signal(number, end)
    on_alarm = signal.signal(signal.SIGALRM, raise_lost)
    sys.unraisablehook = not_raised
    try:
        yield
        if lost:
            raise_lost()
    finally:
        sys.unraisablehook = tell
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, on_alarm)
        for each in taken:
            signal.signal(each, signal.SIG_DFL)


def _write(what: Any) -> None:
    """Text or bytes to stdout, by whose name failures go."""
    try:
        if isinstance(what, str):
            sys.stdout.write(what)
        else:
            sys.stdout.buffer.write(what)
    except OSError as exc:
        raise _of_stdout(exc) from None


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as exc:
        raise _of_stdout(exc) from None


def _of_stdout(exc: OSError) -> OSError:
    # What it has not taken goes nowhere; else Python would complain about that at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OSError(exc.errno, exc.strerror, "standard output")


def _print(what: object) -> None:
    _write(f"{what}\n")


# ---- Helpers ---------------------------------------------------------------


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.strip("()").split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of sizes such as 100,200") from None


def _threads(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_NTHREADS:
        raise argparse.ArgumentTypeError(f"must be between 1 and {MAX_NTHREADS}, not {text}")
    return int(text)


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


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def _limit_names() -> list[str]:
    from dataclasses import fields

    from .limits import Limits

    return [field.name for field in fields(Limits)]


def _limit(text: str) -> tuple[str, int]:
    """A field of Limits and its value."""
    name, _, value = text.partition("=")
    names = _limit_names()
    number, unit = (value[:-1], value[-1:].upper()) if value[-1:].isalpha() else (value, "")
    if name not in names or unit not in _UNITS or not number.isdecimal() or not int(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not like {names[0]}=100M; names: {', '.join(names)}")
    return name, int(number) * _UNITS[unit]


class Progress:
    """A bar on stderr, when that is a terminal and the work takes more than a second.

    With the package `rich` it is a fine one, else plain text.
    """

    def __init__(self, what: str, total: int = 1) -> None:
        self._what, self._total = what, total
        self._start = self._last = time.monotonic()
        self._active = sys.stderr.isatty()
        self._bar: Any = None

    def show(self, done: int, total: int | None = None) -> None:
        """`done` of the total is done; `total` when that was not known before."""
        self._total = self._total if total is None else total
        now = time.monotonic()
        if not self._active or now - self._start < 1 or now - self._last < 0.1:
            return
        self._last = now
        self._bar = self._bar or _fine_bar(self._what) or _PlainBar(self._what)
        self._bar.update(done / max(self._total, 1), now - self._start)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        """Remove the bar, also before a failure is told."""
        if self._bar:
            self._bar.stop()


class _PlainBar:
    def __init__(self, what: str) -> None:
        self._what = what

    def update(self, part: float, seconds: float) -> None:
        part = min(part, 1.0)
        left = seconds * (1 - part) / part if part else 0
        line = f"\r{self._what} [{'#' * round(30 * part):30}] {part:4.0%} {left:5.0f} s left"
        print(line, end="", file=sys.stderr, flush=True)

    def stop(self) -> None:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def _fine_bar(what: str) -> Any:
    """The same with `rich`; None when it is not installed."""
    try:
        from rich.console import Console
        from rich.progress import Progress as RichProgress
    except ImportError:
        return None

    class Bar:
        def __init__(self) -> None:
            self._rich = RichProgress(console=Console(stderr=True), transient=True)
            self._task = self._rich.add_task(what, total=1.0)
            self._rich.start()

        def update(self, part: float, seconds: float) -> None:
            self._rich.update(self._task, completed=part)

        def stop(self) -> None:
            self._rich.stop()

    return Bar()


@contextlib.contextmanager
def _new_file(path: str, force: bool) -> Iterator[str]:
    """A temporary name next to `path` that becomes `path` when all went well."""
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
        yield temporary
        os.replace(temporary, path)


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


def _say(text: str) -> None:
    """A line on stderr, whatever is in the names of files in it."""
    from .meta import in_one_line

    if sys.stderr is not None:  # print() takes stdout for None
        print(in_one_line(text), file=sys.stderr)


# ---- Commands --------------------------------------------------------------


def _cparams(args: argparse.Namespace) -> dict[str, Any]:
    cparams: dict[str, Any] = {"codec": args.codec, "clevel": args.clevel}
    if args.filter:
        cparams["filters"] = _FILTERS[args.filter]
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
    _say(f"{output}: {report} in {time.monotonic() - start:.2f} s")
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
    _say(f"{output}: {array.shape} {array.dtype}")
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
    """Tell what is in a file."""
    from . import store

    with store.open(args.input, limits=_limits(args)) as obj:
        _print(json.dumps(_facts(obj), indent=2) if args.json else repr(obj.info) + _metadata(obj))
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
                _write(part)
        else:
            for line in printing.text(selection):
                _write(line)
    return DONE


def convert(args: argparse.Namespace) -> int:
    """Write a file or directory anew in the current format; for frames of 2019 to 2021, too."""
    from .conversion import convert as convert_path
    from .store import open_schunk

    limits = _limits(args)
    with _new_file(args.output, args.force) as temporary:
        convert_path(args.input, temporary, mode="w", limits=limits)
    with open_schunk(args.output, limits=limits) as new:
        nmeta, nvlmeta = len(new.meta), len(new.vlmeta)
        _say(f"{args.output}: {new.nchunks} chunks, {nmeta} metalayers, {nvlmeta} vlmetalayers")
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
            status = _fail(exc, BAD)
            continue
        _print(report)
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
    _print(report)
    return DONE if report else BAD


def conformance(args: argparse.Namespace) -> int:
    """Check the files of a directory against its manifest.json."""
    from .conformance import run

    failures = number = 0
    for outcome in run(args.directory):
        number += 1
        failures += bool(outcome.problem)
        _print(outcome)
    _print(
        f"{number} files, {failures} of them FAILED" if failures else f"{number} files are as they should be"
    )
    return BAD if failures else DONE


def selftest(args: argparse.Namespace) -> int:
    """Round trips through every codec and filter of this build."""
    _print(version_report())
    failures = 0
    for codec in compressor_list():
        results = []
        for kind in filter_list():
            problem = _round_trip(codec, kind)
            failures += bool(problem)
            results.append(f"{kind.name.lower()} {problem or 'ok'}")
        _print(f"{codec.name.lower():8} {', '.join(results)}")
    _print("all round trips are fine" if not failures else f"{failures} round trips FAILED")
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


# ---- The parser ------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """One that takes options anywhere, and tells when help cannot be printed and of paths like options."""

    _is_in_pass = False  # of the two that find the options first

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._words = sys.argv[1:] if args is None else list(args)
        # argparse itself gives up on 'input --option output', where the output may be left out; its
        # way around that is not for commands of commands, and loses "--" in front of all files.
        if self._is_in_pass or self._subparsers is not None or "--" in self._words:
            return super().parse_known_args(args, namespace)
        self._is_in_pass = True
        return self.parse_known_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        for word in self._words:
            if word.startswith("-") and os.path.lexists(word):
                message += f" (the path {word} is written ./{word})"
                break
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is None or file is not sys.stdout:
            super()._print_message(message, file)
            return
        _write(message)
        _flush()


def _add_files(command: argparse.ArgumentParser, what: str, result: str) -> None:
    command.add_argument("input", help=what)
    command.add_argument("output", nargs="?", help=f"{result} (default: the input's name with that ending)")
    command.add_argument(
        "--threads", type=_threads, metavar="N", help=f"1 to {MAX_NTHREADS} (default: cores, at most 8)"
    )
    _add_force(command)


def _add_force(command: argparse.ArgumentParser) -> None:
    command.add_argument("--force", action="store_true", help="replace the output")


def _add_compression(command: argparse.ArgumentParser) -> None:
    codecs = [c.name.lower() for c in compressor_list()]
    command.add_argument("--codec", default="zstd", choices=codecs, help="default: %(default)s")
    command.add_argument(
        "--clevel", type=int, default=5, metavar="0-9", help="0 stores, 9 is smallest (default: %(default)s)"
    )
    command.add_argument("--filter", choices=_FILTERS, help="default: shuffle")
    command.add_argument("--chunks", type=_sizes, metavar="N,N...", help="items of a chunk along each axis")
    command.add_argument("--blocks", type=_sizes, metavar="N,N...", help="items of a block along each axis")


def _add_limit(command: argparse.ArgumentParser) -> None:
    names = ", ".join(_limit_names())
    command.add_argument(
        "--limit",
        type=_limit,
        action="append",
        metavar="NAME=N",
        help=f"what the input may ask for, by the names of Limits: {names}",
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="blosc2c",
        description="Compressed arrays in the Blosc2 formats.",
        epilog="Exit status: 0 done, 1 bad data, 2 wrong usage.",
    )
    parser.add_argument("--version", action="version", version=f"blosc2c {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def add(name: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        text = (run.__doc__ or "").strip()
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        return command

    command = add("pack", pack)
    _add_files(command, ".npy file", ".b2nd file")
    _add_compression(command)
    command = add("unpack", unpack)
    _add_files(command, ".b2nd file", ".npy file")
    _add_limit(command)
    command = add("info", info)
    command.add_argument("input", help="file or directory")
    command.add_argument("--json", action="store_true", help="as JSON")
    _add_limit(command)
    command = add("cat", cat)
    command.add_argument("input", help="file or directory with an array")
    command.add_argument("index", nargs="?", default="...", help="as in Python: '[3, :, 1:9]'")
    command.add_argument("--npy", action="store_true", help="write an .npy file to stdout")
    _add_limit(command)
    command = add("convert", convert)
    command.add_argument("input", help="file or directory")
    command.add_argument("output", help="file to write")
    _add_force(command)
    _add_limit(command)
    command = add("verify", verify)
    command.add_argument("input", nargs="+", help="files or directories")
    _add_limit(command)
    command = add("repair", repair)
    command.add_argument("input", help="damaged file or directory; it is not changed")
    command.add_argument("output", help="the new one")
    _add_force(command)
    command.add_argument("--directory", action="store_true", help="write a directory")
    command.add_argument(
        "--drop-lost", action="store_true", help="leave lost chunks out: no zeros in their place"
    )
    _add_limit(command)
    command = add("conformance", conformance)
    command.add_argument("directory", help="files and their manifest.json")
    add("selftest", selftest)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    try:
        args = _parser().parse_args(argv)
        if sys.stdout is None:
            raise OSError(errno.EBADF, "there is no standard output")
        with _signals_as_exceptions():
            status = int(args.run(args))
            _flush()
        return status
    except SystemExit as exc:  # argparse has said what was wrong
        return exc.code if isinstance(exc.code, int) else USAGE
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except _Ended as exc:
        _say(f"ended by {signal.Signals(exc.number).name}")
        return 128 + exc.number
    except BrokenPipeError:
        return BAD  # the reader of stdout went away
    except (UsageError, ParameterError) as exc:
        return _fail(exc, USAGE)
    except (IndexError, KeyError, TypeError) as exc:
        return _fail(exc, USAGE)
    except (Blosc2Error, OSError, MemoryError, ValueError) as exc:
        return _fail(exc, BAD)


def _fail(exc: BaseException, status: int) -> int:
    if isinstance(exc, OSError) and exc.strerror:
        text = exc.strerror if exc.filename is None else f"{exc.filename or repr('')}: {exc.strerror}"
    else:
        text = str(exc) or type(exc).__name__
    _say(f"blosc2c: {text}")
    return status
