"""The one place where arrays are made, and what new ones take from the arrays that they are made from.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from . import meta as metas
from . import params
from ._ffi import ffi, lib
from .compress import compress2
from .description import EXTENSION_META, describe
from .dtype import check_dtype, extension_name, to_text
from .errors import ParameterError
from .ndarray import NDArray
from .params import Codec, CParams, Filter, Keeping, to_dparams, to_path
from .partition import (
    Shape,
    block_nbytes,
    choose_blocks,
    completed,
    fill_as_well,
    fits_format,
    short_block_nbytes,
    to_shape,
    whole_part,
)
from .recipe import Recipe
from .schunk import ARRAY_META, SChunk, split_storage
from .sources import OfArrays

_ND_KEYWORDS = ("chunks", "blocks", "cparams", "dparams", "meta", "storage", "device")
_KEYWORDS = tuple(dict.fromkeys((*_ND_KEYWORDS, *params.field_names(Keeping), "path")))
_SLOW_CODECS = (Codec.ZLIB.value, Codec.ZSTD.value)  # at decoding
_LOSSY_CODECS = (Codec.ZFP_ACC.value, Codec.ZFP_PREC.value, Codec.ZFP_RATE.value)
_FEW_CHUNKS = 1000  # of arrays whose index each edit outside of a transaction may copy
_LEAST_FITTED = 1 << 20  # bytes of an array; smaller ones are not looked at
_NOISY_RATIO, _REGULAR_RATIO = 3, 12  # below the first, above the second
_TYPICAL_PLACE = 2 / 3  # of the way through an array: less often a special place, as zero, than its middle
_FAR_NBYTES = 160 << 10  # of blocks of what repeats farther away than shorter ones reach
_DEFAULT_FILTERS = [0, 0, 0, 0, 0, Filter.SHUFFLE.value]
_TEXT_METAS = [0, 0, 0, 0, 0, 4]  # bytes of a code point, for the shuffle
PARTS = ("chunks", "blocks")
_OWN_META = (*ARRAY_META, EXTENSION_META)  # metalayers that follow from shapes and dtype


def new_array(shape: Any, dtype: Any, kwargs: Mapping[str, Any], source: Any = None) -> NDArray:
    """An array whose chunks are still to be appended, and look like parts of `source`."""
    params.reject_unknown(kwargs, _KEYWORDS, "the constructor of an NDArray", KeyError)
    rest = dict(kwargs)
    params.drop_device(rest)
    dt = check_dtype(dtype)
    shape = to_shape(shape)
    shape, dt = of_items(shape, dt)
    cparams = rest.get("cparams")
    if isinstance(cparams, dict) and {"chunks", "blocks"} & set(cparams):
        raise ParameterError("chunks and blocks are not cparams but keywords of their own")
    given = rest.pop("blocks", None)
    chunks, blocks = completed(shape, rest.pop("chunks", None), given, dt.itemsize)
    compiled, nthreads = params.compiled_for(cparams, dt.itemsize)
    if compiled.codec in _LOSSY_CODECS and _leaves_filters(cparams, compiled):
        plain = {**(cparams or {}), "filters": [], "filters_meta": []}  # shuffled bytes are no numbers
        compiled, nthreads = params.compiled_for(plain, dt.itemsize)
    shuffles_texts = dt.kind == "U" and _leaves_filters(cparams, compiled)
    fits_blocks = given is None and compiled.codec in _SLOW_CODECS
    some = b""
    is_large = math.prod(shape) * dt.itemsize >= _LEAST_FITTED
    if source is not None and is_large and (shuffles_texts or fits_blocks):
        some = _some_blocks(source, shape, dt, choose_blocks(blocks, dt.itemsize))
    if shuffles_texts:
        seen = some if compiled.codec < Codec.NDLZ.value else b""  # others may need the shape
        compiled, nthreads = params.compiled_for(_for_texts(dict(cparams or {}), dt, seen), dt.itemsize)
    if some and fits_blocks:
        blocks = _fitting_blocks(source, some, shape, dt, chunks, blocks)
    text = to_text(dt).encode()
    told = bytes(ffi.buffer(compiled))
    nd, recipe = _designed(shape, chunks, blocks, dt.itemsize, text, extension_name(dt), told, nthreads)
    dparams = to_dparams(rest.get("dparams"))
    storage = split_storage(rest, "the constructor of an NDArray", KeyError)
    if storage.mode == "r" and storage.path is not None:
        raise ParameterError("mode 'r' cannot create; use open()", field="mode")
    if storage.meta:
        recipe = recipe.with_metas(_encoded(storage.meta))
    return NDArray._of(SChunk._new(storage, recipe, dparams), nd, dt)


@functools.lru_cache(maxsize=256)  # it takes a fifth of making a small array
def _designed(
    shape: Shape,
    chunks: Shape,
    blocks: Shape,
    itemsize: int,
    text: bytes,
    extension: str | None,
    cparams: bytes,
    nthreads: int,
) -> tuple[Any, Recipe]:
    """A checked b2c_nd, not to be changed, and what its super-chunk is made by.

    text, extension : of the dtype
    cparams : a b2c_cparams, without the sizes that follow from the blocks
    """
    nd, description = describe(shape, chunks, blocks, itemsize, text)
    own = {"b2nd": description}
    if extension is not None:
        own[EXTENSION_META] = metas.encode(extension)
    sized = params.sized(cparams, itemsize, int(lib.b2c_nd_blocksize(nd)))
    # Also of an empty array: Python-Blosc2 cannot make one grow whose chunks have no size.
    return nd, Recipe.of(int(lib.b2c_nd_chunksize(nd)), sized, nthreads, own)


def _encoded(given: Mapping[str, Any]) -> dict[str, bytes]:
    """The contents of metalayers as they are stored."""
    for name in given:
        if metas.check_name(name).decode(errors="replace") in _OWN_META:
            raise ParameterError(f"the metalayer {name!r} is the array's own", field="meta")
    return {name: metas.encode(value) for name, value in given.items()}


def _leaves_filters(cparams: Any, compiled: Any) -> bool:
    """Whether bytes are to be shuffled, but nobody has said how, nor changed the defaults."""
    if list(compiled.filters) != _DEFAULT_FILTERS or any(compiled.filters_meta):
        return False
    return not isinstance(cparams, CParams) and not {"filters", "filters_meta"} & set(cparams or ())


def _for_texts(cparams: dict[str, Any], dtype: np.dtype[Any], some: bytes) -> dict[str, Any]:
    """With bytes shuffled by code points, as in Python-Blosc2, or by whole texts if some shrink more so."""
    by_points = {**cparams, "filters_meta": _TEXT_METAS}
    if not some:
        return by_points
    as_stored = {"typesize": dtype.itemsize, "blocksize": len(some) // 3}  # whatever else is given
    sizes = [len(compress2(some, cparams={**c, **as_stored})) for c in (by_points, cparams)]
    return by_points if sizes[0] <= sizes[1] else cparams


def of_items(shape: Shape, dtype: np.dtype[Any]) -> tuple[Shape, np.dtype[Any]]:
    """With a dtype that is itself an array, its axes come behind those of the shape, as in NumPy."""
    if dtype.subdtype is None:
        return shape, dtype
    base, inner = dtype.subdtype
    return to_shape((*shape, *inner)), base


def _block_at(source: Any, shape: Shape, dtype: np.dtype[Any], blocks: Shape, place: float) -> bytes:
    """The items of one block of an array, from its first (0) to its last one (1)."""
    lengths = [min(n, b) for n, b in zip(shape, blocks, strict=True)]
    starts = [int((n - length) * place) for n, length in zip(shape, lengths, strict=True)]
    box = tuple(slice(at, at + length) for at, length in zip(starts, lengths, strict=True))
    return np.asarray(source[box], dtype).tobytes()


def _some_blocks(source: Any, shape: Shape, dtype: np.dtype[Any], blocks: Shape) -> bytes:
    """The items of three blocks: at both ends, and in the middle."""
    return b"".join(_block_at(source, shape, dtype, blocks, place) for place in (0, 0.5, 1))


def _fitting_blocks(
    source: Any, some: bytes, shape: Shape, dtype: np.dtype[Any], chunks: Shape, blocks: Shape
) -> Shape:
    """Shorter blocks for data that hardly shrink, longer ones for the most regular; docs/partition.md."""
    usual = block_nbytes(dtype.itemsize)
    ratio = len(some) / _quick_size(some, dtype)
    long, longest = (
        choose_blocks(chunks, dtype.itemsize, nbytes, whole_part) for nbytes in (2 * usual, _FAR_NBYTES)
    )
    wanted = []  # the first that fits is taken
    if ratio >= _NOISY_RATIO and _repeats_far(
        _block_at(source, shape, dtype, longest, _TYPICAL_PLACE), dtype
    ):
        wanted.append(longest)
    if ratio > _REGULAR_RATIO:
        wanted.append(long)
    if ratio < _NOISY_RATIO and dtype.itemsize > 1:
        wanted.append(choose_blocks(chunks, dtype.itemsize, short_block_nbytes(dtype.itemsize)))
    for fitting in wanted:
        if fill_as_well(fitting, blocks, chunks) and fits_format(chunks, fitting, dtype.itemsize):
            return fitting
    return blocks


def _quick_size(some: bytes, dtype: np.dtype[Any], blocksize: int = 0) -> int:
    quick = CParams(Codec.BLOSCLZ, typesize=min(dtype.itemsize, 255), nthreads=1, blocksize=blocksize)
    return len(compress2(some, cparams=quick))


def _repeats_far(some: bytes, dtype: np.dtype[Any]) -> bool:
    """Whether one block shrinks by a sixth more than its halves do."""
    half = len(some) // dtype.itemsize // 2 * dtype.itemsize
    whole, halves = (_quick_size(some, dtype, nbytes) for nbytes in (len(some), half))
    return whole < halves - halves // 6


class Sources:
    """What an array is made from: each shows one state from now on until it is made."""

    def __init__(self, *sources: Any) -> None:
        found = (getattr(source, "schunk", None) for source in sources)
        self._schunks = [schunk for schunk in found if isinstance(schunk, SChunk)]
        self._states = [schunk.handle.nstates for schunk in self._schunks]

    def build(
        self,
        shape: Any,
        dtype: Any,
        kwargs: Mapping[str, Any],
        fill: Callable[[NDArray], None],
        look_at: Any = None,
    ) -> NDArray:
        """A new array filled by `fill`, with parts like `look_at`; when that fails, files are as before.

        SourceChangedError when a source has come to show another state.
        """
        array = new_array(shape, dtype, kwargs, look_at)
        is_brief = array._nchunks() <= _FEW_CHUNKS
        with array.schunk.being_made(*self._schunks, is_brief=is_brief):
            try:
                fill(array)
            except Exception:
                self._check()  # it may be why
                raise
            self._check()
        return array

    def _check(self) -> None:
        for schunk, nstates in zip(self._schunks, self._states, strict=True):
            schunk.handle.check_state(nstates, schunk.urlpath)


build = Sources().build  # of no arrays


def refuse_same_place(source: NDArray, kwargs: Mapping[str, Any]) -> None:
    """Refuse to replace the file that an array is read from by a copy of it."""
    storage = kwargs.get("storage")
    path = kwargs.get("urlpath", kwargs.get("path"))
    if storage is not None:
        path = params.storage_fields(storage).get("urlpath")
    if path is None or source.urlpath is None or not os.path.exists(path := to_path(path)):
        return
    if os.path.exists(source.urlpath) and os.path.samefile(path, source.urlpath):
        raise ParameterError(f"{source.urlpath} cannot be replaced by a copy of itself", field="urlpath")


def with_shapes(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`kwargs` with chunks and blocks, if they are given, as shapes."""
    parts = {name: to_shape(kwargs[name], name) for name in PARTS if kwargs.get(name) is not None}
    return {**kwargs, **parts}


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


def source_of(obj: Any, make: Callable[[Any], Any] = np.asarray) -> Any:
    """`obj` as something that can be asked for boxes: itself, or the array that `make` makes of it."""
    if not is_source(obj):
        return make(obj)
    return obj if np.dtype(obj.dtype).subdtype is None else OfArrays(obj)


def inherit(source: Any, kwargs: dict[str, Any], dtype: Any = None) -> dict[str, Any]:
    """`kwargs` with the compression of `source`, whose items become this dtype, as default."""
    if isinstance(source, NDArray):
        cparams = source.schunk.present_cparams()
        ends_texts = source.dtype.kind == "U" and dtype is not None and dtype.kind != "U"
        shuffle = cparams.filter_members()[-1], cparams.filters_meta
        if ends_texts and shuffle == (Filter.SHUFFLE, _TEXT_METAS):
            cparams = replace(cparams, filters_meta=[0] * len(_TEXT_METAS))
        kwargs.setdefault("cparams", cparams)
        kwargs.setdefault("dparams", source.dparams)
    return kwargs


def inherit_partition(chunks: Shape, blocks: Shape, kwargs: dict[str, Any]) -> None:
    """Make `chunks` the default, and `blocks` where the chunks are these."""
    kwargs.setdefault("chunks", chunks)
    if kwargs["chunks"] == chunks:
        kwargs.setdefault("blocks", blocks)


def inherit_metas(source: NDArray, kwargs: dict[str, Any]) -> None:
    """Make the fixed metalayers of `source` the default."""
    # Most have but one of their own, whose name need not be asked for.
    if "storage" not in kwargs and kwargs.get("meta") is None and len(source.meta) > 1:
        names = [name for name in source.meta if name not in _OWN_META]
        kwargs["meta"] = {name: metas.Stored(source.meta.raw(name)) for name in names}


def may_take_over(kwargs: Mapping[str, Any]) -> bool:
    """Whether nothing is asked for that stored chunks might not have."""
    return not {"chunks", "blocks", "cparams"} & set(kwargs)
