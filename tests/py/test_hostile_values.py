# SPDX-License-Identifier: BSD-3-Clause
"""Values of metalayers and descriptions of tensors that no writer makes; see also values.py."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hostile import array_with, frame_with, tensor_with

import blosc2c as b2
from blosc2c import Limits, packed
from blosc2c.cli import main

P = msgpack.packb


def ext(code: int, value: bytes) -> bytes:
    return P(msgpack.ExtType(code, value))


def zeros(n: int) -> bytes:
    """A small frame of an array of any size."""
    return b2.zeros((n,), "i1", chunks=(1 << 24,), blocks=(1 << 16,)).to_cframe()


def nested(depth: int) -> bytes:
    return b"\x91" * depth + b"\xc0"


# ---- Depth ------------------------------------------------------------------


def test_depth(tmp_path, capsys):
    """What is read can be shown: repr(), info and JSON recurse."""
    for depth in (257, 300, 1000, 5000):
        with b2.from_cframe(frame_with({"k": nested(depth)})) as s:
            with pytest.raises(b2.CorruptError, match="256 deep"):
                s.vlmeta["k"]
            with pytest.raises(b2.CorruptError, match="256 deep"):
                repr(s.vlmeta)
    for value in (nested(256), b"\x81\xa1k" * 256 + b"\xc0", b"\x92\xa9__tuple__" * 255 + b"\x91\xc0"):
        path = tmp_path / "x.b2frame"
        path.write_bytes(frame_with({"k": value}))
        with b2.open(path) as s:
            assert packed.pack(s.vlmeta["k"]) == value and len(repr(s.vlmeta)) > 512
        for options in ([], ["--json"]):
            assert main(["info", str(path), *options]) == 0
            assert len(capsys.readouterr().out) > 512
    path.write_bytes(frame_with({"k": nested(1000)}))
    assert main(["info", str(path)]) == 1
    assert "256 deep" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["list", "tuple", "dict", "array"])
def test_what_is_too_deep_is_not_written(kind):
    wrap = {
        "list": lambda v: [v],
        "tuple": lambda v: (v,),
        "dict": lambda v: {"k": v},
        "array": lambda v: [v],
    }[kind]
    value = np.array([None], object) if kind == "array" else wrap(None)
    for _ in range(255):
        value = wrap(value)
    with b2.SChunk() as s:
        s.vlmeta["k"] = value
        assert s.vlmeta["k"] is not None
        for bad in (wrap(value), [1, {"x": wrap(value)}]):
            with pytest.raises(b2.LimitError, match="256 deep"):
                s.vlmeta["l"] = bad
        loop: list = []
        loop += [loop, loop]
        with pytest.raises(ValueError, match=r"recursion|deep"):
            s.vlmeta["l"] = loop
        assert list(s.vlmeta) == ["k"]


def test_long_values_are_not_deep():
    values = [[1, [2]] for _ in range(5000)], {i: {"k": []} for i in range(1000)}, bytes(range(256)) * 20
    for value in values:
        assert packed.unpack(packed.pack(value)) == value


# ---- Hashes -----------------------------------------------------------------


def colliding(n: int) -> list[bytes]:
    """Complex numbers of one hash, which is that of the real part plus 1000003 times the other."""
    return [ext(44, struct.pack(">dd", 1e12 - 1000003 * k, k)) for k in range(n)]


@pytest.mark.parametrize("n", [65, 8000])
def test_members_and_keys_of_one_hash(n):
    members = colliding(n)
    assert len({hash(packed.unpack(m)) for m in members}) == 1
    a_set = ext(45, b"\xdc" + struct.pack(">H", n) + b"".join(members))
    a_map = b"\xde" + struct.pack(">H", n) + b"".join(m + b"\xc0" for m in members)
    for value in (a_set, a_map):
        with b2.from_cframe(frame_with({"k": value})) as s, pytest.raises(b2.CorruptError, match="same hash"):
            s.vlmeta["k"]


def test_honest_sets_and_maps():
    numbers = {complex(i, j) for i in range(100) for j in range(100)}
    for members in (
        numbers,
        {(i, -i) for i in range(5000)},
        {n * ((1 << 61) - 1) + r for n in range(8) for r in range(100)},
        {2.0 ** (61 * n) * m for n in range(-15, 16) for m in range(1, 100, 2)},
        {f"{i}" for i in range(1000)} | {b"%d" % i for i in range(1000)} | {None, True, 1.5},
    ):
        assert packed.unpack(packed.pack(members)) == members
        keys = dict.fromkeys(members)
        keys = {k: None for k in keys if not isinstance(k, tuple | complex)}
        assert packed.unpack(packed.pack(keys)) == keys


# ---- Other types than expected -----------------------------------------------


def test_arrays_where_plain_values_belong():
    """A frame that stands for 2^40 items is neither iterated over nor compared."""
    big = msgpack.ExtType(42, zeros(1 << 40))
    good = {"dtype": {"str": "i1"}, "shape": [1], "data": b"1"}
    for bad in (
        {**good, "dtype": big},
        {**good, "dtype": {"str": big}},
        {**good, "dtype": {"descr": big}},
        {**good, "dtype": {"descr": [["a", big]]}},
        {**good, "dtype": {"descr": [["a", "i1", big]]}},
        {**good, "dtype": {"descr": [[big, "i1"]]}},
        {**good, "shape": big},
        {**good, "shape": [big]},
        {**good, "data": big},
        {"values": big, "shape": [1]},
        {"values": [1], "shape": [True]},
        big,
    ):
        with pytest.raises(packed.UNPACK_ERRORS):
            packed.unpack(ext(46, P(bad)))
    with pytest.raises(packed.UNPACK_ERRORS):
        packed.unpack(ext(45, P(big)))
    assert packed.unpack(ext(46, P(good))).tolist() == [49]


BIG = msgpack.ExtType(42, zeros(1 << 40))
TENSORS = [
    ["numpy", [float("inf")], "<i4"], ["numpy", [1] * 100, "<i4"], ["numpy", [0, 2**64 - 1], "<i4"],
    ["numpy", [0, 2**62, 2**62], "<i4"], ["numpy", ["9" * 4300] * 3000, "<i4"], ["numpy", BIG, "<i4"],
    ["numpy", [1], BIG], [BIG, [1], "<i4"], BIG, ["numpy", [1]], ["numpy", [1], "<i4", 1], 5, None, "abc", {},
    ["numpy", [-1], "<i4"], ["numpy", [True], "<i4"], ["numpy", [1.0], "<i4"], ["numpy", 1, "<i4"], ["numpy", [2], "<i4"],
    ["numpy", [1], "M8[s/0]"], ["numpy", [1], "O"], ["numpy", [1], [["a", "O"]]], ["another", [1], "<i4"], [5, [1], "<i4"],
]  # fmt: skip


@pytest.mark.parametrize("value", TENSORS, ids=lambda v: repr(v)[:40])
def test_tensors(value, tmp_path):
    frame = tensor_with(P(value), b"abcd")
    with pytest.raises(b2.FormatError):
        b2.unpack_tensor(frame)
    path = tmp_path / "x.b2frame"
    path.write_bytes(frame)
    with pytest.raises(b2.FormatError) as info:
        b2.load_tensor(path)
    assert (info.value.path, info.value.field) == (str(path), "__pack_tensor__")


def test_shapes_of_tensors():
    assert b2.unpack_tensor(tensor_with(P(["numpy", [1] * 32, "<i4"]), b"abcd")).shape == (1,) * 32
    assert b2.unpack_tensor(tensor_with(P(["numpy", [], "<i4"]), b"abcd")).shape == ()
    assert b2.unpack_tensor(tensor_with(P(["numpy", [5, 0, 7], "<i4"]))).shape == (5, 0, 7)
    assert b2.unpack_tensor(tensor_with(P(["numpy", [2], "('<i2', (1,))"]), b"abcd")).dtype == "V2"


def test_errors_tell_file_and_field(tmp_path):
    path = tmp_path / "x.b2frame"
    for value, offset in ((b"\x91\xc1", None), (b"\x92\x01", 2), (b"\x01\x02\x03", 1)):
        path.write_bytes(frame_with({"the name": value}))
        with b2.open(path) as s, pytest.raises(b2.CorruptError, match="'the name'") as info:
            s.vlmeta["the name"]
        assert (info.value.path, info.value.field, info.value.offset) == (str(path), "the name", offset)
        assert [p.kind for p in b2.verify(path).problems] == ["vlmeta"]


# ---- Names -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["k\0junk", "m\0x", "n" * 32, "\ud800", 3, None, b"\xff", ("k",)], ids=repr)
def test_what_is_no_name_is_not_there(name):
    with b2.SChunk(meta={"m": 1}) as s:
        s.vlmeta["k"] = 2
        for layers in (s.meta, s.vlmeta):
            with pytest.raises(b2.NotFoundError):
                layers[name]
            assert name not in layers and layers.get(name, "none") == "none"
            with pytest.raises((ValueError, TypeError, KeyError)):
                layers[name] = 1
        with pytest.raises(b2.NotFoundError):
            del s.vlmeta[name]
        assert s.vlmeta[:] == {"k": 2} and s.meta[:] == {"m": 1}


def test_names_that_are_no_utf8(tmp_path):
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    frame = bytearray(frame_with({"caf\udce9": P("value " * 50)}))
    at = frame.index(b"value")
    frame[at : at + 30] = bytes(30)
    path.write_bytes(frame)
    report = b2.repair(path, out)
    assert "udce9" in str(report)
    str(report).encode()


def test_terminals_are_left_alone(tmp_path, capsys):
    """Names from a file are shown, not obeyed."""
    path = tmp_path / "x.b2frame"
    name = "\x1b]0;title\x07k"
    path.write_bytes(frame_with({name: P("\x1b[2J"), "plain": P(1)}, {"\x9bm": P(1)}))
    for options in ([], ["--json"]):
        assert main(["info", str(path), *options]) == 0
        out = capsys.readouterr().out
        assert not set(out) & set("\x1b\x07\x9b") and "]0;title" in out
    main(["info", str(path)])
    assert "plain = 1" in capsys.readouterr().out


# ---- Limits ------------------------------------------------------------------


def test_limits_hold_for_frames_inside(tmp_path):
    inner = b2.zeros((1 << 20,), "i1", chunks=(1 << 16,)).to_cframe()
    path = tmp_path / "x.b2frame"
    path.write_bytes(frame_with({"k": ext(42, inner), "l": P([msgpack.ExtType(42, inner)])}))
    bounds = Limits(max_result_nbytes=1000)
    with b2.open(path, limits=bounds) as s:
        for a in (s.vlmeta["k"], *s.vlmeta["l"]):
            assert bytes(a[:1000]) == bytes(1000)
            with pytest.raises(b2.LimitError):
                a[...]
    with b2.open(path, limits=Limits(max_chunks=15)) as s:
        with pytest.raises(b2.LimitError, match="'k'") as info:
            s.vlmeta["k"]
        assert (info.value.path, info.value.actual) == (str(path), 16)
        report = b2.verify(path, limits=Limits(max_chunks=15))
        assert [p.kind for p in report.problems] == ["vlmeta", "vlmeta"]


def test_limits_go_with_pickles_and_copies(tmp_path):
    path = tmp_path / "x.b2nd"
    b2.asarray(np.arange(1000, dtype="<i4"), chunks=(100,), urlpath=path).close()
    bounds = Limits(max_result_nbytes=400, max_chunk_nbytes=400)
    frame = path.read_bytes()
    for a in (b2.open(path, limits=bounds), b2.from_cframe(frame, limits=bounds)):
        again = pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a.schunk))
        copies = a.copy(), a.schunk.copy(), a.copy(urlpath=tmp_path / "c", mode="w")
        for b in (*again, *copies):
            assert len(b[:100]) in (100, 400)
            with pytest.raises(b2.LimitError, match="max_result_nbytes"):
                b[:]
            b.close()
        a.close()
    assert len(pickle.loads(pickle.dumps(b2.open(path)))[:]) == 1000


def bomb(n: int) -> bytes:
    """A list of n times None."""
    return b"\xdd" + struct.pack(">I", n) + b"\xc0" * n


def test_bombs_in_metalayers(tmp_path):
    """A few kilobytes that decode to 64 MB are refused, unless that is asked for."""
    path, n = tmp_path / "x.b2frame", 1 << 26
    with b2.SChunk(urlpath=path) as s:
        s.vlmeta["k"] = b"\0" * n
        assert s.vlmeta["k"] == bytes(n) and s.vlmeta[:] == {"k": bytes(n)}  # its maker may
        s.vlmeta["l"] = 1
    assert path.stat().st_size < 10_000
    with b2.open(path) as s:
        for call in (
            lambda: s.vlmeta["k"],
            lambda: s.vlmeta[:],
            lambda: repr(s.vlmeta),
            lambda: s.copy({"clevel": 1}),
        ):
            with pytest.raises(b2.LimitError, match=r"limits=Limits\(max_meta_nbytes=67108869\)") as info:
                call()
            assert (info.value.path, info.value.field) == (str(path), "max_meta_nbytes")
        assert s.vlmeta["l"] == 1 and "k" in s.vlmeta
        with s.copy() as copy:
            assert list(copy.vlmeta) == ["k", "l"]
    with b2.open(path, limits=Limits(max_meta_nbytes=n + 10)) as s:
        assert len(s.vlmeta["k"]) == n
    report = b2.verify(path)
    assert [p.kind for p in report.problems] == ["vlmeta"] and "max_meta_nbytes" in str(report)
    assert b2.verify(path, limits=Limits(max_meta_nbytes=n + 10)).ok
    out = tmp_path / "y.b2frame"
    assert (
        not b2.repair(path, out).ok
        and b2.repair(path, out, mode="w", limits=Limits(max_meta_nbytes=n + 10)).ok
    )
    with b2.open(out) as s:
        assert list(s.vlmeta) == ["k", "l"]


@pytest.mark.parametrize("part", [b"\x90", b"\x80", b"\xd4\x2d\x90", b"\xd4\x05a", b"\x91\x90"], ids=repr)
def test_bombs_of_objects(part):
    """An empty list is one byte in a file and 64 in memory: there may not be any number of them."""
    n = 1 << 21
    with b2.from_cframe(frame_with({"k": b"\xdd" + struct.pack(">I", n) + part * n})) as s:
        with pytest.raises(b2.LimitError, match="max_meta_nbytes"):
            s.vlmeta["k"]
        s.vlmeta["other"] = [[], {}] * 1000
        assert len(s.vlmeta["other"]) == 2000
    fine = packed.pack([[i] for i in range(200_000)])
    with b2.from_cframe(frame_with({"k": fine})) as s:
        assert len(s.vlmeta["k"]) == 200_000
    strict = b2.from_cframe(frame_with({"k": fine}), limits=Limits(max_meta_nbytes=1 << 20))
    with strict as s, pytest.raises(b2.LimitError, match="max_meta_nbytes"):
        s.vlmeta["k"]


def test_many_bombs(tmp_path):
    """All that one call decodes counts."""
    path = tmp_path / "x.b2frame"
    value = P(bytes(1 << 20))
    path.write_bytes(frame_with({f"{i:03}": value for i in range(500)}))
    with b2.open(path) as s:
        assert len(s.vlmeta["007"]) == 1 << 20
        for call in (lambda: s.vlmeta[:], lambda: repr(s.vlmeta)):
            with pytest.raises(b2.LimitError, match="max_meta_nbytes"):
                call()
    report = b2.verify(path)
    assert len(report.problems) == 1 and "'016' and later ones" in str(report)
    assert b2.verify(path, limits=Limits(max_meta_nbytes=1 << 30)).ok


def test_what_numpy_cannot_show(tmp_path, capsys):
    """It raises for texts of no characters and for dates without a unit: repr() and info do not."""
    path = tmp_path / "x.b2frame"
    arrays = {
        "date": ({"str": "<M8"}, bytes(range(8))),
        "text": ({"str": "<U1"}, b"\xff" * 4),
        "record": ({"descr": [["a", "<U1"]]}, b"\xff" * 4),
    }
    packed_arrays = {k: ext(46, P({"dtype": d, "shape": [1], "data": v})) for k, (d, v) in arrays.items()}
    path.write_bytes(frame_with({**packed_arrays, "sound": P([1, 2])}))
    with b2.open(path) as s:
        assert repr(s.vlmeta).count("ndarray that cannot be shown") == 3 and "[1, 2]" in repr(s.vlmeta)
        assert s.vlmeta["text"].tobytes() == b"\xff" * 4
    for options in ([], ["--json"]):
        assert main(["info", str(path), *options]) == 0
        assert capsys.readouterr().out.count("cannot be shown") == 3
    a = b2.ndarray_from_cframe(array_with("<U1", 4))
    full = b2.full((9,), np.void(b"\xff" * 4), "V4", chunks=(4,))
    frame = full.to_cframe().replace(b"|V4", b"<U1")[:-17] + bytes(17)  # no fingerprint
    facts = list(b2.ndarray_from_cframe(frame).iterchunks_info())
    assert facts[0].repeated_value.tobytes() == b"\xff" * 4
    assert a[1].tobytes() == bytes(range(4, 8))


@pytest.mark.parametrize("kind", ["text", "described", "value", "tensor"])
def test_what_is_nearly_right(kind):
    """Values, dtypes and tensors of values.py: data or a documented exception, in little time and memory."""
    script = Path(__file__).with_name("values.py")
    result = subprocess.run(
        [sys.executable, str(script), "0", "150", kind],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-5000:]


def test_verify_without_memory(tmp_path):
    path = tmp_path / "x.b2frame"
    path.write_bytes(frame_with({"k": bomb(1 << 26)}))
    code = f"""
        import resource, blosc2c as b2
        b2.set_nthreads(1)
        b2.verify({str(path)!r})
        with open("/proc/self/statm") as f:
            used = int(f.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20),) * 2)
        report = b2.verify({str(path)!r}, limits=b2.Limits(max_meta_nbytes=1 << 30))
        print([p.kind for p in report.problems])
    """
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (out.returncode, out.stdout) == (0, "['vlmeta']\n"), out.stderr
