"""NumPy dtypes as the text that the formats store, and back.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import ast
import functools
import math
from typing import Any

import numpy as np

from . import dtype_grammar as grammar
from .errors import FormatError

# What NumPy raises for descriptions that have the right form, and none of which is a defect of ours.
_REFUSED = (ValueError, TypeError, KeyError, OverflowError, MemoryError, RecursionError, SystemError)

_LONG = np.longdouble, np.clongdouble  # dtype.char does not tell: ml_dtypes has "G", too


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """`dtype` as np.dtype, without records; TypeError for those whose items are not plain bytes."""
    dt: np.dtype[Any] = np.dtype(dtype)
    if dt.hasobject or dt.kind == "T":
        raise TypeError(
            f"dtype {dt} cannot be stored: its items are pointers to Python objects; "
            "convert to a fixed-size dtype such as 'U20' or 'S20'"
        )
    if dt.itemsize == 0:
        raise TypeError(f"dtype {dt} cannot be stored: its items have no bytes")
    return without_records(dt)


def leaves_open(dtype: Any) -> bool:
    """Whether a dtype says no size or unit, as "U", "S", "V", "M8" and "m8" do."""
    dt: np.dtype[Any] = np.dtype(dtype)
    if dt.kind in "mM":
        return np.datetime_data(dt)[0] == "generic"
    return dt.kind in "SUV" and dt.itemsize == 0 and dt.names is None and dt.subdtype is None


def settled(dtype: Any, source: Any = None) -> np.dtype[Any]:
    """check_dtype(); what a dtype leaves open is what NumPy makes of the items of a source, or of none.

    Mostly it follows from their dtype; sizes of objects, and the unit of dates in texts, from themselves.
    """
    dt: np.dtype[Any] = np.dtype(dtype)
    if leaves_open(dt):
        items = np.empty(0, dt if source is None else source.dtype)
        kind = items.dtype.kind
        if source is not None and (kind in "OT" or (kind in "SU" and dt.kind in "mM")):
            items = np.asarray(source[tuple(slice(0, n) for n in source.shape)])
        dt = items.astype(dt).dtype.newbyteorder(dt.byteorder)
    return check_dtype(dt)


_NUMPY_ASKS_FOR = ("__array__", "__array_interface__", "__array_struct__")


def to_array(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """The array that NumPy makes of anything, of which settled() tells what a dtype leaves open.

    Numbers become texts here when such are asked for: later only the longest of their dtype is known.
    """
    if hasattr(values, "__dlpack__") and not any(hasattr(values, name) for name in _NUMPY_ASKS_FOR):
        return np.from_dlpack(values)
    asked = dtype is not None and leaves_open(dtype) and np.dtype(dtype).kind in "SUV"
    return np.asarray(values, dtype if asked else None)


def without_records(dtype: np.dtype[Any], aligned: bool = True) -> np.dtype[Any]:
    """The dtype with np.void in place of np.record, which differs in how Python shows it and gets at fields.

    Without `aligned` its records are where they are, but not because they are aligned.
    """
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((without_records(base, aligned), shape))
    if dtype.fields is None:
        return dtype
    fields = [dtype.fields[name] for name in dtype.names or ()]
    parts = {
        "names": dtype.names,
        "formats": [without_records(field[0], aligned) for field in fields],
        "offsets": [field[1] for field in fields],
        "titles": [field[2] if len(field) > 2 else None for field in fields],
        "itemsize": dtype.itemsize,
    }
    align = aligned and dtype.isalignedstruct
    return np.dtype(parts, align=align)  # type: ignore[call-overload, no-any-return]


def without_gaps(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype with the fields of all its records one behind the other."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((without_gaps(base), shape))
    if dtype.fields is None:
        return dtype
    fields: Any = []
    for name in dtype.names or ():
        part, _, *title = dtype.fields[name]
        fields.append(((title[0], name) if title else name, without_gaps(part)))
    return np.dtype(fields)  # type: ignore[no-any-return]


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


@functools.lru_cache(maxsize=256)
def _gaps(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The bytes of an item that belong to no field, and to no number."""
    return np.flatnonzero(~_is_used(dtype))


def _is_used(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.tile(_is_used(base), math.prod(shape))
    if dtype.type in _LONG:
        return _is_used_of_long(dtype)
    used = np.full(dtype.itemsize, dtype.fields is None)
    for part, at, *_ in (dtype.fields or {}).values():
        used[at : at + part.itemsize] |= _is_used(part)
    return used


def _is_used_of_long(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A long double of x86 has 10 bytes, and 2 or 6 more behind them so that the next one is aligned."""
    nbytes, nparts = np.dtype("g").itemsize, 2 if dtype.kind == "c" else 1
    used = np.arange(nbytes) < (10 if np.finfo("g").nmant == 63 else nbytes)
    return np.tile(used if dtype.isnative else used[::-1], nparts)


def as_array(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """`value` as an array, which is to have this dtype but need not yet."""
    if isinstance(value, np.ndarray):
        return value
    # What records are made of is known by their dtype only: tuples, with lists for arrays in them.
    return np.asarray(value, dtype if dtype.fields else None)


def storable(values: np.ndarray[Any, Any], dtype: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """packed(), with zeros in the gaps between the fields of records, and behind long doubles.

    NumPy leaves there what was in memory, which is nobody's to store, and makes other bytes of equal arrays.
    """
    out = packed(values, dtype)
    if (out.dtype.fields is not None or out.dtype.type in _LONG) and _gaps(out.dtype).size:
        out = np.array(out) if out is values else out  # not one of a subclass, such as those with masks
        out.reshape(-1).view(np.uint8).reshape(-1, out.dtype.itemsize)[:, _gaps(out.dtype)] = 0
    return out


def is_storable(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> bool:
    """Whether a whole array may be stored byte by byte as it is, as one of this dtype.

    Gaps between fields may hold what somebody has put there.  Behind long doubles there is nothing of anybody.
    """
    is_alike = values.flags.c_contiguous and values.dtype == dtype
    return is_alike and not (_has_long(dtype) and _gaps(dtype).size)


@functools.lru_cache(maxsize=256)
def _has_long(dtype: np.dtype[Any]) -> bool:
    if dtype.fields is not None:
        return any(_has_long(field[0]) for field in dtype.fields.values())
    return dtype.base.type in _LONG if dtype.base.fields is None else _has_long(dtype.base)


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
    if not (_describes(text, dt) and _is_so_for_numpy(text, dt)):
        text = str(without_records(dt, aligned=False))  # NumPy's text leaves out which inner records are
        if not _describes(text, dt):
            raise TypeError(f"dtype {dt} has no portable description; view the data as {dt.str}")
    return text


@functools.lru_cache(maxsize=256)
def _is_so_for_numpy(text: str, dtype: np.dtype[Any]) -> bool:
    """Whether other readers, which hand the text of records to NumPy, get this dtype.

    NumPy aligns the records inside of aligned ones, too, which moves fields of those that were not.
    """
    if dtype.fields is None:
        return True
    try:
        return bool(np.dtype(ast.literal_eval(text)) == dtype)
    except _REFUSED:
        return False


def _describes(described: Any, dtype: np.dtype[Any], gaps: bool = False) -> bool:
    try:
        made = grammar.parse(described) if isinstance(described, str) else grammar.build(described, gaps)
    except _REFUSED:
        return False
    return made == dtype


def from_text(text: str, itemsize: int | None = None, path: str | None = None) -> np.dtype[Any]:
    """The dtype of a b2nd metalayer.

    Where it contradicts `itemsize`, which the chunks vouch for, items are opaque bytes; so are those that
    are arrays themselves, which arrays of NumPy cannot have.  Raises FormatError when the text is no
    dtype; `path` is that of the file.
    """
    try:
        dt = grammar.parse(text)
    except _REFUSED as exc:
        raise FormatError(f"{text[:80]!r} is no NumPy dtype: {exc}", field="dtype", path=path) from None
    if not 0 < dt.itemsize <= grammar.MAX_ITEMSIZE:
        raise FormatError(f"dtype {text[:80]!r} cannot be read from bytes", field="dtype", path=path)
    if itemsize is not None and dt.itemsize != itemsize:
        return np.dtype((np.void, itemsize))
    return dt if dt.subdtype is None else np.dtype((np.void, dt.itemsize))


def to_msgpack(dtype: np.dtype[Any], gaps: bool = False) -> Any:
    """The dtype as stored by pack_tensor(): a string, or a list for structured dtypes.

    `gaps`: what lies between fields is told, as in .npy files, by unnamed fields of plain bytes.
    """
    dt = check_dtype(dtype)
    if extension_name(dt):
        raise TypeError(
            f"dtype {dt} cannot be packed; asarray() stores it, or view the data as 'V{dt.itemsize}'"
        )
    if dt.fields is None:
        return dt.str
    try:
        descr = dt.descr
    except ValueError:  # fields overlap or are out of order
        return to_text(dt)
    return descr if _describes(descr, dt, gaps) else to_text(dt)


def from_msgpack(stored: Any, gaps: bool = False) -> np.dtype[Any]:
    """The reverse of to_msgpack(); FormatError for anything else."""
    if isinstance(stored, str):
        return from_text(stored)
    if not isinstance(stored, list | tuple):
        raise FormatError(f"a dtype is a text or a list, not a {type(stored).__name__}", field="dtype")
    try:
        dt = grammar.build(list(stored), gaps)
    except _REFUSED as exc:
        raise FormatError(f"the stored dtype is malformed: {exc}", field="dtype") from None
    if not 0 < dt.itemsize <= grammar.MAX_ITEMSIZE:
        raise FormatError(f"dtype {dt} cannot be read from bytes", field="dtype")
    return dt
