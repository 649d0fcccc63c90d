# SPDX-License-Identifier: BSD-3-Clause
"""Enumerations, parameter classes and process-wide settings."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys

import blosc2
import numpy as np
import pytest

import blosc2c as b2


@pytest.mark.parametrize("name", ["Codec", "Filter", "SplitMode", "SpecialValue", "Tuner"])
def test_enums_are_those_of_the_reference(name):
    ours, theirs = getattr(b2, name), getattr(blosc2, name)
    assert {m.name: m.value for m in ours} == {m.name: m.value for m in theirs}


@pytest.mark.parametrize(
    "name", ["EXTENDED_HEADER_LENGTH", "MIN_HEADER_LENGTH", "MAX_BUFFERSIZE", "MAX_TYPESIZE"]
)
def test_constants_are_those_of_the_reference(name):
    assert getattr(b2, name) == getattr(blosc2, name)


@pytest.mark.parametrize("name", ["CParams", "DParams", "Storage"])
def test_fields_and_defaults_are_those_of_the_reference(name):
    ours, theirs = getattr(b2, name), getattr(blosc2, name)
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]

    def plain(value):
        if isinstance(value, list | tuple):
            return [plain(v) for v in value]
        return getattr(value, "value", value)

    mine, other = dataclasses.asdict(ours()), dataclasses.asdict(theirs())
    mine.pop("nthreads", None), other.pop("nthreads", None)
    assert {k: plain(v) for k, v in mine.items()} == {k: plain(v) for k, v in other.items()}


def test_dataclasses_are_real_ones():
    c = b2.CParams(clevel=7)
    assert dataclasses.asdict(c)["clevel"] == 7
    assert dataclasses.replace(c, typesize=3).typesize == 3
    assert dataclasses.replace(c) == c
    assert dataclasses.asdict(b2.CParams()) == b2.cparams_dflts
    assert dataclasses.asdict(b2.DParams()) == b2.dparams_dflts
    assert dataclasses.asdict(b2.Storage()) == b2.storage_dflts


def test_numbers_and_names_become_members():
    c = b2.CParams(codec="zstd", filters="shuffle", splitmode="always_split")
    assert c.codec is b2.Codec.ZSTD and c.splitmode is b2.SplitMode.ALWAYS_SPLIT
    assert b2.Filter.SHUFFLE in list(c.filters)
    assert b2.CParams(codec=1).codec is b2.Codec.LZ4
    assert b2.CParams(filters=[2, "delta"]).filters == [b2.Filter.BITSHUFFLE, b2.Filter.DELTA]
    assert b2.CParams(codec=200).codec == 200  # user-defined numbers stay numbers


@pytest.mark.parametrize(
    "kw",
    [
        {"clevel": -1},
        {"clevel": 10},
        {"typesize": 0},
        {"typesize": -4},
        {"typesize": blosc2.MAX_TYPESIZE + 1},
        {"nthreads": 0},
        {"nthreads": 1000},
        {"blocksize": -1},
        {"blocksize": 536866817},
        {"splitmode": 0},
        {"splitmode": 9},
        {"codec": "zst"},
        {"codec": 256},
        {"codec": -1},
        {"filters": ["shufle"]},
        {"filters": [300]},
        {"filters": [1] * 7, "filters_meta": [0] * 7},
        {"filters": [1, 1], "filters_meta": [0]},
        {"filters": [1], "filters_meta": [256]},
        {"filters": [1], "filters_meta": [-129]},
        {"tuner": 5},
    ],
    ids=str,
)
def test_values_outside_their_range(kw):
    with pytest.raises(b2.ParameterError) as info:
        b2.CParams(**kw)
    assert isinstance(info.value, ValueError)
    with pytest.raises(ValueError):
        b2.compress2(bytes(100), **kw)


@pytest.mark.parametrize("kw", [{"clevel": 1.5}, {"typesize": "4"}, {"blocksize": None}], ids=str)
def test_values_of_another_type(kw):
    with pytest.raises(TypeError):
        b2.CParams(**kw)


def test_fields_that_change_later_are_checked_when_they_are_used():
    p = b2.CParams(clevel=1)
    s = b2.SChunk(chunksize=40, cparams=p)
    for name, value, error in (
        ("clevel", 10, ValueError),
        ("codec", "lz5", ValueError),
        ("typesize", None, TypeError),
    ):
        before = getattr(p, name)
        setattr(p, name, value)
        with pytest.raises(error, match=name):
            b2.compress2(bytes(40), cparams=p)
        with pytest.raises(error, match=name):
            b2.SChunk(cparams=p)
        setattr(p, name, before)
    p.filters[-1] = "bitshuffle"  # in the list itself
    p.filters_meta = np.zeros(6, "i8")
    assert b2.SChunk(cparams=p).cparams.filters[-1] is b2.Filter.BITSHUFFLE
    assert s.cparams.filters[-1] is b2.Filter.SHUFFLE
    mine = s.cparams
    mine.filters[0] = b2.Filter.DELTA
    assert s.cparams.filters[0] is b2.Filter.NOFILTER


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_of_parameters_that_were_used(make):
    """They have what the user has added, and nothing of what is kept for C."""
    p = b2.CParams(clevel=1)
    p.note = "mine"
    assert b2.zeros(3, cparams=p).cparams.clevel == b2.SChunk(cparams=p).cparams.clevel == 1
    other = make(p)
    assert other == p and other.note == "mine"
    other.clevel = 7
    assert b2.zeros(3, cparams=other).cparams.clevel == b2.SChunk(cparams=other).cparams.clevel == 7
    assert b2.SChunk(cparams=p).cparams.clevel == 1


def test_keywords_that_are_like_those_before():
    """What was made for some serves only the same ones again."""
    data = bytes(range(250)) * 40
    filters, metas = [b2.Filter.SHUFFLE], [0]
    given = {"clevel": 1, "typesize": 4, "filters": filters, "filters_meta": metas, "codec": b2.Codec.LZ4}
    first = b2.compress2(data, **given)
    assert b2.compress2(data, **given) == first == b2.compress2(data, cparams=b2.CParams(**given))
    for other in ({"clevel": 1.0}, {"typesize": "4"}, {"codec": None}, {"filters_meta": "0"}):
        with pytest.raises((TypeError, ValueError)):
            b2.compress2(data, **{**given, **other})
    with pytest.raises((TypeError, ValueError)):
        b2.compress2(data, **{**given, "filters_meta": [np.zeros(3, "i4")]})
    filters[0] = b2.Filter.BITSHUFFLE  # the list that was given before
    second = b2.compress2(data, **given)
    assert second != first and second == b2.compress2(data, **{**given, "filters": [b2.Filter.BITSHUFFLE]})
    swapped = {"clevel": 4, "typesize": 1, "filters": filters, "filters_meta": metas, "codec": b2.Codec.LZ4}
    assert b2.get_cbuffer_sizes(b2.compress2(data, **swapped))[0] == len(data)
    assert b2.compress2(data, **swapped)[3] == 1 and b2.compress2(data, **given)[3] == 4
    before = b2.cparams_dflts["clevel"]
    plain = b2.compress2(data, typesize=4)
    try:
        b2.cparams_dflts["clevel"] = 0
        assert b2.compress2(data, typesize=4) != plain
    finally:
        b2.cparams_dflts["clevel"] = before
    assert b2.compress2(data, typesize=4) == plain


def test_a_misspelt_name_is_answered_with_the_right_one():
    with pytest.raises(b2.UnknownCodecError, match="zstd"):
        b2.CParams(codec="zst")
    with pytest.raises(b2.UnknownFilterError, match="shuffle"):
        b2.CParams(filters=["shufle"])


def test_metas_may_be_signed_as_in_the_reference():
    """trunc_prec counts from the other end with a negative number; it is stored as a byte."""
    chunks = [
        b2.compress2(bytes(range(200)), typesize=8, filters=[b2.Filter.TRUNC_PREC], filters_meta=[meta])
        for meta in (-3, 253)
    ]
    assert chunks[0] == chunks[1]
    assert chunks[0][24] == 253


def test_caller_lists_are_left_alone():
    filters, metas = [b2.Filter.SHUFFLE, 35], [0, 0, 0]
    b2.CParams(filters=filters, filters_meta=metas, typesize=4)
    assert (filters, metas) == ([b2.Filter.SHUFFLE, 35], [0, 0, 0])


def test_storage():
    assert b2.Storage().contiguous is False
    assert b2.Storage(urlpath="x.b2nd").contiguous is True
    assert b2.Storage(urlpath="x.b2nd", contiguous=False).contiguous is False
    with pytest.raises(ValueError):
        b2.Storage(mode="x")
    with pytest.raises(ValueError):
        b2.Storage(urlpath="s3://bucket/x.b2nd")


def test_dparams():
    assert b2.DParams(nthreads=3).nthreads == 3
    with pytest.raises(ValueError):
        b2.DParams(nthreads=0)


def test_nthreads_default_and_setting():
    before = b2.set_nthreads(3)
    try:
        assert b2.CParams().nthreads == b2.DParams().nthreads == 3
        assert b2.set_nthreads(2) == 3
        with pytest.raises(ValueError):
            b2.set_nthreads(0)
        assert b2.nthreads == 2
    finally:
        b2.set_nthreads(before)
    assert 1 <= before <= 8 and before == b2.nthreads


def test_environment_sets_nthreads():
    code = "import blosc2c; print(blosc2c.nthreads, blosc2c.CParams().nthreads)"
    env = {**os.environ, "BLOSC_NTHREADS": "6"}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["6", "6"]


def test_global_codec_and_blocksize():
    before = b2.get_compressor()
    try:
        b2.set_compressor(b2.Codec.LZ4)
        assert b2.get_compressor() == "lz4"
        with pytest.raises(ValueError):
            b2.set_compressor("nothing")
        b2.set_blocksize(4096)
        assert b2.get_blocksize() == 4096
        assert b2.get_cbuffer_sizes(b2.compress(bytes(range(256)) * 400, typesize=1))[2] == 4096
    finally:
        b2.set_blocksize(0)
        b2.set_compressor(before)
    assert b2.get_blocksize() == 0


def test_facts_of_the_build():
    assert set(b2.compressor_list()) == {b2.Codec(n) for n in (0, 1, 2, 4, 5)}
    for codec in b2.compressor_list():
        name, version = b2.clib_info(codec)
        assert isinstance(name, bytes) and isinstance(version, bytes) and name and version
    with pytest.raises(b2.UnknownCodecError):
        b2.clib_info(b2.Codec.GROK)
    assert b2.detect_number_of_cores() == len(os.sched_getaffinity(0))
    assert b2.cpu_info["count"] == b2.get_cpu_info()["count"] == b2.detect_number_of_cores()
    assert b2.__version__


def test_set_releasegil_has_no_effect():
    first = b2.set_releasegil(True)
    assert first is False
    assert b2.set_releasegil(first) is True


def test_print_versions(capsys):
    b2.print_versions()
    assert b2.__version__ in capsys.readouterr().out


def test_names_of_the_compute_engine_are_explained():
    with pytest.raises(AttributeError, match="python-blosc2"):
        b2.lazyexpr  # noqa: B018
    with pytest.raises(AttributeError):
        b2.no_such_name_at_all  # noqa: B018
    import blosc2c.compat

    assert "lazyexpr" in blosc2c.compat.MISSING
    modules = {name.partition(".")[2] for name in sys.modules if name.startswith("blosc2c.")}
    for name in set(blosc2c.compat.MISSING) - modules:
        with pytest.raises(AttributeError):
            getattr(b2, name)


def test_every_public_name_of_the_reference_is_there_or_explained():
    import blosc2c.compat

    unexplained = [n for n in blosc2.__all__ if not hasattr(b2, n) and n not in blosc2c.compat.MISSING]
    assert unexplained == []


def test_every_listed_name_exists():
    assert len(set(b2.__all__)) == len(b2.__all__)
    for name in b2.__all__:
        assert getattr(b2, name) is not None, name
        assert name in dir(b2)


def test_super_chunks_need_no_numpy():
    code = "import sys, blosc2c as b2; s = b2.SChunk(data=bytes(999)); print(s[3:5], 'numpy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == f"{bytes(2)!r} False\n"


def test_import_is_light():
    """Neither the compute stack nor the network is pulled in, and numpy itself only on demand."""
    code = "import sys, blosc2c; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(out.stdout.split())
    assert modules.isdisjoint(
        {"numexpr", "requests", "httpx", "pydantic", "rich", "ssl", "blosc2", "asyncio"}
    )


def test_numbers_and_names_of_the_incumbent():
    for name in (
        "DEFINED_CODECS_STOP",
        "GLOBAL_REGISTERED_CODECS_STOP",
        "USER_REGISTERED_CODECS_STOP",
        "IS_WASM",
    ):
        assert getattr(b2, name) == getattr(blosc2, name), name


def test_deserialize_is_accepted(tmp_path):
    path = str(tmp_path / "a.b2nd")
    frame = b2.asarray(np.arange(5), urlpath=path).to_cframe()
    b2.SChunk(deserialize="full").close()
    opened = [
        lambda how: b2.open(path, deserialize=how),
        lambda how: b2.load(path, deserialize=how),
        lambda how: b2.from_cframe(frame, deserialize=how),
        lambda how: b2.ndarray_from_cframe(frame, deserialize=how),
        lambda how: b2.schunk_from_cframe(frame, deserialize=how),
    ]
    for call in opened:
        assert call("full").nbytes == call("safe").nbytes == 40
        with pytest.raises(ValueError, match="deserialize"):
            call("no")


def test_selections_by_the_names_of_the_incumbent():
    data = np.arange(24).reshape(4, 6)
    ours, theirs = b2.asarray(data), blosc2.asarray(data)
    for a in (ours, theirs):
        assert (a.get_fselection_numpy([0, 2]) == data[[0, 2]]).all()
        assert (a.get_oselection_numpy([[0, 2], [1, 3]]) == data[np.ix_([0, 2], [1, 3])]).all()
        assert (a.set_oselection_numpy([[0, 2], [1, 3]], np.zeros((2, 2), int)) == 0).all()
    assert (ours[:] == theirs[:]).all()


def test_parameters_of_what_is_stored_are_no_freed_memory():
    """The C library fills what is freed with other bytes, where it can."""
    code = """
import blosc2c as b2
s = b2.SChunk(data=bytes(100), cparams={"clevel": 7, "typesize": 4})
assert all(s.cparams.clevel == 7 and s.cparams.typesize == 4 for _ in range(10))
"""
    env = {**os.environ, "MALLOC_PERTURB_": "17", "PYTHONMALLOC": "malloc"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env, timeout=60)


def test_defaults_that_change_between_arrays(monkeypatch):
    """What is kept of one array for the next one depends on all that they are made by."""

    def made(**kwargs):
        a = b2.zeros(10, dtype="i4", **kwargs)
        return a.cparams.clevel, a.cparams.nthreads, a.dparams.nthreads, list(a.meta), a.schunk.contiguous

    first = made()
    assert made(cparams={"clevel": 1, "nthreads": 3}) == (1, 3, *first[2:])
    assert made(dparams={"nthreads": 5}) == (*first[:2], 5, *first[3:])
    assert made(meta={"mine": 1}) == (*first[:3], ["b2nd", "mine"], first[4])
    assert made(contiguous=True) == (*first[:4], True)
    with monkeypatch.context() as patch:
        patch.setitem(b2.storage_dflts, "meta", {"everywhere": 2})
        patch.setitem(b2.dparams_dflts, "nthreads", 6)
        patch.setitem(b2.cparams_dflts, "clevel", 9)
        assert made() == (9, first[1], 6, ["b2nd", "everywhere"], first[4])
    a = b2.zeros(10, dtype="i4")
    a.cparams = {**dataclasses.asdict(a.cparams), "clevel": 2}
    a.cparams.filters[0] = b2.Filter.DELTA  # of a copy
    assert (a.cparams.clevel, a.cparams.filters[0]) == (2, b2.Filter.NOFILTER)
    assert made() == first
