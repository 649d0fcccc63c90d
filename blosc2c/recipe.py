"""What a new super-chunk is to be, wherever it is kept.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ._ffi import ffi, lib
from .errors import LimitError
from .meta import check_name

_PARAMS = ffi.typeof("b2c_schunk_params *")


class Recipe(NamedTuple):
    """Sizes, compression and fixed metalayers of super-chunks; any number may be made by it."""

    c: Any  # b2c_schunk_params without a place, not to be changed
    nthreads: int  # that compress
    metas: Mapping[str, bytes]
    memory: tuple[Any, ...]  # that `c` has pointers to

    @classmethod
    def of(cls, chunksize: int, cparams: Any, nthreads: int, metas: Mapping[str, bytes]) -> Recipe:
        """`cparams` is a b2c_cparams *, `metas` have their contents as they are stored."""
        if len(metas) > lib.B2C_MAX_METALAYERS:
            raise LimitError(f"at most {lib.B2C_MAX_METALAYERS} metalayers, not {len(metas)}", field="meta")
        c = ffi.new(_PARAMS)
        lib.b2c_schunk_params_init(c)
        c.chunksize, c.cparams = chunksize, cparams[0]
        names = [ffi.new("char[]", check_name(name)) for name in metas]
        contents = [ffi.from_buffer(content) for content in metas.values()]
        c.nmeta = len(names)
        c.meta_names = c_names = ffi.new("char *[]", names)
        c.meta_contents = c_contents = ffi.new("void *[]", contents)
        c.meta_lens = c_lens = ffi.new("uint32_t[]", [len(content) for content in contents])
        return cls(c, nthreads, metas, (names, contents, c_names, c_contents, c_lens))

    def with_metas(self, metas: Mapping[str, bytes]) -> Recipe:
        """The same with more metalayers."""
        cparams = ffi.addressof(self.c.cparams)
        return Recipe.of(self.c.chunksize, cparams, self.nthreads, {**self.metas, **metas})

    def c_params(self) -> Any:
        """A copy of `c`, which lives no longer than this, to tell the place in."""
        return ffi.new(_PARAMS, self.c[0])
