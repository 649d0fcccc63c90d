# SPDX-License-Identifier: BSD-3-Clause
"""Codecs, filters and block functions written in Python, here and in the reference library."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import time
import traceback

import blosc2
import numpy as np
import pytest
from inputs import make

import blosc2c as b2

THREADS = (1, 4)

# ---- a codec that both libraries get: planes of repeated items; and a filter ----


def encode(input, output, meta, schunk):
    """Stores 4 bytes when they repeat all over the block."""
    if input.size < 8 or np.any(input[4:] != input[:-4]):
        return 0
    output[:4] = input[:4]
    output[4] = meta
    return 5


def decode(input, output, meta, schunk):
    if input.size != 5 or input[4] != meta:
        raise ValueError("not ours")
    output[:] = np.resize(input[:4], output.size)
    return output.size


def add(input, output, meta, schunk):
    output[:] = input + meta


def subtract(input, output, meta, schunk):
    output[:] = input - meta


CODEC, FILTER = 170, 171
for library in (b2, blosc2):
    library.register_codec("fours", CODEC, encode, decode)
    library.register_filter(FILTER, add, subtract)

_next_id = iter([*range(172, 199), *range(220, 250)])  # other tests take some for unknown


def new_codec(encoder, decoder, name="new"):
    number = next(_next_id)
    b2.register_codec(name, number, encoder, decoder)
    return number


def new_filter(forward, backward):
    number = next(_next_id)
    b2.register_filter(number, forward, backward)
    return number


def cparams(codec=b2.Codec.ZSTD, filters=(), metas=None, nthreads=1, **more):
    metas = [0] * len(filters) if metas is None else list(metas)
    given = {"typesize": 4, "blocksize": 8000, **more}
    return {"codec": codec, "filters": list(filters), "filters_meta": metas, "nthreads": nthreads, **given}


def fours(n=100_000):
    """Some blocks that the codec shrinks, and some that it does not."""
    data = np.full(n, 0x01020304, "<i4")
    data[n // 2 :: n // 7] = 5
    return data


# ---- registering -----------------------------------------------------------


def test_the_registries_show_what_was_registered():
    assert b2.ucodecs_registry[CODEC] == blosc2.ucodecs_registry[CODEC] == ("fours", encode, decode)
    assert b2.ufilters_registry[FILTER] == blosc2.ufilters_registry[FILTER] == (add, subtract)


@pytest.mark.parametrize("library", [b2, blosc2])
def test_wrong_registrations(library):
    with pytest.raises(ValueError):
        library.register_codec("again", CODEC, encode, decode)
    with pytest.raises(ValueError):
        library.register_filter(FILTER, add, subtract)
    for number in (5, 100, 159, 256):
        with pytest.raises(ValueError):
            library.register_codec("x", number, encode, decode)
        with pytest.raises(ValueError):
            library.register_filter(number, add, subtract)
    with pytest.raises(ValueError):
        library.register_codec("x", 251, encode, None)
    with pytest.raises(ValueError):
        library.register_filter(251, add, None)
    with pytest.raises(ValueError):
        library.register_filter(251)
    assert 251 not in library.ucodecs_registry and 251 not in library.ufilters_registry


def test_wrong_registrations_that_the_reference_takes():
    with pytest.raises(b2.ParameterError, match="shared librar"):
        b2.register_codec("x", 251)
    with pytest.raises(b2.ParameterError):
        b2.register_codec("x", 251, "encode", "decode")
    with pytest.raises(b2.ParameterError):
        b2.register_codec("x", 251, encode, decode, version=256)
    with pytest.raises(b2.ParameterError):  # built in
        b2.register_filter(35, add, subtract)


def test_the_version_is_stored_as_the_reference_does():
    number = next(_next_id)
    for library in (b2, blosc2):
        library.register_codec("v", number, encode, decode, version=7)
        s = library.SChunk(data=fours(), cparams=cparams(number), dparams={"nthreads": 1})
        assert s.get_chunk(0)[1] == 7


# ---- round trips, and with the reference ----


@pytest.mark.parametrize("nthreads", THREADS)
def test_round_trip(nthreads):
    data = fours(300_000)
    params = cparams(CODEC, [FILTER], [9], nthreads, codec_meta=77)
    s = b2.SChunk(chunksize=400_000, data=data, cparams=params, dparams={"nthreads": nthreads})
    assert s[:] == data.tobytes() and s.cbytes < s.nbytes
    assert s[99_990:100_010] == data[99_990:100_010].tobytes()
    assert s.cparams.codec == CODEC and s.cparams.filters[0] == FILTER
    params["nthreads"] = 1
    assert s.get_chunk(0) == b2.SChunk(chunksize=400_000, data=data, cparams=params).get_chunk(0)


@pytest.mark.parametrize("codec", [CODEC, b2.Codec.ZSTD])
@pytest.mark.parametrize(
    "filters", [[], [FILTER], [FILTER, b2.Filter.SHUFFLE], [b2.Filter.BITSHUFFLE, FILTER]]
)
@pytest.mark.parametrize("kind", ["ramp", "random", "fours"])
def test_exchange_with_the_reference(codec, filters, kind, tmp_path):
    data = fours(30_000).tobytes() if kind == "fours" else make(kind, 120_000)
    params = cparams(codec, filters, [11 if f == FILTER else 0 for f in filters], codec_meta=3)
    theirs, ours = tmp_path / "theirs.b2frame", tmp_path / "ours.b2frame"
    there = {**params, "codec": codec if codec == CODEC else blosc2.Codec(codec.value)}
    there["filters"] = [f if f == FILTER else blosc2.Filter(f.value) for f in filters]
    blosc2.SChunk(
        chunksize=50_000, data=data, cparams=there, dparams={"nthreads": 1}, urlpath=str(theirs), mode="w"
    )
    with b2.open(theirs, dparams={"nthreads": 4}) as s:
        assert s[:] == data
        assert s.cparams.codec == codec
    b2.SChunk(chunksize=50_000, data=data, cparams={**params, "nthreads": 4}, urlpath=ours).close()
    nthreads = blosc2.set_nthreads(1)
    try:
        assert blosc2.open(str(ours), mode="r", dparams={"nthreads": 1})[:] == data
    finally:
        blosc2.set_nthreads(nthreads)


def test_arrays():
    a = np.arange(10_000, dtype="<i4").reshape(100, 100)
    params = cparams(CODEC, [FILTER], [3], 4)
    del params["blocksize"]
    ours = b2.asarray(a, chunks=(50, 50), blocks=(10, 25), cparams=params)
    assert np.array_equal(ours[:], a) and np.array_equal(ours[3:77:5, 10], a[3:77:5, 10])
    theirs = blosc2.ndarray_from_cframe(ours.to_cframe())
    theirs.schunk.dparams = blosc2.DParams(nthreads=1)
    assert np.array_equal(theirs[:], a)


def test_names_of_what_is_registered(tmp_path):
    path = tmp_path / "x.b2frame"
    chunk = b2.compress2(fours(), **cparams(CODEC))
    assert b2.get_clib(chunk) == "fours"
    assert b2.clib_info(CODEC) == (b"fours", b"1")
    b2.SChunk(data=fours(), cparams=cparams(CODEC, [FILTER]), urlpath=path).close()
    report = b2.verify(path)
    assert report.ok, report


def test_one_shot_calls_have_no_schunk():
    seen = []

    def forward(input, output, meta, schunk):
        seen.append((schunk, meta, input.dtype, input.size, output.size))
        output[:] = input

    number = new_filter(forward, forward)
    data = np.arange(5000, dtype="<i4").tobytes()
    chunk = b2.compress2(data, **cparams(filters=[number], metas=[44]))
    assert b2.decompress2(chunk) == data
    assert set(seen) == {(None, 44, np.dtype("u1"), 8000, 8000), (None, 44, np.dtype("u1"), 4000, 4000)}


@pytest.mark.parametrize("nthreads", THREADS)
def test_what_they_are_told(nthreads):
    seen = []

    def encoder(input, output, meta, schunk):
        seen.append((schunk, meta, input.size, output.size, schunk.nchunks, schunk.urlpath, len(schunk)))
        assert not output.any()
        input[:] = 1  # a copy
        return 0

    number = new_codec(encoder, decode)
    data = make("ramp", 1_000_000)
    s = b2.SChunk(chunksize=500_000, cparams=cparams(number, nthreads=nthreads, codec_meta=8))
    s.append_data(data[:500_000])
    s.append_data(data[500_000:])
    assert s[:] == data
    assert {item[0] for item in seen} == {s}
    assert {item[1:] for item in seen} == {
        (8, size, size, n, None, n * 125_000) for size in (8000, 4000) for n in (0, 1)
    }


def test_arrays_may_be_kept():
    kept = []

    def forward(input, output, meta, schunk):
        output[:] = input
        kept.append((input, output))

    data = make("ramp", 40_000)
    b2.compress2(data, **cparams(filters=[new_filter(forward, forward)]))
    gc.collect()
    assert b"".join(input.tobytes() for input, _ in kept) == data
    for _, output in kept:
        output[:] = 0


def test_filtered_zeros_are_not_zeros():
    """The reference takes a chunk whose filtered bytes are all zero for one of zeros."""
    data = np.tile(np.array([7, 7, 7, 8], "u1"), 5000)

    def forward(input, output, meta, schunk):
        output[:] = input - np.resize(np.array([7, 7, 7, 8], "u1"), input.size)

    def backward(input, output, meta, schunk):
        output[:] = input + np.resize(np.array([7, 7, 7, 8], "u1"), input.size)

    number = new_filter(forward, backward)
    chunk = b2.compress2(data, **cparams(filters=[number], typesize=1))
    assert b2.decompress2(chunk) == data.tobytes()


def test_with_delta_and_lossy_filters():
    def forward(input, output, meta, schunk):
        output[:] = input & 0xF0

    def backward(input, output, meta, schunk):
        output[:] = input

    number = new_filter(forward, backward)
    data = make("mixed", 60_000)
    chunk = b2.compress2(data, **cparams(filters=[number, b2.Filter.DELTA], nthreads=4))
    expected = (np.frombuffer(data, "u1") & 0xF0).tobytes()
    assert b2.decompress2(chunk) == expected


# ---- failures --------------------------------------------------------------


def exploding(*args):
    raise KeyError("boom")


@pytest.mark.parametrize("nthreads", THREADS)
def test_exceptions_pass_with_their_traceback(nthreads):
    data = make("ramp", 400_000)
    for bad in (
        cparams(new_codec(exploding, exploding), nthreads=nthreads),
        cparams(filters=[new_filter(exploding, exploding)], nthreads=nthreads),
    ):
        s = b2.SChunk(chunksize=400_000, cparams=bad)
        with pytest.raises(KeyError, match="boom") as info:
            s.append_data(data)
        assert "exploding" in [frame.name for frame in traceback.extract_tb(info.tb)]
        assert s.nchunks == 0
        with pytest.raises(KeyError, match="boom"):
            b2.compress2(data, **bad)


def test_a_transaction_goes_on_when_appending_has_failed():
    """With the array as it was before."""
    failing = []

    def encoder(*given):
        if failing:
            raise ZeroDivisionError
        return 0

    a = b2.asarray(np.arange(10.0).reshape(5, 2), chunks=(3, 2), cparams=cparams(new_codec(encoder, decode)))
    with a.schunk.transaction():
        a[0] = 7
        failing.append(True)
        with pytest.raises(ZeroDivisionError):
            a.append(np.arange(20.0).reshape(10, 2), axis=0)
        assert a.shape == (5, 2) and a.schunk.nchunks == 2
        failing.clear()
        a[1] = 8
    np.testing.assert_array_equal(a[...], [[7, 7], [8, 8], [4, 5], [6, 7], [8, 9]])


@pytest.mark.parametrize("nthreads", THREADS)
def test_exceptions_when_reading(nthreads):
    fails = threading.Event()

    def backward(input, output, meta, schunk):
        if fails.is_set():
            raise KeyboardInterrupt
        output[:] = input

    data = make("ramp", 400_000)
    params = cparams(filters=[new_filter(backward, backward)], nthreads=nthreads)
    s = b2.SChunk(chunksize=200_000, data=data, cparams=params, dparams={"nthreads": nthreads})
    fails.set()
    for read in (lambda: s[:], lambda: s.decompress_chunk(1), lambda: s[5:9], lambda: s.get_slice(0, 60_000)):
        with pytest.raises(KeyboardInterrupt):
            read()
    fails.clear()
    assert s[:] == data


@pytest.mark.parametrize("result", [-1, 8001, 10**30, None, "5", 2.5])
def test_wrong_results_of_encoders(result):
    number = new_codec(lambda *given: result, decode)
    with pytest.raises((b2.ParameterError, TypeError), match="encoder"):
        b2.compress2(make("ramp", 8000), **cparams(number))


@pytest.mark.parametrize("result", [0, 7999, 8001, -1, None])
def test_wrong_results_of_decoders(result):
    number = new_codec(encode, lambda *given: result)
    chunk = b2.compress2(np.tile(np.arange(4, dtype="u1"), 4000), **cparams(number, typesize=1))
    with pytest.raises((b2.CorruptError, TypeError), match=r"decoded|decoder"):
        b2.decompress2(chunk)


def test_results_may_be_numpy_integers():
    def encoder(input, output, meta, schunk):
        return np.int64(encode(input, output, meta, schunk))

    def decoder(input, output, meta, schunk):
        return np.uint32(decode(input, output, meta, schunk))

    data = np.tile(np.arange(4, dtype="u1"), 4000).tobytes()
    assert b2.decompress2(b2.compress2(data, **cparams(new_codec(encoder, decoder), typesize=1))) == data


def test_wrong_sizes_of_outputs():
    def forward(input, output, meta, schunk):
        output[:] = input[:-1]

    with pytest.raises(ValueError, match="broadcast"):
        b2.compress2(make("ramp", 8000), **cparams(filters=[new_filter(forward, forward)]))


def test_outputs_that_are_resized(schunk):
    """Nothing is read behind their end."""

    def short(output):
        output.resize(1, refcheck=False)
        return 4000

    shrink = new_filter(lambda *given: short(given[1]), lambda *given: short(given[1]))
    encoder = new_codec(lambda *given: short(given[1]), decode)
    for params in (cparams(filters=[shrink]), cparams(encoder)):
        with pytest.raises(b2.ParameterError, match="resized"):
            b2.compress2(make("ramp", 8000), **params)
    schunk.prefilter("<i4")(lambda *given: short(given[1]))
    with pytest.raises(b2.ParameterError, match="resized"):
        schunk.append_data(make("ramp", 4000))


def test_damaged_streams_reach_the_decoder():
    data = np.tile(np.arange(4, dtype="u1"), 4000).tobytes()
    chunk = bytearray(b2.compress2(data, **cparams(CODEC, typesize=1, codec_meta=5)))
    chunk[-1] ^= 1
    with pytest.raises(ValueError, match="not ours"):
        b2.decompress2(bytes(chunk))


# ---- nobody has registered it ----


def test_unknown_codecs_are_named(tmp_path):
    data = make("ramp", 20_000)
    chunk = bytearray(b2.compress2(fours(5000), **cparams(CODEC)))
    for number, words in (
        (254, ["codec 254", "user-defined"]),
        (36, ["codec 36 (openhtj2k)", "libblosc2_openhtj2k"]),
        (99, ["codec 99", "no codec"]),
    ):
        chunk[22] = number
        with pytest.raises(b2.UnknownCodecError) as info:
            b2.decompress2(bytes(chunk))
        assert all(word in str(info.value) for word in words), info.value
        with pytest.raises(b2.UnknownCodecError) as info:
            b2.compress2(data, codec=number)
        assert all(word in str(info.value) for word in words), info.value
    chunk[22], chunk[16] = CODEC, 253
    with pytest.raises(b2.UnknownFilterError, match=r"filter 253.*user-defined"):
        b2.decompress2(bytes(chunk))
    with pytest.raises(b2.UnknownFilterError, match=r"filter 253.*user-defined"):
        b2.compress2(data, filters=[253], filters_meta=[0])


# ---- other packages --------------------------------------------------------

PACKAGE = """
import blosc2c as b2
import numpy as np

print("loaded", flush=True)

def register():
    def forward(input, output, meta, schunk):
        output[:] = input ^ 0x55

    def encode(input, output, meta, schunk):
        return 0

    def decode(input, output, meta, schunk):
        return output.size

    b2.register_filter(211, forward, forward, "xor")
    b2.register_codec("nothing", 212, encode, decode)

def explode():
    raise OSError("the plugin is broken")
"""


@pytest.fixture
def package(tmp_path):
    """A folder with an installed package that provides plugins."""
    (tmp_path / "some_plugins.py").write_text(PACKAGE)
    info = tmp_path / "some_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-plugins\nVersion: 1.0\n")
    lines = ["filter-211 = some_plugins:register", "codec-212 = some_plugins:register"]
    lines += ["codec-213 = some_plugins:explode", "codec-214 = nowhere_at_all:register"]
    (info / "entry_points.txt").write_text("\n".join(["[blosc2c.plugins]", *lines, ""]))
    return tmp_path


def run(package, code):
    code = f"import sys; sys.path.insert(0, {str(package)!r})\nimport blosc2c as b2\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_packages_register_when_their_number_is_met(package):
    out = run(
        package,
        """
        data = bytes(range(250)) * 100
        b2.decompress2(b2.compress2(data))
        print("nothing yet")
        chunk = b2.compress2(data, filters=[211], filters_meta=[0])
        print(b2.decompress2(chunk) == data, 211 in b2.ufilters_registry)
        s = b2.SChunk(data=data, cparams={"codec": 212})
        print(s[:] == data, 212 in b2.ucodecs_registry)
        """,
    )
    assert out == ["nothing yet", "loaded", "True True", "True True"]


def test_packages_register_for_reading_by_several_threads(package):
    out = run(
        package,
        """
        import threading
        data = bytes(range(250)) * 8000
        chunk = bytearray(b2.compress2(data, codec="blosclz", filters=[], filters_meta=[], nthreads=4))
        chunk[16] = 211
        results = []
        def read():
            results.append(b2.decompress2(bytes(chunk), nthreads=4) == bytes(x ^ 0x55 for x in data))
        threads = [threading.Thread(target=read) for _ in range(6)]
        [t.start() for t in threads], [t.join() for t in threads]
        print(results)
        """,
    )
    assert out == ["loaded", str([True] * 6)]


def test_a_broken_package_is_the_cause_of_the_error(package):
    out = run(
        package,
        """
        for number, cause in ((213, OSError), (214, ModuleNotFoundError)):
            for _ in range(2):
                try:
                    b2.compress2(bytes(100), codec=number)
                except b2.UnknownCodecError as exc:
                    print(isinstance(exc.__cause__, cause), "user-defined" in str(exc))
        """,
    )
    assert out == ["loaded"] + ["True True"] * 4


def test_a_codec_that_is_registered_with_the_format_can_be_provided(tmp_path):
    out = run(
        tmp_path,
        """
        assert b2.Codec.OPENZL not in b2.compressor_list()
        b2.register_codec("openzl", 38, lambda *given: 0, lambda *given: 0)
        s = b2.SChunk(data=bytes(range(200)), cparams={"codec": b2.Codec.OPENZL})
        print(s[:] == bytes(range(200)), s.cparams.codec, b2.Codec.OPENZL in b2.compressor_list())
        print(b2.clib_info(b2.Codec.OPENZL))
        """,
    )
    assert out == ["True Codec.OPENZL True", "(b'openzl', b'1')"]


# ---- pre-filters, post-filters ----


@pytest.fixture(params=THREADS)
def schunk(request):
    """300000 items of 4 bytes in 3 chunks of 5 blocks."""
    n = request.param
    s = b2.SChunk(
        chunksize=400_000,
        cparams={"typesize": 4, "nthreads": n, "blocksize": 80_000},
        dparams={"nthreads": n},
    )
    s.append_data(np.arange(100_000, dtype="<i4"))
    s.append_data(np.arange(100_000, 200_000, dtype="<i4"))
    s.append_data(np.arange(200_000, 250_000, dtype="<i4"))
    return s


def items(s, dtype="<i4", start=0, stop=None):
    return np.frombuffer(s[start:stop], dtype)


def test_prefilter(schunk):
    seen = []

    @schunk.prefilter(np.dtype("<i4"), np.dtype("<f4"))
    def halve(input, output, offset):
        seen.append((input.dtype, input.size, output.dtype, output.size, offset))
        output[:] = input / 2

    assert b2.prefilter_funcs["halve"] is halve
    data = np.arange(77_770, dtype="<i4")
    schunk.append_data(data)  # becomes a super-chunk of varying sizes
    assert sorted(seen, key=lambda item: item[4]) == [
        (np.dtype("<i4"), min(20_000, 77_770 - at), np.dtype("<f4"), min(20_000, 77_770 - at), 250_000 + at)
        for at in range(0, 77_770, 20_000)
    ]
    assert np.array_equal(items(schunk, "<f4", 250_000), data.astype("f4") / 2)
    assert np.array_equal(items(schunk)[:250_000], np.arange(250_000))
    seen.clear()
    schunk.insert_data(1, data)
    assert {item[4] for item in seen} == set(range(100_000, 177_770, 20_000))
    seen.clear()
    schunk.update_data(0, data)
    assert {item[4] for item in seen} == set(range(0, 77_770, 20_000))
    schunk.remove_prefilter("halve")
    assert "halve" not in b2.prefilter_funcs
    seen.clear()
    schunk.append_data(data)
    assert not seen and np.array_equal(items(schunk)[-77_770:], data)


def test_prefilters_as_in_the_reference():
    results = []
    for library in (b2, blosc2):
        params = {"typesize": 4, "nthreads": 1, "blocksize": 8000}
        s = library.SChunk(chunksize=40_000, cparams=params, dparams={"nthreads": 1})
        seen = []

        @s.prefilter(np.dtype("<i4"), np.dtype("<f4"))
        def shift(input, output, offset, seen=seen):
            seen.append((input.dtype, input.size, input.flags.writeable, offset, type(offset)))
            output[:] = input - np.pi

        s[:25_000] = np.arange(25_000, dtype="<i4")
        s[12_000:12_005] = np.zeros(5, "<i4")
        s.remove_prefilter("shift")
        s[20_000:20_010] = np.arange(10, dtype="<i4")

        @s.postfilter(np.dtype("<f4"))
        def more(input, output, offset, seen=seen):
            seen.append((input.dtype, input.size, input.flags.writeable, offset, type(offset)))
            output[:] = input + offset + np.arange(input.size)

        results.append((seen, s[:], s[100:102], s.decompress_chunk(1), s.nchunks))
        s.remove_postfilter("more")
        results[-1] += (s[:],)
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", ["zeros", "runs", "random", "ramp"])
@pytest.mark.parametrize("clevel", [0, 5])
@pytest.mark.parametrize("n", [1, 7, 2000, 10_001])
def test_every_kind_of_chunk_is_filtered(kind, clevel, n):
    data = np.frombuffer(make(kind, 4 * n), "<i4")
    s = b2.SChunk(chunksize=80_000, cparams={"typesize": 4, "blocksize": 8000, "clevel": clevel})
    s.prefilter("<i4")(lambda i, o, at: np.add(i, 5, o))
    s.append_data(data)
    s.postfilter("<i4")(lambda i, o, at: np.add(i, at + np.arange(i.size), o))
    assert np.array_equal(items(s), data + 5 + np.arange(n))
    assert np.array_equal(items(s, start=n // 2), (data + 5 + np.arange(n))[n // 2 :])


@pytest.mark.parametrize("value", [b2.SpecialValue.ZERO, b2.SpecialValue.VALUE])
def test_special_chunks_are_postfiltered(value):
    s = b2.SChunk(chunksize=40_000, cparams={"typesize": 4, "blocksize": 8000})
    s.fill_special(25_000, value, 9 if value is b2.SpecialValue.VALUE else None)
    seen = []

    @s.postfilter("<i4")
    def position(input, output, offset):
        seen.append((input.size, offset))
        output[:] = input + offset + np.arange(input.size)

    expected = np.arange(25_000) + (9 if value is b2.SpecialValue.VALUE else 0)
    assert np.array_equal(items(s), expected) and len(seen) == 13
    seen.clear()
    assert np.array_equal(items(s, start=10_500, stop=10_503), expected[10_500:10_503])
    assert seen == [(2000, 10_000)]


def test_postfilter(schunk):
    seen = []

    @schunk.postfilter("<i4", "<u4")
    def position(input, output, offset):
        seen.append((input.dtype, output.dtype, input.size, offset))
        output[:] = input + offset

    expected = np.arange(250_000) + np.arange(250_000) // 20_000 * 20_000
    assert np.array_equal(items(schunk, "<u4"), expected) and len(seen) == 13
    seen.clear()
    assert np.array_equal(items(schunk, "<u4", 119_990, 120_010), expected[119_990:120_010])
    assert {item[3] for item in seen} == {100_000, 120_000}
    assert np.array_equal(np.frombuffer(schunk.decompress_chunk(1), "<u4"), expected[100_000:200_000])
    assert np.array_equal(np.concatenate(list(schunk.iterchunks("<u4"))), expected)
    assert b2.decompress2(schunk.get_chunk(1)) == np.arange(100_000, 200_000, dtype="<i4").tobytes()
    assert b2.schunk_from_cframe(schunk.to_cframe())[:] == np.arange(250_000, dtype="<i4").tobytes()

    schunk[5:8] = np.array([1, 2, 3], "<i4")  # starts from what is stored
    schunk.remove_postfilter("position")
    plain = np.arange(250_000)
    plain[5:8] = 1, 2, 3
    assert np.array_equal(items(schunk), plain)


def test_postfilter_of_an_array():
    a = np.arange(10_000, dtype="<i4").reshape(100, 100)
    x = b2.asarray(a, chunks=(50, 50), blocks=(10, 25))
    assert np.array_equal(x[3:5, 7], a[3:5, 7])  # is kept in the cache
    add = [1]

    @x.schunk.postfilter("<i4")
    def plus(input, output, offset):
        output[:] = input + add[0]

    for index in (
        (slice(3, 5), 7),
        (3, 7),
        (slice(None),),
        ([1, 5], [2, 99]),
        (slice(0, 100, 7), slice(None, None, -1)),
    ):
        assert np.array_equal(x[index], a[index] + 1), index
    add[0] = 2
    assert x[3, 7] == a[3, 7] + 2 and np.array_equal(x[3:5, 7], a[3:5, 7] + 2)
    x[0, 0] = 1000
    x[60:70, 60:70] = 5
    x.resize((90, 90))
    x.schunk.remove_postfilter("plus")
    expected = a.copy()
    expected[0, 0], expected[60:70, 60:70] = 1000, 5
    assert np.array_equal(x[:], expected[:90, :90])


def test_the_last_filter_replaces_the_one_before(schunk):
    schunk.prefilter("<i4")(lambda i, o, at: np.add(i, 1, o))

    @schunk.prefilter("<i4")
    def twice(input, output, offset):
        output[:] = input * 2

    schunk.update_data(2, np.arange(5, dtype="<i4"))
    assert np.array_equal(items(schunk)[-5:], np.arange(5) * 2)
    assert [name for name, f in b2.prefilter_funcs.items() if f is twice] == ["twice"]
    with pytest.raises(b2.NotFoundError, match="twice"):
        schunk.remove_prefilter("thrice")
    schunk.remove_prefilter("twice")
    with pytest.raises(b2.NotFoundError, match="none"):
        schunk.remove_postfilter("twice")


def test_dtypes_must_have_the_size_of_items(schunk):
    for decorator in (schunk.prefilter, schunk.postfilter):
        with pytest.raises(ValueError, match="4"):
            decorator("i8")
        with pytest.raises(ValueError):
            decorator("i4", "f8")
    with pytest.raises(ValueError):
        b2.SChunk(cparams={"typesize": 8}).prefilter(object)


def test_structured_items():
    dtype = np.dtype([("a", "<i2"), ("when", "<M8[s]"), ("s", "S3")])
    s = b2.SChunk(chunksize=dtype.itemsize * 100, cparams={"typesize": dtype.itemsize})

    @s.prefilter(dtype)
    def change(input, output, offset):
        output[:] = input
        output["a"] += 1

    data = np.zeros(150, dtype)
    data["s"] = b"abc"
    s[:150] = data.view("u1")
    result = np.frombuffer(s[:], dtype)
    assert (result["a"] == 1).all() and (result["s"] == b"abc").all()


@pytest.mark.parametrize("nthreads", THREADS)
def test_exceptions_of_block_functions(nthreads):
    n = {"nthreads": nthreads}
    s = b2.SChunk(chunksize=400_000, cparams={"typesize": 4, "blocksize": 8000, **n}, dparams=n)
    data = make("ramp", 400_000)

    @s.prefilter("<i4")
    def pre(input, output, offset):
        if offset == 4000:
            raise KeyError("pre")
        output[:] = input

    with pytest.raises(KeyError, match="pre") as info:
        s.append_data(data)
    assert "pre" in [frame.name for frame in traceback.extract_tb(info.tb)]
    assert s.nchunks == 0
    s.remove_prefilter("pre")
    s.append_data(data)

    @s.postfilter("<i4")
    def post(input, output, offset):
        if offset >= 50_000:
            raise KeyError(offset)
        output[:] = input

    with pytest.raises(KeyError, match="50000"):
        s[:]
    assert s[:50_000] == data[:200_000]


def test_callbacks_read_but_do_not_change_or_close(schunk, tmp_path):
    seen = []

    @schunk.prefilter("<i4")
    def pre(input, output, offset):
        seen.append((schunk.nchunks, schunk[3:4], schunk.vlmeta[:], repr(schunk)))
        output[:] = input

    schunk.update_data(1, np.arange(100_000, dtype="<i4"))
    assert {item[:2] for item in seen} == {(3, np.int32(3).tobytes())}
    schunk.remove_prefilter("pre")
    for change in (
        lambda: schunk.append_data(b"abcd"),
        lambda: schunk.delete_chunk(0),
        lambda: schunk.vlmeta.__setitem__("a", 1),
        schunk.close,
        lambda: schunk.remove_postfilter("post"),
        schunk.refresh,
        lambda: schunk.transaction().__enter__(),
    ):

        @schunk.postfilter("<i4")
        def post(input, output, offset, change=change):
            change()

        with pytest.raises(b2.ParameterError, match=r"a callback.* in use"):
            schunk[:]
        schunk.remove_postfilter("post")
    assert schunk.nchunks == 3


@pytest.mark.parametrize("nthreads", THREADS)
def test_callbacks_of_a_locked_file(nthreads, tmp_path):
    n = {"nthreads": nthreads}
    s = b2.SChunk(
        chunksize=400_000,
        cparams={"typesize": 4, "blocksize": 80_000, **n},
        dparams=n,
        urlpath=tmp_path / "x",
        locking=True,
    )
    seen = []

    @s.prefilter("<i4")
    def pre(input, output, offset):
        seen.append(s.nchunks)
        output[:] = input

    s.append_data(np.arange(100_000, dtype="<i4"))
    assert seen == [0] * 5
    s.remove_prefilter("pre")

    @s.postfilter("<i4")
    def post(input, output, offset):
        seen.append(s.nbytes)
        output[:] = input

    assert s[:] == np.arange(100_000, dtype="<i4").tobytes() and seen[5:] == [400_000] * 5
    s.close()


def test_callbacks_use_the_library_themselves(schunk):
    other = b2.SChunk(data=np.arange(250_000, dtype="<i4"), chunksize=400_000, cparams={"nthreads": 4})

    @schunk.postfilter("<i4")
    def subtract(input, output, offset):
        theirs = np.frombuffer(other[offset : offset + input.size], "<i4")
        packed = b2.decompress2(b2.compress2((input - theirs).tobytes()))
        output[:] = np.frombuffer(packed, "<i4")

    assert not any(schunk[:])
    assert not any(schunk[100_000:10_010])


def test_a_callback_reads_while_a_writer_waits(schunk):
    """Readers let a waiting writer go first, but not one that the writer waits for."""
    writer = threading.Thread(target=schunk.append_data, args=(b"abcd",))
    started = threading.Lock()

    @schunk.postfilter("<i4")
    def post(input, output, offset):
        with started:
            if writer.ident is None:
                writer.start()
            while not schunk.handle._nwaiting and writer.is_alive():
                time.sleep(0.001)
        assert schunk.nchunks == 3
        output[:] = input

    data = schunk[:]
    writer.join(60)
    assert len(data) == 1_000_000 and schunk.nchunks == 4 and not writer.is_alive()


def test_readers_and_callbacks_on_many_threads():
    data = np.arange(100_000, dtype="<i4")
    params = cparams(CODEC, [FILTER], [9], 4)
    s = b2.SChunk(chunksize=80_000, data=data, cparams=params, dparams={"nthreads": 4})

    @s.postfilter("<i4")
    def plus(input, output, offset):
        output[:] = input + 1

    failures = []

    def read(seed):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            a, b = sorted(rng.integers(0, 100_000, 2))
            if not np.array_equal(items(s, start=a, stop=b), data[a:b] + 1):
                failures.append((a, b))

    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_functions_live_as_long_as_they_are_set():
    class Function:
        def __call__(self, input, output, offset):
            output[:] = input + 1

    s = b2.SChunk(chunksize=4000, data=np.arange(1000, dtype="<i4"), cparams={"typesize": 4})
    s.postfilter("<i4")(Function())
    gc.collect()
    assert np.array_equal(items(s), np.arange(1000) + 1)
    assert any(type(f) is Function for f in b2.postfilter_funcs.values())
    s.remove_postfilter("Function")
    gc.collect()
    assert not any(isinstance(o, Function) for o in gc.get_objects())


# ---- fillers ----


@pytest.fixture
def empty():
    return b2.SChunk(
        chunksize=160_000,
        cparams={"typesize": 8, "nthreads": 4, "blocksize": 16_000},
        dparams={"nthreads": 4},
    )


def test_filler(empty):
    op = np.arange(50_000, dtype="<i4")
    sop = b2.SChunk(data=op, chunksize=40_000)
    seen = []

    @empty.filler(((sop, np.dtype("<i4")), (op, np.dtype("<i4")), (np.e, np.float32)), np.dtype("<f8"))
    def fill(inputs, output, offset):
        seen.append(([(i.dtype, i.size) for i in inputs], output.dtype, output.size, offset))
        inputs[1][:] += 0  # may be changed
        output[:] = inputs[0] + inputs[1] - inputs[2]

    assert np.array_equal(np.frombuffer(empty[:], "<f8"), op * 2.0 - np.float32(np.e))
    assert empty.nchunks == 3 and len(seen) == 25
    for inputs, dtype, size, offset in seen:
        assert inputs == [(np.dtype(t), size) for t in ("<i4", "<i4", "<f4")]
        assert dtype == np.dtype("<f8") and offset % 2000 == 0
    assert np.array_equal(op, np.arange(50_000))
    with pytest.raises(ValueError, match="empty"):
        empty.filler(((1.0, np.float64),), "<f8", 10)


def test_fillers_as_in_the_reference():
    results = []
    for library in (b2, blosc2):
        s = library.SChunk(chunksize=160_000, cparams={"typesize": 8, "nthreads": 1})
        op = np.arange(30_000, dtype="<i4")

        @s.filler(((op, np.dtype("<i4")), (2.5, np.float32)), np.dtype("<f8"))
        def fill(inputs, output, offset):
            output[:] = inputs[0] * inputs[1] + offset

        results.append((s[:], s.nchunks, len(s)))
    assert results[0] == results[1]


@pytest.mark.parametrize("nelem", [1, 20_000, 50_001])
def test_filler_with_scalars(empty, nelem):
    empty.filler(((3, np.int64), (np.float32(2), np.float32)), "<f8", nelem=nelem)(
        lambda given, o, at: np.add(given[0] * given[1], at + np.arange(o.size), o)
    )
    assert np.array_equal(np.frombuffer(empty[:], "<f8"), 6 + np.arange(nelem, dtype="f8"))


def test_wrong_fillers(empty):
    op = np.arange(100, dtype="<i4")
    for inputs, nelem in (
        (((op, "<i4"), (op[:5], "<i4")), None),
        (((op, "<i4"),), 50),
        (((1.0, "<f8"),), None),
        ((), None),
    ):
        with pytest.raises(ValueError):
            empty.filler(inputs, "<f8", nelem)
    with pytest.raises(ValueError):
        empty.filler(((op, "<i4"),), "<f4")
    with pytest.raises(ValueError):
        empty.filler(((b2.SChunk(data=op), "<i8"),), "<f8")
    with pytest.raises(TypeError):
        empty.filler((("abc", "<i4"),), "<f8")

    def fail(inputs, output, offset):
        if offset >= 20_000:
            raise KeyError("fill")

    with pytest.raises(KeyError, match="fill"):
        empty.filler(((1.0, "<f8"),), "<f8", 50_000)(fail)
    assert empty.nchunks == 0


# ---- parameters as the reference names them ----


def test_get_and_update_params():
    s = b2.SChunk(data=bytes(1000), cparams={"typesize": 4, "nthreads": 2})
    assert s.get_cparams() == s.cparams and s.get_dparams() == s.dparams
    s.update_cparams(b2.CParams(codec="lz4", typesize=4, clevel=3))
    assert s.cparams.codec is b2.Codec.LZ4 and s.get_cparams().clevel == 3
    s.update_dparams(b2.DParams(nthreads=3))
    assert s.get_dparams().nthreads == 3
    with pytest.raises(ValueError):
        s.update_cparams(b2.CParams(typesize=2))


# ---- processes ----


@pytest.mark.parametrize("ends", ["sys.exit(0)", "os._exit(0)", "pass"])
def test_processes_end(ends, tmp_path):
    """With threads that have called Python, and after a fork."""
    out = run(
        tmp_path,
        f"""
        import os, sys
        import numpy as np
        def f(input, output, meta, schunk): output[:] = input
        b2.register_filter(200, f, f)
        data = np.arange(200_000, dtype="<i4")
        params = {{"filters": [200], "filters_meta": [0], "typesize": 4, "nthreads": 4, "blocksize": 8000}}
        s = b2.SChunk(data=data, cparams=params, dparams={{"nthreads": 4}})
        print(s[:] == data.tobytes(), flush=True)
        pid = os.fork()
        if pid == 0:
            print(s[:] == data.tobytes(), flush=True)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        {ends}
        """,
    )
    assert out == ["True", "True"]
