"""What is accepted from data that is not trusted.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from dataclasses import dataclass, fields
from typing import Any

from ._ffi import LIMITS, SERIAL_NBYTES, calls, ffi
from .errors import LimitError
from .handles import Handle

_WIDE = ("max_nbytes", "max_chunk_nbytes", "max_meta_nbytes", "max_chunks")  # 64 bits, others 32


@dataclass(frozen=True)
class Limits:
    """Bounds for what a frame, file or chunk may ask for; beyond them a LimitError is raised.

    None means the default.  Give them to open() and the like, or to set_limits() for all that is
    opened later.

    Parameters
    ----------
    max_result_nbytes : decoded bytes that one call returns; by default the memory of this machine.
        What is read into a buffer of the caller does not count
    max_nbytes : decoded bytes of all chunks of a frame; by default any number, since what is not
        read costs nothing
    max_chunk_nbytes : decoded bytes of a chunk; by default 2^31 - 33, as many as a chunk can have
    max_meta_nbytes : decoded bytes of a vlmetalayer, and of all that one call decodes (``vlmeta[:]``,
        a copy, verify()); by default 2^24.  There may be a sixteenth as many lists and maps in it.
        Python objects take up to 32 times as much memory
    max_chunks : chunks of a frame; by default 2^24 and one more for every 32 bytes of the file, and
        2^28 - 5 that are all the same special value
    max_metalayers : fixed and variable-length metalayers, each; by default 16 and 8192
    max_ndim : dimensions of an array; by default 16
    max_open_files : chunk files of a directory that are open at the same time; by default 64.
        Threads beyond that wait

    Raises
    ------
    LimitError : a value is below 1
    TypeError : a value is no integer
    """

    max_result_nbytes: int | None = None
    max_nbytes: int | None = None
    max_chunk_nbytes: int | None = None
    max_meta_nbytes: int | None = None
    max_chunks: int | None = None
    max_metalayers: int | None = None
    max_ndim: int | None = None
    max_open_files: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise TypeError(f"{field.name} must be an integer or None, not {type(value).__name__}")
            if value.__index__() < 1:
                raise LimitError(f"{field.name} must be at least 1, not {value}", field=field.name)

    def short_nbytes(self) -> int:
        """Bytes up to which a short result need not be compared with any of them."""
        bounds = (self.max_result_nbytes, self.max_chunk_nbytes, SERIAL_NBYTES - 1)
        return min(bound.__index__() for bound in bounds if bound is not None)

    def to_c(self) -> Any:
        """A b2c_limits, not to be changed."""
        return _to_c(self)


@functools.lru_cache(maxsize=16)
def _to_c(limits: Limits) -> Any:
    c = ffi.new("b2c_limits *")
    for name, c_name in LIMITS.items():
        value = getattr(limits, name)
        if value is not None:
            most = (1 << 64) - 1 if name in _WIDE else (1 << 32) - 1
            setattr(c, c_name, min(value.__index__(), most))
    return c


def _memory_nbytes() -> int:
    """The memory that this process can have at most."""
    nbytes = 1 << 62
    with contextlib.suppress(ValueError, OSError, AttributeError):
        nbytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(ValueError, OSError), open("/sys/fs/cgroup/memory.max") as file:
        nbytes = min(nbytes, int(file.read()))
    return nbytes


class _Default:
    limits = Limits()
    c = limits.to_c()
    memory: int | None = None


def get_limits() -> Limits:
    """The limits of what is opened without any of its own."""
    return _Default.limits


def set_limits(limits: Limits) -> Limits:
    """Set the limits of what is opened later, and of chunks given as bytes; returns those before.

    Examples
    --------
    >>> before = set_limits(Limits(max_chunk_nbytes=1 << 24, max_result_nbytes=1 << 30))
    >>> set_limits(before).max_chunk_nbytes
    16777216
    """
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be a Limits, not {type(limits).__name__}")
    before, _Default.limits, _Default.c = _Default.limits, limits, limits.to_c()
    calls.set_default_limits(limits.short_nbytes(), min(limits.max_chunk_nbytes or sys.maxsize, sys.maxsize))
    return before


def of(limits: Limits | None) -> Limits:
    """`limits`, or the default ones."""
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits must be a Limits, not {type(limits).__name__}")
    return _Default.limits if limits is None else limits


def c_limits_of(limits: Limits | None) -> Any:
    """of() as a b2c_limits, not to be changed."""
    return _Default.c if limits is None else of(limits).to_c()


def check_result(nbytes: int, handle: Handle | None = None, what: str = "the result") -> int:
    """Raise LimitError when a call would return more than it may; returns `nbytes`."""
    limits = _Default.limits if handle is None or handle.limits is None else handle.limits
    most = limits.max_result_nbytes
    if most is None:
        if _Default.memory is None:
            _Default.memory = _memory_nbytes()
        most = _Default.memory
    return check_limit(nbytes, most, what)


def check_limit(nbytes: int, most: int, what: str = "the result") -> int:
    """check_result() with the bound itself."""
    if nbytes > most:
        raise LimitError(
            f"{what} would have {nbytes} bytes; max_result_nbytes allows {most}: read a part, or into "
            "memory of yours",
            field="max_result_nbytes",
            expected=most,
            actual=nbytes,
        )
    return nbytes


def check_chunk(nbytes: int, limits: Limits | None = None) -> None:
    """Raise LimitError when a chunk that was given as bytes decodes to more than it may."""
    most = of(limits).max_chunk_nbytes
    if most is not None and nbytes > most:
        raise LimitError(
            f"the chunk decodes to {nbytes} bytes; max_chunk_nbytes allows {most}",
            field="max_chunk_nbytes",
            expected=most,
            actual=nbytes,
        )
