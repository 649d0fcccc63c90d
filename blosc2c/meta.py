"""Metalayers: small named values that travel with a super-chunk, stored as msgpack.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from . import _ffi
from . import packed as packed_values
from ._ffi import check, check_call, ffi, lib, new_error
from .errors import ClosedError, CorruptError, FormatError, LimitError, NotFoundError, ParameterError
from .limits import of
from .synonyms import VLMetaSynonyms

if TYPE_CHECKING:
    from .schunk import SChunk

_MAX_NAME_LEN: int = lib.B2C_MAX_NAME_LEN


class Stored(bytes):
    """The bytes of a metalayer in the place of its value: they may be no msgpack, or that of another writer."""


def encode(value: Any) -> bytes:
    """`value` as msgpack; TypeError for what a metalayer cannot hold."""
    return value if type(value) is Stored else packed_values.pack(value)


def decode(stored: bytes, name: str, schunk: SChunk) -> Any:
    """The value of a metalayer; CorruptError when the bytes hold none, LimitError when it is too much."""
    where = f" ({schunk.urlpath})" if schunk.urlpath else ""
    try:
        return packed_values.unpack(stored, schunk.handle.limits, max(max_meta_nbytes(schunk) // 16, 64))
    except LimitError as exc:
        raise LimitError(
            f"the value of metalayer {name!r}: {exc}{where}",
            path=schunk.urlpath,
            field=exc.field,
            expected=exc.expected,
            actual=exc.actual,
        ) from None
    except packed_values.UNPACK_ERRORS as exc:
        raise CorruptError(
            f"the value of metalayer {name!r} cannot be read: {exc}{where}",
            path=schunk.urlpath,
            field=name,
            offset=_where(stored, exc),
        ) from None


def _where(stored: bytes, exc: BaseException) -> int | None:
    """The byte of a value at which its msgpack ends too early or too late."""
    extra = getattr(exc, "extra", None)  # of msgpack.ExtraData
    if isinstance(extra, bytes | bytearray):
        return len(stored) - len(extra)
    return len(stored) if "incomplete input" in str(exc) else None


# Of arrays of 16 dimensions: where the markers of the three lists stand in their metalayer.
_ARRAY_META, _MARKERS_AT, _MARKER = b"b2nd", (3, 148, 229), b"\xa0"


def _as_msgpack(stored: bytes, name: str) -> bytes:
    """The stored bytes, with valid markers where the format asks for others (docs/format/b2nd.md)."""
    if len(stored) <= _MARKERS_AT[-1] or _key(name) != _ARRAY_META:
        return stored
    if any(stored[at : at + 1] != _MARKER for at in _MARKERS_AT):
        return stored
    shape, chunks, blocks = _MARKERS_AT
    parts = stored[:shape], stored[shape + 1 : chunks], stored[chunks + 1 : blocks], stored[blocks + 1 :]
    return b"\xdc\x00\x10".join(parts)


def check_name(name: Any) -> bytes:
    """A metalayer's name, a str or UTF-8, as the format stores it."""
    if not isinstance(name, str | bytes):
        raise TypeError(f"the name of a metalayer is a str, not {type(name).__name__}")
    try:
        text = name if isinstance(name, str) else name.decode()
        stored = text.encode(errors="surrogateescape")
    except UnicodeError as exc:
        raise ParameterError(f"{name!r} cannot be the name of a metalayer: {exc}", field="name") from None
    if len(stored) > _MAX_NAME_LEN or b"\0" in stored:
        raise ParameterError(
            f"the name of a metalayer has at most {_MAX_NAME_LEN} bytes, none of them zero: {name!r}",
            field="name",
        )
    return stored


def printable(name: str) -> str:
    """A name from a file as a terminal may get it: empty or of what would act on it, as in Python."""
    return name if name and name.isprintable() else repr(name)


def in_one_line(text: str) -> str:
    """The same for a text with names in it, such as that of an exception."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _key(name: object) -> bytes | None:
    """The name of a metalayer that may be there; None for what cannot be one."""
    try:
        return check_name(name)
    except (TypeError, ValueError):
        return None


def _get_name(getter: Any, ptr: Any, i: int, path: str | None) -> str:
    room, err = ffi.new("char[32]"), new_error()
    check(getter(ptr, i, room, err), err, path)
    return bytes(ffi.string(room)).decode(errors="surrogateescape")


def _show(mapping: Mapping[str, Any]) -> str:
    try:
        values: dict[str, Any] = mapping[:]  # type: ignore[index]
    except (ClosedError, ReferenceError) as exc:
        return f"{type(mapping).__name__}({exc})"
    return "{" + ", ".join(f"{name!r}: {shown(value)}" for name, value in values.items()) + "}"


def shown(value: Any) -> str:
    """repr(), also of arrays that NumPy cannot show: of texts that are none, of dates without a unit."""
    try:
        return repr(value)
    except Exception as exc:  # whatever NumPy raises
        return f"<{type(value).__name__} that cannot be shown: {exc}>"


def find_meta(ptr: Any, name: str, path: str | None) -> bytes | None:
    """The stored bytes of a fixed metalayer, or None, for who holds the handle."""
    key = _key(name)
    if key is None:
        return None
    _, scratch, need, err, is_taken = _ffi.small_call()
    status = lib.b2c_schunk_meta_get(ptr, key, scratch, _ffi.SMALL_NBYTES, need, err)
    found, nbytes = None, need[0]
    if status == lib.B2C_OK:
        found = bytes(ffi.buffer(scratch, nbytes))
    is_taken[0] = False
    if status in (lib.B2C_OK, lib.B2C_E_NOT_FOUND):
        return found
    return _ffi.sized_bytes(
        lambda dst, cap, need, err: int(lib.b2c_schunk_meta_get(ptr, key, dst, cap, need, err)),
        nbytes,
        path,
    )


class Meta(Mapping[str, Any]):
    """The fixed metalayers of a super-chunk: named at its creation, of constant length.

    ``meta["name"] = value`` replaces a value by one whose msgpack has the same length;
    ``meta[:]`` is a dict of all.
    """

    def __init__(self, schunk: SChunk) -> None:
        self._schunk = schunk

    def raw(self, name: str) -> bytes:
        """The stored bytes of a metalayer; NotFoundError (a KeyError) when there is none."""
        stored = self.find(name)
        if stored is None:
            raise NotFoundError(f"there is no metalayer {name!r}")
        return stored

    def find(self, name: str) -> bytes | None:
        """raw(), or None when there is none."""
        found = self._schunk.handle.calls.get_meta(name)
        if type(found) is bytes:
            return found
        with self._schunk.handle as ptr:
            return find_meta(ptr, name, self._schunk.urlpath)

    def __getitem__(self, name: str | slice) -> Any:
        if isinstance(name, slice):
            return self.getall() if name == slice(None) else _refuse_slice()
        return decode(_as_msgpack(self.raw(name), name), name, self._schunk)

    def __setitem__(self, name: str, value: Any) -> None:
        schunk, packed = self._schunk, encode(value)
        before = len(self.raw(name))
        if len(packed) != before:
            raise ParameterError(
                f"metalayer {name!r} has {before} bytes and the new value {len(packed)}; "
                "the length is fixed, use vlmeta for values that change",
                expected=before,
                actual=len(packed),
            )
        schunk._edit(lib.b2c_schunk_meta_update, check_name(name), packed, len(packed))

    def __delitem__(self, name: str) -> None:
        raise NotImplementedError("fixed metalayers cannot be removed; use vlmeta for what may be")

    def __iter__(self) -> Iterator[str]:
        schunk = self._schunk
        with schunk.handle as ptr:
            n = schunk.c_info(ptr).nmeta
            names = [_get_name(lib.b2c_schunk_meta_name, ptr, i, schunk.urlpath) for i in range(n)]
        return iter(names)

    def __len__(self) -> int:
        return int(self._schunk.c_info().nmeta)

    def __contains__(self, name: object) -> bool:
        found = self._schunk.handle.calls.has_meta(name)
        if type(found) is bool:
            return found
        key, need = _key(name), ffi.new("size_t *")
        if key is None:
            return False
        with self._schunk.handle as ptr:
            status = lib.b2c_schunk_meta_get(ptr, key, ffi.NULL, 0, need, ffi.NULL)
        return bool(status != lib.B2C_E_NOT_FOUND)

    def keys(self) -> list[str]:  # type: ignore[override]
        """All names; a list, as in Python-Blosc2."""
        return list(self)

    def getall(self) -> dict[str, Any]:
        """All values by name."""
        return {name: self[name] for name in self}

    def __repr__(self) -> str:
        return _show(self)


class VLMeta(VLMetaSynonyms, MutableMapping[str, Any]):
    """The variable-length metalayers of a super-chunk: the place for a user's attributes.

    ``vlmeta[:]`` is a dict of all.  The mapping does not keep the super-chunk alive:
    ReferenceError is raised when that is gone.  Each assignment is a commit, which writes all of them;
    update() stores many at once.
    """

    def __init__(self, schunk: SChunk) -> None:
        self._owner = weakref.ref(schunk)

    def _schunk(self) -> SChunk:
        schunk = self._owner()
        if schunk is None:
            raise ReferenceError("the SChunk or NDArray that this vlmeta belongs to is gone")
        return schunk

    def __getitem__(self, name: str | slice) -> Any:
        if isinstance(name, slice):
            return self.getall() if name == slice(None) else _refuse_slice()
        schunk = self._schunk()
        found = schunk.handle.calls.get_vlmeta(name)
        return decode(found if type(found) is bytes else self._raw(name, found), name, schunk)

    def raw(self, name: str) -> bytes:
        """The bytes of a vlmetalayer; NotFoundError (a KeyError) when there is none."""
        found = self._schunk().handle.calls.get_vlmeta(name)
        return found if type(found) is bytes else self._raw(name, found)

    def _raw(self, name: str, given: Any) -> bytes:
        """raw() after a short call that has given no bytes."""
        schunk, key = self._schunk(), _key(name)
        if key is None:
            raise NotFoundError(f"there is no vlmetalayer {name!r}")
        try:
            check_call(given, schunk.urlpath)
            ctx = _ffi.context(1)
            with schunk.handle as ptr:
                return _ffi.sized_bytes(
                    lambda dst, cap, need, err: int(
                        lib.b2c_schunk_vlmeta_get(ptr, ctx, key, dst, cap, need, err)
                    ),
                    _ffi.SMALL_NBYTES,
                    schunk.urlpath,
                )
        except NotFoundError:
            raise NotFoundError(f"there is no vlmetalayer {name!r}") from None
        except LimitError as exc:
            raise _too_large(f"vlmetalayer {name!r} decodes", exc.actual, exc.expected, schunk) from None
        except FormatError as exc:
            exc.message = f"vlmetalayer {name!r}: {exc.message}"
            exc.args = (exc.message,)
            raise

    def get_names(self) -> list[str]:
        """All names."""
        return list(self)

    def __setitem__(self, name: str | slice, value: Any) -> None:
        if isinstance(name, slice):
            if name != slice(None):
                _refuse_slice()
            self.update(value)
            return
        self._set(name, encode(value))

    def _set(self, name: str, packed: bytes) -> None:
        schunk = self._schunk()
        is_set = schunk.handle.calls.set_vlmeta(name, packed)
        if is_set is True:
            return
        check_call(is_set, schunk.urlpath)
        schunk._edit(lib.b2c_schunk_vlmeta_set, _ffi.context(1), check_name(name), packed, len(packed))

    def __delitem__(self, name: str) -> None:
        key = _key(name)
        if key is None:
            raise NotFoundError(f"there is no vlmetalayer {name!r}")
        try:
            schunk = self._schunk()
            is_deleted = schunk.handle.calls.set_vlmeta(name)
            if is_deleted is True:
                return
            check_call(is_deleted, schunk.urlpath)
            schunk._edit(lib.b2c_schunk_vlmeta_delete, key)
        except NotFoundError:
            raise NotFoundError(f"there is no vlmetalayer {name!r}") from None

    def __iter__(self) -> Iterator[str]:
        schunk = self._schunk()
        info, kept = schunk.c_info(), schunk.kept_names
        if kept is None or kept[0] is not info:  # there may be thousands, each a call of C
            with schunk.handle as ptr:
                n, getter = schunk.c_info(ptr).nvlmeta, lib.b2c_schunk_vlmeta_name
                names = [_get_name(getter, ptr, i, schunk.urlpath) for i in range(n)]
            schunk.kept_names = kept = info, names
        return iter(kept[1])

    def __len__(self) -> int:
        schunk = self._schunk()
        n: int | None = schunk.handle.calls.nvlmeta
        return int(schunk.c_info().nvlmeta) if n is None else n

    def __contains__(self, name: object) -> bool:
        schunk = self._schunk()
        found = schunk.handle.calls.has_vlmeta(name)
        if type(found) is bool:
            return found
        key = _key(name)
        if key is None:
            return False
        need, ctx = ffi.new("size_t *"), _ffi.context(1)
        with schunk.handle as ptr:
            status = lib.b2c_schunk_vlmeta_get(ptr, ctx, key, ffi.NULL, 0, need, ffi.NULL)
        return bool(status != lib.B2C_E_NOT_FOUND)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As dict.update(), all in one commit: none of them is stored when one cannot be."""
        values = {}
        for name, value in dict(*args, **kwargs).items():
            check_name(name)
            values[name] = encode(value)
        with self._schunk().transaction():
            old = {name for name in values if name in self}
            added: list[str] = []
            try:
                # New ones first, for there may be too many of them: those are removed again, as a
                # transaction around this one goes on when somebody catches the exception in it.
                for name in sorted(values, key=old.__contains__):
                    self._set(name, values[name])
                    if name not in old:
                        added.append(name)
            except BaseException:
                for name in reversed(added):
                    del self[name]
                raise

    def take_over(self, source: VLMeta) -> None:
        """update() by all of another super-chunk, as they are stored; LimitError as getall()."""
        if len(source):  # mostly there are none, and an update is a transaction
            self.update({name: Stored(packed) for name, packed in source.each()})

    def clear(self) -> None:
        """Remove all of them in one commit."""
        with self._schunk().transaction():
            for name in reversed(list(self)):
                del self[name]

    def getall(self) -> dict[str, Any]:
        """All values by name; LimitError when they decode to more than one vlmetalayer may."""
        return {name: decode(packed, name, self._schunk()) for name, packed in self.each()}

    def to_dict(self) -> dict[bytes, Any]:
        """All values by name, which is bytes here, as in Python-Blosc2; see getall()."""
        return {check_name(name): value for name, value in self.getall().items()}

    def each(self) -> list[tuple[str, bytes]]:
        """Names and bytes of all in one state, together no more bytes than those of one: else LimitError."""
        nbytes, schunk, found = 0, self._schunk(), []
        most = max_meta_nbytes(schunk)
        with schunk.handle:
            for name in self:
                packed = self.raw(name)
                nbytes += len(packed)
                if nbytes > most:
                    raise _too_large("all vlmetalayers up to " + repr(name) + " decode", nbytes, most, schunk)
                found.append((name, packed))
        return found

    def __repr__(self) -> str:
        return _show(self)


def max_meta_nbytes(schunk: SChunk) -> int:
    """How much the vlmetalayers of a super-chunk may decode to."""
    if schunk.handle.is_new:
        return int(lib.B2C_MAX_CHUNK_NBYTES)
    most = of(schunk.handle.limits).max_meta_nbytes or lib.B2C_MAX_META_NBYTES
    return int(min(most, lib.B2C_MAX_CHUNK_NBYTES))


def _too_large(what: str, nbytes: int | None, most: int | None, schunk: SChunk) -> LimitError:
    return LimitError(
        f"{what} to {nbytes} bytes, and max_meta_nbytes allows {most}: "
        f"open it with limits=Limits(max_meta_nbytes={nbytes}) if you trust it",
        path=schunk.urlpath,
        field="max_meta_nbytes",
        expected=most,
        actual=nbytes,
    )


def _refuse_slice() -> Any:
    raise NotImplementedError("only [:] is a slice of metalayers")
