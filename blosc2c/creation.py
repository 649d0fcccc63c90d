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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import meta as metas
from . import params
from ._ffi import lib
from .compress import compress2
from .description import EXTENSION_META, describe
from .dtype import check_dtype, extension_name, leaves_open, settled, to_array
from .errors import ParameterError
from .filling import fill_from
from .handles import again_when_changed
from .indexing import parse_key
from .ndarray import Array, NDArray
from .ndedit import as_items
from .params import Codec, CParams, Keeping, SpecialValue, to_cparams, to_dparams, to_index, to_path
from .partition import (
    LONG_BLOCK_NBYTES,
    Shape,
    choose_blocks,
    compute_chunks_blocks,
    extended,
    fits_format,
    grid_of,
    in_order,
    short_block_nbytes,
    slab_of,
    to_shape,
    to_sizes,
    whole_part,
)
from .schunk import ARRAY_META, SChunk, split_storage
from .sources import ROWS_NBYTES, InStorageOrder, Items, Joined, Permuted, Reshaped, Selected, by_number
from .views import view_of

if TYPE_CHECKING:
    from ._ffi import Buffer

try:
    from numpy.exceptions import AxisError
except ImportError:  # NumPy before 1.25
    from numpy import AxisError  # type: ignore[attr-defined, no-redef]

_ND_KEYWORDS = ("chunks", "blocks", "cparams", "dparams", "meta", "storage")
_KEYWORDS = tuple(dict.fromkeys((*_ND_KEYWORDS, *params.field_names(Keeping), "path")))
_SLOW_CODECS = (Codec.ZLIB, Codec.ZSTD)  # at decoding
_LEAST_FITTED = 1 << 20  # bytes of an array; smaller ones are not looked at
_NOISY_RATIO, _REGULAR_RATIO = 3, 12  # below the first, above the second
_PARTS = ("chunks", "blocks")
_OWN_FACTS = {"dtype", *_PARTS}  # of an array
_OWN_META = (*ARRAY_META, EXTENSION_META)  # metalayers that follow from shapes and dtype
_SMALL_TYPESIZE = 255  # chunk headers tell no larger one, so values beyond it cannot be repeated


# ---- The one place where arrays are made -----------------------------------


def _new_array(shape: Any, dtype: Any, kwargs: Mapping[str, Any], source: Any = None) -> NDArray:
    """An array whose chunks are still to be appended, and look like parts of `source`."""
    params.reject_unknown(kwargs, _KEYWORDS, "the constructor of an NDArray", KeyError)
    rest = dict(kwargs)
    dt = check_dtype(dtype)
    shape = to_shape(shape)
    shape, dt = _of_items(shape, dt)
    cparams = rest.get("cparams")
    if isinstance(cparams, dict) and {"chunks", "blocks"} & set(cparams):
        raise ParameterError("chunks and blocks are not cparams but keywords of their own")
    full = to_cparams(cparams, typesize=dt.itemsize)
    given = rest.pop("blocks", None)
    chunks, blocks = compute_chunks_blocks(shape, rest.pop("chunks", None), given, dt)
    if given is None and source is not None and full.codec in _SLOW_CODECS:
        blocks = _fitting_blocks(source, shape, dt, chunks, blocks)
    nd, description = describe(shape, chunks, blocks, dt)
    full.set_sizes(dt.itemsize, int(lib.b2c_nd_blocksize(nd)))
    dparams = to_dparams(rest.get("dparams"))
    storage = split_storage(rest, "the constructor of an NDArray", KeyError)
    if storage.mode == "r" and storage.path is not None:
        raise ParameterError("mode 'r' cannot create; use open()", field="mode")
    contents = {"b2nd": description}
    for name, value in (storage.meta or {}).items():
        if metas.check_name(name).decode(errors="replace") in _OWN_META:
            raise ParameterError(f"the metalayer {name!r} is the array's own", field="meta")
        contents[name] = metas.encode(value)
    if extension_name(dt):
        contents[EXTENSION_META] = metas.encode(extension_name(dt))
    # Also of an empty array: Python-Blosc2 cannot make one grow whose chunks have no size.
    schunk = SChunk._new(storage, int(lib.b2c_nd_chunksize(nd)), full, dparams, contents)
    return NDArray._of(schunk, nd, dt)


def _of_items(shape: Shape, dtype: np.dtype[Any]) -> tuple[Shape, np.dtype[Any]]:
    """With a dtype that is itself an array, its axes come behind those of the shape, as in NumPy."""
    if dtype.subdtype is None:
        return shape, dtype
    base, inner = dtype.subdtype
    return to_shape((*shape, *inner)), base


def _fitting_blocks(source: Any, shape: Shape, dtype: np.dtype[Any], chunks: Shape, blocks: Shape) -> Shape:
    """Shorter blocks for data that hardly shrink, longer ones for the most regular; docs/partition.md."""
    if math.prod(shape) * dtype.itemsize < _LEAST_FITTED:
        return blocks
    lengths = [min(n, b) for n, b in zip(shape, blocks, strict=True)]
    look = b""
    for k in range(3):  # at both ends, and in the middle
        starts = [(n - length) * k // 2 for n, length in zip(shape, lengths, strict=True)]
        box = tuple(slice(at, at + length) for at, length in zip(starts, lengths, strict=True))
        look += np.asarray(source[box], dtype).tobytes()
    quick = CParams(Codec.BLOSCLZ, typesize=min(dtype.itemsize, 255), nthreads=1)
    ratio = len(look) / len(compress2(look, cparams=quick))
    if ratio > _REGULAR_RATIO:
        fitting = choose_blocks(chunks, dtype.itemsize, LONG_BLOCK_NBYTES, whole_part)
    elif ratio < _NOISY_RATIO and dtype.itemsize > 1:
        fitting = choose_blocks(chunks, dtype.itemsize, short_block_nbytes(dtype.itemsize))
    else:
        return blocks
    padded, whole = math.prod(extended(chunks, fitting)), math.prod(extended(chunks, blocks))
    fits = padded <= whole + whole // 16 and fits_format(chunks, fitting, dtype.itemsize)
    return fitting if fits else blocks


def _build(
    shape: Any,
    dtype: Any,
    kwargs: Mapping[str, Any],
    fill: Callable[[NDArray], None],
    source: Any = None,
) -> NDArray:
    """A new array filled by `fill`, with parts of `source`; when that fails, files are as before."""
    array = _new_array(shape, dtype, kwargs, source)
    with array.schunk.being_made():
        fill(array)
    return array


def _same_place(source: NDArray, kwargs: Mapping[str, Any]) -> None:
    """Refuse to replace the file that an array is read from by a copy of it."""
    storage = kwargs.get("storage")
    path = kwargs.get("urlpath", kwargs.get("path"))
    if storage is not None:
        path = params.storage_fields(storage).get("urlpath")
    if path is None or source.urlpath is None or not os.path.exists(path := to_path(path)):
        return
    if os.path.exists(source.urlpath) and os.path.samefile(path, source.urlpath):
        raise ParameterError(f"{source.urlpath} cannot be replaced by a copy of itself", field="urlpath")


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
    if isinstance(array, NDArray) and not copy and _is_as_asked(array, kwargs):
        return array
    if copy is False:
        raise ValueError("a copy is needed: the data must be compressed")
    kwargs = _with_shapes(kwargs)
    dtype = kwargs.pop("dtype", None)
    if isinstance(array, NDArray):
        return _copy(array, dtype, kwargs)
    source = array if is_source(array) else to_array(array, dtype)
    dt = settled(source.dtype if dtype is None else dtype, source)
    in_memory = isinstance(source, np.ndarray)
    if not in_memory:
        _adopt_partition(source, dt, kwargs)
    look_at = source if in_memory and source.dtype == dt else None
    return _build(source.shape, dt, kwargs, lambda new: fill_from(new, _flattened(source, dt)), look_at)


def _is_as_asked(array: NDArray, kwargs: Mapping[str, Any]) -> bool:
    """Whether keywords ask for no more than the dtype, chunks and blocks that an array has."""
    asked = {name: value for name, value in kwargs.items() if value is not None or name not in _OWN_FACTS}
    if not set(asked) <= _OWN_FACTS:
        return False
    parts = [name for name in asked if name != "dtype"]
    same_parts = all(to_shape(asked[name], name) == getattr(array, name) for name in parts)
    return same_parts and settled(asked.get("dtype", array.dtype), array) == array.dtype


def is_source(obj: Any) -> bool:
    """Whether an object can be asked for boxes as it is; others go through NumPy."""
    if isinstance(obj, NDArray):
        return True
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


def _with_shapes(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`kwargs` with chunks and blocks, if they are given, as shapes."""
    parts = {name: to_shape(kwargs[name], name) for name in _PARTS if kwargs.get(name) is not None}
    return {**kwargs, **parts}


def _adopt_partition(source: Any, dtype: np.dtype[Any], kwargs: dict[str, Any]) -> None:
    """Make the source's chunks and blocks the defaults of the new array, where they fit."""
    shape = tuple(source.shape)
    for name in _PARTS:
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


def _of_one_state(*sources: Any) -> Callable[[Callable[[NDArray], None]], Callable[[NDArray], None]]:
    """Wraps what fills an array: SourceChangedError when a source has come to show another state than now."""
    arrays = [source for source in sources if isinstance(source, NDArray)]
    states = [(a.schunk.handle, a.schunk.handle.nstates, a.urlpath) for a in arrays]

    def wrap(fill: Callable[[NDArray], None]) -> Callable[[NDArray], None]:
        def check() -> None:
            for handle, nstates, path in states:
                handle.check_state(nstates, path)

        def checked(new: NDArray) -> None:
            try:
                fill(new)
            except Exception:
                check()  # it may be why
                raise
            check()

        return checked

    return wrap


@again_when_changed
def _copy(source: NDArray, dtype: Any, kwargs: dict[str, Any]) -> NDArray:
    of_one_state = _of_one_state(source)
    kwargs = _with_shapes(kwargs)
    _same_place(source, kwargs)
    dt = source.dtype if dtype is None else settled(dtype, source)
    same_chunks = dt == source.dtype and _takes_over(kwargs)
    kwargs = _inherit(source, dict(kwargs))
    _inherit_partition(source.chunks, source.blocks, kwargs)
    _inherit_metas(source, kwargs)

    def fill(new: NDArray) -> None:
        if kwargs.get("limits") is None:
            new.schunk.handle.limits = source.schunk.handle.limits
        if same_chunks:  # stored bytes as they are
            new.schunk.copy_all(source.schunk)
        else:
            fill_from(new, source)
            new.vlmeta.update(source.vlmeta.stored())

    return _build(source.shape, dt, kwargs, of_one_state(fill))


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

    return _build(shape, dt, kwargs, fill)


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

        yield stack.enter_context(_build((n,), dtype, kwargs, fill))


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
            fill_from(new, np.broadcast_to(value, new.shape))

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
    return _build(shape, dt, kwargs, lambda new: None if 0 in new.shape else _fill_special(new, kind))


def full(shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of one value, which may be an array of one item; of its dtype when none is given.

    Raises OverflowError for an integer that the dtype, or a field of it, cannot hold.
    """
    if dtype is not None:
        shape, dtype = _of_items(to_shape(shape), np.dtype(dtype))
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
    rule = by_number(shape, lambda i: first + i.astype(inner) * (second - first))
    if dt.kind == "M":
        rule = by_number(shape, lambda i: first + i * (second - first))
    return _build(shape, dt, kwargs, lambda new: fill_from(new, rule), rule)


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

    def rule(i: Any) -> Array:
        values = np.asarray(i * step + start)
        values = np.where(i == gaps, stop, values) if endpoint and gaps > 0 else values
        return np.floor(values) if dt.kind in "iu" else values

    source = by_number(shape, rule)
    return _build(shape, dt, kwargs, lambda new: fill_from(new, source), source)


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

    return _build(shape, dtype, kwargs, fill)


# ---- New shapes ------------------------------------------------------------


def _inherit(source: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """`kwargs` with the compression of `source` as default."""
    if isinstance(source, NDArray):
        kwargs.setdefault("cparams", source.cparams)
        kwargs.setdefault("dparams", source.dparams)
    return kwargs


def _inherit_partition(chunks: Shape, blocks: Shape, kwargs: dict[str, Any]) -> None:
    """Make `chunks` the default, and `blocks` where the chunks are these."""
    kwargs.setdefault("chunks", chunks)
    if kwargs["chunks"] == chunks:
        kwargs.setdefault("blocks", blocks)


def _inherit_metas(source: NDArray, kwargs: dict[str, Any]) -> None:
    """Make the fixed metalayers of `source` the default."""
    if "storage" not in kwargs and kwargs.get("meta") is None:
        names = [name for name in source.meta if name not in _OWN_META]
        kwargs["meta"] = {name: metas.Stored(source.meta.raw(name)) for name in names}


def _takes_over(kwargs: Mapping[str, Any]) -> bool:
    """Whether nothing is asked for that stored chunks might not have."""
    return not {"chunks", "blocks", "cparams"} & set(kwargs)


@again_when_changed
def from_slice(source: NDArray, key: Any, **kwargs: Any) -> NDArray:
    """A new array of ``source[key]``, made chunk by chunk.

    Unless `kwargs` tell otherwise its chunks and blocks are the source's, cut to its shape, and
    chunks that begin and end where the source's do are taken over without decoding them.
    """
    of_one_state = _of_one_state(source)
    _same_place(source, kwargs)
    plan, takes_over = parse_key(key, source.shape), _takes_over(kwargs)
    selected = Selected(source, plan)
    if len(plan.shape) == source.ndim and 0 not in plan.shape and "chunks" not in kwargs:
        # A last chunk that is taken over keeps its size, though the axis may be shorter now.
        limits = tuple(
            max(n, c) if k else n
            for n, c, k in zip(plan.shape, source.chunks, selected.to_end(), strict=True)
        )
        kwargs["chunks"] = _cut(source.chunks, limits)
        kwargs.setdefault("blocks", _cut(source.blocks, limits))

    fill = of_one_state(lambda new: fill_from(new, selected, takes_over))
    return _build(plan.shape, source.dtype, _inherit(source, kwargs), fill)


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
    of_one_state, source = _of_one_state(src), src if is_source(src) else np.asarray(src)
    shape, dt = _full_shape(shape, math.prod(source.shape)), check_dtype(source.dtype)
    if isinstance(src, NDArray):
        _same_place(src, kwargs)
    kwargs = _inherit(src, kwargs)
    if isinstance(source, np.ndarray) and c_order:
        return asarray(source.reshape(shape), **kwargs)
    items = Reshaped(source, shape, dt)
    if c_order:
        return _build(shape, dt, kwargs, of_one_state(lambda new: fill_from(new, items)))
    in_order = InStorageOrder(shape, items.take)
    return _build(shape, dt, kwargs, of_one_state(lambda new: fill_from(new, in_order)))


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


def _axes(axis: Any, ndim: int) -> set[int]:
    """The numbers of one axis or several from 0 on; ParameterError when one is named twice."""
    given = np.atleast_1d(axis).tolist()
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
    ndim = array.ndim
    axes = _axes(np.flatnonzero(np.equal(array.shape, 1)) if axis is None else axis, ndim)
    if any(array.shape[a] != 1 for a in axes):
        raise ParameterError(f"axis {axis} of shape {array.shape} is not of size 1", field="axis")
    keep = tuple(i for i in range(ndim) if i not in axes)
    if all(array.ext_chunks[i] == 1 for i in axes):
        return view_of(array, keep)
    shape = tuple(array.shape[i] for i in keep)
    kwargs: dict[str, Any] = {"chunks": tuple(array.chunks[i] for i in keep)}
    kwargs["blocks"] = tuple(array.blocks[i] for i in keep)
    return reshape(array, shape, **kwargs)


def expand_dims(array: Any, axis: Any = 0) -> NDArray:
    """A view with axes of size 1 inserted at `axis` (an int or several); it shares its items."""
    source = array if isinstance(array, NDArray) else asarray(array)
    ndim = source.ndim + np.size(axis)
    new = _axes(axis, ndim)
    old = iter(range(source.ndim))
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
    of_one_state, source = _of_one_state(arr), arr if is_source(arr) else np.asarray(arr)
    ndim = len(source.shape)
    order = tuple(range(ndim))[::-1] if axes is None else tuple(to_index(a, "each of axes") for a in axes)
    if sorted(a + ndim if a < 0 else a for a in order) != list(range(ndim)):
        raise ParameterError(f"axes {axes} must name each of the {ndim} axes once", field="axes")
    order = tuple(a % ndim for a in order)
    kwargs = _with_shapes(kwargs)
    if isinstance(source, NDArray):
        _same_place(source, kwargs)
        if 0 not in source.shape:
            chunks, blocks = (tuple(part[a] for a in order) for part in (source.chunks, source.blocks))
            _inherit_partition(chunks, blocks, kwargs)
    permuted, dt = Permuted(source, order), check_dtype(source.dtype)
    fill = of_one_state(lambda new: fill_from(new, permuted))
    return _build(permuted.shape, dt, _inherit(source, kwargs), fill)


def _ndim_of(x: Any) -> int:
    return len(x.shape) if is_source(x) else np.ndim(x)  # NumPy would read all of a source without ndim


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
    sources = [a if is_source(a) else np.asarray(a) for a in arrays]
    of_one_state = _of_one_state(*sources)
    if not sources:
        raise ParameterError("concat() needs at least one array")
    kwargs = _with_shapes(kwargs)
    ndim = len(sources[0].shape)
    axis = _axis(axis, ndim)
    rest = [(*a.shape[:axis], *a.shape[axis + 1 :]) for a in sources]
    if any(len(a.shape) != ndim or r != rest[0] for a, r in zip(sources, rest, strict=True)):
        raise ParameterError(f"shapes {[a.shape for a in sources]} differ beyond axis {axis}")
    asked = kwargs.pop("dtype", None)
    dtype = _common_dtype([a.dtype if asked is None else settled(asked, a) for a in sources])
    joined, takes_over = Joined(sources, axis), _takes_over(kwargs)
    for source in sources:
        if isinstance(source, NDArray):
            _same_place(source, kwargs)
    first = sources[0]
    if isinstance(first, NDArray):
        _inherit_metas(first, kwargs)
        if 0 not in joined.shape and 0 not in first.shape:
            _inherit_partition(first.chunks, first.blocks, kwargs)

    def fill(new: NDArray) -> None:
        fill_from(new, joined, takes_over)
        if isinstance(first, NDArray):
            new.vlmeta.update(first.vlmeta.stored())

    return _build(joined.shape, dtype, _inherit(first, kwargs), of_one_state(fill))


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
    of_one_state, source = _of_one_state(x), x if isinstance(x, NDArray) else asarray(x)
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
    fill = of_one_state(lambda new: fill_from(new, selected))
    return _build(selected.shape, source.dtype, _inherit(source, {}), fill)
