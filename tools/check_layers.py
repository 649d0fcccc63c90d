#!/usr/bin/env python3
"""Check that the C files include only their own layer and lower ones.

Reads the `#include "..."` lines under csrc/.  Folders of one rank do not know
each other.  Prints each wrong line as path:line and exits with 1.

SPDX-License-Identifier: BSD-3-Clause
"""

import re
import sys
from pathlib import Path

# Lowest first.  include/ holds the public header, which every layer may use.
RANKS = [
    ["core"],
    ["io"],
    ["codec", "filter"],
    ["chunk"],
    ["schunk"],
    ["frame"],
    ["ndarray"],
    ["repair"],
    ["api"],
    ["python"],
]
PUBLIC = "include"
RANK_OF = {layer: rank for rank, layers in enumerate(RANKS) for layer in layers}
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def may_include(layer: str, other: str) -> bool:
    """Whether a file of `layer` may include one of `other`."""
    if other in (layer, PUBLIC):
        return True
    return layer != PUBLIC and RANK_OF[other] < RANK_OF[layer]


def problems(csrc: Path) -> list[str]:
    """Return one line of text for each thing that is wrong."""
    files = sorted(path for path in csrc.rglob("*") if path.suffix in (".c", ".h"))
    layer_of: dict[str, str] = {}
    found = []
    for path in files:
        layer = path.relative_to(csrc).parts[0]
        if layer != PUBLIC and layer not in RANK_OF:
            found.append(f"{path}: the folder {layer} has no place among the layers")
        elif path.name in layer_of:
            found.append(f"{path}: the file name is taken by {layer_of[path.name]}/{path.name}")
        else:
            layer_of[path.name] = layer
    if found:
        return found

    for path in files:
        layer = layer_of[path.name]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            name = match.group(1)
            if name not in layer_of:
                found.append(f"{path}:{number}: there is no {name} under {csrc}")
            elif not may_include(layer, layer_of[name]):
                found.append(f"{path}:{number}: {layer} must not include {layer_of[name]}/{name}")
    return found


def main(arguments: list[str]) -> int:
    csrc = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent / "csrc"
    if not any(csrc.glob("*/*.[ch]")):
        print(f"no C files under {csrc}")
        return 1
    found = problems(csrc)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
