# SPDX-License-Identifier: BSD-3-Clause
"""Registered filters and codecs, both ways between this library and the reference."""

from __future__ import annotations

import contextlib

import blosc2
import numpy as np
import pytest

import blosc2c as b2

SHAPES = [  # shape, chunks, blocks
    ((100,), (60,), (25,)),
    ((64, 64), (64, 64), (32, 32)),
    ((50, 61), (23, 30), (10, 13)),
    ((17, 20, 23), (9, 12, 15), (5, 6, 7)),
    ((5, 6, 7, 8), (5, 6, 7, 8), (4, 5, 4, 6)),
    ((4, 3, 5, 2, 3), (4, 3, 5, 2, 3), (2, 2, 3, 2, 3)),
]


def smooth(shape, dtype) -> np.ndarray:
    """Data that lossy methods like: a wave with some noise."""
    rng = np.random.default_rng(len(shape))
    grid = np.indices(shape).sum(0) if shape else np.zeros(())
    return (1000 * np.sin(grid / 9) + rng.normal(0, 1, shape)).astype(dtype)


def cparams(codec="lz4", meta=0, filters=(), metas=()) -> dict:
    slots = [0] * (6 - len(filters))
    number = b2.Codec[codec.upper()].value
    return {
        "codec": b2.Codec(number),
        "codec_meta": meta,
        "filters": [*filters, *slots],
        "filters_meta": [*metas, *slots],
        "nthreads": 1,
    }


def theirs(kw: dict) -> dict:
    return {**kw, "codec": blosc2.Codec(kw["codec"].value)}


def both_ways(a, chunks, blocks, kw):
    """What both make of an array, and each of the other's frames; all must be the same."""
    parts = {"chunks": chunks, "blocks": blocks}
    ours = b2.asarray(a, **parts, cparams=kw)
    reference = blosc2.asarray(a, **parts, cparams=theirs(kw))
    result = reference[...]
    assert b2.ndarray_from_cframe(reference.to_cframe())[...].tobytes() == result.tobytes()
    assert blosc2.ndarray_from_cframe(ours.to_cframe())[...].tobytes() == ours[...].tobytes()
    # A chunk that is not compressed is not filtered either, so that a lossy filter loses nothing.
    stored = [[x.schunk.get_chunk(n)[2] & 2 for n in range(x.schunk.nchunks)] for x in (ours, reference)]
    assert stored[0] != stored[1] or ours[...].tobytes() == result.tobytes()
    return ours, result


# ---- filters ----


@pytest.mark.parametrize("shape, chunks, blocks", SHAPES)
@pytest.mark.parametrize("edge", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["u1", "<i2", "<i4", "<f8"])
def test_ndcell(shape, chunks, blocks, edge, dtype):
    edge = min(edge, *blocks)
    a = smooth(shape, dtype)
    ours, result = both_ways(a, chunks, blocks, cparams(filters=(32, 1), metas=(edge, 0)))
    assert (result == a).all()
    part = tuple(slice(n // 3, n // 3 + 5) for n in shape)
    assert (ours[part] == a[part]).all()


@pytest.mark.parametrize("shape, chunks, blocks", SHAPES)
@pytest.mark.parametrize("edge", [1, 2, 3, 40])
@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_ndmean(shape, chunks, blocks, edge, dtype):
    a = smooth(shape, dtype)
    _, result = both_ways(a, chunks, blocks, cparams(filters=(33, 1), metas=(edge, 0)))
    assert edge == 1 or (result != a).any()


@pytest.mark.parametrize("filter", ["ndcell", "ndmean"])
def test_cells_need_an_array(filter):
    a = smooth((64, 64), "<f4")
    kw = {"filters": [filter], "filters_meta": [4], "typesize": 4}
    with pytest.raises(b2.ParameterError, match="arrays"):
        b2.compress2(a, **kw)
    with pytest.raises(b2.ParameterError, match="arrays"):
        b2.SChunk(data=a, cparams=kw)
    x = b2.asarray(a, chunks=(64, 64), blocks=(32, 32), cparams=kw)
    chunk = x.schunk.get_chunk(0)
    with pytest.raises(b2.FormatError, match="arrays"):
        b2.decompress2(chunk)
    assert x.schunk.decompress_chunk(0) is not None
    with pytest.raises(b2.ParameterError, match="parameter"):
        b2.asarray(a, cparams={**kw, "filters_meta": [0]})


def test_limits_of_cells():
    a = smooth((64, 64), "<f4")
    parts = {"chunks": (64, 64), "blocks": (32, 16)}
    with pytest.raises(b2.ParameterError, match="larger than a block"):
        b2.asarray(a, **parts, cparams={"filters": ["ndcell"], "filters_meta": [17]})
    with pytest.raises(b2.ParameterError, match="type size"):
        b2.asarray(a.astype("<i2"), **parts, cparams={"filters": ["ndmean"], "filters_meta": [4]})
    with pytest.raises(b2.ParameterError, match="dimensions"):
        b2.asarray(np.arange(512).reshape((2,) * 9), cparams={"filters": ["ndcell"], "filters_meta": [2]})


def test_bytedelta_takes_the_width_of_the_items():
    """With parameter 0 only the frame tells it, also when it is above 255."""
    rng = np.random.default_rng(5)
    for width in (8, 300):
        data = (np.arange(50 * width) // 7 % 256).astype("u1").tobytes() + rng.bytes(3 * width)
        s = b2.SChunk(data=data, chunksize=len(data), cparams={"typesize": width})
        planes = np.frombuffer(data, "u1").reshape(width, -1)
        stored = np.diff(planes.astype("i2"), axis=1, prepend=0).astype("u1").tobytes()
        chunk = bytearray(b2.compress2(stored, typesize=min(width, 1), filters=[], codec="lz4"))
        chunk[3], chunk[16] = 8 if width == 8 else 1, 35
        s.update_chunk(0, bytes(chunk))
        assert s[:] == data


# ---- codecs ----

HAS_ZFP = bool(b2.params.lib.b2c_codec_available(33))
needs_zfp = pytest.mark.skipif(not HAS_ZFP, reason="this build has no libzfp")


def planes(shape, kind: str) -> np.ndarray:
    """Bytes in two dimensions that repeat themselves in the ways that NDLZ knows."""
    rng = np.random.default_rng(len(kind))
    if kind == "stripes":
        return (np.indices(shape).sum(0) // 7).astype("u1")
    if kind == "cells":
        cells = rng.integers(0, 256, (5, 8, 8), dtype=np.uint8)
        tiles = cells[rng.integers(0, 5, [-(-n // 8) for n in shape])]
        return np.ascontiguousarray(tiles.transpose(0, 2, 1, 3).reshape(-1, tiles.shape[1] * 8))[
            : shape[0], : shape[1]
        ].copy()
    if kind == "lines":
        lines = rng.integers(0, 256, (4, 4), dtype=np.uint8)
        picks = lines[rng.integers(0, 4, (shape[0], -(-shape[1] // 4)))]
        return picks.reshape(shape[0], -1)[:, : shape[1]].copy()
    if kind == "noise":
        return rng.integers(0, 256, shape, dtype=np.uint8)
    return np.full(shape, 7, np.uint8)


@pytest.mark.parametrize("shape, chunks, blocks", [s for s in SHAPES if len(s[0]) == 2])
@pytest.mark.parametrize("kind", ["stripes", "cells", "lines", "noise", "constant"])
@pytest.mark.parametrize("edge", [4, 8])
def test_ndlz(shape, chunks, blocks, kind, edge):
    a = planes(shape, kind)
    ours, result = both_ways(a, chunks, blocks, cparams("ndlz", edge))
    assert (result == a).all()
    assert (ours[3:20, 5:] == a[3:20, 5:]).all()


@pytest.mark.parametrize("edge", [4, 8])
def test_ndlz_compresses_as_well_as_the_reference(edge):
    for kind in ("stripes", "cells", "lines"):
        a, kw = planes((256, 256), kind), cparams("ndlz", edge)
        ours = b2.asarray(a, chunks=(256, 256), blocks=(128, 128), cparams=kw)
        reference = blosc2.asarray(a, chunks=(256, 256), blocks=(128, 128), cparams=theirs(kw))
        assert ours.schunk.cbytes <= reference.schunk.cbytes * 1.05


def test_ndlz_of_larger_items():
    a = planes((64, 64), "stripes").astype("<i4")
    kw = {**cparams("ndlz", 4, filters=(1,), metas=(0,)), "splitmode": b2.SplitMode.ALWAYS_SPLIT}
    x = b2.asarray(a, chunks=(64, 64), blocks=(32, 32), cparams=kw)
    y = blosc2.asarray(
        a,
        chunks=(64, 64),
        blocks=(32, 32),
        cparams={**theirs(kw), "splitmode": blosc2.SplitMode.ALWAYS_SPLIT},
    )
    assert (blosc2.ndarray_from_cframe(x.to_cframe())[...] == a).all()
    assert (b2.ndarray_from_cframe(y.to_cframe())[...] == a).all()


def test_ndlz_streams_decode_on_their_own():
    x = b2.asarray(planes((64, 64), "cells"), chunks=(64, 64), blocks=(64, 64), cparams=cparams("ndlz", 8))
    assert b2.decompress2(x.schunk.get_chunk(0)) == planes((64, 64), "cells").tobytes()


@needs_zfp
@pytest.mark.parametrize("shape, chunks, blocks", [s for s in SHAPES if len(s[0]) <= 4 and min(s[2]) >= 4])
@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
@pytest.mark.parametrize(
    "codec, meta", [("zfp_acc", 253), ("zfp_acc", 1), ("zfp_prec", 10), ("zfp_prec", 200), ("zfp_rate", 25)]
)
def test_zfp(shape, chunks, blocks, dtype, codec, meta):
    a = smooth(shape, dtype)
    ours, result = both_ways(a, chunks, blocks, cparams(codec, meta))
    stored = ours.schunk.get_chunk(0)
    reference = blosc2.asarray(a, chunks=chunks, blocks=blocks, cparams=theirs(cparams(codec, meta)))
    assert len(stored) == len(reference.schunk.get_chunk(0))
    if codec == "zfp_acc":
        assert abs(result - a).max() <= 10.0 ** (meta if meta < 128 else meta - 256)


@needs_zfp
def test_zfp_says_what_it_takes():
    a = smooth((64, 64), "<f4")
    parts = {"chunks": (64, 64), "blocks": (32, 32)}
    for array, places, kw in [
        (a, {"chunks": (64, 64), "blocks": (3, 32)}, cparams("zfp_acc", 0)),
        (a.astype("<i2"), parts, cparams("zfp_rate", 50)),
        (smooth((4,) * 5, "<f4"), {"chunks": (4,) * 5, "blocks": (4,) * 5}, cparams("zfp_prec", 5)),
    ]:
        with pytest.raises(b2.ParameterError, match="zfp is for arrays"):
            b2.asarray(array, **places, cparams=kw)
    with pytest.raises(b2.ParameterError, match="zfp is for arrays"):
        b2.compress2(a, **cparams("zfp_acc", 0), typesize=4)
    with pytest.raises(b2.ParameterError, match="no shuffle"):
        b2.asarray(a, **parts, cparams=cparams("zfp_acc", 0, filters=(1,), metas=(0,)))
    chunk = b2.asarray(a, **parts, cparams=cparams("zfp_acc", 1)).schunk.get_chunk(0)
    with pytest.raises(b2.FormatError, match="in the array"):
        b2.decompress2(chunk)


@needs_zfp
def test_damaged_zfp_streams_are_safe():
    a = smooth((16, 16, 16), "<f8")
    x = b2.asarray(a, chunks=(16,) * 3, blocks=(8,) * 3, cparams=cparams("zfp_prec", 30))
    frame = x.to_cframe()
    at = frame.index(x.schunk.get_chunk(0))
    rng = np.random.default_rng(3)
    for _ in range(300):
        damaged = bytearray(frame)
        for place in rng.integers(at + 32, at + 6000, 5):
            damaged[place] = rng.integers(256)
        with contextlib.suppress(b2.Blosc2Error):
            b2.ndarray_from_cframe(bytes(damaged))[...]


NAMED = {
    36: "openhtj2k",
    37: "grok",
    38: "openzl",
    39: "j2k",
    40: "htj2k",
    41: "plugin|knows",
    200: "plugin|register",
}


@pytest.mark.parametrize("number", NAMED)
def test_codecs_that_are_not_here_are_named(number):
    chunk = bytearray(b2.compress2(smooth((100,), "<f8"), codec="lz4", typesize=8))
    assert chunk[2] >> 5 == 1
    chunk[2] = chunk[2] & 31 | 6 << 5
    chunk[22] = number
    for call in (
        lambda: b2.decompress2(bytes(chunk)),
        lambda: b2.compress2(b"x" * 100, codec=number),
        lambda: b2.SChunk(data=b"x" * 100, cparams={"codec": number}),
    ):
        with pytest.raises(b2.UnknownCodecError, match=NAMED[number]):
            call()


def test_raw_parts_of_unknown_codecs_can_be_read():
    chunk = bytearray(b2.compress2(np.random.default_rng(0).bytes(1000), clevel=0))
    chunk[2], chunk[22] = chunk[2] & 31 | 6 << 5, 37
    assert b2.decompress2(bytes(chunk)) == np.random.default_rng(0).bytes(1000)
