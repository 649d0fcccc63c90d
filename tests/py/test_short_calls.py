"""Short calls of super-chunks, as methods of C: they give what the long way gives.

SPDX-License-Identifier: BSD-3-Clause
"""

import ctypes
import gc
import os
import sys
import threading
import time

import numpy as np
import pytest

import blosc2c as b2
from blosc2c import _ffi
from blosc2c.description import description_of, read_description

N = 100
DATA = np.arange(10 * N, dtype="i4")


@pytest.fixture(params=["memory", "disk"])
def s(request, tmp_path):
    path = tmp_path / "f.b2frame" if request.param == "disk" else None
    with b2.SChunk(data=DATA, chunksize=4 * N, urlpath=path, cparams={"typesize": 4}) as made:
        made.vlmeta["name"] = 1
        yield made


class _Closed:
    """In the place of the methods of C: all is done in the long way."""

    def __getattr__(self, name):
        is_fact = name in (
            "nchunks",
            "nbytes",
            "cbytes",
            "cratio",
            "typesize",
            "nitems",
            "nvlmeta",
            "storage",
        )
        return None if is_fact else lambda *_: None


def both(s, call):
    """What a call gives or raises in the short way, which is that of the long way."""
    found, kept = [], s.handle.calls
    for calls in (kept, _Closed()):
        s.handle.calls = calls
        try:
            found.append(call(s))
        except Exception as exc:
            found.append((type(exc), str(exc)))
        finally:
            s.handle.calls = kept
    assert found[0] == found[1]
    assert type(found[0]) is type(found[1])
    return found[0]


KEYS = [0, -1, 5, 999, -1000, 1000, -1001, True, np.int16(7), 1 << 70, "x", None, 1.5]
KEYS += [slice(a, b) for a in (None, 0, 5, -5, 1000, 5000) for b in (None, 0, 7, -3, 5000)]
KEYS += [slice(0, 9, 1), slice(0, 9, 2), slice("a", 3), slice(np.int64(3), np.int8(9)), slice(1 << 80)]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_items(s, key):
    found = both(s, lambda s: s[key])
    if isinstance(found, bytes):
        wanted = DATA[key] if isinstance(key, slice) else DATA[int(key) : int(key) + 1 or None]
        assert found == wanted.tobytes()


@pytest.mark.parametrize(
    "number", [0, 9, 10, -1, True, np.uint8(3), 1 << 64, (1 << 64) - 1, 2.0, "1", None], ids=repr
)
def test_chunks(s, number):
    for name in ("get_chunk", "decompress_chunk"):
        both(s, lambda s, name=name: getattr(s, name)(number))
    both(s, lambda s: tuple(s.chunk_facts(number)[:4]))
    both(s, lambda s: s.decompress_chunk(number, bytearray(5)))


@pytest.mark.parametrize("nbytes", [100, 8159, 8160, 8161, 70_000, 300_000])
@pytest.mark.parametrize("limits", [None, b2.Limits(max_chunk_nbytes=1 << 19)])
def test_stored_chunks_of_any_size(nbytes, limits, tmp_path):
    """With the header of 32 bytes, up to one beyond what is copied by way of the desk."""
    noise = np.random.default_rng(1).bytes(nbytes)
    for path in (None, tmp_path / "f.b2frame"):
        with b2.SChunk(data=noise, urlpath=path, limits=limits) as made:
            chunk = both(made, lambda s: s.get_chunk(0))
            assert len(chunk) == nbytes + 32
            assert b2.decompress2(chunk) == noise


@pytest.mark.parametrize("nbytes", [0, 100, 60_000, 65_000, 70_000, 300_000])
@pytest.mark.parametrize("checksums", [False, True])
def test_frames_of_any_size(nbytes, checksums, tmp_path):
    """Below and above what is copied by way of the desk."""
    noise = np.random.default_rng(1).bytes(nbytes)
    for path in (None, tmp_path / "f.b2frame"):
        with b2.SChunk(data=noise, chunksize=10_000, urlpath=path, checksums=checksums) as made:
            made.vlmeta["name"] = "value"
            frame = both(made, lambda s: s.to_cframe())
            copy = b2.schunk_from_cframe(frame)
            assert copy[:] == noise and copy.vlmeta["name"] == "value"
    assert both(made, lambda s: s.to_cframe())[0] is b2.ClosedError


@pytest.mark.parametrize("path", [None, "f.b2frame"])
def test_data_of_new_ones_without_methods_of_subclasses(path, tmp_path):
    """Their own constructor has not ended by then."""

    class Counting(b2.SChunk):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.nappended = 0

        def append_data(self, data):
            self.nappended += 1
            return super().append_data(data)

    with Counting(data=bytes(100), chunksize=30, urlpath=path and tmp_path / path) as s:
        assert (s.nchunks, s.nappended) == (4, 0)
        assert s.append_data(bytes(30)) == 5 and s.nappended == 1


def outputs():
    frozen = np.zeros(N, "i4")
    frozen.flags.writeable = False
    given = [
        np.zeros(N, "i4"),
        np.zeros(2 * N, "i4"),
        bytearray(4 * N),
        bytearray(3),
        np.zeros((2, N // 2), "f4"),
    ]
    return [
        *given,
        frozen,
        np.zeros(2 * N, "i4")[::2],
        bytes(400),
        memoryview(bytearray(400)).cast("i"),
        5,
        "text",
    ]


@pytest.mark.parametrize("i", range(11))
def test_outputs(s, i):
    def fill(call):
        def filled(s):
            out = outputs()[i]
            assert call(s, out) is None
            return bytes(np.ascontiguousarray(out))

        return filled

    found = both(s, fill(lambda s, out: s.decompress_chunk(3, out)))
    assert not isinstance(found, bytes) or found[: 4 * N] == DATA[3 * N : 4 * N].tobytes()
    both(s, fill(lambda s, out: s.get_slice(3, 103, out)))
    for start in (0, 7, 9 * N + 1, 10 * N, 10 * N + 1, -1, 1 << 70, 1.0, None):
        found = both(s, fill(lambda s, out, start=start: s.read_into(out, start)))
        assert not isinstance(found, bytes) or found == DATA[start:].tobytes()[: len(found)]


BUFFERS = [DATA[:N], bytes(400), b"", bytearray(8), memoryview(DATA[:N]), DATA[:N][::2], "text", 5, None]
BUFFERS += [np.asfortranarray(DATA[:N].reshape(10, 10)), bytes(1 << 18)]


def check_edits(made, edits):
    """All edits give or raise the same for both super-chunks, which are the same in the end."""
    for edit in edits:
        found = []
        for s in made:
            try:
                found.append(edit(s))
            except Exception as exc:
                found.append((type(exc), str(exc)))
        assert found[0] == found[1]
    assert made[0].to_cframe() == made[1].to_cframe()


@pytest.mark.parametrize("data", BUFFERS, ids=lambda v: type(v).__name__)
def test_edits(data, tmp_path):
    """Of two super-chunks, one edited in the short way and the other in the long one."""
    chunk = b2.compress2(DATA[:N], typesize=4)
    made = [b2.SChunk(data=DATA, chunksize=4 * N, cparams={"typesize": 4}) for _ in range(2)]
    made[1].handle.calls = _Closed()
    edits = [
        lambda s: s.append_data(data),
        lambda s: s.insert_data(2, data),
        lambda s: s.update_data(3, data),
        lambda s: s.update_data(99, data),
        lambda s: s.update_data(-1, data),
        lambda s: s.append_chunk(data),
        lambda s: s.append_chunk(chunk),
        lambda s: s.insert_chunk(1, chunk),
        lambda s: s.update_chunk(0, chunk),
        lambda s: s.update_chunk("1", chunk),
        lambda s: s.delete_chunk(2),
        lambda s: s.delete_chunk(99),
        lambda s: s.delete_chunk(None),
    ]
    check_edits(made, edits)


def test_edits_in_a_transaction_are_short(s, monkeypatch):
    """But for one after a reader in Python, whose mark that takes away; also when others wait."""
    edit, edited = s.handle.edit, []
    monkeypatch.setattr(s.handle, "edit", lambda call: edited.append(call) or edit(call))
    with s.transaction():
        waiting = threading.Thread(target=lambda: s.append_data(b"last"))
        waiting.start()
        while not edited:  # until it has found that it has to wait
            time.sleep(0.001)
        edited.clear()
        with s.handle:
            pass
        s.append_data(b"some")
        assert len(edited) == 1
        s.append_data(b"some")
        s.update_chunk(0, s.get_chunk(1))
        s.vlmeta["name"] = 2
        s[3:5] = b"12345678"
        s.delete_chunk(2)
        assert len(edited) == 1
    waiting.join()
    assert s[-1:] == b"last" and s[3:5] == b"12345678" and s.vlmeta["name"] == 2
    assert s[:3] == DATA[N : N + 3].tobytes()


def test_special_chunks_and_those_of_others(tmp_path):
    """As test_edits(); those of others also while these are written, closed and damaged."""
    path = str(tmp_path / "other.b2frame")
    given = {"chunksize": 4 * N, "cparams": {"typesize": 4}}
    other = b2.SChunk(data=DATA[::-1].copy(), urlpath=path, **given)
    closed = b2.SChunk(data=DATA, **given)
    closed.close()
    made = [b2.SChunk(data=DATA, **given) for _ in range(2)]
    made[1].handle.calls = _Closed()
    one, two = np.array([7], np.uint64), np.array([3, 0, 3, 9], np.uint64)

    def in_transaction(s):
        with other.transaction():
            other.append_data(DATA[:N])
            s.copy_some(other, two)

    edits = [
        lambda s: s.fill_special(2 * N + 5, b2.SpecialValue.ZERO),
        lambda s: s.truncate(12 * N),
        lambda s: s.fill_special(N, b2.SpecialValue.VALUE, 7),
        lambda s: s.fill_special(N, b2.SpecialValue.VALUE, b"12345"),
        lambda s: s.fill_special(N, b2.SpecialValue.NAN),
        lambda s: s.fill_special(0, b2.SpecialValue.UNINIT),
        lambda s: s.fill_special(1 << 61, b2.SpecialValue.ZERO),
        lambda s: s.copy_some(other, one),
        lambda s: s.copy_some(other, two),
        lambda s: s.copy_some(other, two[::2]),
        lambda s: s.copy_some(other, two + one),
        lambda s: s.copy_some(closed, one),
        lambda s: s.copy_some(s, one),
        in_transaction,
    ]
    check_edits(made, edits)
    other.close()


@pytest.mark.parametrize("dtype", ["i4", "M8[s]", "U3"])
def test_new_arrays(dtype, monkeypatch):
    """Whose chunks are appended in the short way, and in the long one."""
    data = np.arange(600).astype(dtype).reshape(20, 30)
    frames = []
    for _ in range(2):
        array = b2.asarray(data, chunks=(7, 8), blocks=(3, 8))
        assert np.array_equal(array[:], data)
        frames.append(array.to_cframe())
        monkeypatch.setattr(_ffi.calls, "Calls", lambda owner, address: _Closed())
    assert frames[0] == frames[1]


def test_writes(tmp_path):
    """Items that are there, and whatever else may be asked for."""
    made = [b2.SChunk(data=DATA, chunksize=4 * N, cparams={"typesize": 4}) for _ in range(2)]
    made[1].handle.calls = _Closed()
    keys = [*KEYS, slice(990, 1010), slice(1000, 1005), slice(7, 7), slice(0, 250)]
    for key in keys:
        for n in (0, 1, 5, 250, 1000):
            value, found = -DATA[:n], []
            for s in made:
                try:
                    found.append(s.__setitem__(key, value))
                except Exception as exc:
                    found.append((type(exc), str(exc)))
            assert found[0] == found[1], key
            assert made[0][:] == made[1][:], key


NAMES = ["name", "other", "", "x" * 31, "x" * 32, "a\0b", "é", "\udc80", b"name", 5, None]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_metalayers(name):
    def use(vlmeta):
        yield lambda: name in vlmeta
        yield lambda: vlmeta[name]
        yield lambda: vlmeta.__setitem__(name, [1, "é", None])
        yield lambda: vlmeta[name]
        yield lambda: name in vlmeta
        yield lambda: len(vlmeta)
        yield lambda: vlmeta.__delitem__(name)
        yield lambda: vlmeta.__delitem__(name)

    made = [b2.SChunk(meta={"name": 7, "é": 8}) for _ in range(2)]
    made[1].handle.calls = _Closed()
    told = []
    for s in made:
        calls = [*use(s.vlmeta), lambda s=s: s.meta[name], lambda s=s: name in s.meta]
        told.append([])
        for call in calls:
            try:
                told[-1].append(call())
            except Exception as exc:
                told[-1].append((type(exc), str(exc)))
    assert told[0] == told[1]


def test_facts_of_what_changes(s):
    assert (s.nchunks, s.nbytes, s.typesize, len(s)) == (10, 4000, 4, 1000)
    assert s.cratio == s.nbytes / s.cbytes and b2.SChunk().cratio == 0
    s.append_data(DATA[:5])
    assert (s.nchunks, s.nbytes, len(s), s.chunksize) == (11, 4020, 1005, 400)
    with s.transaction():
        s.delete_chunk(0)
        assert (s.nchunks, len(s), s[0]) == (10, 905, DATA[100:101].tobytes())
    s.close()
    for call in (lambda: s.nchunks, lambda: len(s), lambda: s[0], lambda: s.vlmeta["name"]):
        with pytest.raises(b2.ClosedError):
            call()


@pytest.mark.parametrize("contiguous", [True, False])
def test_facts_of_special_chunks_beside_a_writer(contiguous, tmp_path):
    kinds = [b2.SpecialValue.ZERO, b2.SpecialValue.NAN, b2.SpecialValue.UNINIT]
    path = tmp_path / "f.b2frame"
    with b2.SChunk(chunksize=4 * N, urlpath=path, contiguous=contiguous, cparams={"typesize": 4}) as made:
        for kind in kinds:
            made.fill_special(N, kind)
        made.append_data(DATA[:N])
    with b2.open(path, mode="r") as s:
        expected = [*kinds, b2.SpecialValue.NOT_SPECIAL]
        assert both(s, lambda s: [(f.special, f.cratio) for f in s.iterchunks_info()][:3]) == [
            (kind, 12.5) for kind in kinds
        ]
        with b2.open(path, mode="a") as other:
            for _ in range(4):
                other.update_data(0, DATA[:N])
        assert s.handle.calls.chunk_info(0) == (4 * N, 32, 1)  # what the index told, as nchunks does
        assert [f.special for f in s.iterchunks_info()][1:] == expected[1:]  # the last one needs a look
        s.refresh()
        assert next(s.iterchunks_info()).special is b2.SpecialValue.NOT_SPECIAL
        assert both(s, lambda s: s.chunk_facts(4))[0] is b2.ChunkIndexError
        facts = s.iterchunks_info()
        next(facts)
    with pytest.raises(b2.ClosedError):
        next(facts)


def test_attributes_are_found_at_once(s):
    """With a __getattr__() each would take CPython as long as all else that a fact takes."""
    assert not hasattr(type(s), "__getattr__") and not hasattr(type(s.handle), "__getattr__")


LONG_NAME = "n" * 300
DESCRIBED = {
    "numbers": b2.zeros((5, 3, 4), "<f8", chunks=(4, 2, 3), blocks=(2, 2, 1)),
    "big-endian": b2.zeros((5,), ">i2"),
    "no axes": b2.zeros((), "u1"),
    "16 axes": b2.zeros((2,) * 16, "u1"),
    "no items": b2.zeros((0, 3), "S7"),
    "dates": b2.zeros((3,), "M8[ns]"),
    "records": b2.zeros((3,), [("a", "<i4"), ("b", "<f8")]),
    "long text": b2.zeros((3,), [(LONG_NAME, "<i4")]),
    "not a number": b2.zeros((3,), "V5"),
    "2^40 items": b2.zeros((1 << 40,), "u1", chunks=(1 << 24,), blocks=(1 << 16,)),
}


@pytest.mark.parametrize("kind", DESCRIBED)
def test_descriptions(kind):
    array = DESCRIBED[kind]
    nd, dtype = description_of(array.schunk.handle, None)
    assert dtype == array.dtype
    assert (nd.ndim, nd.itemsize) == (array.ndim, array.dtype.itemsize)
    with array.schunk.handle as ptr:
        long_nd, long_dtype = read_description(ptr, None)
    assert dtype == long_dtype
    assert bytes(_ffi.ffi.buffer(nd)) == bytes(_ffi.ffi.buffer(long_nd))
    shapes = _ffi.calls.shapes(_ffi.address_of(nd))
    assert shapes == (array.shape, array.chunks, array.blocks)
    assert shapes == tuple(tuple(_ffi.ffi.unpack(f, nd.ndim)) for f in (nd.shape, nd.chunks, nd.blocks))


def test_descriptions_that_are_none_or_not_free(s):
    assert s.handle.calls.description() is None
    assert description_of(s.handle, None) is None
    array = b2.zeros((3,), "i4")
    handle = array.schunk.handle
    assert handle.calls.description()[1] == b"<i4"
    with handle.writing():
        assert handle.calls.description() is None
        assert description_of(handle, None)[1] == array.dtype
    array.schunk.close()
    assert handle.calls.description() is None
    with pytest.raises(b2.ClosedError):
        description_of(handle, None)


def test_exceptions_of_signals_in_arguments(s):
    """They are raised, and not taken for something that the long way tells."""

    class Number:
        def __init__(self, *exceptions):
            self.exceptions = [*exceptions]

        def __index__(self):
            if self.exceptions:
                raise self.exceptions.pop()
            return 2

    calls = [s.get_chunk, s.decompress_chunk, s.__getitem__, s.delete_chunk]
    calls += [lambda n: s[n:5], lambda n: s.update_data(n, bytes(400)), lambda n: s.__setitem__(n, b"1234")]
    for call in calls:
        with pytest.raises(KeyboardInterrupt):
            call(Number(KeyboardInterrupt()))
        call(Number())


def test_an_index_that_makes_it_shorter(s):
    """What is left is read, as a list gives it."""

    class Index:
        is_new = True

        def __index__(self):
            if self.is_new:
                self.is_new = False
                s.delete_chunk(s.nchunks - 1)
            return 0

    for read in (lambda: s[Index() :], lambda: s.get_slice(Index(), len(s))):
        assert read() == DATA.tobytes()[: s.nbytes]
    out = bytearray(s.nbytes)
    s.get_slice(Index(), None, out)
    assert out[: s.nbytes] == DATA.tobytes()[: s.nbytes] and not any(out[s.nbytes :])


def test_chunks_of_all_sizes():
    """The size of the last one is what the next one is thought to have."""
    s = b2.SChunk(chunksize=None)
    sizes = [1, 65536, 7, 7, 65537, 1, 300_000, 3, 262_143, 64, 262_144, 63, 262_143]
    for n in sizes:
        s.append_data(bytes(range(256)) * (n // 256) + bytes(n % 256))
    order = range(len(sizes))
    for nchunk in [*order, *reversed(order)]:
        n = sizes[nchunk]
        want = bytes(range(256)) * (n // 256) + bytes(n % 256)
        assert both(s, lambda s, nchunk=nchunk: s.decompress_chunk(nchunk)) == want
        at = sum(sizes[:nchunk])
        assert both(s, lambda s, at=at, n=n: s[at : at + n]) == want
        assert both(s, lambda s, at=at, n=n: s[at + n // 2 : at + n]) == want[n // 2 :]


@pytest.mark.parametrize("nbytes", [4 * N, 150_000])
@pytest.mark.parametrize("of", ["one", "all"])
@pytest.mark.parametrize("name", ["max_result_nbytes", "max_chunk_nbytes"])
def test_limits(name, of, nbytes):
    n = nbytes // 4
    frame = b2.SChunk(
        data=np.arange(4 * n, dtype="i4"), chunksize=nbytes, cparams={"typesize": 4}
    ).to_cframe()
    limits = b2.Limits(**{name: nbytes})
    before = b2.set_limits(limits) if of == "all" else b2.get_limits()
    try:
        s = b2.schunk_from_cframe(frame, limits=limits if of == "one" else None)
        assert len(s.decompress_chunk(1)) == len(s[1 : n + 1]) == nbytes
        if name == "max_result_nbytes":
            with pytest.raises(b2.LimitError, match=f"max_result_nbytes allows {nbytes}"):
                _ = s[1 : n + 2]
    finally:
        b2.set_limits(before)


def test_threads_that_come_and_go():
    """Each has a context of its own, which goes with it."""
    s, found = b2.SChunk(data=DATA, chunksize=4 * N), []
    for _ in range(50):
        thread = threading.Thread(target=lambda: found.append(s.decompress_chunk(2)))
        thread.start()
        thread.join()
    assert found == [DATA[2 * N : 3 * N].tobytes()] * 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork()")
def test_a_forked_child():
    s = b2.SChunk(data=DATA, chunksize=4 * N)
    assert s[1] == DATA[1:2].tobytes()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if s[1] == DATA[1:2].tobytes() and s.append_data(b"1234") == 11 else 1)
    assert os.waitpid(pid, 0)[1] == 0 and s.nchunks == 10


def test_calls_keep_the_memory_that_they_use():
    calls = b2.SChunk(data=DATA, chunksize=4 * N).handle.calls
    gc.collect()
    assert calls.nchunks == 10
    with pytest.raises(TypeError):
        _ffi.calls.Calls(None, "address")


def test_threads_that_decode_chunks_of_two_sizes():
    """What one of them has learnt of a size is not that of the others' chunks."""
    s, wrong = b2.SChunk(chunksize=None), []
    chunks = [bytes([i]) * n for i, n in enumerate((30_000, 50_000, 40_000, 60_000))]
    for chunk in chunks:
        s.append_data(chunk)

    def read(nchunk: int) -> None:
        wrong.extend(i for i in range(500) if s.decompress_chunk(nchunk) != chunks[nchunk])

    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


CHUNK = b2.compress2(DATA, typesize=4)
WRONG = CHUNK[:40] + bytes(byte ^ 0x55 for byte in CHUNK[40:])


def odd_buffers():
    frozen = DATA.copy()
    frozen.flags.writeable = False
    return [
        DATA,
        b"",
        b"x",
        bytearray(100),
        DATA[::2],
        DATA.reshape(10, N).T,
        memoryview(DATA),
        frozen,
        "x",
        None,
        7,
        np.zeros(3, "M8[s]"),
        np.zeros((), "f8"),
        bytes(1 << 16),
        bytes((1 << 16) + 1),
        bytes(1 << 18),
        DATA[:0],
    ]


@pytest.mark.parametrize("src", odd_buffers(), ids=lambda src: type(src).__name__)
def test_chunks_alone(monkeypatch, src):
    """Compressing and decompressing gives or raises in the short way what it does in the long one."""

    def both_ways(call):
        found = []
        for calls in (_ffi.calls, _Closed()):
            monkeypatch.setattr(sys.modules["blosc2c.compress"], "calls", calls)
            try:
                found.append(call())
            except Exception as exc:
                found.append((type(exc), str(exc)))
        assert found[0] == found[1] and type(found[0]) is type(found[1])

    def decompress_into(chunk, dst):
        return b2.decompress2(chunk, dst), b2.decompress2(chunk, dst, nthreads=1), bytes(dst)

    both_ways(lambda: b2.compress2(src, typesize=4, codec=b2.Codec.LZ4))
    both_ways(lambda: b2.compress(src, typesize=1))
    both_ways(lambda: b2.decompress2(src))
    both_ways(lambda: b2.decompress2(CHUNK, src))
    for chunk in (
        CHUNK,
        CHUNK + b"behind",
        CHUNK[:-1],
        CHUNK[:20],
        WRONG,
        bytearray(CHUNK),
        b2.compress2(b""),
    ):
        both_ways(lambda chunk=chunk: b2.decompress(chunk))
        both_ways(lambda chunk=chunk: b2.decompress(chunk, as_bytearray=True))
        for room in (0, 5, DATA.nbytes, DATA.nbytes + 1, 1 << 19):
            both_ways(lambda chunk=chunk, room=room: decompress_into(chunk, bytearray(room)))


def test_a_large_chunk_that_becomes_another_one(monkeypatch):
    """As another thread may make it between the look at its length and the decoding."""
    compress = sys.modules["blosc2c.compress"]
    before, after = (b2.compress2(bytes([n]) * (n << 16), clevel=0) for n in (9, 7))
    chunk = bytearray(before)

    def change(*args):
        chunk[: len(after)] = after
        return _ffi.context(*args)

    monkeypatch.setattr(compress, "context", change)
    assert b2.decompress2(chunk) == b2.decompress2(after)


@pytest.mark.parametrize("nbytes", (800, 800_000))
def test_no_bytes_become_pointers(nbytes):
    """Buffers of Python objects are refused, of short and long results; those of dates are not."""
    data = np.arange(nbytes // 8)
    s = b2.SChunk(data=data, chunksize=nbytes)
    chunk, n = s.get_chunk(0), len(data)
    calls = {
        "decompress": lambda dst: b2.decompress(chunk, dst=dst),
        "decompress2": lambda dst: b2.decompress2(chunk, dst=dst),
        "decompress_chunk": lambda dst: s.decompress_chunk(0, dst),
        "get_slice": lambda dst: s.get_slice(0, n, dst),
    }
    objects = np.full(n, None)
    for call in calls.values():
        for dst in (
            objects,
            memoryview(objects),
            np.full(n, None, [("a", object)]),
            (ctypes.py_object * n)(),
        ):
            with pytest.raises(TypeError, match="must not hold Python objects"):
                call(dst)
        for dst in (np.zeros(n, "M8[s]"), np.zeros(n, [("a", "m8[s]")]), memoryview(np.zeros(n, "i8"))):
            call(dst)
            assert np.asarray(dst).tobytes() == data.tobytes()
    assert all(x is None for x in objects)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="buffers of classes, PEP 688")
def test_a_buffer_that_compresses_when_it_is_released():
    class Exporter:
        def __buffer__(self, flags):
            return memoryview(DATA)

        def __release_buffer__(self, view):
            view.release()
            b2.compress2(bytes(100))

    assert b2.compress2(Exporter(), typesize=4) == CHUNK


@pytest.mark.parametrize("edit", ["fill_special", "update_special"])
def test_items_of_a_typesize_that_changes(edit):
    """As when another thread changes it: C would read behind the item."""
    s = b2.SChunk(chunksize=960, cparams={"typesize": 1})
    s.append_data(bytes(960))

    class Item:
        def tobytes(self):
            s.delete_chunk(0)
            s.cparams = {"typesize": 240}
            s.append_data(bytes(960))
            return b"\7"

    with pytest.raises(b2.ParameterError, match="1 bytes, an item 240"):
        getattr(s, edit)(0, b2.SpecialValue.VALUE, Item())
    assert s[:] == bytes(960)
