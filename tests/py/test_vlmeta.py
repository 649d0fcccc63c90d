# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of variable-length metalayers, and edits of many at once."""

from __future__ import annotations

import threading
import time

import blosc2
import numpy as np
import pytest

import blosc2c as b2
from blosc2c.meta import Stored

N = 8192  # as many as a frame may have


@pytest.mark.parametrize("kind", ["memory", "file", "directory"])
def test_as_many_as_there_can_be(kind, tmp_path):
    """Linear in their number: what is quadratic takes minutes."""
    path = None if kind == "memory" else tmp_path / "x.b2frame"
    want = {f"name {i}": {"value": i} for i in range(N)}
    begin = time.monotonic()
    with b2.SChunk(urlpath=path, contiguous=kind != "directory") as s:
        s.vlmeta.update(want)
        assert all(name in s.vlmeta for name in want)
        assert "name" not in s.vlmeta and 5 not in s.vlmeta and "name 1\0" not in s.vlmeta
        assert "n" * 40 not in s.vlmeta
        assert s.vlmeta[:] == want and list(s.vlmeta) == list(want)
        with pytest.raises(b2.LimitError):
            s.vlmeta["one more"] = 1
        s.vlmeta["name 77"] = "another"
        frame = s.to_cframe()
    if path is not None:
        with b2.open(path) as s:
            assert len(s.vlmeta) == N and s.vlmeta["name 77"] == "another"
            assert s.vlmeta["name 8191"] == {"value": 8191}
    with b2.schunk_from_cframe(frame, copy=True) as s:
        assert len(s.vlmeta) == N
        s.vlmeta.clear()
        assert len(s.vlmeta) == 0 and "name 5" not in s.vlmeta
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("place", ["memory", "file", "directory"])
@pytest.mark.parametrize(
    ("writer", "reader"), [(b2, blosc2), (blosc2, b2), (b2, b2)], ids=["out", "in", "ours"]
)
def test_an_empty_name_is_a_name(writer, reader, place, tmp_path):
    path = None if place == "memory" else str(tmp_path / "x.b2frame")
    s = writer.SChunk(urlpath=path, contiguous=place != "directory", meta={"": [1], "m": 2}, data=b"abc")
    s.vlmeta[""], s.vlmeta["v"] = "empty", 3
    s.meta[""] = [2]
    frame = s.to_cframe()
    del s
    s = reader.schunk_from_cframe(frame) if path is None else reader.open(path)
    assert (s.meta[""], s.meta["m"], s.vlmeta[:], s[:]) == ([2], 2, {"": "empty", "v": 3}, b"abc")
    assert list(s.meta) == ["", "m"] and "" in s.vlmeta


def test_an_empty_name_goes_and_stays(tmp_path):
    path = tmp_path / "x.b2frame"
    with b2.SChunk(urlpath=path, meta={"": 1}) as s:
        s.vlmeta[""] = 1
        del s.vlmeta[""]
        assert "" not in s.vlmeta and s.meta[""] == 1
        s.vlmeta[""] = 2
    assert b2.verify(path).ok
    with b2.open(path) as s, s.copy() as again:
        assert (again.meta.getall(), again.vlmeta[:]) == ({"": 1}, {"": 2})
        assert len(s.vlmeta) == 1 and "''" in repr(s.vlmeta)


def test_an_update_is_one_commit(tmp_path):
    path = tmp_path / "x.b2frame"
    with b2.SChunk(urlpath=path) as s:
        s.vlmeta["kept"] = 1
        with pytest.raises(TypeError):
            s.vlmeta.update({"kept": 2, "new": 3, "no": object()})
        assert dict(s.vlmeta) == {"kept": 1}
        with b2.open(path) as reader:
            assert dict(reader.vlmeta) == {"kept": 1}
        s.vlmeta.update([("a", 1), ("b", 2)], c=3)
        assert dict(s.vlmeta) == {"kept": 1, "a": 1, "b": 2, "c": 3}
        del s.vlmeta["a"]
        assert s.vlmeta.pop("b") == 2 and s.vlmeta.setdefault("d", 4) == 4
    with b2.open(path) as s:
        assert dict(s.vlmeta) == {"kept": 1, "c": 3, "d": 4}
        with pytest.raises(b2.ReadOnlyError):
            s.vlmeta.update(e=5)
        with pytest.raises(b2.ReadOnlyError):
            s.vlmeta.clear()
        assert len(s.vlmeta) == 3


def test_an_update_by_nothing_is_one_all_the_same(tmp_path):
    """Who may not update is told, whatever is given."""
    path = tmp_path / "x.b2frame"
    s = b2.SChunk(urlpath=path)
    s.vlmeta.update()
    s.close()
    reader, of_nobody = b2.open(path, mode="r"), b2.SChunk().vlmeta
    for vlmeta, error in (
        (reader.vlmeta, b2.ReadOnlyError),
        (s.vlmeta, b2.ClosedError),
        (of_nobody, ReferenceError),
    ):
        with pytest.raises(error):
            vlmeta.update({})
        with pytest.raises(error):
            vlmeta[:] = {}


def test_an_update_that_fails_in_a_transaction():
    """Nothing of it is stored, also when somebody catches what it raises."""
    s = b2.SChunk()
    s.vlmeta.update({str(i): i for i in range(8190)})
    with s.transaction():
        with pytest.raises(TypeError):
            s.vlmeta.update({"1": 0, "a": 1, "b": object()})
        with pytest.raises(b2.LimitError):
            s.vlmeta.update({"1": 0, "a": 1, "b": 2, "c": 3})
        s.vlmeta["2"] = "stored"
    assert len(s.vlmeta) == 8190 and list(s.vlmeta)[-1] == "8189"
    assert s.vlmeta["1"] == 1 and s.vlmeta["2"] == "stored"


def test_names_and_parameters_follow_every_change(tmp_path):
    """What is kept of them until something changes is no one else's, and is given up in time."""
    path = str(tmp_path / "s.b2frame")
    with b2.SChunk(chunksize=8, urlpath=path, cparams={"clevel": 3}) as s:
        assert list(s.vlmeta) == []
        s.vlmeta["a"] = 1
        assert list(s.vlmeta) == ["a"] == list(s.vlmeta)
        with s.transaction():
            s.vlmeta["b"] = 2
            assert list(s.vlmeta) == ["a", "b"]
            with b2.open(path, mode="r") as other:
                assert list(other.vlmeta) == ["a"]
        del s.vlmeta["a"]
        assert list(s.vlmeta) == ["b"]
        with pytest.raises(ZeroDivisionError), s.transaction():
            s.vlmeta["c"] = 3
            assert list(s.vlmeta) == ["b", "c"]
            raise ZeroDivisionError
        assert list(s.vlmeta) == ["b"]

        cparams = s.cparams
        cparams.clevel = 9
        cparams.filters.append(b2.Filter.DELTA)
        assert s.cparams.clevel == 3
        assert b2.Filter.DELTA not in s.cparams.filters
        s.cparams = {"clevel": 7, "nthreads": 1}
        assert (s.cparams.clevel, s.cparams.nthreads) == (7, 1)
        s.cparams = {"nthreads": 2}
        assert (s.cparams.clevel, s.cparams.nthreads) == (7, 2)


COPIES = {
    "copy": lambda a, **kwargs: a.copy(**kwargs),
    "other parameters": lambda a, **kwargs: a.copy(cparams={"clevel": 1}, **kwargs),
    "astype": lambda a, **kwargs: a.astype("f4", **kwargs),
    "concat": lambda a, **kwargs: b2.concat([a, a], **kwargs),
    "save": lambda a, urlpath: b2.save(a, urlpath) or b2.open(urlpath),
    "super-chunk": lambda a, **kwargs: a.schunk.copy(**kwargs),
    "super-chunk, other parameters": lambda a, **kwargs: a.schunk.copy(cparams={"clevel": 1}, **kwargs),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_keep_the_bytes_of_other_writers(name, tmp_path):
    """Which may be no msgpack, or in another form than ours."""
    fixed, variable = bytes([0xC1, 0xFF, 0x00]), bytes([0xCA, 0x3F, 0x80, 0, 0])
    a = b2.asarray(np.arange(100), meta={"fixed": Stored(fixed)})
    a.vlmeta.update({"odd": Stored(fixed), "float32": Stored(variable), "plain": [1, 2]})
    with COPIES[name](a, urlpath=str(tmp_path / "copy.b2nd")) as made:
        assert made.meta.raw("fixed") == fixed
        assert made.vlmeta.raw("odd") == fixed and made.vlmeta.raw("float32") == variable
        assert made.vlmeta["float32"] == 1.0 and made.vlmeta["plain"] == [1, 2]
        with pytest.raises(b2.CorruptError, match="'odd' cannot be read: it is no msgpack"):
            made.vlmeta["odd"]


def test_a_value_that_cannot_be_read_tells_its_file(tmp_path):
    s = b2.SChunk(urlpath=tmp_path / "f")
    s.vlmeta["odd"] = Stored(b"\xc1")
    with pytest.raises(b2.CorruptError) as info:
        s.vlmeta["odd"]
    assert info.value.path == s.urlpath and str(info.value).endswith(f"({s.urlpath})")
    in_memory = b2.SChunk()
    in_memory.vlmeta["odd"] = Stored(b"\xc1")
    with pytest.raises(b2.CorruptError, match=r"no msgpack$"):
        in_memory.vlmeta["odd"]


def test_all_are_of_one_state(tmp_path, monkeypatch):
    """Another thread that deletes and changes some meanwhile waits for the read."""
    s = b2.SChunk(urlpath=tmp_path / "f")
    s.vlmeta.update({"a": 1, "b": 1, "c": 1})
    raw, edits = type(s.vlmeta).raw, []

    def change() -> None:
        s.vlmeta.update({"a": 2, "b": 2})
        del s.vlmeta["c"]

    def raw_and_edit(self, name):
        found = raw(self, name)
        if not edits:
            edits.append(threading.Thread(target=change))
            edits[0].start()
            edits[0].join(0.1)
        return found

    monkeypatch.setattr(type(s.vlmeta), "raw", raw_and_edit)
    assert s.vlmeta[:] == {"a": 1, "b": 1, "c": 1}
    edits[0].join()
    assert s.vlmeta[:] == {"a": 2, "b": 2}
    s.close()
