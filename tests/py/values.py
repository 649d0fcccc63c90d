# SPDX-License-Identifier: BSD-3-Clause
"""Values of metalayers, texts of dtypes and descriptions of tensors that are nearly right.

usage: values.py SEED COUNT [KIND ...]

Damaged bytes hardly ever are msgpack or a dtype: these are made by the grammar of either, of parts that
writers use and of parts that nobody should.  A call gives data or an exception of the documented tree,
within bounds of time and memory.  Anything else is printed, with what makes it happen again; a crash or
a hang ends the process.
"""

from __future__ import annotations

import copy
import faulthandler
import json
import os
import pickle
import random
import resource
import struct
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
from hostile import array_with, frame_with, tensor_with
from mutants import Caller, mutate

import blosc2c as b2
from blosc2c import dtype as dtypes
from blosc2c import packed
from blosc2c.cli import main as command

TIMEOUT = 20  # seconds for all calls on one input; each takes milliseconds
ROOM = 1 << 30  # bytes of address space beyond those of the start
SLOW = 3.0  # seconds of one input that are reported

# ---- Texts of dtypes ---------------------------------------------------------

NUMBERS = [0, 1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 65, 255, 4096, 10**6, 2**29, 2**31 - 1, 2**31, 2**32, 2**62, 2**63,
           2**64, 2**70, 10**30, -1, -8, -(2**31), -(2**63)]  # fmt: skip
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic", "B", "x", "μs"]
NAMES = [
    "a",
    "b",
    "f0",
    "f1",
    "",
    " ",
    "é",
    "a b",
    "it's",
    '"',
    "\\",
    "\n",
    "\x1b[2J",
    "\0",
    "\udc80",
    "\U0001f600",
    "x" * 300,
]


def number(rng: random.Random) -> int:
    return rng.choice(NUMBERS) if rng.random() < 0.3 else rng.randrange(1, 20)


def code(rng: random.Random) -> str:
    kind = rng.randrange(12)
    order = rng.choice(["", "", "<", ">", "=", "|", "<>"])
    if kind < 3:
        return order + rng.choice(
            ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "f16", "c8", "c16"]
        )
    if kind < 6:
        name = rng.choice(["M8", "m8", "M", "m", "datetime64", "timedelta64"])
        multiple = rng.choice(["", "", "25", str(number(rng))])
        divisor = f"/{number(rng)}" if rng.random() < 0.2 else ""
        return (
            f"{order}{name}[{multiple}{rng.choice(UNITS)}{divisor}]" if rng.random() < 0.8 else order + name
        )
    if kind < 8:
        return order + rng.choice("SUVac") + rng.choice(["", str(number(rng))])
    if kind < 10:
        return order + rng.choice("?bBhHiIlLqQpPnNefdgFDGSUVOTMmcau") + rng.choice(["", "", str(number(rng))])
    if kind < 11:
        return rng.choice(["int", "float64", "bool", "object", "str", "bytes", "void", "complex128", "longdouble",
                           "datetime64", "int4", "bfloat16", "record", "unicode", "StringDType()", "nothing"])  # fmt: skip
    return "".join(rng.choice("<>=|0123456789()[],:iufcSUVMmO?/ -") for _ in range(rng.randrange(12)))


def shape(rng: random.Random) -> Any:
    if rng.random() < 0.2:
        return number(rng)
    n = rng.choice([0, 1, 1, 2, 3, 31, 32, 33, 64, 65, 100])
    if n > 3:
        return (rng.choice([0, 1, 1, 1, 2**62]),) * n
    return tuple(rng.choice([1, 2, 3, 0, number(rng)]) for _ in range(n))


def odd(rng: random.Random) -> Any:
    return rng.choice(
        [None, True, False, 0, -1, 1.5, float("inf"), "", b"i4", (), [], {}, 2**70, ("a",), ["i4"]]
    )


def described(rng: random.Random, depth: int = 0) -> Any:
    """A description that is taken apart: codes, lists, tuples, dicts."""
    kind = rng.random() if depth < 5 else 0
    if kind < 0.03:
        return odd(rng)
    if kind < 0.45:
        return codes(rng) if rng.random() < 0.2 else code(rng)
    if kind < 0.75:
        return [field(rng, depth) for _ in range(rng.choice([0, 1, 1, 2, 3, 8]))]
    if kind < 0.85:
        return described(rng, depth + 1), shape(rng)
    return with_places(rng, depth)


def codes(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(4)):
        before = rng.choice(
            ["", "", "3", "(2,)", "(2, 3)", f"({number(rng)})", str(number(rng)), str(shape(rng))]
        )
        parts.append(before + code(rng))
    return rng.choice([",", ",", ", ", ",,"]).join(parts) + rng.choice(["", "", ","])


def field(rng: random.Random, depth: int) -> Any:
    if rng.random() < 0.03:
        return odd(rng)
    name: Any = rng.choice(NAMES) if rng.random() < 0.5 else f"n{rng.randrange(1000)}"
    if rng.random() < 0.1:
        name = rng.choice([("title", name), (name, name), ("a", "b"), (None, name), odd(rng)])
    parts = [name, described(rng, depth + 1)]
    if rng.random() < 0.3:
        parts.append(shape(rng))
    return tuple(parts)


def with_places(rng: random.Random, depth: int) -> Any:
    n = rng.choice([0, 1, 2, 3])
    made: dict[Any, Any] = {
        "names": [rng.choice(NAMES) if rng.random() < 0.3 else f"n{i}" for i in range(n)],
        "formats": [described(rng, depth + 1) for _ in range(n + (rng.random() < 0.05))],
    }
    if rng.random() < 0.6:
        made["offsets"] = [number(rng) for _ in range(n)]
    if rng.random() < 0.4:
        made["itemsize"] = number(rng)
    if rng.random() < 0.3:
        made["titles"] = [rng.choice([None, "t", f"t{i}", 5]) for i in range(n)]
    if rng.random() < 0.3:
        made["aligned"] = rng.choice([True, False, 1])
    if rng.random() < 0.1:
        made[rng.choice([*made, "metadata", "", 5])] = odd(rng)
    if rng.random() < 0.1:
        made.pop(rng.choice(list(made)))
    return made


def text(rng: random.Random) -> str:
    """A text of a dtype."""
    kind = rng.random()
    if kind < 0.3:
        made = code(rng)
    elif kind < 0.4:
        made = codes(rng)
    else:
        made = repr(described(rng))
    if rng.random() < 0.05:
        opened, n = (
            rng.choice(["[", "(", "{", "-", "[('a',", "~", "not ", "'", "\\"]),
            rng.choice([5, 40, 3000]),
        )
        made = opened * n + made + rng.choice(["", ")]" * n, "]" * n])
    if rng.random() < 0.2 and made:
        at = rng.randrange(len(made))
        made = (
            made[:at]
            + rng.choice(["", "(", "]", ",", "'", "\\", "0", "#", "\n", "é", "99999999999"])
            + made[at + 1 :]
        )
    return made


# ---- Values of msgpack --------------------------------------------------------


def container(first: int, wide: int, n: int, stated: int) -> bytes:
    """The header of a list (0x90, 0xDC) or map (0x80, 0xDE) that states another number of items, perhaps."""
    if n == stated and n < 16:
        return bytes([first + n])
    return bytes([wide + 1]) + struct.pack(">I", stated % (1 << 32))


def stated(rng: random.Random, n: int) -> int:
    return n if rng.random() < 0.97 else rng.choice([n + 1, max(n - 1, 0), 1 << 16, (1 << 32) - 1, 1 << 24])


class Values:
    """Makes packed values; frames take long to make, so they are made once."""

    def __init__(self) -> None:
        small = b2.asarray(np.arange(10, dtype="<i2"))
        small.vlmeta["inner"] = {"k": (1, {2})}
        self.frames = [
            small.to_cframe(),
            b2.zeros((1 << 40,), "i1", chunks=(1 << 24,), blocks=(1 << 16,)).to_cframe(),
            b2.SChunk(100, bytes(100), contiguous=True).to_cframe(),
            array_with("M8[ns/0]", 8),
            b"",
        ]
        self.frames.append(frame_with({"k": self.ext(42, self.frames[0])}))

    def ext(self, number: int, data: bytes) -> bytes:
        return bytes([0xC9]) + struct.pack(">Ib", len(data), number) + data

    def plain(self, rng: random.Random) -> bytes:
        made = rng.choice([None, True, 0, -1, 1 << 63, 1.5, float("nan"), "", "text", "\u00e9", "__tuple__", b"bytes",
                           "x" * 300, "\x1b]0;t\x07", b"\xff" * 20, 2**61 - 1, -(2**63)])  # fmt: skip
        return bytes(msgpack.packb(made)) if rng.random() < 0.9 else rng.randbytes(rng.randrange(1, 6))

    def value(self, rng: random.Random, depth: int = 0) -> bytes:
        kind = rng.random()
        if depth > 6 or kind < 0.3:
            return self.plain(rng)
        if kind < 0.45:
            return self.items(rng, depth)
        if kind < 0.55:
            pairs = [self.value(rng, depth + 2) + self.value(rng, depth + 1) for _ in range(rng.randrange(4))]
            return container(0x80, 0xDE, len(pairs), stated(rng, len(pairs))) + b"".join(pairs)
        if kind < 0.62:
            return self.ext(
                42, rng.choice(self.frames) if rng.random() < 0.8 else mutate(rng.choice(self.frames), rng)
            )
        if kind < 0.68:
            return self.ext(44, rng.randbytes(rng.choice([16, 16, 16, 15, 0])))
        if kind < 0.76:
            return self.ext(45, self.items(rng, depth) if rng.random() < 0.9 else self.value(rng, depth + 1))
        if kind < 0.94:
            return self.ext(46, self.array(rng, depth))
        if kind < 0.97:
            n = rng.choice([10, 200, 256, 257, 600, 1100])
            opened = rng.choice([b"\x91", b"\x81\xa1k", b"\x92\xa9__tuple__", b"\x92\x00"])
            return opened * n + b"\xc0"
        return self.ext(
            rng.choice([-1, -2, -128, 0, 1, 43, 47, 127]), rng.randbytes(rng.choice([0, 4, 8, 12]))
        )

    def items(self, rng: random.Random, depth: int) -> bytes:
        kind = rng.random()
        if kind < 0.05:  # of one hash
            n = rng.choice([10, 60, 70, 3000])
            parts = [self.ext(44, struct.pack(">dd", 1e12 - 1000003 * k, k)) for k in range(n)]
        elif kind < 0.1:
            parts = [self.plain(rng)] * rng.choice([20, 70, 2000])
        else:
            parts = [
                self.value(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 3, 20]) if depth < 4 else 1)
            ]
        if rng.random() < 0.2:
            parts.insert(0, msgpack.packb("__tuple__"))
        return container(0x90, 0xDC, len(parts), stated(rng, len(parts))) + b"".join(parts)

    def packed_dtype(self, rng: random.Random) -> bytes:
        made = text(rng) if rng.random() < 0.4 else described(rng)
        if rng.random() < 0.1:
            return self.value(rng, 5)
        if rng.random() < 0.5 and isinstance(made, list | str):
            return packed_or(made, lambda: self.plain(rng))
        return packed_or({"str" if isinstance(made, str) else "descr": made}, lambda: self.plain(rng))

    def array(self, rng: random.Random, depth: int) -> bytes:
        if rng.random() < 0.5:
            return sound_array(rng)
        parts = [b"\xa5dtype" + self.packed_dtype(rng), b"\xa5shape" + self.shape(rng, depth)]
        if rng.random() < 0.7:
            parts.append(b"\xa4data" + msgpack.packb(bytes(rng.choice([0, 1, 4, 8, 8, 16, 24, 100]))))
        if rng.random() < 0.2:
            parts.append(b"\xa6values" + self.items(rng, depth))
        rng.shuffle(parts)
        return bytes([0x80 + len(parts)]) + b"".join(parts)

    def shape(self, rng: random.Random, depth: int) -> bytes:
        if rng.random() < 0.1:
            return self.value(rng, depth + 2)
        return packed_or(
            list(made) if isinstance(made := shape(rng), tuple) else made, lambda: self.plain(rng)
        )

    def tensor(self, rng: random.Random) -> bytes:
        if rng.random() < 0.1:
            return self.value(rng)
        kind = msgpack.packb(rng.choice(["numpy", "numpy", "numpy", "torch", "tensorflow", "other"]))
        parts = [
            kind if rng.random() < 0.9 else self.value(rng, 4),
            self.shape(rng, 3),
            self.packed_dtype(rng),
        ]
        if rng.random() < 0.05:
            parts.append(self.plain(rng))
        marked = [b"\xa9__tuple__"] if rng.random() < 0.5 else []
        return container(0x90, 0xDC, len(parts) + len(marked), len(parts) + len(marked)) + b"".join(
            [*marked, *parts]
        )


def sound_array(rng: random.Random) -> bytes:
    """An array of any bytes, which may be no texts or dates."""
    while True:
        stored = text(rng) if rng.random() < 0.5 else [field(rng, 4)]
        try:
            dtype = dtypes.from_msgpack(stored)
            fields = {"dtype": {"str" if isinstance(stored, str) else "descr": stored}}
            if dtype.itemsize > 1000:
                continue
            sizes = [rng.choice([1, 2, 3, 0]) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
            n = dtype.itemsize * int(np.prod(sizes, dtype=int))
            data = rng.choice([rng.randbytes(n), bytes(n), b"\xff" * n, b"a\0\0\0" * (n // 4) + bytes(n % 4)])
            return bytes(msgpack.packb({**fields, "shape": sizes, "data": data}))
        except (b2.FormatError, UnicodeEncodeError):
            pass


def packed_or(made: Any, other: Any) -> bytes:
    try:
        return bytes(msgpack.packb(made))
    except (ValueError, TypeError, OverflowError):
        return bytes(other())


# ---- Calls ---------------------------------------------------------------------

REFUSALS = (*packed.UNPACK_ERRORS, b2.LimitError)
# What NumPy raises when it shows or converts what is no text, no date, or a date beyond its calendar.
UNSHOWN = (ValueError, OverflowError, TypeError, RuntimeError, SystemError)


def see(call: Caller, value: Any) -> None:
    """What a program does with a value that it was given."""
    call("repr", lambda: repr(value), *UNSHOWN)
    call("again", lambda: packed.pack(value), *UNSHOWN)
    if not isinstance(value, b2.NDArray | b2.SChunk):
        call("copy", lambda: copy.deepcopy(value))
    if isinstance(value, b2.NDArray):
        call("item", lambda: value[0], IndexError)
    if isinstance(value, np.ndarray):
        call("dtype", lambda: (str(value.dtype), value.tobytes()))
        call("list", lambda: value.tolist(), *UNSHOWN)
        call("equal", lambda: value == value, *UNSHOWN)


def use_dtype(call: Caller, made: np.dtype[Any]) -> None:
    """No description that is accepted may lead NumPy astray later."""
    call(
        "text",
        lambda: (str(made), repr(made), hash(made), made == made, made.newbyteorder(), pickle.dumps(made)),
    )
    if made.itemsize < 1 << 16:
        zeros, ones = np.zeros(3, made), np.frombuffer(b"\xff\x7f" * 2 * made.itemsize, made)[:3]
        for items in (zeros, ones):
            call("items", lambda items=items: (items[::-1].copy(), np.array(items), items[[1, 2]]))
            call("item", lambda items=items: items[1], *UNSHOWN)
            call("show", lambda items=items: repr(items), *UNSHOWN)
            call("list", lambda items=items: items.tolist(), *UNSHOWN)
        call("stored", lambda: dtypes.from_text(dtypes.to_text(made), made.itemsize), TypeError)
        call("packed", lambda: b2.unpack_tensor(b2.pack_tensor(zeros)), TypeError, UnicodeEncodeError)


def try_text(call: Caller, rng: random.Random, folder: Path) -> None:
    made, size = text(rng), rng.choice([1, 2, 4, 8, 8, 12, 16])
    dtype = call("from_text", lambda: dtypes.from_text(made))
    if dtype is not None:
        use_dtype(call, dtype)
        size = dtype.itemsize if dtype.itemsize < 10_000 else size
    raw = call("frame", lambda: array_with(made, size, n=4), UnicodeEncodeError)
    if raw is None:
        return
    path, out = folder / "x.b2nd", folder / "y.b2nd"
    path.write_bytes(raw)
    array = call("open", lambda: b2.open(path))
    if array is not None:
        call("repr", lambda: (repr(array), repr(array.info), array.fields))
        call("read", lambda: (array[...], array[1], array[[1, 2]], array[::-1]))
        for name in (array.dtype.names or ())[:3]:
            call("field", lambda name=name: array[name][:2])
        call("copy", lambda: array.copy()[...], TypeError)  # a dtype that has no text of its own
        call("pickle", lambda: pickle.loads(pickle.dumps(array))[...])
    call("verify", lambda: str(b2.verify(path)))
    call("repair", lambda: str(b2.repair(path, out, mode="w")))
    call("repaired", lambda: b2.open(out)[...])


def try_described(call: Caller, rng: random.Random, _folder: Path) -> None:
    made = described(rng)
    dtype = call("from_msgpack", lambda: dtypes.from_msgpack(made))
    if dtype is not None:
        use_dtype(call, dtype)


def try_value(call: Caller, rng: random.Random, folder: Path, values: Values) -> None:
    raw = values.value(rng)
    if rng.random() < 0.2:
        raw = mutate(raw, rng)
    value = call("unpack", lambda: packed.unpack(raw), *REFUSALS)
    see(call, value)
    path = folder / "x.b2frame"
    name = rng.choice(
        ["k", "k", "b2nd", "caterva", "ml_dtype", "estore_metadata", "__pack_tensor__", "caf\udce9", "\x1bc"]
    )
    frame = call("frame", lambda: frame_with({name: raw, "other": b"\x01"}, {rng.choice(["m", name]): raw}))
    if frame is None:
        return
    path.write_bytes(frame)
    s = call("open", lambda: b2.open(path))
    if s is not None:
        call("metas", lambda: (s.meta[:], s.vlmeta[:]))
        call("repr", lambda: (repr(s), repr(s.info), repr(s.meta), repr(s.vlmeta)))
        call("copy", lambda: s.copy())
        call("recompress", lambda: s.copy(cparams={"clevel": 1}), TypeError)
    call("verify", lambda: str(b2.verify(path)))
    call("repair", lambda: str(b2.repair(path, folder / "y.b2frame", mode="w")))
    for options in ([], ["--json"]):
        call("info", lambda options=options: shown(["info", str(path), *options]))


def shown(arguments: list[str]) -> None:
    """A command, which tells of failures itself, and in characters that a terminal may get."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as out:
        before, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), out, out
        try:
            status = command(arguments)
        finally:
            sys.stdout, sys.stderr = before
        out.seek(0)
        said = out.read()
    assert status in (0, 1), status
    assert all(c.isprintable() or c == "\n" for c in said), repr(said[:500])
    if "--json" in arguments and status == 0:
        json.loads(said)


def try_tensor(call: Caller, rng: random.Random, folder: Path, values: Values) -> None:
    raw = values.tensor(rng)
    frame = tensor_with(raw, bytes(rng.choice([0, 1, 4, 8, 8, 16, 24, 100])))
    also = (ImportError,)  # torch is not there
    see(call, call("unpack_tensor", lambda: b2.unpack_tensor(frame), *also))
    path = folder / "t.b2frame"
    path.write_bytes(frame)
    call("load_tensor", lambda: b2.load_tensor(path), *also)
    call("verify", lambda: str(b2.verify(path)))


# ---- Main ----------------------------------------------------------------------


def bound_memory() -> None:
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))


def main(seed: int, count: int, kinds: list[str]) -> int:
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ResourceWarning)
    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy, when odd floats are converted
    b2.set_nthreads(1)
    call, values, slowest = Caller(), Values(), 0.0
    tries: dict[str, Any] = {
        "text": try_text,
        "described": try_described,
        "value": lambda *args: try_value(*args, values),
        "tensor": lambda *args: try_tensor(*args, values),
    }
    with tempfile.TemporaryDirectory() as name:
        if sys.platform == "linux" and not os.environ.get("VALUES_UNBOUNDED"):
            bound_memory()
        for i in range(seed, seed + count):
            for kind in kinds or tries:
                call.label = f"values.py {i} 1 {kind}"
                faulthandler.dump_traceback_later(TIMEOUT, exit=True)
                if os.environ.get("VALUES_VERBOSE"):
                    print(call.label, file=sys.stderr, flush=True)
                start = time.process_time()
                tries[kind](call, random.Random(f"{kind} {i}"), Path(name))
                faulthandler.cancel_dump_traceback_later()
                taken = time.process_time() - start
                slowest = max(slowest, taken)
                if taken > SLOW:
                    call.bad.append(f"{call.label}: {taken:.1f} s")
    for problem in call.bad:
        print(problem)
    print(
        f"{count} inputs of each kind, {call.ncalls} calls, {len(call.bad)} failures, slowest {slowest:.1f} s"
    )
    return 1 if call.bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
