"""What users are shown of chunks, super-chunks and arrays.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .compat import LEFT_OUT
from .params import CParams, Filter, SpecialValue

if TYPE_CHECKING:
    from .read import Reading


class _LeftOut:
    """In the place of an attribute that only Python-Blosc2 has: who asks for it is told what to do instead."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        message = f"{owner.__name__} has no {self._name}: {LEFT_OUT[self._name]}"
        raise AttributeError(message, name=self._name, obj=instance)


class Explained:
    """What has no attribute of some name says why, when Python-Blosc2 has it.

    A __getattr__() would make all that there are slower to find.
    """

    def __dir__(self) -> list[str]:
        from inspect import getattr_static

        names, cls = super().__dir__(), type(self)
        return [name for name in names if not isinstance(getattr_static(cls, name, None), _LeftOut)]


for _name in LEFT_OUT:
    setattr(Explained, _name, _LeftOut(_name))


class ChunkInfo(Sequence[Any]):
    """What is known of a chunk without decoding it: a named tuple, but that a field is made when asked for.

    Attributes
    ----------
    nchunk : number of the chunk
    cratio : decoded over stored size
    special : SpecialValue; NOT_SPECIAL for chunks with data
    repeated_value : the bytes of one item when special is VALUE, else None
    lazychunk : the stored bytes; read when asked for
    """

    _fields: tuple[str, ...] = ("nchunk", "cratio", "special", "repeated_value", "lazychunk")

    def __init__(
        self, schunk: Reading, nchunk: int, cratio: float, special: SpecialValue, value: bytes | None
    ) -> None:
        self._schunk = schunk
        self.nchunk = nchunk
        self.cratio = cratio
        self.special = special
        self.repeated_value = value

    @property
    def lazychunk(self) -> bytes:
        return self._schunk.get_chunk(self.nchunk)

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, i: Any) -> Any:
        names = self._fields[i]
        return getattr(self, names) if isinstance(names, str) else tuple(getattr(self, n) for n in names)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        return (
            f"ChunkInfo(nchunk={self.nchunk}, cratio={self.cratio:.3g}, special={self.special}, "
            f"repeated_value={self.repeated_value!r})"
        )


def human(nbytes: float) -> str:
    """A size in bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if nbytes < 1024 or unit == "TiB":
            break
        nbytes /= 1024
    return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.2f} {unit}"


def codec_summary(cparams: CParams) -> str:
    """Codec, level and filters in a few characters: 'zstd-5 shuffle'."""

    def name(member: Any) -> str:
        return str(member.name.lower()) if hasattr(member, "name") else str(member)

    filters = [name(f) for f in cparams.filter_members() if f not in (Filter.NOFILTER, 0)]
    return " ".join([f"{name(cparams.codec)}-{cparams.clevel}", *filters])


class Report:
    """Pairs of names and values, shown one per line."""

    def __init__(self, items: list[tuple[str, Any]]) -> None:
        self.items = items

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.items)
        return "\n".join(f"{name:{width}} : {value}" for name, value in self.items) + "\n"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
            for name, value in self.items
        )
        return f"<table>{rows}</table>"
