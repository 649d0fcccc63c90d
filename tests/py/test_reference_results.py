# SPDX-License-Identifier: BSD-3-Clause
"""What calls give is what they give in python-blosc2, found by running the same ones on both."""

from __future__ import annotations

import blosc2
import numpy as np
import pytest

import blosc2c as b2

BOTH = pytest.mark.parametrize("lib", [b2, blosc2], ids=["ours", "theirs"])


@BOTH
def test_blocks_beyond_the_shape_are_cut_to_it(lib):
    for shape, blocks in (((10, 10), (20, 20)), ((1000,), (1200,)), ((10, 10), (3, 20)), ((10, 10), (20, 5))):
        chunks, found = lib.compute_chunks_blocks(shape, blocks=blocks)
        assert all(n >= c >= b > 0 for n, c, b in zip(shape, chunks, found, strict=True))
        a = lib.zeros(shape, blocks=blocks)
        assert all(n >= c >= b > 0 for n, c, b in zip(shape, a.chunks, a.blocks, strict=True))
    assert lib.zeros((10,), chunks=(20,), blocks=(15,)).blocks == (15,)


@BOTH
@pytest.mark.parametrize("dtype", [None, "i4", "u1", "f8", "?", "M8[s]", "S3"])
def test_bytes_are_items_of_their_own_length(lib, dtype):
    a = lib.full((3,), b"123", dtype=dtype)
    assert a.dtype == np.dtype("S3") and a[:].tolist() == [b"123"] * 3
    like = lib.full_like(lib.zeros((3,), dtype="i2"), b"123", dtype=dtype)
    assert like.dtype == np.dtype("S3") and like[:].tolist() == [b"123"] * 3


def test_longer_bytes_are_not_cut():
    assert b2.full((2,), b"ab", dtype="S4").dtype == np.dtype("S4")
    assert b2.full((2,), b"ab", dtype="V2").dtype == np.dtype("V2")
