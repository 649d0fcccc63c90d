"""Whole NumPy arrays, tensors and pickled objects as compressed bytes or files.

pack() and unpack() use pickle: never unpack bytes from a source that you do not trust.  The
others store plain data and are safe for any input.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
import os
import pickle
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtype as dtypes
from .compress import compress, decompress, inspect_chunk
from .errors import FormatError, NotFoundError, NotPackedError
from .limits import check_chunk, check_limit, check_result
from .packed import shape_of
from .params import Codec, Filter, to_path
from .schunk import SChunk, schunk_from_cframe

if TYPE_CHECKING:
    from ._ffi import Buffer
    from .limits import Limits

    Array = np.ndarray[Any, Any]

_TENSOR_KEY = "__pack_tensor__"


# ---- Pickle ----------------------------------------------------------------


def pack(
    obj: Any,
    clevel: int = 9,
    filter: Filter | int | str = Filter.SHUFFLE,
    codec: Codec | int | str = Codec.BLOSCLZ,
) -> bytes:
    """Pickle an object that has ``itemsize`` and ``size``, and compress the pickle.

    Raises
    ------
    AttributeError : the object has no ``itemsize`` or ``size``
    ValueError : a parameter is out of range, or the pickle is larger than a chunk
    """
    for name in ("itemsize", "size"):
        if not hasattr(obj, name):
            raise AttributeError(
                f"pack() takes objects with itemsize and size; {type(obj).__name__} has no {name}"
            )
    data = pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)
    itemsize = max(int(obj.itemsize), 1)
    return compress(data, min(itemsize, 255), clevel, filter, codec, _ignore_multiple_size=True)


def unpack(packed_object: Buffer, *, limits: Limits | None = None, **kwargs: Any) -> Any:
    """The object that pack() made bytes of; `kwargs` go to pickle.loads().

    `limits`, or those of set_limits(), bound the size of the pickle.

    This unpickles: bytes made by an attacker can run any code.  Use it for your own data only.
    """
    if limits is not None:
        nbytes = inspect_chunk(packed_object).nbytes
        check_chunk(nbytes, limits)
        if limits.max_result_nbytes is not None:
            check_limit(nbytes, limits.max_result_nbytes)
    return pickle.loads(decompress(packed_object), **kwargs)  # type: ignore[arg-type]


def pack_array(
    arr: Array,
    clevel: int = 9,
    filter: Filter | int | str = Filter.SHUFFLE,
    codec: Codec | int | str = Codec.BLOSCLZ,
) -> bytes:
    """pack() for arrays; pack_array2() has no size limit and does not use pickle."""
    return pack(arr, clevel, filter, codec)


def unpack_array(packed_array: Buffer, *, limits: Limits | None = None, **kwargs: Any) -> Any:
    """unpack() for arrays; see there for the danger.

    With `kwargs` (such as ``encoding="bytes"`` for pickles of Python 2), an array of bytes is
    decoded to str.
    """
    arr = unpack(packed_array, limits=limits, **kwargs)
    if kwargs and isinstance(arr, np.ndarray) and arr.dtype.kind == "S":
        return np.char.decode(arr)
    return arr


# ---- Frames ----------------------------------------------------------------


def pack_tensor(tensor: Any, chunksize: int | None = None, **kwargs: Any) -> bytes | int:
    """Store an array or tensor (NumPy, PyTorch, TensorFlow) as a frame.

    Parameters
    ----------
    tensor : object of any shape and of any dtype that is not object
    chunksize : bytes of a chunk; None: the whole, at most 256 MB
    kwargs : of SChunk; with ``urlpath=`` the frame goes to that file

    Returns
    -------
    The frame, or the size of the file in bytes when there is a urlpath.

    Raises
    ------
    TypeError : the array holds Python objects
    FrameExistsError : the file is there; pass mode="w" to replace it
    """
    kind, arr = _as_array(tensor)
    # The item, not NumPy's folding of 0-d arrays, decides shape and dtype.
    shape, stored = arr.shape, dtypes.to_msgpack(arr.dtype, gaps=True)
    flat = (arr if dtypes.is_storable(arr, arr.dtype) else dtypes.storable(arr)).reshape(-1)
    if flat.nbytes:
        chunksize = chunksize or min(flat.nbytes, 1 << 28)
        if chunksize > 0:  # else SChunk() refuses it
            itemsize = arr.dtype.itemsize
            chunksize = max(chunksize // itemsize, 1) * itemsize
    cparams = kwargs.pop("cparams", None)
    if not isinstance(cparams, dict) and cparams is not None:
        kwargs["cparams"] = cparams
    else:
        kwargs["cparams"] = {"typesize": max(arr.dtype.itemsize, 1), **(cparams or {})}
    if kwargs.get("storage") is None:
        # A frame in memory is what comes back, so it may as well be one from the start.
        kwargs.setdefault("contiguous", True)
    description = {_TENSOR_KEY: (kind, shape, stored)}
    with SChunk.made_with(description, chunksize, flat if flat.nbytes else None, kwargs) as schunk:
        if schunk.urlpath is None:
            return schunk.to_cframe()
        urlpath = schunk.urlpath
    return _disk_size(urlpath)


def _as_array(tensor: Any) -> tuple[str, Array]:
    module = type(tensor).__module__.partition(".")[0]
    if module == "torch":
        return "torch", tensor.detach().cpu().numpy()
    if module == "tensorflow":
        return "tensorflow", tensor.numpy()
    return "numpy", np.asarray(tensor)


def _disk_size(urlpath: str) -> int:
    if os.path.isdir(urlpath):
        return sum(entry.stat().st_size for entry in os.scandir(urlpath))
    return os.stat(urlpath).st_size


def unpack_tensor(cframe: Buffer, *, limits: Limits | None = None) -> Any:
    """The array or tensor that pack_tensor() made a frame of.

    A torch or tensorflow tensor needs that package.  `limits` None: those of set_limits().

    Raises
    ------
    FormatError, CorruptError, TruncatedError : the bytes are no such frame
    ImportError : there is no torch or tensorflow
    """
    with schunk_from_cframe(cframe, limits=limits) as schunk:
        return _tensor_from(schunk)


def _tensor_from(schunk: SChunk) -> Any:
    try:
        stored = schunk.vlmeta[_TENSOR_KEY]
    except NotFoundError:
        raise NotPackedError(
            f"there is no vlmetalayer {_TENSOR_KEY}: this was not made by pack_tensor()", path=schunk.urlpath
        ) from None
    try:
        if not isinstance(stored, list | tuple) or len(stored) != 3 or not isinstance(stored[0], str):
            raise FormatError("it is no list of kind, shape and dtype")
        dtype = dtypes.from_msgpack(stored[2], gaps=True)
        shape = shape_of(stored[1], dtype.itemsize)
    except FormatError as exc:
        raise FormatError(
            f"the vlmetalayer {_TENSOR_KEY} is malformed: {exc}", path=schunk.urlpath, field=_TENSOR_KEY
        ) from None
    return _tensor(stored[0], _read_all(schunk, shape, dtype), schunk.urlpath)


def _tensor(kind: str, arr: Array, path: str | None) -> Any:
    if kind == "numpy":
        return arr
    try:
        if kind == "torch":
            return _module("torch").from_numpy(arr)
        if kind == "tensorflow":
            return _module("tensorflow").constant(arr)
    except (TypeError, ValueError) as exc:
        raise FormatError(
            f"{kind} has no tensors of shape {arr.shape} and dtype {arr.dtype}: {exc}",
            path=path,
            field=_TENSOR_KEY,
        ) from None
    raise FormatError(f"unknown kind of tensor {kind[:80]!r}", path=path, field=_TENSOR_KEY)


def _read_all(schunk: SChunk, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes != schunk.nbytes:
        raise FormatError(
            f"shape {shape} and dtype {dtype} do not fit the data",
            path=schunk.urlpath,
            field=_TENSOR_KEY,
            expected=nbytes,
            actual=schunk.nbytes,
        )
    raw = np.empty(check_result(nbytes, schunk.handle), np.uint8)
    if raw.size:
        schunk.read_into(raw)
    try:
        return raw.view(dtype).reshape(shape) if raw.size else np.empty(shape, dtype)
    except ValueError as exc:  # more dimensions than this NumPy has
        raise FormatError(f"shape {shape}: {exc}", path=schunk.urlpath, field=_TENSOR_KEY) from None


def _module(name: str) -> Any:
    import importlib

    return sys.modules.get(name) or importlib.import_module(name)


def pack_array2(arr: Array, chunksize: int | None = None, **kwargs: Any) -> bytes | int:
    """Store a NumPy array as a frame; see pack_tensor()."""
    return pack_tensor(np.asarray(arr), chunksize, **kwargs)


def unpack_array2(cframe: Buffer, *, limits: Limits | None = None) -> Array:
    """The array that pack_array2() made a frame of; see unpack_tensor()."""
    arr: Array = unpack_tensor(cframe, limits=limits)
    return arr


def save_tensor(
    tensor: Any,
    urlpath: str | bytes | os.PathLike[str],
    chunksize: int | None = None,
    **kwargs: Any,
) -> int:
    """pack_tensor() to a file; returns its size in bytes.

    Raises FrameExistsError when the file is there; pass mode="w" to replace it.
    """
    size = pack_tensor(tensor, chunksize, urlpath=to_path(urlpath), **kwargs)
    assert isinstance(size, int)
    return size


def save_array(
    arr: Array,
    urlpath: str | bytes | os.PathLike[str],
    chunksize: int | None = None,
    **kwargs: Any,
) -> int:
    """pack_array2() to a file; returns its size in bytes.  See save_tensor()."""
    return save_tensor(np.asarray(arr), urlpath, chunksize, **kwargs)


def load_tensor(
    urlpath: str | bytes | os.PathLike[str],
    dparams: Any = None,
    *,
    storage_options: None = None,
    limits: Limits | None = None,
) -> Any:
    """Read what save_tensor() wrote; `limits` None: those of set_limits().  For `storage_options` see open().

    Raises FileNotFoundError, or FormatError when the file was not written by it.
    """
    from .store import open_schunk

    kwargs = {"dparams": dparams, "limits": limits, "storage_options": storage_options}
    with open_schunk(to_path(urlpath), **kwargs) as schunk:
        return _tensor_from(schunk)


def load_array(
    urlpath: str | bytes | os.PathLike[str],
    dparams: Any = None,
    *,
    storage_options: None = None,
    limits: Limits | None = None,
) -> Array:
    """Read what save_array() wrote; see load_tensor()."""
    arr: Array = load_tensor(urlpath, dparams, storage_options=storage_options, limits=limits)
    return arr
