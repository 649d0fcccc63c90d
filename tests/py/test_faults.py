# SPDX-License-Identifier: BSD-3-Clause
"""Each call that the package makes of the system fails, or is its last; see fault_cases.py.

B2C_EVERY 1 tries every call; more thin the cases out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EVERY = int(os.environ.get("B2C_EVERY", "67"))
CC = shutil.which(os.environ.get("CC", "cc"))

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or CC is None or "LD_PRELOAD" in os.environ,
    reason="calls are failed by a preloaded library of glibc's functions",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("faults") / "fault_calls.so")
    assert CC is not None
    made = subprocess.run(
        [CC, "-O1", "-shared", "-fPIC", "-o", path, str(HERE / "fault_calls.c"), "-ldl", "-lpthread"],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        pytest.skip(f"no such library can be made: {made.stderr[-200:]}")
    return path


@pytest.mark.parametrize("kind", ["memory", "short", "kill", "EIO", "ENOSPC", "EINTR", "EMFILE"])
def test_each_call_fails(library: str, try_cases, kind: str) -> None:
    stride = max(1, EVERY // 6) if kind == "kill" else EVERY
    try_cases("fault_cases.py", kind, str(stride), LD_PRELOAD=library)
