"""Appends and opening as the number of chunks grows: our frames on disk beside the wheel's.

Prints, and asserts nothing.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from typing import Any

import blosc2
import numpy as np

import blosc2c

ITEMS = 16  # a small chunk: 64 bytes, so that the index is what grows


def appends(lib: Any, path: str, nchunks: int, contiguous: bool) -> float:
    """Microseconds for one append while `nchunks` are appended one by one."""
    s = lib.SChunk(
        chunksize=4 * ITEMS,
        contiguous=contiguous,
        urlpath=path,
        mode="w",
        cparams={"typesize": 4, "nthreads": 1},
    )
    data = [np.arange(i, i + ITEMS, dtype="i4") for i in range(100)]
    start = time.perf_counter()
    for i in range(nchunks):
        s.append_data(data[i % 100])
    if lib is blosc2c:
        s.close()
    return (time.perf_counter() - start) / nchunks * 1e6


def open_time(lib: Any, path: str) -> float:
    """Milliseconds to open a frame and read its last chunk, best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        s = lib.open(path, mode="r")
        s.decompress_chunk(s.nchunks - 1)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def wide_frame(path: str, nchunks: int) -> None:
    """A frame of many chunks: special ones but for the last."""
    with blosc2c.SChunk(chunksize=4 * ITEMS, urlpath=path, mode="w", cparams={"typesize": 4}) as s:
        s.fill_special((nchunks - 1) * ITEMS, blosc2c.SpecialValue.ZERO)
        s.append_data(np.arange(ITEMS, dtype="i4"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 10^3 appends, 10^5 chunks")
    quick = parser.parse_args().quick
    folder = tempfile.mkdtemp(prefix="blosc2c-bench-")
    try:
        print("appends of 64 bytes, µs each (close included)")
        print(f"{'storage':>10} {'chunks':>8} {'ours':>9} {'wheel':>9} {'wheel/ours':>11}")
        for contiguous in (True, False):
            for nchunks in (10**3,) if quick else (10**3, 10**4, 10**5):
                if not contiguous and nchunks > 10**4:
                    continue  # a file for each chunk
                path = os.path.join(folder, f"a{contiguous}{nchunks}.b2frame")
                ours = appends(blosc2c, path, nchunks, contiguous)
                blosc2.remove_urlpath(path)
                # The wheel rewrites its index with every append: 10^5 would take many minutes.
                theirs = appends(blosc2, path, nchunks, contiguous) if nchunks <= 10**4 else float("nan")
                blosc2.remove_urlpath(path)
                name = "file" if contiguous else "directory"
                print(f"{name:>10} {nchunks:8} {ours:9.1f} {theirs:9.1f} {theirs / ours:11.1f}")
        print("\nopen and read the last chunk, ms")
        print(f"{'chunks':>10} {'ours':>9} {'wheel':>9} {'wheel/ours':>11}")
        for nchunks in (10**3, 10**5) if quick else (10**3, 10**4, 10**5, 10**6):
            path = os.path.join(folder, f"o{nchunks}.b2frame")
            wide_frame(path, nchunks)
            ours, theirs = open_time(blosc2c, path), open_time(blosc2, path)
            print(f"{nchunks:10} {ours:9.3f} {theirs:9.3f} {theirs / ours:11.1f}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
