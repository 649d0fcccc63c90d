"""Pack a NumPy file as .b2nd, read it whole and in slices, compare every number.

usage: demo.py [array.npy]

Without an argument it makes a file of temperatures over time, latitude and longitude.  When the
package blosc2 is installed, it has to read the result as well.

SPDX-License-Identifier: BSD-3-Clause
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import blosc2c

FOLDER = Path("build/demo")


def make_temperatures(path: Path) -> None:
    """120 days on a grid of 1 by 1 degree: seasons, latitudes and a little weather."""
    day = np.arange(120)[:, None, None]
    latitude = np.deg2rad(np.arange(-89.5, 90))[None, :, None]
    longitude = np.deg2rad(np.arange(360))[None, None, :]
    weather = np.random.default_rng(1).normal(size=(120, 180, 360)).cumsum(axis=0) * 0.1
    field = 30 * np.cos(latitude) ** 2 - 10 + 8 * np.sin(day / 58 + latitude) * np.sin(latitude)
    np.save(path, (field + 3 * np.cos(2 * longitude) + weather).round(1).astype("f4"))


def seconds(started: float) -> str:
    return f"{time.perf_counter() - started:.3f} s"


def check(what: str, got: Any, expected: Any) -> None:
    if not np.array_equal(got, expected):
        raise SystemExit(f"demo.py: {what} differs from the original")
    print(f"  {what}: {got.shape}, equal to the original")


def check_slices(packed: Any, original: Any) -> None:
    edges = tuple(slice(n // 3, n // 3 + max(n // 10, 1)) for n in original.shape)
    check("a box", packed[edges], original[edges])
    check("the last plane", packed[-1], original[-1])
    check("every 7th plane", packed[::7], original[::7])


def pack(source: Path, target: Path) -> None:
    original = np.load(source, mmap_mode="r")
    print(f"{source}: {original.dtype} {original.shape}, {source.stat().st_size} bytes")
    started = time.perf_counter()
    with blosc2c.asarray(original, urlpath=target, mode="w") as packed:
        print(f"packed in {seconds(started)}: chunks {packed.chunks}, blocks {packed.blocks}")
    print(f"{target}: {target.stat().st_size} bytes")


def read_back(source: Path, target: Path) -> None:
    original = np.load(source)
    with blosc2c.open_array(target) as packed:
        started = time.perf_counter()
        whole = packed[...]
        print(f"read in {seconds(started)} by blosc2c {blosc2c.__version__}")
        check("the whole array", whole, original)
        check_slices(packed, original)
    try:
        import blosc2
    except ImportError:
        print("the package blosc2 is not installed; it would read the file as well")
        return
    foreign = blosc2.open(str(target), mode="r")
    print(f"read by blosc2 {blosc2.__version__}")
    check("the whole array", foreign[...], original)
    check_slices(foreign, original)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 1:
        source = Path(sys.argv[1])
    else:
        source = FOLDER / "temperatures.npy"
        make_temperatures(source)
    target = FOLDER / (source.stem + ".b2nd")
    pack(source, target)
    read_back(source, target)


if __name__ == "__main__":
    main()
