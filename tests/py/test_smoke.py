"""A first look at every part of the package: does it work at all?

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import blosc2c as b2
from blosc2c import cli, errors, indexing
from blosc2c._ffi import _EXCEPTIONS, exception, lib

# ---- Errors and parameters -------------------------------------------------


def test_every_status_has_an_exception():
    names = [name for name in dir(lib) if name.startswith("B2C_E_")]
    assert len(names) > 15
    for name in names:
        status = getattr(lib, name)
        known = status in _EXCEPTIONS or name in ("B2C_E_MEMORY", "B2C_E_IO", "B2C_E_LOCKED")
        assert known, name
        assert str(exception(status)), name


@pytest.mark.parametrize("name", [n for n in vars(errors) if n.endswith("Error")])
def test_exceptions_survive_pickling(name):
    exc = getattr(errors, name)("the text", path="p", offset=3, chunk=1)
    again = pickle.loads(pickle.dumps(exc))
    assert (type(again), str(again), again.offset, again.chunk) == (type(exc), "the text", 3, 1)


def test_public_names_exist():
    for name in b2.__all__:
        assert getattr(b2, name) is not None


def test_a_name_left_out_says_why():
    with pytest.raises(AttributeError, match="compute engine"):
        b2.lazyexpr  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'asarray'"):
        b2.asaray  # noqa: B018
    assert not set(b2.compat.MISSING) & set(b2.__all__)


def test_cparams_are_checked_and_normalised():
    p = b2.CParams(codec="lz4", filters="bitshuffle", splitmode=1)
    assert (p.codec, p.filters, p.splitmode) == (
        b2.Codec.LZ4,
        [b2.Filter.BITSHUFFLE],
        b2.SplitMode.ALWAYS_SPLIT,
    )
    given = [1, 2]
    b2.CParams(filters=given, filters_meta=[0, 0])
    assert given == [1, 2]
    for wrong in ({"clevel": 10}, {"nthreads": 0}, {"typesize": 0}, {"filters": [1] * 7}, {"codec": "zst"}):
        with pytest.raises(ValueError):
            b2.CParams(**wrong)


def test_import_is_fast_and_lazy():
    code = "import numpy, sys, blosc2c; print('blosc2c.ndarray' in sys.modules, 'msgpack' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


# ---- Chunks ----------------------------------------------------------------


@pytest.mark.parametrize("codec", b2.compressor_list())
@pytest.mark.parametrize("filter", ["nofilter", "shuffle", "bitshuffle", "delta"])
@pytest.mark.parametrize("clevel", [0, 1, 9])
def test_chunk_round_trip(codec, filter, clevel):
    data = np.arange(30_000, dtype="i4").tobytes()
    chunk = b2.compress(data, 4, clevel, filter, codec)
    assert b2.decompress(chunk) == data
    assert b2.get_cbuffer_sizes(chunk)[:2] == (len(data), len(chunk))


@pytest.mark.parametrize("n", [0, 1, 7, 4095, 4096, 100_000])
def test_outputs_of_all_kinds(n):
    data = os.urandom(n)
    chunk = b2.compress2(data)
    assert b2.decompress(chunk) == data
    assert b2.decompress(chunk, as_bytearray=True) == bytearray(data)
    if n:
        out = bytearray(n)
        assert b2.decompress(chunk, out) is None
        assert out == data


def test_chunk_errors():
    chunk = b2.compress2(bytes(800_000))
    with pytest.raises(ValueError, match="dst holds 16 bytes, the chunk decompresses to 800000"):
        b2.decompress2(chunk, bytearray(16))
    with pytest.raises(TypeError, match="did you mean 'clevel'"):
        b2.compress2(b"", clevl=1)
    with pytest.raises(AttributeError):
        b2.compress2(b"", cparams={}, clevel=1)
    with pytest.raises(ValueError, match="multiple"):
        b2.compress(b"123", 8)
    with pytest.raises(errors.ParameterError, match="contiguous"):
        b2.compress2(np.zeros((4, 4))[:, ::2])
    with pytest.raises(TypeError):
        b2.compress2("text")
    with pytest.raises(errors.TruncatedError):
        b2.decompress(b"1234")
    with pytest.raises(TypeError, match="pointers"):
        b2.pack_array2(np.array([object()]))


def test_packing(tmp_path):
    dtypes = ["f8", ">i4", "M8[s]", "U5", [("a", "i1"), ("b", "f8", (2,))]]
    for dtype in dtypes:
        for shape in [(), (3, 4), (0, 2)]:
            a = np.zeros(shape, dtype)
            for again in (b2.unpack_array2(b2.pack_array2(a)), b2.unpack(b2.pack(a))):
                assert again.dtype == a.dtype
                assert again.shape == a.shape
                assert (again == a).all()
    path = tmp_path / "a.b2frame"
    assert b2.save_array(np.arange(9), path) == path.stat().st_size
    assert b2.load_array(path).sum() == 36
    with pytest.raises(FileExistsError):
        b2.save_array(np.arange(9), path)


# ---- Super-chunks ----------------------------------------------------------


@pytest.fixture(params=["memory", "file", "directory"])
def storage(request, tmp_path):
    return {
        "memory": {},
        "file": {"urlpath": tmp_path / "s.b2frame"},
        "directory": {"urlpath": tmp_path / "s.b2frame", "contiguous": False},
    }[request.param]


def test_schunk(storage):
    items = np.arange(1000, dtype="i4")
    s = b2.SChunk(data=items, chunksize=1200, meta={"k": [1, (2, 3)]}, **storage)
    s.vlmeta["a"] = {"x": (1, 2)}
    assert (s.nchunks, len(s), s.nbytes, s.typesize) == (4, 1000, 4000, 4)
    assert s[5:310] == items[5:310].tobytes()
    assert s[-1] == items[-1:].tobytes()
    assert s[5:2] == b""
    again = b2.from_cframe(s.to_cframe())
    assert again[:] == items.tobytes()
    assert again.vlmeta[:] == {"a": {"x": (1, 2)}}
    assert dict(again.meta) == {"k": [1, (2, 3)]}
    assert s.append_data(items[:300]) == 5
    assert s.delete_chunk(0) == 4
    s[0:2] = items[:2]
    s[len(s) :] = items[:1]
    with pytest.raises(ZeroDivisionError), s.transaction():
        s.delete_chunk(0)
        s.vlmeta["z"] = 1 / 0
    with s.transaction():
        s.vlmeta["z"] = 1
        del s.vlmeta["a"]
    assert dict(s.vlmeta) == {"z": 1}
    content = s[:]
    if "urlpath" in storage:
        with pytest.raises(FileExistsError, match="mode='w'"):
            b2.SChunk(**storage)
        s.close()
        s.close()
        with pytest.raises(errors.ClosedError):
            s.nbytes  # noqa: B018
        s = b2.open(storage["urlpath"])
        with pytest.raises(errors.ReadOnlyError):
            s.append_data(b"1234")
    assert s[:] == content
    assert pickle.loads(pickle.dumps(s))[:] == content
    with pytest.raises(IndexError):
        s.decompress_chunk(99)


def test_vlmeta_does_not_outlive_its_owner():
    vlmeta = b2.SChunk().vlmeta
    with pytest.raises(ReferenceError):
        vlmeta["a"]


def test_open_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        b2.open(tmp_path / "nothing")
    (tmp_path / "junk").write_bytes(b"junk" * 100)
    with pytest.raises(errors.FormatError):
        b2.open(tmp_path / "junk")
    with pytest.raises(errors.FormatError):
        b2.open(tmp_path)
    with pytest.raises(ValueError, match="no sparse frame"):
        b2.remove_urlpath(tmp_path)
    with pytest.raises(ValueError, match="URL"):
        b2.open("http://host/file")


# ---- Arrays ----------------------------------------------------------------

DTYPES = ["i1", "?", ">i4", "f8", "c16", "M8[s]", "U3", "S5", "V7", [("a", "i2"), ("b", ">f8", (2,))]]


def _sample(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    dt = np.dtype(dtype)
    if dt.kind in "UM":
        return rng.integers(0, 999, shape).astype(dt)
    if dt.kind in "?":
        return rng.integers(0, 2, shape).astype(dt)
    n = int(np.prod(shape)) * dt.itemsize
    if dt.kind in "fc":
        return rng.integers(-99, 99, shape).astype(dt)
    # Small bytes, so that records hold no NaN and compare equal to themselves.
    return rng.integers(0, 50, n).astype("u1").view(dt).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (1000,), (30, 40), (0, 5), (7, 8, 9)], ids=str)
def test_array_round_trip(shape, dtype, tmp_path):
    a = _sample(shape, dtype)
    x = b2.asarray(a, urlpath=tmp_path / "x.b2nd")
    for y in (x, b2.open(tmp_path / "x.b2nd"), b2.from_cframe(x.to_cframe()), x.copy()):
        assert (y.shape, y.dtype) == (a.shape, a.dtype)
        assert (y[...] == a).all()
        assert y.tobytes() == a.tobytes()


def _random_key(rng, shape):
    key = []
    for n in shape:
        kind = rng.random()
        if kind < 0.2 and n:
            key.append(rng.randrange(-n, n))
        elif kind < 0.3 and n:
            key.append([rng.randrange(-n, n) for _ in range(3)])
        else:
            bounds = [rng.choice([None, rng.randint(-n - 2, n + 2)]) for _ in range(2)]
            key.append(slice(*bounds, rng.choice([None, 1, 2, 3, -1, -2])))
    if rng.random() < 0.3:
        key = [*key[: rng.randint(0, len(key))], ...]
    if rng.random() < 0.2:
        key.insert(rng.randint(0, len(key)), None)
    return tuple(key)


def test_reading_and_writing_as_numpy():
    rng = random.Random(7)
    for _ in range(200):
        shape = tuple(rng.randint(1, 12) for _ in range(rng.randint(1, 4)))
        chunks = tuple(rng.randint(1, n) for n in shape)
        blocks = tuple(rng.randint(1, c) for c in chunks)
        a = _sample(shape, "i4", rng.random().__hash__() % 1000)
        x = b2.asarray(a, chunks=chunks, blocks=blocks)
        for _ in range(5):
            key = _random_key(rng, shape)
            want = a[key]
            assert x[key].shape == want.shape
            assert (x[key] == want).all(), (shape, chunks, blocks, key)
            out = np.empty_like(want)
            x.read_into(out, key)
            assert (out == want).all()
        a[key] = 7
        x[key] = 7
        values = rng.randint(0, 99) + np.arange(want.size).reshape(want.shape)
        if not any(isinstance(k, list) for k in key):
            a[key] = values
            x[key] = values
        assert (x[...] == a).all(), (shape, chunks, blocks, key)


def test_masks_and_orthogonal_indices():
    a = np.arange(120).reshape(10, 12)
    x = b2.asarray(a, chunks=(4, 5), blocks=(2, 3))
    mask = a % 7 == 0
    assert (x[mask] == a[mask]).all()
    assert (x.oindex[[1, 5], [2, 0, 3]] == a[np.ix_([1, 5], [2, 0, 3])]).all()
    assert (x[True] == a[True]).all()
    x[mask] = -1
    a[mask] = -1
    x.oindex[[0, 9], 1:3] = 5
    a[np.ix_([0, 9], [1, 2])] = 5
    assert (x[...] == a).all()
    for wrong in (10, (0, 12), (0, 0, 0), "nothing", 1.5, [[10]]):
        with pytest.raises((IndexError, KeyError)):
            x[wrong]


def test_resize_and_append(storage):
    a = np.arange(63).reshape(7, 9)
    x = b2.asarray(a, chunks=(3, 4), blocks=(2, 2), **storage)
    for shape in [(10, 9), (10, 14), (4, 14), (5, 3), (0, 3), (6, 6)]:
        b = np.zeros(shape, a.dtype)
        low = tuple(min(p, q) for p, q in zip(a.shape, shape, strict=True))
        b[: low[0], : low[1]] = a[: low[0], : low[1]]
        a = b
        x.resize(shape)
        assert x.shape == shape
        assert (x[...] == a).all()
    with pytest.raises(ZeroDivisionError), x.schunk.transaction():
        x.resize((9, 9))
        1 / 0  # noqa: B018
    assert x.shape == (6, 6)
    y = b2.asarray(np.arange(5), chunks=(3,))
    assert y.append([5, 6]) == 7
    assert y[:].tolist() == list(range(7))


def test_constructors():
    assert b2.zeros((3, 4))[:].tolist() == [[0.0] * 4] * 3
    assert b2.ones(5, "i2")[:].tolist() == [1] * 5
    assert b2.full((2, 2), b"abc")[:].tolist() == [[b"abc"] * 2] * 2
    assert np.isnan(b2.nans((3,))[:]).all()
    assert np.isnan(b2.nans((3,), "f2")[:]).all()
    assert b2.uninit((3,)).shape == (3,)
    assert b2.zeros((10**6, 10**6)).cratio > 10**5
    assert (b2.full((3,), 7, dtype="V300" if False else "i8")[:] == 7).all()
    wide = np.array(b"x" * 300)
    assert (b2.full((3,), wide)[:] == wide).all()
    assert (b2.arange(2, 100, 7)[:] == np.arange(2, 100, 7)).all()
    assert (b2.arange(12, shape=(3, 4), chunks=(2, 3))[:] == np.arange(12).reshape(3, 4)).all()
    assert np.allclose(b2.linspace(0, 1, 11)[:], np.linspace(0, 1, 11))
    assert (b2.eye(4, 5, 1)[:] == np.eye(4, 5, 1)).all()
    assert b2.fromiter(range(6), (2, 3), "i4")[1].tolist() == [3, 4, 5]
    assert b2.frombuffer(b"abcd", (4,))[2] == ord("c")
    a = np.arange(24).reshape(2, 3, 4)
    x = b2.asarray(a)
    assert (b2.concat([x, x], axis=1)[:] == np.concatenate([a, a], 1)).all()
    assert (b2.stack([x, x], axis=1)[:] == np.stack([a, a], 1)).all()
    assert (b2.take(x, [1, 5])[:] == np.take(a, [1, 5])).all()
    assert (x.take([2, 0], axis=-1)[:] == a.take([2, 0], axis=-1)).all()
    assert (b2.reshape(x, (6, -1))[:] == a.reshape(6, -1)).all()
    assert b2.squeeze(b2.expand_dims(x, (0, 2)), 0).shape == (2, 1, 3, 4)
    assert (x.slice((slice(None), 1))[:] == a[:, 1]).all()
    assert (x.astype("f4")[:] == a).all()
    assert b2.asarray(x) is x
    with pytest.raises(TypeError, match="object"):
        b2.asarray(np.array([None]))
    with pytest.raises(TypeError):
        b2.nans((3,), "i4")
    with pytest.raises(KeyError):
        b2.zeros((3,), chunk=(1,))


def test_array_protocols(tmp_path):
    a = np.arange(20.0).reshape(4, 5)
    x = b2.asarray(a, urlpath=tmp_path / "x.b2nd", meta={"m": 1})
    x.vlmeta["v"] = 2
    assert (np.asarray(x) == a).all()
    assert np.asarray(x, "f4").dtype == np.float32
    assert len(x) == 4
    assert [row.tolist() for row in x] == a.tolist()
    assert (pickle.loads(pickle.dumps(x))[:] == a).all()
    assert x.__dask_tokenize__() == b2.open(tmp_path / "x.b2nd").__dask_tokenize__()
    assert "shape=(4, 5)" in repr(x)
    assert "<table>" in x._repr_html_()
    y = x.copy(chunks=(2, 2))
    assert (dict(y.meta)["m"], y.vlmeta["v"], y.chunks) == (1, 2, (2, 2))
    schunk = x.schunk
    with pytest.raises(ValueError, match="itself"):
        x.save(tmp_path / "x.b2nd", mode="w")
    del x
    assert schunk.nbytes >= a.nbytes
    with b2.open(tmp_path / "x.b2nd") as z:
        pass
    with pytest.raises(ValueError, match="closed array"):
        z[0]


def test_fields():
    a = _sample((6,), [("a", "i2"), ("b", ">f8", (2,))])
    x = b2.asarray(a, chunks=(4,))
    assert (x["a"][1:] == a["a"][1:]).all()
    assert (x.fields["b"][...] == a["b"]).all()
    x["a"][2:4] = 9
    assert x["a"][:].tolist()[2:4] == [9, 9]
    with pytest.raises(KeyError, match="the fields are: a, b"):
        x["c"]


def test_a_failed_creation_leaves_nothing(tmp_path):
    class Source:
        shape, dtype = (10,), np.dtype("i4")

        def __getitem__(self, key):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        b2.asarray(Source(), urlpath=tmp_path / "x.b2nd")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["u1", "f8", "V100", "V300000"])
@pytest.mark.parametrize("shape", [(10**7,), (10**4, 10**4), (1000, 512, 512), (10**6, 3), (50, 224, 224, 3)])
def test_partition_rule(shape, dtype):
    chunks, blocks = b2.compute_chunks_blocks(shape, dtype=dtype)
    itemsize = np.dtype(dtype).itemsize
    assert all(b <= c <= n for n, c, b in zip(shape, chunks, blocks, strict=True))
    assert int(np.prod(blocks)) * itemsize <= max(128 << 10, itemsize)
    nbytes = int(np.prod(chunks)) * itemsize
    assert (2 << 20) < nbytes <= (8 << 20) or chunks == shape


# ---- Threads and processes -------------------------------------------------


def test_many_threads_read_one_array():
    a = np.arange(300_000, dtype="i4").reshape(300, 1000)
    x = b2.asarray(a, chunks=(50, 300), blocks=(10, 100))

    def job(seed):
        rng = random.Random(seed)
        for _ in range(20):
            key = _random_key(rng, a.shape)
            if not (x[key] == a[key]).all():
                return key
        return None

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(job, range(16))) == [None] * 16


def test_close_waits_for_readers():
    x = b2.asarray(np.zeros((2000, 1000)), cparams={"clevel": 1})
    failures = []

    def job():
        try:
            while True:
                x[::3]
        except errors.ClosedError:
            pass
        except BaseException as exc:
            failures.append(exc)

    threads = [threading.Thread(target=job) for _ in range(4)]
    for thread in threads:
        thread.start()
    x.close()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork()")
def test_a_forked_child_can_read():
    x = b2.asarray(np.arange(10**6), cparams={"nthreads": 4})
    want = int(x[...].sum())
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map_async(_sum, [x, x]).get(60) == [want, want]
    child = context.Process(target=lambda: os._exit(0 if int(x[...].sum()) == want else 1))
    child.start()
    child.join(60)
    assert child.exitcode == 0


def _sum(x):
    return int(x[...].sum())


# ---- Command line ----------------------------------------------------------


def test_command_line(tmp_path, capsysbinary):
    a = np.arange(120, dtype="i4").reshape(10, 12)
    source, packed, back = (str(tmp_path / n) for n in ("a.npy", "a.b2nd", "b.npy"))
    np.save(source, a)
    assert cli.main(["pack", source, packed, "--codec", "lz4", "--chunks", "4,12"]) == 0
    assert cli.main(["pack", source, packed]) == 2
    assert cli.main(["pack", source, packed, "--force", "--filter", "bitshuffle"]) == 0
    assert cli.main(["unpack", packed, back, "--threads", "2"]) == 0
    assert (np.load(back) == a).all()
    capsysbinary.readouterr()
    assert cli.main(["cat", packed, "[3, 1:4]"]) == 0
    assert capsysbinary.readouterr().out == b"37,38,39\n"
    assert cli.main(["info", packed, "--json"]) == 0
    assert b'"shape": [\n' in capsysbinary.readouterr().out
    assert cli.main(["cat", packed, "[3, 99]"]) == 2
    assert cli.main(["cat", packed, "[open('x')]"]) == 2
    assert cli.main(["info", str(tmp_path / "nothing")]) == 1
    assert cli.main(["nonsense"]) == 2
    assert cli.main(["selftest"]) == 0
    assert sorted(os.listdir(tmp_path)) == ["a.b2nd", "a.npy", "b.npy"]


def test_indexing_is_pure():
    box = indexing.parse_key((slice(8, 1, -3), None, -1), (10, 5))
    assert (box.start, box.counts, box.step, box.shape) == ((2, 4), (3, 1), (3, 1), (3, 1))
