"""Writing to an array: items by index, and its size.

Chunks that an edit touches in part are decoded, changed and compressed again; all chunks of an
edit are stored together or not at all.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._ffi import check, ffi, lib, new_error
from .description import ND
from .dtype import as_array, storable
from .edit import Editing
from .errors import Blosc2Error, LimitError, ParameterError
from .indexing import Box, Gather, parse_key, rows_of
from .partition import MAX_NCHUNKS, Shape, grid_of, to_shape
from .places import Places
from .sources import SLAB_NBYTES, box_of
from .views import may_show

if TYPE_CHECKING:
    from .ndarray import Array, NDArray


# ---- Items -----------------------------------------------------------------


def set_items(array: NDArray, key: Any, value: Any) -> None:
    """``array[key] = value`` as in NumPy.

    Raises IndexError for a key that is out of range, ValueError when `value` does not fit.
    """
    if array.schunk.locking:
        value = loaded(value, array.dtype)
        with array.schunk.handle.writing():  # what the key means depends on the present shape
            _set_items(array, key, value)
    else:
        _set_items(array, key, value)


def loaded(value: Any, dtype: np.dtype[Any]) -> Any:
    """A value that may be assigned while the array is locked: other arrays are read before.

    Whoever has locked those may wait for this one.
    """
    is_read = hasattr(value, "__array__") and not isinstance(value, np.ndarray | np.generic)
    return as_array(value, dtype) if is_read else value


def _set_items(array: NDArray, key: Any, value: Any) -> None:
    set_plan(array, parse_key(key, array.shape), value)


def set_plan(array: NDArray, plan: Box | Gather, value: Any) -> None:
    """Assign to a selection."""
    items = fitted(array, value, plan.shape)
    if 0 in plan.shape:
        return
    if isinstance(plan, Box):
        _write_box(array, plan, items.reshape(plan.counts)[plan.flip or ...] if items.ndim else items)
    elif plan.axes == (-1,):  # a scalar boolean: the last of several rows counts
        _write_box(array, plan.box, rows_of(plan, items)[-1, ...] if items.ndim else items)
    else:
        write_rows(array, Places.of(plan), rows_of(plan, items) if items.ndim else items)


def fitted(array: NDArray, value: Any, shape: Shape) -> Array:
    """`value` in the array's dtype, and of the shape that is to be written or without axes: one for all."""
    source = as_items(value, array.dtype)
    if source.ndim == 0 or source.shape == shape:
        return source
    try:
        items: Array = np.ndarray(shape, source.dtype)
        items[...] = source
    except ValueError:
        raise ParameterError(
            f"a value of shape {np.shape(value)} does not fit a selection of shape {shape}", field="value"
        ) from None
    return items


def as_items(value: Any, dtype: np.dtype[Any]) -> Array:
    """`value` as an array of a dtype; OverflowError for a single integer that it cannot hold."""
    source = as_array(value, dtype)
    if source.dtype == dtype:
        return source
    if source.ndim == 0 and source.dtype.kind in "iu":
        value = source.item()  # NumPy itself looks at the range of Python's integers only
    # Through an assignment, whose rules for records and text are those of NumPy's arrays.
    items: Array = np.ndarray(source.shape, dtype)
    items[...] = value
    return items


def _write_box(array: NDArray, box: Box, values: Array) -> None:
    schunk, err = array.schunk, new_error()
    src = ffi.from_buffer(storable(values))
    ctx = _ffi.context(schunk._c_nthreads)

    def write(ptr: Any) -> None:
        status = lib.b2c_nd_write(ptr, ctx, array._nd, box.start, box.counts, box.step, src, len(src), err)
        check(status, err, schunk.urlpath)

    schunk.handle.edit(write)


def write_rows(array: NDArray, places: Places, rows: Array) -> None:
    """Assign to the boxes at places."""
    schunk, err = array.schunk, new_error()
    src = ffi.from_buffer(storable(rows))
    ctx = _ffi.context(schunk._c_nthreads)

    def write(ptr: Any) -> None:
        status = lib.b2c_nd_write_places(ptr, ctx, array._nd, places.c, src, len(src), err)
        check(status, err, schunk.urlpath)

    schunk.handle.edit(write)


# ---- Size ------------------------------------------------------------------


def resize(array: NDArray, newshape: Any) -> None:
    """Grow or shrink; chunks and blocks stay, items keep their indices, new ones are zero.

    Raises ValueError for another number of dimensions.
    """
    array.schunk.handle.get()  # ClosedError comes first
    shape = to_shape(newshape, "newshape")

    def edit(ptr: Any) -> None:
        _check_may_have(array, shape)
        _change_shape(array, ptr, lib.b2c_nd_resize, shape)

    array.schunk.handle.edit(edit)


def _check_may_have(array: NDArray, shape: Shape) -> None:
    """ParameterError when an array cannot get a shape; for who holds the handle, as below."""
    ndim = len(array._shape)
    if len(shape) != ndim:
        raise ParameterError(f"newshape {shape} must have {ndim} dimensions, as the array", field="newshape")
    if array._axes is not None:
        raise ParameterError("a view cannot be resized: resize the array that it shows, or copy() the view")
    for axis, (n, chunk) in enumerate(zip(shape, array._chunks, strict=True)):
        if n > 0 and chunk == 0:
            raise ParameterError(
                f"axis {axis} cannot grow, since its chunks have no items: arrays that are made empty and "
                "are to grow need chunks without zeros",
                field="newshape",
            )
    for other in array._schunk.handle.followers():
        if isinstance(other, type(array)) and not may_show(shape, other._axes):
            raise ParameterError("a view of the array leaves out an axis that is to grow or to vanish")


def _change_shape(array: NDArray, ptr: Any, function: Any, *args: Any) -> None:
    """Call function(ptr, ctx, nd, *args, err), after which the array has another shape."""
    schunk, handle, err = array._schunk, array._schunk.handle, new_error()
    ctx, nd = _ffi.context(schunk._c_nthreads), ffi.new(ND, array._nd[0])
    known = None
    try:
        check(function(ptr, ctx, nd, *args, err), err, schunk.urlpath)
        if not handle.is_untold:  # else the dtype may be that of an earlier state
            known = nd, array._dtype
    finally:
        handle.is_untold = True
        # Readers hold the handle while they use descriptions, which are replaced, not changed.  What
        # could not be stored is shown nevertheless.
        handle.tell(ptr, known)


def append(array: NDArray, values: Any, axis: int | None = None) -> int:
    """Add items at the end of an axis; returns its new length.

    Parameters
    ----------
    values : of the array's shape, but for `axis`; a value without that axis is added once
    axis : may be left out for arrays of one axis, whose `values` are flattened

    Raises
    ------
    ValueError : `values` do not fit, or there are several axes and `axis` is None
    """
    ndim = array.ndim
    if axis is None and ndim != 1:
        raise ParameterError(f"append() needs an axis for an array of {ndim} dimensions", field="axis")
    if axis is not None and not -ndim <= axis < ndim:
        raise ParameterError(f"axis {axis} is not one of {ndim}", field="axis")
    at = 0 if axis is None else axis % ndim
    items = values if hasattr(values, "shape") and hasattr(values, "dtype") else np.asarray(values)
    if axis is None:
        items = items if len(items.shape) == 1 else np.asarray(items).reshape(-1)
    elif len(items.shape) == ndim - 1:
        items = np.expand_dims(np.asarray(items), at)
    if isinstance(items, np.ndarray) and items.size * array.itemsize <= SLAB_NBYTES:
        return _append_at_once(array, items, at)
    return _append_in_parts(array, items, at)


def _longer(array: NDArray, added: Shape, axis: int) -> Shape:
    """The shape that an array has with items of a shape behind its end."""
    shape = array._shape
    if len(added) != len(shape) or _with(added, axis, shape[axis]) != shape:
        raise ParameterError(f"values of shape {added} do not fit shape {shape} along axis {axis}")
    return _with(shape, axis, shape[axis] + added[axis])


def _with(shape: Shape, axis: int, n: int) -> Shape:
    """A shape with another size along an axis."""
    return (*shape[:axis], n, *shape[axis + 1 :])


def _append_at_once(array: NDArray, items: Array, axis: int) -> int:
    """append() as one edit."""

    def edit(ptr: Any) -> int:  # the end may be another one until nobody else can change it
        shape = _longer(array, items.shape, axis)
        _check_may_have(array, shape)
        src = ffi.from_buffer(storable(as_items(items, array._dtype)))
        _change_shape(array, ptr, lib.b2c_nd_append, axis, items.shape[axis], src, len(src))
        return shape[axis]

    return array.schunk.handle.edit(edit)


def _append_in_parts(array: NDArray, items: Any, axis: int) -> int:
    """append() of a source that is not to be in memory as a whole."""
    source = getattr(items, "schunk", None)
    holding = array.schunk.taking_from(source if isinstance(source, Editing) else array.schunk)
    with holding, array.schunk.transaction():  # until now their shapes might change
        before, added = array.shape, tuple(int(n) for n in items.shape)
        shape = _longer(array, added, axis)
        _check_may_have(array, shape)
        if math.prod(grid_of(shape, array.chunks)) > MAX_NCHUNKS:  # seen before anything is read
            raise LimitError(f"shape {shape} has more than {MAX_NCHUNKS} chunks of shape {array.chunks}")
        try:
            if 0 in added:
                resize(array, shape)
            else:
                _append_parts(array, items, added, axis)
        except BaseException:
            # A transaction around this one goes on when somebody catches the exception in it.
            with contextlib.suppress(Blosc2Error, OSError):
                resize(array, before)
            raise
    return shape[axis]


def _append_parts(array: NDArray, items: Any, shape: Shape, axis: int) -> None:
    """Append a source of a shape, whole rows of chunks at a time.

    The source may show the array itself, and so be larger by now.
    """
    row = math.prod(shape) // shape[axis] * array.itemsize
    step = max(SLAB_NBYTES // row // array.chunks[axis], 1) * array.chunks[axis]
    before, after = (tuple(slice(0, n) for n in part) for part in (shape[:axis], shape[axis + 1 :]))
    first, n, start = 0, shape[axis], array.shape[axis]
    while first < n:
        # Up to where a chunk ends, so that each chunk is made once.
        last = min((start + first) // step * step + step - start, n)
        box = (*before, slice(first, last), *after)
        _append_at_once(array, box_of(items, box, array.dtype), axis)
        first = last
