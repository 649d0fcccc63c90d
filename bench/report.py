#!/usr/bin/env python3
"""Speed and size beside the reference (`pip install blosc2`): measures, and writes tables and plots.

Usage:
    report.py                           a quick form of the matrix, printed
    report.py --full --docs docs        all of it, into docs/speed.md and docs/speed-*.svg
    report.py --codec lz4 --filter shuffle --size 4096 1048576 --data "walk f8" my.npy
    report.py --load run.json --docs docs        writes again what --save kept

Both libraries compress and decompress (into a buffer that is there) in turn in one process; the
best of at least five samples counts, of decompression at each of four places in memory.  Figures
are ratios: above 1 ours is faster, or smaller for sizes below 1.  Nothing is judged: machines are
noisy, and speed depends on them.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import bench_calls
import blosc2
import datasets
import svg

import blosc2c

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
FILTERS = ["none", "shuffle", "bitshuffle"]
SAMPLE_SECONDS = 5e-4  # a sample repeats short calls for so long
QUICK_SECONDS = 0.6  # quick form: no further samples of a call after that long
NPLACES = 4  # in memory, of what is decompressed: how long a copy takes depends on its pages


@dataclass
class Cell:
    """One cell of the matrix: what was measured, bytes, and seconds of a call."""

    data: str
    nbytes: int
    codec: str
    clevel: int
    filter: str
    nthreads: int
    size: tuple[int, int] = (0, 0)  # ours, the reference's
    compress: tuple[float, float] = (0.0, 0.0)
    decompress: tuple[float, float] = (math.inf, math.inf)

    def ratio(self, what: str) -> float:
        """size: ours over theirs; speeds: ours over theirs as well."""
        ours, theirs = getattr(self, what)
        return float(ours / theirs if what == "size" else theirs / ours)

    def name(self) -> str:
        return f"{self.data}, {human(self.nbytes)}, {self.codec}-{self.clevel} {self.filter}, {self.nthreads} thr."


def human(nbytes: int) -> str:
    """4 kB, 1 MB (in powers of two)."""
    return f"{nbytes >> 20} MB" if nbytes >= 1 << 20 else f"{nbytes >> 10} kB"


# ---- Measuring ---------------------------------------------------------------


def interleaved(calls: list[Callable[[], object]], nsamples: int, seconds: float) -> list[float]:
    """Seconds of each call, the best of `nsamples` samples taken in turn.

    A sample of short calls begins with one that brings their data back into the caches.
    """
    best = [math.inf] * len(calls)
    repeats = [0] * len(calls)
    for i, call in enumerate(calls):
        call()
        start = time.perf_counter()
        call()
        repeats[i] = max(1, round(SAMPLE_SECONDS / max(time.perf_counter() - start, 1e-7)))
    begin = time.perf_counter()
    for sample in range(nsamples):
        if sample > 0 and time.perf_counter() - begin > seconds:
            break
        for i, call in enumerate(calls):
            if repeats[i] > 1:
                call()
            start = time.perf_counter()
            for _ in range(repeats[i]):
                call()
            best[i] = min(best[i], (time.perf_counter() - start) / repeats[i])
    return best


def parameters(lib: Any, cell: Cell, itemsize: int) -> dict[str, Any]:
    """The cell in the enumerations of a library."""
    none = lib.Filter.NOFILTER
    last = none if cell.filter == "none" else lib.Filter[cell.filter.upper()]
    return {
        "codec": lib.Codec[cell.codec.upper()],
        "clevel": cell.clevel,
        "filters": [none] * 5 + [last],
        "filters_meta": [0] * 6,
        "typesize": itemsize,
        "nthreads": cell.nthreads,
    }


def measure(cell: Cell, array: datasets.Array, nsamples: int, seconds: float) -> None:
    """Fill in a cell.  Each library also reads what the other one wrote."""
    raw, n = array.tobytes(), cell.nthreads
    ours, theirs = parameters(blosc2c, cell, array.itemsize), parameters(blosc2, cell, array.itemsize)
    a, b = blosc2c.compress2(raw, **ours), blosc2.compress2(raw, **theirs)
    if blosc2.decompress2(a) != raw or blosc2c.decompress2(b) != raw:
        raise SystemExit(f"{cell.name()}: the libraries do not read each other's chunk")
    cell.size = (len(a), len(b))
    calls: list[Callable[[], object]] = [
        lambda: blosc2c.compress2(raw, **ours),
        lambda: blosc2.compress2(raw, **theirs),
    ]
    cell.compress = tuple(interleaved(calls, nsamples, seconds))  # type: ignore[assignment]
    places = []  # they stay, so that the next ones are others
    for _ in range(NPLACES):
        out, x, y = bytearray(raw), bytes(memoryview(a)), bytes(memoryview(b))
        places.append((out, x, y))
        calls = [
            functools.partial(blosc2c.decompress2, x, dst=out, nthreads=n),
            functools.partial(blosc2.decompress2, y, dst=out, nthreads=n),
        ]
        times = interleaved(calls, nsamples, seconds / NPLACES)
        cell.decompress = (min(cell.decompress[0], times[0]), min(cell.decompress[1], times[1]))


def run(args: argparse.Namespace) -> list[Cell]:
    cells = []
    threads = [n for n in args.threads if n <= blosc2c.detect_number_of_cores()]
    for data, nbytes in itertools.product(args.data, args.size):
        array = datasets.make(data, nbytes)
        for codec, clevel, filter, n in itertools.product(args.codec, args.clevel, args.filter, threads):
            cell = Cell(Path(data).name, array.nbytes, codec, clevel, filter, n)
            measure(cell, array, args.samples, args.seconds)
            cells.append(cell)
            if args.verbose:
                values = " ".join(f"{cell.ratio(w):6.2f}" for w in ("size", "compress", "decompress"))
                speeds = " ".join(f"{cell.nbytes / t / 1e6:7.0f}" for t in (*cell.compress, *cell.decompress))
                print(f"{values}  {speeds}  {cell.name()}", flush=True)
    return cells


# ---- Tables ------------------------------------------------------------------


def geomean(values: Iterable[float]) -> float:
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, its columns aligned for those who read the text."""
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) + " |" for r in [head, *rows]
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def ratios(cells: list[Cell]) -> list[str]:
    """Geometric means of size, compression and decompression, and the slowest cell of each."""
    out = []
    for what in ("size", "compress", "decompress"):
        values = [c.ratio(what) for c in cells]
        worst = max(values) if what == "size" else min(values)
        out += [f"{geomean(values):.2f}", f"{worst:.2f}"]
    return out


HEAD = ["size", "largest", "compress", "slowest", "decompress", "slowest"]


def group_table(cells: list[Cell], fields: tuple[str, ...]) -> str:
    """A row for every combination of the fields' values."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for c in cells:
        groups.setdefault(tuple(getattr(c, f) for f in fields), []).append(c)
    rows = []
    for key, group in groups.items():
        names = [human(k) if f == "nbytes" else str(k) for f, k in zip(fields, key, strict=True)]
        rows.append([*names, *ratios(group), str(len(group))])
    return table([*fields, *HEAD, "cells"], rows)


def target_table(cells: list[Cell]) -> str:
    """The aims of the project beside what was measured."""

    def mean(what: str, **wanted: Any) -> float:
        chosen = [c for c in cells if all(getattr(c, k) in v for k, v in wanted.items())]
        return geomean(c.ratio(what) for c in chosen)

    speeds = [c.ratio(w) for c in cells for w in ("compress", "decompress")]
    slow = sum(s < 1 for s in speeds)
    large = [c.ratio("size") for c in cells]
    varied = {c.data for c in cells} - {"constant f8"}
    big = {"codec": ["lz4"], "filter": ["shuffle"], "nthreads": [1], "nbytes": [64 << 20]}
    rows = [
        ["size, geometric mean", "≤ 0.97", f"{mean('size'):.3f}"],
        ["the same without constant data", "", f"{mean('size', data=varied):.3f}"],
        [
            "size, any cell",
            "≤ 1.01",
            f"{max(large):.2f} ({sum(v > 1.01 for v in large)} of {len(cells)} above)",
        ],
        ["compress, geometric mean", "≥ 1.8", f"{mean('compress'):.2f}"],
        ["decompress, geometric mean", "≥ 1.5", f"{mean('decompress'):.2f}"],
        [
            "both with one thread",
            "",
            f"{mean('compress', nthreads=[1]):.2f}, {mean('decompress', nthreads=[1]):.2f}",
        ],
        ["any cell, either way", "≥ 1.0", f"{min(speeds):.2f} ({slow} of {len(speeds)} below)"],
        ["bitshuffle, decompress", "≥ 2", f"{mean('decompress', filter=['bitshuffle']):.2f}"],
        ["zlib, compress", "≥ 2", f"{mean('compress', codec=['zlib']):.2f}"],
        ["lz4hc, compress", "≥ 2.5", f"{mean('compress', codec=['lz4hc']):.2f}"],
        ["zstd, compress", "≥ 1.5", f"{mean('compress', codec=['zstd']):.2f}"],
        ["BloscLZ, compress", "≥ 2", f"{mean('compress', codec=['blosclz']):.2f}"],
        ["BloscLZ, decompress", "≥ 1.5", f"{mean('decompress', codec=['blosclz']):.2f}"],
        ["BloscLZ, size", "≤ 1", f"{mean('size', codec=['blosclz']):.3f}"],
        ["64 MB lz4 + shuffle, decompress, 1 thread", "≥ 2", f"{mean('decompress', **big):.2f}"],
    ]
    return table(["what", "target", "measured"], [r for r in rows if r[2] != "nan"])


def worst_table(cells: list[Cell], what: str, count: int) -> str:
    ordered = sorted(cells, key=lambda c: c.ratio(what), reverse=what == "size")
    rows = [[c.name(), f"{c.ratio(what):.2f}"] for c in ordered[:count]]
    return table([f"worst cells: {what}", "ratio"], rows)


def render(cells: list[Cell], machine: str, command: str) -> str:
    """The report as Markdown."""
    parts = [
        "Ratios to the `blosc2` wheel in the same process: sizes are ours / theirs (smaller is better), speeds"
        f" theirs / ours in time (larger is better). {machine}. Made by `{command}`.",
        "## Targets",
        target_table(cells),
        "## By codec and filter",
        group_table(cells, ("codec", "filter")),
        "## By codec and level",
        group_table(cells, ("codec", "clevel")),
        "## By size and threads",
        group_table(cells, ("nbytes", "nthreads")),
        "## By data",
        group_table(cells, ("data",)),
        "## The worst cells",
        *(worst_table(cells, what, 12) for what in ("size", "compress", "decompress")),
        (Path(__file__).parent / "speed-notes.md").read_text().strip(),
    ]
    return "\n\n".join(parts) + "\n"


def plot(cells: list[Cell], what: str) -> str:
    """Bars for every codec and filter: the geometric mean of a ratio."""
    groups = []
    for codec in CODECS:
        bars = []
        for filter in FILTERS:
            chosen = [c.ratio(what) for c in cells if (c.codec, c.filter) == (codec, filter)]
            if chosen:
                bars.append((filter, geomean(chosen)))
        if bars:
            groups.append((codec, bars))
    titles = {
        "size": "compressed size, ours / reference",
        "compress": "compression speed, ours / reference",
        "decompress": "decompression speed, ours / reference",
    }
    return svg.bars(titles[what], groups, line_at=1.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="64 MB too, 2 threads, five samples always")
    parser.add_argument("--data", nargs="+", default=list(datasets.MAKERS), help="names, or .npy files")
    parser.add_argument("--codec", nargs="+", default=CODECS)
    parser.add_argument("--clevel", nargs="+", type=int, default=[1, 5, 9])
    parser.add_argument("--filter", nargs="+", default=FILTERS)
    parser.add_argument("--size", nargs="+", type=int, help="bytes")
    parser.add_argument("--threads", nargs="+", type=int)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--docs", type=Path, help="folder for speed.md and the plots")
    parser.add_argument("--save", type=Path, help="keep the figures in a JSON file")
    parser.add_argument("--load", type=Path, help="take them from there instead of measuring")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every cell")
    args = parser.parse_args()
    args.size = args.size or [4 << 10, 64 << 10, 1 << 20, *([64 << 20] if args.full else [4 << 20])]
    args.threads = args.threads or ([1, 2] if args.full else [1])
    args.seconds = math.inf if args.full else QUICK_SECONDS
    if args.load:
        kept = json.loads(args.load.read_text())
        cells, machine, command = [Cell(**c) for c in kept["cells"]], kept["machine"], kept["command"]
    else:
        cells = run(args)
        machine = (
            f"blosc2c {blosc2c.__version__}, blosc2 {blosc2.__version__}, {platform.machine()},"
            f" {blosc2c.detect_number_of_cores()} cores, kernels: {blosc2c.get_cpu_info()['simd']}"
        )
        command = " ".join(["python", "bench/report.py", *sys.argv[1:]])
    if args.save:
        kept = {"machine": machine, "command": command, "cells": [asdict(c) for c in cells]}
        args.save.write_text(json.dumps(kept))
    report = render(cells, machine, command)
    if args.docs:
        report += "\n## Calls from Python\n\nMade by `bench_calls.py`.\n\n" + bench_calls.run() + "\n"
        for what in ("size", "compress", "decompress"):
            (args.docs / f"speed-{what}.svg").write_text(plot(cells, what))
            report += f"\n![{what}](speed-{what}.svg)\n"
        (args.docs / "speed.md").write_text("# Speed\n\n" + report)
    print(report)


if __name__ == "__main__":
    main()
