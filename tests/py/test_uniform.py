# SPDX-License-Identifier: BSD-3-Clause
"""Hundreds of millions of equal special chunks, of which the index is 40 bytes: nothing is done for each of them."""

from __future__ import annotations

import pickle
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import blosc2c as b2

MOST = (1 << 28) - 5
SIZE = 8


def uniform(kind: b2.SpecialValue = b2.SpecialValue.ZERO, nbytes: int = MOST * SIZE, **kwargs) -> b2.SChunk:
    s = b2.SChunk(chunksize=SIZE, cparams={"typesize": 8}, **kwargs)
    s.fill_special(nbytes // 8, kind)
    return s


@pytest.fixture(autouse=True)
def little_memory():
    """An index of as many entries would take 2 GiB."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def test_everything_that_takes_all_chunks(tmp_path):
    path, target, repaired = tmp_path / "x", tmp_path / "y", tmp_path / "z"
    uniform(urlpath=path, checksums=False).close()
    assert path.stat().st_size < 400
    s = b2.open(path)
    assert s.nchunks == MOST
    frame = s.to_cframe()
    assert len(frame) < 400
    assert b2.open(path, on_damage="fill").to_cframe() == frame
    assert s.copy().nchunks == MOST
    assert pickle.loads(pickle.dumps(s)).nchunks == MOST
    report = b2.verify(path)
    assert report.ok and report.nchunks == report.nunverified == MOST
    b2.convert(path, target)
    assert b2.repair(path, repaired).nkept == MOST
    for other in (target, repaired):
        with b2.open(other) as t:
            assert t.nchunks == MOST and t.nbytes == s.nbytes
            assert t[-2:] == bytes(16)


@pytest.mark.parametrize("contiguous", [False, True])
def test_metadata_of_a_file(contiguous, tmp_path):
    path = tmp_path / "x"
    uniform(urlpath=path, contiguous=contiguous).close()
    with b2.open(path, "a") as s:
        s.vlmeta["a"] = "b"
    assert b2.verify(path).ok
    with b2.open(path) as s:
        assert s.nchunks == MOST and s.vlmeta["a"] == "b"


def test_an_edit_lists_no_more_than_the_limit(tmp_path):
    path = tmp_path / "x"
    uniform(urlpath=path).close()
    before = path.read_bytes()
    for open_it in (lambda: b2.open(path, "a"), lambda: b2.from_cframe(before, copy=True)):
        with open_it() as s:
            for edit in (lambda: s.delete_chunk(5), lambda: s.update_data(1, bytes(8))):
                with pytest.raises(b2.LimitError, match="max_chunks") as info:
                    edit()
                assert info.value.actual >= MOST > info.value.expected
            with pytest.raises(b2.LimitError, match="a frame cannot have more chunks") as info:
                s.append_data(bytes(8))
            assert (info.value.expected, info.value.actual) == (MOST, MOST + 1)
            with pytest.raises(ValueError):
                s.reorder_offsets(np.arange(3))
            assert s.nchunks == MOST and s.nbytes == MOST * SIZE
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", [b2.SpecialValue.ZERO, b2.SpecialValue.NAN, b2.SpecialValue.UNINIT])
@pytest.mark.parametrize("storage", ["memory", "file", "directory"])
@pytest.mark.parametrize("nbytes", [8, 80, 3 * 24, 84 * 8])
def test_edits_of_a_filled_one_are_those_of_any_other(kind, storage, nbytes, tmp_path):
    kwargs = {} if storage == "memory" else {"urlpath": tmp_path / "x", "contiguous": storage == "file"}
    s = b2.SChunk(chunksize=24, cparams={"typesize": 8}, **kwargs)
    s.fill_special(nbytes // 8, kind)
    item = np.array([np.nan if kind == b2.SpecialValue.NAN else 0]).tobytes()
    data = bytearray(item * (nbytes // 8))
    assert s[:] == data
    try:
        with s.transaction():
            s.update_data(0, bytes(range(24)[: min(24, nbytes)]))
            raise KeyError
    except KeyError:
        assert s[:] == data
    last = s.nchunks - 1
    size = nbytes - last * 24
    s.update_data(last, b"\7" * size)
    data[last * 24 :] = b"\7" * size
    assert s[:] == data
    if size == 24:
        s.insert_data(0, b"\5" * 24)
        data[:0] = b"\5" * 24
    s.fill_special(6, kind)
    data += item * 6
    assert s[:] == data == s.copy()[:]
    s.delete_chunk(0)
    del data[: min(24, nbytes) if size == 24 or nbytes > 24 else nbytes]
    if storage != "memory":
        s.close()
        assert b2.verify(tmp_path / "x").ok
        s = b2.open(tmp_path / "x")
    assert len(s) * 8 == s.nbytes
    assert s[:] == data


def test_creation_and_reading_need_no_index():
    script = """
        import blosc2c as b2
        a = b2.zeros((1 << 33,), dtype="i8", chunks=(64,), blocks=(64,))
        assert a.schunk.nchunks == 1 << 27
        assert a[12345] == 0
        with open("/proc/self/status") as status:  # the figures of getrusage() begin with the parent's
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        assert peak < 500_000, peak
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


@pytest.mark.parametrize("limits", [None, b2.Limits(max_chunks=1 << 40)])
def test_more_than_any_frame_can_have(limits):
    """No limit allows them, whatever they hold."""
    for nchunks in (MOST + 1, 1 << 40):
        with pytest.raises(b2.LimitError) as info:
            uniform(nbytes=nchunks * SIZE, limits=limits)
        assert str(info.value) == f"a frame cannot have more chunks: at most {MOST}, not {nchunks}"
