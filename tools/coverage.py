#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Line coverage of the files that read untrusted bytes, from a build with gcc's --coverage.

Usage: coverage.py build-directory [--missing]

Run the tests of that build first.  Prints a table, and fails below LEAST per cent in total;
--missing lists the lines that were not reached.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LEAST = 95.0
PARSERS = (
    "chunk/chunk_open.c",
    "chunk/chunk_parse.c",
    "codec/blosclz_dec.c",
    "codec/codec_ndlz.c",
    "codec/deflate_decoder.h",
    "codec/deflate_table.h",
    "codec/lz4_dec.c",
    "frame/frame_load.c",
    "frame/frame_parse.c",
    "frame/legacy_load.c",
    "frame/legacy_parse.c",
    "frame/store_dir.c",
    "frame/store_dir_redo.c",
    "io/lock.c",
    "ndarray/nd_meta.c",
    "repair/repair.c",
    "repair/salvage.c",
    "repair/scan.c",
    "repair/sound.c",
    "schunk/index.c",
    "schunk/meta.c",
)
COMPILED_IN = {
    "codec/deflate_decoder.h": "codec/deflate_dec.c",
    "codec/deflate_table.h": "codec/deflate_dec.c",
}


def hits_of(build: Path, source: str) -> dict[int, int]:
    """How often each line of a source file was reached."""
    data = build / "CMakeFiles/b2c_testcore.dir/csrc" / f"{COMPILED_IN.get(source, source)}.gcda"
    if not data.exists():
        sys.exit(f"{data} is not there: is this a build with --coverage whose tests were run?")
    command = ["gcov", "--json-format", "--stdout", str(data)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    hits: dict[int, int] = {}
    for file in report["files"]:
        if file["file"].endswith(f"csrc/{source}"):
            for line in file["lines"]:
                number = line["line_number"]
                hits[number] = hits.get(number, 0) + line["count"]
    return hits


def runs(numbers: list[int]) -> str:
    """1, 2, 3, 7 as "1-3 7"."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main() -> None:
    build, nlines, nreached = Path(sys.argv[1]), 0, 0
    for source in PARSERS:
        hits = hits_of(build, source)
        reached = sum(count > 0 for count in hits.values())
        print(f"{source:24}{reached:5} of {len(hits):4} lines {100 * reached / len(hits):6.1f} %")
        if "--missing" in sys.argv and reached < len(hits):
            print("    " + runs(sorted(n for n, count in hits.items() if count == 0)))
        nlines += len(hits)
        nreached += reached
    total = 100 * nreached / nlines
    print(f"{'parsers together':24}{nreached:5} of {nlines:4} lines {total:6.1f} %")
    if total < LEAST:
        sys.exit(f"coverage of the parsers is below {LEAST} %")


if __name__ == "__main__":
    main()
