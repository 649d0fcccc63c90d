# SPDX-License-Identifier: BSD-3-Clause
"""Allocations of Python fail, each once, in calls of the package; see nomemory_cases.py.

B2C_EVERY 1 tries every one; more thin them out.
"""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest

EVERY = int(os.environ.get("B2C_EVERY", "67"))

# From 3.12 on a closure that there is no memory for ends CPython itself.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("_testcapi") is None or not hasattr(os, "fork") or sys.version_info >= (3, 12),
    reason="allocations are failed by the _testcapi of CPython, in forked processes",
)


def test_each_allocation_fails(try_cases) -> None:
    try_cases("nomemory_cases.py", str(max(1, EVERY // 2)))
