"""Functions that make arrays: from other arrays, from values, and from rules.

All take the keywords ``chunks``, ``blocks``, ``cparams``, ``dparams``, ``meta`` and those of
Storage (``urlpath``, ``mode``, ``contiguous``), or ``storage=``.  They raise KeyError for an
unknown keyword, ValueError for shapes and parameters that do not fit, TypeError for dtypes whose
items are Python objects, and FrameExistsError when ``urlpath`` is there and mode is not "w".

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import params
from .building import (
    PARTS,
    Sources,
    build,
    inherit,
    inherit_metas,
    inherit_partition,
    may_take_over,
    of_items,
    refuse_same_place,
    source_of,
    with_shapes,
)
from .dtype import (
    check_dtype,
    extension_name,
    is_storable,
    leaves_open,
    settled,
    storable,
    to_array,
)
from .errors import ParameterError
from .filling import fill_from
from .handles import again_when_changed
from .ndarray import Array, NDArray
from .ndedit import as_items
from .params import SpecialValue, to_index
from .partition import fits_format, in_order, slab_of, to_shape
from .sources import ROWS_NBYTES, ByNumber, InStorageOrder, Items, OfArrays, Reshaped

if TYPE_CHECKING:
    from ._ffi import Buffer

_OWN_FACTS = {"dtype", *PARTS}  # of an array

# ---- From other arrays -----------------------------------------------------


def asarray(array: Any, copy: bool | None = None, **kwargs: Any) -> NDArray:
    """An NDArray of what NumPy can make an array of.

    Parameters
    ----------
    array : an array (also of another library, by its ``__dlpack__()``), a sequence, or anything
        with shape, dtype and slicing (such as a dataset of h5py or zarr), which is read chunk
        by chunk; its ``chunks`` and ``blocks`` are the defaults of ours when they fit
    copy : None: only when needed; False: ValueError when needed; True: always
    kwargs : ``dtype``, and those of the module

    Returns
    -------
    `array` itself when it is an NDArray and nothing is to change.
    """
    params.drop_device(kwargs)
    if isinstance(array, NDArray) and not copy and _is_as_asked(array, kwargs):
        return array
    if copy is False:
        raise ValueError("a copy is needed: the data must be compressed")
    kwargs = with_shapes(kwargs)
    dtype = kwargs.pop("dtype", None)
    if isinstance(array, NDArray):
        return _copy(array, dtype, kwargs)
    source = source_of(array, lambda values: to_array(values, dtype))
    dt = settled(source.dtype if dtype is None else dtype, source)
    if isinstance(source, OfArrays) and dt.shape == source.inner:
        dt = dt.base  # told as the source tells its own
    in_memory = isinstance(source, np.ndarray)
    if not in_memory:
        _adopt_partition(source, dt, kwargs)
    look_at = source if in_memory and source.dtype == dt else None
    return _compressed(source, dt, kwargs, look_at)


@again_when_changed
def _compressed(source: Any, dtype: np.dtype[Any], kwargs: Mapping[str, Any], look_at: Any) -> NDArray:
    def fill(new: NDArray) -> None:
        fill_from(new, _flattened(source, dtype))

    return Sources(source).build(source.shape, dtype, kwargs, fill, look_at)


def _is_as_asked(array: NDArray, kwargs: Mapping[str, Any]) -> bool:
    """Whether keywords ask for no more than the dtype, chunks and blocks that an array has."""
    asked = {name: value for name, value in kwargs.items() if value is not None or name not in _OWN_FACTS}
    if not set(asked) <= _OWN_FACTS:
        return False
    parts = [name for name in asked if name != "dtype"]
    same_parts = all(to_shape(asked[name], name) == getattr(array, name) for name in parts)
    return same_parts and settled(asked.get("dtype", array.dtype), array) == array.dtype


def _flattened(source: Any, dtype: np.dtype[Any]) -> Any:
    """The source, in C order and of the right dtype when it is an array in memory and small."""
    if not isinstance(source, np.ndarray) or source.nbytes >= 1 << 24:
        return source
    if is_storable(source, dtype.base):
        return source
    return storable(np.asarray(source, dtype.base, order="C"))


def _adopt_partition(source: Any, dtype: np.dtype[Any], kwargs: dict[str, Any]) -> None:
    """Make the source's chunks and blocks the defaults of the new array, where they fit."""
    shape = tuple(source.shape)
    for name in PARTS:
        part = getattr(source, name, None)
        plain = isinstance(part, tuple) and all(isinstance(n, int) and n > 0 for n in part)
        if name in kwargs or not plain or part is None or len(part) != len(shape) or 0 in shape:
            continue
        part = tuple(min(p, n) for p, n in zip(part, shape, strict=True))
        chunks = kwargs.get("chunks") or part
        if len(chunks) == len(part) and fits_format(chunks, part, dtype.itemsize):
            kwargs[name] = part


def array(array: Any, copy: bool | None = True, **kwargs: Any) -> NDArray:
    """asarray() that copies by default."""
    return asarray(array, copy, **kwargs)


def copy(array: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """A copy of an array with its metadata; `dtype` and `kwargs` say what is to be different."""
    if not isinstance(array, NDArray):
        return asarray(array, True, **({} if dtype is None else {"dtype": dtype}), **kwargs)
    return _copy(array, dtype, kwargs)


@again_when_changed
def _copy(source: NDArray, dtype: Any, kwargs: dict[str, Any]) -> NDArray:
    sources = Sources(source)
    kwargs = with_shapes(kwargs)
    refuse_same_place(source, kwargs)
    dt = source.dtype if dtype is None else settled(dtype, source)
    same_chunks = dt == source.dtype and may_take_over(kwargs)
    kwargs = inherit(source, dict(kwargs), dt)
    inherit_partition(source.chunks, source.blocks, kwargs)
    inherit_metas(source, kwargs)

    def fill(new: NDArray) -> None:
        if kwargs.get("limits") is None:
            new.schunk.handle.limits = source.schunk.handle.limits
        if same_chunks:  # stored bytes as they are
            new.schunk.copy_all(source.schunk)
        else:
            fill_from(new, source)
            new.vlmeta.take_over(source.vlmeta)

    return sources.build(source.shape, dt, kwargs, fill)


def save(array: Any, urlpath: Any, contiguous: bool = True, **kwargs: Any) -> None:
    """Write an NDArray, or anything asarray() takes, to a file or directory.

    Raises FrameExistsError when it is there; pass mode="w" to replace it.
    """
    copy(array, urlpath=urlpath, contiguous=contiguous, **kwargs).close()


def astype(array: Any, dtype: Any, casting: Any = "unsafe", copy: bool = True, **kwargs: Any) -> NDArray:
    """The array with another dtype; the same object when nothing changes and not `copy`.

    Raises TypeError when `casting` (as in numpy.can_cast) does not allow it.
    """
    source = array if isinstance(array, NDArray) else asarray(array)
    dt = settled(dtype, source)
    if not np.can_cast(source.dtype, dt, casting):
        raise TypeError(f"cannot cast from {source.dtype} to {dt} by the rule {casting!r}")
    if not copy and dt == source.dtype and not kwargs:
        return source
    return _copy(source, dt, kwargs)


def frombuffer(buffer: Buffer, shape: Any, dtype: Any = np.uint8, **kwargs: Any) -> NDArray:
    """An array of the first items in a buffer, in C order; ParameterError when there are too few."""
    dt = check_dtype(dtype)
    shape = to_shape(shape)
    n = math.prod(shape)
    try:
        items = np.frombuffer(buffer, dt, n) if n else np.empty(0, dt)
    except ValueError as exc:
        raise ParameterError(f"the buffer is no array of shape {shape} and dtype {dt}: {exc}") from None
    return asarray(items.reshape(shape), **kwargs)


def fromiter(iterable: Iterable[Any], shape: Any, dtype: Any, c_order: bool = True, **kwargs: Any) -> NDArray:
    """An array of the first items of an iterable, some at a time.

    Parameters
    ----------
    iterable : of an array its items, in C order
    dtype : one without a size or unit gets that of all items, which are then in memory at once
    c_order : True: items are placed in C order.  Where a row of chunks has more than 64 MB, they are
        first gathered, compressed, in a temporary file beside `urlpath`, or in memory when the new
        array is kept there, too.  False: in the order of storage, one chunk after the other, each in C
        order; never more than a chunk is in memory

    Raises
    ------
    ValueError : the iterable has too few items
    """
    shape = to_shape(shape)
    n = math.prod(shape)
    if isinstance(iterable, np.ndarray):
        iterable = iterable.flat
    if leaves_open(dtype):
        iterable = to_array(list(itertools.islice(iterable, n)), dtype)
    dt = settled(dtype, iterable)
    items = Items(iterable, n, dt)

    def fill(new: NDArray) -> None:
        rows = slab_of(new.shape, new.chunks, ROWS_NBYTES // dt.itemsize)
        if not c_order:
            fill_from(new, InStorageOrder(new.shape, items.take))
        elif in_order(new.shape, rows):
            fill_from(new, InStorageOrder(new.shape, items.take, ROWS_NBYTES))
        else:
            with _gathered(items, n, dt, new) as flat:
                fill_from(new, Reshaped(flat, new.shape, dt))

    return build(shape, dt, kwargs, fill)


@contextlib.contextmanager
def _gathered(items: Items, n: int, dtype: np.dtype[Any], new: NDArray) -> Iterator[NDArray]:
    """The next items, compressed as those of a new array, in a file if that is in one."""
    with contextlib.ExitStack() as stack:
        kwargs: dict[str, Any] = {"cparams": {"clevel": 1}}
        if new.urlpath is not None:
            folder = tempfile.TemporaryDirectory(prefix=".fromiter-", dir=params.folder_of(new.urlpath))
            kwargs["urlpath"] = os.path.join(stack.enter_context(folder), "items.b2nd")

        def fill(flat: NDArray) -> None:
            fill_from(flat, InStorageOrder(flat.shape, items.take))

        yield stack.enter_context(build((n,), dtype, kwargs, fill))


# ---- From one value --------------------------------------------------------


def _fill_special(array: NDArray, kind: SpecialValue, value: bytes = b"") -> None:
    """Append chunks that are no more than a header."""
    nchunks = array._nchunks()
    array.schunk.fill_special(nchunks * math.prod(array.ext_chunks), kind, value or None)


def _uniform(shape: Any, value: Array, kwargs: Mapping[str, Any]) -> NDArray:
    """An array of one value (an array without axes), whose dtype it takes."""
    item = storable(value).tobytes()

    def fill(new: NDArray) -> None:
        if 0 in new.shape:
            return
        if not any(item):
            _fill_special(new, SpecialValue.ZERO)
        else:
            _fill_special(new, SpecialValue.VALUE, item)

    return build(shape, value.dtype, kwargs, fill)


def zeros(shape: Any, dtype: Any = np.float64, **kwargs: Any) -> NDArray:
    """An array of zero bytes; takes no room for its chunks, whatever its size."""
    return _special(shape, np.float64 if dtype is None else dtype, SpecialValue.ZERO, kwargs)


def empty(shape: Any, dtype: Any = np.float64, **kwargs: Any) -> NDArray:
    """As zeros()."""
    return zeros(shape, dtype, **kwargs)


def uninit(shape: Any, dtype: Any = np.float64, **kwargs: Any) -> NDArray:
    """An array of items that are of no particular value."""
    return _special(shape, np.float64 if dtype is None else dtype, SpecialValue.UNINIT, kwargs)


def nans(shape: Any, dtype: Any = np.float64, **kwargs: Any) -> NDArray:
    """An array of NaN; TypeError when `dtype` is not a floating-point or complex one."""
    dt = check_dtype(np.float64 if dtype is None else dtype)
    if dt.str in ("<f4", "<f8"):
        return _special(shape, dt, SpecialValue.NAN, kwargs)
    if dt.kind not in "fc" and not extension_name(dt):
        raise TypeError(f"dtype {dt} has no NaN")
    value = np.full((), np.nan).astype(dt)
    if value == value:
        raise TypeError(f"dtype {dt} has no NaN")
    return _uniform(shape, value, kwargs)


def _special(shape: Any, dtype: Any, kind: SpecialValue, kwargs: Mapping[str, Any]) -> NDArray:
    dt = settled(dtype)  # texts without a size have one character
    return build(shape, dt, kwargs, lambda new: None if 0 in new.shape else _fill_special(new, kind))


def full(shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of one value, which may be an array of one item; of its dtype when none is given.

    Bytes are items of their own length where the dtype is one of numbers, dates or truth values.

    Raises OverflowError for an integer that the dtype, or a field of it, cannot hold.
    """
    if dtype is not None:
        shape, dtype = of_items(to_shape(shape), np.dtype(dtype))
        if isinstance(fill_value, bytes) and dtype.kind in "biufcmM":
            dtype = None  # as in Python-Blosc2
    is_record = dtype is not None and dtype.fields and isinstance(fill_value, tuple | list)
    value = np.asarray(fill_value, dtype) if is_record else to_array(fill_value, dtype)
    if value.size != 1:
        raise ParameterError(f"fill_value must be one value, not of shape {value.shape}", field="fill_value")
    if value.ndim:
        fill_value = value = value.reshape(())
    dt = settled(value.dtype if dtype is None else dtype, value)
    # By the rules of an assignment; dates without a unit, to which no number is assigned, take any.
    return _uniform(shape, value.astype(dt) if leaves_open(dt) else as_items(fill_value, dt), kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones, of dtype float64 when none is given."""
    dt: np.dtype[Any] = np.dtype(np.float64 if dtype is None else dtype)
    one = np.ones((), dt.base)  # also of dtypes to which no number is assigned
    return full(shape, one, dt, **kwargs)


def _like(x: Any, dtype: Any) -> tuple[Any, Any]:
    source = x if hasattr(x, "shape") and hasattr(x, "dtype") else np.asarray(x)
    return source.shape, source.dtype if dtype is None else dtype


def zeros_like(x: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """zeros() of the shape and, unless given, dtype of `x`."""
    return zeros(*_like(x, dtype), **kwargs)


def empty_like(x: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """empty() of the shape and, unless given, dtype of `x`."""
    return empty(*_like(x, dtype), **kwargs)


def ones_like(x: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """ones() of the shape and, unless given, dtype of `x`."""
    return ones(*_like(x, dtype), **kwargs)


def full_like(x: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """full() of the shape and, unless given, dtype of `x`."""
    shape, dt = _like(x, dtype)
    return full(shape, fill_value, dt, **kwargs)


# ---- From a rule -----------------------------------------------------------


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    shape: Any = None,
    c_order: bool = True,
    **kwargs: Any,
) -> NDArray:
    """Numbers at even distances, as numpy.arange(), computed chunk by chunk.

    Parameters
    ----------
    start, stop, step : as in NumPy; step None is 1
    shape : of the result, in C order; None: one axis
    c_order : without effect, as in Python-Blosc2

    Raises TypeError for more than two booleans, ZeroDivisionError for a step of 0.
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if step == 0:
        raise ZeroDivisionError("step must not be zero")  # as in NumPy
    try:
        n = max(math.ceil((stop - start) / step), 0)
    except TypeError:
        raise TypeError(
            f"start {start!r}, stop {stop!r} and step {step!r} must be numbers, or dates"
        ) from None
    except (OverflowError, ValueError):
        raise ParameterError(f"from {start} to {stop} there is no number of steps of {step}") from None
    shape = (n,) if shape is None else to_shape(shape)
    if math.prod(shape) != n:
        raise ParameterError(f"shape {shape} has {math.prod(shape)} items, the range {n}", field="shape")
    dt = np.dtype(np.result_type(*map(np.asarray, (start, stop, step))) if dtype is None else dtype)
    if dt.kind == "b" and n > 2:
        raise TypeError(f"arange() makes at most two booleans, not {n}")
    # As in NumPy: the distance of the first two numbers, after they got their dtype, is that of all.
    inner = np.dtype(np.float32) if dt == np.float16 or extension_name(dt) else dt
    inner = np.dtype(np.int8) if dt.kind == "b" else inner
    first, second = (np.asarray(x).astype(dt).astype(inner) for x in (start, start + step))

    def rule(i: Array) -> Array:
        values: Array = first + (i if dt.kind == "M" else i.astype(inner, copy=False)) * (second - first)
        return values

    source = ByNumber(shape, dt, rule)
    return build(shape, dt, kwargs, lambda new: fill_from(new, source), source)


def linspace(
    start: Any,
    stop: Any,
    num: int | None = None,
    dtype: Any = None,
    endpoint: bool = True,
    shape: Any = None,
    c_order: bool = True,
    **kwargs: Any,
) -> NDArray:
    """`num` numbers from `start` to `stop`, as numpy.linspace(), computed chunk by chunk.

    Without `num` their number is that of `shape`, or 50.  `c_order` is without effect, as in Python-Blosc2.
    """
    if num is None:
        num = 50 if shape is None else math.prod(to_shape(shape))
    num = to_index(num, "num")
    shape = (num,) if shape is None else to_shape(shape)
    if math.prod(shape) != num:
        raise ParameterError(f"shape {shape} has {math.prod(shape)} items, num is {num}", field="shape")
    gaps = num - 1 if endpoint else num
    try:
        step = (stop - start) / gaps if gaps > 0 else 0.0
    except TypeError:
        raise TypeError(f"start {start!r} and stop {stop!r} must be numbers") from None
    dt = np.dtype(np.result_type(start, stop, float) if dtype is None else dtype)

    def rule(i: Array) -> Array:
        values = np.asarray(i * step + start)
        if endpoint and gaps > 0 and i.flat[-1] == gaps:
            values.flat[-1] = stop
        return np.floor(values) if dt.kind in "iu" else values

    source = ByNumber(shape, dt, rule)
    return build(shape, dt, kwargs, lambda new: fill_from(new, source), source)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = np.float64, **kwargs: Any) -> NDArray:
    """Ones on diagonal `k` and zeros elsewhere, as numpy.eye(); only the chunks on it are made."""
    k = to_index(k, "k")
    shape = to_shape((N, N if M is None else M))

    def fill(new: NDArray) -> None:
        if 0 in new.shape:
            return
        _fill_special(new, SpecialValue.ZERO)
        rows, columns = new.chunks
        for top in range(0, N, rows):
            n = min(rows, N - top)
            # The diagonal passes these rows from column `left` to before `right`.
            left, right = max(top + k, 0), min(top + k + n, shape[1])
            for start in range(left // columns * columns, right, columns):
                width = min(columns, shape[1] - start)
                new[top : top + n, start : start + width] = np.eye(n, width, top + k - start, new.dtype)

    return build(shape, dtype, kwargs, fill)
