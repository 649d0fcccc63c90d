"""Functions that make arrays: from other arrays, from values, and from rules.

All take the keywords ``chunks``, ``blocks``, ``cparams``, ``dparams``, ``meta`` and those of
Storage (``urlpath``, ``mode``, ``contiguous``), or ``storage=``.  They raise KeyError for an
unknown keyword, ValueError for shapes and parameters that do not fit, TypeError for dtypes whose
items are Python objects, and FrameExistsError when ``urlpath`` is there and mode is not "w".

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import meta as metas
from . import params
from ._ffi import lib
from .dtype import check_dtype
from .errors import ParameterError
from .ndarray import Array, NDArray, NDField, encode_meta, new_nd
from .params import Keeping, SpecialValue, Storage, to_cparams, to_dparams
from .partition import Shape, compute_chunks_blocks, grid_of, to_shape
from .schunk import SChunk, split_storage

if TYPE_CHECKING:
    from ._ffi import Buffer

_ND_KEYWORDS = ("chunks", "blocks", "cparams", "dparams", "meta", "storage")
_KEYWORDS = tuple(dict.fromkeys((*_ND_KEYWORDS, *params.field_names(Keeping), "path")))
_SMALL_TYPESIZE = 255  # chunk headers tell no larger one, so values beyond it cannot be repeated


# ---- The one place where arrays are made -----------------------------------


def _new_array(shape: Any, dtype: Any, kwargs: Mapping[str, Any]) -> NDArray:
    """An array whose chunks are still to be appended."""
    params.reject_unknown(kwargs, _KEYWORDS, "the constructor of an NDArray", KeyError)
    rest = dict(kwargs)
    dt = check_dtype(dtype)
    shape = to_shape(shape)
    if dt.subdtype is not None:
        dt, inner = dt.subdtype
        shape = to_shape((*shape, *inner))
    cparams = rest.get("cparams")
    if isinstance(cparams, dict) and {"chunks", "blocks"} & set(cparams):
        raise ParameterError("chunks and blocks are not cparams but keywords of their own")
    chunks, blocks = compute_chunks_blocks(shape, rest.pop("chunks", None), rest.pop("blocks", None), dt)
    nd = new_nd(shape, chunks, blocks, dt.itemsize)
    full = to_cparams(cparams, typesize=dt.itemsize)
    full.typesize, full.blocksize = dt.itemsize, int(lib.b2c_nd_blocksize(nd))
    dparams = to_dparams(rest.get("dparams"))
    storage = split_storage(rest, "the constructor of an NDArray", KeyError)
    if storage.mode == "r":
        raise ParameterError("mode 'r' cannot create; use open()", field="mode")
    contents = {"b2nd": encode_meta(nd, dt)}
    contents.update({name: metas.encode(value) for name, value in (storage.meta or {}).items()})
    chunksize = int(lib.b2c_nd_chunksize(nd)) if 0 not in shape else 0
    schunk = SChunk._new(storage, chunksize, full, dparams, contents)
    return NDArray._of(schunk, nd, dt)


def _build(shape: Any, dtype: Any, kwargs: Mapping[str, Any], fill: Callable[[NDArray], None]) -> NDArray:
    """A new array filled by `fill`; nothing is left on disk when that fails."""
    array = _new_array(shape, dtype, kwargs)
    try:
        with array.schunk.transaction():
            fill(array)
    except BaseException:
        from .store import remove_urlpath

        array.close()
        remove_urlpath(array.urlpath)
        raise
    return array


def _same_place(source: NDArray, kwargs: Mapping[str, Any]) -> None:
    """Refuse to replace the file that an array is read from by a copy of it."""
    storage = kwargs.get("storage")
    path = kwargs.get("urlpath", kwargs.get("path"))
    if storage is not None:
        path = storage.urlpath if isinstance(storage, Storage) else storage.get("urlpath")
    if path is None or source.urlpath is None or not os.path.exists(path):
        return
    if os.path.exists(source.urlpath) and os.path.samefile(path, source.urlpath):
        raise ParameterError(f"{source.urlpath} cannot be replaced by a copy of itself", field="urlpath")


# ---- From other arrays -----------------------------------------------------


def asarray(array: Any, copy: bool | None = None, **kwargs: Any) -> NDArray:
    """An NDArray of what NumPy can make an array of.

    Parameters
    ----------
    array : an array, a sequence, or anything with shape, dtype and slicing (such as
        a dataset of h5py or zarr), which is read chunk by chunk; its ``chunks`` and
        ``blocks`` are the defaults of ours when they fit
    copy : None: only when needed; False: ValueError when needed; True: always
    kwargs : ``dtype``, and those of the module

    Returns
    -------
    `array` itself when it is an NDArray and nothing is to change.
    """
    if isinstance(array, NDArray) and not copy:
        dtype = kwargs.get("dtype")
        if not set(kwargs) - {"dtype"} and (dtype is None or np.dtype(dtype) == array.dtype):
            return array
    if copy is False:
        raise ValueError("a copy is needed: the data must be compressed")
    dtype = kwargs.pop("dtype", None)
    if isinstance(array, NDArray):
        return _copy(array, dtype, kwargs)
    source = array if _is_array_like(array) else np.asarray(array)
    if not isinstance(source, np.ndarray):
        _adopt_partition(source, kwargs)
    dt = check_dtype(source.dtype if dtype is None else dtype)
    return _build(source.shape, dt, kwargs, lambda new: new._fill_from(_flattened(source, dt)))


def _is_array_like(obj: Any) -> bool:
    """Whether an object can be sliced as it is; others go through NumPy."""
    if isinstance(obj, np.ndarray):
        return not isinstance(obj, np.ma.MaskedArray)
    if not all(hasattr(obj, name) for name in ("shape", "dtype", "__getitem__")):
        return False
    try:
        np.dtype(obj.dtype)
    except TypeError:  # a dtype of another library
        return False
    return isinstance(obj.shape, tuple) and not isinstance(obj, np.generic)


def _flattened(source: Any, dtype: np.dtype[Any]) -> Any:
    """The source in C order when it is an array in memory of the right dtype and small."""
    if isinstance(source, np.ndarray) and source.nbytes < 1 << 24:
        return np.asarray(source, dtype.base, order="C")
    return source


def _adopt_partition(source: Any, kwargs: dict[str, Any]) -> None:
    for name in ("chunks", "blocks"):
        part = getattr(source, name, None)
        plain = isinstance(part, tuple) and all(isinstance(n, int) and n > 0 for n in part)
        if name not in kwargs and plain and len(part or ()) == len(source.shape) and 0 not in source.shape:
            kwargs[name] = tuple(min(p, n) for p, n in zip(part or (), source.shape, strict=True))


def array(array: Any, copy: bool | None = True, **kwargs: Any) -> NDArray:
    """asarray() that copies by default."""
    return asarray(array, copy, **kwargs)


def copy(array: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """A copy of an array with its metadata; `dtype` and `kwargs` say what is to be different."""
    if not isinstance(array, NDArray):
        return asarray(array, True, **({} if dtype is None else {"dtype": dtype}), **kwargs)
    return _copy(array, dtype, kwargs)


def _copy(source: NDArray, dtype: Any, kwargs: dict[str, Any]) -> NDArray:
    _same_place(source, kwargs)
    dt = source.dtype if dtype is None else check_dtype(dtype)
    same_chunks = dt == source.dtype and not {"chunks", "blocks", "cparams"} & set(kwargs)
    kwargs = dict(kwargs)
    kwargs.setdefault("cparams", source.cparams)
    kwargs.setdefault("dparams", source.dparams)
    kwargs.setdefault("chunks", source.chunks)
    if kwargs["chunks"] == source.chunks:
        kwargs.setdefault("blocks", source.blocks)
    if "storage" not in kwargs and kwargs.get("meta") is None:
        kwargs["meta"] = {name: value for name, value in source.meta.items() if name != "b2nd"}

    def fill(new: NDArray) -> None:
        if same_chunks:  # stored bytes as they are
            new.schunk.copy_chunks(source.schunk)
            return
        new._fill_from(source)
        for name, value in source.vlmeta.items():
            new.vlmeta[name] = value

    return _build(source.shape, dt, kwargs, fill)


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
    if not np.can_cast(source.dtype, dtype, casting):
        raise TypeError(f"cannot cast from {source.dtype} to {np.dtype(dtype)} by the rule {casting!r}")
    if not copy and np.dtype(dtype) == source.dtype and not kwargs:
        return source
    return _copy(source, dtype, kwargs)


def frombuffer(buffer: Buffer, shape: Any, dtype: Any = np.uint8, **kwargs: Any) -> NDArray:
    """An array of the items in a buffer, in C order; ValueError when their number is wrong."""
    dt = check_dtype(dtype)
    shape = to_shape(shape)
    items = np.frombuffer(buffer, dt) if math.prod(shape) else np.empty(0, dt)
    if items.size != math.prod(shape):
        raise ParameterError(f"the buffer has {items.size} items, shape {shape} needs {math.prod(shape)}")
    return asarray(items.reshape(shape), **kwargs)


def fromiter(iterable: Iterable[Any], shape: Any, dtype: Any, c_order: bool = True, **kwargs: Any) -> NDArray:
    """An array of the first items of an iterable, in C order.

    The items are gathered in memory first.  ValueError when there are too few.
    """
    shape = to_shape(shape)
    items = np.fromiter(iterable, check_dtype(dtype), math.prod(shape))
    return asarray(items.reshape(shape), **kwargs)


# ---- From one value --------------------------------------------------------


def _fill_special(array: NDArray, kind: SpecialValue, value: bytes = b"") -> None:
    """Append chunks that are no more than a header."""
    nchunks = math.prod(grid_of(array.shape, array.chunks))
    array.schunk.fill_special(nchunks * math.prod(array.ext_chunks), kind, value or None)


def _uniform(shape: Any, value: Array, kwargs: Mapping[str, Any]) -> NDArray:
    """An array of one value (an array without axes), whose dtype it takes."""
    item = value.tobytes()

    def fill(new: NDArray) -> None:
        if 0 in new.shape:
            return
        if not any(item):
            _fill_special(new, SpecialValue.ZERO)
        elif len(item) <= _SMALL_TYPESIZE:
            _fill_special(new, SpecialValue.VALUE, item)
        else:
            new._fill_from(np.broadcast_to(value, new.shape))

    return _build(shape, value.dtype, kwargs, fill)


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
    if dt.kind not in "fc":
        raise TypeError(f"dtype {dt} has no NaN")
    if dt.str in ("<f4", "<f8"):
        return _special(shape, dt, SpecialValue.NAN, kwargs)
    return _uniform(shape, np.full((), np.nan, dt), kwargs)


def _special(shape: Any, dtype: Any, kind: SpecialValue, kwargs: Mapping[str, Any]) -> NDArray:
    return _build(shape, dtype, kwargs, lambda new: None if 0 in new.shape else _fill_special(new, kind))


def full(shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of one value, of the value's dtype when none is given."""
    value = np.asarray(fill_value)
    if value.ndim:
        raise ParameterError(f"fill_value must be one value, not of shape {value.shape}", field="fill_value")
    dt = check_dtype(value.dtype if dtype is None else dtype)
    return _uniform(shape, value.astype(dt), kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones, of dtype float64 when none is given."""
    return full(shape, 1, np.float64 if dtype is None else dtype, **kwargs)


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


class _Rule:
    """A source whose items are computed from their place when a box of it is asked for."""

    def __init__(self, shape: Shape, rule: Callable[[list[Array]], Array]) -> None:
        self.shape = shape
        self._rule = rule

    def __getitem__(self, box: tuple[slice, ...]) -> Array:
        # Coordinates along each axis, shaped to broadcast to the box.
        return self._rule(list(np.ix_(*(np.arange(s.start, s.stop) for s in box))))


def _by_number(shape: Shape, rule: Callable[[Any], Array]) -> _Rule:
    """A source whose items are computed from their number in C order."""

    def number(coords: Sequence[Array]) -> Array:
        total: Any = np.zeros((), np.int64)
        for coord, n in zip(coords, shape, strict=True):
            total = total * n + coord
        return rule(total)

    return _Rule(shape, number)


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    shape: Any = None,
    c_order: bool = True,
    **kwargs: Any,
) -> NDArray:
    """Numbers at even distances, as numpy.arange(), computed chunk by chunk.

    Parameters
    ----------
    start, stop, step : as in NumPy
    shape : of the result, in C order; None: one axis
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ParameterError("step must not be zero", field="step")
    n = max(math.ceil((stop - start) / step), 0)
    shape = (n,) if shape is None else to_shape(shape)
    if math.prod(shape) != n:
        raise ParameterError(f"shape {shape} has {math.prod(shape)} items, the range {n}", field="shape")
    dt = np.dtype(np.arange(start, start + step, step).dtype if dtype is None else dtype)
    rule = _by_number(shape, lambda i: start + i * step)
    return _build(shape, dt, kwargs, lambda new: new._fill_from(rule))


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

    Without `num` their number is that of `shape`, or 50.
    """
    if num is None:
        num = 50 if shape is None else math.prod(to_shape(shape))
    shape = (num,) if shape is None else to_shape(shape)
    if math.prod(shape) != num:
        raise ParameterError(f"shape {shape} has {math.prod(shape)} items, num is {num}", field="shape")
    dt = np.dtype(np.result_type(start, stop, float) if dtype is None else dtype)
    gaps = num - 1 if endpoint else num
    step = (stop - start) / gaps if gaps > 0 else 0.0

    def rule(i: Any) -> Array:
        values = np.asarray(start + i * step)
        return np.where(i == gaps, stop, values) if endpoint and gaps > 0 else values

    return _build(shape, dt, kwargs, lambda new: new._fill_from(_by_number(shape, rule)))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = np.float64, **kwargs: Any) -> NDArray:
    """Ones on diagonal `k` and zeros elsewhere, as numpy.eye()."""
    shape = to_shape((N, N if M is None else M))
    rule = _Rule(shape, lambda coords: coords[1] - coords[0] == k)
    return _build(shape, dtype, kwargs, lambda new: new._fill_from(rule))


# ---- New shapes ------------------------------------------------------------


def _inherit(source: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """`kwargs` with the compression of `source` as default."""
    if isinstance(source, NDArray):
        kwargs.setdefault("cparams", source.cparams)
        kwargs.setdefault("dparams", source.dparams)
    return kwargs


def from_slice(source: NDArray, key: Any, **kwargs: Any) -> NDArray:
    """A new array of ``source[key]``; gathered in memory first."""
    _same_place(source, kwargs)
    data = source._get(key)
    if data.ndim == source.ndim and "chunks" not in kwargs and 0 not in data.shape:
        kwargs["chunks"] = tuple(min(c, n) for c, n in zip(source.chunks, data.shape, strict=True))
    return asarray(data, **_inherit(source, kwargs))


def reshape(src: Any, shape: Any, c_order: bool = True, **kwargs: Any) -> NDArray:
    """A new array with the items of `src` in C order; gathered in memory first.

    One size may be -1.  ValueError when the number of items differs.
    """
    data = np.asarray(src[...] if isinstance(src, NDArray | NDField) else src)
    return asarray(data.reshape(shape), **_inherit(src, kwargs))


def squeeze(x: NDArray, axis: Any = None) -> NDArray:
    """A new array without `axis` (an int or several), or all axes of size 1; ValueError for others."""
    if axis is None:
        axis = tuple(i for i, n in enumerate(x.shape) if n == 1)
    axes = {a % x.ndim if -x.ndim <= a < x.ndim else a for a in np.atleast_1d(axis).tolist()}
    if any(a >= x.ndim or a < 0 or x.shape[a] != 1 for a in axes):
        raise ParameterError(f"axes {tuple(axes)} of shape {x.shape} are not all of size 1", field="axis")
    keep = [i for i in range(x.ndim) if i not in axes]
    return _relabel(x, keep, [x.shape[i] for i in keep])


def expand_dims(array: NDArray, axis: Any = 0) -> NDArray:
    """A new array with axes of size 1 inserted at `axis` (an int or several)."""
    where = np.atleast_1d(axis).tolist()
    ndim = array.ndim + len(where)
    if any(not -ndim <= a < ndim for a in where) or len({a % ndim for a in where}) < len(where):
        raise ParameterError(f"axis {axis} does not fit {ndim} dimensions", field="axis")
    new = {a % ndim for a in where}
    old = iter(range(array.ndim))
    keep = [-1 if i in new else next(old) for i in range(ndim)]
    return _relabel(array, keep, [1 if i < 0 else array.shape[i] for i in keep])


def _relabel(source: NDArray, keep: list[int], shape: list[int]) -> NDArray:
    """The same items with axes of size 1 more (-1) or fewer; chunks are taken over as stored."""
    dropped = set(range(source.ndim)) - set(keep)
    partition = {
        "chunks": tuple(1 if i < 0 else source.chunks[i] for i in keep),
        "blocks": tuple(1 if i < 0 else source.blocks[i] for i in keep),
    }
    kwargs = _inherit(source, dict(partition))

    def fill(new: NDArray) -> None:
        if all(source.chunks[i] == 1 for i in dropped):
            new.schunk.copy_chunks(source.schunk)
        else:
            new._fill_from(source[...].reshape(shape))

    return _build(tuple(shape), source.dtype, kwargs, fill)


class _Joined:
    """Arrays one after the other along an axis, read box by box."""

    def __init__(self, arrays: Sequence[Any], axis: int) -> None:
        self._arrays, self._axis = arrays, axis
        sizes = [a.shape[axis] for a in arrays]
        self._starts = [sum(sizes[:i]) for i in range(len(sizes))]
        self.shape = (*arrays[0].shape[:axis], sum(sizes), *arrays[0].shape[axis + 1 :])

    def __getitem__(self, box: tuple[slice, ...]) -> Array:
        wanted, parts = box[self._axis], []
        for start, source in zip(self._starts, self._arrays, strict=True):
            low, high = max(wanted.start - start, 0), min(wanted.stop - start, source.shape[self._axis])
            if low < high:
                key = (*box[: self._axis], slice(low, high), *box[self._axis + 1 :])
                parts.append(np.asarray(source[key]))
        joined: Array = np.concatenate(parts, self._axis)
        return joined


def concat(arrays: Sequence[Any], /, axis: int = 0, **kwargs: Any) -> NDArray:
    """Arrays joined along an axis, chunk by chunk; ValueError when their shapes do not fit."""
    sources = [a if hasattr(a, "shape") else np.asarray(a) for a in arrays]
    if not sources:
        raise ParameterError("concat() needs at least one array")
    ndim = len(sources[0].shape)
    if not -ndim <= axis < ndim:
        raise ParameterError(f"axis {axis} is not one of {ndim}", field="axis")
    axis %= ndim
    rest = [(*a.shape[:axis], *a.shape[axis + 1 :]) for a in sources]
    if any(len(a.shape) != ndim or r != rest[0] for a, r in zip(sources, rest, strict=True)):
        raise ParameterError(f"shapes {[a.shape for a in sources]} differ beyond axis {axis}")
    dtype = kwargs.pop("dtype", None) or np.result_type(*(a.dtype for a in sources))
    joined = _Joined(sources, axis)
    for source in sources:
        if isinstance(source, NDArray):
            _same_place(source, kwargs)
    return _build(joined.shape, dtype, _inherit(sources[0], kwargs), lambda new: new._fill_from(joined))


def stack(arrays: Sequence[Any], axis: int = 0, **kwargs: Any) -> NDArray:
    """Arrays of one shape joined along a new axis."""
    sources = [a if isinstance(a, NDArray) else asarray(a) for a in arrays]
    return concat([expand_dims(a, axis) for a in sources], axis=axis, **kwargs)


def take(x: Any, indices: Any, axis: int | None = None) -> NDArray:
    """A new array of the items at `indices` along `axis`, or in C order when that is None.

    Raises IndexError for an index or axis that is out of range.
    """
    source = x if isinstance(x, NDArray) else asarray(x)
    where = np.asarray(indices)
    if where.dtype.kind not in "iu" and where.size:
        raise TypeError(f"indices must be integers, not {where.dtype}")
    where = where.astype(np.intp)
    if axis is None:
        n = source.size
        if where.size and (where.min() < -n or where.max() >= n):
            raise IndexError(f"an index is out of bounds for {n} items")
        coords = np.unravel_index(np.where(where < 0, where + n, where), source.shape or (1,))
        return asarray(source[coords] if source.ndim else source[...].reshape(1)[where])
    if not -source.ndim <= axis < source.ndim:
        raise IndexError(f"axis {axis} is out of bounds for {source.ndim} dimensions")
    data = source._get((*(slice(None),) * (axis % source.ndim), where))
    return asarray(data, cparams=source.cparams)
