# SPDX-License-Identifier: BSD-3-Clause
"""Forms in which python-blosc2 takes, refuses and names things, and that are the same here."""

from __future__ import annotations

import enum
import inspect

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


# ---- Calls -----------------------------------------------------------------


def told_of(function):
    """The parameters that may be told by place and those by name alone, and of all whether they may be left out."""
    placed, named = [], {}
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            placed.append((p.name, p.default is not p.empty))
        elif p.kind is p.KEYWORD_ONLY:
            named[p.name] = p.default is not p.empty
    return placed, named


def functions_of_both(theirs, ours):
    for name in dir(theirs):
        if name.startswith("_") or not hasattr(ours, name):
            continue
        pair = getattr(theirs, name), getattr(ours, name)
        is_enum = isinstance(pair[0], type) and issubclass(pair[0], enum.Enum)
        if all(map(callable, pair)) and not is_enum:
            yield name, *pair


@pytest.mark.parametrize("owner", ["", "NDArray", "SChunk"])
def test_parameters_have_their_names_and_places(owner):
    """Ours may have more, which may be left out."""
    names = []
    for name, theirs, ours in functions_of_both(
        *(getattr(lib, owner) if owner else lib for lib in (blosc2, b2))
    ):
        if name == "Storage" and not hasattr(theirs, "locking"):
            continue  # of releases that had its last parameter in another place
        (their_placed, their_named), (placed, named) = told_of(theirs), told_of(ours)
        pairs = list(zip(their_placed, placed, strict=False))
        assert len(pairs) == len(their_placed) and all(t[0] == o[0] for t, o in pairs), name
        assert all(may for _, may in placed[len(pairs) :]) and all(o[1] for t, o in pairs if t[1]), name
        takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(ours).parameters.values())
        assert takes_any or set(their_named) <= {*named, *(n for n, _ in placed)}, name
        names.append(name)
    assert len(names) > 15


@BOTH
def test_parameters_of_vlmetalayers_are_taken(lib):
    s = lib.SChunk()
    s.vlmeta.set_vlmeta("a", b"\xa1b", clevel=9, codec=lib.Codec.LZ4)
    assert s.vlmeta["a"] == "b"


def test_unknown_ones_are_not():
    s = b2.SChunk()
    with pytest.raises(TypeError, match="did you mean 'clevel'"):
        s.vlmeta.set_vlmeta("a", b"\xa1b", clevl=9)


# ---- Names -----------------------------------------------------------------


@BOTH
def test_modules_of_functions_and_parameters(lib):
    assert lib.core.pack_tensor is lib.pack_tensor and lib.core.compress2 is lib.compress2
    assert lib.storage.CParams is lib.CParams and lib.storage.Storage is lib.Storage


@BOTH
def test_runs_of_chunks(lib):
    a, out = lib.arange(95, chunks=(20,), blocks=(5,)), np.zeros(10, "i8")
    assert a.get_1d_span_numpy(out, 1, 7, 10) is out and out.tolist() == list(range(27, 37))
    a.get_1d_span_numpy(arr=out, nchunk=4, start=12, nitems=3)
    assert out.tolist() == [92, 93, 94, *range(30, 37)]
    memory = bytearray(16)
    a.get_1d_span_numpy(memory, 0, 19, 1)
    assert memory == np.array([19, 0], "i8").tobytes()
    assert a.get_1d_span_numpy(out, 0, 20, 0) is out
    for nchunk, start, nitems in [(0, 15, 6), (0, -1, 1), (0, 1, -1), (0, 0, 11)]:
        with pytest.raises(ValueError):
            a.get_1d_span_numpy(out, nchunk, start, nitems)
    for nchunk in (-1, 5):
        with pytest.raises(IndexError):
            a.get_1d_span_numpy(out, nchunk, 0, 1)
    with pytest.raises(ValueError):
        array_of(lib).get_1d_span_numpy(out, 0, 0, 1)


def test_runs_end_with_the_array():
    with pytest.raises(ValueError, match="chunk 4 has no 4 items from 12 on"):
        b2.arange(95, chunks=(20,)).get_1d_span_numpy(np.zeros(4, "i8"), 4, 12, 4)


# Older releases of Python-Blosc2 do not have it.
OF_ITEMS = pytest.mark.parametrize("lib", [x for x in (b2, blosc2) if hasattr(x.NDArray, "get_sparse_numpy")])


@OF_ITEMS
@pytest.mark.parametrize("coords", [[59, 0, 33, 33], np.array([12], "u2"), np.zeros(0, "i8")])
def test_single_items(lib, coords):
    a, out = array_of(lib), np.full(len(coords), -1, "i4")
    assert a.get_sparse_numpy(out, coords) is out
    np.testing.assert_array_equal(out, ITEMS.reshape(-1)[np.asarray(coords, int)])


@OF_ITEMS
@pytest.mark.parametrize("coord", [-1, 1000])
def test_single_items_that_are_not_there(lib, coord):
    with pytest.raises(RuntimeError):
        array_of(lib).get_sparse_numpy(np.zeros(1, "i4"), np.array([coord]))


# ---- Lossy codecs ----------------------------------------------------------

LOSSY = {"zfp_acc": 253, "zfp_prec": 30, "zfp_rate": 37}
needs_zfp = pytest.mark.skipif(not b2.params.lib.b2c_codec_available(33), reason="this build has no libzfp")


@needs_zfp
@pytest.mark.parametrize("codec", LOSSY)
def test_lossy_codecs_get_items_as_they_are(codec, tmp_path):
    """Python-Blosc2 gives them shuffled bytes, and then values up to 1e303 for numbers up to 1."""
    a, path = np.linspace(0, 1, 64 * 64).reshape(64, 64), str(tmp_path / "a.b2nd")
    parts, cparams = {"chunks": (32, 32), "blocks": (16, 16)}, {"codec": codec, "codec_meta": LOSSY[codec]}
    b = b2.asarray(a, urlpath=path, cparams=cparams, **parts)
    told = b2.asarray(a, cparams={**cparams, "filters": [], "filters_meta": []}, **parts)
    assert b.schunk.get_chunk(0) == told.schunk.get_chunk(0) and b.cratio > 1.5
    for lib in (b2, blosc2):
        np.testing.assert_allclose(lib.open(path)[...], a, atol=1e-3)
    copied = b2.asarray(b, chunks=(64, 32))
    np.testing.assert_allclose(copied[...], a, atol=1e-3)


@needs_zfp
@pytest.mark.parametrize("as_object", [False, True])
def test_filters_that_are_told_are_refused(as_object):
    told = {"codec": "zfp_acc", "codec_meta": 253, "filters": [b2.Filter.SHUFFLE]}
    with pytest.raises(RuntimeError, match="no shuffle"):
        b2.asarray(np.linspace(0, 1, 64), blocks=(16,), cparams=b2.CParams(**told) if as_object else told)
