"""NumPy dtypes as the text that the formats store, and back.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from .errors import FormatError

_MAX_TEXT = 1 << 16  # longer descriptions are refused before they are parsed
_MAX_ITEMSIZE = 536866816


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """`dtype` as np.dtype; TypeError for those whose items are not plain bytes."""
    dt: np.dtype[Any] = np.dtype(dtype)
    if dt.hasobject or dt.kind == "T":
        raise TypeError(
            f"dtype {dt} cannot be stored: its items are pointers to Python objects; "
            "convert to a fixed-size dtype such as 'U20' or 'S20'"
        )
    if dt.itemsize == 0:
        raise TypeError(f"dtype {dt} cannot be stored: its items have no bytes")
    return dt


def to_text(dtype: np.dtype[Any]) -> str:
    """The dtype as stored in a b2nd metalayer: '<i4', or a literal for structured ones."""
    dt = check_dtype(dtype)
    text = dt.str if dt.fields is None else str(dt)
    if _parse(text) != dt:
        raise TypeError(f"dtype {dt} has no portable description; view the data as {dt.str}")
    return text


def from_text(text: str, itemsize: int | None = None) -> np.dtype[Any]:
    """The dtype of a b2nd metalayer.

    Where it contradicts `itemsize`, which the chunks vouch for, items are opaque bytes.
    Raises FormatError when the text is no dtype.
    """
    try:
        dt = _parse(text)
    except (ValueError, TypeError, SyntaxError, KeyError, MemoryError, RecursionError) as exc:
        raise FormatError(f"{text[:80]!r} is no NumPy dtype: {exc}", field="dtype") from None
    if dt.hasobject or not 0 < dt.itemsize <= _MAX_ITEMSIZE:
        raise FormatError(f"dtype {text[:80]!r} cannot be read from bytes", field="dtype")
    if itemsize is not None and dt.itemsize != itemsize:
        return np.dtype((np.void, itemsize))
    return dt


def _parse(text: str) -> np.dtype[Any]:
    if len(text) > _MAX_TEXT:
        raise ValueError("the description is too long")
    if text[:1] in ("[", "{", "("):
        text = ast.literal_eval(text)
    dt: np.dtype[Any] = np.dtype(text)
    return dt


def to_msgpack(dtype: np.dtype[Any]) -> Any:
    """The dtype as stored by pack_tensor(): a string, or a list for structured dtypes."""
    dt = check_dtype(dtype)
    if dt.fields is None:
        return dt.str
    descr = dt.descr
    return descr if np.dtype(descr) == dt else to_text(dt)


def from_msgpack(stored: Any) -> np.dtype[Any]:
    """The reverse of to_msgpack(); FormatError for anything else."""
    if isinstance(stored, str):
        return from_text(stored)
    try:
        dt = np.dtype([_field(f) for f in stored])
    except (ValueError, TypeError, IndexError, RecursionError) as exc:
        raise FormatError(f"the stored dtype is malformed: {exc}", field="dtype") from None
    if dt.hasobject or not 0 < dt.itemsize <= _MAX_ITEMSIZE:
        raise FormatError(f"dtype {dt} cannot be read from bytes", field="dtype")
    return dt


def _field(entry: Any) -> tuple[Any, ...]:
    """One entry of a descr list, whose tuples msgpack may have turned into lists."""
    name, kind, *shape = entry
    if isinstance(kind, list | tuple):
        kind = [_field(f) for f in kind]
    name = tuple(name) if isinstance(name, list) else name
    return (name, kind, *(tuple(s) if isinstance(s, list) else s for s in shape))
