# SPDX-License-Identifier: BSD-3-Clause
"""Shared fixtures.

`blosc2` (the reference implementation) is a test dependency: it is the other end of every
interoperability test.  B2C_SAMPLES may name a folder of files written by historic versions.
"""

from __future__ import annotations

import os
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
