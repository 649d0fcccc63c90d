"""NDField: the fields of a structured array, read and written like arrays.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import NotFoundError, ParameterError
from .indexing import expand_key, naxes_of
from .ndedit import loaded
from .operators import Operators
from .partition import Shape

if TYPE_CHECKING:
    from .ndarray import Array, NDArray
    from .schunk import SChunk

Name = str | list[str]


def is_name(key: Any) -> bool:
    """Whether a key means a field, or several by a list of names."""
    return isinstance(key, str) or (
        isinstance(key, list) and len(key) > 0 and all(isinstance(k, str) for k in key)
    )


class NDField(Operators):
    """One field of a structured array, or several; ``field[key]`` reads it as NumPy's ``a["x"][key]``.

    The record's other fields are decoded too, since the items of a block are stored whole.  Fields of
    records in a field are reached by ``a["outer"]["inner"]``.

    Attributes
    ----------
    field : its name, or a list of names
    dtype : np.dtype of its items; arrays in a field add their axes to `shape`
    """

    def __init__(self, ndarr: NDArray, field: Name, outer: tuple[Name, ...] = ()) -> None:
        from .ndarray import NDArray

        if not isinstance(ndarr, NDArray):
            raise TypeError(f"ndarr must be an NDArray, not {type(ndarr).__name__}")
        self._array = ndarr
        self.field = field
        self._path = (*outer, field)
        self._described()  # NotFoundError when there is no such field

    def _described(self) -> tuple[np.dtype[Any], Shape]:
        """The dtype of the items, and the axes of the arrays in the field, as the array is now."""
        dtype = self._array.dtype
        inner: Shape = ()
        for part in self._path:
            dtype = _dtype_of(dtype, part)
            if dtype.subdtype is not None:
                dtype, sizes = dtype.subdtype
                inner += sizes
        return dtype, inner

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the items, without the arrays in the field."""
        return self._described()[0]

    @property
    def _inner(self) -> Shape:
        return self._described()[1]

    @property
    def ndarray(self) -> NDArray:
        """The array that the field belongs to."""
        return self._array

    ndarr = ndarray  # in Python-Blosc2

    @property
    def offset(self) -> int:
        """Where the field begins in a record, in bytes; several fields keep their places in it."""
        dtype, offset = self._array.dtype, 0
        for part in self._path:
            dtype = dtype if dtype.subdtype is None else dtype.subdtype[0]
            if isinstance(part, str):
                offset += dtype.fields[part][1]  # type: ignore[index]
            dtype = _dtype_of(dtype, part)
        return offset

    @property
    def shape(self) -> Shape:
        """Shape of the array, and of the arrays in the field."""
        return self._array.shape + self._inner

    @property
    def chunks(self) -> Shape:
        """Chunks of the array, and the arrays in the field."""
        return self._array.chunks + self._inner

    @property
    def blocks(self) -> Shape:
        """Blocks of the array, and the arrays in the field."""
        return self._array.blocks + self._inner

    @property
    def schunk(self) -> SChunk:
        """The array's super-chunk."""
        return self._array.schunk

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of items."""
        return int(np.prod(self.shape, dtype=object))

    def _of(self, records: Any) -> Any:
        """The field of records in memory: of an array a view."""
        for part in self._path:
            records = records[part]
        return records

    def _split(self, key: Any) -> tuple[Any, Any]:
        """An index of the array, and that of the part of the field in what it selects."""
        if not self._inner:
            return key, ...
        entries = expand_key(key if type(key) is tuple else (key,), self.ndim)
        before, left = 0, self._array.ndim
        while left > 0 and naxes_of(entries[before]) <= left:
            left -= naxes_of(entries[before])
            before += 1
        if left == 0 and all(e is Ellipsis or _is_all(e) for e in entries[before:]):
            return tuple(entries[:before]), ...
        # A box of the array's items that has them, of which the whole key then selects.
        box: list[Any] = []
        for i, entry in enumerate(entries):
            if len(box) < self._array.ndim and entry is not None and entry is not Ellipsis:
                if isinstance(entry, slice):
                    box.append(entry)
                    entries[i] = slice(None)
                else:
                    box.extend([slice(None)] * naxes_of(entry))
        return tuple(box[: self._array.ndim]), tuple(entries)

    def __getitem__(self, key: Any) -> Any:
        if is_name(key):
            return NDField(self._array, key, self._path)
        outer, inner = self._split(key)
        return self._of(self._array._get(outer))[inner]

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_name(key):
            key, self = ..., NDField(self._array, key, self._path)
        value = loaded(value, self.dtype)
        with self._array.schunk.handle.writing():  # nobody may change the other fields meanwhile
            outer, inner = self._split(key)
            records = self._array._get(outer)
            self._of(records)[inner] = value
            self._array[outer] = records

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a field is compressed: it cannot become an array without a copy")
        data: Array = self[...]
        return data if dtype is None else data.astype(dtype, copy=False)

    def item(self) -> Any:
        """The only item, as a Python object; ValueError unless there is just one."""
        if self.size != 1:
            raise ParameterError(f"item() is for one item, not {self.size}")
        return self[...].item()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a field without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return map(self._of, self._array)

    def __repr__(self) -> str:
        return f"NDField({self.field!r}, shape={self.shape}, dtype={self.dtype})"


def _is_all(entry: Any) -> bool:
    return isinstance(entry, slice) and entry == slice(None)


def _dtype_of(dtype: np.dtype[Any], name: Name) -> np.dtype[Any]:
    """The dtype of a field; NotFoundError when there is none of this name."""
    for one in [name] if isinstance(name, str) else name:
        if not dtype.fields or one not in dtype.fields:
            known = ", ".join(dtype.names or ()) or "none"
            raise NotFoundError(f"there is no field {one!r}; the fields are: {known}", field=one)
    return dtype[name]
