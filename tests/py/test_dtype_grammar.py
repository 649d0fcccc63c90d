# SPDX-License-Identifier: BSD-3-Clause
"""What a file may describe as a dtype: all that NumPy can store, and nothing that it dies of."""

from __future__ import annotations

import ast
import struct
import subprocess
import sys
import warnings

import blosc2
import ml_dtypes
import msgpack
import numpy as np
import pytest
from hostile import array_with, frame_with, tensor_with

import blosc2c as b2
from blosc2c import dtype as dtypes
from blosc2c import dtype_grammar as grammar

PLAIN = ["?", *(f"{order}{kind}" for order in "<>" for kind in ("i2", "i4", "i8", "u2", "u4", "u8"))]
PLAIN += ["i1", "u1", *(f"{order}{kind}" for order in "<>" for kind in ("f2", "f4", "f8", "c8", "c16"))]
PLAIN += [np.dtype("g").str, np.dtype("G").str, "S1", "S300", "<U1", ">U64", "V1", "V1000"]
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
TIMES = [f"{order}{kind}8[{n}{unit}]" for order in "<>" for kind in "mM" for n in ("", 25) for unit in UNITS]
TIMES += ["<M8", "<m8", "<M8[2147483647s]", "<M8[7D]"]
RECORDS = [
    [("a", "<i4"), ("b", ">f8")],
    [("a", "u1"), ("b", [("c", ">i2"), ("d", "S3", (2, 3))], (2,))],
    [("when", "<M8[25s]"), ("for", ">m8[D]"), ("z", "<c16"), ("v", "V7"), ("u", "<U5")],
    [(("a title", "name"), "<i4"), ("b", "?")],
    [("a b", "<i4"), ("ü", "V3"), ("it's", "i1"), ('"', "i1"), ("\\\n\t\x1b\u200b", "i1")],
    [("a", "S0"), ("b", "i1")],
    [("a", "<i4", (0,)), ("b", "<i2")],
    [("a", "<i4", (1,)), ("b", "<f8", (1,) * 32)],
    {"names": ["x", "y"], "formats": ["<i4", "S3"], "offsets": [8, 0], "itemsize": 20},
    {"names": ["x", "y"], "formats": ["<i4", "<i2"], "offsets": [0, 2]},
    {"names": ["x"], "formats": ["<i4"], "offsets": [4], "titles": ["T"], "itemsize": 12},
]
ALIGNED = np.dtype([("a", "u1"), ("b", "<f8", (2,)), ("e", "<M8[s]")], align=True)
NESTED = np.dtype([("c", "u1"), ("d", ALIGNED, (2,)), ("e", ALIGNED)], align=True)
PACKED = np.dtype([("c", "u1"), ("d", "<u2")])
PACKED_IN_ALIGNED = np.dtype([("a", "S7"), ("b", PACKED), ("c", PACKED, (2,))], align=True)
DTYPES = [np.dtype(d) for d in (*PLAIN, *TIMES, *RECORDS)] + [ALIGNED, NESTED, PACKED_IN_ALIGNED]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_goes_both_ways(dtype):
    """By our own text, by that of the reference, and in the two forms of msgpack."""
    text = dtypes.to_text(dtype)
    back = dtypes.from_text(text, dtype.itemsize)
    assert back == dtype and (
        back.isalignedstruct == dtype.isalignedstruct or dtype in (NESTED, PACKED_IN_ALIGNED)
    )
    for gaps in (False, True):
        stored = msgpack.unpackb(msgpack.packb(dtypes.to_msgpack(dtype, gaps)))
        assert dtypes.from_msgpack(stored, gaps) == dtype
    a = np.frombuffer(bytes(range(3 * 64)) * dtype.itemsize, dtype)[:3]
    if dtype.kind == "U" or "<U5" in text:
        a = np.zeros(3, dtype)
    if dtype.char in "gG":
        a = np.arange(1, 4).astype(dtype)
        a.view("u1").reshape(-1, np.dtype("g").itemsize)[:, 10:] = 0  # no part of the numbers
    mine = b2.ndarray_from_cframe(b2.asarray(a).to_cframe())
    assert mine.dtype == dtype and mine[...].tobytes() == a.tobytes()
    theirs = blosc2.ndarray_from_cframe(b2.asarray(a).to_cframe(), copy=True)
    assert theirs.dtype == dtype and theirs[...].tobytes() == a.tobytes()
    theirs = blosc2.asarray(a)
    again = b2.ndarray_from_cframe(theirs.to_cframe())
    assert again.dtype == theirs.dtype and again[...].tobytes() == theirs[...].tobytes()
    packed = b2.unpack_tensor(b2.pack_tensor(a))
    assert packed.dtype == dtype and packed.tobytes() == a.tobytes()


@pytest.mark.parametrize("dtype", [ALIGNED, NESTED, np.dtype(RECORDS[-1])], ids=str)
def test_gaps_in_tensors(dtype):
    """The reference tells them by unnamed fields, and knows no other description of them."""
    a = np.frombuffer(bytes(range(64)) * dtype.itemsize, dtype)
    for back in (blosc2.unpack_tensor(b2.pack_tensor(a)), b2.unpack_tensor(blosc2.pack_tensor(a))):
        assert back.dtype == dtype and back.tobytes() == a.tobytes()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4"])
def test_those_of_ml_dtypes(name):
    a = np.arange(4).astype(getattr(ml_dtypes, name))
    b = b2.ndarray_from_cframe(b2.asarray(a).to_cframe())
    assert b.dtype == a.dtype and b[...].tobytes() == a.tobytes()


@pytest.mark.parametrize(
    "text",
    [
        "float64", "int", "bool", "datetime64", "timedelta64[25us]", "M8[generic]", "complex128", "str", "i4,",
        "i4,f8", "3i4", "(2,3)f8", "(2, 3)f8, >i4", "S", "=i4", "|u1", "?", "longdouble", "q", "P", "e",
        "[('a', '<i4',)]", " [ ( 'a' , '<i4' ) ]"[1:], "[('a','<i4'),]", '[("a", "<i4", 3)]', "[('a', '3i4')]",
        "('<i4', (2, 3))", "{'names': [], 'formats': [], 'offsets': [], 'itemsize': 8}",
        "{'names': ['a', 'b'], 'formats': ['u1', '<f8'], 'aligned': True}",
        "[('a', [('b', [('c', [('d', 'i4')])])])]", "[('', 'i4'), ('', 'f8')]", "[('\\x41\\u0042\\udc80', 'i4')]",
    ],
)  # fmt: skip
def test_texts_mean_what_they_mean_to_numpy(text):
    is_literal = text[0] in "[{" or text[:2] == "('"
    assert grammar.parse(text) == np.dtype(ast.literal_eval(text) if is_literal else text)


# Each with what it must not reach: crashes, exhausted stacks, numbers that C has no room for, objects.
REFUSED = [
    "M8[ns/0]", "m8[s/0]", "M8[Y/12]", "M8[0s]", "M8[2147483648s]", "M8[-1s]", "M8[]", "M8[2generic]", "M8[s]]",
    "O", "|O8", "object", "T", "StringDType", "",  " ", ",", "i4,,f4", ",i4", "(2", "i4)", "(2)(3)i4", "-1i4",
    "V999999999", "S99999999999999999999", "U500000000", "9999999999i4", "1000000V1000000", "M8[ns/0],i4",
    "no dtype", "i4 f4", "<<i4", "i4\0", "\u0663i4", "bfloat16",
    "[", "[]", "()", "(())", "{}", "[('a', 'M8[ns/0]')]", "[('a', [('b', 'm8[s/0]')])]", "[('a', 'O')]",
    "('M8[ns/0]', (2,))", "{'names':['a'],'formats':['M8[ns/0]']}", "[('a', 'M8[ns/0]', 2)]",
    "-" * 60000 + "1", "[" * 30000, "(" * 60000, "{" * 60000, "[('a'," * 200 + "'i4'" + ")]" * 200,
    "[('a', 'i4'), ('a', 'i4')]", "[('a', 'i4', -1)]", "[('a', 'i4', True)]", "[('a', 'i4', 'x')]", "[(1, 'i4')]",
    "[('a', 'i4', (1,) * 9)]", f"[('a', 'i4', {(1,) * 33})]", "[('a', 'V500000000'), ('b', 'V500000000')]",
    "[('a', 'V100000', (100000,))]", f"[('a', 'i1', (0, {2**62}))]", f"[('a', 'i1', {2**70})]",
    f"{{'names':['a'],'formats':['i8'],'offsets':[{2**70}]}}", f"{{'names':['a'],'formats':['i8'],'offsets':[{2**31}]}}",
    f"{{'names':['a'],'formats':['i8'],'itemsize':{2**70}}}", f"{{'names':['a'],'formats':['i8'],'itemsize':{2**31}}}",
    "{'names':['a'],'formats':['i8'],'itemsize':4}", "{'names':['a'],'formats':['i8'],'itemsize':-8}",
    "{'names':['a'],'formats':['i8'],'offsets':[-1]}", "{'names':['a'],'formats':['i8'],'offsets':0}",
    "{'names':['a'],'formats':['i8','i8']}", "{'names':'ab','formats':['i8','i8']}", "{'formats':['i8']}",
    "{'names':['a'],'formats':['i8'],'aligned':1}", "{'names':['a'],'formats':['i8'],'metadata':[]}",
    "{'names':['a'],'formats':['i8'],'titles':[1]}", "{'names':['a'],'formats':['i8'],'titles':['a']}",
    "[('a', {'names':['x','y'],'formats':['i8','i8'],'offsets':[0,0]}, (4,))]",
    "[('a', [('b', {'names':['x','y'],'formats':['i4','i8'],'offsets':[6,0],'itemsize':10})], (4,))]",
    "{'a': ('i4', 0)}", "{1: 2}", "'i4'", "[('a', 'i4') ('b', 'i4')]", "[('a', 'i4')] + []", "[('a', b'i4')]",
    "[('\\N{DIGIT ONE}', 'i4')]", "[('\\UFFFFFFFF', 'i4')]", "[('a', 1.5)]", "[(None, 'i4')]", "[('a', None)]",
    "(numpy.record, [('a', 'i4')])", "__import__('os')", "[x for x in y]", "[('a'", "[('a', 'i4'", "[('a, 'i4')]",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED, ids=lambda t: t[:40])
def test_other_texts_are_refused(text, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(b2.FormatError) as info:
            dtypes.from_text(text)
    assert info.value.field == "dtype"
    if not text.strip():
        return
    path = tmp_path / "x.b2nd"
    path.write_bytes(array_with(text, 8) if len(text) < 60000 else array_with(text[:60000], 8))
    with pytest.raises(b2.FormatError, match="dtype") as info:
        b2.open(path)
    assert info.value.path == str(path)
    report = b2.verify(path)
    assert [p.kind for p in report.problems] == ["array"] and not report.nunverified
    report = b2.repair(path, tmp_path / "y.b2nd")
    assert [p.kind for p in report.problems] == ["array"] and report.nkept == 1
    assert b2.open(tmp_path / "y.b2nd")[...].tobytes() == bytes(range(64))


@pytest.mark.parametrize("text", REFUSED, ids=lambda t: t[:40])
def test_so_they_are_in_values_and_tensors(text):
    value = msgpack.packb(
        msgpack.ExtType(46, msgpack.packb({"dtype": {"str": text}, "shape": [1], "data": b"12345678"}))
    )
    with b2.from_cframe(frame_with({"k": value})) as s, pytest.raises(b2.CorruptError, match="'k'"):
        s.vlmeta["k"]
    with pytest.raises(b2.FormatError):
        b2.unpack_tensor(tensor_with(msgpack.packb(["numpy", [1], text]), b"12345678"))


@pytest.mark.parametrize(
    "stored",
    [5, None, 1.5, b"<i4", {}, {"a": 1}, [], [[]], [["a"]], [["a", 5]], [["a", None]], [["a", "O"]], [[["a"], "i4"]],
     [["a", "i4", [-1]]], [["a", "i4", [1.0]]], [["a", "i4", [1 << 63]]], [["a", "i4", 1, 2]], [[5, "i4"]], ["a", "i4"],
     [["a", [["b", "m8[s/0]"]]]], [[b"a", "i4"]], [["a", {"names": ["b"], "formats": ["M8[s/0]"]}]],
     [["a", "i1"]] * 70_000, [[f"f{i}", "i1"] for i in range(70_000)]],
    ids=lambda v: repr(v)[:40],
)  # fmt: skip
def test_lists_of_msgpack_are_looked_at_first(stored):
    with pytest.raises(b2.FormatError):
        dtypes.from_msgpack(stored)


def test_a_dtype_of_arrays_is_opaque():
    """An array of NumPy cannot have such items: each index would give other dimensions."""
    b = b2.ndarray_from_cframe(array_with("('<i4', (2,))", 8))
    assert b.dtype == "V8" and b.shape == (8,)
    assert b[...].shape == (8,) and b[1].tobytes() == bytes(range(8, 16))
    assert b[[1, 2]].tobytes() == bytes(range(8, 24))
    assert b2.ndarray_from_cframe(array_with("3i2", 6))[2:4].dtype == "V6"


def test_numpy_is_not_asked_what_kills_it():
    """The inputs of the audit, in a process of their own: NumPy divided by zero."""
    code = """
        import sys, blosc2c as b2
        frame = sys.stdin.buffer.read()
        try:
            b2.from_cframe(frame)
        except b2.FormatError:
            print("refused")
    """
    for text in ("M8[ns/0]", "[('a','m8[s/0]')]"):
        result = subprocess.run(
            [sys.executable, "-c", "\n".join(line[8:] for line in code.splitlines())],
            input=array_with(text, 8),
            capture_output=True,
            check=False,
        )
        assert (result.returncode, result.stdout) == (0, b"refused\n"), result.stderr


def test_names_of_ml_dtypes_are_plain_texts():
    """A frame in that metalayer would be opened by opening, and so on."""
    inner = b""
    for _ in range(60):
        value = msgpack.packb(msgpack.ExtType(42, inner)) if inner else msgpack.packb("bfloat16")
        inner = array_with("|V2", 2, {"ml_dtype": value}, n=4)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(300)  # frames would be exhausted long before
    try:
        assert b2.ndarray_from_cframe(inner).dtype == "V2"
    finally:
        sys.setrecursionlimit(before)
    named = b2.ndarray_from_cframe(array_with("|V2", 2, {"ml_dtype": msgpack.packb("bfloat16")}, n=4))
    assert named.dtype == ml_dtypes.bfloat16
    for value in (
        b"",
        b"\xa9",
        b"\xc1",
        b"\xa8\xff" + b"a" * 7,
        b"\xc7\xff\xff",
        struct.pack(">BI", 0xDB, 9) + b"bfloat16",
    ):
        assert b2.ndarray_from_cframe(array_with("|V2", 2, {"ml_dtype": value}, n=4)).dtype == "V2"
