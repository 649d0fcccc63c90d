# SPDX-License-Identifier: BSD-3-Clause
"""Shared fixtures.

`blosc2` (the reference implementation) is a test dependency: it is the other end of every
interoperability test.  B2C_SAMPLES may name a folder of files written by historic versions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "b2c",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("b2c")


@pytest.fixture(scope="session")
def samples() -> Path:
    folder = os.environ.get("B2C_SAMPLES")
    if not folder:
        pytest.skip("B2C_SAMPLES does not name the folder of historic files")
    return Path(folder)


@pytest.fixture
def try_cases(tmp_path: Path) -> Callable[..., None]:
    """Runs a program beside the tests in a folder of its own, with more arguments; it ends well."""

    def run(program: str, *args: str, **env: str) -> None:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).parent / program), str(tmp_path), *args],
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout[-6000:]

    return run
