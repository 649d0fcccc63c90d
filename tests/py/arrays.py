# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies for arrays, their partitions and their indices."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

DTYPES = (
    "u1", "<i2", "<i4", "<i8", "<f4", "<f8", "<c16", "?", ">i4", ">f8",
    "S1", "S7", "<U3", "<M8[s]", "<m8[ms]", "V5", "S300", "<U100",
)  # fmt: skip
STRUCTURED = (
    [("a", "<i4"), ("b", "<f8")],
    [("name", "S10"), ("when", "<M8[D]"), ("ok", "?")],
    [("m", "<f4", (2, 3)), ("n", ">i2")],
    [("outer", [("x", "<i2"), ("y", "<i2")]), ("z", "u1")],
)


def values(dtype: np.dtype, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """An array of any dtype whose items differ; from bytes, so that every pattern of bits occurs."""
    n = int(np.prod(shape, dtype=np.int64))
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype("?")
    if dtype.kind == "U":
        letters = np.array(list("abcdefgåß€"))
        return np.array(["".join(rng.choice(letters, 3)) for _ in range(n)], dtype).reshape(shape)
    if dtype.kind == "f" or dtype.kind == "c":
        return rng.normal(size=shape).astype(dtype)
    if dtype.fields is not None:
        out = np.zeros(shape, dtype)
        for name in dtype.names:
            base, inner = dtype.fields[name][0], ()
            if base.subdtype is not None:
                base, inner = base.subdtype
            out[name] = values(base, (*shape, *inner), seed + 1)
        return out
    return np.frombuffer(rng.bytes(max(n, 1) * dtype.itemsize), dtype)[:n].reshape(shape)


@st.composite
def partitions(draw, max_ndim: int = 4, max_items: int = 4000):
    """(shape, chunks, blocks), zero sizes included."""
    ndim = draw(st.integers(0, max_ndim))
    limit = {0: 1, 1: 500, 2: 40, 3: 14, 4: 8, 5: 6}.get(ndim, 4)
    shape = tuple(draw(st.integers(0, limit)) for _ in range(ndim))
    if 0 in shape:
        return shape, shape, shape
    chunks = tuple(draw(st.integers(1, n + 2)) for n in shape)
    blocks = tuple(draw(st.integers(1, c)) for c in chunks)
    return shape, chunks, blocks


def dtypes():
    return st.sampled_from(DTYPES + STRUCTURED).map(np.dtype)


def _slice(n: int):
    bound = st.none() | st.integers(-n - 3, n + 3)
    step = st.none() | st.integers(-4, 4).filter(bool)
    return st.builds(slice, bound, bound, step)


@st.composite
def basic_keys(draw, shape: tuple[int, ...]):
    """Ints, slices, ellipsis and newaxis, in any mixture that NumPy accepts."""
    naxes = draw(st.integers(0, len(shape)))
    key = []
    for n in shape[:naxes]:
        key.append(draw(_slice(n) | st.integers(-n, n - 1) if n else _slice(n)))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(key)))
        tail = key[at:]
        for i, n in enumerate(shape[len(shape) - len(tail) :]):
            tail[i] = draw(_slice(n) | st.integers(-n, n - 1) if n else _slice(n))
        key[at:] = [Ellipsis, *tail]
    for _ in range(draw(st.integers(0, 2))):
        key.insert(draw(st.integers(0, len(key))), None)
    if len(key) == 1 and draw(st.booleans()):
        return key[0]
    return tuple(key)


@st.composite
def fancy_keys(draw, shape: tuple[int, ...]):
    """Keys with at least one integer array or boolean mask; all axes of the shape are non-empty."""
    common = draw(st.sampled_from([(3,), (2, 2), (1,), (0,)]))
    key: list = []
    axis = 0
    while axis < len(shape):
        n = shape[axis]
        kind = draw(st.sampled_from(["slice", "int", "array", "array", "mask", "list", "stop"]))
        seed = draw(st.integers(0, 1000))
        rng = np.random.default_rng(seed)
        if kind == "stop":
            break
        if kind == "slice":
            key.append(draw(_slice(n)))
        elif kind == "int":
            key.append(draw(st.integers(-n, n - 1)))
        elif kind == "array":
            key.append(rng.integers(-n, n, common))
        elif kind == "list":
            key.append(rng.integers(-n, n, common).tolist())
        else:
            key.append(rng.integers(0, 2, n).astype(bool))
        axis += 1
    if not any(isinstance(k, np.ndarray | list) for k in key):
        key[:1] = [np.random.default_rng(1).integers(-shape[0], shape[0], common)]
    return tuple(key)
