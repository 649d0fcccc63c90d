# SPDX-License-Identifier: BSD-3-Clause
"""The conformance set, and the command that checks files against a manifest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from blosc2c.cli import main

SET = Path(__file__).parents[1] / "data" / "conformance"


def test_the_set_is_read(capsys):
    assert main(["conformance", str(SET)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list(SET.iterdir()))  # the manifest is no file of it, but there is a last line
    assert all(line.startswith("ok") for line in lines[:-1])


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("frame.b2frame", "sha256", "0" * 64),
        ("ndim-2.b2nd", "shape", [9, 1]),
        ("metalayers.b2frame", "meta", {}),
        ("codec-lz4.chunk", "error", "CorruptError"),
        ("short.chunk", "error", "UnknownCodecError"),
    ],
)
def test_differences_are_found(tmp_path, capsys, name, key, value):
    shutil.copytree(SET, tmp_path / "set")
    manifest = tmp_path / "set" / "manifest.json"
    entries = json.loads(manifest.read_text())
    next(entry for entry in entries["files"] if entry["name"] == name)[key] = value
    manifest.write_text(json.dumps(entries))
    assert main(["conformance", str(tmp_path / "set")]) == 1
    out = capsys.readouterr().out
    assert f"FAILED  {name}" in out and out.count("FAILED") == 2


def test_no_manifest(tmp_path):
    assert main(["conformance", str(tmp_path)]) == 1
    (tmp_path / "manifest.json").write_text("[]")
    assert main(["conformance", str(tmp_path)]) == 1
