#!/usr/bin/env python3
"""What a call costs from Python, beside the reference (`pip install blosc2`).

Usage: bench_calls.py

Short compressions, items and parts of arrays, making and reading arrays, chunks of super-chunks,
appends, opening and importing.  Both libraries do each in turn in one process; the best of several samples counts.
It prints a table of ratios, and judges nothing: machines are noisy.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import blosc2
import numpy as np

import blosc2c

SAMPLE_SECONDS = 2e-3  # a sample repeats short calls for so long
NSAMPLES = 9
LIBRARIES = (blosc2c, blosc2)
SHORT_CALLS = """update_chunk|append_data, delete_chunk|decompress_chunk into memory|get_chunk|items|item
get_slice|items = data|iterchunks|iterchunks_info|vlmeta[name]|vlmeta[name] = value|name in vlmeta
nchunks|cratio|len""".replace("\n", "|").split("|")


@dataclass
class Case:
    """A thing to do with a library: `make(lib)` prepares it and gives the call to be timed."""

    name: str
    target: float
    make: Callable[[Any], Callable[[], object]]
    once: bool = False  # not to be repeated within a sample


def grid(n: int) -> np.ndarray[Any, Any]:
    """A smooth grid of n x n with some noise."""
    rng = np.random.default_rng(1)
    x = np.linspace(0, 9, n, dtype="f4")
    smooth = np.sin(x)[:, None] * np.cos(x)[None, :]
    return (smooth + rng.integers(0, 64, (n, n)) / 65536).astype("f4")


def compression(codec: str | None, back: bool) -> Callable[[Any], Callable[[], object]]:
    def make(lib: Any) -> Callable[[], object]:
        data = np.cumsum(np.random.default_rng(2).integers(0, 9, 1024)).astype("i4")
        kwargs: dict[str, Any] = {"typesize": 4}
        if codec is not None:
            kwargs["codec"] = lib.Codec[codec]
        chunk = lib.compress2(data, **kwargs)
        return (lambda: lib.decompress2(chunk)) if back else (lambda: lib.compress2(data, **kwargs))

    return make


class Arrays:
    """The arrays that are read, one for each library and place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = grid(2000)
        self.kept: dict[tuple[str, bool], Any] = {}

    def get(self, lib: Any, on_disk: bool) -> Any:
        key = lib.__name__, on_disk
        if key not in self.kept:
            path = str(self.folder / f"{lib.__name__}.b2nd") if on_disk else None
            array = lib.asarray(self.data, urlpath=path, mode="w")
            self.kept[key] = lib.open(path) if path else array
        return self.kept[key]

    def reads(self, on_disk: bool, keys: list[Any]) -> Callable[[Any], Callable[[], object]]:
        """Reads the keys in turn."""

        def make(lib: Any) -> Callable[[], object]:
            array, cycle = self.get(lib, on_disk), itertools.cycle(keys)
            return lambda: array[next(cycle)]

        return make


def chunks(nbytes: int, codec: str, what: str) -> Callable[[Any], Callable[[], object]]:
    """A call for one of the chunks of a super-chunk in memory."""

    def make(lib: Any) -> Callable[[], object]:
        data = np.arange(nbytes // 4, dtype="i4")
        cparams = {"codec": lib.Codec[codec], "typesize": 4, "nthreads": 1}
        s = lib.SChunk(chunksize=nbytes, cparams=cparams, dparams={"nthreads": 1})
        for _ in range(100):
            s.append_data(data)
        s.vlmeta["name"], items = {"a": 7, "b": [1, 2, 3]}, data[:10].copy()
        chunk, out = s.get_chunk(5), np.empty_like(data)
        calls: dict[str, Callable[[], object]] = {
            "update_data": lambda: s.update_data(5, data, True),
            "update_chunk": lambda: s.update_chunk(5, chunk),
            "append_data, delete_chunk": lambda: (s.append_data(data), s.delete_chunk(100)),
            "decompress_chunk": lambda: s.decompress_chunk(5),
            "decompress_chunk into memory": lambda: s.decompress_chunk(5, out),
            "get_chunk": lambda: s.get_chunk(5),
            "items": lambda: s[100:120],
            "item": lambda: s[7],
            "get_slice": lambda: s.get_slice(100, 120),
            "items = data": lambda: s.__setitem__(slice(10, 20), items),
            "iterchunks": lambda: [*s.iterchunks("i4")],
            "iterchunks_info": lambda: [*s.iterchunks_info()],
            "vlmeta[name]": lambda: s.vlmeta["name"],
            "vlmeta[name] = value": lambda: s.vlmeta.__setitem__("name", {"a": 8, "b": [1, 2, 3]}),
            "name in vlmeta": lambda: "name" in s.vlmeta,
            "nchunks": lambda: s.nchunks,
            "cratio": lambda: (s.cratio,),
            "len": lambda: len(s),
        }
        return calls[what]

    return make


def making(lib: Any) -> Callable[[], object]:
    data = np.arange(1024, dtype="i4")
    return lambda: lib.SChunk(chunksize=4096, data=data)


def appends(folder: Path) -> Callable[[Any], Callable[[], object]]:
    def make(lib: Any) -> Callable[[], object]:
        path, piece = str(folder / f"{lib.__name__}.b2frame"), np.arange(16, dtype="i4")

        def run() -> None:
            s = lib.SChunk(chunksize=64, urlpath=path, mode="w", cparams={"typesize": 4})
            for _ in range(1000):
                s.append_data(piece)
            del s

        return run

    return make


def imports(lib: Any) -> Callable[[], object]:
    command = "import numpy, time; t = time.perf_counter(); import %s; print(time.perf_counter() - t)"

    def run() -> float:
        python = [sys.executable, "-c", command % lib.__name__]
        # Away from here, where Python would find the sources instead of what is installed.
        out = subprocess.run(python, capture_output=True, check=True, text=True, cwd=sys.prefix)
        return float(out.stdout)

    return run


def cases(folder: Path) -> list[Case]:
    """All of them, with the ratio that is aimed for."""
    arrays, rng = Arrays(folder), np.random.default_rng(3)
    data = arrays.data
    items = [tuple(int(i) for i in rng.integers(0, 2000, 2)) for _ in range(1000)]
    rows = [int(i) for i in rng.integers(0, 2000, 100)]
    columns = [(slice(None), i) for i in range(100)]
    far = [(slice(None), i * 617 % 2000) for i in range(100)]
    near = [(7, int(i)) for i in rng.integers(0, 100, 1000)]
    points = [tuple(rng.integers(0, 2000, (2, 64))) for _ in range(50)]

    def asarray(on_disk: bool) -> Callable[[Any], Callable[[], object]]:
        def make(lib: Any) -> Callable[[], object]:
            path = str(folder / f"as-{lib.__name__}.b2nd") if on_disk else None
            return lambda: lib.asarray(data, urlpath=path, mode="w")

        return make

    def opening(lib: Any) -> Callable[[], object]:
        arrays.get(lib, True)
        path = str(folder / f"{lib.__name__}.b2nd")
        return lambda: lib.open(path)

    def whole(lib: Any) -> Callable[[], object]:
        array = lib.asarray(data)
        return lambda: array[:]

    found = [
        Case("compress2 of 4 kB, default codec", 3, compression(None, False)),
        Case("decompress2 of 4 kB, default codec", 10, compression(None, True)),
        Case("compress2 of 4 kB, LZ4", 2, compression("LZ4", False)),
        Case("decompress2 of 4 kB, LZ4", 2, compression("LZ4", True)),
    ]
    for on_disk in (False, True):
        place = "on disk" if on_disk else "in memory"
        found += [
            Case(f"item, {place}", 5, arrays.reads(on_disk, items)),
            Case(f"row, {place}", 5, arrays.reads(on_disk, rows)),
            Case(f"64 random items, {place}", 5, arrays.reads(on_disk, points)),
            Case(f"columns across chunks in turn, {place}", 4, arrays.reads(on_disk, columns)),
            Case(f"columns far from each other, {place}", 4, arrays.reads(on_disk, far)),
            Case(f"items of one block, {place}", 15, arrays.reads(on_disk, near)),
        ]
    for nbytes, codec in ((4096, "ZSTD"), (4096, "BLOSCLZ"), (65536, "ZSTD"), (65536, "LZ4")):
        found += [
            Case(f"{what} of {nbytes >> 10} kB, {codec}", 1, chunks(nbytes, codec, what))
            for what in ("update_data", "decompress_chunk")
        ]
    return [
        *found,
        *(Case(f"{what}, chunks of 4 kB", 1, chunks(4096, "ZSTD", what)) for what in SHORT_CALLS),
        Case("SChunk of 4 kB", 1, making),
        Case("asarray, 16 MB, to memory", 1.5, asarray(False), True),
        Case("asarray, 16 MB, to disk", 1.5, asarray(True), True),
        Case("whole read, 16 MB", 1.5, whole, True),
        Case("1000 small appends to a frame on disk", 5, appends(folder), True),
        Case("open an array", 3, opening),
        Case("import, over numpy", 1, imports, True),
    ]


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Of one call; one that gives a number of seconds has measured itself."""
    start = time.perf_counter()
    for _ in range(repeats):
        result = call()
    end = time.perf_counter()
    return result if isinstance(result, float) else (end - start) / repeats


def measure(case: Case) -> tuple[float, float]:
    """Seconds of a call, ours and theirs."""
    calls = [case.make(lib) for lib in LIBRARIES]
    best, repeats = [math.inf] * 2, [1, 1]
    if not case.once:
        repeats = [max(1, int(SAMPLE_SECONDS / seconds(call, 3))) for call in calls]
    for _ in range(NSAMPLES):
        for i, call in enumerate(calls):
            best[i] = min(best[i], seconds(call, repeats[i]))
    return best[0], best[1]


def human(value: float) -> str:
    """Seconds with a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def run() -> str:
    """The table, as Markdown."""
    lines = ["| what | target | ratio | ours | theirs |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder)):
            ours, theirs = measure(case)
            ratio = f"{theirs / ours:.1f}"
            lines.append(f"| {case.name} | ≥ {case.target} | {ratio} | {human(ours)} | {human(theirs)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(run())
