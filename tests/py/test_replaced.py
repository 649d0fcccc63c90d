# SPDX-License-Identifier: BSD-3-Clause
"""Handles on arrays whose file or directory is replaced by others meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import blosc2c as b2

OLD = np.arange(12, dtype="f8").reshape(3, 4)
NEW = [
    OLD.astype("i4") + 100,
    OLD.astype("c16") + 100,
    OLD.view("i8") + 100,
    np.arange(5, dtype=">u2"),
    np.arange(24).astype("S3").reshape(2, 3, 4),
    OLD[:2, :2] + 7,
    np.array([(1, 2.5)], dtype=[("a", "i1"), ("b", "f8")]),
]
READS = {
    "all": lambda x: x[...],
    "tobytes": lambda x: x.tobytes(),
    "row": lambda x: x[0],
    "fancy": lambda x: x[[0, 0]],
    "oindex": lambda x: getattr(x, "oindex", x)[[0, 0]],
}
ITEM = lambda x: x[(0,) * x.ndim]  # noqa: E731


@pytest.fixture(params=[True, False], ids=["file", "directory"])
def kw(request, tmp_path):
    return {"urlpath": tmp_path / "x.b2nd", "mode": "w", "contiguous": request.param}


@pytest.mark.parametrize("new", NEW, ids=lambda new: f"{new.dtype}{new.shape}")
def test_refresh_shows_the_other_array(kw, new):
    b2.asarray(OLD, **kw).close()
    readers = [b2.open(kw["urlpath"]) for _ in range(2)]
    assert readers[0][1, 1] == 5
    b2.asarray(new, **kw).close()
    for x in readers:
        assert x.refresh() and x.dtype == new.dtype and x.shape == new.shape
        for name, read in {**READS, "item": ITEM}.items():
            np.testing.assert_array_equal(read(x), read(new), err_msg=name)
        out = np.empty_like(new)
        x.read_into(out)
        np.testing.assert_array_equal(out, new)


LOOKS = {
    **READS,
    "item": ITEM,
    "shape": lambda x: [*x.shape, x.ndim, x.size, x.nbytes],
    "dtype": lambda x: np.empty(0, x.dtype),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("new", NEW, ids=lambda new: f"{new.dtype}{new.shape}")
def test_each_call_with_the_lock_shows_the_other_array(kw, new, look):
    kw["locking"] = True
    b2.asarray(OLD, **kw).close()
    with b2.open(kw["urlpath"], locking=True) as x:
        assert x[1, 1] == 5
        b2.asarray(new, **kw).close()
        got = LOOKS[look](x)
        np.testing.assert_array_equal(got, LOOKS[look](new))
        assert getattr(got, "dtype", new.dtype) == new.dtype


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("new", NEW, ids=lambda new: f"{new.dtype}{new.shape}")
def test_a_read_that_finds_the_directory_replaced(tmp_path, new, read):
    kw = {"urlpath": tmp_path / "x", "mode": "w", "contiguous": False}
    b2.asarray(OLD, **kw).close()
    with b2.open(tmp_path / "x") as x:
        b2.asarray(new, **kw).close()
        np.testing.assert_array_equal(READS[read](x), READS[read](new))


def test_other_items_of_the_same_size_are_new(kw):
    noise = np.random.default_rng(0).integers(0, 1 << 62, (2, 1000))
    b2.asarray(noise[0], **kw).close()
    x = b2.open(kw["urlpath"])
    b2.asarray(noise[1], **kw).close()
    assert x.refresh() and not x.refresh()
    np.testing.assert_array_equal(x, noise[1])


def test_items_are_written_in_the_present_dtype(kw):
    kw["locking"] = True
    with b2.zeros((2, 4), "i8", **kw) as w:
        b2.zeros((2, 4), "f8", **kw).close()
        w[1, 1] = 1
        w.oindex[[0], [2, 3]] = 2
        w[[0, 1], [0, 0]] = 3
        np.testing.assert_array_equal(w, [[3.0, 0, 2, 2], [3, 1, 0, 0]])
    np.testing.assert_array_equal(b2.open(kw["urlpath"]), [[3.0, 0, 2, 2], [3, 1, 0, 0]])


def test_a_view_has_the_present_dtype_when_it_can_show_the_array_again(kw):
    kw["locking"] = True
    with b2.zeros((1, 4), "i8", **kw) as w:
        view = w.squeeze()
        b2.full((2, 4), 0.5, chunks=(1, 4), **kw).close()
        w.resize((1, 4))
        assert view.dtype == w.dtype == "f8"
        np.testing.assert_array_equal(view, [0.5] * 4)
        np.testing.assert_array_equal(w.squeeze(), view)


@pytest.mark.parametrize(
    "shape, chunks, blocks",
    [((2, 4), (1, 2), (1, 2)), ((1, 4), (2, 2), (2, 2)), ((1, 4), (2, 2), (1, 2)), ((1, 4), (2, 1), (1, 1))],
)
def test_a_view_that_cannot_show_the_array_shows_nothing(kw, shape, chunks, blocks):
    """An axis that it leaves out is longer than 1 now, or its chunks are: nor does it copy them."""
    kw["locking"] = True
    with b2.asarray([[0.0, 1, 2, 3]], chunks=(1, 2), blocks=(1, 2), **kw) as w:
        view = w.squeeze()
        b2.full(shape, 0.5, chunks=chunks, blocks=blocks, **kw).close()
        for look in (
            lambda: view[:],
            lambda: view.shape,
            lambda: view.copy(),
            lambda: view.slice(slice(0, 4)),
            lambda: view.to_cframe(),
            lambda: b2.concat([view, view]),
            lambda: b2.expand_dims(view),
            lambda: view.__setitem__(0, 1),
        ):
            with pytest.raises(b2.ParameterError, match="no array that can be shown"):
                look()
        assert repr(view).startswith("NDArray(what is stored now is no array that can be shown here")
        np.testing.assert_array_equal(w, np.full(shape, 0.5))
        b2.full((1, 4), 2.5, chunks=(1, 4), **kw).close()
        np.testing.assert_array_equal(view, [2.5] * 4)
        b2.full(shape, 0.5, chunks=chunks, blocks=blocks, **kw).close()
        with pytest.raises(b2.ParameterError):
            view[:]
        view.close()
        assert repr(view) == "NDArray(shape=(4,), dtype=float64, closed)"


def test_handles_take_turns_on_what_is_there_now(kw):
    kw["locking"] = True
    handles = [b2.zeros((4,), **kw)]
    for i in range(4):
        b2.full((4,), i + 0.5, **kw).close()
        handles.append(b2.open(kw["urlpath"], mode="a", locking=True))
        for n, handle in enumerate(handles[:4]):
            handle[n] = n
        want = [n if n < len(handles) else i + 0.5 for n in range(4)]
        for handle in handles:
            np.testing.assert_array_equal(handle, want)
    with handles[0].holding_lock(), pytest.raises(BlockingIOError):
        handles[1][0]
    for handle in handles:
        handle.close()


def test_views_and_fields_show_the_other_array(tmp_path):
    kw = {"urlpath": tmp_path / "x.b2nd", "mode": "w"}
    b2.zeros((3,), [("a", "i4"), ("b", "i4")], **kw).close()
    x = b2.open(tmp_path / "x.b2nd")
    view, a, b = b2.expand_dims(x), x["a"], x.fields["b"]
    new = np.array([(1.5, [1, 2]), (2.5, [3, 4])], [("a", "f8"), ("c", "i2", (2,))])
    b2.asarray(new, **kw).close()
    assert x.refresh()
    assert view.dtype == new.dtype and a.dtype == "f8" and x["c"].shape == (2, 2)
    np.testing.assert_array_equal(view, new[None])
    np.testing.assert_array_equal(a, new["a"])
    with pytest.raises(b2.NotFoundError, match="there is no field 'b'"):
        b[...]


def test_what_is_no_array_any_more(kw):
    b2.asarray(OLD, **kw).close()
    x = b2.open(kw["urlpath"])
    view = b2.expand_dims(x)
    b2.SChunk(data=OLD.tobytes(), **kw).close()
    with pytest.raises(b2.FormatError, match="no array any more"):
        x.refresh()
    for array in (x, view):
        with pytest.raises(b2.ParameterError):
            array[...]
