"""Enumerations and parameter sets: what compression, decompression and storage can be told.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from operator import index, is_, itemgetter
from typing import Any, TypeVar

from . import _ffi
from ._ffi import ffi, lib
from .errors import (
    ParameterError,
    RenamedError,
    UnknownCodecError,
    UnknownFilterError,
    UnknownParameterError,
)

MIN_HEADER_LENGTH: int = lib.B2C_MIN_HEADER_LEN
EXTENDED_HEADER_LENGTH: int = lib.B2C_HEADER_LEN
MAX_OVERHEAD: int = lib.B2C_HEADER_LEN
MAX_BUFFERSIZE: int = lib.B2C_MAX_CHUNK_NBYTES
MAX_TYPESIZE: int = lib.B2C_MAX_TYPESIZE
MAX_BLOCKSIZE: int = lib.B2C_MAX_BLOCKSIZE
MAX_DIM: int = lib.B2C_MAX_DIM
MAX_FILTERS: int = lib.B2C_MAX_FILTERS
MAX_COUNT = (1 << 64) - 1  # what C counts chunks, blocks and bytes with
# The last numbers of codecs: of those built in, those of plugins with a known number, those of users.
DEFINED_CODECS_STOP = 31
GLOBAL_REGISTERED_CODECS_STOP = 159
USER_REGISTERED_CODECS_STOP = 255
IS_WASM = sys.platform == "emscripten"


class Codec(Enum):
    """Codecs by their number in the format; from 32 on they are plugins, not built in."""

    BLOSCLZ = 0
    LZ4 = 1
    LZ4HC = 2
    ZLIB = 4
    ZSTD = 5
    NDLZ = 32
    ZFP_ACC = 33
    ZFP_PREC = 34
    ZFP_RATE = 35
    OPENHTJ2K = 36
    GROK = 37
    OPENZL = 38
    J2K = 39
    HTJ2K = 40

    __hash__ = object.__hash__  # members are unique; the inherited one costs 100 ns


class Filter(Enum):
    """Filters by their number in the format; from 32 on they are plugins, not built in."""

    NOFILTER = 0
    SHUFFLE = 1
    BITSHUFFLE = 2
    DELTA = 3
    TRUNC_PREC = 4
    NDCELL = 32
    NDMEAN = 33
    BYTEDELTA = 35
    INT_TRUNC = 36

    __hash__ = object.__hash__


class SplitMode(Enum):
    """Whether the bytes of an item go to separate streams."""

    ALWAYS_SPLIT = 1
    NEVER_SPLIT = 2
    AUTO_SPLIT = 3
    FORWARD_COMPAT_SPLIT = 4


class SpecialValue(Enum):
    """Contents of chunks that are stored as a header only."""

    NOT_SPECIAL = 0
    ZERO = 1
    NAN = 2
    VALUE = 3
    UNINIT = 4


class Tuner(Enum):
    """Who chooses parameters that are left open; BTUNE is a plugin, not built in."""

    STUNE = 0
    BTUNE = 32


_E = TypeVar("_E", bound=Enum)

_ALIASES = {"NONE": "NOFILTER", "ALWAYS": "ALWAYS_SPLIT", "NEVER": "NEVER_SPLIT",
            "AUTO": "AUTO_SPLIT", "FORWARD_COMPAT": "FORWARD_COMPAT_SPLIT"}  # fmt: skip


def suggestion(word: str, known: Iterable[str]) -> str:
    """'; did you mean x?' when one of `known` looks like `word`, else ''."""
    import difflib

    near = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def check_deserialize(deserialize: str | None) -> None:
    """Accept what Python-Blosc2 accepts; reading a value is safe here, so there is nothing to choose."""
    if deserialize not in (None, "safe", "full"):
        raise ParameterError(
            f"deserialize must be 'safe' or 'full', not {deserialize!r}", field="deserialize"
        )


_NOT_OFFERED = {
    "dataset": "HDF5",
    "hdf5_index": "HDF5",
    "shared_cache": "remote data",
    "storage_options": "remote data",
}


def check_device(device: str | None) -> None:
    """ParameterError for a device of the array API that there is not."""
    if device != "cpu":
        raise ParameterError(f"the only device is 'cpu', not {device!r}", field="device")


def drop_device(kwargs: dict[str, Any]) -> None:
    """Take the keyword of the array API out that says where to make an array; None leaves it open."""
    device = kwargs.pop("device", None)
    if device is not None:
        check_device(device)


def drop_not_offered(kwargs: dict[str, Any]) -> None:
    """Take keywords out that Python-Blosc2 has for what is not here; ParameterError if they ask for it."""
    for name in _NOT_OFFERED.keys() & kwargs:
        if kwargs.pop(name) not in (None, False):
            raise ParameterError(f"{name} is for {_NOT_OFFERED[name]}, which is not offered", field=name)


_RENAMED = {"compcode": "codec", "shuffle": "filters"}


def reject_unknown(
    given: Iterable[str], known: Sequence[str], where: str, error: type[Exception] = UnknownParameterError
) -> None:
    """Raise `error` for the first name in `given` that is not in `known`, RenamedError if it once was."""
    for name in given:
        if name not in known:
            if _RENAMED.get(name) in known:
                raise RenamedError(f"{name} is called {_RENAMED[name]} now", field=name)
            if "cparams" in known and name in field_names(CParams):
                hint = f"; pass cparams={{{name!r}: ...}}"
            else:
                hint = suggestion(name, list(known))
            raise error(f"{where} has no parameter {name!r}{hint}")


def to_enum(kind: type[_E], value: Any, name: str, *, user_ids: bool = False) -> _E | int:
    """The member that `value` (member, number or name) means; user-defined numbers stay int."""
    if isinstance(value, kind):
        return value
    error: type[ParameterError] = {"codec": UnknownCodecError, "filters": UnknownFilterError}.get(
        name, ParameterError
    )
    if isinstance(value, str):
        word = value.upper().replace("-", "_")
        word = _ALIASES.get(word, word)
        if word in kind.__members__:
            return kind[word]
        names = [member.name.lower() for member in kind]
        hint = suggestion(value.lower(), names)
        raise error(f"unknown {kind.__name__.lower()} {value!r}{hint}", field=name)
    number = to_int(value, name, 0, 255)
    try:
        return kind(number)
    except ValueError:
        if user_ids:
            return number
        raise error(f"{name} {number} is not one of {[m.value for m in kind]}", field=name) from None


def to_index(value: Any, name: str) -> int:
    """`value` as an int; TypeError for what is none."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def to_int(value: Any, name: str, low: int, high: int) -> int:
    """`value` as an int between `low` and `high`, both included."""
    number = to_index(value, name)
    if not low <= number <= high:
        raise ParameterError(f"{name} must be between {low} and {high}, not {number}", field=name)
    return number


def _to_list(values: Any, name: str) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list, not {type(values).__name__}") from None


def number_of(member: Any) -> int:
    """The stored number of an enum member or user-defined ID."""
    return int(member._value_ if isinstance(member, Enum) else member)  # value is a slow property


def _default_nthreads() -> int:
    return _ffi.threads.nthreads


def _default_filters() -> list[Filter]:
    return [Filter.NOFILTER] * (MAX_FILTERS - 1) + [Filter.SHUFFLE]


_CPARAMS = ffi.typeof("b2c_cparams *")
_ONE_FILTER = (Filter, str)  # making a union each time takes longer than asking


@dataclass
class CParams:
    """How data is compressed.

    Parameters
    ----------
    codec : Codec, its number, or its name ("zstd")
    codec_meta : 0...255, parameter of codecs that have one
    clevel : 0...9; 0 stores
    use_dict : train a dictionary per chunk (zstd, lz4, lz4hc)
    typesize : bytes of an item
    nthreads : threads that compress one chunk
    blocksize : bytes of a block, 0 chooses
    splitmode : SplitMode, its number, or its name
    filters : up to 6 of Filter, number or name, first applied first; a single one is accepted
    filters_meta : -128...255 for each filter
    tuner : Tuner.STUNE

    Raises
    ------
    ParameterError (a ValueError and RuntimeError), TypeError
    """

    codec: Codec | int | str = Codec.ZSTD
    codec_meta: int = 0
    clevel: int = 5
    use_dict: bool = False
    typesize: int = 8
    nthreads: int = field(default_factory=_default_nthreads)
    blocksize: int = 0
    splitmode: SplitMode | int | str = SplitMode.AUTO_SPLIT
    filters: Sequence[Filter | int | str] | Filter | str = field(default_factory=_default_filters)
    filters_meta: Sequence[int] = field(default_factory=lambda: [0] * MAX_FILTERS)
    tuner: Tuner | int | str = Tuner.STUNE

    _checked = None  # the fields when they were right; of the lists among them copies
    _c = None  # type: Any  # the b2c_cparams of these, once it was asked for; no field

    def __post_init__(self) -> None:
        self.codec = to_enum(Codec, self.codec, "codec", user_ids=True)
        self.codec_meta = to_int(self.codec_meta, "codec_meta", 0, 255)
        self.clevel = to_int(self.clevel, "clevel", 0, 9)
        self.use_dict = bool(self.use_dict)
        self.typesize = to_int(self.typesize, "typesize", 1, MAX_TYPESIZE)
        self.nthreads = to_int(self.nthreads, "nthreads", 1, _ffi.MAX_NTHREADS)
        self.blocksize = to_int(self.blocksize, "blocksize", 0, MAX_BLOCKSIZE)
        self.splitmode = to_enum(SplitMode, self.splitmode, "splitmode")
        self._check_filters()
        self.tuner = to_enum(Tuner, self.tuner, "tuner")
        if self.tuner is not Tuner.STUNE:
            raise ParameterError("tuner BTUNE is a plugin that is not available", field="tuner")
        self._keep_checked()

    def _keep_checked(self) -> None:
        self._checked = _cparams_fields(self.__dict__), [*self.filter_members()], [*self.filters_meta]
        self._c = None

    def _is_checked(self) -> bool:
        """Whether all fields are the very objects that were right."""
        if self._checked is None:
            return False
        values, *lists = self._checked
        return all(map(is_, values, _cparams_fields(self.__dict__))) and all(
            type(now) is list and len(now) == len(then) and all(map(is_, now, then))
            for now, then in zip((self.filters, self.filters_meta), lists, strict=True)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_checked", "_c")}

    def _check_filters(self) -> None:
        given = self.filters
        filters = [given] if isinstance(given, _ONE_FILTER) else _to_list(given, "filters")
        if len(filters) > MAX_FILTERS:
            raise ParameterError(f"at most {MAX_FILTERS} filters, not {len(filters)}", field="filters")
        self.filters = [
            f if type(f) is Filter else to_enum(Filter, f, "filters", user_ids=True) for f in filters
        ]
        # Negative ones, which some filters take, are stored as their last 8 bits.
        metas = [
            meta if type(meta) is int and 0 <= meta < 256 else to_int(meta, "filters_meta", -128, 255) & 255
            for meta in _to_list(self.filters_meta, "filters_meta")
        ]
        if len(metas) < len(filters):
            raise ParameterError(
                f"{len(filters)} filters need as many filters_meta, not {len(metas)}",
                field="filters_meta",
            )
        self.filters_meta = metas[: len(filters)]
        bytedelta = Filter.BYTEDELTA  # looking it up takes as long as the rest of this
        for i, kind in enumerate(self.filters):
            if kind is bytedelta and not self.filters_meta[i]:
                self.filters_meta[i] = min(self.typesize, 255)

    def copied(self) -> CParams:
        """Another one, whose fields are checked if they have changed since construction."""
        if self._is_checked():
            return self.twin()
        made = CParams.__new__(CParams)
        made.__dict__.update(self.__dict__)
        made.__post_init__()  # which also makes lists of its own
        return made

    def twin(self) -> CParams:
        """Another one with these fields, of which nobody has changed any."""
        made = CParams.__new__(CParams)
        made.__dict__.update(self.__dict__)
        made.filters, made.filters_meta = [*self.filter_members()], [*self.filters_meta]
        return made

    def filter_members(self) -> list[Filter | int]:
        """The filters as members, or numbers for user-defined ones."""
        return self.filters  # type: ignore[return-value]

    def to_c(self) -> Any:
        """A b2c_cparams, not to be changed; fields changed since construction are checked again."""
        if not self._is_checked():
            self.__post_init__()
        return self.compiled()[0]

    def compiled(self) -> tuple[Any, int]:
        """A b2c_cparams, not to be changed, and the number of threads; the fields stay as they are."""
        if not self._is_checked():
            return self.copied().compiled()
        if self._c is None:
            self._c = self._made()
        return self._c, self.nthreads

    def _made(self) -> Any:
        c = ffi.new("b2c_cparams *")
        lib.b2c_cparams_init(c)
        c.codec = number_of(self.codec)
        c.codec_meta = self.codec_meta
        c.clevel = self.clevel
        c.use_dict = self.use_dict
        c.typesize = self.typesize
        c.blocksize = self.blocksize
        c.splitmode = number_of(self.splitmode)
        # Like the other implementation, a short list fills the first slots.
        unused = [0] * (MAX_FILTERS - len(self.filters_meta))
        c.filters = [*map(number_of, self.filter_members()), *unused]
        c.filters_meta = [*self.filters_meta, *unused]
        return c

    @staticmethod
    @functools.lru_cache(maxsize=256)  # it takes as long as making a small array
    def from_bytes(told: bytes, nthreads: int) -> CParams:
        """The parameters in the bytes of a b2c_cparams; shared, and not to be changed."""
        c = ffi.new(_CPARAMS, ffi.from_buffer(_CPARAMS, told)[0])
        made = _Shared(
            codec=c.codec,
            codec_meta=c.codec_meta,
            clevel=c.clevel,
            use_dict=bool(c.use_dict),
            typesize=c.typesize,
            nthreads=nthreads,
            blocksize=c.blocksize,
            splitmode=c.splitmode,
            filters=list(c.filters),
            filters_meta=list(c.filters_meta),
        )
        made._c = c
        return made


class _Shared(CParams):
    """Parameters that nobody changes, and so stay right."""

    def _is_checked(self) -> bool:
        return True


_cparams_fields = itemgetter(*(f.name for f in fields(CParams) if not f.name.startswith("filters")))


@dataclass
class DParams:
    """How data is decompressed: the number of threads."""

    nthreads: int = field(default_factory=_default_nthreads)

    def __post_init__(self) -> None:
        self.nthreads = to_int(self.nthreads, "nthreads", 1, _ffi.MAX_NTHREADS)


MODES = ("r", "a", "w")


_MMAP_MODES = {"r": "r", "r+": "a", "w+": "w", "c": "a"}


def mode_for(mode: str, mmap_mode: str | None) -> str:
    """The mode that `mmap_mode` stands for, or `mode` when that is None."""
    if mmap_mode is None:
        return mode
    if mmap_mode not in _MMAP_MODES:
        raise ParameterError(
            f"mmap_mode must be one of {tuple(_MMAP_MODES)}, not {mmap_mode!r}", field="mmap_mode"
        )
    return _MMAP_MODES[mmap_mode]


@dataclass
class Storage:
    """Where data is kept.

    Parameters
    ----------
    contiguous : one frame (file) rather than a directory or list of chunks;
        None: True when there is a `urlpath`
    urlpath : path of the file or directory, None for memory
    mode : "r" what is there, "a" (or None) create, "w" replace; in memory only SChunk() heeds it
    mmap_mode : "r", "r+", "w+" or "c": stand for the modes "r", "a", "w" and "a", and the file is
        read through a mapping; "r+" and "c" are for what is there, and with "c" changes stay in memory
    initial_mapping_size : a positive number for the other modes than "r", without effect
    locking : for a `urlpath`: take turns with other handles and processes that ask for it: every call waits for the
        lock file beside the data, and sees what others have stored; also with the environment
        variable BLOSC_LOCKING set to 1
    meta : fixed metalayers, a mapping of names (31 bytes at most) to msgpack-able values
    """

    contiguous: bool | None = None
    urlpath: str | bytes | os.PathLike[str] | None = None
    mode: str | None = "a"
    mmap_mode: str | None = None
    initial_mapping_size: int | None = None
    locking: bool = False
    meta: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.contiguous is None:
            self.contiguous = self.urlpath is not None
        if self.urlpath is not None:
            self.urlpath = to_path(self.urlpath)
        if self.meta is not None and not isinstance(self.meta, Mapping):
            raise TypeError(f"meta must be a mapping of names to values, not {type(self.meta).__name__}")
        self.mode = "a" if self.mode is None else self.mode
        if self.mode not in MODES:
            raise ParameterError(f"mode must be one of {MODES}, not {self.mode!r}", field="mode")

    @property
    def path(self) -> str | None:
        """The urlpath as str."""
        return None if self.urlpath is None else to_path(self.urlpath)


@dataclass
class Keeping(Storage):
    """Storage and how safely it is kept; internal, so that Storage has the incumbent's fields.

    What does not go together is refused here: Python-Blosc2 lets Storage hold it, and refuses its use.
    """

    durability: str = "process"
    checksums: bool = True
    limits: Any = None  # a Limits, or None: the defaults of C

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mode = mode_for(str(self.mode), self.mmap_mode)
        if self.mmap_mode is not None and not (self.contiguous and self.urlpath is not None):
            raise ParameterError("mmap_mode needs a urlpath and a contiguous frame", field="mmap_mode")
        check_mapping(self.mmap_mode, self.locking, self.initial_mapping_size)
        if self.locking and self.urlpath is None:
            raise ParameterError("locking needs a urlpath", field="locking")
        if self.urlpath is not None:
            self.locking = wants_lock(self.locking, self.mmap_mode)
        check_durability(self.durability)


_kept_keeping: tuple[dict[str, Any], Keeping] | None = None


def default_keeping() -> Keeping:
    """Where data is kept of which nothing is told; shared, and not to be changed."""
    global _kept_keeping
    if _kept_keeping is None or _kept_keeping[0] != storage_dflts:
        _kept_keeping = dict(storage_dflts), Keeping(**{**storage_dflts, "contiguous": None})
    return _kept_keeping[1]


DURABILITY: dict[str, int] = {
    "none": lib.B2C_DURABILITY_NONE,
    "process": lib.B2C_DURABILITY_PROCESS,
    "commit": lib.B2C_DURABILITY_COMMIT,
}


def wants_lock(locking: bool | None, mmap_mode: str | None) -> bool:
    """Whether to take turns; the environment variable BLOSC_LOCKING asks for it everywhere."""
    return bool(locking) or (mmap_mode is None and _ffi.calls.wants_lock())


def check_mapping(mmap_mode: str | None, locking: bool, initial_mapping_size: Any) -> None:
    """Refuse what the incumbent refuses: a mapping with a lock, a size of none or of one for reading."""
    if mmap_mode is not None and locking:
        raise ParameterError("mmap_mode and locking do not go together", field="locking")
    if initial_mapping_size is None:
        return
    if mmap_mode in (None, "r"):
        raise ParameterError(
            "initial_mapping_size goes with mmap_mode 'r+', 'w+' or 'c'", field="initial_mapping_size"
        )
    to_int(initial_mapping_size, "initial_mapping_size", 1, (1 << 63) - 1)


def check_durability(level: Any) -> int:
    """The number of a level of durability."""
    if level not in DURABILITY:
        raise ParameterError(
            f"durability must be one of {list(DURABILITY)}, not {level!r}", field="durability"
        )
    return DURABILITY[level]


_PATHS = (str, bytes, os.PathLike)


def to_path(urlpath: str | bytes | os.PathLike[str], name: str = "urlpath") -> str:
    """A path as str, without slashes at its end; bytes and os.PathLike are accepted, URLs are refused."""
    if not isinstance(urlpath, _PATHS):
        raise TypeError(f"{name} must be str, bytes or os.PathLike, not {type(urlpath).__name__}")
    path = os.fsdecode(urlpath)
    if "://" in path:
        raise ParameterError(f"{path!r} is a URL; only local paths can be opened", field="urlpath")
    if "\0" in path:
        raise ParameterError("a path cannot contain a null character", field="urlpath")
    return path.rstrip("/") or path  # with them a link would be what it leads to


def absolute(path: str) -> str:
    """The path of the same place when the working directory is another one.

    Not normalized: after a symbolic link to a directory, ".." is not the directory before it.
    """
    return path if path.startswith("/") else os.path.join(os.getcwd(), path)


def folder_of(path: str) -> str:
    """The directory that `path` is in, for tempfile, which takes ".." away by its text alone."""
    return os.path.realpath(os.path.dirname(path) or ".")


@functools.cache
def field_names(cls: type) -> tuple[str, ...]:
    """Names of the fields of a dataclass, in order."""
    return tuple(f.name for f in fields(cls))


def storage_fields(storage: Any) -> dict[str, Any]:
    """The fields of a Storage, or of a dict of some of them."""
    if isinstance(storage, Storage):
        return asdict(storage)
    if not isinstance(storage, Mapping):
        raise TypeError(f"storage must be a Storage or a dict, not {type(storage).__name__}")
    return dict(storage)


# What the default parameters of former versions of Python-Blosc2 held as well, as None.
_FORMER = frozenset({"schunk", "prefilter", "preparams", "postfilter", "postparams"})


def _without_former(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None or name not in _FORMER}


def _told(value: Mapping[str, Any] | None, name: str, cls: type) -> dict[str, Any]:
    """The fields in a dict of parameters, checked for their names."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a {cls.__name__} or a dict, not {type(value).__name__}")
    told = _without_former(value)
    reject_unknown(told, field_names(cls), cls.__name__)
    return told


def to_cparams(value: CParams | Mapping[str, Any] | None, **defaults: Any) -> CParams:
    """A fresh CParams from an object or a dict of some of its fields."""
    if isinstance(value, CParams):
        return value.copied()
    told = _told(value, "cparams", CParams)
    given = {**cparams_dflts, **defaults, **told}
    if "filters" in told and "filters_meta" not in told:
        given["filters_meta"] = [0] * MAX_FILTERS
    made = CParams(**given)
    if "filters_meta" in told and len(told["filters_meta"]) != len(made.filter_members()):
        raise ParameterError("filters and filters_meta must have the same length", field="filters_meta")
    return made


_kept_dparams = DParams()


def default_dparams() -> DParams:
    """Shared, and not to be changed: making them is 1 µs of opening a file."""
    global _kept_dparams
    if _kept_dparams.nthreads != dparams_dflts["nthreads"]:
        _kept_dparams = DParams(**dparams_dflts)
    return _kept_dparams


def to_dparams(value: DParams | Mapping[str, Any] | None) -> DParams:
    """A DParams, not to be changed, from an object or a dict of some of its fields."""
    if isinstance(value, DParams):
        return DParams(value.nthreads)
    if value is None:
        return default_dparams()
    return DParams(**{**dparams_dflts, **_told(value, "dparams", DParams)})


def one_form(kwargs: dict[str, Any], name: str, where: str, cls: type) -> Any:
    """The parameters in keywords: those themselves, or the value of the only one, called `name`."""
    if name in kwargs:
        if len(kwargs) > 1:
            raise AttributeError(f"{where} takes {name} or its fields as keywords, not both")
        return kwargs[name]
    told = _without_former(kwargs)
    reject_unknown(told, field_names(cls), where)
    return told


# ---- The C form of keywords, kept: making it costs more than compressing 4 kB ----

_compiled: dict[Any, tuple[Any, int]] = {}
_compiled_with: dict[str, Any] = {}  # the defaults of that time
_MAX_COMPILED = 256


def _key(given: dict[str, Any]) -> list[Any]:
    """Equal only for equal parameters; with types, because 1, 1.0 and True are equal numbers."""
    key = [len(given), *given]
    for value in given.values():
        kind = type(value)
        key.append(kind)
        if kind is list or kind is tuple:
            key.append(len(value))
            key += value
            key += map(type, value)
        elif kind is CParams or kind is dict:
            key += _key(
                value if kind is dict else {name: getattr(value, name) for name in field_names(CParams)}
            )
        else:
            key.append(value)
    return key


def compiled_cparams(kwargs: dict[str, Any]) -> tuple[Any, int]:
    """``(b2c_cparams *, nthreads)`` for keywords of CParams or ``cparams=``; not to be changed."""
    global _compiled_with
    if cparams_dflts != _compiled_with:
        _compiled.clear()
        _compiled_with = {k: list(v) if isinstance(v, list) else v for k, v in cparams_dflts.items()}
    key: tuple[Any, ...] | None = tuple(_key(kwargs))
    try:
        kept = _compiled.get(key)
    except TypeError:  # something that cannot be hashed, and is probably wrong
        key = kept = None
    if kept is None:
        kept = to_cparams(one_form(kwargs, "cparams", "compress2()", CParams)).compiled()
        if key is not None:
            if len(_compiled) >= _MAX_COMPILED:
                _compiled.clear()
            _compiled[key] = kept
    return kept


def compiled_for(value: CParams | Mapping[str, Any] | None, typesize: int) -> tuple[Any, int]:
    """compiled_cparams() of one object or dict, whose typesize is this one where it tells none."""
    if isinstance(value, CParams):
        return value.compiled()
    if value is None or type(value) is dict:
        return compiled_cparams({"cparams": {"typesize": typesize, **(value or {})}})
    return to_cparams(value, typesize=typesize).compiled()


def sized(told: bytes, typesize: int, blocksize: int) -> Any:
    """The b2c_cparams of these bytes with other sizes."""
    c = ffi.new(_CPARAMS, ffi.from_buffer(_CPARAMS, told)[0])
    c.typesize = to_int(typesize, "typesize", 1, MAX_TYPESIZE)
    c.blocksize = to_int(blocksize, "blocksize", 0, MAX_BLOCKSIZE)
    return c


cparams_dflts: dict[str, Any] = asdict(CParams())
dparams_dflts: dict[str, Any] = asdict(DParams())
storage_dflts: dict[str, Any] = asdict(Storage())
