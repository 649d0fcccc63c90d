"""Views: arrays that show another one's items with axes of size 1 more or less.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from ._ffi import address_of, calls, ffi
from .description import ND
from .errors import ClosedError
from .partition import Shape

if TYPE_CHECKING:
    from .ndarray import NDArray
    from .schunk import SChunk


def view_of(array: NDArray, axes: Shape) -> NDArray:
    """An array with other axes: for each of them that of this one, or -1 for one of size 1."""
    view = array.__new__(type(array))
    view._schunk, view._dtype = array._schunk, array._dtype
    view._base = base = array if array._base is None else array._base
    shown = tuple(range(array.ndim)) if array._axes is None else array._axes
    view._axes = tuple(shown[axis] if axis >= 0 else -1 for axis in axes)
    with array._schunk.handle as ptr:
        view.follow(ptr, (base._nd, base._dtype) if base._nd else None)
    view.check_shown()
    array._schunk.handle.add_follower(view)
    return view


def may_show(sizes: Sequence[int], axes: Shape | None) -> bool:
    """Whether a view with these axes can show a stored array of a shape; so must its chunks and blocks be."""
    return axes is None or all(n == 1 or axis in axes for axis, n in enumerate(sizes))


def shown_of(stored: Any, axes: Shape | None) -> Any:
    """The description of what a view with these axes shows of a stored array; NULL when it cannot."""
    if axes is None:
        return stored
    parts = calls.shapes(address_of(stored))
    if not all(may_show(sizes, axes) for sizes in parts):
        return ffi.NULL
    shape, chunks, blocks = ([sizes[axis] if axis >= 0 else 1 for axis in axes] for sizes in parts)
    nd = {"size": stored.size, "ndim": len(axes), "itemsize": stored.itemsize}
    return ffi.new(ND, {**nd, "shape": shape, "chunks": chunks, "blocks": blocks})


def close_view(view: NDArray) -> None:
    """End the use of a view; the array that it shows stays open."""
    if not is_closed_view(view):
        view._schunk.handle.drop_follower(view)
        view._schunk, view._base = cast("SChunk", _Closed()), None


def is_closed_view(array: NDArray) -> bool:
    """Whether it is a view that was closed itself."""
    return isinstance(array._schunk, _Closed)


class _Closed:
    """What a view that was closed has in place of its super-chunk."""

    locking = must_look = False
    urlpath = None

    def __getattr__(self, name: str) -> Any:
        raise ClosedError("I/O operation on closed array")

    def __setattr__(self, name: str, value: Any) -> None:
        raise ClosedError("I/O operation on closed array")
