"""What pickles and copies of super-chunks and arrays are made of: for a file, how others open it.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .edit import Editing
from .params import DParams, default_dparams

if TYPE_CHECKING:
    from collections.abc import Callable


class Pickled(Editing):
    """The part of SChunk that tells others how to make the same."""

    def __setstate__(self, nthreads: int) -> None:
        self.dparams = DParams(nthreads)

    def reduced(
        self,
        open_path: Callable[..., Any],
        from_cframe: Callable[..., Any],
        to_cframe: Callable[[], bytes] | None = None,
    ) -> tuple[Any, ...]:
        """What __reduce__() gives: a call of one of two functions, and the threads that read, if chosen.

        to_cframe : None: the whole of a file is opened by its path
        """
        function, kept = open_path, {}
        if self.handle.limits is not None:
            kept["limits"] = self.handle.limits
        if to_cframe is None and self.urlpath is not None and self.mmap_mode != "c":
            args: tuple[Any, ...] = self._place_for_others()
            kept.update(self._kept_for_others(args[1]))
        else:
            function, args = from_cframe, ((to_cframe or self.to_cframe)(), True)
        nthreads = self._dparams.nthreads
        is_default = nthreads == default_dparams().nthreads
        call = functools.partial(function, **kept) if kept else function
        return call, args, None if is_default else nthreads

    def _place_for_others(self) -> tuple[str, str, int]:
        """Path, mode and offset with which others open what is stored now.

        They read, unless they take turns: a file without a lock has one writer.  Everything is
        stored before, unless a transaction is open.
        """
        if self.is_writable and not self.is_in_transaction:
            self.flush()
        changes = self.locking and self.mode != "r"
        return self.place, "a" if changes else "r", self._origin.offset

    def _kept_for_others(self, mode: str) -> dict[str, Any]:
        """Keywords of open() for others who open it, with a mode, to find the same as here."""
        kept: dict[str, Any] = {"locking": True} if self.locking else {}
        if self.handle.damage is not None:
            kept["on_damage"] = "fill"
        if self.mmap_mode == "r":  # who changes the file would change what others have mapped
            kept["mmap_mode"] = "r"
        if self._durability is not None and mode == "a":
            kept["durability"] = self._durability
        if not self._verifies and (mode == "r" or not self._writes_checksums):
            kept["checksums"] = False
        return kept
