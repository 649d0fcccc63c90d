"""NDArray: an n-dimensional array of compressed chunks, in memory or on disk.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _ffi
from . import dtype as dtypes
from ._ffi import check, ffi, lib, new_error, out_buffer
from .errors import FormatError, NotFoundError, ParameterError
from .indexing import Box, Gather, parse_key, place_points, run_gather
from .params import CParams, DParams, SpecialValue
from .partition import Shape, boxes, extended, grid_of
from .schunk import ARRAY_META, Report, SChunk, codec_summary, human

if TYPE_CHECKING:
    from types import TracebackType

    from ._ffi import Buffer
    from .meta import Meta, VLMeta

Array = np.ndarray[Any, Any]


class NDChunkInfo(NamedTuple):
    """Facts of one chunk of an array; see ChunkInfo.  `coords` is its place in the grid."""

    nchunk: int
    coords: Shape
    cratio: float
    special: SpecialValue
    repeated_value: bytes | None


class NDArray:
    """An array that is stored compressed, chunk by chunk, and read by slicing.

    Make one with asarray(), zeros()..., or open().  ``a[key]`` takes what NumPy takes and gives a
    NumPy array; only the blocks it touches are read and decoded.  Any number of threads may read
    one array.  As a context manager it is closed at the end.

    Attributes
    ----------
    shape, chunks, blocks : tuples of ints; sizes of the array, of a chunk and of a block
    dtype : np.dtype of the items
    schunk : the SChunk that holds the chunks; it stays usable on its own
    """

    _schunk: SChunk
    _nd: Any
    _dtype: np.dtype[Any]

    def __init__(self) -> None:
        raise TypeError("make an NDArray with asarray(), zeros()..., or open()")

    # ---- making the object -------------------------------------------------

    @classmethod
    def _from_schunk(cls, schunk: SChunk) -> NDArray:
        nd, err = ffi.new("b2c_nd *"), new_error()
        with schunk.handle as ptr:
            check(lib.b2c_nd_from_schunk(ptr, nd, err), err, schunk.urlpath)
        return cls._of(schunk, nd, _stored_dtype(schunk, nd.itemsize))

    @classmethod
    def _of(cls, schunk: SChunk, nd: Any, dtype: np.dtype[Any]) -> NDArray:
        self = cls.__new__(cls)
        schunk.handle.noun = "array"
        self._schunk, self._dtype = schunk, dtype
        self._set_nd(nd)
        return self

    def _set_nd(self, nd: Any) -> None:
        self._nd = nd
        self._shape: Shape = tuple(nd.shape[0 : nd.ndim])
        self._chunks: Shape = tuple(nd.chunks[0 : nd.ndim])
        self._blocks: Shape = tuple(nd.blocks[0 : nd.ndim])

    # ---- facts -------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Sizes of the axes."""
        return self._shape

    @property
    def chunks(self) -> Shape:
        """Sizes of a chunk."""
        return self._chunks

    @property
    def blocks(self) -> Shape:
        """Sizes of a block."""
        return self._blocks

    @property
    def ext_shape(self) -> Shape:
        """The shape in whole chunks."""
        return extended(self._shape, self._chunks)

    @property
    def ext_chunks(self) -> Shape:
        """The sizes of a chunk in whole blocks."""
        return extended(self._chunks, self._blocks)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the items."""
        return self._dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an item."""
        return self._dtype.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of items."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the items, without padding."""
        return self.size * self._dtype.itemsize

    @property
    def cbytes(self) -> int:
        """Stored bytes of the chunks."""
        return self._schunk.cbytes

    @property
    def cratio(self) -> float:
        """nbytes / cbytes; 0.0 for an empty array."""
        cbytes = self.cbytes
        return self.nbytes / cbytes if cbytes else 0.0

    @property
    def chunksize(self) -> int:
        """Bytes of a chunk, its padding to whole blocks included."""
        return math.prod(self.ext_chunks) * self._dtype.itemsize

    @property
    def blocksize(self) -> int:
        """Bytes of a block."""
        return math.prod(self._blocks) * self._dtype.itemsize

    @property
    def schunk(self) -> SChunk:
        """The super-chunk with the array's chunks."""
        return self._schunk

    @property
    def urlpath(self) -> str | None:
        """Path of the file or directory; None in memory."""
        return self._schunk.urlpath

    @property
    def meta(self) -> Meta:
        """Fixed metalayers."""
        return self._schunk.meta

    @property
    def vlmeta(self) -> VLMeta:
        """Variable-length metalayers: the place for attributes."""
        return self._schunk.vlmeta

    attrs = vlmeta

    @property
    def cparams(self) -> CParams:
        """Parameters of compression."""
        return self._schunk.cparams

    @cparams.setter
    def cparams(self, value: CParams | Mapping[str, Any]) -> None:
        self._schunk.cparams = value

    @property
    def dparams(self) -> DParams:
        """Parameters of reading."""
        return self._schunk.dparams

    @dparams.setter
    def dparams(self, value: DParams | Mapping[str, Any]) -> None:
        self._schunk.dparams = value

    @property
    def fields(self) -> dict[str, NDField]:
        """Views of the fields of a structured dtype by name; empty for other dtypes."""
        return {name: NDField(self, name) for name in self._dtype.names or ()}

    @property
    def info_items(self) -> list[tuple[str, Any]]:
        """What `info` shows, as pairs."""
        return [
            ("type", type(self).__name__),
            ("shape", self.shape),
            ("chunks", self.chunks),
            ("blocks", self.blocks),
            ("dtype", self.dtype),
            ("nbytes", f"{self.nbytes} ({human(self.nbytes)})"),
            ("cbytes", f"{self.cbytes} ({human(self.cbytes)})"),
            ("cratio", f"{self.cratio:.2f}x"),
            ("cparams", self.cparams),
            ("dparams", self.dparams),
        ]

    @property
    def info(self) -> Report:
        """A report to print."""
        return Report(self.info_items)

    def __repr__(self) -> str:
        if self._schunk.handle.is_closed:
            return f"NDArray(shape={self.shape}, dtype={self.dtype}, closed)"
        place = f", {self.urlpath!r}" if self.urlpath else ""
        return (
            f"NDArray(shape={self.shape}, dtype={self.dtype}, chunks={self.chunks}, "
            f"blocks={self.blocks}, {codec_summary(self.cparams)}, {self.cratio:.1f}x{place})"
        )

    def _repr_html_(self) -> str:
        return self.info._repr_html_()

    # ---- reading -----------------------------------------------------------

    def _nbytes_touched(self, start: Shape, count: Shape, step: Shape) -> int:
        """Bytes of the blocks that a box touches, or more: what decoding it costs."""
        nblocks = 1
        for first, n, stride, block in zip(start, count, step, self._blocks, strict=True):
            nblocks *= (first + (n - 1) * stride) // block - first // block + 1 if n else 0
        return nblocks * self.blocksize

    def _read_box(self, start: Shape, count: Shape, step: Shape, out: Any, nbytes: int) -> None:
        err, schunk = new_error(), self._schunk
        ctx = _ffi.context(schunk._dparams.nthreads, self._nbytes_touched(start, count, step))
        with schunk.handle as ptr:
            status = lib.b2c_nd_read(
                ptr,
                ctx,
                self._nd,  # not before the handle is held: a resize replaces it
                ffi.new("uint64_t[]", start),
                ffi.new("uint64_t[]", count),
                ffi.new("uint64_t[]", step),
                out,
                nbytes,
                err,
            )
            check(status, err, schunk.urlpath)

    def _read(self, start: Shape, count: Shape, step: Shape) -> Array:
        """A box of the array, of shape count."""
        out = np.empty(count, self._dtype)
        if out.size:
            self._read_box(start, count, step, ffi.from_buffer(out), out.nbytes)
        return out

    def _read_points(self, plan: Gather) -> Array:
        """The items of a plan that indexes every axis, one after the other."""
        coords = np.stack([p.reshape(-1) for p in plan.points], axis=-1).astype(np.uint64)
        out = np.empty(len(coords), self._dtype)
        if out.size:
            err, schunk = new_error(), self._schunk
            ctx = _ffi.context(schunk._dparams.nthreads, len(coords) * self.blocksize)
            with schunk.handle as ptr:
                status = lib.b2c_nd_read_points(
                    ptr,
                    ctx,
                    self._nd,
                    ffi.from_buffer("uint64_t[]", coords),
                    len(coords),
                    ffi.from_buffer(out),
                    out.nbytes,
                    err,
                )
                check(status, err, schunk.urlpath)
        return out

    def _get(self, key: Any) -> Array:
        plan = parse_key(key, self._shape)
        if isinstance(plan, Gather):
            if len(plan.axes) == self.ndim and plan.axes != (-1,):
                return place_points(plan, self._read_points(plan))
            return run_gather(plan, self._chunks, self._dtype, self._read)
        out = self._read(plan.start, plan.count, plan.step)
        if plan.flip:
            out = out[plan.flip]
        return out.reshape(plan.shape)

    def __getitem__(self, key: Any) -> Any:
        """Items as a NumPy array (of no axes for a single item), or a field by name.

        Ints, slices with any step, ellipsis, newaxis, integer arrays and boolean masks mean what
        they mean in NumPy.

        Raises
        ------
        IndexError : out of range, or no index
        CorruptError : a chunk is damaged
        """
        if isinstance(key, str):
            return NDField(self, key)
        return self._get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign as in NumPy; the chunks concerned are stored together.

        Raises IndexError, ValueError when `value` does not fit, ReadOnlyError.
        """
        from .ndedit import set_items

        if isinstance(key, str):
            NDField(self, key)[...] = value
        else:
            set_items(self, key, value)

    def resize(self, newshape: Any) -> None:
        """Grow or shrink the array; see ndedit.resize()."""
        from .ndedit import resize

        resize(self, newshape)

    def append(self, values: Any) -> int:
        """Add items at the end of a one-dimensional array; returns its new length."""
        from .ndedit import append

        return append(self, values)

    @property
    def oindex(self) -> OIndex:
        """Orthogonal selection: each index array applies to its own axis."""
        return OIndex(self)

    def read_into(self, out: Buffer, key: Any = ()) -> None:
        """Write ``self[key]`` to `out`, without allocating when there are no index arrays.

        Parameters
        ----------
        out : array of the same shape, converted as in assignment; or any writable
            buffer of exactly as many bytes

        Raises
        ------
        ValueError : `out` has another shape or size
        """
        plan = parse_key(key, self._shape)
        nbytes = math.prod(plan.shape) * self._dtype.itemsize if isinstance(plan, Box) else -1
        if isinstance(out, np.ndarray):
            fits = isinstance(plan, Box) and not plan.flip and out.flags.c_contiguous
            if not (fits and out.dtype == self._dtype and out.shape == plan.shape):  # type: ignore[union-attr]
                data = self._get(key)
                if data.shape != out.shape:
                    raise ParameterError(
                        f"out has shape {out.shape}, the selection {data.shape}", field="out"
                    )
                out[...] = data
                return
        dst = out_buffer(out, "out")
        if isinstance(plan, Box) and not plan.flip and len(dst) == nbytes:
            if nbytes:
                self._read_box(plan.start, plan.count, plan.step, dst, nbytes)
            return
        data = self._get(key)
        if len(dst) != data.nbytes:
            raise ParameterError(
                f"out holds {len(dst)} bytes, the selection {data.nbytes}",
                field="out",
                expected=data.nbytes,
                actual=len(dst),
            )
        ffi.memmove(dst, ffi.from_buffer(np.ascontiguousarray(data)), data.nbytes)

    def item(self) -> Any:
        """The only item as a Python scalar; ValueError when there are several."""
        if self.size != 1:
            raise ParameterError(f"item() needs an array of one item, not {self.size}")
        return self._get(...).item()

    def tobytes(self) -> bytes:
        """All items in C order as bytes."""
        ndim = self.ndim
        return _ffi.bytes_from(
            self.nbytes,
            lambda out: (
                self._read_box((0,) * ndim, self._shape, (1,) * ndim, out, self.nbytes)
                if self.nbytes
                else None
            ),
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an NDArray is compressed: it cannot become an array without a copy")
        data = self._get(...)
        return data if dtype is None else data.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without axes")
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("iteration over an array without axes")
        rows = max(self._chunks[0], 1)
        for first in range(0, self._shape[0], rows):
            yield from self._get(slice(first, first + rows))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from .compat import explain_method

            raise AttributeError(explain_method(type(self).__name__, name), name=name, obj=self)

    # ---- chunks ------------------------------------------------------------

    def get_chunk(self, nchunk: int) -> bytes:
        """The stored bytes of a chunk."""
        return self._schunk.get_chunk(nchunk)

    def iterchunks_info(self) -> Iterator[NDChunkInfo]:
        """Facts of the chunks in turn, without decoding them."""
        grid = grid_of(self._shape, self._chunks)
        for nchunk, coords in enumerate(np.ndindex(*grid)):
            facts = self._schunk.chunk_facts(nchunk)
            yield NDChunkInfo(nchunk, coords, facts.cratio, facts.special, facts.repeated_value)

    def chunks_of(self, key: Any) -> np.ndarray[Any, Any]:
        """Numbers of the chunks that a basic index touches, ascending; see get_slice_nchunks()."""
        box = parse_key(key, self._shape)
        if isinstance(box, Gather):
            raise IndexError("only ints, slices and ellipsis tell a range of chunks")
        grid = grid_of(self._shape, self._chunks)
        if 0 in box.count:
            return np.empty(0, np.int64)
        axes = [
            np.unique((first + stride * np.arange(n)) // chunk)
            for first, n, stride, chunk in zip(box.start, box.count, box.step, self._chunks, strict=True)
        ]
        numbers = np.zeros((1,), np.int64)
        for ids, n in zip(axes, grid, strict=True):
            numbers = (numbers[:, None] * n + ids).reshape(-1)
        return numbers

    def _append_chunk(self, nchunk: int, part: Array) -> None:
        schunk, err = self._schunk, new_error()
        src = ffi.from_buffer(part)
        ctx = _ffi.context(schunk._c_nthreads, self.chunksize)
        with schunk.handle.writing() as ptr:
            status = lib.b2c_nd_append_chunk(ptr, ctx, self._nd, nchunk, src, len(src), err)
            check(status, err, schunk.urlpath)

    def _append_all(self, data: Array) -> None:
        schunk, err = self._schunk, new_error()
        src = ffi.from_buffer(data)
        ctx = _ffi.context(schunk._c_nthreads, max(self.chunksize, data.nbytes))
        with schunk.handle.writing() as ptr:
            check(lib.b2c_nd_append_all(ptr, ctx, self._nd, src, len(src), err), err, schunk.urlpath)

    def _fill_from(self, source: Any) -> None:
        """Append all chunks from anything of this shape that is sliced like an array."""
        plain = isinstance(source, np.ndarray) and source.dtype == self._dtype
        if plain and source.flags.c_contiguous and source.nbytes:
            self._append_all(source)
            return
        for nchunk, box in enumerate(boxes(self._shape, self._chunks)):
            part = np.ascontiguousarray(source[box], self._dtype)
            want = tuple(s.stop - s.start for s in box)
            if part.size != math.prod(want):
                raise ParameterError(f"the source gave shape {part.shape} where {want} was asked for")
            self._append_chunk(nchunk, part)

    # ---- other forms -------------------------------------------------------

    def to_cframe(self) -> bytes:
        """The array as one contiguous frame."""
        return self._schunk.to_cframe()

    def copy(self, dtype: Any = None, **kwargs: Any) -> NDArray:
        """A copy with other storage, chunks, parameters or dtype; see creation.copy()."""
        from .creation import copy

        return copy(self, dtype, **kwargs)

    def save(self, urlpath: str | os.PathLike[str], contiguous: bool = True, **kwargs: Any) -> None:
        """Copy to a file or directory.  FrameExistsError when it is there (mode="w" replaces)."""
        self.copy(urlpath=urlpath, contiguous=contiguous, **kwargs).close()

    def slice(self, key: Any, **kwargs: Any) -> NDArray:
        """A new NDArray of ``self[key]``, by default with this array's parameters."""
        from .creation import from_slice

        return from_slice(self, key, **kwargs)

    def astype(self, dtype: Any, **kwargs: Any) -> NDArray:
        """A copy with another dtype."""
        return self.copy(dtype, **kwargs)

    def reshape(self, shape: Any, **kwargs: Any) -> NDArray:
        """A new array with the same items in C order; see creation.reshape()."""
        from .creation import reshape

        return reshape(self, shape, **kwargs)

    def squeeze(self, axis: Any = None) -> NDArray:
        """A new array without axes of size 1; see creation.squeeze()."""
        from .creation import squeeze

        return squeeze(self, axis)

    def take(self, indices: Any, axis: int | None = None) -> NDArray:
        """A new array of the items at `indices`; see creation.take()."""
        from .creation import take

        return take(self, indices, axis)

    def refresh(self) -> bool:
        """See what another handle or process has written; see SChunk.refresh()."""
        changed = self._schunk.refresh()
        nd, err = ffi.new("b2c_nd *"), new_error()
        with self._schunk.handle as ptr:
            check(lib.b2c_nd_from_schunk(ptr, nd, err), err, self.urlpath)
        self._set_nd(nd)
        return changed

    def close(self) -> None:
        """Write what is pending and close; later use raises ClosedError."""
        self._schunk.close()

    def __enter__(self) -> NDArray:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        from .store import ndarray_from_cframe, open_array

        if self.urlpath is not None and self._schunk.mmap_mode != "c":
            self._schunk.settle()
            return open_array, (os.path.abspath(self.urlpath), "r", self._schunk._source.offset)
        return ndarray_from_cframe, (self.to_cframe(), True)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        if self.urlpath is not None:
            stat = os.stat(self.urlpath)
            return type(self).__name__, os.path.abspath(self.urlpath), stat.st_mtime_ns, stat.st_size
        import hashlib

        digest = hashlib.sha256(repr((self.shape, self.dtype, self.chunks, self.blocks)).encode())
        for nchunk in range(self._schunk.nchunks):
            digest.update(self.get_chunk(nchunk))
        return type(self).__name__, digest.hexdigest()


class NDField:
    """One field of a structured array; ``field[key]`` reads it.

    The record's other fields are decoded too, since the items of a block are stored whole.
    """

    def __init__(self, array: NDArray, name: str) -> None:
        if not array.dtype.fields or name not in array.dtype.fields:
            known = ", ".join(array.dtype.names or ()) or "none"
            raise NotFoundError(f"there is no field {name!r}; the fields are: {known}", field=name)
        self._array = array
        self.field = name
        self.dtype: np.dtype[Any] = array.dtype.fields[name][0]

    @property
    def ndarray(self) -> NDArray:
        """The array that the field belongs to."""
        return self._array

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        return self._array.shape

    @property
    def chunks(self) -> Shape:
        """Chunks of the array."""
        return self._array.chunks

    @property
    def blocks(self) -> Shape:
        """Blocks of the array."""
        return self._array.blocks

    @property
    def schunk(self) -> SChunk:
        """The array's super-chunk."""
        return self._array.schunk

    @property
    def ndim(self) -> int:
        """Number of axes of the array."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Number of items of the array."""
        return self._array.size

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            raise TypeError("a field has no fields that could be selected by name")
        return self._array._get(key)[self.field]

    def __setitem__(self, key: Any, value: Any) -> None:
        records = self._array._get(key)
        records[self.field] = value
        self._array[key] = records

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a field is compressed: it cannot become an array without a copy")
        data: Array = self[...]
        return data if dtype is None else data.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        for item in self._array:
            yield item[self.field]

    def __repr__(self) -> str:
        return f"NDField({self.field!r}, shape={self.shape}, dtype={self.dtype})"


class OIndex:
    """What ``array.oindex`` gives: ``oindex[i, j]`` takes the rows i and of those the columns j."""

    def __init__(self, array: NDArray) -> None:
        self._array = array

    def _key(self, key: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """A key in which the index arrays no longer move in step, and the axes of integers."""
        ndim = self._array.ndim
        entries = list(key) if isinstance(key, tuple) else [key]
        dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
        if len(dots) > 1:
            raise IndexError("an index can only have a single ellipsis ('...')")
        if len(entries) - len(dots) > ndim:
            raise IndexError(f"too many indices: the array has {ndim} dimensions")
        at = dots[0] if dots else len(entries)
        entries[at : at + len(dots)] = [slice(None)] * (ndim - len(entries) + len(dots))
        vectors, integers = [], []
        for axis, (entry, n) in enumerate(zip(entries, self._array.shape, strict=True)):
            if entry is None:
                raise IndexError("orthogonal selection has no new axes")
            plan = parse_key(entry, (n,))
            if isinstance(plan, Gather):
                vector = plan.points[0]
            else:
                vector = np.arange(*entry.indices(n)) if isinstance(entry, slice) else np.array(plan.start)
                if not isinstance(entry, slice):
                    integers.append(axis)
            if vector.ndim != 1:
                raise IndexError("orthogonal indices have one dimension")
            vectors.append(vector)
        return tuple(np.ix_(*vectors)), tuple(integers)

    def __setitem__(self, key: Any, value: Any) -> None:
        grid, integers = self._key(key)
        shape = tuple(g.size for axis, g in enumerate(grid) if axis not in integers)
        self._array[grid] = np.expand_dims(np.broadcast_to(value, shape), integers)

    def __getitem__(self, key: Any) -> Array:
        grid, integers = self._key(key)
        return self._array._get(grid).squeeze(integers)


def _stored_dtype(schunk: SChunk, itemsize: int) -> np.dtype[Any]:
    """The dtype that the array's metalayer tells; bytes when it does not."""
    names = list(schunk.meta)
    name = next(n for n in ARRAY_META if n in names)
    raw = schunk.meta.raw(name)
    nd, at, n, err = ffi.new("b2c_nd *"), ffi.new("size_t *"), ffi.new("size_t *"), new_error()
    check(lib.b2c_nd_meta_decode(raw, len(raw), nd, at, n, err), err, schunk.urlpath)
    if not n[0]:
        return np.dtype((np.bytes_, itemsize))
    try:
        text = raw[at[0] : at[0] + n[0]].decode()
    except UnicodeDecodeError as exc:
        raise FormatError(f"the dtype is not UTF-8: {exc}", path=schunk.urlpath, field="dtype") from None
    return dtypes.from_text(text, itemsize)


def new_nd(shape: Shape, chunks: Shape, blocks: Shape, itemsize: int) -> Any:
    """A checked b2c_nd."""
    nd, err = ffi.new("b2c_nd *"), new_error()
    nd.size = ffi.sizeof("b2c_nd")
    nd.ndim, nd.itemsize = len(shape), itemsize
    for axis in range(len(shape)):
        nd.shape[axis], nd.chunks[axis], nd.blocks[axis] = shape[axis], chunks[axis], blocks[axis]
    check(lib.b2c_nd_check(nd, err), err)
    return nd


def encode_meta(nd: Any, dtype: np.dtype[Any]) -> bytes:
    """The content of the b2nd metalayer."""
    text = dtypes.to_text(dtype).encode()
    return _ffi.sized_bytes(
        lambda dst, cap, need, err: int(lib.b2c_nd_meta_encode(nd, text, len(text), dst, cap, need, err)),
        512 + len(text),
    )
