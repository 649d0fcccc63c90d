"""Writing anew what is on disk, in the current format.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._ffi import check, ffi, lib, new_error
from .handles import again_when_changed
from .params import Codec, Keeping, number_of, to_path
from .recipe import Recipe
from .schunk import SChunk

if TYPE_CHECKING:
    import os

    from .limits import Limits

    Path = str | bytes | os.PathLike[str]


@again_when_changed
def convert(
    urlpath: Path,
    target: Path,
    mode: str = "a",
    *,
    contiguous: bool = True,
    limits: Limits | None = None,
) -> None:
    """Write a file or directory anew in the current format, as one file.

    Frames of 2019 to 2021, which only this package opens, become frames that everybody opens.
    Data, metalayers and vlmetalayers (there: user metadata, as the vlmetalayer "usermeta") are kept.
    Chunks are copied as they are, but for those with a dictionary, which libraries of today
    may find too large: they are compressed again.

    Parameters
    ----------
    urlpath : file or directory to read
    target : file to write; when this fails, there is what was there before
    mode : "a": the target must not be there; "w": it is replaced
    contiguous : False writes a directory
    limits : what to accept; None: those of set_limits()

    Raises
    ------
    FrameExistsError : the target is there
    CorruptError and others : as open(), and when a chunk cannot be read
    """
    from .store import open_schunk

    with open_schunk(urlpath, limits=limits) as source:
        cparams = source.cparams
        if not lib.b2c_codec_available(number_of(cparams.codec)):
            cparams.codec = Codec.ZSTD  # for what is appended later
        storage = Keeping(urlpath=to_path(target), mode=mode, contiguous=contiguous, limits=limits)
        compiled = cparams.compiled()
        _check_stored(compiled[0], source.urlpath)
        metas = {name: source.meta.raw(name) for name in source.meta}
        chunksize = int(source.c_info().chunksize)
        new = SChunk._new(storage, Recipe.of(chunksize, *compiled, metas), source.dparams)
        with new, new.being_made():
            _copy(source, new)


def _check_stored(cparams: Any, path: str | None) -> None:
    """CorruptError for parameters that nobody may have: the file tells them, no caller has given them."""
    err = new_error()
    status = lib.b2c_cparams_check(cparams, err)
    check(lib.B2C_E_CORRUPT if status == lib.B2C_E_ARGUMENT else status, err, path)


def _copy(source: SChunk, new: SChunk) -> None:
    nchunk, err = ffi.new("uint64_t *"), new_error()

    def find_dict(ptr: Any) -> None:
        check(lib.b2c_schunk_next_dict(ptr, nchunk[0], nchunk, err), err, source.urlpath)

    with source.handle.keeping_state(source.handle.nstates, source.urlpath):
        new.copy_chunks(source)
        while True:
            source.reading(find_dict)
            if nchunk[0] == source.nchunks:
                return
            data = source.decompress_chunk(nchunk[0])
            assert data is not None  # it was not told where to put them
            new.update_data(nchunk[0], data)
            nchunk[0] += 1
