# SPDX-License-Identifier: BSD-3-Clause
"""A writer to be killed: edits a super-chunk and says after each edit how many it has made.

Run as a program with the arguments path, "file" or "directory" or these with "-plain" (no
checksums), kind of edits, durability.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator

SIZE = 4000
START = 4


def data(number: int) -> bytes:
    """Content of a chunk that the edit of this number writes; every other one compresses badly."""
    if number % 2:
        return random.Random(number).randbytes(SIZE)
    return number.to_bytes(8, "little") * (SIZE // 8)


def edits(kind: str) -> Iterator[tuple[str, int, int]]:
    """Operation, chunk and number of the data, for ever; START chunks are there at first."""
    choice = random.Random(7)
    nchunks = START
    number = START
    while True:
        what = "append"
        if kind == "mixed":
            what = choice.choice(("append", "append", "update", "update", "insert", "delete", "vlmeta"))
        nchunk = choice.randrange(nchunks)
        if nchunks > 60:
            what = "delete" if kind == "mixed" else what
        if what == "delete" and nchunks < 3:
            what = "append"
        nchunks += {"append": 1, "insert": 1, "delete": -1}.get(what, 0)
        yield what, nchunk, number
        number += 1


def states(kind: str, count: int) -> list[tuple[list[bytes], int]]:
    """Chunks and value of the vlmetalayer after 0, 1 … `count` edits."""
    chunks, value = [data(i) for i in range(START)], 0
    found = [(list(chunks), value)]
    for _, (what, nchunk, number) in zip(range(count), edits(kind), strict=False):
        if what == "append":
            chunks.append(data(number))
        elif what == "update":
            chunks[nchunk] = data(number)
        elif what == "insert":
            chunks.insert(nchunk, data(number))
        elif what == "delete":
            del chunks[nchunk]
        else:
            value = number
        found.append((list(chunks), value))
    return found


def main(path: str, place: str, kind: str, durability: str) -> None:
    import blosc2c as b2

    s = b2.SChunk(
        chunksize=SIZE,
        cparams={"typesize": 8, "codec": b2.Codec.BLOSCLZ, "clevel": 1},
        urlpath=path,
        contiguous=place.startswith("file"),
        checksums=not place.endswith("-plain"),
    )
    for i in range(START):
        s.append_data(data(i))
    s.vlmeta["value"] = 0
    s.set_durability(durability)
    os.write(1, b"0\n")
    for count, (what, nchunk, number) in enumerate(edits(kind), 1):
        if what == "append":
            s.append_data(data(number))
        elif what == "update":
            s.update_data(nchunk, data(number))
        elif what == "insert":
            s.insert_data(nchunk, data(number))
        elif what == "delete":
            s.delete_chunk(nchunk)
        else:
            s.vlmeta["value"] = number
        os.write(1, b"%d\n" % count)


if __name__ == "__main__":
    main(*sys.argv[1:])
