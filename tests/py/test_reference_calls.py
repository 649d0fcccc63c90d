# SPDX-License-Identifier: BSD-3-Clause
"""Calls that python-blosc2 takes are taken, and what it refuses is refused, with the same builtin exception."""

from __future__ import annotations

import errno
import functools
import operator
import subprocess
import sys

import blosc2
import numpy as np
import pytest

import blosc2c as b2

BOTH = pytest.mark.parametrize("lib", [b2, blosc2], ids=["ours", "theirs"])


# ---- Parameters of what is there -------------------------------------------


def made(explicit):
    s = b2.SChunk(chunksize=4096, cparams={"typesize": 4, "blocksize": 512 if explicit else 0})
    s.append_data(bytes(4096))
    return s


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("given", [b2.CParams(typesize=4, codec="lz4"), {"codec": "lz4", "blocksize": 0}])
def test_an_automatic_blocksize_keeps_what_is_there(explicit, given):
    s = made(explicit)
    s.cparams = given
    assert s.cparams.codec is b2.Codec.LZ4
    assert s.cparams.blocksize == s.blocksize == 512 * explicit
    s.append_data(bytes(4096))
    assert b2.get_cbuffer_sizes(s.get_chunk(1))[2] >= 512


def test_cparams_of_arrays_are_set(tmp_path):
    a = b2.asarray(np.arange(10, dtype="i4"), urlpath=tmp_path / "a.b2nd", blocks=(5,))
    a.schunk.cparams = b2.CParams(typesize=4, codec=b2.Codec.LZ4)
    a.close()
    with b2.open(tmp_path / "a.b2nd", mode="a", cparams=b2.CParams(typesize=4, clevel=9)) as a:
        assert (a.cparams.clevel, a.cparams.codec, a.schunk.blocksize) == (9, b2.Codec.ZSTD, 20)
        a[2:8] = 7
    np.testing.assert_array_equal(b2.open(tmp_path / "a.b2nd")[...], [0, 1, *[7] * 6, 8, 9])
    np.testing.assert_array_equal(blosc2.open(str(tmp_path / "a.b2nd"))[...], [0, 1, *[7] * 6, 8, 9])


@pytest.mark.parametrize("wrong", [{"typesize": 4, "blocksize": 1024}, {"typesize": 2}])
def test_another_blocksize_or_typesize_is_refused(wrong):
    with pytest.raises(ValueError, match="do not change"):
        made(True).cparams = b2.CParams(**wrong)
    with pytest.raises(ValueError, match="do not change"):
        made(True).cparams = {"typesize": 8}


@BOTH
@pytest.mark.parametrize("place", ["memory", "file", "directory"])
def test_parameters_without_a_typesize_are_for_later_chunks(lib, tmp_path, place):
    where = {} if place == "memory" else {"urlpath": str(tmp_path / "x"), "contiguous": place == "file"}
    items = np.arange(100, dtype="i4")
    s = lib.SChunk(chunksize=400, data=items, cparams={"typesize": 4}, **where)
    s.cparams = lib.CParams(codec=lib.Codec.LZ4, clevel=1)
    assert (s.cparams.codec, s.cparams.clevel, s.append_data(items)) == (lib.Codec.LZ4, 1, 2)
    assert s[:] == items.tobytes() * 2
    if lib is b2:  # theirs has items of 8 bytes then
        assert (s.typesize, len(s), s[101]) == (4, 200, items[1:2].tobytes())


SIZES = [{}, {"typesize": 8}, {"typesize": 1, "blocksize": 128}, {"typesize": 4, "blocksize": 64}]


@BOTH
@pytest.mark.parametrize("given", SIZES, ids=str)
@pytest.mark.parametrize("place", ["memory", "file", "directory"])
def test_sizes_change_where_there_are_no_chunks(lib, tmp_path, place, given):
    where = {} if place == "memory" else {"urlpath": tmp_path / "x", "contiguous": place == "file"}
    s = lib.SChunk(chunksize=400, cparams={"typesize": 4}, **where)
    new = lib.CParams(clevel=1, **given)
    s.cparams = new
    assert (s.typesize, s.cparams.blocksize) == (new.typesize, new.blocksize)
    s.append_data(np.arange(100, dtype="i4"))
    if place != "memory":
        del s
        s = b2.open(tmp_path / "x")
        assert blosc2.open(str(tmp_path / "x")).typesize == new.typesize
    assert (s.typesize, len(s)) == (new.typesize, 400 // new.typesize)
    assert s[:] == np.arange(100, dtype="i4").tobytes()


def test_changed_sizes_are_an_edit(tmp_path):
    path = tmp_path / "x"
    with b2.SChunk(chunksize=400, cparams={"typesize": 4}, urlpath=path, locking=True) as s:
        with b2.open(path, locking=True, mode="a") as other:
            s.cparams = b2.CParams(typesize=2)
            assert (other.typesize, other.append_data(bytes(400)), len(s)) == (2, 1, 200)
        s.delete_chunk(0)
        with pytest.raises(RuntimeError, match="undone"), s.transaction():
            s.cparams = b2.CParams(typesize=8)
            raise RuntimeError("undone")
        assert s.typesize == b2.open(path).typesize == 2
    with pytest.raises(ValueError, match="reading"):
        b2.open(path).cparams = b2.CParams(typesize=8)
    with pytest.raises(ValueError, match="array"):
        b2.zeros((0,), dtype="i4").schunk.cparams = b2.CParams(typesize=8)


# ---- Facts of chunks -------------------------------------------------------


def chunks_of(lib, kind):
    if kind == "array":
        return lib.full((4, 4), 7, dtype="i2", chunks=(2, 4)), 6
    s = lib.SChunk(chunksize=40, cparams={"typesize": 4})
    for data in (bytes(40), bytes(range(40))):
        s.append_data(data)
    return s, 5


@pytest.mark.parametrize("kind", ["array", "schunk"])
def test_facts_of_chunks_are_named_tuples(kind):
    (ours, n), (theirs, _) = chunks_of(b2, kind), chunks_of(blosc2, kind)
    for mine, other in zip(ours.iterchunks_info(), theirs.iterchunks_info(), strict=True):
        assert mine._fields == other._fields and len(mine) == len(other) == n
        nchunk, *between, chunk = mine
        assert nchunk == mine[0] == mine.nchunk == other[0]
        assert chunk == mine[-1] == mine.lazychunk == ours.get_chunk(nchunk)
        assert mine[1:3] == (between[0], between[1])
        assert mine[-3].value == other[-3].value and mine[-2] == other[-2]
        assert mine._asdict() == dict(zip(mine._fields, mine, strict=True))
        assert "lazychunk" not in repr(mine)
    with pytest.raises(IndexError):
        mine[n]


# ---- Modes -----------------------------------------------------------------

IN_MEMORY = {
    "zeros": lambda lib, **kw: lib.zeros((3,), **kw),
    "full": lambda lib, **kw: lib.full((3,), 0, **kw),
    "asarray": lambda lib, **kw: lib.asarray(np.zeros(3), **kw),
    "arange": lambda lib, **kw: lib.arange(0, 3, 1, **kw),
    "copy": lambda lib, **kw: lib.zeros((3,)).copy(**kw),
    "slice": lambda lib, **kw: lib.zeros((4,)).slice(slice(0, 3), **kw),
}


@BOTH
@pytest.mark.filterwarnings("ignore:`mode` field value changed")
@pytest.mark.parametrize("mode", ["r", "a", "w", None])
@pytest.mark.parametrize("maker", IN_MEMORY)
def test_arrays_in_memory_have_no_mode(lib, maker, mode):
    a = IN_MEMORY[maker](lib, mode=mode)
    assert a.shape == (3,) and a.urlpath is None
    if maker != "slice":
        assert IN_MEMORY[maker](lib, storage=lib.Storage(mode=mode)).shape == (3,)


@BOTH
def test_without_a_mode_it_is_the_default(lib, tmp_path):
    path = str(tmp_path / "x.b2nd")
    s = lib.SChunk(mode=None, urlpath=path)
    assert s.nchunks == lib.SChunk(mode=None).nchunks == 0
    del s
    with pytest.raises(RuntimeError):  # nothing is replaced
        lib.zeros((3,), urlpath=path, mode=None)


@BOTH
def test_mode_r_makes_no_file_and_no_schunk(lib, tmp_path):
    path = str(tmp_path / "x.b2nd")
    for make in (lambda: lib.zeros((3,), urlpath=path, mode="r"), lambda: lib.SChunk(mode="r")):
        with pytest.raises(ValueError):
            make()
    assert not (tmp_path / "x.b2nd").exists()


def test_an_unknown_mode_is_refused_in_memory_as_well():
    with pytest.raises(ValueError, match="mode must be one of"):
        b2.zeros((3,), mode="q")


# ---- Iteration ----------------------------------------------------------------


@BOTH
def test_an_array_without_axes_is_no_iterable(lib):
    for a in (lib.asarray(np.array(5)), lib.zeros((), [("x", "i4")])["x"]):
        with pytest.raises((TypeError, IndexError)):
            iter(a)
    assert np.iterable(lib.zeros((2,))) and [int(i) for i in lib.arange(3)] == [0, 1, 2]


def test_numpy_is_told_what_is_no_iterable():
    assert not np.iterable(b2.asarray(np.array(5))) and not np.iterable(b2.zeros((), [("x", "i4")])["x"])
    assert [tuple(i) for i in b2.zeros((2,), [("x", "i4"), ("y", "i4")])[["x", "y"]]] == [(0, 0)] * 2


# ---- Operators -------------------------------------------------------------

ITEMS = np.array([[1, 2, 3], [4, 5, 6]], "i4")
OTHERS = {
    "array": (b2.asarray(ITEMS[::-1]), ITEMS[::-1]),
    "numpy": (ITEMS[:1], ITEMS[:1]),
    "numpy scalar": (np.float64(3), 3),
    "int": (3, 3),
    "float": (3.0, 3.0),
    "complex": (3 + 0j, 3),
    "bool": (True, True),
    "list": ([1, 5, 3], [1, 5, 3]),
    "itself": (None, ITEMS),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_arrays_are_compared_item_by_item(kind):
    a = b2.asarray(ITEMS, chunks=(1, 2))
    other, plain = OTHERS[kind]
    other = a if kind == "itself" else other
    for result, want in ((a == other, plain == ITEMS), (a != other, plain != ITEMS)):
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(other == a, plain == ITEMS)


def test_equal_arrays_are_equal():
    a, b = b2.asarray(ITEMS), b2.asarray(ITEMS)
    assert np.all(a == b) and not np.any(a != b)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a == b)
    with pytest.raises(ValueError):  # as NumPy
        operator.eq(a, b2.zeros((4,)))


def test_what_holds_no_items_is_another_object():
    a = b2.asarray(ITEMS)
    for other in (None, "text", b"bytes", object(), b2.Codec.ZSTD, b2.SChunk()):
        assert (a == other) is False and (a != other) is True


def test_texts_and_fields_are_compared():
    a = b2.asarray(np.array(["a", "b"]))
    assert (a == "b").tolist() == [False, True]
    r = b2.zeros((2,), dtype=[("x", "i4"), ("y", "f8")])
    r[1] = (3, 4.0)
    assert (r.fields["x"] == 3).tolist() == [False, True]
    assert (r.fields["x"] != r.fields["y"]).tolist() == [False, True]


@pytest.mark.parametrize("lib", [b2, blosc2, np])
def test_arrays_are_no_keys(lib):
    """Equal keys must be one, and == of arrays says nothing of that."""
    a = lib.asarray(ITEMS)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    assert a in [a]  # identity first


def test_fields_are_no_keys():
    with pytest.raises(TypeError, match="unhashable"):
        hash(b2.zeros(2, [("x", "i4")])["x"])


OPERATORS = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le gt ge"


@pytest.mark.parametrize("name", [*OPERATORS.split(), "divmod"])
def test_nothing_is_computed(name):
    operation = getattr(operator, name, divmod)
    a = b2.asarray(ITEMS)
    for other in (2, a, ITEMS.tolist(), None):
        for pair in ((a, other), (other, a)):
            with pytest.raises(
                TypeError, match=r"compute with its items as a NumPy array, as in a\[\.\.\.\]"
            ):
                operation(*pair)
    other = ITEMS.T if operation is operator.matmul else ITEMS
    for pair in ((a, other), (other, a)):  # NumPy computes itself
        np.testing.assert_array_equal(operation(*pair), operation(*map(np.asarray, pair)))


@pytest.mark.parametrize("operation", [operator.neg, operator.pos, operator.invert, abs])
def test_nothing_is_computed_of_one_array(operation):
    with pytest.raises(TypeError, match="compute engine"):
        operation(b2.asarray(ITEMS))


# ---- Values that do not fit ------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"), [(300, "u1"), (-1, "u1"), (300, "i1"), (1 << 40, "<i4"), (300.5, "u1")]
)
def test_fill_values_that_do_not_fit_are_refused(value, dtype):
    for lib in (b2, blosc2):
        with pytest.raises(OverflowError):
            lib.full((3,), value, dtype=dtype)
        with pytest.raises(OverflowError):
            lib.full_like(np.zeros(3, dtype), value)


@BOTH
@pytest.mark.parametrize("value", [300, np.int64(300), np.array(300), -1, np.int8(-1)])
def test_items_that_do_not_fit_are_refused(lib, value):
    a = lib.zeros((3,), dtype="u1")
    for key in (slice(0, 1), slice(None), 1):
        with pytest.raises(OverflowError):
            a[key] = value
    assert not a[...].any()


@BOTH
@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (1 << 40, [("a", "i4")], OverflowError),
        (float("inf"), [("a", "i4")], OverflowError),
        (float("nan"), [("a", "i4"), ("b", "S3")], ValueError),
        (1 + 2j, [("a", "i4")], TypeError),
        (1 << 63, "M8[D]", OverflowError),
        (3.5, "M8[D]", ValueError),
        (float("nan"), "m8[s]", ValueError),
    ],
)
def test_numbers_that_records_and_dates_cannot_hold_are_refused(lib, value, dtype, error):
    with pytest.raises(error):
        lib.full((3,), value, dtype=dtype)


def test_items_that_fit_are_converted():
    a = b2.zeros((3,), dtype="u1")
    a[0:1], a[1], a[2] = np.int64(200), 1.7, np.array(True)
    assert a[...].tolist() == [200, 1, 1]
    assert b2.full((2,), np.int64(7), dtype="<f4")[...].tolist() == [7, 7]
    with pytest.raises(TypeError):  # a complex number is no real one
        b2.full((2,), 1j, dtype="f4")
    assert b2.full((2,), "2020-01-01", dtype="M8[D]").dtype == "M8[D]"
    assert b2.full((2,), "12", dtype="i4")[...].tolist() == [12, 12]


RECORD = [("a", "i4"), ("b", "f8")]


@BOTH
@pytest.mark.parametrize("value", [(1, 2.0), np.array((1, 2.0), RECORD), np.array((1, 2.0), RECORD)[()]])
def test_records_are_fill_values(lib, value):
    want = np.full((2,), np.array((1, 2.0), RECORD))
    for a in (lib.full((2,), value, dtype=RECORD), lib.full_like(np.zeros(2, RECORD), value)):
        np.testing.assert_array_equal(a[...], want)


def test_several_values_do_not_fill():
    for kw in ({}, {"dtype": "i4"}, {"dtype": RECORD}):
        with pytest.raises(ValueError, match="fill_value must be one value"):
            b2.full((2,), [(1, 2.0), (3, 4.0)], **kw)


# ---- Exceptions ------------------------------------------------------------


def two_chunks(lib):
    s = lib.SChunk(chunksize=100)
    for data in (bytes(range(100)), bytes(100)):
        s.append_data(data)
    return s


REFUSED = {
    "decompress": lambda lib: lib.decompress(lib.compress2(bytes(1000)), bytearray(10)),
    "decompress_chunk": lambda lib: two_chunks(lib).decompress_chunk(0, bytearray(10)),
    "reorder_offsets": lambda lib: two_chunks(lib).reorder_offsets([0, 5]),
    "fill_special": lambda lib: two_chunks(lib).fill_special(-1, lib.SpecialValue.ZERO),
    "squeeze": lambda lib: lib.squeeze(lib.zeros((2, 1)), 0),
    "resize": lambda lib: lib.zeros((2,)).resize((-1,)),
    "zeros": lambda lib: lib.zeros((-1,)),
    "compress2": lambda lib: lib.compress2(b"1234", clevel=12),
}


@BOTH
@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_done_is_a_runtime_error(lib, call):
    with pytest.raises(RuntimeError):
        REFUSED[call](lib)


@pytest.mark.parametrize("call", REFUSED)
def test_and_a_value_error(call):
    with pytest.raises(ValueError):
        REFUSED[call](b2)


def test_a_value_of_another_shape_is_a_value_error():
    a = b2.zeros((4,))
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind, match="does not fit"):
            a[0:2] = np.ones(3)
    assert not a[...].any()


# ---- Buffers ---------------------------------------------------------------


@BOTH
def test_the_first_items_of_a_buffer_are_taken(lib):
    assert lib.frombuffer(b"12345678", (2, 2)).tobytes() == b"1234"
    assert lib.frombuffer(b"123456789", (2,), dtype="i4").tobytes() == b"12345678"
    assert lib.frombuffer(b"12", (0,), dtype="i4").shape == (0,)
    for shape, dtype in (((9,), "u1"), ((3,), "<i4")):
        with pytest.raises(RuntimeError):
            lib.frombuffer(b"12345678", shape, dtype=dtype)


# ---- Parameters of former times --------------------------------------------


@BOTH
@pytest.mark.parametrize(("old", "new"), [("compcode", "codec"), ("shuffle", "filters")])
def test_renamed_parameters_are_told(lib, old, new):
    calls = [
        lambda: lib.compress2(b"1234", **{old: 1}),
        lambda: lib.compress2(b"1234", cparams={old: 1}),
        lambda: lib.SChunk(cparams={old: 1}),
        lambda: lib.zeros((3,), cparams={old: 1}),
    ]
    for call in calls:
        with pytest.raises(NameError, match=f"`?{old}`? .* `?{new}`?"):
            call()
    if lib is b2:
        with pytest.raises(b2.ParameterError):
            calls[0]()


# ---- Storage ---------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("kw", [{"initial_mapping_size": 1 << 20}, {"locking": True}])
def test_what_needs_a_file_or_a_mapping_is_refused(lib, tmp_path, kw):
    path = str(tmp_path / "x")
    makers = [lib.SChunk, lambda **kw: lib.zeros((3,), **kw)]
    for make in makers if lib is b2 or "locking" in kw else makers[:1]:  # theirs ignores the size for arrays
        with pytest.raises(ValueError):
            make(**kw)
        if "locking" not in kw:
            with pytest.raises(ValueError):
                make(urlpath=path, **kw)
    assert not (tmp_path / "x").exists()


@BOTH
def test_the_size_of_a_mapping_is_for_writing(lib, tmp_path):
    path, size = str(tmp_path / "x.b2nd"), 1 << 20
    lib.zeros((3,), urlpath=path, mmap_mode="w+", initial_mapping_size=size)
    for mmap_mode in ("r+", "c"):
        assert lib.open(path, mmap_mode=mmap_mode, initial_mapping_size=size).shape == (3,)
    for kw in ({}, {"mmap_mode": "r"}):
        with pytest.raises(ValueError):
            lib.open(path, initial_mapping_size=size, **kw)
    with pytest.raises(ValueError):
        lib.SChunk(urlpath=path, mmap_mode="r", initial_mapping_size=size)


@pytest.mark.parametrize(
    ("size", "error"), [(0, ValueError), (-1, ValueError), ("a", TypeError), (1.5, TypeError)]
)
def test_the_size_of_a_mapping_is_a_positive_number(tmp_path, size, error):
    with pytest.raises(error, match="initial_mapping_size"):
        b2.SChunk(urlpath=tmp_path / "x", mmap_mode="w+", initial_mapping_size=size)
    assert not (tmp_path / "x").exists()


@BOTH
@pytest.mark.parametrize("mmap_mode", ["r+", "c"])
def test_mapping_what_is_not_there(lib, tmp_path, mmap_mode):
    path = str(tmp_path / "x.b2nd")
    for make in (lib.SChunk, lambda **kw: lib.zeros((3,), **kw)):
        with pytest.raises(RuntimeError):
            make(urlpath=path, mmap_mode=mmap_mode)
    assert not (tmp_path / "x.b2nd").exists()


@BOTH
@pytest.mark.parametrize(
    "kw",
    [
        {"mmap_mode": "w+"},
        {"mmap_mode": "w+", "urlpath": "x", "contiguous": False},
        {"mmap_mode": "q", "urlpath": "x"},
        {"mmap_mode": "w+", "urlpath": "x", "locking": True},
        {"initial_mapping_size": 1 << 20},
        {"locking": True},
    ],
    ids=str,
)
def test_storage_is_refused_when_it_is_used(lib, kw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    storage = lib.Storage(**kw)
    assert storage.mode == "a"
    with pytest.raises(ValueError):
        lib.SChunk(storage=storage)
    assert not (tmp_path / "x").exists()


@BOTH
def test_storage_stays_as_it_was_given(lib, tmp_path):
    storage = lib.Storage(urlpath=str(tmp_path / "x"), mmap_mode="w+")
    made = [lib.SChunk(storage=storage), lib.zeros((3,), storage=storage)]
    assert storage == lib.Storage(urlpath=str(tmp_path / "x"), mmap_mode="w+")
    assert (storage.mode, made[0].mode) == ("a", "w")


# ---- Filters ---------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(("n", "nmeta"), [(1, 2), (2, 1), (1, 6), (0, 1), (None, 1), (None, 7)])
def test_each_filter_has_its_meta(lib, n, nmeta):
    kw = {"filters_meta": [0] * nmeta} | ({} if n is None else {"filters": [lib.Filter.SHUFFLE] * n})
    for call in (
        lambda: lib.compress2(b"1234", **kw),
        lambda: lib.compress2(b"1234", cparams=kw),
        lambda: lib.SChunk(cparams=kw),
        lambda: lib.zeros((3,), cparams=kw),
    ):
        with pytest.raises(ValueError):
            call()


@BOTH
def test_filters_without_metas_have_zeros(lib):
    assert lib.CParams(filters=[lib.Filter.SHUFFLE]).filters_meta == [0]
    assert lib.SChunk(cparams={"filters": [lib.Filter.SHUFFLE]}).cparams.filters_meta == [0] * 6
    assert lib.CParams(filters=[lib.Filter.SHUFFLE], filters_meta=[3, 4]).filters_meta == [3]


# ---- Axes ------------------------------------------------------------------


@pytest.mark.parametrize("axis", [2, -3])
@pytest.mark.parametrize(
    "call",
    [
        lambda axis: b2.take(b2.zeros((3, 1)), [0], axis=axis),
        lambda axis: b2.squeeze(b2.zeros((3, 1)), axis),
        lambda axis: b2.squeeze(b2.zeros((3, 1)), (1, axis)),
        lambda axis: b2.expand_dims(b2.zeros((3,)), axis),
        lambda axis: b2.concat([b2.zeros((3, 1))] * 2, axis=axis),
        lambda axis: b2.stack([b2.zeros((3,))] * 2, axis=axis),
    ],
    ids=["take", "squeeze", "squeeze two", "expand_dims", "concat", "stack"],
)
def test_axes_out_of_range_are_those_of_numpy(call, axis):
    for kind in (ValueError, IndexError):
        with pytest.raises(kind, match=f"axis {axis} is out of bounds for array of dimension 2"):
            call(axis)


# ---- Numbers that are none -------------------------------------------------


@pytest.mark.parametrize("wrong", ["a", None, 1.5, [1]])
def test_numbers_of_chunks_are_integers(wrong):
    s = two_chunks(b2)
    for call in (
        s.decompress_chunk,
        s.get_chunk,
        s.get_lazychunk,
        s.delete_chunk,
        lambda n: s.insert_data(n, bytes(100)),
        lambda n: s.update_special(n, b2.SpecialValue.ZERO),
        b2.zeros((3,)).get_chunk,
    ):
        with pytest.raises(TypeError, match=f"number of a chunk is an integer, not {type(wrong).__name__}"):
            call(wrong)
    assert s.decompress_chunk(np.int64(1)) == bytes(100) and s.nchunks == 2


@pytest.mark.parametrize("wrong", ["a", None, 1.5, [1]])
def test_items_of_schunks_are_integers_and_slices(wrong):
    s = two_chunks(b2)
    for call in (lambda k: s[k], lambda k: s.__setitem__(k, b"1"), lambda k: b2.get_slice_nchunks(s, k)):
        with pytest.raises(TypeError, match=f"integer or slice, not {type(wrong).__name__}"):
            call(wrong)
    for call in (lambda: b2.get_slice_nchunks(s, ("a", 3)), lambda: s.set_slice(b"1", "a")):
        with pytest.raises(TypeError, match="integer"):
            call()
    s[3] = b"x"
    s[-2:] = b"yz"
    assert (s[3], s[-1], s[198:]) == (b"x", b"z", b"yz")


@pytest.mark.parametrize("wrong", [np.zeros(3), b"abc", None])
def test_slices_are_of_schunks_and_arrays(wrong):
    with pytest.raises(TypeError, match=f"must be an SChunk or NDArray, not {type(wrong).__name__}"):
        b2.get_slice_nchunks(wrong, (0, 1))


# ---- Fields ----------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("wrong", [1, None, np.zeros(3, [("a", "i4")])], ids=["int", "None", "numpy"])
def test_fields_are_of_arrays(lib, wrong):
    with pytest.raises(TypeError):
        lib.NDField(wrong, "a")


@BOTH
def test_fields_are_not_assigned_by_name(lib):
    a = lib.zeros((3,), dtype=RECORD)
    with pytest.raises(TypeError):
        a.fields["a"] = 1
    a.fields["a"][:] = np.full(3, 1, "i4")
    assert a[...]["a"].tolist() == [1, 1, 1] and list(a.fields) == ["a", "b"]
    assert dict(lib.zeros((3,)).fields) == {}


# ---- Sizes and names -------------------------------------------------------


def test_chunksize_is_without_padding():
    sizes = [
        (a.chunksize, a.schunk.chunksize, a.blocksize)
        for a in (lib.zeros((10, 10), dtype="i4", chunks=(5, 7), blocks=(2, 3)) for lib in (b2, blosc2))
    ]
    assert sizes == [(140, 216, 24)] * 2


def test_names_of_metalayers_are_bytes_as_well():
    for lib in (b2, blosc2):
        s = lib.SChunk(meta={"m1": 1, b"m2": 2})
        assert list(s.meta) == ["m1", "m2"] and s.meta[b"m1"] == 1 and b"m1" in s.meta
        s.meta[b"m1"] = 5
        assert s.meta["m1"] == s.meta.get(b"m1") == 5
        s.vlmeta[b"k"] = 1
        s.vlmeta.update({b"\xc3\xa4": 2})
        assert s.vlmeta[:] == {"k": 1, "ä": 2}
        assert s.vlmeta[b"k"] == s.vlmeta["k"] == 1 and b"k" in s.vlmeta and b"x" not in s.vlmeta
        del s.vlmeta[b"k"]
        assert list(s.vlmeta) == ["ä"]
    with pytest.raises(ValueError, match="cannot be the name"):
        s = b2.SChunk()
        s.vlmeta[b"\xff"] = 1
    assert b"\xff" not in s.vlmeta
    a = b2.zeros((1,) * 16)
    assert a.meta[b"b2nd"] == a.meta["b2nd"]


# ---- Making arrays ---------------------------------------------------------


@BOTH
@pytest.mark.parametrize("shape", [(0, 4), (4, 4)])
def test_blocks_fit_in_chunks_whatever_the_shape(lib, shape):
    for make in (lib.compute_chunks_blocks, lib.zeros):
        with pytest.raises(ValueError):
            make(shape, chunks=(1, 4), blocks=(2, 4))
    assert lib.zeros((0, 4), chunks=(2, 4), blocks=(1, 4)).blocks == (1, 4)


@pytest.mark.parametrize(
    "args", [(2,), (1,), (0,), (0, 2), (1, 3), (0, -2, -1), (5, 7), (1, 0, -1), (10,), (0, 3)]
)
def test_ranges_of_booleans_are_those_of_numpy(args):
    try:
        want = np.arange(*args, dtype=bool)
    except TypeError:
        with pytest.raises(TypeError, match="at most two booleans"):
            b2.arange(*args, dtype=bool)
        return
    got = b2.arange(*args, dtype=bool)
    assert got.dtype == bool and got[...].tolist() == want.tolist()


def test_an_array_that_is_as_asked_for_is_returned():
    for lib in (b2, blosc2):
        a = lib.asarray(np.arange(100).reshape(10, 10), chunks=(5, 5), blocks=(2, 2))
        parts = {"chunks": a.chunks, "blocks": a.blocks}
        for kw in (parts, {"chunks": [5, 5]}, {"chunks": None, "blocks": None}, {**parts, "copy": False}):
            assert lib.asarray(a, **kw) is a
        for kw in ({"chunks": (2, 2)}, {"cparams": a.cparams}, {**parts, "copy": True}, {"meta": {"a": 1}}):
            b = lib.asarray(a, **kw)
            assert b is not a and (b[...] == a[...]).all()
        with pytest.raises(ValueError):
            lib.asarray(a, chunks=(2, 2), copy=False)
    a = b2.zeros((4,))
    assert b2.asarray(a, chunks=4, blocks=a.blocks, dtype=float) is a


# ---- What is not offered ---------------------------------------------------

DEFAULTS = {"dataset": None, "hdf5_index": None, "shared_cache": False, "storage_options": None}


@BOTH
def test_defaults_of_what_is_not_offered_are_taken(lib, tmp_path):
    path, packed = str(tmp_path / "a.b2nd"), str(tmp_path / "p.b2frame")
    lib.zeros((3,), urlpath=path)
    lib.save_array(np.arange(3), packed)
    assert lib.open(path, "r", 0, None, None).shape == lib.open(path, **DEFAULTS).shape == (3,)
    assert lib.load(path, storage_options=None).shape == (3,)
    for load in (lib.load_array, lib.load_tensor):
        assert load(packed, None, storage_options=None).tolist() == [0, 1, 2]
    assert lib.SChunk(deserialize=None).nchunks == 0


@pytest.mark.parametrize("name", DEFAULTS)
def test_what_is_not_offered_is_refused(tmp_path, name):
    b2.zeros((3,), urlpath=tmp_path / "a.b2nd").close()
    with pytest.raises(ValueError, match=f"{name} is for .*, which is not offered"):
        b2.open(tmp_path / "a.b2nd", **{name: "x"})
    if name == "storage_options":
        with pytest.raises(ValueError, match="not offered"):
            b2.load_array(tmp_path / "a.b2nd", storage_options={"anon": True})


@BOTH
def test_names_for_keys_and_classes(lib):
    a = lib.asarray(np.arange(6).reshape(2, 3))
    assert a[lib.newaxis, 1:].shape == (1, 1, 3)
    assert isinstance(a.schunk.vlmeta, lib.schunk.vlmeta)


@pytest.mark.parametrize("name", ["blosc2c", "blosc2"])
def test_modules_of_classes(name):
    code = f"import {name} as b2; assert b2.schunk.SChunk is b2.SChunk and b2.ndarray.NDArray is b2.NDArray"
    subprocess.run([sys.executable, "-c", code], check=True)


@BOTH
def test_the_mode_is_kept(lib, tmp_path):
    path = tmp_path / "x.b2frame"
    assert (lib.SChunk().mode, lib.SChunk(mode="w").mode) == ("a", "w")
    assert lib.SChunk(data=bytes(8), urlpath=path).mode == "a"
    assert lib.SChunk(data=bytes(8), urlpath=path, mode="w").mode == "w"
    assert lib.SChunk(urlpath=path, mode="r").mode == "r"
    assert [lib.open(path, mode=mode).mode for mode in "ra"] == ["r", "a"]
    assert [lib.open(path, mmap_mode=mode).mode for mode in ("r", "r+", "c")] == ["r", "a", "a"]
    assert lib.from_cframe(lib.SChunk().to_cframe()).mode == "a"


@BOTH
def test_names_that_are_not_there(lib):
    with pytest.raises(ValueError, match="field"):
        lib.zeros(3)["a"]
    s = lib.SChunk()
    with pytest.raises(RuntimeError):
        del s.vlmeta["a"]
    with pytest.raises(KeyError):
        s.vlmeta["a"]


@pytest.mark.parametrize("name", ["blosc2c", "blosc2"])
def test_the_codec_that_is_left_open(name):
    code = f"import {name} as b2; print(b2.get_compressor())"  # where nothing has been set
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "blosclz\n"


# ---- Keywords that are None ------------------------------------------------


@BOTH
def test_without_a_mode_files_are_opened_to_be_changed(lib, tmp_path):
    path = tmp_path / "x.b2frame"
    s = lib.SChunk(chunksize=4, data=b"1234", urlpath=path)
    del s
    with lib.open(path, mode=None) as s:
        assert s.mode == "a" and s.append_data(b"5678") == 2
    del s
    assert lib.open(path, None, 0, mmap_mode="r").mode == "r"
    with lib.open(path, mode=None, mmap_mode="c") as s:
        assert s[:] == b"12345678"


# ---- Which of two errors ---------------------------------------------------


@BOTH
@pytest.mark.parametrize("src", ["x" * 8, ["x"] * 8])
@pytest.mark.parametrize("kw", [{"typesize": 0}, {"typesize": -1}, {"clevel": 10}, {"clevel": -1}], ids=str)
def test_parameters_are_looked_at_before_the_data(lib, src, kw):
    with pytest.raises(ValueError):
        lib.compress(src, **kw)
    with pytest.raises(TypeError):
        lib.compress(src, typesize=1)


@BOTH
def test_what_is_too_long_need_not_be_bytes(lib):
    class Long:
        def __len__(self):
            return lib.MAX_BUFFERSIZE + 1

    with pytest.raises(ValueError, match=str(lib.MAX_BUFFERSIZE)):
        lib.compress(Long(), typesize=1)


@BOTH
def test_metalayers_are_not_removed(lib):
    s = lib.SChunk(meta={"a": 1})
    with pytest.raises(NotImplementedError):
        del s.meta["a"]
    assert s.meta["a"] == 1


@BOTH
def test_a_filter_that_is_not_set_is_not_removed(lib):
    with pytest.raises(KeyError):
        lib.SChunk(dparams={"nthreads": 1}).remove_postfilter("f")


@BOTH
def test_special_values_of_what_cannot_be_changed(lib, tmp_path):
    s = lib.SChunk(chunksize=4, urlpath=tmp_path / "x")
    with pytest.raises(RuntimeError):
        s.fill_special(1 << 40, lib.SpecialValue.ZERO, None)
    del s
    with pytest.raises(RuntimeError):
        lib.open(tmp_path / "x", mode="r").fill_special(1, lib.SpecialValue.ZERO)


@pytest.mark.parametrize("lib", [b2, blosc2, np])
def test_steps_of_nothing_are_divisions_by_zero(lib):
    with pytest.raises(ZeroDivisionError):
        lib.arange(0, 10, 0)


def test_saving_to_nowhere_is_refused():
    for save in (b2.save_array, b2.save_tensor):
        with pytest.raises(TypeError, match="NoneType"):
            save(np.arange(3), None)


# ---- Facts -----------------------------------------------------------------


@BOTH
def test_ratios_are_those_of_what_is_stored(lib):
    """With the padding of chunks, which takes room."""
    for shape in ((10, 10), (3,), ()):
        a = lib.asarray(np.ones(shape, "i4"), chunks=[min(n, 4) for n in shape])
        assert a.cratio == a.schunk.cratio == a.schunk.nbytes / a.cbytes


@BOTH
def test_versions_and_cores(lib):
    assert isinstance(lib.blosclib_version, str) and "." in lib.blosclib_version
    assert lib.ncores == lib.detect_number_of_cores() >= 1


# ---- Files that nobody has closed ------------------------------------------

NEW = {
    "asarray": lambda lib, path: lib.asarray(np.arange(100), urlpath=path),
    "zeros": lambda lib, path: lib.zeros((100,), urlpath=path),
    "copy": lambda lib, path: lib.arange(100).copy(urlpath=path),
    "SChunk": lambda lib, path: lib.SChunk(chunksize=80, data=np.arange(100), urlpath=path),
}


@BOTH
@pytest.mark.parametrize("new", NEW)
def test_new_files_are_ordinary_frames(lib, new, tmp_path):
    """Without the room and the holes of those that are being changed."""
    path = tmp_path / "x"
    made = NEW[new](lib, path)
    frame = path.read_bytes()
    assert len(frame) < 5000
    for reader in (b2, blosc2):
        assert np.array_equal(reader.from_cframe(frame)[:], made[:])
    made[:3] = np.array([7, 8, 9], getattr(made, "dtype", int))
    assert np.array_equal(lib.open(path)[:], made[:])


# ---- Parameters of other versions ------------------------------------------


@BOTH
def test_names_that_defaults_once_had_ask_for_nothing(lib):
    items = np.arange(100, dtype="i4")
    cparams = {"typesize": 4, "schunk": None, "prefilter": None, "preparams": None}
    dparams = {"nthreads": 1, "schunk": None, "postfilter": None, "postparams": None}
    s = lib.SChunk(data=items, cparams=cparams, dparams=dparams)
    assert s[:] == items.tobytes() and s.typesize == 4 and s.dparams.nthreads == 1
    chunk = lib.compress2(items, **cparams)
    assert lib.decompress2(chunk, **dparams) == items.tobytes()
    assert lib.decompress2(lib.compress2(items, cparams=cparams), dparams=dparams) == items.tobytes()


@pytest.mark.parametrize("kw", [{"cparams": {"schunk": 1}}, {"dparams": {"postfilter": print}}], ids=str)
def test_and_something_is_refused(kw):
    with pytest.raises(ValueError, match="has no parameter"):
        b2.SChunk(**kw)


@BOTH
@pytest.mark.parametrize("form", ["object", "dict"])
@pytest.mark.parametrize("disk", [None, "file", "directory"])
def test_arrays_are_packed_where_storage_says(lib, form, disk, tmp_path):
    items = np.arange(100, dtype="i4")
    kw = {"contiguous": disk != "directory", "urlpath": str(tmp_path / "a.b2frame") if disk else None}
    storage = lib.Storage(**kw) if form == "object" else kw
    for pack, unpack, load in (
        (lib.pack_tensor, lib.unpack_tensor, lib.load_tensor),
        (lib.pack_array2, lib.unpack_array2, lib.load_array),
    ):
        packed = pack(items, storage=storage)
        got = load(kw["urlpath"]) if disk else unpack(packed)
        np.testing.assert_array_equal(got, items)
        lib.remove_urlpath(kw["urlpath"])


def test_arrays_are_packed_in_chunks_of_some_size():
    with pytest.raises(ValueError, match="chunksize"):
        b2.pack_array2(np.arange(10), chunksize=-1)


@BOTH
@pytest.mark.parametrize("contiguous", [True, False])
def test_what_is_there_tells_whether_it_is_contiguous(lib, contiguous, tmp_path):
    path = str(tmp_path / "a.b2frame")
    lib.SChunk(data=b"abc", urlpath=path, contiguous=contiguous)
    for said in (True, False):
        assert lib.open(path, contiguous=said).contiguous is contiguous


@BOTH
def test_unknown_keywords_of_open_are_value_errors(lib, tmp_path):
    path = str(tmp_path / "a.b2frame")
    lib.SChunk(data=b"abc", urlpath=path)
    for call in (lib.open, lib.load):
        with pytest.raises(ValueError):
            call(path, foo=1)
    if lib is b2:
        with pytest.raises(TypeError, match="no parameter"):
            b2.open(path, foo=1)


def test_unknown_keywords_have_an_error_of_their_own(tmp_path):
    s = b2.SChunk(data=b"abc")
    for call in (b2.SChunk, s.copy, functools.partial(b2.open, tmp_path)):
        with pytest.raises(b2.UnknownParameterError, match="has no parameter 'foo'"):
            call(foo=1)


@BOTH
def test_names_of_fixed_metalayers_are_a_list(lib):
    keys = lib.SChunk(meta={"b": 1, "a": 2}).meta.keys()
    assert keys == ["b", "a"] and keys[0] == "b"


@BOTH
@pytest.mark.parametrize("name", [f.name for f in b2.Filter])
def test_filters_that_need_a_parameter_are_left_out_by_calls_without_one(lib, name):
    items = np.linspace(0, 1, 1000)
    kind = getattr(lib.Filter, name)
    np.testing.assert_array_equal(lib.unpack_array(lib.pack_array(items, filter=kind)), items)
    assert lib.decompress(lib.compress(items, filter=kind)) == items.tobytes()


# ---- Names -----------------------------------------------------------------


@BOTH
def test_what_fields_tell(lib):
    dtype = np.dtype([("x", "i4"), ("y", "f8")])
    a, one = lib.full((4,), (1, 2.5), dtype=dtype), lib.full((1,), (3, 4.5), dtype=dtype)
    assert [a.fields[name].offset for name in "xy"] == [0, 4]
    assert a.fields["y"].ndarr is a
    assert one.fields["y"].item() == 4.5
    with pytest.raises(ValueError):
        a.fields["y"].item()


def test_offsets_of_fields_of_fields():
    inner = np.dtype([("a", "i2"), ("b", "f4", (3,))])
    dtype = np.dtype([("x", "i4"), ("outer", inner, (2,))])
    outer = b2.zeros((2,), dtype=dtype)["outer"]
    assert (outer.offset, outer["b"].offset, outer[["b"]].offset) == (4, 6, 4)


@BOTH
def test_keep_last_read(lib):
    a = lib.arange(10)
    assert a.keep_last_read is False
    a.keep_last_read = True
    assert a.keep_last_read is True and a[3] == 3


@BOTH
def test_names_of_vlmetalayers(lib):
    s = lib.SChunk(chunksize=8)
    s.vlmeta["a"], s.vlmeta["b"] = 1, [2]
    assert s.vlmeta.get_names() == ["a", "b"]


@BOTH
def test_the_mode_that_an_array_was_opened_with(lib, tmp_path):
    path = str(tmp_path / "a.b2nd")
    lib.asarray(np.arange(5), urlpath=path)
    for mode in "raw":
        a = lib.open(path, mode=mode)
        assert a.schunk.mode == mode
        np.testing.assert_array_equal(a[:], np.arange(5))
        del a


@BOTH
def test_a_frame_without_a_tensor(lib, tmp_path):
    lib.SChunk(chunksize=8, data=bytes(80), urlpath=str(tmp_path / "s"))
    for read in (lib.load_array, lib.load_tensor):
        with pytest.raises(KeyError):
            read(str(tmp_path / "s"))


@BOTH
def test_arange_without_a_step(lib):
    np.testing.assert_array_equal(lib.arange(3, step=None)[:], np.arange(3))
    np.testing.assert_array_equal(lib.arange(1, 3, None)[:], np.arange(1, 3))


@pytest.mark.parametrize("make", ["zeros", "ones", "empty"])
def test_dtypes_that_are_arrays(make):
    dtype = np.dtype(("i4", (2,)))
    ours, theirs = getattr(b2, make)((3,), dtype=dtype), getattr(np, make)((3,), dtype=dtype)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(b2.full((3,), 7, dtype=dtype)[:], np.full((3,), 7, dtype=dtype))


# ---- What is not there -----------------------------------------------------


@BOTH
def test_without_a_prefilter_there_is_none_to_remove(lib):
    s = lib.SChunk(chunksize=16, cparams={"typesize": 4, "nthreads": 1})
    s.remove_prefilter("plus")

    @s.prefilter(np.dtype("i4"))
    def plus(given, made, offset):
        made[:] = given + 1

    for _ in range(2):
        s.remove_prefilter("plus")
    s.append_data(np.arange(4, dtype="i4"))
    assert s[:] == np.arange(4, dtype="i4").tobytes()


IN_NO_DIRECTORY = {
    "SChunk": lambda lib, **kw: lib.SChunk(data=bytes(8), **kw),
    "zeros": lambda lib, **kw: lib.zeros((3,), **kw),
    "asarray": lambda lib, **kw: lib.asarray(np.arange(3), **kw),
    "copy": lambda lib, **kw: lib.zeros((3,)).copy(**kw),
    "save": lambda lib, **kw: lib.zeros((3,)).save(**kw),
    "save_array": lambda lib, **kw: lib.save_array(np.arange(3), **kw),
    "save_tensor": lambda lib, **kw: lib.save_tensor(np.arange(3), **kw),
}


@BOTH
@pytest.mark.parametrize("mode", ["a", "w"])
@pytest.mark.parametrize("maker", IN_NO_DIRECTORY)
def test_nothing_is_made_in_no_directory(lib, maker, mode, tmp_path):
    path = str(tmp_path / "no" / "x")
    with pytest.raises(RuntimeError) as caught:
        IN_NO_DIRECTORY[maker](lib, urlpath=path, mode=mode)
    if lib is b2:
        exc = caught.value
        assert isinstance(exc, b2.NoDirectoryError) and isinstance(exc, FileNotFoundError)
        assert (exc.errno, exc.filename, exc.path) == (errno.ENOENT, path, path) and path in str(exc)
    for contiguous in (True, False):
        with pytest.raises(RuntimeError):
            lib.SChunk(urlpath=path, mode=mode, contiguous=contiguous)
    assert not (tmp_path / "no").exists()
