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

A tuple is a list whose first item is the mark ``"__tuple__"``.  Values are nested up to 256 deep.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import collections
import math
import struct
import sys
from typing import TYPE_CHECKING, Any

import msgpack

from .errors import FormatError, LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np

    from .limits import Limits
    from .ndarray import NDArray
    from .schunk import SChunk

_TUPLE_MARK = "__tuple__"
_TUPLE_BYTES = _TUPLE_MARK.encode()
_FRAME, _COMPLEX, _SET, _ARRAY = 42, 44, 45, 46
_SHORT_NBYTES = 64  # too few for many parts, for keys with one hash, and for a depth that matters
_MAX_DEPTH = 256  # of values in values: repr(), json and the like recurse
_MAX_EXTENSIONS = 16  # extension types in extension types; each takes a parser's room on the stack
_MAX_NDIM = 64
_EXTENSION_PARTS = 8  # an extension takes the time of so many lists
_MAX_COLLISIONS = 64  # members of a set, or keys, with one hash; honest ones have some eight at most


def pack(value: Any) -> bytes:
    """`value` as msgpack; TypeError for what has no form in it."""
    packed = msgpack.packb(value, default=_to_msgpack, strict_types=True, use_bin_type=True)
    assert isinstance(packed, bytes)
    if _may_be_deep(packed) and _is_deep(value):
        raise LimitError(f"a metalayer cannot hold values that are nested more than {_MAX_DEPTH} deep")
    return packed


def unpack(packed: bytes, limits: Limits | None = None, max_parts: int = 1 << 62) -> Any:
    """The value of pack().

    Any bytes are safe; those that hold no value raise one of UNPACK_ERRORS, and LimitError when there are
    more than `max_parts` lists and maps.  `limits` are those of frames that are part of the value; None:
    the default ones.
    """
    if len(packed) <= _SHORT_NBYTES and len(packed) <= max_parts and _TUPLE_BYTES not in packed:
        try:
            return msgpack.unpackb(packed, strict_map_key=False, ext_hook=_refuse)
        except Exception:  # the decoder tells what is wrong, or knows the extension
            pass
    value = _Decoder(limits, max_parts).value(packed)
    if _may_be_deep(packed) and _is_deep(value):
        raise _too_deep()
    return value


def _refuse(code: int, data: bytes) -> Any:
    raise FormatError("extensions are for the decoder")


def _too_deep() -> FormatError:
    return FormatError(f"values are nested more than {_MAX_DEPTH} deep")


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


# All bytes but those that a list or map, plain or in a set or array, begins with.
_NO_CONTAINERS = bytes(b for b in range(256) if not (0x80 <= b <= 0x9F or 0xDC <= b <= 0xDF))


def _may_be_deep(packed: bytes) -> bool:
    """False when there are not enough lists and maps; quick, so that hardly a value is walked through."""
    return len(packed) > _MAX_DEPTH and len(packed.translate(None, _NO_CONTAINERS)) > _MAX_DEPTH


def _is_deep(value: Any) -> bool:
    """Whether values are nested too deep: without recursion, level by level."""
    numpy: Any = sys.modules.get("numpy")
    containers = (list, tuple, dict, set, frozenset, *(() if numpy is None else (numpy.ndarray,)))
    level = [value]
    for _ in range(_MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            inside = item if isinstance(item, list | tuple | set | frozenset) else ()
            if isinstance(item, dict):
                inside = [*item, *item.values()]
            elif numpy is not None and isinstance(item, numpy.ndarray) and item.dtype.hasobject:
                inside = item.ravel()
            below += [part for part in inside if isinstance(part, containers)]
        level = below
        if not level:
            return False
    return True


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
        array = array.astype(dtypes.without_gaps(array.dtype), copy=False)  # which have no description
    stored = dtypes.to_msgpack(array.dtype)
    kind = "str" if isinstance(stored, str) else "descr"
    return {"dtype": {kind: stored}, "shape": shape, "data": dtypes.storable(array).tobytes()}


class _Decoder:
    """Decodes one value and those inside of its extension types."""

    def __init__(self, limits: Limits | None, max_parts: int) -> None:
        self.limits = limits  # of the frame that holds the value
        self.max_parts = self.nleft = max_parts
        self.depth = 0  # in extension types

    def value(self, packed: bytes) -> Any:
        if self.depth > _MAX_EXTENSIONS:
            raise FormatError(f"values are nested more than {_MAX_EXTENSIONS} deep in extension types")
        self.depth += 1
        try:
            value = msgpack.unpackb(
                packed,
                list_hook=self.make_list,
                object_pairs_hook=self.make_map,
                ext_hook=self.make_extension,
                strict_map_key=False,
            )
        except msgpack.StackError:  # some 500 or 1000, without a text
            raise _too_deep() from None
        except msgpack.FormatError:  # without a text as well
            raise FormatError("it is no msgpack") from None
        self.depth -= 1
        return value

    def spend(self, n: int) -> None:
        """Count what takes far more time and memory than its bytes."""
        self.nleft -= n
        if self.nleft < 0:
            raise LimitError(
                f"there are more than {self.max_parts} lists and maps, a sixteenth of max_meta_nbytes",
                field="max_meta_nbytes",
            )

    def make_list(self, value: list[Any]) -> Any:
        self.nleft -= 1
        if self.nleft < 0:
            self.spend(0)
        marked = bool(value) and isinstance(value[0], str) and value[0] == _TUPLE_MARK
        return tuple(value[1:]) if marked else value

    def make_map(self, pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
        self.spend(1)
        pairs = [*pairs]
        if len(pairs) > _MAX_COLLISIONS:
            _check_hashes([key for key, _ in pairs])
        return dict(pairs)

    def make_extension(self, code: int, data: bytes) -> Any:
        decode = _DECODERS.get(code)
        self.spend(1 if code == _COMPLEX else _EXTENSION_PARTS)
        return msgpack.ExtType(code, data) if decode is None else decode(data, self)


def _check_hashes(members: Iterable[Any]) -> None:
    """Refuse members of which many have one hash: finding one takes as long as there are such.

    Hashes of texts and bytes differ with each run, those of numbers and tuples are known to attackers.
    """
    members = [m for m in members if type(m) is not str and type(m) is not bytes]
    if len(members) <= _MAX_COLLISIONS:
        return
    ((_, most),) = collections.Counter(map(hash, members)).most_common(1)
    if most > _MAX_COLLISIONS:
        raise FormatError(f"{most} members of a set or keys of a map have the same hash")


def _decode_frame(data: bytes, inside: _Decoder) -> NDArray | SChunk:
    from .store import from_cframe

    return from_cframe(data, limits=inside.limits)


def _decode_complex(data: bytes, _inside: _Decoder) -> complex:
    real, imag = struct.unpack(">dd", data)
    return complex(real, imag)


def _decode_set(data: bytes, inside: _Decoder) -> set[Any]:
    items = inside.value(data)
    if not isinstance(items, list | tuple):
        raise FormatError(f"a set is stored as a list, not as {type(items).__name__}")
    _check_hashes(items)
    # The mark of a tuple may be the first item of the set.
    return {_TUPLE_MARK, *items} if isinstance(items, tuple) else set(items)


def shape_of(stored: Any, itemsize: int) -> tuple[int, ...]:
    """A stored shape; FormatError when it is none, or of more bytes than can be counted."""
    if not (
        isinstance(stored, list | tuple)
        and len(stored) <= _MAX_NDIM
        and all(type(n) is int and n >= 0 for n in stored)
    ):
        raise FormatError(
            f"the shape of a stored array is no list of at most {_MAX_NDIM} sizes", field="shape"
        )
    nbytes = itemsize
    for n in stored:
        nbytes *= max(n, 1)  # NumPy counts axes of no items like this, too
        if nbytes >= 1 << 63:
            raise FormatError("a stored array is larger than any memory", field="shape")
    return tuple(stored)


def _decode_array(data: bytes, inside: _Decoder) -> np.ndarray[Any, Any]:
    import numpy as np

    from . import dtype as dtypes

    fields = inside.value(data)
    if not isinstance(fields, dict):
        raise FormatError(f"an array is stored as a map, not as {type(fields).__name__}")
    if "values" in fields:
        return _object_array(fields["values"], shape_of(fields["shape"], 8))
    stored = fields["dtype"]
    if not isinstance(stored, dict):
        raise FormatError(f"the dtype of an array is stored as a map, not as {type(stored).__name__}")
    dtype = dtypes.from_msgpack(stored["str"] if "str" in stored else stored["descr"])
    shape, content = shape_of(fields["shape"], dtype.itemsize), fields["data"]
    if not isinstance(content, bytes) or len(content) != math.prod(shape) * dtype.itemsize:
        raise FormatError(f"a stored array of shape {shape} and dtype {dtype} has another size")
    array: np.ndarray[Any, Any] = np.frombuffer(content, dtype).reshape(shape).copy()
    return array


def _object_array(values: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    import numpy as np

    if not isinstance(values, list | tuple):
        raise FormatError(f"objects are stored as a list, not as {type(values).__name__}")
    if isinstance(values, tuple):
        values = [_TUPLE_MARK, *values]
    if len(values) != math.prod(shape):
        raise FormatError(f"a stored array of shape {shape} has {len(values)} objects")
    out = np.empty(len(values), object)
    for i, value in enumerate(values):
        out[i] = value
    return out.reshape(shape)


_DECODERS: dict[int, Callable[[bytes, _Decoder], Any]] = {
    _FRAME: _decode_frame,
    _COMPLEX: _decode_complex,
    _SET: _decode_set,
    _ARRAY: _decode_array,
}
