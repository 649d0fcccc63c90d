"""NDArray: an n-dimensional array of compressed chunks, in memory or on disk.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from . import _ffi, ndedit
from . import dtype as dtypes
from ._ffi import address_of, calls, check, ffi, lib, new_error, out_buffer
from .description import description_of, read_description
from .errors import ChunkIndexError, ConflictError, FormatError, LimitError, ParameterError
from .facts import Report, codec_summary, human
from .field import NDField, is_name
from .indexing import Box, Gather, parse_key, place_points, rest_of
from .limits import check_result
from .masks import dense_mask, read_masked
from .ndchunks import NDChunkInfo, chunk_infos, chunks_touched
from .operators import Operators
from .params import CParams, DParams
from .partition import Shape, extended
from .places import Places, Row
from .schunk import SChunk
from .synonyms import Synonyms
from .views import close_view, is_closed_view, shown_of

if TYPE_CHECKING:
    from types import TracebackType

    from ._ffi import Buffer
    from .meta import Meta, VLMeta
    from .oindex import OIndex

Array = np.ndarray[Any, Any]
P = ParamSpec("P")
T = TypeVar("T")

_INTEGERS = frozenset((int, np.int64, np.int32, np.intp, np.uint64, np.uint32))


def replanned(read: Callable[Concatenate[NDArray, P], T]) -> Callable[Concatenate[NDArray, P], T]:
    """A read that is planned again when it failed since it was meant for what the array was before."""

    @functools.wraps(read)
    def again(array: NDArray, /, *args: P.args, **kwargs: P.kwargs) -> T:
        while True:
            planned = array._shape, array._dtype
            try:
                return read(array, *args, **kwargs)
            except (ConflictError, ChunkIndexError):
                if (array._shape, array._dtype) == planned:
                    raise

    return again


class NDArray(Operators, Synonyms):
    """An array that is stored compressed, chunk by chunk, and read by slicing.

    Make one with asarray(), zeros()..., or open().  ``a[key]`` takes what NumPy takes and gives a
    NumPy array; only the blocks it touches are read and decoded.  Any number of threads may read
    one array.  As a context manager it is closed at the end.  ``a == b`` compares all items, as NumPy
    does, after decoding them; there is no arithmetic: compute with ``a[...]``.

    Attributes
    ----------
    shape, chunks, blocks : tuples of ints; sizes of the array, of a chunk and of a block
    dtype : np.dtype of the items
    schunk : the SChunk that holds the chunks; it stays usable on its own
    keep_last_read : of Python-Blosc2, no effect here: blocks of small reads are always kept
    """

    keep_last_read = False
    _schunk: SChunk
    _nd: Any
    _shape: Shape
    _chunks: Shape
    _blocks: Shape
    _dtype: np.dtype[Any]
    # What single items are read to, and the thread and dtype that it is for.
    _room: tuple[Any, np.dtype[Any], Array] | None = None
    _row: Row | None = None  # what is the same for all rows
    _axes: Shape | None = None  # of a view: for each axis that of the stored array, -1 for a new one
    _base: NDArray | None = None  # of a view: the stored array

    def __init__(self) -> None:
        raise TypeError("make an NDArray with asarray(), zeros()..., or open()")

    # ---- making the object -------------------------------------------------

    @classmethod
    def _if_array(cls, schunk: SChunk) -> NDArray | None:
        """The array in a super-chunk, if it has one."""
        found = description_of(schunk.handle, schunk.urlpath)
        return None if found is None else cls._of(schunk, *found)

    @classmethod
    def _from_schunk(cls, schunk: SChunk) -> NDArray:
        """The array in a super-chunk, which is closed when there is none."""
        array = cls._if_array(schunk)
        if array is None:
            path = schunk.urlpath
            schunk.close()
            raise FormatError(f"{path or 'the frame'} is an SChunk without array metadata", path=path)
        return array

    @classmethod
    def _of(cls, schunk: SChunk, nd: Any, dtype: np.dtype[Any]) -> NDArray:
        self = cls.__new__(cls)
        schunk.handle.noun = "array"
        self._schunk, self._dtype = schunk, dtype
        self._set_nd(nd)
        schunk.handle.add_follower(self)
        return self

    def _set_nd(self, nd: Any) -> None:
        self._nd = nd
        self._shape, self._chunks, self._blocks = calls.shapes(address_of(nd))

    def _nchunks(self) -> int:
        """How many chunks the shapes ask for."""
        return int(lib.b2c_nd_nchunks(self._nd))

    def _check_chunks(self) -> None:
        """Raise an error unless the chunks are as many, and of the size, that the shapes ask for."""
        err = new_error()
        with self._schunk.handle as ptr:
            status = lib.b2c_nd_check_chunks(ptr, self._nd, err)
        check(status, err, self.urlpath)

    # ---- facts -------------------------------------------------------------

    def _look(self) -> NDArray:
        """This array, with ``locking`` as it is now."""
        if self._schunk.must_look and not self._schunk.handle.is_closed:
            with self._schunk.handle:  # sees what others have stored
                pass
        self.check_shown()
        return self

    def check_shown(self) -> None:
        """ParameterError when what is stored now is not what this array, or this view of one, can show."""
        if not self._nd:
            raise ParameterError("what is stored now is no array that can be shown here", path=self.urlpath)

    @property
    def shape(self) -> Shape:
        """Sizes of the axes."""
        return self._look()._shape

    @property
    def chunks(self) -> Shape:
        """Sizes of a chunk."""
        return self._look()._chunks

    @property
    def blocks(self) -> Shape:
        """Sizes of a block."""
        return self._look()._blocks

    @property
    def ext_shape(self) -> Shape:
        """The shape in whole chunks."""
        return extended(self.shape, self._chunks)

    @property
    def ext_chunks(self) -> Shape:
        """The sizes of a chunk in whole blocks."""
        return extended(self.chunks, self._blocks)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the items."""
        return self._look()._dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an item."""
        return self.dtype.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of items."""
        return math.prod(self.shape)

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
        """Bytes of the chunks, which are padded to whole ones, / cbytes; 0.0 for an empty array."""
        return self._schunk.cratio

    @property
    def chunksize(self) -> int:
        """Bytes of the items of a chunk; that of `schunk` includes the padding to whole blocks."""
        return math.prod(self.chunks) * self._dtype.itemsize

    @property
    def blocksize(self) -> int:
        """Bytes of a block."""
        return math.prod(self.blocks) * self._dtype.itemsize

    @property
    def schunk(self) -> SChunk:
        """The super-chunk with the array's chunks."""
        return self._schunk

    @property
    def base(self) -> NDArray | None:
        """The array that this one is a view of; None when it has items of its own."""
        return self._base

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
    def fields(self) -> Mapping[str, NDField]:
        """Views of the fields of a structured dtype by name; empty for other dtypes.

        The mapping cannot be changed; ``fields["x"][...] = v`` assigns to a field.
        """
        return MappingProxyType({name: NDField(self, name) for name in self.dtype.names or ()})

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
        if is_closed_view(self) or self._schunk.handle.is_closed:
            return f"NDArray(shape={self._shape}, dtype={self._dtype}, closed)"
        try:
            self._look()
        except ParameterError as exc:
            return f"NDArray({exc})"
        place = f", {self.urlpath!r}" if self.urlpath else ""
        return (
            f"NDArray(shape={self.shape}, dtype={self.dtype}, chunks={self.chunks}, "
            f"blocks={self.blocks}, {codec_summary(self.cparams)}, {self.cratio:.1f}x{place})"
        )

    def _repr_html_(self) -> str:
        return self.info._repr_html_()

    # ---- reading -----------------------------------------------------------

    def _expect(self, dtype: np.dtype[Any], ndim: int) -> None:
        """ConflictError when a read, for which the handle is held, was meant for another array."""
        self.check_shown()
        if dtype is not self._dtype or ndim != len(self._shape):
            raise ConflictError(
                "the array was replaced by one of another dtype or number of axes", path=self.urlpath
            )

    def _read_box(
        self, start: Shape, counts: Any, step: Any, out: Any, nbytes: int, dtype: np.dtype[Any]
    ) -> None:
        """A box to memory for so many bytes, of items of a dtype."""
        schunk = self._schunk
        ctx = _ffi.context(schunk._dparams.nthreads)  # C itself knows what is too small for threads
        err = new_error()

        def read(ptr: Any) -> None:
            # The description not before the handle is held: a resize replaces it.
            self._expect(dtype, len(start))
            status = lib.b2c_nd_read(ptr, ctx, self._nd, start, counts, step, out, nbytes, err)
            if status != lib.B2C_OK:
                check(status, err, schunk.urlpath)

        handle = schunk.handle
        if handle.damage is None and not handle.may_outdate:  # as reading() does, with less ado
            with handle as ptr:
                read(ptr)
        else:
            schunk.reading(read)

    def _room_for(self, shape: Shape) -> tuple[Array, np.dtype[Any]]:
        """An array for a result, not filled, and the dtype that it is for.

        LimitError when there is not to be one of this size, or NumPy has none of this shape, whose
        other axes it limits also beside one of 0 items.
        """
        dtype = self._dtype
        check_result(math.prod(shape) * dtype.itemsize, self._schunk.handle)
        try:
            # numpy.empty() gives dates without a unit another byte order.
            out: Array = np.ndarray(shape, dtype)
        except ValueError as exc:
            raise LimitError(f"no result of shape {shape}: {exc}", field="shape") from None
        return out, dtype

    def _read_plain(self, box: Box) -> Array:
        """A box of the array, of the shape of the result."""
        out, dtype = self._room_for(box.counts if box.flip else box.shape)
        if out.size:
            self._read_box(box.start, box.counts, box.step, ffi.from_buffer(out), out.nbytes, dtype)
        return out[box.flip].reshape(box.shape) if box.flip else out

    def _read_gather(self, plan: Gather) -> Array:
        """The items at index arrays."""
        npoints = plan.points[0].size
        if plan.axes == (-1,):  # a scalar boolean: all of the box, or nothing
            counts, _ = rest_of(plan)
            rows, _ = self._room_for((npoints, *counts))
            if rows.size:
                rows[...] = self._read_plain(plan.box._replace(flip=(), shape=counts))
            return place_points(plan, rows)
        return place_points(plan, self._read_places(Places.of(plan)))

    def _read_places(self, places: Places) -> Array:
        """The boxes at places; each block that holds some is decoded once."""
        rows, dtype = self._room_for(places.shape)
        if rows.size:
            err, schunk = new_error(), self._schunk
            ctx, dst = _ffi.context(schunk._dparams.nthreads), ffi.from_buffer(rows)

            def read(ptr: Any) -> None:
                self._expect(dtype, places.ndim)
                status = lib.b2c_nd_read_places(ptr, ctx, self._nd, places.c, dst, rows.nbytes, err)
                check(status, err, schunk.urlpath)

            schunk.reading(read)
        return rows

    def _read_item(self, index: tuple[int, ...]) -> Array | None:
        """A single item, if its block is kept or can be read now; None: ask _get()."""
        small = ctx, scratch, _, err, is_taken = _ffi.small_call()
        room, dtype = self._room, self._dtype
        if room is None or room[0] is not small or room[1] is not dtype:
            if dtype.itemsize > _ffi.SMALL_NBYTES:
                is_taken[0] = False
                return None
            place = ffi.buffer(scratch, dtype.itemsize)
            # void, since NumPy copies the fields of records and leaves in the gaps what the memory held
            copied = dtype if dtype.fields is None else np.dtype((np.void, dtype.itemsize))
            room = self._room = small, dtype, np.frombuffer(place, copied).reshape(())
        handle = self._schunk.handle
        try:
            with handle as ptr:
                if dtype is not self._dtype or len(index) != len(self._shape):
                    return None  # another array than when this was called
                kept = handle.may_outdate
                status = lib.b2c_nd_read_item(
                    ptr, ctx, self._nd, index, kept, scratch, _ffi.SMALL_NBYTES, err
                )
                if kept and status == lib.B2C_E_NOT_FOUND:
                    status = lib.b2c_nd_read_item(
                        ptr, ctx, self._nd, index, False, scratch, _ffi.SMALL_NBYTES, err
                    )
                    if not lib.b2c_schunk_is_current(ptr):
                        return None
            if status != lib.B2C_OK:
                return None
            item: Array = room[2].copy()
            return item if dtype.fields is None else item.view(dtype)
        except OverflowError:  # a negative index
            return None
        finally:
            is_taken[0] = False

    @replanned
    def _read_row(self, index: int) -> Array:
        """``self[index]``, of what is in range."""
        row = self._row
        if row is None or row.of is not self._shape:
            row = self._row = Row(self._shape)
        out, dtype = self._room_for(row.shape)
        if out.size:
            start, dst = (index, *row.zeros), ffi.from_buffer(out)
            self._read_box(start, row.counts, row.steps, dst, out.nbytes, dtype)
        return out

    @replanned
    def _get(self, key: Any) -> Array:
        shape = self.shape
        mask = dense_mask(key, shape)
        found = None if mask is None else read_masked(self, mask)
        if found is not None:
            return found
        plan = parse_key(key, shape)
        return self._read_plain(plan) if isinstance(plan, Box) else self._read_gather(plan)

    def __getitem__(self, key: Any) -> Any:
        """Items as a NumPy array (of no axes for a single item), or a field by its name.

        Ints, slices with any step, ellipsis, newaxis, integer arrays and boolean masks mean what
        they mean in NumPy.

        Raises
        ------
        IndexError : out of range, or no index
        CorruptError : a chunk is damaged
        """
        if type(key) is int and len(self._shape) > 1 and 0 <= key < self.shape[0]:
            return self._read_row(key)
        if is_name(key):
            return NDField(self, key)
        index = key if type(key) is tuple else (key,)
        if len(index) == len(self._shape):
            for entry in index:
                if type(entry) not in _INTEGERS:
                    break
            else:
                item = self._read_item(index)
                if item is not None:
                    return item
        return self._get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign as in NumPy; the chunks concerned are stored together.

        Raises IndexError, ValueError when `value` does not fit, ReadOnlyError.
        """
        if is_name(key):
            NDField(self, key)[...] = value
        else:
            ndedit.set_items(self, key, value)

    def resize(self, newshape: Any) -> None:
        """Grow or shrink the array; see ndedit.resize()."""
        ndedit.resize(self, newshape)

    def append(self, values: Any, axis: int | None = None) -> int:
        """Add items at the end of an axis; returns its new length; see ndedit.append()."""
        return ndedit.append(self, values, axis)

    @property
    def oindex(self) -> OIndex:
        """Orthogonal selection: each index array applies to its own axis."""
        from .oindex import OIndex

        return OIndex(self)

    @replanned
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
        plan, dtype = parse_key(key, self.shape), self._dtype
        nbytes = math.prod(plan.shape) * dtype.itemsize if isinstance(plan, Box) else -1
        if isinstance(out, np.ndarray):
            fits = isinstance(plan, Box) and not plan.flip and out.flags.c_contiguous
            if not (fits and out.dtype == dtype and out.shape == plan.shape):
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
                self._read_box(plan.start, plan.counts, plan.step, dst, nbytes, dtype)
            return
        data = self._get(key)
        if len(dst) != data.nbytes:
            raise ParameterError(
                f"out holds {len(dst)} bytes, the selection {data.nbytes}",
                field="out",
                expected=data.nbytes,
                actual=len(dst),
            )
        ffi.memmove(dst, ffi.from_buffer(dtypes.packed(data)), data.nbytes)

    def item(self) -> Any:
        """The only item as a Python scalar; ValueError when there are several."""
        if self.size != 1:
            raise ParameterError(f"item() needs an array of one item, not {self.size}")
        return self._get(...).item()

    @replanned
    def tobytes(self) -> bytes:
        """All items in C order as bytes."""
        shape, dtype = self.shape, self._dtype
        ndim, nbytes = len(shape), math.prod(shape) * dtype.itemsize
        check_result(nbytes, self._schunk.handle)
        if not nbytes:
            return b""
        return _ffi.bytes_from(
            nbytes, lambda out: self._read_box((0,) * ndim, shape, (1,) * ndim, out, nbytes, dtype)
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an NDArray is compressed: it cannot become an array without a copy")
        data = self._get(...)
        return data if dtype is None else data.astype(dtype, copy=False)

    def __bool__(self) -> bool:
        return bool(self._only_item("bool"))

    def __int__(self) -> int:
        return int(self._only_item("int"))

    def __float__(self) -> float:
        return float(self._only_item("float"))

    def __complex__(self) -> complex:
        return complex(self._only_item("complex"))

    def __index__(self) -> int:
        if self.shape or self._dtype.kind not in "iu":
            raise TypeError("only an array of no axes and integer dtype can be used as an index")
        return int(self._get(()))

    def _only_item(self, kind: str) -> Any:
        if self.size != 1:
            raise ValueError(f"{kind}() needs an array of one item, not {self.size}")
        return self._get(...).reshape(())[()]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over an array without axes")
        return self._items()

    def _items(self) -> Iterator[Any]:
        rows = max(self._chunks[0], 1)
        for first in range(0, self.shape[0], rows):
            yield from self._get(slice(first, first + rows))

    # ---- chunks ------------------------------------------------------------

    def get_chunk(self, nchunk: int) -> bytes:
        """The stored bytes of a chunk."""
        return self._schunk.get_chunk(nchunk)

    def iterchunks_info(self) -> Iterator[NDChunkInfo]:
        """Facts of the chunks in turn, without decoding them."""
        return chunk_infos(self)

    def chunks_of(self, key: Any) -> Array:
        """Numbers of the chunks that a basic index touches, ascending; see get_slice_nchunks()."""
        return chunks_touched(self, key)

    # ---- other forms -------------------------------------------------------

    def to_cframe(self) -> bytes:
        """The array as one contiguous frame."""
        return self._schunk.to_cframe() if self._axes is None else self.copy().to_cframe()

    def copy(self, dtype: Any = None, **kwargs: Any) -> NDArray:
        """A copy with other storage, chunks, parameters or dtype; see creation.copy()."""
        from .creation import copy

        return copy(self, dtype, **kwargs)

    def save(self, urlpath: str | os.PathLike[str], contiguous: bool = True, **kwargs: Any) -> None:
        """Copy to a file or directory.  FrameExistsError when it is there (mode="w" replaces)."""
        self.copy(urlpath=urlpath, contiguous=contiguous, **kwargs).close()

    def slice(self, key: Any, **kwargs: Any) -> NDArray:
        """A new NDArray of ``self[key]``, by default with this array's parameters."""
        from .rearranging import from_slice

        return from_slice(self, key, **kwargs)

    def astype(self, dtype: Any, **kwargs: Any) -> NDArray:
        """A copy with another dtype."""
        return self.copy(dtype, **kwargs)

    def reshape(self, shape: Any, **kwargs: Any) -> NDArray:
        """A new array with the same items in C order; see rearranging.reshape()."""
        from .rearranging import reshape

        return reshape(self, shape, **kwargs)

    def squeeze(self, axis: Any = None) -> NDArray:
        """A view without axes of size 1; see rearranging.squeeze()."""
        from .rearranging import squeeze

        return squeeze(self, axis)

    @property
    def T(self) -> NDArray:  # noqa: N802
        """A new array with the two axes swapped; ValueError when there are not two."""
        if self.ndim != 2:
            raise ParameterError(f"T is for two axes, not {self.ndim}; see permute_dims()")
        return self.mT

    @property
    def mT(self) -> NDArray:  # noqa: N802
        """A new array with the last two axes swapped; see rearranging.permute_dims()."""
        from .rearranging import matrix_transpose

        if self.ndim < 2:
            raise ParameterError(f"mT is for two axes or more, not {self.ndim}")
        return matrix_transpose(self)

    def take(self, indices: Any, /, *, axis: int | None = None) -> NDArray:
        """A new array of the items at `indices`; see rearranging.take()."""
        from .rearranging import take

        return take(self, indices, axis)

    def refresh(self) -> bool:
        """See what another handle or process has written; see SChunk.refresh()."""
        return self._schunk.refresh()

    def holding_lock(self) -> contextlib.AbstractContextManager[Any]:
        """Nobody else reads or edits during a ``with`` block; see SChunk.holding_lock()."""
        return self._schunk.holding_lock()

    def follow(self, ptr: Any, known: tuple[Any, np.dtype[Any]] | None = None) -> None:
        """The handle shows another state now, perhaps another array; called by it.

        known : what read_description() would give
        """
        self._nd = ffi.NULL  # of what cannot be shown
        found = known or read_description(ptr, self.urlpath)
        if found is None:
            raise FormatError("there is no array any more in what was opened", path=self.urlpath)
        stored, dtype = found
        shown = shown_of(stored, self._axes)
        if shown != ffi.NULL:
            if dtype != self._dtype:
                self._dtype = dtype
            self._set_nd(shown)

    def close(self) -> None:
        """Write what is pending and close; later use raises ClosedError.

        To close a view ends its use only; closing the array that it shows closes its views, too.
        """
        if self._axes is None:
            self._schunk.close()
        else:
            close_view(self)

    def __enter__(self) -> NDArray:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        from .store import ndarray_from_cframe, open_array

        return self._schunk.reduced(
            open_array, ndarray_from_cframe, None if self._axes is None else self.to_cframe
        )

    def __setstate__(self, nthreads: int) -> None:
        self._schunk.__setstate__(nthreads)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        if self.urlpath is not None:
            place = self._schunk.place
            stat = os.stat(place)
            return type(self).__name__, place, stat.st_mtime_ns, stat.st_size, self._axes
        import hashlib

        digest = hashlib.sha256(repr((self.shape, self.dtype, self.chunks, self.blocks)).encode())
        for nchunk in range(self._schunk.nchunks):
            digest.update(self.get_chunk(nchunk))
        return type(self).__name__, digest.hexdigest()
