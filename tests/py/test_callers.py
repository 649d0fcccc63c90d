# SPDX-License-Identifier: BSD-3-Clause
"""Callers' mistakes over the public API: an exception that says what is wrong, never a crash."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import blosc2c as b2

HUGE = [2**63, 2**64, 2**64 + 1, 10**30]
NUMBERS = [-1, -(10**30), *HUGE]
NOT_NUMBERS = [float("nan"), float("inf"), 1.5, "1", None, [], b"1", ...]
DATA = np.arange(1000, dtype="<i4")
CHUNK = b2.compress2(DATA, typesize=4)


def refused(call, *errors):
    """The call raises one of the errors, by default those of parameters; a text says why."""
    with pytest.raises(errors or (b2.Blosc2Error, TypeError)) as info:
        call()
    assert str(info.value)


# ---- Parameters ------------------------------------------------------------


@pytest.mark.parametrize("value", [*NUMBERS, *NOT_NUMBERS], ids=repr)
@pytest.mark.parametrize(
    "name", ["clevel", "typesize", "nthreads", "blocksize", "codec", "codec_meta", "splitmode", "tuner"]
)
def test_cparams(name, value):
    refused(lambda: b2.CParams(**{name: value}))
    refused(lambda: b2.compress2(DATA, **{name: value}))
    refused(lambda: b2.asarray(DATA, cparams={name: value}))


@pytest.mark.parametrize(
    "value", [*NUMBERS, float("nan"), None, ..., [-1], [None], [10**30], ["no"]], ids=repr
)
@pytest.mark.parametrize("name", ["filters", "filters_meta"])
def test_filters(name, value):
    if name == "filters_meta" and value == [-1]:
        value = [-129]
    refused(lambda: b2.CParams(**{name: value}))


@pytest.mark.parametrize("value", [*NUMBERS, *[v for v in NOT_NUMBERS if v is not None]], ids=repr)
def test_parameters_of_objects(value):
    for name in ("cparams", "dparams", "meta"):
        refused(lambda name=name: b2.asarray(DATA, **{name: value}))
        refused(lambda name=name: b2.SChunk(data=DATA, **{name: value}))
    for name in ("chunks", "blocks"):
        refused(lambda name=name: b2.asarray(DATA, **{name: value}))
        refused(lambda name=name: b2.asarray(DATA, **{name: (value,)}))
        refused(lambda name=name: b2.asarray(DATA, **{name: (100, value)}))
    refused(lambda: b2.DParams(nthreads=value))
    refused(lambda: b2.set_nthreads(value))
    refused(lambda: b2.SChunk(chunksize=value))
    refused(lambda: b2.open("none", offset=value), b2.Blosc2Error, TypeError, FileNotFoundError)
    for name in ("mode", "mmap_mode"):
        refused(lambda name=name: b2.SChunk(urlpath="none", **{name: value}))
    refused(lambda: b2.SChunk(durability=value))


@pytest.mark.parametrize("value", [*NUMBERS, *[v for v in NOT_NUMBERS if v != []]], ids=repr)
def test_shapes(value):
    for shape in (value, (value,), (0, value), (value, 2, 3), [2, value]):
        refused(lambda shape=shape: b2.zeros(shape))
    array = b2.zeros((10, 10))
    for shape in (value, (10, value), (10,), (1, 2, 3)):
        refused(lambda shape=shape: array.resize(shape))
    assert array.shape == (10, 10)
    if value != -1:  # stands for what is left
        refused(lambda: array.reshape((value, 10)))
    refused(lambda: b2.arange(0, 10, shape=(value,)))


def test_arrays_without_items_may_have_large_axes():
    for shape in ((0, 2**31), (0, 2**40), (2**62, 0)):
        made = b2.zeros(shape, "u1")
        again = b2.ndarray_from_cframe(made.to_cframe())
        assert again.shape == shape and again[...].shape == shape


@pytest.mark.parametrize("shape", [(2**60, 0, 3), (0, 2**62)])
def test_results_without_items_that_numpy_has_no_array_for(shape):
    a = b2.zeros(shape, "i8")
    assert a[:5, :5].shape == (min(shape[0], 5), min(shape[1], 5), *shape[2:])
    for read in (lambda: a[...], lambda: a[None], lambda: a[::-1], lambda: np.asarray(a), lambda: a == 0):
        with pytest.raises(b2.LimitError, match=r"no result of shape \(.*: array is too big"):
            read()
    a[:] = 1
    for write in (lambda: a.__setitem__(np.s_[:], [[[1]]]), lambda: a.oindex.__setitem__(np.s_[:], [1])):
        with pytest.raises(b2.ParameterError, match=r"does not fit a selection of shape"):
            write()


def test_growing_from_nothing():
    empty = b2.zeros((0, 10), "i4")
    with pytest.raises(ValueError, match="axis 0 cannot grow, since its chunks have no items"):
        empty.append(np.ones((3, 10), "i4"), axis=0)
    with pytest.raises(ValueError, match="need chunks without zeros"):
        empty.resize((3, 10))
    empty.resize((0, 4))
    assert empty.shape == (0, 4)
    made = b2.zeros((0, 10), "i4", chunks=(100, 10))
    made.append(np.ones((3, 10), "i4"), axis=0)
    assert made[...].tolist() == [[1] * 10] * 3


@pytest.mark.parametrize("bounds", [(0, float("inf")), (float("nan"), 1), (0, 10, float("nan"))], ids=repr)
def test_ranges_without_end(bounds):
    refused(lambda: b2.arange(*bounds))


# ---- Buffers ---------------------------------------------------------------


def test_buffers_of_the_wrong_size():
    out = bytearray(len(DATA) * 4 - 1)
    refused(lambda: b2.decompress2(CHUNK, out))
    refused(lambda: b2.decompress2(CHUNK[:-1]))
    refused(lambda: b2.decompress2(b""))
    s = b2.SChunk(data=DATA, chunksize=1000)
    refused(lambda: s.decompress_chunk(0, bytearray(999)))
    a = b2.asarray(DATA)
    for n in (0, 3999, 4001):
        refused(lambda n=n: a.read_into(bytearray(n)))
    refused(lambda: a.read_into(np.empty(999, "<i4")))
    refused(lambda: a.read_into(np.empty((1000, 1), "<i4")))
    refused(lambda: a.read_into(bytes(4000)))
    for value in (DATA[:-1], DATA.reshape(2, -1), []):
        refused(lambda value=value: a.__setitem__(slice(None), value))
    refused(lambda: b2.frombuffer(bytes(11), (3,), "<i4"), ValueError)
    np.testing.assert_array_equal(a[...], DATA)


def test_buffers_with_gaps():
    gaps = np.arange(2000, dtype="<i4")[::2]
    for call in (b2.compress, b2.compress2, lambda x: b2.SChunk(data=x)):
        refused(lambda call=call: call(gaps), ValueError)
    out = np.zeros(2000, "<i4")[::2]
    refused(lambda: b2.decompress2(CHUNK, out), ValueError)
    # Arrays take and give what NumPy takes and gives.
    a = b2.asarray(gaps)
    np.testing.assert_array_equal(a[...], gaps)
    a.read_into(out)
    np.testing.assert_array_equal(out, gaps)
    a[...] = gaps[::-1]
    np.testing.assert_array_equal(a[...], gaps[::-1])


def test_buffers_that_cannot_be_written():
    out = np.zeros(1000, "<i4")
    out.flags.writeable = False
    for target in (out, bytes(4000), memoryview(bytes(4000))):
        refused(lambda target=target: b2.decompress2(CHUNK, target), TypeError, ValueError)
        refused(lambda target=target: b2.asarray(DATA).read_into(target), TypeError, ValueError)
    assert not out.any()
    # What is read may be read-only.
    np.testing.assert_array_equal(b2.asarray(out)[...], out)
    assert b2.decompress2(b2.compress2(out)) == out.tobytes()


VIEWED = memoryview(CHUNK)
FAILS = {
    "decompress2": lambda: b2.decompress2(VIEWED[:-1]),
    "decompress": lambda: b2.decompress(VIEWED, dst=bytes(DATA.nbytes)),
    "into a view": lambda: b2.decompress2(CHUNK, dst=memoryview(bytearray(8))),
    "get_cbuffer_sizes": lambda: b2.get_cbuffer_sizes(VIEWED[:20].cast("B")[1:]),
    "compress": lambda: b2.compress(memoryview(b"123")),
    "append_chunk": lambda: b2.SChunk().append_chunk(VIEWED[:-1]),
    "from_cframe": lambda: b2.from_cframe(memoryview(b2.asarray(DATA).to_cframe())[:-1]),
}


@pytest.mark.parametrize("call", FAILS.values(), ids=FAILS)
def test_kept_exceptions_of_views_are_collected(call):
    for _ in range(3):
        with pytest.raises(b2.Blosc2Error) as info:
            call()
        info.value.itself = info.value  # a cycle, with the view in the frames of the traceback
        del info
        gc.collect()


def test_views_of_any_format():
    for view in (memoryview(DATA), memoryview(DATA.reshape(10, 100)), memoryview(b"")):
        assert b2.decompress2(b2.compress2(view)) == view.tobytes()
    out = np.zeros_like(DATA)
    b2.decompress2(VIEWED, dst=memoryview(out))
    assert (out == DATA).all()


def test_swapped_bytes():
    swapped = DATA.astype(">i4")
    a = b2.asarray(swapped)
    assert a.dtype == swapped.dtype
    np.testing.assert_array_equal(a[...], DATA)
    a[::2] = DATA[::2] + 1
    np.testing.assert_array_equal(a[::2], DATA[::2] + 1)
    out = np.empty(1000, "<i4")
    a.read_into(out)
    np.testing.assert_array_equal(out[1::2], DATA[1::2])
    np.testing.assert_array_equal(b2.asarray(swapped, dtype="<i4")[...], DATA)


@pytest.mark.parametrize("codec", list(b2.compressor_list()), ids=str)
def test_a_buffer_that_changes_while_it_is_compressed(codec):
    """What comes out is of no particular values, but sound."""
    data = np.zeros(1 << 18, "<i4")
    stop = threading.Event()

    def change():
        rng = np.random.default_rng(1)
        while not stop.is_set():
            data[rng.integers(0, len(data), 5000)] = rng.integers(0, 1 << 30)
            data[: 1 << 16] = 7

    worker = threading.Thread(target=change)
    worker.start()
    try:
        for i in range(15):
            use = {"codec": codec, "clevel": 1 + i % 9, "nthreads": 1 + i % 2, "typesize": 4}
            assert len(b2.decompress2(b2.compress2(data, **use))) == data.nbytes
            a = b2.asarray(data, cparams=use, chunks=(1 << 16,), blocks=(1 << 12,))
            assert a[...].shape == data.shape
            a[100:70000] = data[100:70000]
            assert a[...].shape == data.shape
    finally:
        stop.set()
        worker.join()


def test_a_buffer_that_changes_or_goes_away_afterwards():
    data = bytearray(DATA.tobytes())
    s = b2.SChunk(data=data, chunksize=1000)
    data.clear()  # nothing holds it any more
    assert s[:] == DATA.tobytes()
    frame = bytearray(b2.asarray(DATA).to_cframe())
    opened = b2.ndarray_from_cframe(frame)
    frame[:] = bytes(len(frame))
    frame.clear()
    np.testing.assert_array_equal(opened[...], DATA)


# ---- Closed objects --------------------------------------------------------

ON_SCHUNKS = {
    "nchunks": lambda s: s.nchunks,
    "nbytes": lambda s: s.nbytes,
    "cbytes": lambda s: s.cbytes,
    "cratio": lambda s: s.cratio,
    "chunksize": lambda s: s.chunksize,
    "typesize": lambda s: s.typesize,
    "cparams": lambda s: s.cparams,
    "set cparams": lambda s: setattr(s, "cparams", {"clevel": 1}),
    "len": len,
    "info": lambda s: s.info,
    "item": lambda s: s[0],
    "slice": lambda s: s[:],
    "set": lambda s: s.__setitem__(slice(0, 4), b"abcd"),
    "iterate": lambda s: list(s),
    "iterchunks": lambda s: list(s.iterchunks("u1")),
    "iterchunks_info": lambda s: list(s.iterchunks_info()),
    "get_slice": lambda s: s.get_slice(0, 1),
    "get_chunk": lambda s: s.get_chunk(0),
    "decompress_chunk": lambda s: s.decompress_chunk(0),
    "append_data": lambda s: s.append_data(b"abcd"),
    "append_chunk": lambda s: s.append_chunk(CHUNK),
    "insert_data": lambda s: s.insert_data(0, b"abcd", True),
    "insert_chunk": lambda s: s.insert_chunk(0, CHUNK),
    "update_data": lambda s: s.update_data(0, b"abcd", True),
    "update_chunk": lambda s: s.update_chunk(0, CHUNK),
    "delete_chunk": lambda s: s.delete_chunk(0),
    "fill_special": lambda s: s.fill_special(10, b2.SpecialValue.ZERO),
    "reorder_offsets": lambda s: s.reorder_offsets([0]),
    "to_cframe": lambda s: s.to_cframe(),
    "copy": lambda s: s.copy(),
    "transaction": lambda s: s.transaction().__enter__(),
    "refresh": lambda s: s.refresh(),
    "meta": lambda s: s.meta["m"],
    "set meta": lambda s: s.meta.__setitem__("m", 2),
    "metas": lambda s: list(s.meta),
    "meta in": lambda s: "m" in s.meta,
    "meta len": lambda s: len(s.meta),
    "vlmeta": lambda s: s.vlmeta["v"],
    "set vlmeta": lambda s: s.vlmeta.__setitem__("v", 2),
    "update vlmeta": lambda s: s.vlmeta.update(v=2),
    "delete vlmeta": lambda s: s.vlmeta.__delitem__("v"),
    "clear vlmeta": lambda s: s.vlmeta.clear(),
    "vlmetas": lambda s: list(s.vlmeta),
    "vlmeta in": lambda s: "v" in s.vlmeta,
    "vlmeta len": lambda s: len(s.vlmeta),
    "all vlmeta": lambda s: s.vlmeta[:],
}


def new_schunk(kind, tmp_path):
    path = None if kind == "memory" else tmp_path / "s.b2frame"
    s = b2.SChunk(
        data=b"abcd" * 100, chunksize=100, urlpath=path, contiguous=kind != "directory", meta={"m": 1}
    )
    s.vlmeta["v"] = 1
    return s


@pytest.mark.parametrize("kind", ["memory", "file", "directory"])
def test_closed_super_chunks(kind, tmp_path):
    s = new_schunk(kind, tmp_path)
    meta, vlmeta = s.meta, s.vlmeta
    s.close()
    s.close()
    for name, use in ON_SCHUNKS.items():
        with pytest.raises(b2.ClosedError, match="I/O operation on closed SChunk"):
            use(s)
            pytest.fail(f"{name} did not raise")
    for mapping in (meta, vlmeta):
        assert "closed SChunk" in repr(mapping)
        with pytest.raises(b2.ClosedError):
            dict(mapping)
    assert repr(s) == "SChunk(closed)"


@pytest.mark.parametrize("kind", ["memory", "file", "directory"])
def test_arrays_closed_under_what_was_made_of_them(kind, tmp_path):
    path = None if kind == "memory" else tmp_path / "a.b2nd"
    dtype = [("x", "<i4"), ("y", "<i4")]
    a = b2.zeros((100,), dtype, urlpath=path, contiguous=kind != "directory", chunks=(30,), blocks=(10,))
    field, selector, rows, chunks, s = a["x"], a.oindex, iter(a), a.iterchunks_info(), a.schunk
    next(chunks)
    first = a.fields["y"]
    a.close()
    for use in (
        lambda: field[:], lambda: field.__setitem__(0, 1), lambda: first[0], lambda: selector[[0, 5]],
        lambda: selector.__setitem__([0, 5], 1), lambda: next(rows), lambda: next(chunks), lambda: s.nchunks,
        lambda: np.asarray(a), lambda: a[0], lambda: a[[1, 2]], lambda: a.slice(np.s_[:5]), lambda: b2.concat([a, a]),
        lambda: b2.asarray(a, chunks=(10,)), lambda: a.copy(), lambda: b2.expand_dims(a), lambda: a.resize((3,)),
    ):  # fmt: skip
        refused(use, b2.ClosedError)


# ---- Threads ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["memory", "file", "directory"])
def test_close_while_others_read(kind, tmp_path):
    """Readers get what they asked for, or ClosedError."""
    data = np.arange(200_000, dtype="<i4")
    path = None if kind == "memory" else tmp_path / "a.b2nd"
    for n in range(8):
        a = b2.asarray(
            data, urlpath=path, mode="w", contiguous=kind != "directory", chunks=(20_000,), blocks=(1000,)
        )
        view, outcomes, begin = b2.expand_dims(a), [], threading.Barrier(5)

        def read(i, a=a, view=view, outcomes=outcomes, begin=begin):
            use = (
                lambda: a[5:150_000:7], lambda: view[0, ::3], lambda: a[[5, 100_000]], lambda: a.schunk[:1000]
            )[i]  # fmt: skip
            want = use()
            begin.wait()
            try:
                while True:
                    if not np.array_equal(use(), want):
                        outcomes.append("wrong")
                        return
            except b2.ClosedError:
                outcomes.append("closed")
            except BaseException as exc:
                outcomes.append(exc)

        workers = [threading.Thread(target=read, args=(i,)) for i in range(4)]
        for worker in workers:
            worker.start()
        begin.wait()
        threading.Event().wait(0.002 * n)
        a.close()
        for worker in workers:
            worker.join()
        assert outcomes == ["closed"] * 4


def test_close_by_several_threads(tmp_path):
    for _ in range(20):
        s = new_schunk("file", tmp_path)
        failures, begin = [], threading.Barrier(4)

        def close(s=s, failures=failures, begin=begin):
            begin.wait()
            try:
                s.close()
            except BaseException as exc:
                failures.append(exc)

        workers = [threading.Thread(target=close) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert failures == [] and s.handle.is_closed
        (tmp_path / "s.b2frame").unlink()


# ---- More than 2 GiB -------------------------------------------------------


def test_sizes_beyond_2_gib():
    many = np.lib.stride_tricks.as_strided(np.zeros(1, "u1"), ((1 << 31) + 5,), (0,))
    refused(lambda: b2.compress2(many), ValueError)  # it has gaps of -1, so to say
    refused(lambda: b2.SChunk(chunksize=1 << 31), b2.LimitError)
    refused(lambda: b2.zeros((1 << 32,), "u1", chunks=(1 << 31,)), ValueError)
    refused(lambda: b2.zeros((1 << 32,), "u1", chunks=(1 << 30,), blocks=(1 << 30,)), ValueError)
    a = b2.asarray(many)
    assert a.shape == many.shape and a[-1] == 0 and a.cbytes < 1 << 20
    big = b2.zeros((1 << 40, 1 << 10), "u1")
    assert big[-1, -1] == 0 and not big[1 << 39, ::8].any()
    refused(lambda: big[...], b2.LimitError, MemoryError)
    refused(lambda: big.tobytes(), b2.LimitError, MemoryError)
    refused(lambda: big.resize((1 << 40, 1 << 40)), b2.LimitError)
    assert big.shape == (1 << 40, 1 << 10)
    refused(lambda: b2.zeros(1 << 62, "f8"), b2.LimitError)
