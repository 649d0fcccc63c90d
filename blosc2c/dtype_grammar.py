"""The descriptions of dtypes that are accepted from stored bytes, and what they mean.

NumPy parses descriptions for people who write programs: of some that a file may hold it divides by zero,
and by others it is led to numbers beyond its own.  So nothing of a stored description reaches NumPy that
is not one of the texts and shapes below.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from typing import Any

import numpy as np

MAX_TEXT = 1 << 16  # longer descriptions are refused before they are parsed
MAX_ITEMSIZE = 536866816
_MAX_DEPTH = 32  # of records in records
_MAX_PARTS = 1 << 16  # fields of all records in one description
_MAX_NDIM = 32  # of arrays in fields: as many as every NumPy has

_CODE = re.compile(r"[<>=|]?([?bBhHiIlLqQpPnNefdgFDGSaUVcu])([0-9]{0,9})")
_UNIT = r"Y|M|W|D|h|m|s|ms|us|\u03bcs|ns|ps|fs|as"
_TIME = re.compile(rf"([<>=|]?[Mm]8?|datetime64|timedelta64)(?:\[(?:generic|([0-9]{{0,10}})(?:{_UNIT}))\])?")
_NAMES = {
    "bool", "bool_", "byte", "ubyte", "short", "ushort", "intc", "uintc", "int", "uint", "int_", "long", "ulong",
    "longlong", "ulonglong", "intp", "uintp", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "half", "single", "double", "longdouble", "float", "float16", "float32", "float64", "float96", "float128",
    "csingle", "cdouble", "clongdouble", "complex", "complex64", "complex128", "complex192", "complex256",
    "bytes", "bytes_", "str", "str_", "unicode", "void",
}  # fmt: skip
_REPEATED = re.compile(
    r"\s*(?:([0-9]{1,9})|\(\s*([0-9]{1,9}\s*(?:,\s*[0-9]{1,9}\s*){0,31}),?\s*\))?\s*([^\s(),]+)\s*"
)
_CODE_IN_LIST = re.compile(r"((?:\([^()]*\)|[^(),])+)(,?)")


def parse(text: str) -> np.dtype[Any]:
    """The dtype of a text: a code, a name, or a literal of Python; ValueError for anything else."""
    kept = _kept(text) if len(text) <= _SHORT else None
    return _parsed(text) if kept is None else kept


def _parsed(text: str) -> np.dtype[Any]:
    if len(text) > MAX_TEXT:
        raise ValueError("the description is too long")
    if text[:1] in ("[", "{") or re.match(r"\(\s*['\"\[{(]", text):
        return build(_Literal(text).value())
    return build(text)


_SHORT = 64  # texts of which some are kept: to take one apart takes a seventh of opening an array


@functools.lru_cache(maxsize=256)
def _kept(text: str) -> np.dtype[Any] | None:
    """A dtype that many may have at a time; None for records: whoever has one may rename its fields."""
    dtype = _parsed(text)
    return dtype if dtype.names is None and dtype.subdtype is None else None


def build(described: Any, gaps: bool = False) -> np.dtype[Any]:
    """The dtype of a description that is taken apart; ValueError or TypeError when it is none.

    Parameters
    ----------
    described : a text; a list of fields ``(name, described[, shape])``, where the name may be ``(title,
        name)``; ``(described, shape)``; or a dict of names, formats and, if need be, offsets, titles,
        itemsize, aligned.  Lists may stand for tuples inside fields.
    gaps : whether fields of plain bytes without a name, in a list, are what lies between others
    """
    return _Builder(gaps).dtype(described, 0)


class _Builder:
    """Makes dtypes from the inside out, of dtypes that it made before."""

    def __init__(self, gaps: bool = False) -> None:
        self.nparts = 0
        self.gaps = gaps

    def dtype(self, described: Any, depth: int) -> np.dtype[Any]:
        if depth > _MAX_DEPTH:
            raise ValueError(f"records are nested more than {_MAX_DEPTH} deep")
        if isinstance(described, str):
            return self._text(described)
        if isinstance(described, list):
            return self._record([self._field(entry, depth) for entry in self._counted(described)])
        if isinstance(described, dict):
            return self._record_with_places(described, depth)
        if isinstance(described, tuple) and len(described) == 2:
            return _array_of(self.dtype(described[0], depth + 1), described[1])
        raise ValueError(f"a {type(described).__name__} where a dtype is expected")

    def _counted(self, parts: list[Any]) -> list[Any]:
        self.nparts += len(parts)
        if self.nparts > _MAX_PARTS:
            raise ValueError(f"records have more than {_MAX_PARTS} fields")
        return parts

    def _text(self, text: str) -> np.dtype[Any]:
        if len(text) > MAX_TEXT:
            raise ValueError("the description is too long")
        codes, at, has_comma = [], 0, False
        while at < len(text):
            match = _CODE_IN_LIST.match(text, at)
            if match is None:
                raise ValueError(f"misplaced bracket or comma at character {at}")
            codes.append(match.group(1))
            at, has_comma = match.end(), bool(match.group(2))
        if len(codes) == 1 and not has_comma:
            return _repeated(text)
        return self._record([(f"f{i}", _repeated(code)) for i, code in enumerate(self._counted(codes))])

    def _field(self, entry: Any, depth: int) -> tuple[Any, np.dtype[Any]]:
        if not isinstance(entry, list | tuple) or not 2 <= len(entry) <= 3:
            raise ValueError("a field is a name, a dtype and perhaps a shape")
        name, described, *shape = entry
        dtype = self.dtype(described, depth + 1)
        return _name(name), _array_of(dtype, shape[0]) if shape else dtype

    def _record(self, fields: list[tuple[Any, np.dtype[Any]]]) -> np.dtype[Any]:
        _check_size(sum(dtype.itemsize for _, dtype in fields))
        others = [field for field in fields if not _is_gap(field)] if self.gaps else fields
        if not 0 < len(others) < len(fields):
            return _made(fields)
        placed, aligned = _made(_around_gaps(fields)), _made(others, align=True)
        return aligned if aligned == placed else placed  # which the list does not tell

    def _record_with_places(self, described: dict[Any, Any], depth: int) -> np.dtype[Any]:
        unknown = [key for key in described if key not in _KEYS]
        if unknown:
            raise ValueError(f"a record has no {str(unknown[0])[:40]!r}")
        names, formats = _list(described, "names"), self._counted(_list(described, "formats"))
        parts: Any = {
            "names": [_text_of(name) for name in names],
            "formats": [self.dtype(part, depth + 1) for part in formats],
        }
        sizes = [dtype.itemsize for dtype in parts["formats"]]
        aligned = described.get("aligned", False)
        if not isinstance(aligned, bool):
            raise ValueError("aligned is True or False")
        if "offsets" in described:
            parts["offsets"] = [_size(at, "an offset") for at in _list(described, "offsets")]
        elif aligned:
            _check_size(sum(size + 64 for size in sizes))  # no alignment is larger
        else:
            _check_size(sum(sizes))
        if "titles" in described:
            parts["titles"] = [t if t is None else _text_of(t) for t in _list(described, "titles")]
        if any(len(part) != len(names) for part in parts.values()):
            raise ValueError("there are not as many names as formats, offsets and titles")
        for at, size in zip(parts.get("offsets", ()), sizes, strict=False):
            _check_size(at + size)
        if "itemsize" in described:
            parts["itemsize"] = _size(described["itemsize"], "an itemsize")
        return _made(parts, aligned)


_KEYS = ("names", "formats", "offsets", "titles", "itemsize", "aligned")


def _is_gap(field: tuple[Any, np.dtype[Any]]) -> bool:
    name, dtype = field
    return bool(name == "" and dtype.kind == "V" and dtype.names is None and dtype.subdtype is None)


def _around_gaps(fields: list[tuple[Any, np.dtype[Any]]]) -> dict[str, Any]:
    """The description of a record of the fields that are no gaps, where they are."""
    ends = list(itertools.accumulate(dtype.itemsize for _, dtype in fields))
    kept = [
        (*(name if isinstance(name, tuple) else (None, name)), dtype, end - dtype.itemsize)
        for (name, dtype), end in zip(fields, ends, strict=True)
        if not _is_gap((name, dtype))
    ]
    titles, names, formats, offsets = map(list, zip(*kept, strict=True))
    parts = {"names": names, "formats": formats, "offsets": offsets, "itemsize": ends[-1]}
    return {**parts, "titles": titles} if any(titles) else parts


def _list(described: dict[Any, Any], key: str) -> list[Any]:
    value = described.get(key)
    if not isinstance(value, list | tuple):
        raise ValueError(f"a record without a list of {key}")
    return list(value)


def _text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a name is a text, not a {type(value).__name__}")
    return value


def _name(value: Any) -> Any:
    """What NumPy takes for a name: this, or with a title before it."""
    if isinstance(value, list | tuple) and len(value) == 2:
        return _text_of(value[0]), _text_of(value[1])
    return _text_of(value)


def _size(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_ITEMSIZE:
        raise ValueError(f"{what} is a number up to {MAX_ITEMSIZE}")
    return value


def _check_size(nbytes: int) -> None:
    if nbytes > MAX_ITEMSIZE:
        raise ValueError(f"items of more than {MAX_ITEMSIZE} bytes")


def _array_of(item: np.dtype[Any], shape: Any) -> np.dtype[Any]:
    shape = list(shape) if isinstance(shape, list | tuple) else [shape]
    if item.subdtype is not None:  # one array of more dimensions: NumPy has no text for arrays of arrays
        item, inner = item.subdtype
        shape += inner
    # NumPy writes beyond its memory when it joins or compares such: it lays the fields out anew, one behind
    # the other, and does not look whether the array has room for that.
    if item.fields is not None and np.result_type(item, item).itemsize > item.itemsize:
        raise ValueError("an array of records whose fields overlap")
    if len(shape) > _MAX_NDIM:
        raise ValueError(f"an array in a field has at most {_MAX_NDIM} dimensions")
    for n in shape:
        _size(n, "the size of an axis")
    _check_size(math.prod(shape) * item.itemsize)
    return _made((item, tuple(shape)))


def _repeated(text: str) -> np.dtype[Any]:
    """A code or name, before which there may be a shape: "3i4", "(2, 3)f8"."""
    match = _REPEATED.fullmatch(text)
    if match is None:
        raise ValueError("it is no code of a dtype")
    once, shape, code = match.groups()
    dtype = _plain(code)
    if once is None and shape is None:
        return dtype
    return _array_of(dtype, [int(n) for n in (once or shape).split(",") if n.strip()])


def _plain(code: str) -> np.dtype[Any]:
    """A dtype without parts."""
    if match := _CODE.fullmatch(code):
        kind, size = match.groups()
        if kind == "a":  # once a name of "S"
            code = f"S{size}"
        if size:
            _check_size(int(size) * (4 if kind == "U" else 1))
    elif match := _TIME.fullmatch(code):
        multiple = match.group(2)
        if multiple and not 1 <= int(multiple) < 1 << 31:
            raise ValueError("a unit of time is a multiple from 1 to 2147483647")
    elif code == "unicode":
        code = "str"
    elif code not in _NAMES:
        raise ValueError("it is no code or name of a dtype")
    return _made(code)


def _made(described: Any, align: bool = False) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(described, align=align)
    return dtype


# ---- Literals --------------------------------------------------------------

_MAX_BRACKETS = 100  # inside one another
_TOKEN = re.compile(
    r"""\s*(?:([\[\](){},:])
    |(-?[0-9]{1,18})(?![0-9A-Za-z_.])
    |(True|False|None)(?![0-9A-Za-z_])
    |'((?:[^'\\]|\\.)*)'
    |"((?:[^"\\]|\\.)*)")""",
    re.S | re.X,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.S)
_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"True": True, "False": False, "None": None}
_CLOSES = {"(": ")", "[": "]", "{": "}"}


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))  # ValueError beyond Unicode
    if code not in _ESCAPED:
        raise ValueError(f"\\{code} in a text")
    return _ESCAPED[code]


class _Literal:
    """Lists, tuples, dicts with texts as keys, texts, integers, True, False and None, as Python shows them.

    ast.literal_eval() takes all expressions of Python, of which some exhaust the stack.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def value(self) -> Any:
        """The whole text."""
        found = self._value(*self._token())
        if self.text[self.at :].strip():
            raise ValueError(f"unexpected text at character {self.at}")
        return found

    def _token(self) -> tuple[str, Any]:
        """The next bracket, comma or colon, or else "" and a value."""
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise ValueError(f"no literal at character {self.at}")
        self.at = match.end()
        mark, number, word, single, double = match.groups()
        if mark:
            return mark, None
        if number:
            return "", int(number)
        if word:
            return "", _WORDS[word]
        return "", _ESCAPE.sub(_unescaped, double if single is None else single)

    def _value(self, mark: str, value: Any) -> Any:
        if not mark:
            return value
        if mark not in _CLOSES or self.depth >= _MAX_BRACKETS:
            raise ValueError(f"unexpected {mark} before character {self.at}")
        self.depth += 1
        items, has_comma = self._items(mark)
        self.depth -= 1
        if mark == "{":
            return dict(items)
        if mark == "[":
            return items
        return tuple(items) if has_comma or not items else items[0]

    def _items(self, opened: str) -> tuple[list[Any], bool]:
        items: list[Any] = []
        has_comma = False
        mark, value = self._token()
        while mark != _CLOSES[opened]:
            item = self._value(mark, value)
            if opened == "{":
                if not isinstance(item, str) or self._token()[0] != ":":
                    raise ValueError(f"no key of a dict before character {self.at}")
                item = item, self._value(*self._token())
            items.append(item)
            mark, value = self._token()
            if mark == ",":
                has_comma = True
                mark, value = self._token()
            elif mark != _CLOSES[opened]:
                raise ValueError(f"neither comma nor bracket before character {self.at}")
        return items, has_comma
