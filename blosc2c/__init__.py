"""Compressed chunks, super-chunks and arrays in the Blosc2 formats.

>>> import numpy as np, blosc2c
>>> a = blosc2c.asarray(np.arange(1_000_000).reshape(1000, 1000), cparams={"codec": "zstd"})
>>> a[3:5, 990:992]
array([[3990, 3991],
       [4990, 4991]])

Names and defaults are those of python-blosc2's storage functions; `compat.MISSING` lists what is
left out on purpose.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import errors as errors
from .compress import (
    compress,
    compress2,
    decompress,
    decompress2,
    get_cbuffer_sizes,
    get_clib,
)
from .errors import (
    Blosc2Error,
    ChecksumError,
    ChunkIndexError,
    ClosedError,
    ConflictError,
    CorruptError,
    DamageWarning,
    FormatError,
    FrameExistsError,
    InternalError,
    LimitError,
    NoDirectoryError,
    NotFoundError,
    NotPackedError,
    ParameterError,
    ReadOnlyError,
    RenamedError,
    SelectionError,
    TruncatedError,
    UnfitBufferError,
    UnknownCodecError,
    UnknownFilterError,
    UnknownParameterError,
)
from .params import (
    DEFINED_CODECS_STOP,
    EXTENDED_HEADER_LENGTH,
    GLOBAL_REGISTERED_CODECS_STOP,
    IS_WASM,
    MAX_BLOCKSIZE,
    MAX_BUFFERSIZE,
    MAX_DIM,
    MAX_OVERHEAD,
    MAX_TYPESIZE,
    MIN_HEADER_LENGTH,
    USER_REGISTERED_CODECS_STOP,
    Codec,
    CParams,
    DParams,
    Filter,
    SpecialValue,
    SplitMode,
    Storage,
    Tuner,
    cparams_dflts,
    dparams_dflts,
    storage_dflts,
)
from .runtime import (
    VERSION_DATE,
    VERSION_STRING,
    __version__,
    blosclib_version,
    clib_info,
    compressor_list,
    detect_number_of_cores,
    free_resources,
    get_blocksize,
    get_compressor,
    get_cpu_info,
    print_versions,
    set_blocksize,
    set_compressor,
    set_nthreads,
    set_releasegil,
)

if TYPE_CHECKING:
    from . import compat as compat
    from .conversion import convert
    from .creation import (
        arange,
        array,
        asarray,
        astype,
        copy,
        empty,
        empty_like,
        eye,
        frombuffer,
        fromiter,
        full,
        full_like,
        linspace,
        nans,
        ones,
        ones_like,
        save,
        uninit,
        zeros,
        zeros_like,
    )
    from .field import NDField
    from .integrity import repair, verify
    from .limits import Limits, get_limits, set_limits
    from .ndarray import NDArray
    from .packing import (
        load_array,
        load_tensor,
        pack,
        pack_array,
        pack_array2,
        pack_tensor,
        save_array,
        save_tensor,
        unpack,
        unpack_array,
        unpack_array2,
        unpack_tensor,
    )
    from .partition import are_partitions_aligned, are_partitions_behaved, compute_chunks_blocks
    from .plugins import (
        postfilter_funcs,
        prefilter_funcs,
        register_codec,
        register_filter,
        ucodecs_registry,
        ufilters_registry,
    )
    from .rearranging import (
        concat,
        expand_dims,
        matrix_transpose,
        permute_dims,
        reshape,
        squeeze,
        stack,
        take,
        transpose,
    )
    from .replacing import remove_urlpath
    from .schunk import SChunk, get_slice_nchunks, schunk_from_cframe
    from .store import (
        compact,
        from_cframe,
        load,
        ndarray_from_cframe,
        open,
        open_array,
        open_schunk,
    )
    from .vlblocks import vlcompress, vldecompress, vldecompress_block

    cpu_info: dict[str, Any]
    ncores: int
    nthreads: int

# Modules that take time to import, and the public names in them.
_LAZY = {
    "conversion": "convert",
    "creation": """
        arange array asarray astype copy empty empty_like eye frombuffer fromiter full full_like linspace
        nans ones ones_like save uninit zeros zeros_like
        """,
    "field": "NDField",
    "ndarray": "NDArray",
    "packing": """
        load_array load_tensor pack pack_array pack_array2 pack_tensor save_array save_tensor unpack
        unpack_array unpack_array2 unpack_tensor
        """,
    "partition": "are_partitions_aligned are_partitions_behaved compute_chunks_blocks",
    "plugins": """
        postfilter_funcs prefilter_funcs register_codec register_filter ucodecs_registry ufilters_registry
        """,
    "rearranging": """
        concat expand_dims matrix_transpose permute_dims reshape squeeze stack take transpose
        """,
    "replacing": "remove_urlpath",
    "schunk": "SChunk get_slice_nchunks schunk_from_cframe",
    "store": "compact from_cframe load ndarray_from_cframe open open_array open_schunk",
    "vlblocks": "vlcompress vldecompress vldecompress_block",
    "integrity": "repair verify",
    "limits": "Limits get_limits set_limits",
}
newaxis = None  # in keys: a new axis, as NumPy's
_HOME = {name: module for module, names in _LAZY.items() for name in names.split()}

__all__ = [
    "Blosc2Error",
    "CParams",
    "ChecksumError",
    "ChunkIndexError",
    "ClosedError",
    "ConflictError",
    "DamageWarning",
    "Codec",
    "CorruptError",
    "DParams",
    "EXTENDED_HEADER_LENGTH",
    "Filter",
    "FormatError",
    "FrameExistsError",
    "InternalError",
    "LimitError",
    "Limits",
    "MAX_BLOCKSIZE",
    "MAX_BUFFERSIZE",
    "MAX_DIM",
    "MAX_OVERHEAD",
    "MAX_TYPESIZE",
    "USER_REGISTERED_CODECS_STOP",
    "GLOBAL_REGISTERED_CODECS_STOP",
    "DEFINED_CODECS_STOP",
    "IS_WASM",
    "MIN_HEADER_LENGTH",
    "NDArray",
    "NDField",
    "NoDirectoryError",
    "NotFoundError",
    "NotPackedError",
    "ParameterError",
    "ReadOnlyError",
    "RenamedError",
    "SChunk",
    "SelectionError",
    "SpecialValue",
    "SplitMode",
    "Storage",
    "TruncatedError",
    "Tuner",
    "UnfitBufferError",
    "UnknownCodecError",
    "UnknownFilterError",
    "UnknownParameterError",
    "VERSION_DATE",
    "VERSION_STRING",
    "__version__",
    "arange",
    "are_partitions_aligned",
    "are_partitions_behaved",
    "array",
    "asarray",
    "astype",
    "blosclib_version",
    "clib_info",
    "compact",
    "compress",
    "compress2",
    "compressor_list",
    "compute_chunks_blocks",
    "concat",
    "convert",
    "copy",
    "cparams_dflts",
    "cpu_info",
    "decompress",
    "decompress2",
    "detect_number_of_cores",
    "dparams_dflts",
    "empty",
    "empty_like",
    "errors",
    "expand_dims",
    "eye",
    "free_resources",
    "from_cframe",
    "frombuffer",
    "fromiter",
    "full",
    "full_like",
    "get_blocksize",
    "get_cbuffer_sizes",
    "get_clib",
    "get_compressor",
    "get_cpu_info",
    "get_limits",
    "get_slice_nchunks",
    "linspace",
    "load",
    "load_array",
    "load_tensor",
    "matrix_transpose",
    "nans",
    "ncores",
    "ndarray_from_cframe",
    "nthreads",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_schunk",
    "pack",
    "pack_array",
    "pack_array2",
    "pack_tensor",
    "permute_dims",
    "postfilter_funcs",
    "prefilter_funcs",
    "print_versions",
    "register_codec",
    "register_filter",
    "remove_urlpath",
    "repair",
    "reshape",
    "save",
    "save_array",
    "save_tensor",
    "schunk_from_cframe",
    "set_blocksize",
    "set_compressor",
    "set_limits",
    "set_nthreads",
    "set_releasegil",
    "squeeze",
    "stack",
    "storage_dflts",
    "take",
    "transpose",
    "ucodecs_registry",
    "ufilters_registry",
    "uninit",
    "unpack",
    "unpack_array",
    "unpack_array2",
    "unpack_tensor",
    "verify",
    "vlcompress",
    "vldecompress",
    "vldecompress_block",
    "zeros",
    "zeros_like",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "nthreads":
            from . import runtime

            return runtime.get_nthreads()
        if name == "cpu_info":
            value = get_cpu_info()
        elif name == "ncores":
            value = detect_number_of_cores()
        elif name in _HOME:
            from importlib import import_module

            value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        elif name in ("compat", "ndarray", "schunk"):  # modules
            from importlib import import_module

            return import_module(f".{name}", __name__)
        elif name in ("core", "storage"):  # modules of Python-Blosc2; what is in them is here
            return sys.modules[__name__]
        else:
            from .compat import explain

            raise AttributeError(explain(name, __all__), name=name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
