#!/usr/bin/env python3
"""A small table of this library against the reference (`pip install blosc2`), in under a minute.

Usage: compare.py [MB]

Compresses and decompresses 64 MB (or as given) with both libraries in turn, so that both see the
same machine; the best of five counts.  It prints and judges nothing: speed depends on the machine.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import blosc2
import numpy as np

import blosc2c

REPEATS = 5
SETTINGS: dict[str, dict[str, Any]] = {
    "lz4-5 shuffle": {"codec": "LZ4", "clevel": 5, "filters": ["SHUFFLE"]},
    "lz4-9 bitshuffle": {"codec": "LZ4", "clevel": 9, "filters": ["BITSHUFFLE"]},
    "blosclz-5 shuffle": {"codec": "BLOSCLZ", "clevel": 5, "filters": ["SHUFFLE"]},
    "zstd-1 shuffle (compress)": {"codec": "ZSTD", "clevel": 1, "filters": ["SHUFFLE"]},
    "zstd-5 shuffle (default)": {},
}


def data(nbytes: int) -> bytes:
    """Slowly changing numbers with some noise: what measuring instruments give."""
    n = nbytes // 4
    rng = np.random.default_rng(1)
    wave = 20_000 * np.sin(np.arange(n) / 9000.0)
    return (wave + rng.integers(0, 16, n)).astype("<i4").tobytes()


def keywords(lib: Any, setting: dict[str, Any], nthreads: int) -> dict[str, Any]:
    """The setting in the enumerations of a library."""
    out: dict[str, Any] = {"typesize": 4, "nthreads": nthreads}
    if setting:
        out["codec"] = lib.Codec[setting["codec"]]
        out["clevel"] = setting["clevel"]
        out["filters"] = [lib.Filter[name] for name in setting["filters"]]
        out["filters_meta"] = [0] * len(setting["filters"])
    return out


def best_of(calls: list[Callable[[], object]]) -> list[float]:
    """The shortest time of each call in seconds, measured in turn."""
    times = [float("inf")] * len(calls)
    for _ in range(REPEATS):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[i] = min(times[i], time.perf_counter() - start)
    return times


def compare(name: str, setting: dict[str, Any], raw: bytes, nthreads: int) -> str:
    """One line of the table."""
    ours, theirs = keywords(blosc2c, setting, nthreads), keywords(blosc2, setting, nthreads)
    our_chunk = blosc2c.compress2(raw, **ours)
    their_chunk = blosc2.compress2(raw, **theirs)
    if blosc2.decompress2(our_chunk) != raw or blosc2c.decompress2(their_chunk) != raw:
        raise SystemExit(f"{name}: the libraries do not read each other's chunk")
    out = bytearray(len(raw))
    times = best_of(
        [
            lambda: blosc2c.compress2(raw, **ours),
            lambda: blosc2.compress2(raw, **theirs),
            lambda: blosc2c.decompress2(our_chunk, dst=out, nthreads=nthreads),
            lambda: blosc2.decompress2(their_chunk, dst=out, nthreads=nthreads),
        ]
    )
    speed = [len(raw) / t / 1e6 for t in times]
    ratios = [len(raw) / len(our_chunk), len(raw) / len(their_chunk)]
    return (
        f"{name:26} {nthreads:2}  {speed[0]:8.0f} {speed[1]:8.0f} {speed[0] / speed[1]:5.2f}x"
        f"  {speed[2]:8.0f} {speed[3]:8.0f} {speed[2] / speed[3]:5.2f}x"
        f"  {ratios[0]:6.2f} {ratios[1]:6.2f}"
    )


def main() -> None:
    raw = data(int(sys.argv[1] if len(sys.argv) > 1 else 64) * 1_000_000)
    cores = blosc2c.detect_number_of_cores()
    print(f"blosc2c {blosc2c.__version__}, blosc2 {blosc2.__version__}; MB/s, {len(raw) // 1_000_000} MB")
    print(f"{'':26} {'':2}  {'compress':^24}  {'decompress':^24}  {'ratio':^13}")
    pair = f"{'ours':>8} {'theirs':>8} {'':6}"
    print(f"{'':26} th  {pair}  {pair}  {'ours':>6} {'theirs':>6}")
    for name, setting in SETTINGS.items():
        for nthreads in sorted({1, cores}):
            print(compare(name, setting, raw, nthreads), flush=True)


if __name__ == "__main__":
    main()
