# SPDX-License-Identifier: BSD-3-Clause
"""Files that somebody cuts while they are open: an error, whichever way they are read."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import blosc2c as b2

SCRIPT = """
    import os, sys
    import numpy as np
    import blosc2c as b2

    path, size, before = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "before"
    items = np.load(path + ".npy")
    calls = {
        "item": lambda a: a[3],
        "neighbour": lambda a: a[4],
        "last item": lambda a: a[-1],
        "places": lambda a: a[[5, 70_000, 123_456]],
        "whole": lambda a: a[:],
        "chunk": lambda a: a.schunk.decompress_chunk(1),
        "stored": lambda a: a.schunk.get_chunk(2),
        "slice": lambda a: a.schunk[10:70_000],
        "frame": lambda a: a.to_cframe(),
        "vlmeta": lambda a: a.vlmeta["name"],
    }
    with open(path, "rb") as f:
        raw = f.read()
    for name, call in calls.items():
        with open(path, "wb") as f:
            f.write(raw)
        with b2.open(path, mmap_mode="r") as a:
            want = call(a)
            if not before:
                a.close()
                a = b2.open(path, mmap_mode="r")
            os.truncate(path, size)
            try:
                got = call(a)
            except (b2.Blosc2Error, OSError) as exc:
                print(name, type(exc).__name__)
            else:
                assert np.array_equal(got, want), name
            a.close()
    print("end")
"""


@pytest.mark.parametrize("kind", ["small chunks", "large chunks", "stored"])
@pytest.mark.parametrize("before", ["before", "never"])
@pytest.mark.parametrize("left", [0.0, 0.01, 0.5, 0.99])
def test_mapped_files(tmp_path, kind, before, left):
    """Bytes of chunks that earlier reads have kept open are gone as well."""
    path = str(tmp_path / "a.b2nd")
    items = np.random.default_rng(1).integers(0, 1 << 60, 200_000)
    chunks = 4000 if kind == "small chunks" else 50_000
    cparams = {"clevel": 0} if kind == "stored" else {"clevel": 1}
    with b2.asarray(items, chunks=(chunks,), blocks=(2000,), urlpath=path, cparams=cparams) as a:
        a.vlmeta["name"] = "value"
    np.save(path, items)
    size = int(os.path.getsize(path) * left)
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), path, str(size), before]
    out = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out.stderr
    assert out.stdout.endswith("end\n")
    wrong = "TruncatedError" if left else "FormatError"  # of nothing nobody knows that it was a frame
    if left < 0.9:
        assert f"whole {wrong}" in out.stdout


@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_a_file_that_is_cut_while_it_is_read_is_named(tmp_path, mmap_mode):
    path = tmp_path / "cut"
    b2.SChunk(data=os.urandom(100_000), chunksize=10_000, urlpath=path).close()
    with b2.open(path, mmap_mode=mmap_mode) as s:
        os.truncate(path, 50_000)
        with pytest.raises(b2.TruncatedError, match=str(path)):
            s[:]
