"""Codecs and filters written in Python, and those that other packages provide.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._ffi import check, ffi, lib, new_error
from .callbacks import array_from, give_back, postfilter_funcs, prefilter_funcs, result_of
from .errors import CorruptError, ParameterError
from .handles import handle_at
from .params import Codec, Filter, to_int

if TYPE_CHECKING:
    from .schunk import SChunk

    Bytes = np.ndarray[Any, np.dtype[np.uint8]]
    CodecFunction = Callable[[Bytes, Bytes, int, SChunk | None], int]
    FilterFunction = Callable[[Bytes, Bytes, int, SChunk | None], None]

__all__ = [
    "ENTRY_POINTS",
    "postfilter_funcs",
    "prefilter_funcs",
    "register_codec",
    "register_filter",
    "ucodecs_registry",
    "ufilters_registry",
]

ENTRY_POINTS = "blosc2c.plugins"  # the group in which packages say what they provide
FIRST_PLUGIN_ID, FIRST_USER_ID, LAST_USER_ID = 32, 160, 255

# What register_codec() and register_filter() were given, by number.
ucodecs_registry: dict[int, tuple[str, CodecFunction, CodecFunction]] = {}
ufilters_registry: dict[int, tuple[FilterFunction, FilterFunction]] = {}

_alive: list[Any] = []  # what C has pointers to, for ever


def _schunk_of(block: Any) -> SChunk | None:
    """The super-chunk that a block belongs to."""
    handle = handle_at(block.schunk)
    if handle is None:
        return None
    schunk = handle.owner() if handle.owner is not None else None
    if schunk is None:
        from .schunk import borrowed

        schunk = borrowed(handle)
    return schunk


class _Codec:
    def __init__(self, number: int, name: str, encoder: CodecFunction, decoder: CodecFunction) -> None:
        self.encoder, self.decoder = encoder, decoder
        self.label = f"codec {number} ({name})"

    def encode(self, block: Any, src: Any, n: int, dst: Any, dst_len: Any) -> None:
        output = np.zeros(n, np.uint8)
        made = self.encoder(array_from(src, n), output, block.meta, _schunk_of(block))
        size = to_int(made, f"what the encoder of {self.label} returns", 0, n)
        give_back(output, dst, size)
        dst_len[0] = size

    def decode(self, block: Any, src: Any, src_len: int, dst: Any, n: int) -> None:
        output = np.zeros(n, np.uint8)
        made = self.decoder(array_from(src, src_len), output, block.meta, _schunk_of(block))
        if to_int(made, f"what the decoder of {self.label} returns", -(1 << 63), (1 << 63) - 1) != n:
            raise CorruptError(
                f"{self.label} decoded {made} bytes of {n}", block=block.nblock, expected=n, actual=made
            )
        give_back(output, dst, n)


class _Filter:
    def __init__(self, forward: FilterFunction, backward: FilterFunction) -> None:
        self.forward, self.backward = forward, backward

    def run(self, function: FilterFunction, block: Any, src: Any, dst: Any, n: int) -> None:
        output = np.zeros(n, np.uint8)
        function(array_from(src, n), output, block.meta, _schunk_of(block))
        give_back(output, dst, n)


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def user_encode(user: Any, block: Any, src: Any, n: int, dst: Any, cap: int, dst_len: Any) -> int:
    return result_of(block, lambda: ffi.from_handle(user).encode(block, src, n, dst, dst_len))


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def user_decode(user: Any, block: Any, src: Any, src_len: int, dst: Any, n: int) -> int:
    return result_of(block, lambda: ffi.from_handle(user).decode(block, src, src_len, dst, n))


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def user_forward(user: Any, block: Any, src: Any, dst: Any, n: int) -> int:
    filter = ffi.from_handle(user)
    return result_of(block, lambda: filter.run(filter.forward, block, src, dst, n))


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def user_backward(user: Any, block: Any, src: Any, dst: Any, n: int) -> int:
    filter = ffi.from_handle(user)
    return result_of(block, lambda: filter.run(filter.backward, block, src, dst, n))


def _check_id(number: Any, kind: type[Codec] | type[Filter]) -> int:
    """A number that may be registered: a user's, or a plugin's that is registered with the format."""
    named = [member.value for member in kind if member.value >= FIRST_PLUGIN_ID]
    if isinstance(number, kind):
        number = number.value
    if number in named:
        return int(number)
    return to_int(number, "id", FIRST_USER_ID, LAST_USER_ID)


def _check_pair(first: Any, second: Any, names: str) -> None:
    if first is None and second is None:
        raise ParameterError(
            f"{names} are needed: the shared libraries that the reference library loads are not for this one"
        )
    if not (callable(first) and callable(second)):
        raise ParameterError(f"both {names} must be functions")


def _register(plugin: Any, worker: Any, call: Any, noun: str) -> None:
    plugin.user = handle = ffi.new_handle(worker)
    err = new_error()
    _ffi.may_call_back()
    _alive.append(handle)  # before C has it: a signal handler may raise when the call returns
    status = call(plugin, err)
    if status != lib.B2C_OK:
        _alive.remove(handle)
    if status == lib.B2C_E_EXISTS:
        raise ParameterError(f"{noun} {plugin.id} is there already", field="id")
    check(status, err)


def register_codec(
    codec_name: str,
    id: int,
    encoder: CodecFunction | None = None,
    decoder: CodecFunction | None = None,
    version: int = 1,
) -> None:
    """Register a codec, for the whole process and for good.

    Parameters
    ----------
    codec_name : its name
    id : 160 to 255, or the number of a codec that is registered with the format and not built in
    encoder : ``encoder(input, output, meta, schunk)`` compresses the bytes of `input` (uint8 array) into
        `output` (as long as `input`, zeros) and returns how many it has written; 0 when they do not
        get fewer.  `meta` is the codec_meta, `schunk` the SChunk, None for compress2() and the like
    decoder : ``decoder(input, output, meta, schunk)`` fills `output` and returns its size
    version : 0 to 255, stored with chunks

    Both see single blocks.  They are called from several threads when nthreads is above 1, one
    at a time, and may read the super-chunk but not change it.  Their exceptions are raised by the call that
    compresses or reads.

    Raises
    ------
    ParameterError : the number is taken or not for users, or a function is missing

    Examples
    --------
    >>> def encoder(input, output, meta, schunk):
    ...     if (input != input[0]).any():
    ...         return 0
    ...     output[0] = input[0]
    ...     return 1
    >>> def decoder(input, output, meta, schunk):
    ...     output[:] = input[0]
    ...     return output.size
    >>> register_codec("constant", 199, encoder, decoder)
    """
    number = _check_id(id, Codec)
    _check_pair(encoder, decoder, "encoder and decoder")
    assert encoder is not None and decoder is not None
    name = ffi.new("char[]", str(codec_name).encode())
    plugin = ffi.new("b2c_codec_plugin *")
    plugin.size, plugin.id, plugin.name = ffi.sizeof("b2c_codec_plugin"), number, name
    plugin.version = to_int(version, "version", 0, 255)
    plugin.encode, plugin.decode = lib.user_encode, lib.user_decode
    _register(plugin, _Codec(number, codec_name, encoder, decoder), lib.b2c_register_codec, "codec")
    ucodecs_registry[number] = codec_name, encoder, decoder


def register_filter(
    id: int,
    forward: FilterFunction | None = None,
    backward: FilterFunction | None = None,
    name: str | None = None,
) -> None:
    """Register a filter, for the whole process and for good.

    Parameters
    ----------
    id : 160 to 255, or the number of a filter that is registered with the format and not built in
    forward : ``forward(input, output, meta, schunk)`` makes the bytes `output` (zeros) of `input`, both
        uint8 arrays of the size of a block, before compression; `meta` is the filter's entry
        in filters_meta, `schunk` the SChunk, None for compress2() and the like
    backward : the same after decompression
    name : its name

    Called as the functions of register_codec().

    Raises
    ------
    ParameterError : the number is taken or not for users, or a function is missing
    """
    number = _check_id(id, Filter)
    _check_pair(forward, backward, "forward and backward")
    assert forward is not None and backward is not None
    c_name = ffi.new("char[]", (name or f"filter{number}").encode())
    plugin = ffi.new("b2c_filter_plugin *")
    plugin.size, plugin.id, plugin.name = ffi.sizeof("b2c_filter_plugin"), number, c_name
    plugin.forward, plugin.backward = lib.user_forward, lib.user_backward
    _register(plugin, _Filter(forward, backward), lib.b2c_register_filter, "filter")
    ufilters_registry[number] = forward, backward


# ---- Other packages --------------------------------------------------------

_loading = threading.RLock()
_asked: set[str] = set()


def _after_fork() -> None:
    global _loading
    _loading = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def load(kind: int, number: int) -> None:
    """Have the package that provides a codec or filter, if there is one, register it; asked by C."""
    from importlib.metadata import entry_points

    noun = "codec" if kind == lib.B2C_PLUGIN_CODEC else "filter"
    name = f"{noun}-{number}"
    with _loading:
        if name in _asked:
            return
        _asked.add(name)
        for entry in entry_points(group=ENTRY_POINTS, name=name):
            try:
                entry.load()()
            except BaseException as exc:  # the cause of the error that follows
                _ffi.broken_plugins[noun, number] = exc
