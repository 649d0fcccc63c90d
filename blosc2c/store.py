"""Opening and removing what is on disk.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Any

from . import containers, params
from . import limits as bounds
from ._ffi import check, lib, new_error, uninterrupted
from .errors import FormatError, ParameterError
from .handles import Handle, new_out, writers
from .ndarray import NDArray
from .params import Keeping, to_path
from .read import Origin
from .reader import is_readable, open_reader
from .recipe import Recipe
from .schunk import SChunk, handle_from_cframe

if TYPE_CHECKING:
    from ._ffi import Buffer

    Path = str | bytes | os.PathLike[str]

_KEYWORDS = (
    "cparams",
    "dparams",
    "mmap_mode",
    "initial_mapping_size",
    "locking",
    "durability",
    "checksums",
    "limits",
    "member",
    "on_damage",
)


def _c_mode(mode: str, mmap_mode: str | None, locking: bool, copy: bool) -> int:
    c_mode = int(lib.B2C_OPEN_READ if mode == "r" else lib.B2C_OPEN_UPDATE)
    if mmap_mode == "c" or copy:
        c_mode = lib.B2C_OPEN_COPY
    if mmap_mode is not None:
        c_mode |= lib.B2C_OPEN_MMAP
    return c_mode | (lib.B2C_OPEN_LOCK if locking else 0)


def open_handle(
    path: str,
    place: str,
    mode: str,
    offset: int = 0,
    mmap_mode: str | None = None,
    locking: bool = False,
    limits: bounds.Limits | None = None,
    copy: bool = False,
) -> Handle:
    """Open a frame: a file at `offset`, or a directory; with `copy`, changes stay in memory.

    place : `path`, absolute, because it may be opened again when the working directory is another one
    """
    c_mode = _c_mode(mode, mmap_mode, locking, copy)
    if mode != "r" and mmap_mode != "c" and not locking:
        _settle_writers(place)
    out, err = new_out(), new_error()
    c_limits = bounds.c_limits_of(limits)
    status = uninterrupted(lib.b2c_schunk_open, os.fsencode(place), offset, c_mode, c_limits, out, err)
    if status == lib.B2C_E_IO and err.sys_errno == errno.ENOENT and os.path.isdir(path):
        raise FormatError(f"{path} is a directory but no sparse frame", path=path)
    check(status, err, path)
    handle = Handle(out)
    if limits is not None:
        handle.limits = limits
    if mode != "r" and mmap_mode != "c":
        handle.writes_to = path
    handle.may_outdate = handle.turn.may_outdate = mode == "r" and not locking and not copy
    if locking:
        handle.locks = path
    return handle


def _settle_writers(place: str) -> None:
    """Who has a file open for writing here must not change it by no more than closing it later."""
    try:
        there = os.stat(place)
    except OSError:
        return  # it cannot be opened, either
    for handle in writers():
        owner = None if handle.owner is None else handle.owner()
        with contextlib.suppress(OSError):  # not there any more
            if owner is not None and os.path.samestat(os.stat(owner.place), there):
                handle.settle()


def _is_contiguous(handle: Handle, path: str) -> bool:
    storage = handle.calls.storage
    if storage is None:
        storage = handle.info().storage
    if storage == lib.B2C_STORAGE_MEMORY:  # changes of what is there stay in memory
        return not os.path.isdir(path)
    return bool(storage == lib.B2C_STORAGE_FILE)


def open(
    urlpath: Path | None = None,
    mode: str | None = "r",
    offset: int = 0,
    dataset: None = None,
    hdf5_index: None = None,
    *,
    path: Path | None = None,
    **kwargs: Any,
) -> SChunk | NDArray:
    """Open a file or directory as an NDArray when it holds an array, else as an SChunk.

    Parameters
    ----------
    urlpath : path of the file or directory; `path` is another name for it.  Or an object to read
        from: with ``read_at(offset, size)``, or a file object; see reader.open_reader()
    mode : "r" to read; "a" (or None) to read and change; "w" empties an SChunk first, while an array keeps
        its shape and items, as in Python-Blosc2
    offset : byte in the file where the frame starts
    dataset, hdf5_index : None; they are for HDF5 files, as shared_cache and storage_options are for
        remote ones, which are not offered
    kwargs : cparams (for later appends; typesize, unless it is the default of CParams, and blocksize
        must stay), dparams; mmap_mode,
        initial_mapping_size and locking as in Storage; durability as in
        SChunk.set_durability(); checksums: False neither compares nor stores them; limits: a
        Limits, for data that is not trusted; member: the name of an object ("/group/name") in a
        container, a `.b2z`, `.b2d` or `.b2e`, for reading; on_damage: "fill" reads damaged
        chunks as zeros, each with a DamageWarning, and lists them in SChunk.damage; for mode "r"
        and files that nobody changes meanwhile; "raise" is the default; deserialize: "safe" or
        "full", the same here; contiguous: without effect, what is there tells

    Raises
    ------
    FileNotFoundError, PermissionError : as the system says
    FormatError, CorruptError, TruncatedError : it is no sound frame
    ValueError : unknown mode, or a parameter that cannot be changed
    LimitError : it asks for more than the limits allow
    UnknownParameterError (a TypeError and ValueError) : unknown keyword

    What an object's read_at() raises is passed on.
    """
    if dataset is not None or hdf5_index is not None:
        kwargs.update(dataset=dataset, hdf5_index=hdf5_index)
    return _shown(_open(path if urlpath is None else urlpath, mode, offset, kwargs))


def _shown(schunk: SChunk) -> SChunk | NDArray:
    """The array in it, or itself when there is none; it is closed when it has a damaged one."""
    try:
        array = NDArray._if_array(schunk)
    except BaseException:
        schunk.close()
        raise
    return schunk if array is None else array


def open_schunk(urlpath: Path, mode: str | None = "r", offset: int = 0, **kwargs: Any) -> SChunk:
    """open() that gives an SChunk, also for the chunks of an array."""
    return _open(urlpath, mode, offset, kwargs)


def open_array(urlpath: Path, mode: str | None = "r", offset: int = 0, **kwargs: Any) -> NDArray:
    """open() that gives an NDArray; FormatError for a frame without one."""
    shown = _shown(_open(urlpath, mode, offset, kwargs))
    return shown if isinstance(shown, NDArray) else NDArray._from_schunk(shown)


def _open(urlpath: Path | None, mode: str | None, offset: int, kwargs: dict[str, Any]) -> SChunk:
    if kwargs or mode != "r" or type(offset) is not int or offset or type(urlpath) is not str:
        return _open_as_told(urlpath, mode, offset, kwargs)
    return _open_path(to_path(urlpath), "r", 0, None, params.wants_lock(None, None), False, kwargs)


def _open_as_told(urlpath: Path | None, mode: str | None, offset: int, kwargs: dict[str, Any]) -> SChunk:
    if urlpath is None:
        raise TypeError("open() needs a urlpath")
    params.check_deserialize(kwargs.pop("deserialize", None))
    params.drop_not_offered(kwargs)
    kwargs.pop("contiguous", None)  # what is there tells
    params.reject_unknown(kwargs, _KEYWORDS, "open()")
    mode = "a" if mode is None else mode  # as in Storage
    if mode not in params.MODES:
        raise ParameterError(f"mode must be one of {params.MODES}, not {mode!r}", field="mode")
    if kwargs.get("mmap_mode") == "w+":
        raise ParameterError("mmap_mode 'w+' creates a file; open() does not", field="mmap_mode")
    if kwargs.get("durability") is not None:
        params.check_durability(kwargs["durability"])  # before mode "w" empties anything
    mmap_mode, locking = kwargs.get("mmap_mode"), bool(kwargs.get("locking"))
    mode = params.mode_for(mode, mmap_mode)
    empties, mode = mode == "w", "r" if mode == "r" else "a"
    params.check_mapping(mmap_mode, locking, kwargs.get("initial_mapping_size"))
    offset = params.to_int(offset, "offset", 0, (1 << 63) - 1)
    fills = _fills_damage(kwargs.get("on_damage"), mode, locking)
    if is_readable(urlpath):
        if fills:
            raise ParameterError("on_damage='fill' is for files and directories", field="on_damage")
        if mode != "r" or mmap_mode or locking or "member" in kwargs:
            raise ParameterError("objects can only be read from: mode 'r', no mapping, no lock", field="mode")
        source = Origin(None, True, urlpath, offset, mode="r")
        return _keep(SChunk._wrap(open_reader(urlpath, offset, kwargs.get("limits")), source, kwargs), kwargs)
    path = to_path(urlpath)
    locking = params.wants_lock(locking, mmap_mode)
    member = kwargs.pop("member", None)
    if member is not None:
        if mode != "r" or offset or locking:
            raise ParameterError("members can only be read: mode 'r', no offset, no lock", field="mode")
        return containers.open_member(path, member, kwargs)
    schunk = _open_path(path, mode, offset, mmap_mode, locking, fills, kwargs)
    if empties and schunk.is_array:
        schunk._origin = schunk._origin._replace(mode="w")
    elif empties:
        schunk = _emptied(schunk)
    schunk = _keep(schunk, kwargs)
    if fills:
        schunk.handle.damage = {}
    return schunk


def _open_path(
    path: str,
    mode: str,
    offset: int,
    mmap_mode: str | None,
    locking: bool,
    copy: bool,
    kwargs: dict[str, Any],
) -> SChunk:
    place = params.absolute(path)
    try:
        handle = open_handle(path, place, mode, offset, mmap_mode, locking, kwargs.get("limits"), copy)
    except FormatError:
        if offset == 0:
            containers.refuse_whole(path)
        raise
    size = kwargs.get("initial_mapping_size")
    source = Origin(path, _is_contiguous(handle, path), None, offset, mmap_mode, locking, place, mode, size)
    return SChunk._wrap(handle, source, kwargs)


def _fills_damage(on_damage: str | None, mode: str, locking: bool) -> bool:
    if on_damage not in (None, "raise", "fill"):
        raise ParameterError(f"on_damage must be 'raise' or 'fill', not {on_damage!r}", field="on_damage")
    if on_damage == "fill" and (mode != "r" or locking):
        raise ParameterError("on_damage='fill' is for reading: mode 'r', no lock", field="on_damage")
    return on_damage == "fill"


def _emptied(schunk: SChunk) -> SChunk:
    """A new SChunk of the same parameters and limits, without chunks and metalayers, in the place of one."""
    storage = Keeping(
        urlpath=schunk.urlpath,
        contiguous=schunk.contiguous,
        mode="w",
        locking=schunk.locking,
        limits=schunk.handle.limits,
    )
    cparams, dparams = schunk.cparams, schunk.dparams
    schunk.close()
    new = SChunk._new(storage, Recipe.of(-1, *cparams.compiled(), {}), dparams)
    with new.being_made():
        return new


def _keep(schunk: SChunk, kwargs: dict[str, Any]) -> SChunk:
    """Set durability and checksums as open() was told."""
    durability, checksums = kwargs.get("durability"), kwargs.get("checksums")
    try:
        if durability is not None and schunk.is_writable:
            schunk.set_durability(durability)
        if checksums is not None:
            schunk.set_checksums(bool(checksums), bool(checksums))
    except BaseException:
        schunk.close()
        raise
    return schunk


def compact(urlpath: Path, *, limits: bounds.Limits | None = None) -> None:
    """Rewrite a file or directory without the room of deleted and replaced chunks.

    `limits` None: those of set_limits().
    """
    with open_schunk(urlpath, "a", limits=limits) as schunk:
        schunk.compact()


def load(urlpath: Path, offset: int = 0, **kwargs: Any) -> SChunk | NDArray:
    """open() followed by a copy to memory, after which the file is not needed any more."""
    with open(urlpath, "r", offset, **kwargs) as disk:
        return from_cframe(disk.to_cframe(), limits=kwargs.get("limits"))


def from_cframe(
    cframe: Buffer, copy: bool = True, *, limits: bounds.Limits | None = None, deserialize: str = "safe"
) -> SChunk | NDArray:
    """The NDArray or SChunk in the bytes of a frame; see schunk_from_cframe()."""
    params.check_deserialize(deserialize)
    handle, keep = handle_from_cframe(cframe, copy, limits)
    return _shown(SChunk._wrap(handle, Origin(None, not copy, keep), {}))


def ndarray_from_cframe(
    cframe: Buffer, copy: bool = False, *, limits: bounds.Limits | None = None, deserialize: str = "safe"
) -> NDArray:
    """The NDArray in the bytes of a frame; FormatError when it holds no array."""
    params.check_deserialize(deserialize)
    handle, keep = handle_from_cframe(cframe, copy, limits)
    return NDArray._from_schunk(SChunk._wrap(handle, Origin(None, not copy, keep), {}))
