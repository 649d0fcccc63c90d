# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a process: exit status, what goes to stdout and what to stderr."""

from __future__ import annotations

import errno
import functools
import io
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import blosc2
import numpy as np
import pytest

import blosc2c as b2

A = np.arange(60, dtype="<i4").reshape(3, 4, 5)


def run(*args: object, cwd=None, text=True):
    command = [sys.executable, "-m", "blosc2c", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=text, cwd=cwd, timeout=120)


def good(*args: object, **kw) -> str:
    out = run(*args, **kw)
    assert out.returncode == 0, out.stderr
    return out.stdout


def bad(*args: object, status: int, **kw) -> str:
    """A failure: nothing on stdout, one line for people on stderr."""
    out = run(*args, **kw)
    assert out.returncode == status, out.stderr
    assert out.stdout == "" and "Traceback" not in out.stderr
    assert out.stderr.strip()
    return out.stderr


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "a.npy", A)
    b2.asarray(A, chunks=(2, 3, 4), blocks=(1, 2, 3), urlpath=tmp_path / "a.b2nd", meta={"m": 1}).close()
    b2.SChunk(data=bytes(range(200)), chunksize=60, urlpath=tmp_path / "s.b2frame").close()
    (tmp_path / "text").write_text("this is no frame\n" * 20)
    return tmp_path


def test_pack_and_unpack(folder):
    out = run("pack", "a.npy", "new.b2nd", cwd=folder)
    assert out.returncode == 0 and out.stdout == "" and "new.b2nd" in out.stderr
    assert np.array_equal(blosc2.open(str(folder / "new.b2nd"))[...], A)
    assert run("unpack", "new.b2nd", cwd=folder).returncode == 0
    back = np.load(folder / "new.npy")
    assert back.dtype == A.dtype and np.array_equal(back, A)


@pytest.mark.parametrize("codec", ["blosclz", "lz4", "lz4hc", "zlib", "zstd"])
def test_pack_options(folder, codec):
    good("pack", "a.npy", "o.b2nd", "--codec", codec, "--clevel", 7, "--filter", "bitshuffle", "--threads", 2,
         "--chunks", "2,4,5", "--blocks", "1,2,5", cwd=folder)  # fmt: skip
    b = b2.open(folder / "o.b2nd")
    assert (b.chunks, b.blocks) == ((2, 4, 5), (1, 2, 5))
    assert b.cparams.codec.name.lower() == codec and b.cparams.clevel == 7
    assert np.array_equal(b[...], A)


@pytest.mark.parametrize(
    "a",
    [np.array(3.5), np.zeros((0, 3)), np.arange(5, dtype=">i2"), np.array(["ab", "c"]), np.ones((300, 200)),
     np.zeros(4, [("x", "<i4"), ("y", "S3")]), np.asfortranarray(A)],
    ids=lambda a: f"{a.dtype}{a.shape}",
)  # fmt: skip
def test_pack_and_unpack_any_array(tmp_path, a):
    np.save(tmp_path / "x.npy", a)
    good("pack", "x.npy", cwd=tmp_path)
    good("unpack", "x.b2nd", "y.npy", cwd=tmp_path)
    y = np.load(tmp_path / "y.npy")
    assert (y.dtype, y.shape) == (a.dtype, a.shape) and np.array_equal(y, a)


def test_nothing_is_replaced_without_force(folder):
    before = (folder / "a.b2nd").read_bytes()
    assert "--force" in bad("pack", "a.npy", cwd=folder, status=2)
    assert (folder / "a.b2nd").read_bytes() == before
    good("pack", "a.npy", "--force", cwd=folder)
    assert (folder / "a.b2nd").read_bytes() != before


def test_failures_leave_nothing_behind(folder):
    (folder / "broken.b2nd").write_bytes((folder / "a.b2nd").read_bytes()[:-30])
    before = sorted(os.listdir(folder))
    bad("unpack", "broken.b2nd", "out.npy", cwd=folder, status=1)
    bad("unpack", "s.b2frame", "out.npy", cwd=folder, status=1)
    bad("pack", "text", "out.b2nd", cwd=folder, status=1)
    bad("pack", "a.npy", "out.b2nd", "--chunks", "1,2", cwd=folder, status=2)
    bad("pack", "a.npy", "out.b2nd", "--clevel", "11", cwd=folder, status=2)
    assert sorted(os.listdir(folder)) == before


def test_info(folder):
    text = good("info", "a.b2nd", cwd=folder)
    assert "(3, 4, 5)" in text and "int32" in text
    facts = json.loads(good("info", "--json", "a.b2nd", cwd=folder))
    assert facts["type"] == "NDArray" and facts["shape"] == [3, 4, 5]
    assert (facts["chunks"], facts["blocks"]) == ([2, 3, 4], [1, 2, 3])
    assert facts["meta"]["m"] == 1
    facts = json.loads(good("info", "--json", "s.b2frame", cwd=folder))
    assert (facts["type"], facts["nbytes"], facts["nchunks"], facts["chunksize"]) == ("SChunk", 200, 4, 60)


def test_info_of_an_empty_name(tmp_path):
    with b2.SChunk(urlpath=tmp_path / "s.b2frame", meta={"": 1}) as s:
        s.vlmeta[""] = 2
    text = good("info", "s.b2frame", cwd=tmp_path)
    assert "meta    : '' = 1" in text and "vlmeta  : '' = 2" in text


def test_info_is_json_whatever_the_values(folder):
    with b2.open(folder / "s.b2frame", "a") as s:
        s.vlmeta.update({"fill": float("nan"), "range": [float("-inf"), 1.5]})

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    facts = json.loads(good("info", "--json", "s.b2frame", cwd=folder), parse_constant=refuse)
    assert facts["vlmeta"] == {"fill": "nan", "range": ["-inf", 1.5]}


def test_info_agrees_with_the_header(folder):
    import msgpack

    path = str(folder / "r.b2frame")
    r = blosc2.SChunk(
        chunksize=400,
        urlpath=path,
        meta={"a": [1]},
        cparams={"typesize": 4, "codec": blosc2.Codec.LZ4HC, "clevel": 3},
    )
    for i in range(3):
        r.append_data(np.arange(i, i + 100, dtype="<i4"))
    r.vlmeta["v"] = "text"
    raw = (folder / "r.b2frame").read_bytes()
    head = msgpack.unpackb(raw[: int.from_bytes(raw[11:15], "big")], strict_map_key=False)
    facts = json.loads(good("info", "--json", path))
    assert (facts["nbytes"], facts["typesize"], facts["chunksize"]) == (head[4], head[6], head[8])
    assert (facts["codec"], facts["clevel"]) == ("lz4hc", 3)
    assert facts["nchunks"] == 3 and facts["contiguous"] is True
    assert facts["meta"] == {"a": [1]} and facts["vlmeta"] == {"v": "text"}


def test_cat(folder):
    assert good("cat", "a.b2nd", "[1, 2, 3]", cwd=folder) == f"{A[1, 2, 3]}\n"
    assert (
        good("cat", "a.b2nd", "[0]", cwd=folder)
        == "\n".join(",".join(map(str, row)) for row in A[0].tolist()) + "\n"
    )
    assert good("cat", "a.b2nd", "[-1, ::2, -1]", cwd=folder) == ",".join(map(str, A[-1, ::2, -1])) + "\n"
    raw = run("cat", "--npy", "a.b2nd", "[:, 1]", cwd=folder, text=False).stdout
    assert np.array_equal(np.load(io.BytesIO(raw)), A[:, 1])


def test_force_replaces_regular_files_only(folder):
    os.mkfifo(folder / "pipe")
    for args in (["pack", "a.npy"], ["unpack", "a.b2nd"], ["convert", "a.b2nd"]):
        assert "no regular file" in bad(*args, "pipe", "--force", cwd=folder, status=2)
    assert (folder / "pipe").is_fifo()


def test_the_input_is_not_the_output(folder):
    for command, name in (("pack", "a.npy"), ("unpack", "a.b2nd")):
        before = (folder / name).read_bytes()
        assert "is the input" in bad(command, name, f"./{name}", "--force", cwd=folder, status=2)
        assert (folder / name).read_bytes() == before
    good("convert", "a.b2nd", "a.b2nd", "--force", cwd=folder)


def test_the_other_command_is_named(folder):
    assert "a.b2nd is named as what pack writes: unpack it" in bad("pack", "a.b2nd", cwd=folder, status=2)
    assert "a.npy is named as what unpack writes: pack it" in bad("unpack", "a.npy", cwd=folder, status=2)


def test_messages_name_what_the_user_named(folder):
    os.mkfifo(folder / "pipe")
    assert "not a regular file" in bad("info", "pipe", cwd=folder, status=1)
    assert "''" in bad("info", "", cwd=folder, status=1)
    says = bad("unpack", "a.b2nd", "nothing/x.npy", cwd=folder, status=1)
    assert "nothing: No such file" in says
    np.savez(folder / "x.npz", a=np.zeros(3))
    for name in ("text", "x.npz"):
        says = bad("pack", name, "out.b2nd", cwd=folder, status=1)
        assert f"{name} is no .npy file" in says and "allow_pickle" not in says


def test_pack_of_a_damaged_header(folder):
    """NumPy raises a TokenError for the first one, which is no ValueError."""
    whole = (folder / "a.npy").read_bytes()
    for damaged in (whole.replace(b"}", b" "), whole.replace(b"{", b"["), whole[:90], b""):
        (folder / "x.npy").write_bytes(damaged)
        assert "x.npy is no .npy file" in bad("pack", "x.npy", cwd=folder, status=1)


def test_a_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe")
    for command in ("pack", "unpack", "info", "cat", "verify"):
        says = bad(command, "pipe", cwd=folder, status=1)
        assert "pipe: " in says and "not a regular file" in says


@pytest.mark.parametrize("number", [0, -1, 257, 10**30, 1.5, "many"])
def test_threads_are_1_to_256(folder, number):
    for words in (("pack", "a.npy", "new.b2nd"), ("unpack", "a.b2nd", "new.npy")):
        says = bad(*words, f"--threads={number}", cwd=folder, status=2)
        assert f"argument --threads: must be between 1 and 256, not {number}" in says


def test_verify_goes_on_after_a_file_that_cannot_be_read(folder):
    out = run("verify", "a.b2nd", "nothing", "s.b2frame", cwd=folder)
    assert out.returncode == 1 and "nothing: No such file" in out.stderr
    assert [line.split(": ")[0] for line in out.stdout.splitlines()] == ["a.b2nd", "s.b2frame"]


def test_one_chunk_is_not_called_chunks(folder):
    b2.SChunk(data=bytes(range(60)), urlpath=folder / "1.b2frame").close()
    assert good("verify", "1.b2frame", "s.b2frame", cwd=folder).splitlines() == [
        "1.b2frame: ok (1 chunk)",
        "s.b2frame: ok (4 chunks)",
    ]
    out = run("convert", "1.b2frame", "new.b2frame", cwd=folder)
    assert "new.b2frame: 1 chunk, 0 metalayers, 0 vlmetalayers" in out.stderr
    assert "1.b2frame: ok (1 chunk kept, 0 lost;" in run("repair", "1.b2frame", "new", cwd=folder).stdout


def test_messages_never_go_to_stdout(folder):
    words = [sys.executable, "-m", "blosc2c", "info", "nothing"]
    out = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *words], stdout=subprocess.PIPE, cwd=folder)
    assert (out.returncode, out.stdout) == (1, b"")


def test_a_damaged_source_is_named_not_the_new_file(folder):
    data = np.random.default_rng(0).bytes(9000)
    damaged = bytearray(b2.SChunk(data=data, chunksize=3000).to_cframe())
    damaged[3100:3110] = bytes(10)
    (folder / "damaged").write_bytes(damaged)
    says = bad("convert", "damaged", "out.b2frame", cwd=folder, status=1)
    assert "damaged" in says and ".blosc2c." not in says
    with b2.open(folder / "damaged") as s, pytest.raises(b2.CorruptError) as caught:
        s.copy(urlpath=folder / "copy.b2frame")
    assert caught.value.path == str(folder / "damaged")


@pytest.mark.parametrize("command", ["cat", "unpack"])
def test_a_filter_that_nobody_knows_is_no_wrong_usage(folder, command):
    frame = bytearray(blosc2.asarray(np.arange(1000)).to_cframe())
    filters_at = int.from_bytes(frame[11:15], "big") + 16
    frame[filters_at] = 255  # of the first chunk
    (folder / "odd").write_bytes(frame)
    assert "filter 255" in bad(command, "odd", cwd=folder, status=1)


def test_impossible_parameters_of_a_file_are_no_wrong_usage(folder):
    cparams = {"typesize": 4, "filters": [b2.Filter.TRUNC_PREC], "filters_meta": [10]}
    frame = bytearray(b2.SChunk(data=bytes(4000), cparams=cparams, checksums=False).to_cframe())
    assert frame[79] == 10
    frame[79] = 0  # bits to keep
    (folder / "odd").write_bytes(frame)
    says = bad("convert", "odd", "out.b2frame", cwd=folder, status=1)
    assert "trunc_prec" in says and "(odd, " in says
    with pytest.raises(b2.CorruptError) as caught:
        b2.convert(folder / "odd", folder / "out.b2frame")
    assert (caught.value.path, caught.value.field) == (str(folder / "odd"), "filters_meta")


@pytest.mark.parametrize("command", ["pack big.npy", "convert big.b2nd"])
def test_the_new_file_is_named_as_the_user_does(folder, command):
    data = np.random.default_rng(0).integers(0, 256, 100_000, "u1")
    np.save(folder / "big.npy", data)
    b2.asarray(data, urlpath=folder / "big.b2nd").close()
    script = f"ulimit -f 2 && exec {sys.executable} -m blosc2c {command} out"
    out = subprocess.run(script, shell=True, capture_output=True, text=True, cwd=folder, timeout=120)
    assert (out.returncode, out.stderr) == (1, "blosc2c: out: File too large\n")


def test_a_closed_stdout(folder):
    script = f"exec {sys.executable} -m blosc2c cat a.b2nd >&-"
    out = subprocess.run(script, shell=True, capture_output=True, text=True, cwd=folder, timeout=120)
    assert out.returncode == 1 and "standard output" in out.stderr and "Traceback" not in out.stderr


@pytest.mark.parametrize(
    "index", ["[7]", "[0,0,0,0]", "[", "x", "__import__('os')", "[1:2:0]", "1.5", "[f()]"]
)
def test_cat_of_what_is_no_index(folder, index):
    bad("cat", "a.b2nd", index, cwd=folder, status=2)


@pytest.mark.parametrize("command", ["info", "cat", "unpack"])
def test_inputs_that_cannot_be_read(folder, command):
    assert "nothing" in bad(command, "nothing", cwd=folder, status=1)
    assert "text" in bad(command, "text", cwd=folder, status=1)
    (folder / "empty").write_bytes(b"")
    bad(command, "empty", cwd=folder, status=1)
    (folder / "dir").mkdir()
    bad(command, "dir", cwd=folder, status=1)


def test_wrong_usage():
    for args in (
        [],
        ["nothing"],
        ["pack"],
        ["info"],
        ["pack", "a", "b", "--codec", "x"],
        ["info", "--what", "x"],
    ):
        assert "usage" in bad(*args, status=2)


@pytest.mark.parametrize("command", ["pack", "unpack", "convert", "repair", "verify"])
@pytest.mark.parametrize("name", [b"\xff", b"a\nb: ok", b"\x1b[2J", b"n" * 255], ids=range(4))
def test_names_of_any_bytes(folder, command, name):
    """They are shown in a line of visible characters, and may be as long as the system allows."""
    given = {"pack": "a.npy", "verify": ""}.get(command, "a.b2nd")
    target = os.path.join(os.fsencode(folder), name)
    if not given:
        b2.asarray(A, urlpath=target).close()
    words = [sys.executable, "-m", "blosc2c", command, *([given] if given else []), name]
    # As where the locale is one of UTF-8; that of C lets surrogates through.
    env = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    out = subprocess.run(words, capture_output=True, cwd=folder, timeout=120, env=env)
    assert out.returncode == 0, out.stderr
    assert os.path.getsize(target)
    assert b"\x1b" not in out.stdout + out.stderr
    assert (out.stdout + out.stderr).count(b"\n") == 1


def test_help_and_version():
    assert "usage" in good("--help")
    for command in ("pack", "unpack", "info", "cat"):
        assert "usage" in good(command, "--help")
    assert b2.__version__ in good("--version")


def test_a_reader_that_goes_away(folder):
    b2.asarray(np.arange(500_000), urlpath=folder / "long.b2nd").close()
    command = [sys.executable, "-m", "blosc2c", "cat", str(folder / "long.b2nd")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_installed_command(folder):
    path = os.path.join(os.path.dirname(sys.executable), "blosc2c")
    out = subprocess.run([path, "--version"], capture_output=True, text=True)
    assert out.returncode == 0 and b2.__version__ in out.stdout


def test_selftest():
    out = good("selftest")
    assert "zstd" in out and "FAILED" not in out and "DIFFERS" not in out


# ---- Large results and limits ------------------------------------------------


@pytest.mark.parametrize("command", ["info", "cat", "unpack", "convert", "verify", "repair"])
def test_limits(folder, command):
    output = [] if command in ("info", "cat", "verify") else ["out"]
    assert run(command, "a.b2nd", *output, "--limit", "max_nbytes=1M", cwd=folder).returncode == 0
    for name in output:
        os.unlink(folder / name)
    out = run(command, "a.b2nd", *output, "--limit", "max_nbytes=239", cwd=folder)
    assert out.returncode == 1
    assert "limit" in out.stdout + out.stderr and "Traceback" not in out.stderr
    if command != "repair":  # which writes what is within the limits
        assert not (folder / "out").exists()
    hint = re.search(r"; (--limit) (max_nbytes=\d+) allows it", out.stdout + out.stderr)
    assert hint and run(command, "a.b2nd", *output, *hint.groups(), cwd=folder).returncode == 0


@pytest.mark.parametrize("text", ["max_nbytes", "max_nbytes=", "max_nbytes=x", "max_nbytes=0", "size=3"])
def test_limits_are_checked(folder, text):
    assert "max_result_nbytes=100M" in bad("info", "a.b2nd", "--limit", text, cwd=folder, status=2)


def test_result_limits(folder):
    for command in (["cat", "a.b2nd"], ["cat", "--npy", "a.b2nd"], ["unpack", "a.b2nd", "out.npy"]):
        bad(*command, "--limit", "max_result_nbytes=239", cwd=folder, status=1)
        assert run(*command, "--limit", "max_result_nbytes=240", cwd=folder, text=False).returncode == 0


def test_a_result_that_no_disk_holds(folder):
    b2.zeros((1 << 56,), "u1", chunks=(1 << 30,), blocks=(1 << 20,), urlpath=folder / "huge.b2nd").close()
    assert "free" in bad("unpack", "huge.b2nd", cwd=folder, status=1)
    assert not list(folder.glob("*huge*npy*"))


@pytest.mark.parametrize("option", [[], ["--npy"]])
def test_cat_streams(folder, option):
    """Of a result that fits no memory the first lines come at once, and memory stays bounded."""
    b2.zeros(
        (3, 1 << 40), "u1", chunks=(1, 1 << 26), blocks=(1, 1 << 20), urlpath=folder / "huge.b2nd"
    ).close()
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30));"
    start = "from blosc2c.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", limited + start, "cat", *option, str(folder / "huge.b2nd"), "[::-1]"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        read = process.stdout.read(1 << 22)
        process.stdout.close()
        process.stderr.read()
        process.wait(60)
    if option:
        assert read[:6] == b"\x93NUMPY" and read[128:] == bytes((1 << 22) - 128)
    else:
        assert read == b"0," * (1 << 21)


KEYS = [
    np.s_[...],
    np.s_[::-1, 1:, ::-2],
    np.s_[2],
    np.s_[1, ::-1],
    np.s_[:, None, 3],
    np.s_[1:1],
    np.s_[1, 2, 3],
]


@pytest.mark.parametrize("nbytes", [1, 7, 16, 60, 1000])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_parts_of_a_selection(monkeypatch, key, nbytes):
    """However it is cut, the parts are the whole."""
    from blosc2c import printing

    monkeypatch.setattr(printing, "TEXT_NBYTES", nbytes)
    monkeypatch.setattr(printing, "NPY_NBYTES", nbytes)
    records = np.zeros((2, 3, 4), "i2,S2")
    records["f0"] = np.arange(24).reshape(2, 3, 4)
    days = np.arange(60).reshape(3, 4, 5).astype("M8[D]")
    for items in (A, A.astype(">f8"), days, records):
        if items is records and key in (KEYS[2], KEYS[4]):
            continue
        with b2.asarray(items, chunks=(2, 3, 4), blocks=(1, 2, 3)) as array:
            parts = list(printing.Selection(array, key).parts(nbytes))
            want = items[key]
            got = np.concatenate([np.empty(0, items.dtype), *parts])
            assert np.array_equal(got, want.reshape(-1))
            assert all(part.nbytes <= max(nbytes, items.itemsize) for part in parts)
            npy = b"".join(printing.npy(printing.Selection(array, key)))
            assert np.array_equal(np.load(io.BytesIO(npy)), want)
            text = "".join(printing.text(printing.Selection(array, key)))
            assert text == expected_text(want)


def expected_text(items):
    """A line per row or record, an empty one between planes."""
    if items.ndim == 0:
        return f"{items[()]}\n"
    if not items.size:
        return ""

    def line(row):
        return ",".join(map(str, row.tolist() if row.dtype.kind != "M" else row)) + "\n"

    def lines(part):
        if items.dtype.names:
            return "".join(",".join(map(str, item)) + "\n" for item in part.reshape(-1).tolist())
        return "".join(line(row) for row in part.reshape(-1, part.shape[-1]))

    if items.ndim < 3:
        return lines(items)
    return "\n".join(lines(plane) for plane in items.reshape(-1, *items.shape[-2:]))


def with_stdout_to(path: str, *args: object, cwd, unbuffered: bool) -> tuple[int, str]:
    command = [sys.executable, *["-u"] * unbuffered, "-m", "blosc2c", *map(str, args)]
    with open(path, "wb") as stdout:
        out = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=cwd, timeout=120)
    return out.returncode, out.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["cat", "--help"],
        ["cat", "a.b2nd"],
        ["cat", "--npy", "a.b2nd"],
        ["info", "a.b2nd"],
        ["verify", "a.b2nd"],
    ],
)
def test_a_full_stdout_is_named(folder, words, unbuffered):
    status, text = with_stdout_to("/dev/full", *words, cwd=folder, unbuffered=unbuffered)
    assert status == 1
    assert text == "blosc2c: standard output: No space left on device\n"


def test_a_path_that_looks_like_an_option(folder):
    (folder / "-x.b2nd").write_bytes((folder / "a.b2nd").read_bytes())
    assert "the path -x.b2nd is written ./-x.b2nd" in bad("info", "-x.b2nd", cwd=folder, status=2)
    assert "is written" not in bad("info", "-y.b2nd", cwd=folder, status=2)
    good("info", "./-x.b2nd", cwd=folder)


@pytest.mark.parametrize(
    ("command", "source"),
    [("pack", "a.npy"), ("unpack", "a.b2nd"), ("convert", "a.b2nd"), ("repair", "a.b2nd")],
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_empty_name_of_the_output(folder, command, source, force):
    text = bad(command, source, "", *force, cwd=folder, status=1)
    assert text == "blosc2c: '': No such file or directory\n"


@pytest.mark.parametrize(
    ("option", "sizes", "says"),
    [
        ("--chunks", "99999999999,9,9", "chunks (99999999999, 9, 9) have"),
        ("--chunks", "99999999999999999999,1,1", "has a size above"),
        ("--blocks", "99999999999,9,9", "blocks (99999999999, 9, 9) have"),
    ],
)
def test_parts_that_are_too_large_are_wrong_usage(folder, option, sizes, says):
    assert says in bad("pack", "a.npy", "out.b2nd", option, sizes, cwd=folder, status=2)


@pytest.mark.parametrize("kind", [[], ["--directory"]])
def test_repair_replaces_no_directory_but_sparse_frames(folder, kind):
    (folder / "empty").mkdir()
    text = bad("repair", "a.b2nd", "empty", "--force", *kind, cwd=folder, status=2)
    assert text == "blosc2c: empty is a directory but no sparse frame; it is not replaced\n"
    assert os.listdir(folder / "empty") == []
    b2.asarray(A + 1, urlpath=folder / "sparse", contiguous=False).close()
    good("repair", "a.b2nd", "sparse", "--force", *kind, cwd=folder)
    assert np.array_equal(b2.open(folder / "sparse")[...], A)


def test_repair_names_the_output_that_it_cannot_write(folder):
    name = "x" * 300
    text = bad("repair", "a.b2nd", name, cwd=folder, status=1)
    assert text == f"blosc2c: {name}: {os.strerror(errno.ENAMETOOLONG)}\n"


def test_a_slash_behind_a_directory(folder):
    b2.asarray(A, urlpath=folder / "d.b2nd", contiguous=False).close()
    good("unpack", "d.b2nd/", cwd=folder)
    assert np.array_equal(np.load(folder / "d.npy"), A)
    assert not (folder / "d.b2nd" / ".npy").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(folder, number):
    large = np.lib.format.open_memmap(folder / "large.npy", "w+", "u1", (1 << 28,))
    large[:: 1 << 12] = 1
    large.flush()
    before = set(os.listdir(folder))
    command = [sys.executable, "-m", "blosc2c", "pack", "large.npy", "--clevel", "9", "--threads", "1"]
    reset = functools.partial(signal.signal, number, signal.SIG_DFL)  # who runs the tests may ignore it
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, preexec_fn=reset) as process:
        while set(os.listdir(folder)) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.05)  # until whoever has made the file is ready to remove it
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number, said
    assert set(os.listdir(folder)) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_a_finalizer(number):
    """What it raises there is no more than told of by Python; the command ends nevertheless."""
    code = """
        import os, sys, time
        from blosc2c import cli

        class Dropped:
            def __del__(self):
                os.kill(os.getpid(), int(sys.argv[1]))
                time.sleep(0.1)

        def work(args):
            Dropped()
            time.sleep(30)
            return 0

        cli.selftest = work
        sys.exit(cli.main(["selftest"]))
    """
    reset = functools.partial(signal.signal, number, signal.SIG_DFL)  # who runs the tests may ignore it
    command = [sys.executable, "-c", textwrap.dedent(code), str(int(number))]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60, preexec_fn=reset)
    assert done.returncode == 128 + number
    assert done.stderr == ("interrupted\n" if number == signal.SIGINT else f"ended by {number.name}\n")


def test_options_stand_anywhere(folder):
    """Also before an argument that may be left out."""
    good("pack", "a.npy", "--codec", "lz4", "1.b2nd", "--clevel", "9", cwd=folder)
    assert b2.open(folder / "1.b2nd").cparams.codec == b2.Codec.LZ4
    good("unpack", "1.b2nd", "--limit", "max_nbytes=1G", "1.npy", cwd=folder)
    assert np.array_equal(np.load(folder / "1.npy"), A)
    assert np.array_equal(
        np.load(io.BytesIO(good("cat", "1.b2nd", "--npy", "-1", cwd=folder, text=False))), A[-1]
    )
    assert good("verify", "1.b2nd", "--limit", "max_nbytes=1G", "a.b2nd", cwd=folder).count(": ok") == 2
    assert "unrecognized arguments: c" in bad("pack", "a.npy", "--force", "b", "c", cwd=folder, status=2)
    assert "required: input" in bad("pack", "--codec", "lz4", cwd=folder, status=2)


def test_what_follows_two_dashes_is_no_option(folder):
    (folder / "-x.npy").write_bytes((folder / "a.npy").read_bytes())
    good("pack", "--", "-x.npy", "-x.b2nd", cwd=folder)
    assert good("cat", "--", "-x.b2nd", "[1, 2, 3]", cwd=folder) == f"{A[1, 2, 3]}\n"
    good("cat", "--", "-x.b2nd", cwd=folder)
