"""Values of metalayers beyond msgpack's own types, exchanged with Python-Blosc2.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import collections
import enum
import random
import struct

import blosc2
import msgpack
import numpy as np
import pytest

import blosc2c
from blosc2c import packed


class Colour(enum.IntEnum):
    RED = 3


Point = collections.namedtuple("Point", "x y")

VALUES = [
    1 + 2j,
    complex("inf-nanj"),
    {1, 2, 3},
    set(),
    {"a", (1, 2), b"x", None},
    [1j, {2}, ({3, (4,)},)],
    {"key": {1, 2}, "other": 1j},
    np.arange(3, dtype="i4"),
    np.arange(6, dtype=">u2").reshape(2, 3),
    np.arange(24.0).reshape(2, 3, 4)[:, ::2, ::-1],
    np.zeros((2, 0, 3)),
    np.array(3.5),
    np.array([True, False]),
    np.array([1 + 1j], "c8"),
    np.array(["ab", "c"]),
    np.array([b"ab", b"c"]),
    np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    np.array([(1, 2.0)], dtype="i4,f8"),
    np.array([(1, [(2, b"x")] * 2)], dtype=[("a", "u1"), ("b", [("c", ">i2"), ("d", "S3")], (2,))]),
    np.array([1, "a", None, {2}, 3j], dtype=object),
    np.array([["a", 1], [2, (3,)]], dtype=object),
    np.empty((0, 2), dtype=object),
    {"nested": [np.arange(2), {"deep": (np.array([1.5]), {7})}]},
]


ONLY_OURS = [
    {"__tuple__"},
    {5: 1j, None: {1}},
    np.array([["__tuple__", 1], [2, (3,)]], dtype=object),
]


def same(a, b):
    if isinstance(a, np.ndarray):
        if not (isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape):
            return False
        return same(a.tolist(), b.tolist()) if a.dtype.hasobject else a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, complex):
        return isinstance(b, complex) and struct.pack("dd", a.real, a.imag) == struct.pack(
            "dd", b.real, b.imag
        )
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:40])
def test_values_go_both_ways(value):
    with blosc2c.SChunk() as s:
        s.vlmeta["v"] = value
        assert same(s.vlmeta["v"], value)
        theirs = blosc2.schunk_from_cframe(s.to_cframe(), copy=True)
        assert same(theirs.vlmeta["v"], value)
    theirs.vlmeta["w"] = value
    with blosc2c.schunk_from_cframe(theirs.to_cframe()) as back:
        assert same(back.vlmeta["w"], value)
        assert same(back.vlmeta["v"], value)


@pytest.mark.parametrize("value", ONLY_OURS, ids=lambda v: repr(v)[:40])
def test_values_that_only_we_read(value):
    assert same(packed.unpack(packed.pack(value)), value)


def test_fixed_metalayers_take_them_too():
    meta = {"c": 1j, "s": {1}, "a": np.arange(3)}
    with blosc2c.SChunk(meta=meta) as s:
        assert same(s.meta[:], meta)
        s.meta["a"] = np.arange(3, 6)
        assert same(s.meta["a"], np.arange(3, 6))
        frame = s.to_cframe()
    theirs = blosc2.schunk_from_cframe(frame, copy=True)
    assert theirs.meta["c"] == 1j
    assert theirs.meta["s"] == {1}


def test_values_that_become_another_type():
    pairs = [
        (np.float32(2.5), 2.5),
        (np.int64(3), 3),
        (np.True_, True),
        (np.str_("x"), "x"),
        (np.bytes_(b"x"), b"x"),
        (np.complex64(1j), 1j),
        (np.array([(1, 2.5)], "i4,f8")[0], (1, 2.5)),
        (frozenset([1]), {1}),
        (Colour.RED, 3),
        (Point(1, [2]), (1, [2])),
        (collections.OrderedDict(a=Point(1, 2)), {"a": (1, 2)}),
        (bytearray(b"xy"), b"xy"),
    ]
    for value, expected in pairs:
        assert same(packed.unpack(packed.pack(value)), expected), value


def test_padding_of_structures_is_left_out():
    dtype = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    back = packed.unpack(packed.pack(np.array([(1, 2.5)], dtype)))
    assert back.dtype == np.dtype([("a", "u1"), ("b", "f8")])
    assert back.tolist() == [(1, 2.5)]
    outer = np.dtype([("c", "u1"), ("d", dtype, (2,))], align=True)
    back = packed.unpack(packed.pack(np.array([(7, [(1, 2.5), (3, 4.5)])], outer)))
    assert back.dtype == np.dtype([("c", "u1"), ("d", [("a", "u1"), ("b", "f8")], (2,))])
    assert back["d"].tolist() == [[(1, 2.5), (3, 4.5)]]


def test_equal_sets_make_equal_bytes():
    one, other = {0, 8}, {8, 0}
    assert list(one) != list(other)
    assert packed.pack(one) == packed.pack(other)


def test_frames_inside():
    array = blosc2c.asarray(np.arange(100).reshape(10, 10))
    with blosc2c.SChunk(data=b"abc" * 50) as inner, blosc2c.SChunk() as s:
        s.vlmeta["array"] = array
        s.vlmeta["list"] = [inner, 1]
        frame = s.to_cframe()
        found = s.vlmeta["array"]
        assert isinstance(found, blosc2c.NDArray)
        assert (found[:] == array[:]).all()
        assert s.vlmeta["list"][0][:] == b"abc" * 50
    theirs = blosc2.schunk_from_cframe(frame, copy=True)
    theirs.vlmeta["theirs"] = blosc2.asarray(np.arange(7))
    with blosc2c.schunk_from_cframe(theirs.to_cframe()) as back:
        assert back.vlmeta["theirs"][:].tolist() == list(range(7))
        assert (back.vlmeta["array"][2:5, 1] == array[2:5, 1]).all()


@pytest.mark.parametrize(
    "value", [..., np.datetime64("2020-01-01"), np.longdouble(1), [set, 1], {1: ...}], ids=repr
)
def test_what_has_no_form_is_refused(value):
    with blosc2c.SChunk() as s:
        with pytest.raises(TypeError, match="metalayer cannot hold"):
            s.vlmeta["v"] = value
        assert list(s.vlmeta) == []


def array_bytes(**fields):
    return msgpack.ExtType(46, msgpack.packb(fields))


def nested(depth):
    value = b"\x01"
    for _ in range(depth):
        value = msgpack.packb(msgpack.ExtType(45, msgpack.packb([msgpack.ExtType(45, value)])))
    return msgpack.ExtType(45, value)


DAMAGED = [
    msgpack.ExtType(42, b""),
    msgpack.ExtType(42, b"no frame" * 20),
    msgpack.ExtType(44, b"short"),
    msgpack.ExtType(45, b""),
    msgpack.ExtType(45, msgpack.packb(5)),
    msgpack.ExtType(45, msgpack.packb([[1]])),
    msgpack.ExtType(46, b""),
    msgpack.ExtType(46, msgpack.packb([1])),
    array_bytes(),
    array_bytes(dtype={"str": "<i4"}, shape=[2], data=b"123"),
    array_bytes(dtype={"str": "<i4"}, shape=[-1], data=b"1234"),
    array_bytes(dtype={"str": "<i4"}, shape=[1 << 62, 1 << 62], data=b"1234"),
    array_bytes(dtype={"str": "<i4"}, shape=[0, 1 << 62, 1 << 62], data=b""),
    array_bytes(dtype={"str": "<i4"}, shape=[1] * 65, data=b"1234"),
    array_bytes(dtype={"str": "<i4"}, shape=[1.0], data=b"1234"),
    array_bytes(dtype={"str": "<i4"}, shape=5, data=b"1234"),
    array_bytes(dtype={"str": "<i4"}, shape=[1], data="1234"),
    array_bytes(dtype={"str": "O"}, shape=[1], data=b"12345678"),
    array_bytes(dtype={"str": "no dtype"}, shape=[1], data=b"1"),
    array_bytes(dtype={"descr": [["a"]]}, shape=[1], data=b"1"),
    array_bytes(dtype={}, shape=[1], data=b"1"),
    array_bytes(dtype=5, shape=[1], data=b"1"),
    array_bytes(values=[1, 2], shape=[3]),
    array_bytes(values=[], shape=[0, 1 << 62, 1 << 62]),
    array_bytes(values=5, shape=[1]),
    nested(400),
    {1: nested(20)},
]


@pytest.mark.parametrize("value", DAMAGED, ids=lambda v: repr(v)[:60])
def test_damaged_values_are_named(value):
    with blosc2c.SChunk(meta={"fixed": value}) as s:
        s.vlmeta["v"] = value
        with pytest.raises(blosc2c.FormatError, match="'v'"):
            s.vlmeta["v"]
        with pytest.raises(blosc2c.FormatError, match="'fixed'"):
            s.meta["fixed"]


def test_unknown_extensions_stay_what_they_are():
    value = msgpack.ExtType(99, b"theirs")
    assert packed.unpack(packed.pack([value])) == [value]


def test_short_values_are_what_the_decoder_makes_of_them(monkeypatch):
    """Values of a few bytes go by it, if they are of msgpack's own types."""
    rng = random.Random(7)
    # Bytes of which few are no msgpack: containers, extensions, short texts and numbers.
    starts = [
        *range(0x80, 0x84),
        *range(0x90, 0x94),
        0xA1,
        0xA9,
        0xC0,
        0xC3,
        0xC7,
        0xCC,
        0xD4,
        0xD8,
        0xDC,
        1,
        42,
        44,
        45,
    ]
    values = [bytes(rng.choices(starts, k=rng.randrange(1, 20))) for _ in range(20_000)]
    values += [
        packed.pack(v) for v in (None, 5, "a", (1, 2), [(1,), "x"], {1: 2, "a": {3}}, 2j, {"__tuple__": [1]})
    ]

    def unpacked(value):
        try:
            return repr(packed.unpack(value, max_parts=rng.choice((1, 64, 1 << 62))))
        except Exception as exc:
            return type(exc), str(exc)

    state = rng.getstate()
    found = [unpacked(value) for value in values]
    rng.setstate(state)
    monkeypatch.setattr(packed, "_SHORT_NBYTES", 0)
    assert found == [unpacked(value) for value in values]
    assert sum(isinstance(text, str) for text in found) > 500
