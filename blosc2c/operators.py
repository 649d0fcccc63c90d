"""Operators of arrays: == and != compare the contents, the others raise; and the only device.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

from .facts import Explained
from .params import check_device

if TYPE_CHECKING:
    import numpy as np


class Operators(Explained):
    """``==`` and ``!=`` of something compressed are those of NumPy, of all items; nothing else is computed.

    With what holds no items, such as None, they tell whether it is the same object.  Operators with
    NumPy arrays and scalars are theirs: the result is a NumPy array.  As with NumPy's arrays there is no hash.
    """

    if TYPE_CHECKING:

        @property
        def dtype(self) -> np.dtype[Any]: ...
        def __getitem__(self, key: Any) -> Any: ...

    def __eq__(self, other: object) -> Any:
        return self[...] == _decoded(other) if self._compares(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return self[...] != _decoded(other) if self._compares(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def device(self) -> str:
        """Where the items are: "cpu"."""
        return "cpu"

    def to_device(self, device: str) -> Any:
        """The same object; ValueError for any device but "cpu"."""
        check_device(device)
        return self

    def _compares(self, other: object) -> bool:
        """Whether something is an array, a scalar, a sequence, or a text for an array of texts."""
        is_text = isinstance(other, str | bytes) and self.dtype.kind in "SU"
        return is_text or hasattr(other, "__array__") or isinstance(other, Number | list | tuple)

    def _compute(self, other: object = None, *_: object) -> Any:
        if hasattr(other, "__array_ufunc__"):
            return NotImplemented  # it makes a NumPy array of this one
        raise TypeError(
            f"there is no compute engine for an {type(self).__name__}: compute with its items as a NumPy "
            "array, as in a[...] + b[...], or hand it to Dask"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compute
    __add__ = __sub__ = __mul__ = __matmul__ = __truediv__ = __floordiv__ = __mod__ = __divmod__ = _compute
    __pow__ = __lshift__ = __rshift__ = __and__ = __or__ = __xor__ = _compute
    __radd__ = __rsub__ = __rmul__ = __rmatmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _compute
    __rdivmod__ = __rpow__ = __rlshift__ = __rrshift__ = __rand__ = __ror__ = __rxor__ = _compute
    __neg__ = __pos__ = __abs__ = __invert__ = _compute


def _decoded(other: Any) -> Any:
    return other[...] if isinstance(other, Operators) else other
