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


def packed(values: np.ndarray[Any, Any], dtype: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """A C-contiguous array of exactly this dtype, if need be a copy.

    NumPy's own functions give dates and times without a unit another byte order.
    """
    dtype = values.dtype if dtype is None else dtype
    if values.flags.c_contiguous and values.dtype == dtype:
        return values
    out: np.ndarray[Any, Any] = np.ndarray(values.shape, dtype)
    out[...] = values
    return out


def extension_name(dtype: np.dtype[Any]) -> str | None:
    """The name of a dtype of ml_dtypes, such as "bfloat16"; None for those of NumPy."""
    return dtype.name if dtype.type.__module__ == "ml_dtypes" else None


def extension(name: Any, itemsize: int) -> np.dtype[Any] | None:
    """The reverse; None when ml_dtypes is not there, or has no dtype of this name and size."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    scalar = getattr(ml_dtypes, name, None) if isinstance(name, str) else None
    if not (isinstance(scalar, type) and issubclass(scalar, np.generic)):
        return None
    dt: np.dtype[Any] = np.dtype(scalar)
    return dt if dt.itemsize == itemsize and extension_name(dt) == name else None


def to_text(dtype: np.dtype[Any]) -> str:
    """The dtype as stored in a b2nd metalayer: '<i4', or a literal for structured ones.

    The metalayer has bytes for those of ml_dtypes, as it has no names for them.
    """
    dt = check_dtype(dtype)
    if extension_name(dt):
        return f"|V{dt.itemsize}"
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
    if extension_name(dt):
        raise TypeError(
            f"dtype {dt} cannot be packed; asarray() stores it, or view the data as 'V{dt.itemsize}'"
        )
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
