# SPDX-License-Identifier: BSD-3-Clause
"""Handles on arrays whose file or directory is replaced by others meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import blosc2c as b2


@pytest.fixture(params=[True, False], ids=["file", "directory"])
def kw(request, tmp_path):
    return {"urlpath": tmp_path / "x.b2nd", "mode": "w", "contiguous": request.param}


def test_other_items_of_the_same_size_are_new(kw):
    noise = np.random.default_rng(0).integers(0, 1 << 62, (2, 1000))
    b2.asarray(noise[0], **kw).close()
    x = b2.open(kw["urlpath"])
    b2.asarray(noise[1], **kw).close()
    assert x.refresh() and not x.refresh()
    np.testing.assert_array_equal(x, noise[1])
