# SPDX-License-Identifier: BSD-3-Clause
"""Writing into arrays: assignment, resizing and appending, against NumPy and the reference."""

from __future__ import annotations

import resource
import tracemalloc

import blosc2
import numpy as np
import pytest
from arrays import basic_keys, fancy_keys, partitions, values
from hostile import array_meta, schunk_with
from hypothesis import given, settings
from hypothesis import strategies as st

import blosc2c as b2


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def part_of(a: np.ndarray, key) -> np.ndarray:
    """a[key] as an array, also for single items."""
    key = key if isinstance(key, tuple) else (key,)
    return a[key if any(k is Ellipsis for k in key) else (*key, Ellipsis)]


@settings(max_examples=150)
@given(st.data(), partitions(), st.sampled_from(["<i4", "S3", ">f8"]))
def test_basic_keys(data, parts, dtype):
    shape, chunks, blocks = parts
    want = values(np.dtype(dtype), shape, 1).copy()
    b = b2.asarray(want, chunks=chunks, blocks=blocks)
    for i in range(4):
        key = data.draw(basic_keys(shape))
        new = values(np.dtype(dtype), part_of(want, key).shape, i + 2)
        want[key] = new
        b[key] = new
        same(b[...], want)
    same(blosc2.ndarray_from_cframe(b.to_cframe())[...], want)


@settings(max_examples=100)
@given(st.data(), partitions(max_ndim=3))
def test_fancy_keys(data, parts):
    shape, chunks, blocks = parts
    if not shape or 0 in shape:
        return
    want = values(np.dtype("<i8"), shape, 1).copy()
    b = b2.asarray(want, chunks=chunks, blocks=blocks)
    key = data.draw(fancy_keys(shape))
    try:
        want[key] = 7
    except IndexError:
        with pytest.raises(IndexError):
            b[key] = 7
        return
    b[key] = 7
    same(b[...], want)


def test_values_are_converted_and_broadcast():
    want = np.zeros((6, 7), "<i4")
    b = b2.asarray(want, chunks=(4, 4), blocks=(2, 3))
    for key, value in [
        (np.s_[...], 3),
        (np.s_[1:4, ::2], [1, 2, 3, 4]),
        (np.s_[2], np.arange(7.0)),
        (np.s_[:, 3], np.arange(6)[:]),
        (np.s_[::-2, 1:3], np.arange(6).reshape(3, 2)),
        (np.s_[5, 6], 9),
        (np.s_[2:2], 5),
    ]:
        want[key] = value
        b[key] = value
        same(b[...], want)
    b[0:2] = b2.asarray(np.full((2, 7), 8, "<i4"))
    want[0:2] = 8
    same(b[...], want)
    for key, value in [(np.s_[0], np.zeros(6)), (np.s_[:, :], np.zeros((5, 7))), (np.s_[0, 0], [1, 2])]:
        with pytest.raises(ValueError):
            b[key] = value
    with pytest.raises(IndexError):
        b[6] = 0
    same(b[...], want)


@pytest.mark.parametrize("dtype", ["u1", ">i4", "<M8[s]", "S3", [("a", "<i2"), ("b", "<f8")]], ids=str)
def test_one_value_for_all(dtype):
    """By slices with steps of both signs, lists, masks and combinations; of empty selections nothing."""
    want = values(np.dtype(dtype), (9, 10), 1).copy()
    one, b = values(np.dtype(dtype), (1,), 7)[0], b2.asarray(want, chunks=(4, 6), blocks=(2, 3))
    for key in (
        np.s_[1:3],
        np.s_[::-2, 1::3],
        np.s_[[1, 7, 1]],
        np.s_[:, [0, 9]],
        want == one,
        np.s_[3:3],
        True,
        np.s_[:],
    ):
        want[key] = one
        b[key] = one
        same(b[...], want)
        want[:], b[:] = values(want.dtype, want.shape, 2), values(want.dtype, want.shape, 2)
    for key in (np.s_[[2, 0], 3:9], np.s_[[1], [5, 6]], np.s_[[], [1]]):
        want[np.ix_(*(np.arange(n)[k] for n, k in zip(want.shape, key, strict=True)))] = one
        b.oindex[key] = one
        same(b[...], want)


GAPS = np.dtype({"names": ["a", "b"], "formats": ["i1", ("<i2", (2,))], "offsets": [1, 4], "itemsize": 10})
DIRTY = np.frombuffer(b"\xff" * 200, GAPS).reshape(4, 5)


@pytest.mark.parametrize(
    "make",
    {
        "a slice": lambda b: b.__setitem__(np.s_[1:3], DIRTY[1:3]),
        "the other way": lambda b: b.__setitem__(np.s_[::-1], DIRTY),
        "a value": lambda b: b.__setitem__(np.s_[:, 1], DIRTY[0, 0]),
        "a tuple": lambda b: b.__setitem__(0, (1, (2, 3))),
        "a row": lambda b: b.__setitem__(np.s_[:], DIRTY[0]),
        "places": lambda b: b.__setitem__(np.s_[[0, 2]], DIRTY[2:]),
        "combinations": lambda b: b.oindex.__setitem__(np.s_[[0, 2], [1]], DIRTY[2:, :1]),
        "columns": lambda b: b2.asarray(DIRTY[:, ::2]),
        "of other dtype": lambda b: b2.asarray(DIRTY, dtype=[("a", "i4"), ("b", ">i2", (2,))]).astype(GAPS),
        "tuples": lambda b: b.__setitem__(0, [(1, (2, 3))] * 5),
        "one for all": lambda b: b2.full((3, 4), DIRTY[0, 0]),
        "joined": lambda b: b2.concat([DIRTY, b]),
        "turned": lambda b: b2.permute_dims(DIRTY),
        "reshaped": lambda b: b2.reshape(DIRTY, (5, 4), c_order=False),
        "iterated": lambda b: b2.fromiter(iter(DIRTY[0]), (5,), GAPS),
    }.items(),
    ids=lambda item: item[0],
)
def test_gaps_in_records_are_zeros(make):
    """Where NumPy has left what was in memory, and other bytes each time."""
    b = b2.zeros(DIRTY.shape, GAPS, chunks=(2, 3))
    made = make[1](b)
    items = (b if made is None else made)[...]
    raw = np.frombuffer(items.tobytes(), "u1").reshape(-1, GAPS.itemsize)
    assert items.dtype == GAPS and raw.any() and not raw[:, [0, 2, 3, 8, 9]].any()


def test_whole_arrays_are_stored_byte_by_byte():
    assert b2.asarray(DIRTY)[...].tobytes() == DIRTY.tobytes()
    assert b2.unpack_tensor(b2.pack_tensor(DIRTY)).tobytes() == DIRTY.tobytes()
    packed = b2.pack_tensor(DIRTY[:, ::2])
    assert packed == b2.pack_tensor(
        np.frombuffer(b2.asarray(DIRTY[:, ::2])[...].tobytes(), GAPS).reshape(4, 3)
    )


@pytest.mark.skipif(np.finfo("g").nmant != 63, reason="for long doubles of x86")
@pytest.mark.parametrize("dtype", ["g", "G", ">g", ">G", [("a", "i1"), ("b", "g", (2,))]], ids=str)
@pytest.mark.parametrize("layout", [np.s_[:], np.s_[::-1], np.s_[:, 0]], ids=str)
def test_nothing_is_stored_behind_long_doubles(dtype, layout, tmp_path):
    """Their 10 bytes take 16, and NumPy leaves in the others what was in memory."""
    dtype = np.dtype(dtype)
    dirty = np.frombuffer(b"\xff" * 12 * dtype.itemsize, dtype).reshape(4, 3).copy()
    clean = np.zeros((4, 3), dtype)
    if dtype.fields:
        clean["b"] = dirty["b"] = np.arange(24).reshape(4, 3, 2)
        clean["a"] = -1
        gaps = [*range(11, 17), *range(27, 33)]
    else:
        clean[...] = dirty[...] = np.arange(12).reshape(4, 3)
        gaps = [i for i in range(dtype.itemsize) if (i % 16 < 6 if dtype.byteorder == ">" else i % 16 >= 10)]
    for a in (dirty, clean):
        a.view("u1").reshape(-1, dtype.itemsize)[:, gaps] = 255 if a is dirty else 0
    dirty, clean = dirty[layout], np.array(clean[layout], order="C")
    edited = b2.zeros(dirty.shape, dtype)
    edited[...] = dirty
    metas = b2.SChunk()
    metas.vlmeta["a"] = dirty
    metas.vlmeta["b"] = np.ma.asarray(dirty)
    for got in (
        b2.asarray(dirty)[...],
        edited[...],
        b2.unpack_tensor(b2.pack_tensor(dirty)),
        np.asarray(metas.vlmeta["a"]),
        np.asarray(metas.vlmeta["b"]),
    ):
        assert got.dtype == dtype and got.tobytes() == clean.tobytes()
    b2.save_array(dirty, tmp_path / "a")
    assert b2.load_array(tmp_path / "a").tobytes() == clean.tobytes()


def test_one_value_takes_no_memory_for_all():
    b = b2.zeros((3000, 1000))
    tracemalloc.start()
    b[1:], b[5:, 3:999:2], b.oindex[::2, [1, 5]] = 1, 2, 3
    b[np.arange(2000)] = 4
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < b.nbytes / 20
    assert (b[:2000] == 4).all() and b[2500, 3:6].tolist() == [2, 1, 3]


@pytest.mark.parametrize("dtype", [">i4", "<i4", ">f8", ">U2"])
def test_a_value_with_axes_too_many(dtype):
    want = np.zeros((3, 4), dtype)
    b = b2.asarray(want, chunks=(2, 3), blocks=(1, 2))
    for key, value in (
        ((1, 2), np.array([5], dtype)),
        (0, np.array([[7]], dtype)),
        (np.s_[:, 1], np.full((1, 1, 3), 9, dtype)),
    ):
        b[key] = value
        want[key] = value[0] if value.ndim < 3 else value[0, 0]
        same(b[...], want)


def test_scalar_booleans():
    want = np.array(1, ">f8")
    b = b2.asarray(want)
    for key, value in (
        (True, 2),
        (np.array(True), [3]),
        (False, 4),
        ((), 5),
        ((True, None), np.array([[6]], ">f8")),
    ):
        b[key] = value
        want[key] = value
        same(b[...], want)


def test_fields_and_orthogonal_assignment():
    want = np.zeros((5, 4), [("a", "<i4"), ("b", "<f8")])
    b = b2.asarray(want, chunks=(3, 3), blocks=(2, 2))
    b["a"] = 7
    b.fields["b"][1:3, ::2] = [[1, 2], [3, 4]]
    want["a"] = 7
    want["b"][1:3, ::2] = [[1, 2], [3, 4]]
    same(b[...], want)
    c = b2.asarray(np.zeros((5, 4)), chunks=(3, 3), blocks=(2, 2))
    c.oindex[[0, 4], [1, 3]] = [[1, 2], [3, 4]]
    plain = np.zeros((5, 4))
    plain[np.ix_([0, 4], [1, 3])] = [[1, 2], [3, 4]]
    same(c[...], plain)


@settings(max_examples=60)
@given(st.data(), st.integers(1, 3), st.integers(0, 99))
def test_resizing(data, ndim, seed):
    """What stays keeps its values; what is new is zero where the array never was."""
    shape = data.draw(st.tuples(*[st.integers(0, 12)] * ndim))
    chunks = tuple(data.draw(st.integers(1, 6)) for _ in range(ndim))
    blocks = tuple(data.draw(st.integers(1, c)) for c in chunks)
    if 0 in shape:
        shape = tuple(max(n, 1) for n in shape)
    want = values(np.dtype("<i4"), shape, seed)
    b = b2.asarray(want, chunks=chunks, blocks=blocks)
    for _ in range(3):
        shape = data.draw(st.tuples(*[st.integers(0, 12)] * ndim))
        kept = np.zeros(shape, "<i4")
        part = tuple(slice(0, min(n, m)) for n, m in zip(shape, want.shape, strict=True))
        kept[part] = want[part]
        b.resize(shape)
        assert b.shape == shape
        got = b[...]
        same(got[part], kept[part])
        b[...] = kept  # the rest may hold what had been cut off
        want = kept
        same(b[...], want)
        r = blosc2.ndarray_from_cframe(b.to_cframe())
        assert r.shape == shape
        same(r[...], want)


@pytest.mark.parametrize("contiguous", [True, False])
def test_growing_files(contiguous, tmp_path):
    path = tmp_path / "x.b2nd"
    want = np.arange(5, dtype="<i8")
    with b2.asarray(want, chunks=(4,), blocks=(3,), urlpath=path, contiguous=contiguous) as b:
        for i in range(6):
            more = np.arange(i * 3, dtype="<i8")
            assert b.append(more) == len(want) + len(more)
            want = np.concatenate([want, more])
            same(b2.open(path)[...], want)
            same(blosc2.open(str(path))[...], want)
        with pytest.raises(ValueError):
            b2.zeros((3, 4)).append([1, 2])


def test_bad_shapes():
    b = b2.asarray(np.zeros((3, 4)))
    for shape in [(3,), (3, 4, 5), (-1, 4)]:
        with pytest.raises(ValueError):
            b.resize(shape)
    assert b.shape == (3, 4)


def test_files_opened_for_reading(tmp_path):
    path = tmp_path / "x.b2nd"
    b2.asarray(np.zeros((3, 4)), urlpath=path).close()
    r = b2.open(path)
    for call in (lambda: r.__setitem__(0, 1), lambda: r.resize((5, 5))):
        with pytest.raises(b2.ReadOnlyError):
            call()
    with b2.open(path, mode="a") as b:
        b[1] = 5
    same(blosc2.open(str(path))[1], np.full(4, 5.0))


def test_a_failed_change_leaves_the_array_as_it_was(tmp_path):
    path = tmp_path / "x.b2nd"
    want = np.arange(48.0).reshape(6, 8)
    with b2.asarray(want, chunks=(2, 3), blocks=(2, 2), urlpath=path) as b:

        def change() -> None:
            with b.schunk.transaction():
                b[:, 2:5] = -1
                b.resize((9, 9))
                raise KeyError

        with pytest.raises(KeyError):
            change()
        assert b.shape == (6, 8)
        same(b[...], want)
        same(b2.open(path)[...], want)


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("shape", [(9, 8), (40, 8), (20, 40)])
@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_resize_that_cannot_be_stored(contiguous, shape, in_transaction, tmp_path):
    """The array goes on showing what its super-chunk does, and the file has the old one."""
    want = np.arange(160, dtype="<i4").reshape(20, 8)
    path = tmp_path / "a.b2nd"
    b2.asarray(want, chunks=(5, 8), blocks=(5, 8), urlpath=path, contiguous=contiguous).close()
    a = b2.open(path, mode="a")
    view = b2.expand_dims(a, 0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # as a full disk
    try:
        with pytest.raises(OSError):
            if in_transaction:
                with a.schunk.transaction():
                    a.resize(shape)
            else:
                a.resize(shape)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    shown = np.zeros(a.shape, "<i4")
    both = tuple(slice(0, min(n, m)) for n, m in zip(a.shape, want.shape, strict=True))
    shown[both] = want[both]
    same(a[...], shown)
    same(view[...], shown[None])
    a.close()
    with b2.open(path) as stored:
        same(stored[...], want)


def half_damaged(want: np.ndarray, path, chunks=(5, 8)) -> None:
    """A file of chunks of which the last cannot be read."""
    with b2.asarray(want, chunks=chunks, blocks=chunks, urlpath=path, mode="w") as a:
        last = a.schunk.get_chunk(a.schunk.nchunks - 1)
    stored = bytearray(path.read_bytes())
    stored[stored.index(last) + len(last) - 1] ^= 1
    path.write_bytes(stored)


def test_an_edit_that_fails_halfway_in_a_transaction(tmp_path):
    """Somebody catches what it raises: nothing is stored all the same."""
    want = np.random.default_rng(0).integers(0, 1 << 30, (19, 8)).astype("<i4")
    path = tmp_path / "a.b2nd"
    half_damaged(want, path)
    with b2.open(path, mode="a") as a:
        with (
            pytest.raises(b2.ParameterError, match="failed halfway"),
            a.schunk.transaction(),
            pytest.raises(b2.ChecksumError),
        ):
            a[:18, :3] = 7
        assert a.shape == want.shape
        same(a[:15], want[:15])
        a[0] = 5  # on its own it is stored
    with b2.open(path) as a:
        assert a.shape == want.shape
        same(a[1:15], want[1:15])


@pytest.mark.parametrize("shape", [(30, 8), (30, 16), (21, 3), (19, 20), (23, 10)])
@pytest.mark.parametrize("contiguous", [True, False])
def test_a_resize_that_fails_in_a_transaction(shape, contiguous, tmp_path):
    """A chunk whose padding it has to clear is damaged: the transaction goes on without it."""
    want = np.random.default_rng(0).integers(0, 1 << 30, (24, 9)).astype("<i4")
    path = tmp_path / "a.b2nd"
    parts = {"chunks": (5, 4), "blocks": (5, 4), "contiguous": contiguous}
    with b2.asarray(want, urlpath=path, **parts) as a:
        a.resize((19, 7))  # what it cuts off is padding of the chunks
        # Of those that are to be cleared the last one, which all these shapes keep.
        n = 7 if shape[1] > 7 else 6
        damaged = a.schunk.get_chunk(n)
    want = want[:19, :7]
    for file in [path] if contiguous else path.glob("*.chunk"):
        file.write_bytes(file.read_bytes().replace(damaged, damaged[:-1] + bytes([damaged[-1] ^ 1])))
    with b2.open(path, mode="a") as a, a.schunk.transaction():
        nchunks = a.schunk.nchunks
        with pytest.raises(b2.ChecksumError):
            a.resize(shape)
        assert (a.shape, a.schunk.nchunks) == (want.shape, nchunks)
        a[0] = want[0] = 5
        a.resize((15, 7))
        a.resize((17, 9))
    with b2.open(path) as a:
        grown = np.zeros((17, 9), "<i4")
        grown[:15, :7] = want[:15]
        same(a[:], grown)


@pytest.mark.parametrize("source", [np.asarray, b2.asarray], ids=["array", "lazy"])
def test_an_append_that_fails_halfway_in_a_transaction(source, tmp_path):
    """The array is as it was before, and the transaction goes on."""
    want = np.random.default_rng(0).integers(0, 1 << 30, (19, 8)).astype("<i4")
    path = tmp_path / "a.b2nd"
    half_damaged(want, path, (5, 4))
    with b2.open(path, mode="a") as a, a.schunk.transaction():
        nchunks = a.schunk.nchunks
        with pytest.raises(b2.ChecksumError):
            a.append(source(np.ones((9, 8), "<i4")), axis=0)
        assert (a.shape, a.schunk.nchunks) == (want.shape, nchunks)
        a[0] = want[0] = 5
    with b2.open(path) as a:
        assert a.shape == want.shape
        same(a[:15], want[:15])


def test_an_append_that_fails_in_a_transaction():
    """Its source does not give what it said: what else is in the transaction is stored."""

    class Source:
        shape, dtype = (30, 8), np.dtype("<i4")

        def __getitem__(self, key):
            raise ArithmeticError

    want = np.arange(160, dtype="<i4").reshape(20, 8)
    a = b2.asarray(want, chunks=(5, 8), blocks=(5, 8))
    with a.schunk.transaction():
        with pytest.raises(ArithmeticError):
            a.append(Source(), 0)
        a[0] = want[0] = 3
    same(a[...], want)
    assert a.schunk.nchunks == 4


@pytest.mark.parametrize("axis", [0, 1])
def test_a_later_part_of_an_append_that_fails_in_a_transaction(axis, monkeypatch):
    """What was appended before is taken back."""
    monkeypatch.setattr("blosc2c.ndedit.SLAB_NBYTES", 160)

    class Source:
        shape, dtype = (30, 8) if axis == 0 else (20, 30), np.dtype("<i4")

        def __getitem__(self, key):
            if key[axis].stop > 15:
                raise ArithmeticError
            return np.ones([k.stop - k.start for k in key], "<i4")

    want = np.arange(160, dtype="<i4").reshape(20, 8)
    a = b2.asarray(want, chunks=(6, 3), blocks=(3, 3))
    with a.schunk.transaction():
        nchunks = a.schunk.nchunks
        with pytest.raises(ArithmeticError):
            a.append(Source(), axis)
        assert (a.shape, a.schunk.nchunks) == (want.shape, nchunks)
        a[0] = want[0] = 3
    same(a[...], want)
    a.resize((25, 12))  # what was cut off is not seen again
    same(a[...], np.pad(want, ((0, 5), (0, 4))))


def test_a_source_of_too_many_chunks_is_not_read():
    class Source:
        shape, dtype = (1 << 40, 8), np.dtype("<i4")

        def __getitem__(self, key):
            raise AssertionError

    a = b2.zeros((20, 8), dtype="<i4", chunks=(5, 8), blocks=(5, 8))
    with a.schunk.transaction():
        with pytest.raises(b2.LimitError, match="more than 268435451 chunks"):
            a.append(Source(), 0)
        a[0] = 1
    assert a.shape == (20, 8) and a[0, 0] == 1


def test_an_array_whose_last_chunk_is_short_keeps_its_shape():
    """Chunks behind it would make the sizes of all chunks vary, which then tell no item size."""
    s = schunk_with({"b2nd": array_meta("<i4", 4, n=8, chunk=4)}, data=bytes(range(16)))
    s.append_data(bytes(12))  # schunk_with() has made bytes, not items of four
    b = b2.ndarray_from_cframe(s.to_cframe(), copy=True)
    with pytest.raises(b2.CorruptError, match=r"the array's shapes ask for .*chunk 1\): expected 16, not 12"):
        b.resize((16,))
    assert (b.shape, b.dtype) == ((8,), "<i4")
    assert b[:4].tobytes() == bytes(range(16))


REPEATED = [
    {},
    {"clevel": 0},
    {"codec": b2.Codec.LZ4, "filters": [b2.Filter.BITSHUFFLE]},
    {"filters": [b2.Filter.TRUNC_PREC, b2.Filter.SHUFFLE], "filters_meta": [10, 0]},
    {"use_dict": True},
    {"typesize": 1},
]


@pytest.mark.parametrize("cparams", REPEATED, ids=str)
@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16"])
@pytest.mark.parametrize(
    ("shape", "chunks", "blocks"),
    [((24, 40), (12, 20), (3, 20)), ((25, 41), (12, 20), (5, 7)), ((6, 2), (1, 1), (1, 1)), ((), (), ())],
)
def test_one_value_everywhere_is_stored_as_such_data_are(shape, chunks, blocks, dtype, cparams):
    """Whole chunks of it are not made first, and are the same bytes."""
    if cparams.get("filters_meta") and dtype != "f4":
        cparams = {**cparams, "filters_meta": [10 if dtype == "f8" else 0, 0], "filters": [0, 1]}
    parts = {"chunks": chunks, "blocks": blocks, "cparams": cparams}
    for value in (0, 7, 1.1, np.nan, -0.0):
        if dtype == "u1" and value != int(np.nan_to_num(value)):
            continue
        want = np.full(shape, value, dtype)
        b = b2.asarray(np.random.default_rng(0).integers(1, 99, shape).astype(dtype), **parts)
        b[...] = want.dtype.type(value)
        data = b2.asarray(want, **parts)
        assert [b.schunk.get_chunk(i) for i in range(b.schunk.nchunks)] == [
            data.schunk.get_chunk(i) for i in range(data.schunk.nchunks)
        ]
        same(b[...], data[...])
        same(blosc2.ndarray_from_cframe(b.to_cframe())[...], b[...])


def test_one_value_goes_through_a_prefilter():
    b = b2.asarray(np.arange(100, dtype="i4"), chunks=(10,), blocks=(5,), cparams={"nthreads": 1})

    @b.schunk.prefilter(np.dtype("i4"), np.dtype("i4"))
    def plus_place(inp, out, at):
        out[:] = inp + at

    b[10:90] = 1000
    b.schunk.remove_prefilter("plus_place")
    same(b[10:90], 1000 + np.arange(10, 90, dtype="i4") // 5 * 5)


def test_one_value_in_whole_chunks_and_parts():
    want = np.arange(10000, dtype="i4").reshape(100, 100)
    b = b2.asarray(want, chunks=(30, 40), blocks=(10, 20))
    for key in (np.s_[30:60, 40:80], np.s_[20:95, 10:100], np.s_[5:99:2], np.s_[90:], np.s_[:, 80:]):
        want[key] = b[key] = want[3, 4] + 1
        same(b[...], want)
    same(blosc2.ndarray_from_cframe(b.to_cframe())[...], want)
