# SPDX-License-Identifier: BSD-3-Clause
"""Arrays larger than the memory that may be used for them: each script measures itself."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

NBYTES = 512 << 20
LIMIT = 200 << 20  # above what the interpreter has after its imports

SETUP = f"""
import resource, sys
import numpy as np
import blosc2c as b2

SHAPE = (1 << 13, 1 << 14)
NBYTES = {NBYTES}
FAST = {{"cparams": {{"codec": "blosclz", "clevel": 1}}}}

def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) << 10
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

class Rows:
    shape, dtype = SHAPE, np.dtype("<i4")
    def __getitem__(self, box):
        rows, columns = (np.arange(s.start, s.stop, dtype="<i4") for s in box)
        return rows[:, None] * 3 + columns

def check(a):
    assert a.shape == SHAPE and a.nbytes == NBYTES
    for i in (0, 1, 4097, SHAPE[0] - 1):
        np.testing.assert_array_equal(a[i], i * 3 + np.arange(SHAPE[1]))
    np.testing.assert_array_equal(a[::1000, 77], np.arange(0, SHAPE[0], 1000) * 3 + 77)

path = sys.argv[1]
b2.zeros(3)
"""

SCRIPTS = {
    "asarray": """
        a = b2.asarray(Rows(), **FAST)
        check(a)
        total = sum(int(a[i : i + 100].sum(dtype="i8")) for i in range(0, SHAPE[0], 100))
        assert total == SHAPE[1] * 3 * sum(range(SHAPE[0])) + SHAPE[0] * sum(range(SHAPE[1]))
    """,
    "file": """
        with b2.asarray(Rows(), urlpath=path, chunks=(100, 5000), blocks=(10, 500), **FAST) as a:
            a[:, 5] = -1
            a[np.arange(0, SHAPE[0], 2), 6] = -2
            a[4096] = 4096 * 3 + np.arange(SHAPE[1])
        with b2.open(path, mode="a") as a:
            a[:, 5] = np.arange(SHAPE[0]) * 3 + 5
            a[np.arange(0, SHAPE[0], 2), 6] = np.arange(0, SHAPE[0], 2) * 3 + 6
            a.resize((SHAPE[0] + 77, SHAPE[1]))
            a.resize(SHAPE)
            check(a)
    """,
    "copies": """
        a = b2.asarray(Rows(), **FAST)
        check(a.copy(chunks=(1000, 999), **FAST))
        check(a.slice(np.s_[::-1], **FAST).slice(np.s_[::-1]))
        check(a.astype("<i8", **FAST).astype("<i4"))
        check(b2.concat([a.slice(np.s_[:3000]), a.slice(np.s_[3000:])]))
        check(b2.squeeze(b2.expand_dims(a, 1)))
    """,
    "oindex": """
        a = b2.asarray(Rows(), **FAST)
        rng = np.random.default_rng(0)
        i, j = rng.permutation(SHAPE[0])[:3000], rng.permutation(SHAPE[1])[:3000]
        got = a.oindex[i, j]  # 36 MB
        np.testing.assert_array_equal(got[::7, ::11], i[::7, None] * 3 + j[::11])
        del a, got
        a = b2.zeros(SHAPE, "<i4")
        a.oindex[i, j] = 1  # the same as a constant, which compresses to little
        assert (a[int(i[77])][j] == 1).all() and int(a[int(i[77])].sum()) == len(j)
    """,
    "reshape": """
        a = b2.asarray(Rows(), **FAST)
        flat = a.reshape((-1,), **FAST)
        assert flat[SHAPE[1] + 7] == 3 + 7
        check(flat.reshape(SHAPE, chunks=(1000, 1000), **FAST))
    """,
    "rules": """
        n = NBYTES // 8
        a = b2.arange(n, **FAST)
        assert a[-1] == n - 1
        assert b2.linspace(0, 1, n, **FAST)[-1] == 1
        assert b2.full((n,), 3.5)[n // 2] == 3.5
        assert b2.eye(1 << 13, dtype="i8")[8000, 8000] == 1
        ones = b2.ones((1 << 20, 1 << 20))  # 8 TiB
        assert ones[12345, 67890] == 1 and ones[5, ::1000].sum() == 1049
    """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_memory(name, tmp_path):
    script = SETUP + "before = peak()\n" + textwrap.dedent(SCRIPTS[name]) + "print(peak() - before)\n"
    # What is freed goes back to the system at once: what glibc would keep varies by 100 MB.
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "1048576"}
    args = [sys.executable, "-c", script, str(tmp_path / "x")]
    run = subprocess.run(args, capture_output=True, text=True, timeout=600, env=env)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < LIMIT
