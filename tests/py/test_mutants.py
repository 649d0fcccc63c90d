# SPDX-License-Identifier: BSD-3-Clause
"""Every public call on damaged frames, files, directories and chunks; see mutants.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("kind", ["frame", "file", "dir", "chunk", "container", "sample"])
def test_every_call_gives_data_or_a_documented_exception(kind):
    script = Path(__file__).with_name("mutants.py")
    count = "150" if kind in ("chunk", "container", "sample") else "50"
    result = subprocess.run(
        [sys.executable, str(script), "0", count, kind],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-5000:]
