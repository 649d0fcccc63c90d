"""Peak memory of compressing, decompressing and slicing, beyond what goes in and comes out.

Every line is a process of its own: its highest resident size during the call, less that before it and less
the result.  What remains is scratch memory: a few blocks for every thread.

Prints, and asserts nothing.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

NBYTES = 64 << 20
JOBS = ["compress2", "decompress2", "decompress2 dst", "slice"]


def resident(field: str) -> int:
    """Resident size in bytes from /proc (Linux): VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise SystemExit("bench_memory.py needs /proc")


def begin() -> int:
    """Forget the peak so far; the resident size from which to count."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


def measure(job: str, codec: str, nthreads: int) -> tuple[int, int]:
    """Bytes of the result in new memory, and of what was needed beyond it."""
    import blosc2c

    data = np.cumsum(np.random.default_rng(1).standard_normal(NBYTES // 8))
    kw: dict[str, Any] = {"codec": codec, "typesize": 8, "nthreads": nthreads}
    if job == "slice":
        array = blosc2c.asarray(data, cparams=kw, dparams={"nthreads": nthreads})
        del data
        before = begin()
        result = array[1000:-1000]
        return result.nbytes, resident("VmHWM") - before - result.nbytes
    if job == "compress2":
        raw = data.view("u1")
        before = begin()
        nbytes = len(blosc2c.compress2(raw, **kw))
        return nbytes, resident("VmHWM") - before - nbytes
    chunk = blosc2c.compress2(data, **kw)
    out = bytearray(b"\1" * NBYTES) if job.endswith("dst") else None
    before = begin()
    done = blosc2c.decompress2(chunk, dst=out, nthreads=nthreads)
    nbytes = 0 if done is None else len(done)
    return nbytes, resident("VmHWM") - before - nbytes


def main() -> None:
    if len(sys.argv) == 4:
        print(*measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))
        return
    print(f"{NBYTES >> 20} MB of float64, bytes beyond input and result")
    for job in JOBS:
        for codec in ("lz4", "zstd"):
            for nthreads in ("1", "2"):
                command = [sys.executable, __file__, job, codec, nthreads]
                output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                nbytes, extra = map(int, output.split())
                print(
                    f"{job:16} {codec:5} {nthreads} thr.  result {nbytes / 1e6:6.1f} MB, more {extra / 1e6:6.1f} MB"
                )


if __name__ == "__main__":
    main()
