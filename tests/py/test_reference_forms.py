# SPDX-License-Identifier: BSD-3-Clause
"""Forms in which python-blosc2 takes, refuses and names things, and that are the same here."""

from __future__ import annotations

import blosc2
import numpy as np
import pytest

import blosc2c as b2

BOTH = pytest.mark.parametrize("lib", [b2, blosc2], ids=["ours", "theirs"])
ITEMS = np.arange(60, dtype="i4").reshape(6, 10)


def schunk_of(lib):
    s = lib.SChunk(chunksize=400, cparams={"typesize": 4})
    for start in (0, 100):
        s.append_data(np.arange(start, start + 100, dtype="i4"))
    return s


def array_of(lib, **kwargs):
    return lib.asarray(ITEMS, chunks=(4, 5), blocks=(2, 3), **kwargs)


# ---- Buffers ---------------------------------------------------------------

CHUNK = b2.compress2(bytes(400))
STRIDED = memoryview(bytearray(800))[::2]
TAKING_BUFFERS = {
    "compress": lambda lib, view: lib.compress(view, typesize=1),
    "compress2": lambda lib, view: lib.compress2(view),
    "decompress to": lambda lib, view: lib.decompress(CHUNK, view),
    "decompress2 to": lambda lib, view: lib.decompress2(CHUNK, view),
    "append_data": lambda lib, view: schunk_of(lib).append_data(view),
    "insert_data": lambda lib, view: schunk_of(lib).insert_data(0, view, True),
    "update_data": lambda lib, view: schunk_of(lib).update_data(0, view, True),
    "items": lambda lib, view: schunk_of(lib).__setitem__(slice(0, 100), view),
    "get_slice to": lambda lib, view: schunk_of(lib).get_slice(0, 100, view),
    "decompress_chunk to": lambda lib, view: schunk_of(lib).decompress_chunk(0, view),
    "schunk_from_cframe": lambda lib, view: lib.schunk_from_cframe(view),
    "ndarray_from_cframe": lambda lib, view: lib.ndarray_from_cframe(view),
    "from_cframe": lambda lib, view: lib.from_cframe(view),
    "unpack_tensor": lambda lib, view: lib.unpack_tensor(view),
    "unpack_array2": lambda lib, view: lib.unpack_array2(view),
}


@BOTH
@pytest.mark.parametrize("kind", TAKING_BUFFERS)
def test_views_with_gaps_are_buffer_errors(lib, kind):
    with pytest.raises(BufferError):
        TAKING_BUFFERS[kind](lib, STRIDED)


@BOTH
@pytest.mark.parametrize("kind", TAKING_BUFFERS)
def test_arrays_with_gaps_are_value_errors(lib, kind):
    with pytest.raises(ValueError):
        TAKING_BUFFERS[kind](lib, np.asarray(STRIDED))


@pytest.mark.parametrize("kind", [kind for kind in TAKING_BUFFERS if kind.endswith(" to")])
def test_results_are_not_written_to_what_is_constant(kind):
    with pytest.raises(BufferError) as caught:
        TAKING_BUFFERS[kind](b2, bytes(400))
    assert type(caught.value) is b2.UnfitBufferError and caught.value.field in ("dst", "out")


# ---- Keys ------------------------------------------------------------------


@BOTH
def test_orthogonal_indices_that_do_not_fit(lib):
    a = array_of(lib)
    with pytest.raises(ValueError):
        a.oindex[[0], [0], [0]]
    with pytest.raises(ValueError):
        a.oindex[[0], [0], [0]] = np.zeros((1, 1, 1), "i4")
    with pytest.raises(RuntimeError):
        a.oindex[[9], [0]]


def test_and_are_index_errors_here():
    for key in [([0],) * 3, ([6], [0]), (None, [0]), (..., ...), ([0.5], [0]), ([[0]], [0])]:
        with pytest.raises(IndexError) as caught:
            array_of(b2).oindex[key]
        assert type(caught.value) is b2.SelectionError


@BOTH
def test_chunks_of_no_range(lib):
    with pytest.raises(ValueError):
        lib.get_slice_nchunks(array_of(lib), ((0, 0), (7, 11)))
    with pytest.raises(ValueError):
        lib.get_slice_nchunks(schunk_of(lib), (0, 1, 2))
    with pytest.raises(IndexError):
        lib.get_slice_nchunks(array_of(lib), (0, 0, 0))
    with pytest.raises(IndexError):
        lib.get_slice_nchunks(array_of(lib), 6)
