"""Facts of the build and the machine, and the few process-wide settings.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import sys
from typing import Any

from . import _ffi, params
from ._ffi import lib, text
from .errors import UnknownCodecError
from .params import Codec, Filter, number_of, to_enum, to_int

__version__: str = text(lib.b2c_version())
VERSION_STRING: str = __version__
VERSION_DATE = "2026-11-20"
blosclib_version = f"{VERSION_STRING} ({VERSION_DATE})"

_FOR_ARRAYS = (Codec.NDLZ, Codec.ZFP_ACC, Codec.ZFP_PREC, Codec.ZFP_RATE)

_settings: dict[str, Any] = {"codec": Codec.BLOSCLZ, "blocksize": 0, "releasegil": False}


# ---- Threads ---------------------------------------------------------------


def get_nthreads() -> int:
    """Threads used where a call or an object does not say how many."""
    return _ffi.threads.nthreads


def set_nthreads(nthreads: int) -> int:
    """Set the default number of threads (1...256); returns the previous one.

    The default at start is the number of usable cores, at most 8, or the environment's
    BLOSC_NTHREADS.  Objects that are open keep their own number.
    """
    nthreads = to_int(nthreads, "nthreads", 1, _ffi.MAX_NTHREADS)
    previous, _ffi.threads.nthreads = _ffi.threads.nthreads, nthreads
    params.cparams_dflts["nthreads"] = params.dparams_dflts["nthreads"] = nthreads
    return previous


def detect_number_of_cores() -> int:
    """Cores that this process may run on."""
    return _ffi.count_cores()


def free_resources() -> None:
    """Stop the worker threads once no context uses them; they start again when needed."""
    _ffi.threads.forget_pool()


def set_releasegil(gilstate: bool) -> bool:
    """Accepted and without effect: the GIL is always released.  Returns the previous value."""
    previous, _settings["releasegil"] = _settings["releasegil"], bool(gilstate)
    return bool(previous)


# ---- Machine ---------------------------------------------------------------


def get_cpu_info() -> dict[str, Any]:
    """Number of usable cores and, where the system tells, the cache sizes in bytes."""
    info: dict[str, Any] = {"count": _ffi.count_cores(), "simd": text(lib.b2c_simd_level())}
    base = "/sys/devices/system/cpu/cpu0/cache"
    for index, name in ((0, "l1_data"), (2, "l2"), (3, "l3")):
        try:
            with open(f"{base}/index{index}/size", encoding="ascii") as file:
                size = file.read().strip()
        except OSError:
            continue
        unit = {"K": 1 << 10, "M": 1 << 20}.get(size[-1:], 1)
        info[f"{name}_cache_size"] = int(size.rstrip("KM")) * unit
    return info


def print_versions() -> None:
    """Print the versions of the package, Python and the codec libraries."""
    print(version_report())


def version_report() -> str:
    """What print_versions() prints."""
    lines = [
        f"blosc2c {__version__} (SIMD: {text(lib.b2c_simd_level())})",
        f"Python  {sys.version.split()[0]} on {sys.platform}, {_ffi.count_cores()} cores",
    ]
    for codec in compressor_list():
        name, version = clib_info(codec)
        lines.append(f"{codec.name.lower():7} {name.decode()} {version.decode()}")
    return "\n".join(lines)


# ---- Codecs ----------------------------------------------------------------


def compressor_list(plugins: bool = False) -> list[Codec]:
    """The codecs for any bytes that are there; with `plugins` all that have a name."""
    return [c for c in Codec if plugins or (c not in _FOR_ARRAYS and lib.b2c_codec_available(c.value))]


def filter_list() -> list[Filter]:
    """The filters for any bytes; two more are for blocks of arrays."""
    return [f for f in Filter if f not in (Filter.NDCELL, Filter.NDMEAN)]


def clib_info(codec: Codec | int | str) -> tuple[bytes, bytes]:
    """``(name, version)`` of the library behind a codec, as bytes.

    Raises UnknownCodecError when this build does not have the codec.
    """
    codec = to_enum(Codec, codec, "codec", user_ids=True)
    number = number_of(codec)
    name = text(lib.b2c_codec_library(number))
    if not name:
        raise UnknownCodecError(f"codec {codec} is not part of this build", field="codec")
    return name.encode(), text(lib.b2c_codec_library_version(number)).encode()


def set_compressor(codec: Codec | int | str) -> int:
    """Set the codec for calls that leave it open, see get_compressor(); returns its number."""
    member = to_enum(Codec, codec, "codec", user_ids=True)
    clib_info(member)
    _settings["codec"] = member
    return number_of(member)


def get_compressor() -> str:
    """Name of the codec that compress() uses with ``codec=None``."""
    return str(_settings["codec"].name.lower())


def default_codec() -> Codec:
    """The member behind get_compressor()."""
    codec: Codec = _settings["codec"]
    return codec


def set_blocksize(blocksize: int = 0) -> None:
    """Set the block size in bytes for compress(); 0 chooses."""
    _settings["blocksize"] = to_int(blocksize, "blocksize", 0, params.MAX_BLOCKSIZE)


def get_blocksize() -> int:
    """The block size in bytes for compress(), 0 when it is chosen."""
    return int(_settings["blocksize"])
