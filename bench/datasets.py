"""The data that speed is measured on: what arrays in files look like, made from fixed seeds.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def walk(n: int) -> Array:
    """Random walk: prices, positions."""
    return np.cumsum(np.random.default_rng(1).standard_normal(n))


def saw(n: int) -> Array:
    """Sawtooth: counters that wrap."""
    return (np.arange(n) % 1000).astype("i4")


def noise(n: int) -> Array:
    """Normal deviates: only signs and exponents compress."""
    return np.random.default_rng(2).standard_normal(n).astype("f4")


def smooth(n: int) -> Array:
    """A smooth field on a grid of 1024 columns: models, images."""
    rows = -(-n // 1024)
    x = np.linspace(0, 8, 1024, dtype="f4")
    y = (np.arange(rows, dtype="f4") / 128)[:, None]
    return (np.sin(x) * np.cos(y) + x * y * np.float32(0.01)).astype("f4").ravel()[:n]


def stamps(n: int) -> Array:
    """Time stamps in µs, about a millisecond apart."""
    steps = np.random.default_rng(3).integers(900, 1100, n)
    return (1_700_000_000_000_000 + np.cumsum(steps)).astype("i8")


def text(n: int) -> Array:
    """Lines of a log, as bytes."""
    rng = np.random.default_rng(4)
    levels, verbs = ["INFO", "WARN", "DEBUG"], ["opened", "closed", "read", "wrote", "moved"]
    lines, length, second = [], 0, 0
    while length < n:
        second += int(rng.integers(0, 4))
        line = (
            f"2024-05-{second // 86400 % 28 + 1:02} {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02} "
            f"{levels[rng.integers(3)]} worker-{rng.integers(16)} {verbs[rng.integers(5)]} "
            f"/data/run{rng.integers(400)}/part-{rng.integers(100_000):05}.bin {rng.integers(10**6)} bytes\n"
        )
        lines.append(line)
        length += len(line)
        if len(lines) == 40_000:  # enough to look like text, quick to make
            whole = "".join(lines)
            return np.frombuffer((whole * (n // len(whole) + 1))[:n].encode(), "u1")
    return np.frombuffer("".join(lines)[:n].encode(), "u1")


def sparse(n: int) -> Array:
    """One item in fifty is not zero."""
    rng = np.random.default_rng(5)
    return np.where(rng.random(n) < 0.02, rng.standard_normal(n), 0).astype("f4")


def constant(n: int) -> Array:
    """One value."""
    return np.full(n, 3.25)


MAKERS: dict[str, tuple[Callable[[int], Array], int]] = {
    "walk f8": (walk, 8),
    "saw i4": (saw, 4),
    "noise f4": (noise, 4),
    "smooth f4": (smooth, 4),
    "stamps i8": (stamps, 8),
    "text": (text, 1),
    "sparse f4": (sparse, 4),
    "constant f8": (constant, 8),
}


def make(name: str, nbytes: int) -> Array:
    """`nbytes` of a data set, or of the array in the .npy file of that name, repeated as needed."""
    if name in MAKERS:
        maker, itemsize = MAKERS[name]
        return np.ascontiguousarray(maker(nbytes // itemsize))
    array = np.load(Path(name)).ravel()
    nitems = max(nbytes // array.itemsize, 1)
    return np.ascontiguousarray(np.resize(array, nitems))
