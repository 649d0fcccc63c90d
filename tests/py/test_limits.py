# SPDX-License-Identifier: BSD-3-Clause
"""Limits: what data that is not trusted may ask for; and what huge arrays cost."""

from __future__ import annotations

import io
import itertools
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import blosc2c as b2
from blosc2c import Limits
from blosc2c.printing import Selection

A = np.arange(6000, dtype="<i4").reshape(60, 100)


@pytest.fixture
def defaults():
    before = b2.get_limits()
    yield
    b2.set_limits(before)


def openers(tmp_path):
    """The same array, opened in each way there is."""
    path, folder = tmp_path / "x", tmp_path / "d"
    x = b2.asarray(A, chunks=(10, 100), blocks=(5, 50), meta={"a": 1})
    x.vlmeta["v"] = "y" * 1000
    x.save(path)
    x.save(folder, contiguous=False)
    frame = x.to_cframe()
    return [
        lambda limits: b2.open(path, limits=limits),
        lambda limits: b2.open(path, mmap_mode="r", limits=limits),
        lambda limits: b2.open(path, "a", limits=limits),
        lambda limits: b2.open(folder, limits=limits),
        lambda limits: b2.open(io.BytesIO(frame), limits=limits),
        lambda limits: b2.from_cframe(frame, limits=limits),
        lambda limits: b2.ndarray_from_cframe(frame, limits=limits),
        lambda limits: b2.load(path, limits=limits),
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda x, limits: x.copy(limits=limits),
        lambda x, limits: x.astype("f4", limits=limits),
        lambda x, limits: b2.asarray(x, copy=True, limits=limits),
        lambda x, limits: x.slice(slice(1, None), limits=limits),
        lambda x, limits: x.schunk.copy(limits=limits),
    ],
)
def test_copies(make):
    """What is copied has the limits that are given, else those of its source."""
    small, large = Limits(max_result_nbytes=100), Limits(max_result_nbytes=A.nbytes)
    frame = b2.asarray(A).to_cframe()
    x = b2.from_cframe(frame, limits=large)
    make(x, None)[:]
    with pytest.raises(b2.LimitError):
        make(x, small)[:]
    with pytest.raises(b2.LimitError):
        make(b2.from_cframe(frame, limits=small), None)[:]


@pytest.mark.parametrize("most", [999, 49_999])
def test_vlblocks(most, defaults):
    blocks = [bytes(1000), b"x" * 50_000]
    s = b2.SChunk(cparams={"typesize": 1})
    s.append_vlblocks(blocks)
    chunk, limits = b2.vlcompress(blocks), Limits(max_result_nbytes=most)
    t = b2.schunk_from_cframe(s.to_cframe(), limits=limits)
    b2.set_limits(limits)
    for n, block in enumerate(blocks):
        if len(block) <= most:
            assert t.get_vlblock(0, n) == b2.vldecompress_block(chunk, n) == block
            continue
        with pytest.raises(b2.LimitError, match="max_result_nbytes"):
            t.get_vlblock(0, n)
        with pytest.raises(b2.LimitError, match="max_result_nbytes"):
            b2.vldecompress_block(chunk, n)
    with pytest.raises(b2.LimitError, match="max_result_nbytes"):
        t.get_vlblocks(0)
    with pytest.raises(b2.LimitError, match="max_result_nbytes"):
        b2.vldecompress(chunk)


def test_emptied(tmp_path):
    path = tmp_path / "s"
    b2.SChunk(chunksize=400, data=bytes(4000), urlpath=path).close()
    with b2.open(path, "w", limits=Limits(max_result_nbytes=1000)) as s:
        s.append_data(bytes(2000))
        with pytest.raises(b2.LimitError):
            s[:]


@pytest.mark.parametrize(
    ("name", "need"),
    [("max_nbytes", A.nbytes), ("max_chunks", 6), ("max_metalayers", 2), ("max_ndim", 2)],
)
def test_opening(name, need, tmp_path, defaults):
    for open_it in openers(tmp_path):
        with open_it(Limits(**{name: need})) as x:
            assert np.array_equal(x[...], A)
        with pytest.raises(b2.LimitError, match=rf"limits=Limits\({name}={need}\) allows it") as caught:
            open_it(Limits(**{name: need - 1}))
        assert caught.value.field == name
        b2.set_limits(Limits(**{name: need - 1}))
        with pytest.raises(b2.LimitError):
            open_it(None)
        with open_it(Limits()) as x:
            assert x.shape == A.shape
        b2.set_limits(Limits())


def test_reading(tmp_path):
    for open_it in openers(tmp_path)[:-1]:  # load() looks at the chunks at once
        with open_it(Limits(max_chunk_nbytes=3999)) as x:
            for call in (
                lambda x=x: x[0],
                lambda x=x: x.schunk.decompress_chunk(0),
                lambda x=x: x.schunk[0:1],
            ):
                with pytest.raises(b2.LimitError, match=r"limits=Limits\(max_chunk_nbytes=4000\) allows it"):
                    call()
        with open_it(Limits(max_meta_nbytes=900)) as x:
            with pytest.raises(b2.LimitError):
                x.vlmeta["v"]
            assert x[5, 5] == A[5, 5]


def test_results(tmp_path, defaults):
    for open_it in openers(tmp_path):
        with open_it(Limits(max_result_nbytes=4000)) as x:
            assert np.array_equal(x[:10], A[:10])
            assert len(x.schunk[0:1000]) == len(x.schunk.decompress_chunk(1)) == 4000
            out = np.empty(A.shape, A.dtype)
            x.read_into(out)
            assert np.array_equal(out, A)
            for call in (
                lambda x=x: x[:11],
                lambda x=x: x[...],
                lambda x=x: np.asarray(x),
                lambda x=x: x.tobytes(),
                lambda x=x: x[::-1],
                lambda x=x: x[np.arange(11)],
                lambda x=x: x[np.zeros(2000, int), 0] if x.ndim else None,
                lambda x=x: x[np.ones(A.shape, bool)],
                lambda x=x: x.oindex[np.arange(50), np.arange(50)],
                lambda x=x: x.schunk[0:1001],
                lambda x=x: x.schunk.get_slice(),
            ):
                with pytest.raises(b2.LimitError, match="max_result_nbytes"):
                    if call() is not None and call().nbytes <= 8000:  # 2000 items of 4 bytes
                        raise b2.LimitError("max_result_nbytes: not reached by this one")
    packed = b2.pack_tensor(A)
    b2.set_limits(Limits(max_result_nbytes=A.nbytes - 1))
    with pytest.raises(b2.LimitError):
        b2.unpack_tensor(packed)


def test_chunks_as_bytes(defaults):
    data = bytes(1000) + b"x" * 1000
    chunk = b2.compress2(data)
    b2.set_limits(Limits(max_chunk_nbytes=1999))
    for call in (
        lambda: b2.decompress(chunk),
        lambda: b2.decompress2(chunk),
        lambda: b2.decompress(chunk, as_bytearray=True),
        lambda: b2.decompress(chunk, bytearray(2000)),
    ):
        with pytest.raises(b2.LimitError, match="max_chunk_nbytes"):
            call()
    b2.set_limits(Limits(max_chunk_nbytes=2000, max_result_nbytes=1999))
    with pytest.raises(b2.LimitError, match="max_result_nbytes"):
        b2.decompress(chunk)
    dst = bytearray(2000)
    b2.decompress(chunk, dst)
    assert dst == data


def test_verify_and_repair(tmp_path):
    with b2.SChunk(400, urlpath=tmp_path / "x") as s:
        for i in range(5):
            s.append_data(bytes([i + 1]) * 400)
    report = b2.verify(tmp_path / "x", limits=Limits(max_chunks=4))
    assert not report.ok and "limit" in str(report)
    report = b2.verify(tmp_path / "x", limits=Limits(max_chunk_nbytes=399))
    assert len(report.problems) == 5
    report, parts = repaired(tmp_path / "x", Limits(max_chunk_nbytes=399))
    assert report.nlost == 5 and report.nkept == 0 and parts == []
    report, parts = repaired(tmp_path / "x", Limits(max_nbytes=2000))
    assert report.nkept == 5 and b"".join(parts) == b"".join(bytes([i + 1]) * 400 for i in range(5))
    for most in (1000, 1999):
        with pytest.raises(b2.LimitError, match=r"sound chunks .*max_nbytes=2000\) allows it") as caught:
            b2.repair(tmp_path / "x", tmp_path / "y", limits=Limits(max_nbytes=most))
        assert caught.value.field == "max_nbytes"
        assert not (tmp_path / "y").exists()


def repaired(src, limits):
    """What repair() says, and the chunks of what it makes, which is within the limits, too."""
    dst = src.with_suffix(".new")
    report = b2.repair(src, dst, mode="w", limits=limits)
    with b2.open(dst, limits=limits) as x:
        s = getattr(x, "schunk", x)
        parts = [s.decompress_chunk(i) for i in range(s.nchunks)]
    assert b2.verify(dst, limits=limits).ok
    return report, parts


def test_repair_makes_no_more_zeros_than_allowed(tmp_path):
    """Only the shape, which nothing else confirms, tells of so many lost items."""
    path, data = tmp_path / "x", np.arange(400, dtype="<i4").reshape(20, 20)
    b2.asarray(data, chunks=(5, 20), blocks=(5, 20), urlpath=path).close()
    raw = path.read_bytes()
    first = raw.index(b2.open(path).schunk.get_chunk(0))
    path.write_bytes(raw[: first + len(b2.open(path).schunk.get_chunk(0)) + 40])
    sound = data[:5].tobytes()
    assert repaired(path, Limits())[1] == [sound] + [bytes(400)] * 3
    for name, most, need in (("max_nbytes", 1599, 1600), ("max_ndim", 1, 2), ("max_chunks", 3, 4)):
        report, parts = repaired(path, Limits(**{name: most}))
        assert parts == [sound] and report.nkept == 1
        hint = f"limits=Limits({name}={need}) allows it"
        assert any(p.kind == "array" and hint in p.what for p in report.problems), str(report)


def test_values():
    assert Limits() == b2.get_limits() == Limits(max_nbytes=None)
    for bad in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            Limits(max_ndim=bad)
    for bad in ("1", 1.5, True):
        with pytest.raises(TypeError):
            Limits(max_ndim=bad)
    Limits(max_nbytes=np.int64(5), max_chunks=1 << 80)
    for call in (b2.set_limits, lambda x: b2.from_cframe(b"", limits=x), lambda x: b2.open("x", limits=x)):
        with pytest.raises(TypeError):
            call({"max_ndim": 1})
    with pytest.raises(AttributeError):
        Limits().max_ndim = 3


# Of this process alone: what getrusage() tells begins with the memory of the one that started it.
PEAK = """
def peak_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024
"""


def in_new_process(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", PEAK + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_huge_special_arrays_cost_what_is_read(tmp_path):
    """2^59 bytes: opened, read from, checked and copied in little time and memory."""
    path = tmp_path / "huge"
    nchunks, chunk = (1 << 28) - 5, (2**31 - 33) // 4096 * 4096
    with b2.SChunk(chunk, urlpath=path, cparams={"typesize": 4}) as s:
        s.fill_special(3 * chunk // 4, b2.SpecialValue.ZERO)  # three chunks
    raw = bytearray(path.read_bytes())
    header_len = struct.unpack(">i", raw[11:15])[0]
    raw[0x1E:0x26] = struct.pack(">q", nchunks * chunk)
    raw[header_len + 4 : header_len + 12] = struct.pack("<2i", 8 * nchunks, 1 << 28)
    raw[-17:] = bytes(17)  # no fingerprint
    path.write_bytes(raw)
    out = in_new_process(f"""
        import blosc2c as b2
        with b2.open({str(path)!r}) as s:
            assert s.nchunks == {nchunks} and s.nbytes == {nchunks * chunk}
            assert s[10**16 : 10**16 + 100] == bytes(400)
            assert not any(s.chunk_facts({nchunks - 1}).lazychunk[32:])
            info = s.info
        assert b2.verify({str(path)!r}).ok
        try:
            s = b2.open({str(path)!r})
            s[:]
        except b2.LimitError as exc:
            print(peak_mb())
    """)
    assert int(out) < 150  # MB


def test_chunks_that_only_a_shape_claims_cost_nothing(tmp_path):
    """An array of 4 chunks says that it has 2^61: no list of them is made."""
    raw = b2.asarray(np.arange(4, dtype="u1").reshape(4, 1), chunks=(1, 1), blocks=(1, 1)).to_cframe()
    at = raw.rindex(b"\xd3" + struct.pack(">q", 4)) + 1  # the first axis in the metalayer
    path = tmp_path / "a.b2nd"
    path.write_bytes(raw[:at] + struct.pack(">q", 1 << 61) + raw[at + 8 : -17] + bytes(17))
    a = b2.open(path)
    assert a.shape == (1 << 61, 1)
    assert [facts.coords for facts in itertools.islice(a.iterchunks_info(), 4)] == [(i, 0) for i in range(4)]
    assert a[:3].tolist() == [[0], [1], [2]]
    for call in (
        lambda: list(a.iterchunks_info()),
        lambda: a.copy(chunks=(2, 1)),
        lambda: a.slice(slice(0, (1 << 61) - 1)),
        lambda: a.reshape(-1),
        lambda: a.take([0], axis=1),
        lambda: b2.concat([a, a[:3]]),
        lambda: b2.stack([a]),
        lambda: a.chunks_of(()),
    ):
        with pytest.raises((b2.TruncatedError, b2.ChunkIndexError)):
            call()
    # Cut into rows, as the command line does it.
    wide = b2.asarray(np.zeros((4, 1 << 20), "u1"), chunks=(1, 1 << 20), blocks=(1, 1 << 20)).to_cframe()
    at = wide.rindex(b"\xd3" + struct.pack(">q", 4)) + 1
    wide = wide[:at] + struct.pack(">q", 1 << 42) + wide[at + 8 : -17] + bytes(17)
    rows = Selection(b2.ndarray_from_cframe(wide), ()).parts(1 << 10)
    assert sum(part.size for part in itertools.islice(rows, 8)) == 8 << 10


def test_compressed_bombs(tmp_path):
    """An index that decodes to gigabytes is refused; metalayers that overlap do not multiply."""
    path = tmp_path / "x"
    n = (1 << 28) - 5
    with b2.SChunk(4, urlpath=path, cparams={"typesize": 4}) as s:
        s.append_data(b"abcd")
    raw = path.read_bytes()
    header_len, cbytes = struct.unpack(">i", raw[11:15])[0], struct.unpack(">q", raw[0x27:0x2F])[0]
    trailer = raw[-35:-17] + bytes(17)
    # An index of blocks of zeros: every entry names the first chunk.
    blocks = -(-8 * n // (1 << 28))
    index = struct.pack("<4B3i", 5, 1, 0x15, 8, 8 * n, 1 << 28, 32 + 8 * blocks) + bytes(16)
    index += struct.pack(f"<{blocks}i", *(32 + 4 * blocks + 4 * i for i in range(blocks))) + bytes(4 * blocks)
    frame = bytearray(raw[: header_len + cbytes] + index + trailer)
    frame[0x10:0x18] = struct.pack(">Q", len(frame))
    frame[0x1E:0x26] = struct.pack(">q", 4 * n)
    path.write_bytes(frame)
    out = in_new_process(f"""
        import blosc2c as b2
        for call in (lambda: b2.open({str(path)!r}), lambda: b2.load({str(path)!r})):
            try:
                call()
                raise SystemExit("it was opened")
            except b2.LimitError as exc:
                assert exc.field == "max_chunks", exc.field
        b2.verify({str(path)!r})
        print(peak_mb())
    """)
    assert int(out) < 150
    # 8000 vlmetalayers that all point to the same 100 000 bytes.
    names = b"".join(b"\xa4" + b"%04d" % i + b"\xd2\0\1\0\0" for i in range(8000))
    body = b"\x94\1\x93\xcd\0\0\xde" + struct.pack(">H", 8000) + names + b"\xdc" + struct.pack(">H", 8000)
    body += bytes(65536 - len(body)) if len(body) < 65536 else b""
    offset = len(body)
    body = body.replace(b"\xd2\0\1\0\0", b"\xd2" + struct.pack(">i", offset))
    body += b"\xc6" + struct.pack(">I", 100_000) + bytes(100_000)
    body += b"\xce" + struct.pack(">I", len(body) + 23) + b"\xd8\0" + bytes(16)
    empty = b2.SChunk(4).to_cframe()
    frame = bytearray(empty[:97] + body)
    frame[0x10:0x18] = struct.pack(">Q", len(frame))
    with pytest.raises(b2.CorruptError, match="overlap"):
        b2.from_cframe(bytes(frame))


# ---- Everything that opens takes limits -------------------------------------


def test_functions_that_open(tmp_path):
    """Each with limits that are just wide enough, and with some that are not."""
    path, tensor = tmp_path / "x.b2nd", tmp_path / "t.b2frame"
    b2.asarray(A, chunks=(10, 100), urlpath=path).close()
    b2.SChunk(data=A, chunksize=4000, urlpath=tmp_path / "s.b2frame").close()
    b2.save_array(A, tensor, chunksize=4000)
    frame, packed = b2.pack_tensor(A, chunksize=4000), b2.pack_array(A)
    size = b2.get_cbuffer_sizes(packed)[0]
    wide = Limits(max_nbytes=A.nbytes, max_chunk_nbytes=max(size, 4000), max_chunks=6)
    for calls, what in [
        (lambda limits: b2.convert(path, tmp_path / "new", mode="w", limits=limits), Limits(max_chunks=5)),
        (lambda limits: b2.compact(path, limits=limits), Limits(max_nbytes=A.nbytes - 1)),
        (lambda limits: b2.load_tensor(tensor, limits=limits), Limits(max_result_nbytes=A.nbytes - 1)),
        (lambda limits: b2.load_array(tensor, limits=limits), Limits(max_chunks=5)),
        (lambda limits: b2.unpack_tensor(frame, limits=limits), Limits(max_result_nbytes=A.nbytes - 1)),
        (lambda limits: b2.unpack_array2(frame, limits=limits), Limits(max_nbytes=A.nbytes - 1)),
        (lambda limits: b2.unpack_array(packed, limits=limits), Limits(max_chunk_nbytes=size - 1)),
        (lambda limits: b2.unpack(packed, limits=limits), Limits(max_result_nbytes=size - 1)),
        (
            lambda limits: b2.SChunk(urlpath=tmp_path / "s.b2frame", mode="r", limits=limits).close(),
            Limits(max_chunks=5),
        ),
        (
            lambda limits: b2.repair(path, tmp_path / "new2", mode="w", limits=limits).nlost or None,
            None,
        ),
    ]:
        got = calls(wide)
        assert got is None or np.array_equal(got, A)
        if what is not None:
            with pytest.raises(b2.LimitError):
                calls(what)


def test_the_message_says_how_to_open(tmp_path):
    path = tmp_path / "x.b2nd"
    b2.asarray(A, chunks=(10, 100), urlpath=path).close()
    for limits, advice in [
        (Limits(max_chunks=5), "Limits(max_chunks=6)"),
        (Limits(max_nbytes=100), f"Limits(max_nbytes={A.nbytes})"),
    ]:
        with pytest.raises(b2.LimitError) as caught:
            b2.open(path, limits=limits)
        assert advice in str(caught.value)
        with b2.open(path, limits=eval(advice)) as x:
            assert np.array_equal(x[...], A)


# ---- What is written with some limits opens with them -----------------------

MANY = 17_000_000  # chunks: more than are accepted when they are not all the same


def test_writing_beyond_the_default_limits_is_refused(tmp_path):
    path = tmp_path / "many.b2nd"
    with b2.zeros((MANY,), "u1", chunks=(1,), blocks=(1,), urlpath=path) as x:
        with pytest.raises(b2.LimitError, match=r"limits=Limits\(max_chunks=17000000\)"):
            x[5] = 7
        assert x[5] == 0
    with b2.open(path) as x:
        assert x.shape == (MANY,) and not x[:10].any()
    with b2.open(path, "a", limits=Limits(max_chunks=MANY)) as x:
        x[5] = 7
    with pytest.raises(b2.LimitError, match=r"limits=Limits\(max_chunks=17000000\)"):
        b2.open(path)
    with b2.open(path, limits=Limits(max_chunks=MANY)) as x:
        assert x[5] == 7


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_growth_beyond_limits(tmp_path, kind):
    limits = Limits(max_chunks=3)
    storage = {"urlpath": tmp_path / "s.b2frame"} if kind == "file" else {}
    with b2.SChunk(chunksize=8, limits=limits, cparams={"typesize": 1}, **storage) as s:
        for k in range(3):
            s.append_data(bytes([k]) * 8)
        for grow in (
            lambda: s.append_data(bytes(8)),
            lambda: s.insert_data(0, b"12345678"),
            lambda: s.fill_special(8, b2.SpecialValue.ZERO),
        ):
            with pytest.raises(b2.LimitError, match="max_chunks=4"):
                grow()
            assert s.nchunks == 3
        s.update_data(1, b"12345678")
        s.delete_chunk(0)
        s.append_data(b"abcdefgh")
        assert s[:] == b"12345678" + bytes([2]) * 8 + b"abcdefgh"
        frame = s.to_cframe()
    b2.from_cframe(frame, limits=limits).close()


def test_an_array_does_not_grow_beyond_its_limits(tmp_path):
    path = tmp_path / "x.b2nd"
    b2.asarray(A, chunks=(10, 100), urlpath=path).close()
    with b2.open(path, "a", limits=Limits(max_chunks=6)) as x:
        with pytest.raises(b2.LimitError, match="max_chunks=7"):
            x.resize((61, 100))
        with pytest.raises(b2.LimitError, match="max_chunks=7"):
            x.append(A[:10], axis=0)
        assert x.shape == A.shape and np.array_equal(x[...], A)
        x[...] = A + 1
    with b2.open(path) as x:
        assert np.array_equal(x[...], A + 1)


@pytest.mark.parametrize("room", [3000, 4000, 5000, 300_000])
def test_chunks_into_a_buffer(room):
    """Whether the buffer or only the chunk is beyond the limit."""
    chunk = b2.compress2(bytes(range(250)) * 16)
    before = b2.set_limits(b2.Limits(max_chunk_nbytes=3999))
    try:
        with pytest.raises(b2.LimitError):
            b2.decompress2(chunk, bytearray(room))
        b2.set_limits(b2.Limits(max_chunk_nbytes=4000))
        if room >= 4000:
            out = bytearray(room)
            assert b2.decompress2(chunk, out) is None and out[:4000] == bytes(range(250)) * 16
    finally:
        b2.set_limits(before)


def test_chunks_into_memory_are_within_the_default_limits(defaults):
    """Whichever way they go: short, long, or by one thread."""
    for n in (100, 1 << 17, 1 << 20):
        chunk, dst = b2.compress2(bytes(n), nthreads=1), bytearray(n)
        b2.set_limits(Limits(max_chunk_nbytes=n - 1))
        for nthreads in (1, 2):
            with pytest.raises(b2.LimitError, match="max_chunk_nbytes"):
                b2.decompress2(chunk, dst, nthreads=nthreads)
        b2.set_limits(Limits(max_chunk_nbytes=n, max_result_nbytes=1))
        for nthreads in (1, 2):
            b2.decompress2(chunk, dst, nthreads=nthreads)
        with pytest.raises(b2.LimitError, match="max_result_nbytes"):
            b2.decompress2(chunk)
