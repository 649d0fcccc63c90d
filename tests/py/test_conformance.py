# SPDX-License-Identifier: BSD-3-Clause
"""The conformance set, and the command that checks files against a manifest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blosc2c.cli import main
from blosc2c.conformance import run

SET = Path(__file__).parents[1] / "data" / "conformance"


def test_the_set_is_read(capsys):
    assert main(["conformance", str(SET)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        len(lines) == len(list(SET.iterdir())) > 200
    )  # the manifest is no file of it, but there is a last line
    assert all(line.startswith("ok") for line in lines[:-1])


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("frame.b2frame", "sha256", "0" * 64),
        ("ndim-2.b2nd", "shape", [9, 1]),
        ("metalayers.b2frame", "meta", {}),
        ("ndim-2.b2nd", "nchunks", 1),
        ("codec-lz4.chunk", "error", "CorruptError"),
        ("bad-short.chunk", "error", "UnknownCodecError"),
        ("bad-codec-38.chunk", "says", "zfp"),
        ("bad-codec-200.chunk", "needs", "zfp"),
        ("directory.b2frame", "nchunks", 4),
        ("container.b2z", "member", "/a"),
        ("vlblocks-raw.chunk", "sizes", [10]),
        ("frame.b2frame", "name", "frame.b2frame/none"),
    ],
)
def test_differences_are_found(tmp_path, capsys, name, key, value):
    shutil.copytree(SET, tmp_path / "set")
    manifest = tmp_path / "set" / "manifest.json"
    entries = json.loads(manifest.read_text())
    entry = next(entry for entry in entries["files"] if entry["name"] == name)
    if key == "needs":
        del entry["error"]
    entry[key] = value
    manifest.write_text(json.dumps(entries))
    assert main(["conformance", str(tmp_path / "set")]) == 1
    out = capsys.readouterr().out
    assert f"FAILED  {name}" in out and out.count("FAILED") == 2


def test_a_codec_that_is_missing_must_be_named(tmp_path):
    shutil.copy(SET / "bad-codec-38.chunk", tmp_path)
    entry = {"name": "bad-codec-38.chunk", "shows": "x", "kind": "chunk", "nbytes": 800, "needs": "openzl"}
    (tmp_path / "manifest.json").write_text(json.dumps({"files": [entry]}))
    (outcome,) = run(str(tmp_path))
    assert (outcome.problem, outcome.without) == ("", "openzl") and "refused" in str(outcome)


def contents_of(directory: Path) -> dict[str, bytes]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def test_the_generator_gives_the_committed_files(tmp_path):
    make = SET.parents[2] / "tools" / "make_conformance.py"
    subprocess.run([sys.executable, str(make), str(tmp_path)], check=True)
    old, new = contents_of(SET), contents_of(tmp_path)
    assert set(new) == set(old)
    assert all(len(stored) < 4096 for name, stored in new.items() if name != "manifest.json")
    told = [json.loads(found.pop("manifest.json")) for found in (old, new)]
    assert told[0]["files"] == told[1]["files"]
    libraries = [each["libraries"] for each in told]
    changed = {name for name in libraries[0] if libraries[0][name] != libraries[1][name]}
    changed |= {"lz4hc"} & {name + "hc" for name in changed}
    foreign = {entry["name"] for entry in told[0]["files"] if entry.get("needs") in changed}
    assert [name for name in old if old[name] != new[name] and name.split("/")[0] not in foreign] == []
    assert [str(outcome) for outcome in run(str(tmp_path)) if outcome.problem] == []


def test_no_manifest(tmp_path):
    assert main(["conformance", str(tmp_path)]) == 1
    entries = ({"name": "x"}, {"name": 1, "shows": "x", "kind": "chunk"}, "text")
    for text in ("[]", "[" * 100_000, *(json.dumps({"files": [entry]}) for entry in entries)):
        (tmp_path / "manifest.json").write_text(text)
        assert main(["conformance", str(tmp_path)]) == 1


def test_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x")
    entries = [{"name": "x", "shows": "", "kind": kind} for kind in ("chunk", "vlblocks", "schunk", "array")]
    (tmp_path / "manifest.json").write_text(json.dumps({"files": entries}))
    assert all("not a regular file" in outcome.problem for outcome in run(str(tmp_path)))
    (tmp_path / "x").rename(tmp_path / "manifest.json")
    assert main(["conformance", str(tmp_path)]) == 1
