"""The command line: pack, unpack, info, cat, convert, verify, repair, conformance, selftest.

Data goes to stdout, everything else to stderr.  Exit status: 0 done, 1 the data is bad or cannot be
read or written, 2 wrong usage.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from ._ffi import MAX_NTHREADS
from .commands import FILTERS, cat, conformance, convert, info, pack, repair, selftest, unpack, verify
from .errors import Blosc2Error, ParameterError, UnknownCodecError, UnknownFilterError
from .runtime import __version__, compressor_list
from .terminal import BAD, USAGE, Ended, UsageError, fail, flush, say, signals_as_exceptions, write


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.strip("()").split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of sizes such as 100,200") from None


def _threads(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_NTHREADS:
        raise argparse.ArgumentTypeError(f"must be between 1 and {MAX_NTHREADS}, not {text}")
    return int(text)


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
        write(message)
        flush()


def _add_files(command: argparse.ArgumentParser, what: str, result: str) -> None:
    command.add_argument("input", help=what)
    command.add_argument("output", nargs="?", help=f"{result} (default: the input's name with that ending)")
    command.add_argument(
        "--threads",
        type=_threads,
        metavar="N",
        help=f"how many to work with, 1 to {MAX_NTHREADS} (default: as many as cores, at most 8)",
    )
    _add_force(command)


def _add_force(command: argparse.ArgumentParser) -> None:
    command.add_argument("--force", action="store_true", help="replace the output if it is there already")


def _add_compression(command: argparse.ArgumentParser) -> None:
    codecs = [c.name.lower() for c in compressor_list()]
    command.add_argument("--codec", default="zstd", choices=codecs, help="default: %(default)s")
    command.add_argument(
        "--clevel", type=int, default=5, metavar="0-9", help="0 stores, 9 is smallest (default: %(default)s)"
    )
    command.add_argument("--filter", choices=FILTERS, help="default: shuffle")
    command.add_argument("--chunks", type=_sizes, metavar="N,N...", help="items of a chunk along each axis")
    command.add_argument("--blocks", type=_sizes, metavar="N,N...", help="items of a block along each axis")


def _add_limit(command: argparse.ArgumentParser) -> None:
    names = ", ".join(_limit_names())
    command.add_argument(
        "--limit",
        type=_limit,
        action="append",
        metavar="NAME=N",
        help=f"the most that the input may ask for, may be given several times; NAME: {names}; N: 100, 10K, 5M, 1G",
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="blosc2c",
        description="Compressed arrays in the Blosc2 formats.",
        epilog="Exit status: 0 done, 1 bad data or what cannot be read or written, 2 wrong usage.",
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
    command.add_argument("--json", action="store_true", help="print it as JSON")
    _add_limit(command)
    command = add("cat", cat)
    command.add_argument("input", help="file or directory with an array")
    command.add_argument(
        "index", nargs="?", default="...", help="as in Python: '[3, :, 1:9]' (default: all of it)"
    )
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
        with signals_as_exceptions():
            status = int(args.run(args))
            flush()
        return status
    except SystemExit as exc:  # argparse has said what was wrong
        return exc.code if isinstance(exc.code, int) else USAGE
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except Ended as exc:
        say(f"ended by {signal.Signals(exc.number).name}")
        return 128 + exc.number
    except BrokenPipeError:
        return BAD  # the reader of stdout went away
    except (UnknownCodecError, UnknownFilterError) as exc:  # of the file: options have none but known ones
        return fail(exc, BAD)
    except (UsageError, ParameterError) as exc:
        return fail(exc, USAGE)
    except (IndexError, KeyError, TypeError) as exc:
        return fail(exc, USAGE)
    except (Blosc2Error, OSError, MemoryError, ValueError) as exc:
        return fail(exc, BAD)
