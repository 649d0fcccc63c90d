"""Functions of the user's that C calls for blocks: pre-filters, post-filters and fillers.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import _ffi
from ._ffi import ffi, lib
from .edit import Editing
from .errors import NotFoundError, ParameterError
from .handles import nested

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    BlockFunction = Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any], int], None]
    FillFunction = Callable[[tuple[np.ndarray[Any, Any], ...], np.ndarray[Any, Any], int], None]

_F = TypeVar("_F", bound="Callable[..., Any]")

# The functions that are set now, by name.
prefilter_funcs: dict[str, Callable[..., Any]] = {}
postfilter_funcs: dict[str, Callable[..., Any]] = {}


def array_from(src: Any, nbytes: int, dtype: Any = "u1") -> np.ndarray[Any, Any]:
    """A copy of memory of C's: the user may change it and keep it."""
    import numpy as np

    return np.frombuffer(bytearray(ffi.buffer(src, nbytes)), dtype)


def give_back(array: np.ndarray[Any, Any], dst: Any, nbytes: int) -> None:
    """The first bytes of an array to memory of C's."""
    src = ffi.from_buffer(array.view("u1"))
    if len(src) < nbytes:
        raise ParameterError(
            "a callback has resized its output", field="output", expected=nbytes, actual=len(src)
        )
    ffi.memmove(dst, src, nbytes)


def result_of(block: Any, call: Callable[[], None]) -> int:
    """Run `call`, which works for a block, and tell C how it went; check() raises what it raised."""
    try:
        nested(call, block.schunk)
    except BaseException as exc:  # raised again by check(), on the other side of C
        return _ffi.keep_failure(exc)
    return 0


class _Filter:
    """A pre-filter or post-filter."""

    def __init__(self, function: BlockFunction, given: np.dtype[Any], made: np.dtype[Any]) -> None:
        self.function, self.given, self.made = function, given, made

    def run(self, block: Any, src: Any, dst: Any, n: int) -> None:
        import numpy as np

        itemsize = self.given.itemsize
        if n % itemsize or (block.chunk_at + block.block_at) % itemsize:
            raise ParameterError(f"a block of {n} bytes does not hold items of {itemsize}")
        output = np.zeros(n // itemsize, self.made)
        self.function(array_from(src, n, self.given), output, (block.chunk_at + block.block_at) // itemsize)
        give_back(output, dst, n)


class _Filler:
    """What makes data from operands."""

    def __init__(self, function: FillFunction, operands: list[_Operand], dtype: np.dtype[Any]) -> None:
        self.function, self.operands, self.dtype = function, operands, dtype

    def run(self, block: Any, src: Any, dst: Any, n: int) -> None:
        import numpy as np

        offset, nitems = (block.chunk_at + block.block_at) // self.dtype.itemsize, n // self.dtype.itemsize
        output = np.zeros(nitems, self.dtype)
        self.function(tuple(op.items(offset, nitems) for op in self.operands), output, offset)
        give_back(output, dst, n)


class _Operand:
    """One of a filler's inputs: a super-chunk, an array or a scalar."""

    def __init__(self, operand: Any, dtype: Any) -> None:
        import numpy as np

        self.dtype = np.dtype(dtype)
        self.nitems: int | None = None  # a scalar has any number
        self.value = operand
        if isinstance(operand, Callbacks):
            if operand.typesize != self.dtype.itemsize:
                raise ParameterError(
                    f"an operand has items of {operand.typesize} bytes, its dtype {self.dtype.itemsize}",
                    field="inputs_tuple",
                )
            self.nitems = operand.nbytes // operand.typesize
        elif isinstance(operand, np.ndarray):
            self.value = np.ascontiguousarray(operand, self.dtype).reshape(-1)
            self.nitems = operand.size
        elif not isinstance(operand, bool | int | float | complex | np.generic):
            raise TypeError(
                f"an operand must be an SChunk, a NumPy array or a scalar, not {type(operand).__name__}"
            )

    def items(self, first: int, n: int) -> np.ndarray[Any, Any]:
        """n items from number `first` on, for the user to keep."""
        import numpy as np

        if isinstance(self.value, Callbacks):
            items = np.empty(n, self.dtype)
            self.value.get_slice(first, first + n, items.view("u1"))
            return items
        if self.nitems is not None:
            copy: np.ndarray[Any, Any] = self.value[first : first + n].copy()
            return copy
        return np.full(n, self.value, self.dtype)


@ffi.def_extern(error=1, onerror=_ffi.escaped)  # type: ignore[untyped-decorator]
def user_block(user: Any, block: Any, src: Any, dst: Any, n: int) -> int:
    return result_of(block, lambda: ffi.from_handle(user).run(block, src, dst, n))


class Callbacks(Editing):
    """Functions that make what is compressed, or what is read, block by block.

    They are called from several threads when nthreads is above 1, one at a time, in no certain
    order.  Their exceptions are raised by the call that compresses or reads.  They may read the super-chunk
    but not change it.  They are not stored: whoever opens a file sees what is kept in it.
    """

    def _dtype_of_items(self, dtype: npt.DTypeLike, name: str) -> np.dtype[Any]:
        import numpy as np

        found = np.dtype(dtype)
        if found.hasobject or found.itemsize != self.typesize:
            raise ParameterError(
                f"{name} {found} has items of {found.itemsize} bytes, the super-chunk {self.typesize}",
                field=name,
                expected=self.typesize,
                actual=found.itemsize,
            )
        return found

    def _set(self, kind: str, function: Any, worker: _Filter | None) -> None:
        """Make `worker` the super-chunk's filter of a kind; None: no more."""
        setter, funcs = _KINDS[kind]
        called = None if worker is None else _Called(function, worker)
        with self.handle.writing():
            # A signal handler may raise at any step: what C calls is kept until it calls another.
            # It may close the object, too: hence get().
            kept = self.handle.called.setdefault(kind, [])
            kept.append(called)
            if called is None:
                setter(self.handle.get(), ffi.NULL, ffi.NULL)
            else:
                setter(self.handle.get(), lib.user_block, called.address)
            replaced = kept[:-1]
            del kept[:-1]
            for old in filter(None, replaced):
                if funcs.get(old.name) is old.function:
                    del funcs[old.name]
            if called is not None:
                funcs[called.name] = function

    def _decorator(
        self, kind: str, input_dtype: npt.DTypeLike, output_dtype: npt.DTypeLike | None
    ) -> Callable[[_F], _F]:
        given = self._dtype_of_items(input_dtype, "input_dtype")
        made = given if output_dtype is None else self._dtype_of_items(output_dtype, "output_dtype")

        def decorate(function: _F) -> _F:
            self._set(kind, function, _Filter(function, given, made))
            return function

        return decorate

    def prefilter(
        self, input_dtype: npt.DTypeLike, output_dtype: npt.DTypeLike | None = None
    ) -> Callable[[_F], _F]:
        """Decorator: from now on the function makes what is compressed of what is given.

        It is called as ``function(input, output, offset)`` for each block: the items of the block,
        an array of zeros for it to fill, and the number of the first item.  Writing to a part of a
        chunk compresses all of it again, from what is stored: the function is then called for
        the other items a second time.

        Parameters
        ----------
        input_dtype, output_dtype : dtypes of typesize bytes; output_dtype None: as input_dtype

        Raises
        ------
        ParameterError : a dtype has another size than the super-chunk's items

        Examples
        --------
        >>> s = SChunk(chunksize=40, cparams={"typesize": 4})
        >>> @s.prefilter("i4", "f4")
        ... def half(input, output, offset):
        ...     output[:] = input / 2
        >>> _ = s.append_data(np.arange(4, dtype="i4"))
        >>> np.frombuffer(s[:], "f4")
        array([0. , 0.5, 1. , 1.5], dtype=float32)
        """
        return self._decorator("pre", input_dtype, output_dtype)

    def postfilter(
        self, input_dtype: npt.DTypeLike, output_dtype: npt.DTypeLike | None = None
    ) -> Callable[[_F], _F]:
        """Decorator: from now on the function makes what is read of what is stored.

        It is called as prefilter() says, for each block that is touched.  get_chunk(),
        to_cframe() and verify() give and check what is stored, and writing to a part of a chunk
        starts from that.
        """
        return self._decorator("post", input_dtype, output_dtype)

    def filler(
        self, inputs_tuple: Sequence[tuple[Any, Any]], schunk_dtype: npt.DTypeLike, nelem: int | None = None
    ) -> Callable[[_F], _F]:
        """Decorator: fill the super-chunk, which is empty, with what the function makes of operands.

        It is called as ``function(inputs, output, offset)`` for each block: a tuple of arrays as long as
        `output`, an array of zeros for it to fill, and the number of the first item.

        Parameters
        ----------
        inputs_tuple : pairs of an operand (SChunk, NumPy array, scalar) and its dtype
        schunk_dtype : dtype of the items, of typesize bytes
        nelem : number of items; None: as many as the operands have

        Raises
        ------
        ParameterError : the super-chunk is not empty, the operands do not have the same number of
            items, or nelem is missing or another number
        """
        dtype = self._dtype_of_items(schunk_dtype, "schunk_dtype")
        operands = [_Operand(operand, kind) for operand, kind in inputs_tuple]
        counts = {n for n in (nelem, *(op.nitems for op in operands)) if n is not None}
        if self.nbytes:
            raise ParameterError("only an empty super-chunk can be filled")
        if len(counts) != 1:
            raise ParameterError(
                f"the operands and nelem have different numbers of items: {sorted(counts)}"
                if counts
                else "nelem is needed when all operands are scalars",
                field="nelem",
            )
        nbytes = counts.pop() * dtype.itemsize

        def decorate(function: _F) -> _F:
            called = _Called(function, _Filler(function, operands, dtype))
            ctx = _ffi.context(self._c_nthreads, nbytes)
            self._edit(lib.b2c_schunk_fill, ctx, nbytes, lib.user_block, called.address)
            return function

        return decorate

    def _remove(self, kind: str, func_name: str) -> None:
        called = self.handle.called.get(kind, [None])[-1]
        if called is None or called.name != func_name:
            now = "none" if called is None else repr(called.name)
            raise NotFoundError(f"there is no {kind}filter {func_name!r}, but {now}", field="func_name")
        self._set(kind, None, None)

    def remove_prefilter(self, func_name: str, _new_ctx: bool = True) -> None:
        """Remove the pre-filter of this name; NotFoundError when another one is set.

        Without any there is nothing to do, as in Python-Blosc2.
        """
        if self.handle.called.get("pre", [None])[-1] is not None:
            self._remove("pre", func_name)

    def remove_postfilter(self, func_name: str, _new_ctx: bool = True) -> None:
        """Remove the post-filter of this name; NotFoundError when it is not set."""
        self._remove("post", func_name)


class _Called:
    """A function with what C is given for it, which must live as long as C may call it."""

    def __init__(self, function: Callable[..., Any], worker: _Filter | _Filler) -> None:
        _ffi.may_call_back()
        self.function, self.worker = function, worker
        self.name = getattr(function, "__name__", type(function).__name__)
        self.address = ffi.new_handle(worker)


_KINDS = {
    "pre": (lib.b2c_schunk_set_prefilter, prefilter_funcs),
    "post": (lib.b2c_schunk_set_postfilter, postfilter_funcs),
}
