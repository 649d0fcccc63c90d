"""Functions that make arrays of the items of others: parts, other shapes, several joined.

All take the keywords of creation.  What the chunks of a source already are is taken over without
decoding it where that is possible; everything else is made chunk by chunk.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .building import (
    Sources,
    inherit,
    inherit_metas,
    inherit_partition,
    may_take_over,
    refuse_same_place,
    source_of,
    with_shapes,
)
from .creation import asarray
from .dtype import check_dtype, settled
from .errors import ParameterError
from .filling import fill_from
from .handles import again_when_changed
from .indexing import parse_key
from .ndarray import NDArray
from .params import to_index
from .partition import Shape, to_shape, to_sizes
from .sources import InStorageOrder, Joined, Permuted, Reshaped, Selected
from .views import view_of

try:
    from numpy.exceptions import AxisError
except ImportError:  # NumPy before 1.25
    from numpy import AxisError  # type: ignore[attr-defined, no-redef]


@again_when_changed
def from_slice(source: NDArray, key: Any, **kwargs: Any) -> NDArray:
    """A new array of ``source[key]``, made chunk by chunk.

    Unless `kwargs` tell otherwise its chunks and blocks are the source's, cut to its shape, and
    chunks that begin and end where the source's do are taken over without decoding them.
    """
    sources = Sources(source)
    refuse_same_place(source, kwargs)
    plan, takes_over = parse_key(key, source.shape), may_take_over(kwargs)
    selected = Selected(source, plan)
    if len(plan.shape) == source.ndim and 0 not in plan.shape and "chunks" not in kwargs:
        # A last chunk that is taken over keeps its size, though the axis may be shorter now.
        limits = tuple(
            max(n, c) if k else n
            for n, c, k in zip(plan.shape, source.chunks, selected.to_end(), strict=True)
        )
        kwargs["chunks"] = _cut(source.chunks, limits)
        kwargs.setdefault("blocks", _cut(source.blocks, limits))

    def fill(new: NDArray) -> None:
        fill_from(new, selected, takes_over)

    return sources.build(plan.shape, source.dtype, inherit(source, kwargs), fill)


def _cut(part: Shape, shape: Shape) -> Shape:
    return tuple(min(p, n) for p, n in zip(part, shape, strict=True))


@again_when_changed
def reshape(src: Any, shape: Any, c_order: bool = True, **kwargs: Any) -> NDArray:
    """A new array with the items of `src`, made chunk by chunk.

    Parameters
    ----------
    src : anything that asarray() takes
    shape : one size may be -1
    c_order : True: the items keep their order; False: those of `src`, in C order, are placed in
        the order of storage, one chunk after the other, each in C order

    Raises
    ------
    ValueError : the number of items differs
    """
    sources, source = Sources(src), source_of(src)
    shape, dt = _full_shape(shape, math.prod(source.shape)), check_dtype(source.dtype)
    if isinstance(src, NDArray):
        refuse_same_place(src, kwargs)
    kwargs = inherit(src, kwargs)
    if isinstance(source, np.ndarray) and c_order:
        return asarray(source.reshape(shape), **kwargs)
    reshaped = Reshaped(source, shape, dt)
    items = reshaped if c_order else InStorageOrder(shape, reshaped.take)
    return sources.build(shape, dt, kwargs, lambda new: fill_from(new, items))


def _full_shape(shape: Any, nitems: int) -> Shape:
    """A shape for so many items, in which -1 stands for the size that follows from the others."""
    sizes = list(to_sizes(shape))
    if sizes.count(-1) == 1:
        rest = math.prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = nitems // rest if rest else 0
    full = to_shape(sizes)
    if math.prod(full) != nitems:
        raise ParameterError(f"cannot reshape an array of {nitems} items into shape {shape}", field="shape")
    return full


def _axis(axis: Any, ndim: int) -> int:
    """The number of an axis from 0 on; numpy.exceptions.AxisError when there is none of this number."""
    number = to_index(axis, "axis")
    if not -ndim <= number < ndim:
        raise AxisError(number, ndim)
    return number % ndim


def _numbers(axis: Any) -> list[Any]:
    return [axis] if type(axis) is int else np.atleast_1d(axis).tolist()


def _axes(axis: Any, ndim: int) -> set[int]:
    """The numbers of one axis or several from 0 on; ParameterError when one is named twice."""
    given = _numbers(axis)
    axes = {_axis(a, ndim) for a in given}
    if len(axes) < len(given):
        raise ParameterError(f"axis {axis} has a number twice", field="axis")
    return axes


def squeeze(x: Any, axis: Any = None) -> NDArray:
    """A view without `axis` (an int or several), or without all axes of size 1.

    Raises AxisError when there is no such axis, ParameterError when it is named twice or of another size
    (ValueErrors).

    It shares its items with `x`.  It is a copy when chunks are longer than 1 along an axis that goes.
    """
    array = x if isinstance(x, NDArray) else asarray(x)
    full = array.shape
    ndim = len(full)
    axes = {i for i in range(ndim) if full[i] == 1} if axis is None else _axes(axis, ndim)
    if any(full[a] != 1 for a in axes):
        raise ParameterError(f"axis {axis} of shape {full} is not of size 1", field="axis")
    keep = tuple(i for i in range(ndim) if i not in axes)
    if all(array.ext_chunks[i] == 1 for i in axes):
        return view_of(array, keep)
    shape = tuple(full[i] for i in keep)
    kwargs: dict[str, Any] = {"chunks": tuple(array.chunks[i] for i in keep)}
    kwargs["blocks"] = tuple(array.blocks[i] for i in keep)
    return reshape(array, shape, **kwargs)


def expand_dims(array: Any, axis: Any = 0) -> NDArray:
    """A view with axes of size 1 inserted at `axis` (an int or several); it shares its items."""
    source = array if isinstance(array, NDArray) else asarray(array)
    before = source.ndim
    ndim = before + len(_numbers(axis))
    new, old = _axes(axis, ndim), iter(range(before))
    return view_of(source, tuple(-1 if i in new else next(old) for i in range(ndim)))


@again_when_changed
def permute_dims(arr: Any, axes: Sequence[int] | None = None, **kwargs: Any) -> NDArray:
    """A new array with the axes of `arr` in another order, made chunk by chunk.

    Parameters
    ----------
    arr : anything that asarray() takes
    axes : for each axis of the result the number of that of `arr`; None: they are reversed

    Raises ParameterError (a ValueError) when `axes` does not name each axis once.  Unless `kwargs` tell
    otherwise chunks and blocks are those of `arr`, in the same order.
    """
    sources, source = Sources(arr), source_of(arr)
    ndim = len(source.shape)
    order = tuple(range(ndim))[::-1] if axes is None else tuple(to_index(a, "each of axes") for a in axes)
    if sorted(a + ndim if a < 0 else a for a in order) != list(range(ndim)):
        raise ParameterError(f"axes {axes} must name each of the {ndim} axes once", field="axes")
    order = tuple(a % ndim for a in order)
    kwargs = with_shapes(kwargs)
    if isinstance(source, NDArray):
        refuse_same_place(source, kwargs)
        if 0 not in source.shape:
            chunks, blocks = (tuple(part[a] for a in order) for part in (source.chunks, source.blocks))
            inherit_partition(chunks, blocks, kwargs)
    permuted, dt = Permuted(source, order), check_dtype(source.dtype)
    return sources.build(permuted.shape, dt, inherit(source, kwargs), lambda new: fill_from(new, permuted))


def _ndim_of(x: Any) -> int:
    return len(source_of(x).shape)  # NumPy would read all of a source without ndim


def transpose(x: Any, **kwargs: Any) -> NDArray:
    """permute_dims() of an array of at most two axes; ValueError for more."""
    ndim = _ndim_of(x)
    if ndim > 2:
        raise ParameterError(f"transpose() takes at most two axes, not {ndim}; see permute_dims()")
    return permute_dims(x, **kwargs)


def matrix_transpose(arr: Any, **kwargs: Any) -> NDArray:
    """permute_dims() that swaps the last two axes."""
    axes = list(range(_ndim_of(arr)))
    return permute_dims(arr, [*axes[:-2], *axes[:-3:-1]], **kwargs)


@again_when_changed
def concat(arrays: Sequence[Any], /, axis: int = 0, **kwargs: Any) -> NDArray:
    """Arrays joined along an axis, chunk by chunk; ValueError when their shapes do not fit.

    The dtype is theirs when all are equal, else what NumPy's promotion makes of them (TypeError when they
    have none in common), or the `dtype` of `kwargs`.
    Chunks, blocks, compression and metalayers are those of the first array unless `kwargs` tell otherwise.
    Stored chunks that fit are taken over without decoding them.
    """
    parts = [source_of(a) for a in arrays]
    sources = Sources(*parts)
    if not parts:
        raise ParameterError("concat() needs at least one array")
    kwargs = with_shapes(kwargs)
    shapes = [a.shape for a in parts]
    ndim = len(shapes[0])
    axis = _axis(axis, ndim)
    rest = shapes[0][:axis], shapes[0][axis + 1 :]
    if any(len(shape) != ndim or (shape[:axis], shape[axis + 1 :]) != rest for shape in shapes):
        raise ParameterError(f"shapes {shapes} differ beyond axis {axis}")
    asked = kwargs.pop("dtype", None)
    dtype = _common_dtype([a.dtype if asked is None else settled(asked, a) for a in parts])
    joined, takes_over = Joined(parts, shapes, axis), may_take_over(kwargs)
    for part in parts:
        if isinstance(part, NDArray):
            refuse_same_place(part, kwargs)
    first = parts[0]
    if isinstance(first, NDArray):
        inherit_metas(first, kwargs)
        if 0 not in joined.shape and 0 not in shapes[0]:
            inherit_partition(first._chunks, first._blocks, kwargs)

    def fill(new: NDArray) -> None:
        fill_from(new, joined, takes_over)
        if isinstance(first, NDArray):
            new.vlmeta.take_over(first.vlmeta)

    return sources.build(joined.shape, dtype, inherit(first, kwargs, dtype), fill)


def _common_dtype(dtypes: list[Any]) -> Any:
    """What several dtypes are promoted to; equal ones stay, and keep their byte order."""
    return dtypes[0] if all(dt == dtypes[0] for dt in dtypes) else np.result_type(*dtypes)


def stack(arrays: Sequence[Any], axis: int = 0, **kwargs: Any) -> NDArray:
    """Arrays of one shape joined along a new axis; see concat()."""
    sources = [a if isinstance(a, NDArray) else asarray(a) for a in arrays]
    return concat([expand_dims(a, axis) for a in sources], axis=axis, **kwargs)


@again_when_changed
def take(x: Any, indices: Any, axis: int | None = None) -> NDArray:
    """A new array of the items at `indices` along `axis`, or in C order when that is None.

    Raises IndexError for an index that is out of range, AxisError (also an IndexError) for an axis.
    """
    sources, source = Sources(x), x if isinstance(x, NDArray) else asarray(x)
    where = np.asarray(indices)
    if where.dtype.kind not in "iu" and where.size:
        raise TypeError(f"indices must be integers, not {where.dtype}")
    where = where.astype(np.intp)
    if axis is None:
        n = source.size
        if where.size and (where.min() < -n or where.max() >= n):
            raise IndexError(f"an index is out of bounds for {n} items")
        source = source if source.ndim else expand_dims(source, 0)
        key: Any = np.unravel_index(np.where(where < 0, where + n, where), source.shape)
    else:
        key = (*(slice(None),) * _axis(axis, source.ndim), where)
    selected = Selected(source, parse_key(key, source.shape))
    return sources.build(
        selected.shape, source.dtype, inherit(source, {}), lambda new: fill_from(new, selected)
    )
