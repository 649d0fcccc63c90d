"""Context managers that end whatever a signal handler raises between two steps.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager
    from types import TracebackType

P = ParamSpec("P")
T = TypeVar("T")


def block(function: Callable[P, Iterator[T]]) -> Callable[P, AbstractContextManager[T]]:
    """contextlib.contextmanager for what others wait for.

    There a signal handler may raise when the generator has come to its yield but the block has not
    begun, or when the block has ended but the generator has not been told.  The traceback then holds
    the generator: it goes on when that goes, if ever, and on any thread.  Here only the with
    statement holds it, so that it is closed at once.
    """

    @functools.wraps(function)
    def begin(*args: P.args, **kwargs: P.kwargs) -> AbstractContextManager[T]:
        return _Block(function(*args, **kwargs))  # type: ignore[arg-type]

    return begin


class _Method:
    """A method that is made when it is looked up, as the with statement does before it calls any."""

    def __init__(self, make: Callable[[_Block], Callable[..., Any]]) -> None:
        self._make = make

    def __get__(self, owner: _Block | None, cls: type[_Block]) -> Callable[..., Any]:
        return self if owner is None else self._make(owner)

    def __call__(self, owner: _Block, *args: object) -> Any:  # as contextlib.ExitStack calls it
        return self._make(owner)(*args)


class _Block:
    def __init__(self, generator: Generator[Any, None, None]) -> None:
        self._generator = generator

    def _begin(self) -> Callable[[], Any]:
        return self._generator.__next__  # C code: no frame that a traceback could hold

    def _end(self) -> Callable[..., None]:
        end = functools.partial(_end, weakref.ref(self._generator))
        end.generator = self._generator  # type: ignore[attr-defined]
        return end

    __enter__ = _Method(_begin)
    __exit__ = _Method(_end)


def _end(
    generator: weakref.ref[Generator[Any, None, None]],
    kind: type[BaseException] | None,
    value: BaseException | None,
    traceback: TracebackType | None,
) -> None:
    if generator() is None:  # of garbage in a cycle: closed when the with statement lets go of it
        return
    if value is None:
        next(generator(), None)  # type: ignore[arg-type]
        return
    try:
        generator().throw(value)  # type: ignore[union-attr]
    except BaseException as exc:
        # The with statement raises `value` again; of StopIteration generators make a RuntimeError.
        if exc is not value and exc.__cause__ is not value:
            raise
        value.__traceback__ = traceback
