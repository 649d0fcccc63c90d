"""What the command line reads and writes by: signals, standard output, messages, progress.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

DONE, BAD, USAGE = 0, 1, 2  # exit status, see cli.py


class UsageError(Exception):
    """A mistake on the command line that argparse cannot see."""


class Ended(BaseException):
    """A signal that ends the process."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """What ends the process otherwise raises Ended, so that no temporary files stay; a second one ends it.

    What a signal raises in a finalizer goes no further: it is raised again a moment later.
    """
    taken: list[int] = []
    lost: list[tuple[type[BaseException], tuple[Any, ...]]] = []
    tell = sys.unraisablehook

    def end(number: int, frame: Any) -> NoReturn:
        for each in taken:
            signal.signal(each, signal.SIG_DFL)
        raise Ended(number)

    def raise_lost(*_: Any) -> NoReturn:
        kind, args = lost[-1]
        raise kind(*args)

    def not_raised(what: Any) -> None:
        if issubclass(what.exc_type, Ended | KeyboardInterrupt):
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


def write(what: Any) -> None:
    """Text or bytes to stdout, by whose name failures go."""
    try:
        if isinstance(what, str):
            sys.stdout.write(what)
        else:
            sys.stdout.buffer.write(what)
    except OSError as exc:
        raise _of_stdout(exc) from None


def flush() -> None:
    try:
        sys.stdout.flush()
    except OSError as exc:
        raise _of_stdout(exc) from None


def _of_stdout(exc: OSError) -> OSError:
    # What it has not taken goes nowhere; else Python would complain about that at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OSError(exc.errno, exc.strerror, "standard output")


def write_line(what: object) -> None:
    write(f"{what}\n")


def say(text: str) -> None:
    """A line on stderr, whatever is in the names of files in it."""
    from .meta import in_one_line

    if sys.stderr is not None:  # print() takes stdout for None
        print(in_one_line(text), file=sys.stderr)


def hint_as_option(text: object) -> str:
    """The text of an error or report, in which hints of limits are options of the command line."""
    return re.sub(r"limits=Limits\((\w+=\d+)\)", r"--limit \1", str(text))


def fail(exc: BaseException, status: int) -> int:
    if isinstance(exc, OSError) and exc.strerror:
        text = exc.strerror if exc.filename is None else f"{exc.filename or repr('')}: {exc.strerror}"
    else:
        text = str(exc) or type(exc).__name__
    say(f"blosc2c: {hint_as_option(text)}")
    return status


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
