# SPDX-License-Identifier: BSD-3-Clause
"""Attributes and methods of python-blosc2's arrays and super-chunks do here what they do there."""

from __future__ import annotations

import blosc2
import numpy as np
import pytest

import blosc2c as b2

BOTH = pytest.mark.parametrize("lib", [b2, blosc2], ids=["ours", "theirs"])
ITEMS = np.arange(60, dtype="i4").reshape(6, 10)


def array_of(lib):
    return lib.asarray(ITEMS, chunks=(4, 5), blocks=(2, 3))


# ---- Views -----------------------------------------------------------------


@BOTH
def test_views_know_what_they_show(lib):
    a = array_of(lib)
    row = lib.asarray(ITEMS[:1])
    assert a.base is None and a.copy().base is None and a.slice((slice(0, 2), 1)).base is None
    wider = lib.expand_dims(a, axis=0)
    assert wider.base is a and lib.expand_dims(wider, axis=0).base is a
    assert row.squeeze(0).base is row and lib.squeeze(row, axis=0).base is row


def test_a_view_keeps_its_base_until_it_is_closed():
    view = b2.expand_dims(array_of(b2))
    np.testing.assert_array_equal(view.base[...], ITEMS)
    view.close()
    assert view.base is None


# ---- Boxes by their corners ------------------------------------------------


@BOTH
def test_boxes_are_read_by_their_corners(lib):
    a, out = array_of(lib), np.zeros((2, 3), "i4")
    assert a.get_slice_numpy(out, ((1, 2), (3, 5))) is out
    np.testing.assert_array_equal(out, ITEMS[1:3, 2:5])
    np.testing.assert_array_equal(a.get_slice_numpy(arr=out, key=([4, 7], [6, 10])), ITEMS[4:, 7:])


@BOTH
def test_boxes_are_written_by_their_corners(lib):
    a, want = array_of(lib), ITEMS.copy()
    want[1:3, 2:5] = 7
    assert a.set_slice(((1, 2), (3, 5)), np.full((2, 3), 7, "i4")) is a
    np.testing.assert_array_equal(a[...], want)


def test_boxes_have_the_shape_of_what_is_assigned():
    a = array_of(b2)
    with pytest.raises(ValueError, match="does not fit"):
        a.set_slice(((0, 0), (2, 2)), np.ones((3, 2), "i4"))
    with pytest.raises(ValueError, match="shape"):
        a.get_slice_numpy(np.zeros((3, 2), "i4"), ((0, 0), (2, 2)))
    np.testing.assert_array_equal(a[...], ITEMS)


# ---- Orthogonal selection --------------------------------------------------

VECTORS = {
    "lists": [[4, 1], [3, 0, 9]],
    "tuple": ([4, 1], [3, 0, 9]),
    "arrays": [np.array([4, 1]), np.array([3, 0, 9])],
    "an array": np.array([[4, 1, 1], [3, 0, 9]]),
    "an array of uint8": np.array([[4, 1], [3, 9]], "u1"),
}


@BOTH
@pytest.mark.parametrize("kind", VECTORS)
def test_orthogonal_reads(lib, kind):
    a, key = array_of(lib), VECTORS[kind]
    want = ITEMS[np.ix_(*key)]
    np.testing.assert_array_equal(a.oindex[key], want)
    out = np.zeros_like(want)
    assert a.get_oindex_numpy(out, key) is out
    np.testing.assert_array_equal(out, want)


@BOTH
@pytest.mark.parametrize("kind", VECTORS)
def test_orthogonal_writes(lib, kind):
    key = VECTORS[kind]
    shape = tuple(map(len, key))
    values = np.broadcast_to(np.arange(100, 100 + shape[1], dtype="i4"), shape).copy()
    want = ITEMS.copy()
    want[np.ix_(*key)] = values
    a = array_of(lib)
    a.oindex[key] = values
    np.testing.assert_array_equal(a[...], want)
    a = array_of(lib)
    assert a.set_oindex_numpy(key, values) is values
    np.testing.assert_array_equal(a[...], want)


@BOTH
def test_an_array_of_vectors_has_one_for_each_axis(lib):
    with pytest.raises((IndexError, ValueError)):
        lib.zeros((3,)).oindex[np.array([[0, 1], [0, 1]])]


def test_masks_of_several_axes_are_no_orthogonal_index():
    with pytest.raises(IndexError):
        array_of(b2).oindex[ITEMS > 3]


# ---- Metalayers ------------------------------------------------------------


@BOTH
def test_vlmetalayers_as_a_dict_of_bytes(lib):
    s = lib.SChunk()
    assert s.vlmeta.to_dict() == {}
    s.vlmeta["a"], s.vlmeta["é"] = (1, {"b": (2,)}), "text"
    assert s.vlmeta.to_dict() == {b"a": (1, {"b": (2,)}), "é".encode(): "text"}


@BOTH
@pytest.mark.parametrize(
    "make", [lambda lib: lib.SChunk(), lambda lib: lib.zeros((3,))], ids=["schunk", "array"]
)
def test_vlmetalayers_as_they_are_stored(lib, make):
    owner = make(lib)
    v = owner.vlmeta
    v["a"] = [1, 2]
    assert v.get_vlmeta("a") == b"\x92\x01\x02" and v.nvlmetalayers() == 1
    assert v.set_vlmeta("b", b"\x93\x03\x04\x05") is None and v["b"] == [3, 4, 5]
    v.set_vlmeta("a", bytearray(b"\x07"))
    assert v.getall() == {"a": 7, "b": [3, 4, 5]}
    assert v.del_vlmeta("a") is None and list(v) == ["b"]
    with pytest.raises(KeyError):
        v.get_vlmeta("a")
    with pytest.raises(RuntimeError):
        v.del_vlmeta("a")
    with pytest.raises(TypeError):
        v.set_vlmeta("a", 3)


@BOTH
@pytest.mark.parametrize("place", ["memory", "file"])
def test_joined_arrays_have_the_metalayers_of_the_first(lib, place, tmp_path):
    a = lib.zeros((2, 3), meta={"m": 1})
    a.vlmeta["unit"], a.vlmeta["n"] = "kelvin", [1, 2]
    b = lib.ones((2, 3), meta={"other": 1})
    b.vlmeta["unit"] = "celsius"
    joined = lib.concat([a, b], **({"urlpath": tmp_path / "x.b2nd"} if place == "file" else {}))
    if place == "file":
        del joined
        joined = lib.open(tmp_path / "x.b2nd")
    assert joined.vlmeta[:] == {"unit": "kelvin", "n": [1, 2]}
    assert [name for name in joined.meta if name != "b2nd"] == ["m"] and joined.meta["m"] == 1
    assert a.vlmeta[:] == {"unit": "kelvin", "n": [1, 2]}


def test_stacked_arrays_have_the_metalayers_of_the_first():
    a = b2.zeros((2, 3), meta={"m": 1})
    a.vlmeta["unit"] = "kelvin"
    stacked = b2.stack([a, np.ones((2, 3))])
    assert (stacked.vlmeta[:], stacked.meta["m"]) == ({"unit": "kelvin"}, 1)
    without, others = b2.concat([np.ones((2, 3)), a]), b2.concat([a, a], meta={"k": 2})
    assert without.vlmeta[:] == {} and without.meta.keys() == ["b2nd"]
    assert others.vlmeta[:] == {"unit": "kelvin"} and others.meta.keys() == ["b2nd", "k"]


# ---- Iterables -------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("c_order", [True, False])
@pytest.mark.parametrize("source", [ITEMS, ITEMS.T, ITEMS[::2, ::3], ITEMS.reshape(3, 2, 10)])
def test_arrays_are_iterated_item_by_item(lib, source, c_order):
    shape = source.size // 2, 2
    a = lib.fromiter(source, shape, "f8", c_order=c_order)
    np.testing.assert_array_equal(a[...], source.reshape(shape))
    assert a.dtype == np.float64


def test_an_array_without_axes_has_one_item():
    assert b2.fromiter(np.array(5), (), "i4")[()] == 5
    with pytest.raises(ValueError, match="iterator too short"):
        b2.fromiter(np.array(5), (2,), "i4")


# ---- Errors that name what is wrong ----------------------------------------

NAMED = {
    "chunksize": lambda: b2.SChunk(chunksize="a"),
    "start 0, stop 'a'": lambda: b2.arange("a"),
    "step 'a'": lambda: b2.arange(0, 5, "a"),
    "stop 1j": lambda: b2.arange(1j),
    "start 'a' and stop 1": lambda: b2.linspace("a", 1, 3),
    "num": lambda: b2.linspace(0, 1, "a"),
    "k": lambda: b2.eye(3, k="a"),
    "nitems": lambda: b2.SChunk().fill_special("a", b2.SpecialValue.ZERO),
    "nitems ": lambda: b2.SChunk().truncate(1.5),
    "start": lambda: b2.SChunk().set_slice(b"a", "a"),
    "stop": lambda: b2.SChunk().set_slice(b"a", 0, "a"),
    "axis": lambda: b2.zeros((2, 2)).take([0], axis="a"),
    "each of axes": lambda: b2.permute_dims(b2.zeros((2, 2)), "ab"),
    "storage": lambda: b2.zeros(3, storage=5),
    "storage ": lambda: b2.zeros(3).copy(storage=5),
}


@pytest.mark.parametrize("name", NAMED)
def test_errors_name_the_parameter(name):
    with pytest.raises(TypeError, match=f"{name.strip()}.* must be "):
        NAMED[name]()


# ---- Names that are left out ----------------------------------------------


def an_array(lib):
    return lib.asarray(np.ones(2, [("x", "i4")]))


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (an_array, ["sum", "argsort", "c_array"]),
        (lambda lib: an_array(lib)["x"], ["sum", "where"]),
        (lambda lib: an_array(lib).schunk, ["c_schunk"]),
    ],
    ids=["NDArray", "NDField", "SChunk"],
)
def test_attributes_that_are_left_out_are_explained(make, names):
    ours, theirs = make(b2), make(blosc2)
    for name in names:
        assert hasattr(theirs, name)
        with pytest.raises(AttributeError, match=f"^{type(theirs).__name__} has no {name}: "):
            getattr(ours, name)
    assert not {*names} & {*dir(ours)}
    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
        ours.nothing  # noqa: B018


@BOTH
def test_fields_are_made_by_keywords(lib):
    a = an_array(lib)
    field = lib.NDField(ndarr=a, field="x")
    assert field.ndarr is a and field[:].tolist() == [1, 1]


@pytest.mark.parametrize("name", ["float16", "bool_", "argsort", "evaluate", "diagonal", "object_"])
def test_names_that_are_left_out_are_explained(name):
    assert hasattr(blosc2, name)
    with pytest.raises(AttributeError, match=f"blosc2c has no {name}: "):
        getattr(b2, name)


# ---- Where and how a super-chunk is kept -------------------------------------

FACTS = ["urlpath", "mode", "mmap_mode", "initial_mapping_size"]


@BOTH
@pytest.mark.parametrize(
    "kw", [{}, {"mode": "w"}, {"mmap_mode": "w+", "initial_mapping_size": 1 << 20}], ids=str
)
def test_vlmetalayers_know_where_they_are(lib, kw, tmp_path):
    path = str(tmp_path / "x")
    s = lib.SChunk(chunksize=4, data=b"1234", urlpath=path, **kw)
    told = {
        "mmap_mode": None,
        "initial_mapping_size": None,
        **kw,
        "mode": "w" if kw else "a",
        "urlpath": path,
    }
    for owner in (s, s.vlmeta):
        assert {name: getattr(owner, name) for name in FACTS} == told
    assert s.vlmeta.locking is False and lib.SChunk().vlmeta.urlpath is None


@BOTH
def test_the_size_of_a_mapping_is_kept(lib, tmp_path):
    path = str(tmp_path / "x")
    s = lib.SChunk(chunksize=4, data=b"1234", urlpath=path)
    assert s.initial_mapping_size is None
    del s
    a = lib.open(path, mmap_mode="r+", initial_mapping_size=1 << 20)
    assert (a.initial_mapping_size, a.mmap_mode) == (1 << 20, "r+")


@BOTH
def test_changes_by_others_are_counted(lib, tmp_path):
    path = str(tmp_path / "x")
    writer = lib.SChunk(chunksize=4, data=b"1234", urlpath=path, locking=True)
    reader = lib.open(path, locking=True)
    assert reader[:] == b"1234" and reader.change_tick == writer.change_tick == lib.SChunk().change_tick == 0
    writer.append_data(b"5678")
    assert reader.change_tick == 0
    reader[:]  # of what has been there, in Python-Blosc2
    assert reader.change_tick == 1 and reader[:] == b"12345678"
    assert reader.change_tick == 1 and writer.change_tick == 0


@BOTH
@pytest.mark.parametrize("copy", [True, False])
def test_what_is_made_of_a_frame_is_one_unless_it_is_a_copy(lib, copy):
    frame = lib.SChunk(chunksize=4, data=b"1234").to_cframe()
    for read in (lib.from_cframe, lib.schunk_from_cframe):
        s = read(frame, copy=copy)
        assert s.contiguous is not copy and s[:] == b"1234"
    assert lib.ndarray_from_cframe(lib.zeros((3,)).to_cframe(), copy=copy).schunk.contiguous is not copy
