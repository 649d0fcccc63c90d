# SPDX-License-Identifier: BSD-3-Clause
"""The C interface as a whole: nothing of it escapes its test of arguments."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_function_is_called_with_bad_arguments():
    header = (ROOT / "csrc/include/blosc2c.h").read_text()
    test = (ROOT / "tests/c/test_arguments.c").read_text()
    names = re.findall(r"\b(b2c_\w+)\(", re.sub(r"/\*.*?\*/|typedef[^;{]*;", "", header, flags=re.S))
    assert len(set(names)) > 80
    assert not [name for name in set(names) if not re.search(rf"\b{name}\(", test)]
