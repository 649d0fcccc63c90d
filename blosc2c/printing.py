"""Selections of arrays as text or .npy, a part at a time, so that memory stays bounded.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .indexing import Box, parse_key
from .partition import cells

if TYPE_CHECKING:
    from .ndarray import NDArray

    Array = np.ndarray[Any, Any]

TEXT_NBYTES = 1 << 22  # of a part that becomes text, which takes many times as much
NPY_NBYTES = 1 << 26


class Selection:
    """What a key selects of an array; shape and dtype are known before anything is read.

    Selections with index arrays and of fields are read whole.
    """

    def __init__(self, array: NDArray, key: Any) -> None:
        self._array = array
        box = None if isinstance(key, str | list) else parse_key(key, array.shape)
        self._box = box if isinstance(box, Box) else None
        self._whole = None
        if isinstance(box, Box):
            self.shape, self.dtype = box.shape, array.dtype
        else:
            self._whole = np.asarray(array[key])
            self.shape, self.dtype = self._whole.shape, self._whole.dtype
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize

    def parts(self, nbytes: int) -> Iterator[Array]:
        """The items in C order, as flat arrays of about `nbytes` at most."""
        if self._whole is not None:
            yield self._whole.reshape(-1)
        elif self._box is not None and self.nbytes:
            for box in _cut(self._box, self._array, nbytes):
                yield self._array._read_plain(box).reshape(-1)


def _cut(box: Box, array: NDArray, nbytes: int) -> Iterator[Box]:
    """Boxes that make up one, in C order of its result."""
    counts, room = box.counts, max(nbytes // max(array.itemsize, 1), 1)
    axis = 0
    while axis < len(counts) and math.prod(counts[axis + 1 :]) > room:
        axis += 1
    if axis == len(counts):
        yield box._replace(shape=counts)
        return
    rows = max(room // math.prod(counts[axis + 1 :]), 1)
    if box.step[axis] == 1 and rows > array.chunks[axis] > 0:
        rows -= rows % array.chunks[axis]  # else chunks between two parts are read twice
    for before in cells(counts[:axis]):
        for first in range(0, counts[axis], rows):
            yield _part(box, (*before, first), (1,) * axis + (min(rows, counts[axis] - first),))


def _part(box: Box, first: tuple[int, ...], n: tuple[int, ...]) -> Box:
    """`n` rows of a box from `first` on, along its first axes and in the order of its result."""
    start, counts = list(box.start), list(box.counts)
    for axis, (begin, number) in enumerate(zip(first, n, strict=True)):
        turned = bool(box.flip) and box.flip[axis].step == -1
        inner = counts[axis] - begin - number if turned else begin
        start[axis] += inner * box.step[axis]
        counts[axis] = number
    return box._replace(start=tuple(start), counts=tuple(counts), shape=tuple(counts))


def text(selection: Selection) -> Iterator[str]:
    """A line per row of the last axis (of records: per record), and an empty one between planes."""
    shape, names = selection.shape, selection.dtype.names
    total = math.prod(shape)
    if not shape or not total:
        yield f"{next(selection.parts(TEXT_NBYTES))[0]}\n" if not shape else "\n" * (len(shape) == 1)
        return
    row = 1 if names else shape[-1]
    plane = math.prod(shape[-2:]) if len(shape) > 2 else total
    at = 0
    for part in selection.parts(TEXT_NBYTES):
        items = list(map(str, part)) if part.dtype.kind in "mM" else part.tolist()
        done = 0
        while done < len(items):
            n = min(row - at % row, len(items) - done)
            some = items[done] if names else items[done : done + n]
            yield ("," if at % row else "") + ",".join(map(str, some))
            done, at = done + n, at + n
            if at % row == 0:
                yield "\n" if at % plane or at == total else "\n\n"


def npy(selection: Selection) -> Iterator[Any]:
    """The bytes of an .npy file."""
    header = _npy_header(selection)
    if header:
        yield header
        for part in selection.parts(NPY_NBYTES):
            yield part.tobytes()
        return
    file = io.BytesIO()  # NumPy wants to seek, which a pipe cannot
    whole = np.concatenate([np.empty(0, selection.dtype), *selection.parts(NPY_NBYTES)])
    np.lib.format.write_array(file, whole.reshape(selection.shape))
    yield file.getbuffer()


def _npy_header(selection: Selection) -> bytes:
    """b"" when it needs a version that NumPy writes with an array only: names that are not Latin-1."""
    facts = {
        "descr": np.lib.format.dtype_to_descr(selection.dtype),
        "fortran_order": False,
        "shape": selection.shape,
    }
    for write in (np.lib.format.write_array_header_1_0, np.lib.format.write_array_header_2_0):
        file = io.BytesIO()
        try:
            write(file, facts)
        except ValueError:  # too long for 1.0, or not Latin-1
            continue
        return file.getvalue()
    return b""
