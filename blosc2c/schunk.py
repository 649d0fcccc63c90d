"""SChunk: an ordered set of compressed chunks with metadata, in memory or on disk.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar

from . import _ffi, limits, params
from ._ffi import buffer_itemsize, check, ffi, in_buffer, lib, new_error, uninterrupted
from .blocks import block
from .callbacks import Callbacks
from .edit import Editing
from .errors import (
    FrameExistsError,
    LimitError,
    NoDirectoryError,
    ParameterError,
    SelectionError,
    UnknownParameterError,
)
from .facts import Explained, Report, codec_summary, human
from .handles import Handle, again_when_changed, new_out
from .meta import Meta, VLMeta, encode
from .params import (
    CParams,
    DParams,
    Keeping,
    Storage,
    to_cparams,
    to_dparams,
    to_index,
    to_int,
)
from .pickles import Pickled
from .read import Origin
from .recipe import Recipe
from .replacing import check_removable
from .vlblocks import VLBlocks

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np

    from ._ffi import Buffer
    from .limits import Limits

DEFAULT_CHUNKSIZE = 1 << 24  # without data
MAX_DEFAULT_CHUNKSIZE = 1 << 28  # with data: one chunk up to here
ARRAY_META = ("b2nd", "caterva")  # metalayers that make a super-chunk an array

T = TypeVar("T")

vlmeta = VLMeta  # its name in Python-Blosc2

_STORAGE_FIELDS = params.field_names(Storage)
_SAFETY_FIELDS = ("durability", "checksums", "limits")
_KEYWORDS = ("cparams", "dparams", "storage", *_STORAGE_FIELDS, *_SAFETY_FIELDS)


def split_storage(
    kwargs: dict[str, Any], where: str, error: type[Exception] = UnknownParameterError
) -> Keeping:
    """Take the storage parameters out of `kwargs`; whatever else is unknown raises `error`.

    What it gives is not to be changed.
    """
    if "path" in kwargs and "urlpath" not in kwargs:
        kwargs["urlpath"] = kwargs.pop("path")
    params.reject_unknown(kwargs, _KEYWORDS, where, error)
    storage = kwargs.pop("storage", None)
    safety = {name: kwargs.pop(name) for name in _SAFETY_FIELDS if name in kwargs}
    fields = {name: kwargs.pop(name) for name in _STORAGE_FIELDS if name in kwargs}
    if storage is None and not fields and not safety:
        return params.default_keeping()
    if storage is None:
        return Keeping(**{**params.storage_dflts, "contiguous": None, **fields, **safety})
    if fields:
        raise AttributeError(f"{where} takes storage or {', '.join(fields)}, not both")
    given = params.storage_fields(storage)
    params.reject_unknown(given, _STORAGE_FIELDS, "Storage", error)
    return Keeping(**given, **safety)


def _check_may_replace(storage: Storage) -> None:
    path = storage.path
    if path is not None and storage.mode != "w" and os.path.lexists(path):
        exc = FrameExistsError(f"{path} is already there: pass mode='w' to replace it", path=path)
        exc.errno, exc.filename = errno.EEXIST, path
        raise exc


def _no_directory(path: str | None) -> NoDirectoryError:
    exc = NoDirectoryError(f"[Errno {errno.ENOENT}] {os.strerror(errno.ENOENT)}: {path!r}", path=path)
    exc.errno, exc.filename = errno.ENOENT, path
    return exc


def _checked_chunksize(chunksize: int | None, nbytes: int | None) -> int:
    """The bytes of a chunk that `chunksize` stands for; nbytes: of the data, None: without any."""
    if chunksize is None:
        return min(nbytes, MAX_DEFAULT_CHUNKSIZE) if nbytes else DEFAULT_CHUNKSIZE
    if to_index(chunksize, "chunksize") > params.MAX_BUFFERSIZE:
        raise LimitError(
            f"a chunk has at most {params.MAX_BUFFERSIZE} bytes, not {chunksize}", field="chunksize"
        )
    return to_int(chunksize, "chunksize", 0 if nbytes is None else 1, params.MAX_BUFFERSIZE)


def _origin_of(storage: Keeping, contiguous: bool) -> Origin:
    """Where what `storage` asks for is, and how it is used there."""
    path = storage.path
    return Origin(
        path,
        contiguous,
        mmap_mode=storage.mmap_mode,
        locking=storage.locking,
        place="" if path is None else params.absolute(path),
        mode=storage.mode or "a",
        mapping_size=storage.initial_mapping_size,
    )


class SChunk(Pickled, Callbacks, VLBlocks, Explained):
    """A sequence of compressed chunks that reads like one long run of items.

    Parameters
    ----------
    chunksize : bytes of a chunk; None: all of `data` up to 2^28, without data 2^24; 0, without data:
        the chunks may have any sizes
    data : C-contiguous buffer to start with
    kwargs :
        cparams, dparams : CParams, DParams or dicts of their fields; without a typesize
        `data`'s item size is taken, or 1
        contiguous, urlpath, mode, mmap_mode, locking, meta : see Storage; or all of them as
        ``storage=``

        durability : see set_durability(); checksums : False neither stores nor compares them;
        limits : a Limits, for what is opened (mode "r") and for the number of chunks of what is made

    Raises
    ------
    FrameExistsError : urlpath is there and mode is not "w"
    NoDirectoryError (a FileNotFoundError) : the directory for it is not there
    UnknownParameterError (a TypeError and ValueError) : unknown keyword
    ValueError : parameter out of range
    AttributeError : ``storage=`` together with one of its fields

    Examples
    --------
    >>> s = SChunk(data=bytes(range(100)), chunksize=40)
    >>> s.nchunks, s[38:42]
    (3, b"&'()")
    """

    _kept_vlmeta: VLMeta | None = None
    kept_names: tuple[Any, list[str]] | None = None  # of the vlmeta, with the c_info() that they are of

    def __init__(self, chunksize: int | None = None, data: Buffer | None = None, **kwargs: Any) -> None:
        self._make(chunksize, data, {}, kwargs)

    @classmethod
    def made_with(
        cls, vlmeta: Mapping[str, Any], chunksize: int | None, data: Buffer | None, kwargs: dict[str, Any]
    ) -> SChunk:
        """SChunk(chunksize, data, **kwargs) with variable-length metalayers, stored as one commit."""
        self = cls.__new__(cls)
        self._make(chunksize, data, vlmeta, kwargs)
        return self

    def _make(
        self, chunksize: int | None, data: Buffer | None, vlmeta: Mapping[str, Any], kwargs: dict[str, Any]
    ) -> None:
        params.check_deserialize(kwargs.pop("deserialize", None))
        storage = split_storage(kwargs, "SChunk()")
        if storage.mode == "r":
            if data is not None or vlmeta:
                raise ParameterError("mode 'r' opens what is there, and takes no data", field="data")
            self._open_existing(storage, kwargs)
            return
        source = None if data is None else in_buffer(data, "data")
        itemsize = 1 if data is None else buffer_itemsize(data)
        cparams = params.compiled_for(kwargs.get("cparams"), itemsize)
        chunksize = _checked_chunksize(chunksize, None if source is None else len(source))
        metas = {name: encode(value) for name, value in (storage.meta or {}).items()}
        dparams = to_dparams(kwargs.get("dparams"))
        self._create(storage, Recipe.of(chunksize, *cparams, metas), dparams)
        if source is None and storage.path is None and not vlmeta:
            return
        with self.being_made(is_brief=True):
            if source is not None:
                view = memoryview(ffi.buffer(source))
                for at in range(0, len(view), chunksize):
                    SChunk.append_data(self, view[at : at + chunksize])  # a subclass may not be ready
            for name, value in vlmeta.items():
                self.vlmeta[name] = value

    def _open_existing(self, storage: Keeping, kwargs: dict[str, Any]) -> None:
        from .store import open_handle

        path = storage.path
        if path is None or not os.path.exists(path):
            raise ParameterError(f"mode 'r' opens what is there, and there is no {path}", field="mode")
        source = _origin_of(storage, os.path.isfile(path))
        handle = open_handle(path, source.place, "r", 0, storage.mmap_mode, storage.locking, storage.limits)
        self._attach(handle, source, kwargs)
        if self.is_array:
            self.close()
            raise ParameterError(f"{path}: cannot open an NDArray as a SChunk; use open()")

    # ---- making the object -------------------------------------------------

    @classmethod
    def _new(cls, storage: Keeping, recipe: Recipe, dparams: DParams) -> SChunk:
        self = cls.__new__(cls)
        self._create(storage, recipe, dparams)
        return self

    @classmethod
    def _wrap(cls, handle: Handle, source: Origin, kwargs: Mapping[str, Any]) -> SChunk:
        self = cls.__new__(cls)
        self._attach(handle, source, kwargs)
        return self

    def _create(self, storage: Keeping, recipe: Recipe, dparams: DParams) -> None:
        path = storage.path
        if path == "":  # the working directory, once made absolute
            raise _no_directory(path)
        mmap_mode = storage.mmap_mode
        if mmap_mode == "c" or (mmap_mode == "r+" and not os.path.lexists(str(path))):
            raise ParameterError(
                f"mmap_mode {mmap_mode!r} is for what is there; use open()", field="mmap_mode"
            )
        c = recipe.c_params()
        c.storage = lib.B2C_STORAGE_MEMORY
        _check_may_replace(storage)
        if path is not None:
            check_removable(path)
            c.storage = lib.B2C_STORAGE_FILE if storage.contiguous else lib.B2C_STORAGE_DIR
            c.replaces = True
            c_path = ffi.new("char[]", os.fsencode(params.absolute(path)))
            c.path = c_path
        c.durability = params.check_durability(storage.durability)
        c.checksums = bool(storage.checksums)
        c.lock = bool(storage.locking)
        c.limits = c_limits = ffi.NULL if storage.limits is None else limits.c_limits_of(storage.limits)
        self._c_nthreads = recipe.nthreads
        out, err = new_out(), new_error()
        self._origin = _origin_of(storage, bool(storage.contiguous))
        try:
            status = uninterrupted(lib.b2c_schunk_new, c, out, err)
            if status == lib.B2C_E_IO and err.sys_errno == errno.ENOENT:
                raise _no_directory(path)
            check(status, err, path)
        except BaseException:
            ffi.release(out)  # a signal handler may have raised
            raise
        del c_limits  # which had to live until now
        self.handle = Handle(out)
        self.handle.is_new = True
        self._durability = storage.durability
        self._verifies = self._writes_checksums = bool(storage.checksums)
        if storage.limits is not None:
            self.handle.limits = storage.limits
        self.handle.writes_to = path
        if storage.locking:
            self.handle.locks = path
        self.handle.owner = weakref.ref(self)  # last: other threads ask it for its place
        self._held = []
        self._dparams = dparams

    def _attach(self, handle: Handle, source: Origin, kwargs: Mapping[str, Any]) -> None:
        self.handle = handle
        self._held = []
        self._origin = source
        self.handle.owner = weakref.ref(self)  # last: other threads ask it for its place
        self._c_nthreads = _ffi.threads.nthreads
        try:
            self._dparams = to_dparams(kwargs.get("dparams"))
            given = kwargs.get("cparams")
            if isinstance(given, CParams) and given.typesize == CParams.typesize:  # nobody may have given it
                given = replace(given, typesize=self.typesize)
            if given is not None:
                self.cparams = given
        except BaseException:
            self.close()
            raise

    @block
    def being_made(self, *sources: Editing, is_brief: bool = False) -> Iterator[None]:
        """Give a new super-chunk its contents, all at once; when the body raises, what was there stays.

        sources : what the body reads; those with a lock file are held if this one has one, too
        is_brief : whether chunks are only appended, or few enough that each edit may copy their index
        """
        held = [source for source in sources if source.locking and self.locking]
        try:
            if self.urlpath is None and is_brief:
                yield  # without a transaction: nobody sees it before, and it is closed when that fails
                return
            with self.taking_from(*held):
                with self.transaction():
                    yield
                if self.urlpath is not None:  # for who never closes it
                    self._edit(lib.b2c_schunk_settle)
        except BaseException:
            with contextlib.suppress(Exception):  # it may fail for the same reason
                self.close()
            raise

    # ---- facts -------------------------------------------------------------

    @property
    def is_legacy(self) -> bool:
        """Whether it is a frame of 2019 to 2021, which can be read, and written anew by convert()."""
        return bool(self.c_info().is_legacy)

    @property
    def is_array(self) -> bool:
        """Whether it holds the chunks of an n-dimensional array."""
        return any(name in self.meta for name in ARRAY_META)

    def present_cparams(self) -> CParams:
        """Parameters of appended data, not to be changed."""
        told = bytes(ffi.buffer(ffi.addressof(self.c_info().cparams)))
        return CParams.from_bytes(told, self._c_nthreads)

    @property
    def cparams(self) -> CParams:
        """Parameters of appended data, as a copy: assign it to change them.

        Typesize and blocksize must stay where there are chunks, and those of an array; a blocksize
        of 0 is that of now, and so is, where there are chunks, a typesize that a CParams has by default.
        """
        return self.present_cparams().twin()

    @cparams.setter
    def cparams(self, value: CParams | Mapping[str, Any]) -> None:
        new = to_cparams(value, **({} if isinstance(value, CParams) else asdict(self.cparams)))
        err = new_error()

        def set_cparams(ptr: Any) -> None:
            info = self.c_info(ptr)
            new.blocksize = new.blocksize or int(info.blocksize)
            if info.nchunks and isinstance(value, CParams) and value.typesize == CParams.typesize:
                new.typesize = int(info.typesize)  # nobody may have given it
            check(lib.b2c_schunk_set_cparams(ptr, new.to_c(), err), err, self.urlpath)

        self.handle.edit(set_cparams)
        self._c_nthreads = new.nthreads

    def get_cparams(self) -> CParams:
        """As `cparams`."""
        return self.cparams

    def update_cparams(self, new_cparams: CParams | Mapping[str, Any]) -> None:
        """As setting `cparams`."""
        self.cparams = new_cparams

    def get_dparams(self) -> DParams:
        """As `dparams`."""
        return self.dparams

    def update_dparams(self, new_dparams: DParams | Mapping[str, Any]) -> None:
        """As setting `dparams`."""
        self.dparams = new_dparams

    @property
    def meta(self) -> Meta:
        """Fixed metalayers."""
        return Meta(self)

    @property
    def vlmeta(self) -> VLMeta:
        """Variable-length metalayers: the place for attributes."""
        kept = self._kept_vlmeta
        if kept is None:
            self._kept_vlmeta = kept = VLMeta(self)
        return kept

    attrs = vlmeta

    @property
    def info_items(self) -> list[tuple[str, Any]]:
        """What `info` shows, as pairs."""
        nbytes, cbytes = self.nbytes, self.cbytes
        from .containers import summary

        inside = summary(self)
        return [
            ("type", f"{type(self).__name__}, {inside}" if inside else type(self).__name__),
            ("chunksize", self.chunksize),
            ("blocksize", self.blocksize),
            ("typesize", self.typesize),
            ("nbytes", f"{nbytes} ({human(nbytes)})"),
            ("cbytes", f"{cbytes} ({human(cbytes)})"),
            ("cratio", f"{self.cratio:.2f}x"),
            ("cparams", self.cparams),
            ("dparams", self.dparams),
        ]

    @property
    def info(self) -> Report:
        """A report to print."""
        return Report(self.info_items)

    def __repr__(self) -> str:
        if self.handle.is_closed:
            return "SChunk(closed)"
        place = f", {self.urlpath!r}" if self.urlpath else ""
        return (
            f"SChunk(nchunks={self.nchunks}, nbytes={self.nbytes}, typesize={self.typesize}, "
            f"{codec_summary(self.cparams)}, {self.cratio:.1f}x{place})"
        )

    @again_when_changed
    def copy(self, cparams: CParams | Mapping[str, Any] | None = None, **kwargs: Any) -> SChunk:
        """A new super-chunk of the same chunks and metadata.

        Parameters
        ----------
        cparams : compression parameters; None: chunks are copied as they are stored
        kwargs : where to, and dparams: as for SChunk()
        """
        nstates = self.handle.nstates
        storage = split_storage(kwargs, "copy()")
        if storage.limits is None:
            storage = replace(storage, limits=self.handle.limits)
        here, there = self.urlpath, storage.path
        if here and there and os.path.exists(there) and os.path.samefile(here, there):
            raise ParameterError(f"{here} cannot be replaced by a copy of itself", field="urlpath")
        metas = {name: self.meta.raw(name) for name in self.meta}
        metas.update({name: encode(value) for name, value in (storage.meta or {}).items()})
        full = self.cparams if cparams is None else to_cparams(cparams, **asdict(self.cparams))
        dparams = to_dparams(kwargs.get("dparams", self._dparams))
        recipe = Recipe.of(int(self.c_info().chunksize), *full.compiled(), metas)
        new = SChunk._new(storage, recipe, dparams)
        with new.being_made(self), self.handle.keeping_state(nstates, self.urlpath):
            if cparams is None:
                new.copy_all(self)
            else:
                for nchunk in range(self.nchunks):
                    new.append_data(self.decompress_chunk(nchunk))
                new.vlmeta.take_over(self.vlmeta)
        return new

    # ---- life --------------------------------------------------------------

    def refresh(self) -> bool:
        """See what another handle or process has written; True when there is something new.

        A handle opened with mode "r" shows the state that was there when it was opened, until this
        is called or chunks of that state are gone.  With ``locking`` every call does this; a writer
        without is always up to date.
        """
        return self.handle.refresh(self.urlpath)

    def close(self) -> None:
        """Write what is pending and close; later use raises ClosedError.

        Closing twice is fine.  In memory the data is gone.
        """
        self.handle.close(lambda ptr, err: int(lib.b2c_schunk_close(ptr, err)), self.urlpath)

    def __enter__(self) -> SChunk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        from .store import open_schunk

        return self.reduced(open_schunk, schunk_from_cframe)


def borrowed(handle: Handle) -> SChunk:
    """An SChunk for a handle that has none, for as long as the handle lives."""
    return SChunk._wrap(handle, Origin(handle.writes_to, True), {})


def handle_from_cframe(cframe: Buffer, copy: bool, bounds: Limits | None) -> tuple[Handle, Any]:
    """An open frame in memory, and what must be kept alive with it."""
    data = in_buffer(cframe, "cframe")
    # Only bytes are sure not to change under the parser's feet.
    copy = copy or type(cframe) is not bytes
    out, err = new_out(), new_error()
    c_limits = limits.c_limits_of(bounds)
    check(lib.b2c_schunk_open_mem(data, len(data), copy, c_limits, out, err), err)
    handle = Handle(out)
    handle.limits = bounds
    return handle, None if copy else data


def schunk_from_cframe(
    cframe: Buffer, copy: bool = False, *, limits: Limits | None = None, deserialize: str = "safe"
) -> SChunk:
    """The SChunk in the bytes of a frame.

    `copy` False keeps a reference to `cframe` when it is bytes; other buffers are copied.
    `limits` None: those of set_limits().  `deserialize` is accepted and without effect.
    Raises FormatError, CorruptError or TruncatedError when `cframe` is no sound frame.
    """
    params.check_deserialize(deserialize)
    handle, keep = handle_from_cframe(cframe, copy, limits)
    return SChunk._wrap(handle, Origin(None, not copy, keep), {})


def get_slice_nchunks(
    schunk: Any, key: tuple[int, int] | int | slice | tuple[slice, ...]
) -> np.ndarray[Any, Any]:
    """Numbers of the chunks that a slice of an SChunk or NDArray touches, ascending.

    Parameters
    ----------
    schunk : SChunk or NDArray
    key : for an SChunk a slice, an item, or (start, stop); for an NDArray any basic index
    """
    import numpy as np

    if not isinstance(schunk, SChunk):
        if not hasattr(schunk, "chunks_of"):
            raise TypeError(f"schunk must be an SChunk or NDArray, not {type(schunk).__name__}")
        numbers: np.ndarray[Any, Any] = schunk.chunks_of(key)
        return numbers
    if isinstance(key, tuple):
        if len(key) != 2:
            raise SelectionError(f"a range of items is told by (start, stop), not {key!r}")
        key = slice(*key)
    start, stop = schunk._key(key)
    first, last, typesize = schunk._item_range(start, stop)
    if first == last:
        return np.empty(0, np.int64)
    if schunk.chunksize:
        size = schunk.chunksize
        return np.arange(first * typesize // size, (last * typesize - 1) // size + 1)
    with schunk.handle as ptr:
        sizes = [schunk._chunk_info(ptr, n).nbytes for n in range(schunk.c_info(ptr).nchunks)]
    ends = np.cumsum(sizes)
    begin = np.searchsorted(ends, first * typesize, "right")
    return np.arange(begin, np.searchsorted(ends, last * typesize - 1, "right") + 1)
