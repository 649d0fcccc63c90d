#!/usr/bin/env python3
"""How reads of one array scale with the threads that read it: 1 and 2 (or as given) Python threads.

Usage: bench_threads.py [THREADS]

A fixed number of reads is shared out to the threads; each call itself decodes with one thread
(``dparams={"nthreads": 1}``).  Best of several rounds, in turn, of wall time.  A ratio of the number of
threads is perfect; 1 would mean that the GIL, or a lock, is held.

On a machine that is busy with other things, wall times tell little.  The last column does not depend on
them: for how much of the time the threads were running or ready to run (Linux tells).  Who waits for the
GIL or a lock is not; 100 % means that only the machine limits how they scale.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import blosc2c

SHAPE = (4096, 4096)  # 64 MB of float32
ROUNDS = 5
WAYS: dict[str, tuple[int, Callable[[Any, Any], object]]] = {
    "whole array": (4, lambda a, rng: a[...]),
    "row of chunks": (40, lambda a, rng: a[(n := int(rng.integers(0, 3500))) : n + 400]),
    "box of 64 x 64": (2000, lambda a, rng: a[(n := int(rng.integers(0, 4000))) : n + 64, n : n + 64]),
    "single item": (4000, lambda a, rng: a[int(rng.integers(0, 4096)), int(rng.integers(0, 4096))]),
    "1000 points": (40, lambda a, rng: a[rng.integers(0, 4096, 1000), rng.integers(0, 4096, 1000)]),
}


def time_wanted() -> float:
    """Seconds that this thread has run, or waited for a core."""
    try:
        with open("/proc/thread-self/schedstat") as stat:
            ran, waited, _ = stat.read().split()
        return (int(ran) + int(waited)) / 1e9
    except OSError:
        return float("nan")


def measure(
    array: Any, nreads: int, read: Callable[[Any, Any], object], nthreads: int
) -> tuple[float, float]:
    """Seconds from when all threads are ready to when the last one is done, and the share that they wanted."""
    begin = threading.Barrier(nthreads + 1)
    shares = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        read(array, rng)  # the thread's context is made
        begin.wait()
        start, wanted = time.perf_counter(), time_wanted()
        for _ in range(nreads // nthreads):
            read(array, rng)
        shares.append((time_wanted() - wanted) / (time.perf_counter() - start))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(nthreads)]
    for worker in workers:
        worker.start()
    begin.wait()
    start = time.perf_counter()
    for worker in workers:
        worker.join()
    return time.perf_counter() - start, sum(shares) / nthreads


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    rng = np.random.default_rng(1)
    data = np.cumsum(rng.normal(size=SHAPE), axis=1).astype("f4").round(2)
    with tempfile.TemporaryDirectory() as folder:
        serial: dict[str, Any] = {"dparams": {"nthreads": 1}}
        places = {"memory": None, "file": os.path.join(folder, "a.b2nd")}
        arrays = {name: blosc2c.asarray(data, urlpath=path, **serial) for name, path in places.items()}
        print(f"load {os.getloadavg()[0]:.1f}; {os.cpu_count()} cores; chunks {arrays['memory'].chunks}")
        print(f"| {'':>6} | {'reads':14} | 1 thread, us a read | {most} threads | ratio | ready |")
        for place, array in arrays.items():
            for name, (nreads, read) in WAYS.items():
                best = {1: float("inf"), most: float("inf")}
                ready = 0.0
                for _ in range(ROUNDS):
                    for n in best:
                        seconds, share = measure(array, nreads, read, n)
                        best[n] = min(best[n], seconds)
                        ready += share / ROUNDS if n == most else 0
                one, many = (best[n] / nreads * 1e6 for n in (1, most))
                row = f"| {place:>6} | {name:14} | {one:19.1f} | {many:9.1f} | {one / many:5.2f} |"
                print(f"{row} {ready:4.0%} |", flush=True)
        for array in arrays.values():
            array.close()


if __name__ == "__main__":
    main()
