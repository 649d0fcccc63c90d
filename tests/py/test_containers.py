# SPDX-License-Identifier: BSD-3-Clause
"""Containers of several frames, as the reference writes them: .b2z, .b2d, .b2e; and caterva's arrays."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import zipfile

import blosc2
import numpy as np
import pytest

import blosc2c as b2
from blosc2c.params import Keeping
from blosc2c.recipe import Recipe

OBJECTS = {
    "/a": np.arange(10),
    "/g/big": np.arange(100_000, dtype="i4").reshape(100, 1000),
    "/g/h/s": np.linspace(0, 1, 3000),
}


@pytest.fixture(params=["b2z", "b2d", "tree.b2z", "b2e"])
def container(request, tmp_path):
    path = tmp_path / f"x.{request.param}"
    if request.param == "b2e":
        store = blosc2.EmbedStore(str(path), mode="w")
        for key, value in OBJECTS.items():
            store[key] = value
        return path
    kind = blosc2.TreeStore if "tree" in request.param else blosc2.DictStore
    with kind(str(path), mode="w", threshold=1000) as store:
        for key, value in OBJECTS.items():
            store[key] = blosc2.asarray(value)
    return path


def test_objects_are_opened_by_name(container):
    for key, value in OBJECTS.items():
        for name in (key, key[1:]):
            with b2.open(container, member=name) as a:
                assert isinstance(a, b2.NDArray)
                assert a.dtype == value.dtype
                np.testing.assert_array_equal(a[...], value)
                assert a.schunk.mode == "r"
                with pytest.raises(b2.ReadOnlyError):
                    a[0] = value[0]
                np.testing.assert_array_equal(pickle.loads(pickle.dumps(a))[...], value)
    for name in ("/nothing", "/g", "", "../x", "/g/../a"):
        with pytest.raises(b2.NotFoundError, match="no object"):
            b2.open(container, member=name)
    with pytest.raises(b2.ParameterError):
        b2.open(container, "a", member="/a")


def test_open_says_what_it_is(container):
    if container.suffix == ".b2e":
        with b2.open(container) as s:
            assert "b2embed" in s.meta
            said = "SChunk, embed store (.b2e) of 3 objects; open one with member=: /a, /g/big, /g/h/s"
            assert dict(s.info_items)["type"] == said
        return
    with pytest.raises(b2.FormatError, match=r"of 3 objects; open one with member=: /a, /g/big, /g/h/s"):
        b2.open(container)


def test_no_containers(tmp_path):
    b2.asarray(np.arange(5), urlpath=tmp_path / "a.b2nd")
    with pytest.raises(b2.FormatError, match="no container"):
        b2.open(tmp_path / "a.b2nd", member="/a")
    (tmp_path / "d").mkdir()
    with pytest.raises(b2.FormatError, match="no sparse frame"):
        b2.open(tmp_path / "d")


def test_pipes_are_no_containers(tmp_path):
    """Opening one would wait for somebody who writes to it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = "import sys, blosc2c; blosc2c.open(sys.argv[1], member='/a')"
    done = subprocess.run([sys.executable, "-c", code, pipe], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "OSError" in done.stderr


def test_what_is_no_frame_is_named(tmp_path):
    path = tmp_path / "x"
    for chunk in (b2.compress2(bytes(range(100))), b2.compress2(b"", typesize=4)):
        path.write_bytes(chunk)
        with pytest.raises(b2.FormatError, match="is a single chunk, no frame; decompress2"):
            b2.open(path)
        path.write_bytes(chunk + b"x")
        with pytest.raises(b2.FormatError, match="not a frame"):
            b2.open(path)
    path.write_bytes(b"blpk" + bytes(100))
    with pytest.raises(b2.FormatError, match="bloscpack"):
        b2.open(path)
    path.write_bytes(b"")
    with pytest.raises(b2.FormatError):
        b2.open(path)


def test_links_are_not_followed(tmp_path):
    """A container is one folder: what lies elsewhere is none of its objects."""
    path, outside = tmp_path / "x.b2d", tmp_path / "elsewhere"
    with blosc2.DictStore(str(path), mode="w", threshold=1000) as store:
        store["/a"] = np.arange(10)
    outside.mkdir()
    b2.asarray(np.arange(7), urlpath=outside / "secret.b2nd").close()
    (path / "file.b2nd").symlink_to(outside / "secret.b2nd")
    (path / "folder").symlink_to(outside)
    for member in ("/file", "/folder/secret", "folder/secret.b2nd"):
        with pytest.raises(b2.FormatError, match="symbolic link"):
            b2.open(path, member=member)
    with pytest.raises(b2.FormatError, match="of 1 object;"):
        b2.open(path)
    (tmp_path / "link").symlink_to(path)  # the caller's own is followed
    assert b2.open(tmp_path / "link", member="/a").shape == (10,)
    embed = path / "embed.b2e"
    embed.rename(outside / "embed.b2e")
    embed.symlink_to(outside / "embed.b2e")
    with pytest.raises(b2.FormatError, match="symbolic link"):
        b2.open(path, member="/a")


def test_zips_that_are_compressed(tmp_path):
    path = tmp_path / "x.b2z"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("a.b2nd", b2.asarray(np.arange(5)).to_cframe())
    with pytest.raises(b2.FormatError, match="compressed by ZIP"):
        b2.open(path, member="/a")


def test_damaged_containers(tmp_path):
    path = tmp_path / "x.b2z"
    with blosc2.DictStore(str(path), mode="w", threshold=1000) as store:
        for key, value in OBJECTS.items():
            store[key] = blosc2.asarray(value)
    good, rng = path.read_bytes(), np.random.default_rng(7)
    for n in range(80):
        raw = bytearray(good)
        if n % 4 == 0:
            raw = raw[: rng.integers(len(raw))]
        else:
            raw[len(raw) - 1 - rng.integers(700) if n % 2 else rng.integers(len(raw))] = rng.integers(256)
        path.write_bytes(raw)
        for member in (None, "/a", "/g/big"):
            with contextlib.suppress(b2.Blosc2Error):
                b2.open(path, member=member)[...]


@pytest.mark.parametrize(
    "entry",
    [
        7,
        {"offset": -1, "length": 5},
        {"offset": 0, "length": 1 << 60},
        {"offset": "0", "length": 1},
        {"offset": 1},
    ],
    ids=str,
)
def test_damaged_lists(tmp_path, entry):
    s = b2.SChunk(chunksize=100, data=b"x" * 300, cparams={"typesize": 1}, urlpath=tmp_path / "x.b2e")
    s.vlmeta["estore_metadata"] = {"embed_map": {"/a": entry}}
    with pytest.raises(b2.Blosc2Error):
        b2.open(tmp_path / "x.b2e", member="/a")


def test_arrays_of_caterva(tmp_path):
    """The layer "caterva" is "b2nd" without a dtype."""
    value = np.arange(60, dtype="i4").reshape(6, 10)
    array = b2.asarray(value, chunks=(4, 5), blocks=(2, 5))
    layer = array.schunk.meta.raw("b2nd")
    layer = b"\x95" + layer[1 : layer.index(b"\x00\xdb")]  # an array of five things, not seven
    source, path = array.schunk, tmp_path / "c.b2frame"
    storage = Keeping(urlpath=str(path), mode="w")
    recipe = Recipe.of(source.chunksize, *source.cparams.compiled(), {"caterva": layer})
    with b2.SChunk._new(storage, recipe, source.dparams) as new:
        new.copy_chunks(source)
    with b2.open(path) as read:
        assert (read.shape, read.chunks, read.blocks) == ((6, 10), (4, 5), (2, 5))
        assert read[...].tobytes() == value.tobytes()
