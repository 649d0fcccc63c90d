"""Values of metalayers as msgpack: the types of msgpack, and those that Python adds to them.

Extension types of msgpack hold what msgpack itself has no type for; Python-Blosc2 reads and
writes the same:

====  =====================================================================================
code  content
====  =====================================================================================
42    a frame: an NDArray or SChunk in memory
44    a complex number: real and imaginary part, 8 bytes each, most significant first
45    a set: the msgpack of a list
46    a NumPy array: the msgpack of ``{dtype: {str} or {descr}, shape, data}``, in C order;
      for objects ``{values, shape}``
====  =====================================================================================

A tuple is a list whose first item is the mark ``"__tuple__"``.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import math
import struct
import sys
from typing import TYPE_CHECKING, Any

import msgpack

from .errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from .ndarray import NDArray
    from .schunk import SChunk

_TUPLE_MARK = "__tuple__"
_FRAME, _COMPLEX, _SET, _ARRAY = 42, 44, 45, 46
_MAX_DEPTH = 16  # of values inside extension types; each takes a parser's room on the stack
_MAX_NDIM = 64


def pack(value: Any) -> bytes:
    """`value` as msgpack; TypeError for what has no form in it."""
    packed = msgpack.packb(value, default=_to_msgpack, strict_types=True, use_bin_type=True)
    assert isinstance(packed, bytes)
    return packed


def unpack(packed: bytes) -> Any:
    """The value of pack().

    Any bytes are safe; those that hold no value raise one of UNPACK_ERRORS.
    """
    return _unpack(packed, 0)


UNPACK_ERRORS = (
    ValueError,  # also FormatError
    TypeError,
    KeyError,
    OverflowError,
    struct.error,
    msgpack.UnpackException,
    RecursionError,
)


def plain_text(packed: bytes) -> str | None:
    """The text that pack() made these bytes of; None when they are anything else, which is not decoded."""
    try:
        length, at = (packed[0] & 0x1F, 1) if 0xA0 <= packed[0] <= 0xBF else (packed[1], 2)
        text = packed[at:].decode()
    except (IndexError, UnicodeDecodeError):
        return None
    is_text = packed[0] == 0xD9 or at == 1
    return text if is_text and len(packed) == at + length else None


def _to_msgpack(value: Any) -> Any:
    """What msgpack can store in place of a `value` that is none of its own types."""
    if isinstance(value, tuple):
        return [_TUPLE_MARK, *value]
    numpy = sys.modules.get("numpy")  # values are of its types only when it is there
    if numpy is not None and isinstance(value, numpy.generic):
        item = value.item()
        if isinstance(item, bool | int | float | str | bytes):
            return item
        return _unknown(value) if isinstance(item, numpy.generic) else _to_msgpack(item)
    if isinstance(value, complex):
        return msgpack.ExtType(_COMPLEX, struct.pack(">dd", value.real, value.imag))
    if isinstance(value, set | frozenset):
        # In an order that does not depend on the run: equal sets make equal bytes.
        items = sorted(pack(item) for item in value)
        return msgpack.ExtType(_SET, msgpack.Packer().pack_array_header(len(items)) + b"".join(items))
    if numpy is not None and isinstance(value, numpy.ndarray):
        return msgpack.ExtType(_ARRAY, pack(_array_fields(value)))
    kinds: tuple[Callable[[Any], Any], ...] = (dict, list, str, bytes, int, float)
    for kind in kinds:  # subclasses of these
        if isinstance(value, kind):  # type: ignore[arg-type]
            return kind(value)
    if hasattr(value, "to_cframe"):
        return msgpack.ExtType(_FRAME, value.to_cframe())
    return _unknown(value)


def _unknown(value: Any) -> Any:
    raise TypeError(f"a metalayer cannot hold {type(value).__name__}: msgpack has no type for it")


def _array_fields(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    from . import dtype as dtypes

    shape = list(array.shape)
    if array.dtype.hasobject:
        return {"values": array.ravel().tolist(), "shape": shape}
    if array.dtype.fields is not None:
        from numpy.lib import recfunctions

        array = recfunctions.repack_fields(array)  # what lies between fields has no description
    stored = dtypes.to_msgpack(array.dtype)
    kind = "str" if isinstance(stored, str) else "descr"
    return {"dtype": {kind: stored}, "shape": shape, "data": array.tobytes()}


def _unpack(packed: bytes, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise FormatError(f"values are nested more than {_MAX_DEPTH} deep in extension types")
    return msgpack.unpackb(
        packed,
        list_hook=_decode_list,
        ext_hook=functools.partial(_decode_extension, depth=depth + 1),
        strict_map_key=False,
    )


def _decode_list(value: list[Any]) -> Any:
    marked = bool(value) and isinstance(value[0], str) and value[0] == _TUPLE_MARK
    return tuple(value[1:]) if marked else value


def _decode_extension(code: int, data: bytes, depth: int) -> Any:
    decode = _DECODERS.get(code)
    return msgpack.ExtType(code, data) if decode is None else decode(data, depth)


def _decode_frame(data: bytes, _depth: int) -> NDArray | SChunk:
    from .store import from_cframe

    return from_cframe(data)


def _decode_complex(data: bytes, _depth: int) -> complex:
    real, imag = struct.unpack(">dd", data)
    return complex(real, imag)


def _decode_set(data: bytes, depth: int) -> set[Any]:
    items = _unpack(data, depth)
    if not isinstance(items, list | tuple):
        raise FormatError(f"a set is stored as a list, not as {type(items).__name__}")
    # The mark of a tuple may be the first item of the set.
    return {_TUPLE_MARK, *items} if isinstance(items, tuple) else set(items)


def _decode_array(data: bytes, depth: int) -> np.ndarray[Any, Any]:
    import numpy as np

    from . import dtype as dtypes

    fields = _unpack(data, depth)
    if not isinstance(fields, dict):
        raise FormatError(f"an array is stored as a map, not as {type(fields).__name__}")
    shape = fields["shape"]
    if not (
        isinstance(shape, list)
        and len(shape) <= _MAX_NDIM
        and all(isinstance(n, int) and n >= 0 for n in shape)
    ):
        raise FormatError(f"the shape of a stored array is not a list of sizes: {str(shape)[:80]}")
    if "values" in fields:
        return _object_array(fields["values"], shape)
    stored = fields["dtype"]
    dtype = dtypes.from_msgpack(stored["str"] if "str" in stored else stored["descr"])
    content = fields["data"]
    if not isinstance(content, bytes) or len(content) != math.prod(shape) * dtype.itemsize:
        raise FormatError(f"a stored array of shape {tuple(shape)} and dtype {dtype} has another size")
    array: np.ndarray[Any, Any] = np.frombuffer(content, dtype).reshape(shape).copy()
    return array


def _object_array(values: Any, shape: list[int]) -> np.ndarray[Any, Any]:
    import numpy as np

    if not isinstance(values, list | tuple):
        raise FormatError(f"objects are stored as a list, not as {type(values).__name__}")
    if isinstance(values, tuple):
        values = [_TUPLE_MARK, *values]
    if len(values) != math.prod(shape):
        raise FormatError(f"a stored array of shape {tuple(shape)} has {len(values)} objects")
    out = np.empty(len(values), object)
    for i, value in enumerate(values):
        out[i] = value
    return out.reshape(shape)


_DECODERS: dict[int, Callable[[bytes, int], Any]] = {
    _FRAME: _decode_frame,
    _COMPLEX: _decode_complex,
    _SET: _decode_set,
    _ARRAY: _decode_array,
}
