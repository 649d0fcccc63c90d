# SPDX-License-Identifier: BSD-3-Clause
"""Damaged frames, files, directories and chunks, and every public call on each of them.

usage: mutants.py SEED COUNT [KIND ...]

A call gives data or an exception of the documented tree.  Anything else is printed, with what makes it
happen again; a crash or a hang ends the process.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import blosc2
import numpy as np

import blosc2c as b2

TIMEOUT = 30  # seconds for all calls on one mutant
MAX_NBYTES = 1 << 24  # more is not read
MAX_ITEMS = 1 << 20
SET = Path(__file__).parents[1] / "data" / "conformance"
RECORD = np.dtype([("x", "<i4"), ("y", "S9")])


# ---- What is damaged --------------------------------------------------------


def data(n: int, seed: int = 0) -> bytes:
    return np.random.default_rng(seed).integers(0, 30, n // 4 + 1).astype("<i4").tobytes()[:n]


def schunk(lib: Any, **kwargs: Any) -> Any:
    s = lib.SChunk(400, cparams={"typesize": 4}, meta={"m": [1, "two"]}, **kwargs)
    s.append_data(data(400))
    s.append_data(bytes(400))
    s.append_data(data(400, 1))
    s.append_data(data(100, 2))
    s.vlmeta["user"] = {"k": [1, 2.5, None, b"x" * 40]}
    return s


def variable(lib: Any, **kwargs: Any) -> Any:
    s = lib.SChunk(400, cparams={"typesize": 4, "codec": lib.Codec.LZ4}, **kwargs)
    for i, n in enumerate((400, 80, 200, 4)):
        s.append_data(data(n, i))
    return s


def arrays(lib: Any, **kwargs: Any) -> Iterator[Any]:
    def made(a: np.ndarray, **parts: Any) -> Any:
        return lib.asarray(a, **parts, **named(kwargs, str(a.ndim) + a.dtype.kind))

    yield made(np.arange(200, dtype="<i2"), chunks=(60,), blocks=(20,))
    yield made(np.arange(210, dtype="<f8").reshape(5, 6, 7), chunks=(3, 4, 7), blocks=(2, 2, 3))
    yield made(np.array(7.5))
    yield made(np.array([(i, b"%d" % i) for i in range(50)], RECORD), chunks=(20,), blocks=(7,))
    yield lib.zeros((500, 300), dtype="<f4", **named(kwargs, "zeros"))
    yield lib.nans((90, 30), dtype="<f8", **named(kwargs, "nans"))


def named(kwargs: dict[str, Any], name: str) -> dict[str, Any]:
    return {**kwargs, "urlpath": kwargs["urlpath"] + name} if "urlpath" in kwargs else kwargs


def frames() -> Iterator[bytes]:
    for lib in (b2, blosc2):
        yield schunk(lib, contiguous=True).to_cframe()
        yield variable(lib, contiguous=True).to_cframe()
        for a in arrays(lib):
            yield a.to_cframe()
    yield b2.SChunk(400).to_cframe()
    yield bytes(b2.pack_tensor(np.arange(300.0).reshape(20, 15)))
    yield bytes(blosc2.pack_tensor(np.arange(300, dtype="<u2")))


def unfinished(folder: Path) -> Iterator[bytes]:
    """Files as a killed writer leaves them."""
    with schunk(b2, urlpath=str(folder / "u")) as s:
        yield (folder / "u").read_bytes()
        s.update_data(1, data(400, 5))
        s.delete_chunk(0)
        yield (folder / "u").read_bytes()


def directories(folder: Path) -> Iterator[Path]:
    for i, lib in enumerate((b2, blosc2)):
        for make in (schunk, variable):
            path = folder / f"d{i}{make.__name__}"
            s = make(lib, urlpath=str(path), contiguous=False)
            if lib is b2:
                s.close()
            yield path
        for a in arrays(lib, urlpath=str(folder / f"a{i}"), contiguous=False):
            yield Path(a.urlpath if isinstance(a.urlpath, str) else a.schunk.urlpath)
            if lib is b2:
                a.close()


def chunks() -> Iterator[bytes]:
    raw = data(5000, 9)
    for codec in b2.compressor_list():
        for filters in ([1], [2], [3, 1], [1, 35], []):
            metas = [4 if f == 35 else 0 for f in filters]
            yield b2.compress2(
                raw,
                codec=codec,
                filters=filters or [0],
                filters_meta=metas or [0],
                typesize=4,
                blocksize=1000,
            )
    yield b2.compress2(b"abc " * 3000, codec="zstd", use_dict=True, blocksize=1000, typesize=1)
    yield blosc2.compress2(raw, typesize=8, nthreads=2, blocksize=1024)
    yield b2.compress2(raw, clevel=0)


def containers(folder: Path) -> Iterator[Path]:
    for name in ("c.b2z", "c.b2d", "c.b2e"):
        store = blosc2.EmbedStore if name.endswith("e") else blosc2.DictStore
        with store(str(folder / name), mode="w") as c:
            c["/a"] = np.arange(10)
            c["/g/b"] = blosc2.asarray(np.arange(3000), **named({"urlpath": f"{folder}/{name}"}, ".b2nd"))
        yield folder / name


def samples() -> Iterator[tuple[str, Path]]:
    """What each file of the conformance set is, and the file: all ages, all features."""
    for entry in json.loads((SET / "manifest.json").read_text())["files"]:
        if not (SET / entry["name"]).is_dir() and "member" not in entry:
            yield entry["kind"], SET / entry["name"]


# ---- How --------------------------------------------------------------------

INTERESTING = [0, 1, 2, 7, 31, 32, 127, 128, 255, 256, 4096, 65535, 1 << 20, (1 << 31) - 33, (1 << 31) - 1, 1 << 31,
               (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]  # fmt: skip


def mutate(raw: bytes, rng: random.Random) -> bytes:
    out = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        n = len(out)
        at = rng.randrange(n) if n else 0
        # Half of the changes go to where the structure is: the beginning and the end.
        if n and rng.random() < 0.5:
            at = rng.choice((rng.randrange(min(n, 200)), n - 1 - rng.randrange(min(n, 250))))
        kind = rng.randrange(9)
        if kind == 0:
            out[at : at + 1] = bytes([out[at] ^ 1 << rng.randrange(8)]) if n else b""
        elif kind == 1:
            out[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 2:
            del out[at:]
        elif kind == 3:
            del out[at : at + rng.randrange(1, 40)]
        elif kind == 4:
            out[at:at] = rng.randbytes(rng.randrange(1, 40))
        elif kind == 5:
            size, order = rng.choice((2, 4, 8)), rng.choice(("little", "big"))
            value = rng.choice(INTERESTING) if rng.random() < 0.6 else n + rng.randrange(-40, 40)
            out[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, order)
        elif kind == 6:
            other = rng.randrange(n) if n else 0
            size = rng.randrange(1, 64)
            out[at : at + size] = out[other : other + size]
        elif kind == 7:
            size = rng.randrange(1, 64)
            out[at : at + size] = bytes([rng.choice((0, 255))]) * min(size, n - at)
        else:  # a length and what it counts
            size = rng.choice((4, 8))
            old = int.from_bytes(out[at : at + size], "big")
            out[at : at + size] = ((old + rng.choice((-8, -1, 1, 8, 32))) % (1 << 8 * size)).to_bytes(
                size, "big"
            )
    return bytes(out)


# ---- Calls ------------------------------------------------------------------


class Caller:
    """Makes calls, and remembers those that fail in a way they must not."""

    def __init__(self) -> None:
        self.allowed: tuple[type[BaseException], ...] = (b2.Blosc2Error,)
        self.label = ""
        self.bad: list[str] = []
        self.ncalls = 0

    def __call__(self, name: str, function: Callable[[], Any], *also: type[BaseException]) -> Any:
        self.ncalls += 1
        try:
            return function()
        except (*self.allowed, *also):
            return None
        except BaseException:
            self.bad.append(f"{self.label}: {name}\n{traceback.format_exc()}")
            if len(self.bad) > 20:
                raise
            return None


def read_schunk(call: Caller, s: b2.SChunk) -> None:
    for name in ("nchunks", "nbytes", "cbytes", "cratio", "chunksize", "blocksize", "typesize", "chunkshape",
                 "cparams", "dparams", "info", "is_array", "contiguous", "is_writable"):  # fmt: skip
        call(name, lambda name=name: getattr(s, name))
    call("repr", lambda: (repr(s), repr(s.info), s.info._repr_html_()))
    call("meta", lambda: s.meta[:])
    call("vlmeta", lambda: s.vlmeta[:])
    call("vlmeta names", lambda: [s.vlmeta[name] for name in list(s.vlmeta)])
    call("missing", lambda: s.vlmeta["no such name"], KeyError)
    n = min(s.nchunks, 40)
    for i in (*range(n), s.nchunks):
        info = call("chunk_facts", lambda i=i: s.chunk_facts(i))
        if info is not None and info.cratio < 1e6:
            call("get_chunk", lambda i=i: s.get_chunk(i))
            call("decompress_chunk", lambda i=i: s.decompress_chunk(i))
    call("slice", lambda: s[3:90])
    call("middle", lambda: s[len(s) // 2 : len(s) // 2 + 50])
    call("item", lambda: s[0], IndexError)
    call("last", lambda: s[-1], IndexError)
    call("get_slice_nchunks", lambda: b2.get_slice_nchunks(s, (1, 200)))
    if s.nchunks < 10_000 and s.nbytes <= MAX_NBYTES:
        call("all", lambda: s[:])
        call("iterchunks_info", lambda: list(s.iterchunks_info()))
        call("iterchunks", lambda: list(s.iterchunks(np.uint8)))
        call("to_cframe", lambda: s.to_cframe())
        call("copy", lambda: s.copy().close())
        call("recompress", lambda: s.copy(cparams={"clevel": 1}).close())


def read_array(call: Caller, a: b2.NDArray) -> None:
    for name in ("shape", "chunks", "blocks", "dtype", "ndim", "size", "nbytes", "cbytes", "ext_shape", "ext_chunks",
                 "chunksize", "blocksize", "fields", "info", "cratio", "itemsize"):  # fmt: skip
        call(name, lambda name=name: getattr(a, name))
    call("repr", lambda: (repr(a), repr(a.info)))
    call("first", lambda: a[(0,) * a.ndim], IndexError)
    call("last", lambda: a[(-1,) * a.ndim], IndexError)
    small = tuple(slice(0, 3) for _ in range(a.ndim))
    if a.dtype.itemsize * 3**a.ndim < MAX_NBYTES:
        call("corner", lambda: a[small])
        call("points", lambda: a[tuple(np.array([0, 1]) for _ in range(a.ndim))], IndexError)
        call("slice", lambda: a.slice(small))
    for name in a.dtype.names or ():
        call("field", lambda name=name: a[name][:2], IndexError)
    if a.nbytes <= MAX_NBYTES and a.size <= MAX_ITEMS and a.schunk.nchunks < 10_000:
        call("all", lambda: a[...])
        call("bytes", lambda: a.tobytes())
        call("array", lambda: np.asarray(a))
        call("reversed", lambda: a[::-3], IndexError)
        call("rows", lambda: list(a), TypeError)
        call("iterchunks_info", lambda: list(a.iterchunks_info()))
        call("copy", lambda: a.copy())
        call("chunks_of", lambda: a.chunks_of(small))


def read(call: Caller, obj: Any) -> None:
    if obj is None:
        return
    if isinstance(obj, b2.NDArray):
        read_array(call, obj)
        obj = obj.schunk
    read_schunk(call, obj)


def edit(call: Caller, obj: Any) -> None:
    if obj is None:
        return
    if isinstance(obj, b2.NDArray):
        if math.prod(obj.ext_chunks) * obj.itemsize <= MAX_NBYTES:
            call("setitem", lambda: obj.__setitem__((slice(0, 1),) * obj.ndim, np.zeros((), obj.dtype)))
            if obj.ndim and obj.shape[0] < 10**6:
                call("resize", lambda: obj.resize((obj.shape[0] + 1, *obj.shape[1:])))
        s = obj.schunk
    else:
        s = obj
    call("vlmeta set", lambda: s.vlmeta.__setitem__("new", 1))
    call("vlmeta del", lambda: s.vlmeta.__delitem__("user"), KeyError)
    if s.typesize * 10 < MAX_NBYTES:
        call("append", lambda: s.append_data(bytes(s.typesize * 10)))
        if s.chunksize <= MAX_NBYTES:
            call("write", lambda: s.set_slice(bytes(s.typesize), 0, 1))
    call("delete", lambda: s.delete_chunk(0))
    call("reorder", lambda: s.nchunks < 1000 and s.reorder_offsets(range(s.nchunks)[::-1]))
    call("flush", lambda: s.flush())
    call("compact", lambda: s.compact())
    call("close", lambda: obj.close())


def open_and_read(call: Caller, path: str, mode: str = "r", **kwargs: Any) -> None:
    obj = call("open", lambda: b2.open(path, mode, **kwargs))
    if obj is not None:
        read(call, obj)
        if mode == "a" or kwargs.get("mmap_mode") == "c":
            edit(call, obj)
        call("close", obj.close)


class Source:
    """An object to read from; sometimes it gives less than it should."""

    def __init__(self, raw: bytes, rng: random.Random) -> None:
        self.raw, self.rng, self.short = raw, rng, rng.random() < 0.3
        self.size = len(raw)

    def read_at(self, at: int, n: int) -> bytes:
        part = self.raw[at : at + n]
        return part[:-1] if self.short and self.rng.random() < 0.1 else part


def try_frame(call: Caller, raw: bytes, folder: Path, rng: random.Random) -> None:
    read(call, call("from_cframe", lambda: b2.from_cframe(raw, copy=False)))
    copy = call("from_cframe", lambda: b2.from_cframe(bytearray(raw)))
    if copy is not None:
        edit(call, copy)
    call("unpack_tensor", lambda: b2.unpack_tensor(raw))
    try_file(call, raw, folder, rng)
    call.allowed = (b2.Blosc2Error, EOFError)
    read(call, call("source", lambda: b2.open(Source(raw, rng))))
    call.allowed = (b2.Blosc2Error,)


def try_file(call: Caller, raw: bytes, folder: Path, rng: random.Random) -> None:
    path = folder / "file"
    path.write_bytes(raw)
    open_and_read(call, str(path))
    open_and_read(call, str(path), mmap_mode=rng.choice(("r", "c")))
    call("load", lambda: b2.load(path))
    call("load_array", lambda: b2.load_array(path))
    call("verify", lambda: str(b2.verify(path)))
    call("repair", lambda: str(b2.repair(path, folder / "out", mode="w", lost=rng.choice(("zeros", "drop")))))
    out = folder / "out"
    if out.exists():
        obj = b2.open(out)  # what is repaired is sound
        report = b2.verify(out)
        excuses = ("cannot", "codec", "filter", "msgpack")  # nobody here can check it
        if not all(any(word in p.what for word in excuses) for p in report.problems):
            call.bad.append(f"{call.label}: repair\n{report}")
        read(call, obj)
        obj.close()
        b2.remove_urlpath(out)
    open_and_read(call, str(path), "a")
    b2.remove_urlpath(path)


def try_chunk(call: Caller, raw: bytes) -> None:
    info = call("get_cbuffer_sizes", lambda: b2.get_cbuffer_sizes(raw))
    call("get_clib", lambda: b2.get_clib(raw))
    if info is None or info[0] > MAX_NBYTES:
        return
    call("decompress", lambda: b2.decompress(raw))
    call("decompress2", lambda: b2.decompress2(raw, nthreads=2))
    call("dst", lambda: b2.decompress2(raw, bytearray(info[0])))
    call("vldecompress", lambda: b2.vldecompress(raw))
    call("vldecompress_block", lambda: b2.vldecompress_block(raw, 1))
    s = b2.SChunk(5000, cparams={"typesize": 4})
    if call("append_chunk", lambda: s.append_chunk(raw)):
        read_schunk(call, s)


def try_directory(call: Caller, source: Path, folder: Path, rng: random.Random) -> None:
    call.allowed = (b2.Blosc2Error, OSError)  # chunk files may be gone
    path = folder / "dir"
    shutil.copytree(source, path)
    decoy = folder / "decoy"  # what a link leads to is ours, too, and stays as it is
    decoy.write_bytes(b"not for readers")
    names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 2)))):
        file, kind = path / name, rng.random()
        raw = file.read_bytes()
        file.unlink()  # never written to: it might be a link
        if kind < 0.05:
            continue
        if kind < 0.1:
            file.symlink_to(decoy)
        elif kind < 0.13:
            file.mkdir()
        else:
            file.write_bytes(mutate(raw, rng))
    open_and_read(call, str(path))
    call("load", lambda: b2.load(path))
    call.allowed = (b2.Blosc2Error,)
    call("verify", lambda: str(b2.verify(path)))
    call("repair", lambda: str(b2.repair(path, folder / "out", contiguous=rng.random() < 0.5)))
    if (folder / "out").exists():
        b2.open(folder / "out").close()
        b2.remove_urlpath(folder / "out")
    call.allowed = (b2.Blosc2Error, OSError)
    open_and_read(call, str(path), "a")
    if decoy.read_bytes() != b"not for readers":
        call.bad.append(f"{call.label}: something was written through a link")
    shutil.rmtree(path)
    call.allowed = (b2.Blosc2Error,)


def try_sample(call: Caller, kind: str, raw: bytes, folder: Path, rng: random.Random) -> None:
    if kind in ("chunk", "vlblocks"):
        try_chunk(call, raw)
        return
    try_file(call, raw, folder, rng)
    path, out = folder / "sample", folder / "converted"
    path.write_bytes(raw)
    call("convert", lambda: b2.convert(path, out))
    b2.remove_urlpath(out)


def try_container(call: Caller, source: Path, folder: Path, rng: random.Random) -> None:
    path = folder / source.name
    if source.is_dir():
        shutil.copytree(source, path)
        file = rng.choice(sorted(path.rglob("*.b2*")))
    else:
        file = Path(shutil.copy(source, path))
    file.write_bytes(mutate(file.read_bytes(), rng))
    call("open", lambda: read(call, b2.open(path)))
    for member in ("/a", "/g/b"):
        call("member", lambda member=member: read(call, b2.open(path, member=member)))
    call("verify", lambda: str(b2.verify(path)))
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def main(seed: int, count: int, kinds: list[str]) -> int:
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ResourceWarning)
    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy, when odd floats are converted
    call = Caller()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "seeds").mkdir()
        seeds: dict[str, list[Any]] = {
            "frame": list(frames()),
            "file": list(unfinished(folder)),
            "dir": list(directories(folder / "seeds")),
            "chunk": list(chunks()),
            "container": list(containers(folder / "seeds")),
            "sample": list(samples()),
        }
        for i in range(seed, seed + count):
            for kind in kinds or seeds:
                rng = random.Random(f"{kind} {i}")
                number = rng.randrange(len(seeds[kind]))
                call.label = f"mutants.py {i} 1 {kind} (seed {number})"
                faulthandler.dump_traceback_later(TIMEOUT, exit=True)
                if os.environ.get("MUTANTS_VERBOSE"):
                    print(call.label, file=sys.stderr, flush=True)
                start = time.monotonic()
                chosen = seeds[kind][number]
                if kind == "dir":
                    try_directory(call, chosen, folder, rng)
                elif kind == "container":
                    try_container(call, chosen, folder, rng)
                elif kind == "sample":
                    try_sample(call, chosen[0], mutate(chosen[1].read_bytes(), rng), folder, rng)
                else:
                    raw = mutate(chosen, rng)
                    if kind == "chunk":
                        try_chunk(call, raw)
                    elif kind == "file":
                        try_file(call, raw, folder, rng)
                    else:
                        try_frame(call, raw, folder, rng)
                faulthandler.cancel_dump_traceback_later()
                slowest = max(slowest, time.monotonic() - start)
    for problem in call.bad:
        print(problem)
    print(
        f"{count} mutants of each kind, {call.ncalls} calls, {len(call.bad)} failures, slowest {slowest:.1f} s"
    )
    return 1 if call.bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
