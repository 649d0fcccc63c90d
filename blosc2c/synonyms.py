"""Python-Blosc2's names for what arrays and vlmetalayers have shorter ones for here.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._ffi import ffi, out_buffer
from .errors import ChunkIndexError, ParameterError, SelectionError
from .params import CParams, one_form

if TYPE_CHECKING:
    import numpy as np

    from ._ffi import Buffer
    from .oindex import OIndex
    from .partition import Shape
    from .schunk import SChunk

    Corners = tuple[Sequence[int], Sequence[int]]  # the first indices of a box, and those behind its last


class Synonyms:
    """Methods that index in other words."""

    if TYPE_CHECKING:

        @property
        def shape(self) -> Shape: ...
        @property
        def chunks(self) -> Shape: ...
        @property
        def ndim(self) -> int: ...
        @property
        def dtype(self) -> np.dtype[Any]: ...
        @property
        def oindex(self) -> OIndex: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def read_into(self, out: Any, key: Any = ()) -> None: ...

    def get_fselection_numpy(self, key: Any) -> np.ndarray[Any, Any]:
        """``self[key]``."""
        items: np.ndarray[Any, Any] = self[key]
        return items

    def get_oselection_numpy(self, key: Any) -> np.ndarray[Any, Any]:
        """``self.oindex[key]``."""
        return self.oindex[tuple(key)]

    def set_oselection_numpy(self, key: Any, arr: Any) -> Any:
        """``self.oindex[key] = arr``; returns `arr`."""
        self.oindex[tuple(key)] = arr
        return arr

    def get_oindex_numpy(self, arr: np.ndarray[Any, Any], key: Any) -> np.ndarray[Any, Any]:
        """``arr[...] = self.oindex[key]``; returns `arr`."""
        arr[...] = self.oindex[tuple(key)]
        return arr

    set_oindex_numpy = set_oselection_numpy

    def get_slice_numpy(self, arr: np.ndarray[Any, Any], key: Corners) -> np.ndarray[Any, Any]:
        """Read a box to an array of its shape, which is returned; see read_into().

        Parameters
        ----------
        key : the first index along each axis, and for each one behind the last
        """
        self.read_into(arr, _box(key))
        return arr

    def get_1d_span_numpy(self, arr: Any, nchunk: int, start: int, nitems: int) -> Any:
        """Read items of one chunk of an array of one axis to the beginning of `arr`, which is returned.

        Parameters
        ----------
        arr : writable memory for `nitems` items or more, which are not converted
        nchunk : number of the chunk
        start, nitems : the first of its items, and how many

        Raises
        ------
        ValueError : the array has more axes, the chunk fewer items, or `arr` is too short
        ChunkIndexError (an IndexError) : there is no such chunk
        """
        if self.ndim != 1:
            raise ParameterError(f"spans are of arrays of one axis, not of {self.ndim}")
        nchunk, start, nitems = (operator.index(number) for number in (nchunk, start, nitems))
        first, n = nchunk * self.chunks[0], self.shape[0]
        if nchunk < 0 or first >= n:
            raise ChunkIndexError(f"there is no chunk {nchunk}", chunk=nchunk)
        if min(start, nitems) < 0 or start + nitems > min(self.chunks[0], n - first):
            raise ParameterError(f"chunk {nchunk} has no {nitems} items from {start} on", field="nitems")
        room = out_buffer(arr, "arr")
        nbytes = nitems * self.dtype.itemsize
        if len(room) < nbytes:
            raise ParameterError(f"arr holds {len(room)} bytes, the span {nbytes}", field="arr")
        self.read_into(memoryview(ffi.buffer(room))[:nbytes], slice(first + start, first + start + nitems))
        return arr

    def get_sparse_numpy(self, arr: np.ndarray[Any, Any], coords: Any) -> np.ndarray[Any, Any]:
        """Read single items to an array, which is returned.

        Parameters
        ----------
        coords : where they are when all items are numbered in C order

        Raises
        ------
        SelectionError (a RuntimeError and IndexError) : there is no such item
        """
        import numpy as np

        try:
            where = np.unravel_index(np.asarray(coords, None if np.size(coords) else np.intp), self.shape)
        except ValueError as exc:
            raise SelectionError(f"coords: {exc}", field="coords") from None
        arr[...] = self[where]
        return arr

    def set_slice(self, key: Corners, ndarray: Any) -> Any:
        """Assign to a box that `key` tells as for get_slice_numpy(); returns this array."""
        self[_box(key)] = ndarray
        return self


class VLMetaSynonyms:
    """What a mapping of vlmetalayers has from its super-chunk, and methods by their longer names.

    These take and give the stored bytes.
    """

    if TYPE_CHECKING:

        def _schunk(self) -> SChunk: ...
        def __len__(self) -> int: ...
        def __delitem__(self, name: str) -> None: ...
        def raw(self, name: str) -> bytes: ...
        def _set(self, name: str, packed: bytes) -> None: ...

    @property
    def urlpath(self) -> str | None:
        """Path of the super-chunk."""
        return self._schunk().urlpath

    @property
    def mode(self) -> str:
        """The mode that the super-chunk was opened or made with."""
        return self._schunk().mode

    @property
    def mmap_mode(self) -> str | None:
        """Its mmap_mode."""
        return self._schunk().mmap_mode

    @property
    def initial_mapping_size(self) -> int | None:
        """Its initial_mapping_size."""
        return self._schunk().initial_mapping_size

    @property
    def locking(self) -> bool:
        """Whether it takes its lock file for every call."""
        return self._schunk().locking

    def get_vlmeta(self, name: str) -> bytes:
        """As raw()."""
        return self.raw(name)

    def set_vlmeta(self, name: str, content: Buffer, **cparams: Any) -> None:
        """Store bytes, which should be msgpack: ``self[name]`` decodes them.

        All are compressed in one way: `cparams`, those of CParams, are accepted and without effect.
        """
        if cparams:
            one_form(cparams, "cparams", "set_vlmeta()", CParams)
        self._set(name, bytes(memoryview(content)))

    def del_vlmeta(self, name: str) -> None:
        """``del self[name]``."""
        del self[name]

    def nvlmetalayers(self) -> int:
        """``len(self)``."""
        return len(self)


def _box(key: Corners) -> tuple[slice, ...]:
    start, stop = key
    return tuple(map(slice, start, stop))
