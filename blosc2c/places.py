"""Selections of an array as C is told of them.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._ffi import ffi
from .indexing import Box, Gather
from .partition import Shape

Array = np.ndarray[Any, Any]

_NUMBERS, _PLACES = ffi.typeof("uint64_t[]"), ffi.typeof("b2c_nd_places *")  # found again they cost much
_SIZE = ffi.sizeof("b2c_nd_places")


class Row:
    """The box ``a[i]`` of an array of some shape, but for where it starts.

    of : that shape
    shape : of the result
    zeros : where the box starts along the other axes
    counts, steps : of b2c_nd_read()
    """

    def __init__(self, of: Shape) -> None:
        self.of, self.shape = of, of[1:]
        self.zeros = (0,) * len(self.shape)
        self.counts = ffi.new(_NUMBERS, (1, *self.shape))
        self.steps = ffi.new(_NUMBERS, [1] * len(of))


class Places:
    """The b2c_nd_places of a selection with index arrays.

    ndim : of the array
    coords : numbers along `axes`, for one place after the other, or one axis after the other
    counts : how many there are; or how many along each axis, when the places are all combinations
    shape : of the rows: `counts`, then the axes that are not indexed
    """

    def __init__(self, box: Box, axes: Shape, coords: Array, counts: Shape, combined: bool = False) -> None:
        self.ndim = len(box.start)
        self.shape = (*counts, *(n for axis, n in enumerate(box.counts) if axis not in axes))
        self._coords = coords.astype(np.uint64, copy=False)
        numbers = [ffi.new(_NUMBERS, n) for n in (box.start, box.counts, box.step, counts)]
        self.c = c = ffi.new(_PLACES)
        c.size, c.naxes, c.nplaces = _SIZE, len(axes), math.prod(counts)
        c.axes[0 : len(axes)] = axes
        c.coords = ffi.from_buffer(_NUMBERS, self._coords)
        c.start, c.count, c.step = numbers[:3]
        if combined:
            c.ncoords = numbers[3]
        self._keep = numbers

    @classmethod
    def of(cls, plan: Gather) -> Places:
        """Those of a plan with points."""
        coords: Array = np.ndarray((plan.points[0].size, len(plan.points)), np.uint64)
        for i, numbers in enumerate(plan.points):  # numpy.stack() takes far longer than this for few
            coords[:, i] = numbers.reshape(-1)
        return cls(plan.box, plan.axes, coords, (len(coords),))
