# SPDX-License-Identifier: BSD-3-Clause
"""Views of arrays, closed and resized; dtypes of joined arrays; steps beyond any array."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import blosc2c as b2

A = np.arange(90, dtype="<i4").reshape(1, 9, 10)
PARTS = {"chunks": (1, 4, 5), "blocks": (1, 2, 3)}

USES = {
    "read": lambda v: v[...],
    "read an item": lambda v: v[0, 0],
    "write": lambda v: v.__setitem__(0, 1),
    "oindex": lambda v: v.oindex[[0, 1], [0, 2]],
    "write oindex": lambda v: v.oindex.__setitem__(([0, 2], [0, 2]), 1),
    "read_into": lambda v: v.read_into(np.empty((9, 10), "<i4")),
    "array": np.asarray,
    "copy": lambda v: v.copy(),
    "slice": lambda v: v.slice(0),
    "resize": lambda v: v.resize((2, 2)),
    "append": lambda v: v.append(np.zeros((1, 10)), axis=0),
    "to_cframe": lambda v: v.to_cframe(),
    "pickle": pickle.dumps,
    "copy.copy": copy.copy,
    "view": lambda v: b2.expand_dims(v),
    "meta": lambda v: v.meta["b2nd"],
    "vlmeta": lambda v: v.vlmeta["x"],
    "cparams": lambda v: v.cparams,
    "set cparams": lambda v: setattr(v, "cparams", {"clevel": 1}),
    "cbytes": lambda v: v.cbytes,
    "chunks": lambda v: list(v.iterchunks_info()),
    "chunk": lambda v: v.get_chunk(0),
    "iterate": list,
    "info": lambda v: v.info,
    "schunk": lambda v: v.schunk.nchunks,
    "refresh": lambda v: v.refresh(),
    "tokenize": lambda v: v.__dask_tokenize__(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("which", ["view", "array"])
def test_use_after_close(use, which):
    b = b2.asarray(A, **PARTS)
    view, other = b.squeeze(), b.squeeze()
    (view if which == "view" else b).close()
    with pytest.raises(b2.ClosedError, match="closed array"):
        USES[use](view)
    assert view.shape == (9, 10) and view.dtype == A.dtype and "closed" in repr(view)
    view.close()
    if which == "view":  # nobody else is concerned
        np.testing.assert_array_equal(b[...], A)
        np.testing.assert_array_equal(other[...], A[0])
        b.resize((1, 9, 12))
        assert other.shape == (9, 12) and view.shape == (9, 10)
    else:
        with pytest.raises(b2.ClosedError):
            other[0]


def test_a_view_as_context_manager(tmp_path):
    with b2.asarray(A, **PARTS, urlpath=tmp_path / "x.b2nd") as b:
        with b2.expand_dims(b) as view:
            view[0, 0, 0, 0] = 77
        with pytest.raises(b2.ClosedError):
            view[...]
        assert b[0, 0, 0] == 77


def test_views_of_views_are_on_their_own():
    b = b2.asarray(A, **PARTS)
    first = b.squeeze()
    second = b2.expand_dims(first, 2)
    first.close()
    np.testing.assert_array_equal(second[...], A[0][..., None])
    with pytest.raises(ValueError, match="a view cannot be resized: resize the array that it shows"):
        second.resize((9, 20, 1))
    with pytest.raises(ValueError, match="a view cannot be resized"):
        second.append(np.zeros((1, 10, 1), "<i4"), axis=0)
    assert b.shape == A.shape and second.shape == (9, 10, 1)


@pytest.mark.parametrize("join", ["concat", "stack"])
def test_joined_dtypes_are_those_of_numpy(join):
    """The blosc2 package refuses arrays of different dtypes."""
    mine, numpys = getattr(b2, join), {"concat": np.concatenate, "stack": np.stack}[join]
    for one, two in (
        ("i4", "f8"),
        ("u1", "i1"),
        ("S3", "S7"),
        (">i4", "<i4"),
        ("f2", "c8"),
        ("M8[s]", "M8[ms]"),
    ):
        arrays = [np.arange(6).astype(one).reshape(2, 3), np.arange(6).astype(two).reshape(2, 3)]
        got, want = mine([b2.asarray(a) for a in arrays]), numpys(arrays)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got[...], want)
        assert mine(arrays, dtype="S40").dtype == "S40"
    with pytest.raises(TypeError):
        mine([np.zeros(3, "i4"), np.zeros(3, "M8[s]")])
    for dtype in (">i4", ">U2", [("a", ">i2"), ("b", "f4", (2,))]):  # NumPy changes these, the wheel does not
        equal = b2.zeros((2, 3), dtype, chunks=(1, 3))
        assert mine([equal, equal]).dtype == dtype
    with pytest.raises(ValueError):
        mine([])


@pytest.mark.parametrize("step", [2**62, 2**63, 2**64 - 1, 2**64, 10**30])
def test_steps_beyond_any_array(step):
    b = b2.asarray(A[0], chunks=(4, 5), blocks=(2, 3))
    for key in (
        np.s_[::step],
        np.s_[::-step],
        np.s_[3::step, ::-step],
        np.s_[9::step],
        ([0, 1], np.s_[::step]),
    ):
        np.testing.assert_array_equal(b[key], A[0][key])
        np.testing.assert_array_equal(b.slice(key)[...], A[0][key])
    want = A[0].copy()
    b[::step, ::-step] = want[::step, ::-step] = -1
    np.testing.assert_array_equal(b[...], want)
    np.testing.assert_array_equal(b.oindex[::step, [1, 4, 0]], want[::step, [1, 4, 0]])
