# SPDX-License-Identifier: BSD-3-Clause
"""What test_nomemory.py does while allocations of Python fail, one after the other.

Run as a program with the arguments folder, stride, cases.  With B2C_GROWTH set, what many failures leave
is counted as well.
"""

from __future__ import annotations

import _testcapi
import gc
import os
import shutil
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import blosc2c as b2

ROWS = np.arange(60 * 40, dtype="<i4").reshape(60, 40)
NOISE = np.random.default_rng(5).integers(0, 1 << 30, (60, 40), dtype="<i4")
PARTS = {"chunks": (16, 20), "blocks": (8, 10)}
LONG = np.random.default_rng(6).bytes(30_000)
CHUNK = 1200
KINDS = ("memory", "file", "directory")
MOST_SECONDS = 60
KEEPS_FRAMES = sys.version_info >= (3, 11)  # of some failures, and with them new files that nobody closed

# ---- what is there ----


def where(folder: str, kind: str, name: str = "old") -> dict[str, Any]:
    if kind == "memory":
        return {}
    return {"urlpath": f"{folder}/{name}", "contiguous": kind == "file", "mode": "w"}


def nothing(folder: str, kind: str) -> Any:
    return None


def array(folder: str, kind: str) -> Any:
    a = b2.asarray(ROWS, **PARTS, **where(folder, kind))
    a.schunk.vlmeta["about"] = {"a": 1}
    return a


def schunk(folder: str, kind: str) -> Any:
    s = b2.SChunk(chunksize=CHUNK, data=ROWS, cparams={"typesize": 4}, **where(folder, kind))
    s.vlmeta["about"] = "x" * 100
    return s


def many(folder: str, kind: str) -> Any:
    """So many chunks that their number is no shared int."""
    s = b2.SChunk(chunksize=16, data=b"", cparams={"typesize": 4}, **where(folder, kind))
    s.fill_special(4 * 300, b2.SpecialValue.ZERO)
    return s


def look(x: Any) -> Any:
    if x is None:
        return None
    s = getattr(x, "schunk", x)
    return [s.decompress_chunk(i) for i in range(s.nchunks)], dict(s.vlmeta.getall()), getattr(x, "shape", 0)


# ---- cases ----


def shown(value: Any) -> Any:
    """A result in a form that compares."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return value


def filled(size: int, call: Callable[[Any], Any]) -> bytes:
    out = bytearray(size)
    call(out)
    return bytes(out)


def in_transaction(s: Any, *fs: Any) -> None:
    with s.transaction():
        s.append_data(LONG[:CHUNK])
        s.update_data(0, LONG[CHUNK : 2 * CHUNK])
        s.append_data(LONG[:CHUNK])
        s.vlmeta["about"] = 3


def in_nd_transaction(a: Any, *fs: Any) -> None:
    with a.schunk.transaction():
        a[3:40, 5:30] = NOISE[3:40, 5:30]
        a[0, 0] = 5
        a.schunk.vlmeta["about"] = 3


def fewer(n: int) -> Callable[[Any], None]:
    def undo(s: Any) -> None:
        while s.nchunks > n:
            s.delete_chunk(s.nchunks - 1)

    return undo


NCHUNKS = -(-ROWS.nbytes // CHUNK)


def before_transaction(s: Any) -> None:
    fewer(NCHUNKS)(s)
    s.update_data(0, ROWS.tobytes()[:CHUNK])
    s.vlmeta["about"] = "x" * 100


def as_it_was(a: Any) -> None:
    a[...] = ROWS
    a.schunk.vlmeta["about"] = {"a": 1}


def vlmeta_as_it_was(s: Any) -> None:
    s.vlmeta["about"] = "x" * 100


def first_as_it_was(s: Any) -> None:
    s.update_data(0, ROWS.tobytes()[:CHUNK])


def opened(**kwargs: Any) -> Callable[..., Any]:
    def call(x: Any, folder: str, kind: str) -> Any:
        a = b2.open(f"{folder}/old", **kwargs)
        try:
            return a[5, 6], a.schunk.vlmeta["about"]
        finally:
            a.schunk.close()

    return call


def created(x: Any, folder: str, kind: str) -> Any:
    a = b2.asarray(NOISE, **PARTS, **where(folder, kind, "new"))
    try:
        return shown(a[...])
    finally:
        a.schunk.close()


def closing(x: Any, folder: str, kind: str) -> Any:
    s = b2.SChunk(chunksize=CHUNK, **where(folder, kind, "new"))
    try:
        s.append_data(LONG[:CHUNK])
    finally:
        s.close()


def saved(a: Any, folder: str, kind: str) -> None:
    a.save(f"{folder}/saved", mode="w")


PACKED = b2.compress2(LONG[:5000], cparams={"typesize": 4})
PLAIN = b2.compress(LONG[:5000], typesize=4)

Case = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any] | None]
OF_NONE: dict[str, Case] = {
    "compress2": (nothing, lambda x, *fs: b2.compress2(LONG[:5000], cparams={"typesize": 4}), None),
    "compress2 of an array": (nothing, lambda x, *fs: b2.compress2(ROWS), None),
    "decompress2": (nothing, lambda x, *fs: b2.decompress2(PACKED), None),
    "decompress2 into": (nothing, lambda x, *fs: filled(5000, lambda out: b2.decompress2(PACKED, out)), None),
    "compress": (nothing, lambda x, *fs: b2.compress(LONG[:5000], typesize=4), None),
    "decompress": (nothing, lambda x, *fs: b2.decompress(PLAIN), None),
    "long compress2": (nothing, lambda x, *fs: b2.compress2(LONG * 20, cparams={"typesize": 1}), None),
    "pack": (nothing, lambda x, *fs: shown(b2.unpack_tensor(b2.pack_tensor(ROWS))), None),
    "from_cframe": (nothing, lambda x, *fs: shown(b2.from_cframe(CFRAME)[...]), None),
}
CASES: dict[str, Case] = {
    "append_data": (schunk, lambda s, *fs: s.append_data(LONG[:CHUNK]), fewer(NCHUNKS)),
    "append_data to many": (many, lambda s, *fs: s.append_data(LONG[:16]), fewer(300)),
    "update_data": (schunk, lambda s, *fs: s.update_data(0, LONG[:CHUNK]), first_as_it_was),
    "update chunk": (
        schunk,
        lambda s, *fs: s.update_chunk(0, b2.compress2(LONG[:CHUNK], cparams={"typesize": 4})),
        first_as_it_was,
    ),
    "decompress_chunk": (schunk, lambda s, *fs: s.decompress_chunk(3), None),
    "decompress_chunk into": (
        schunk,
        lambda s, *fs: filled(CHUNK, lambda out: s.decompress_chunk(3, out)),
        None,
    ),
    "get_chunk": (schunk, lambda s, *fs: s.get_chunk(3), None),
    "schunk item": (schunk, lambda s, *fs: s[700], None),
    "schunk slice": (schunk, lambda s, *fs: s[100:1500], None),
    "schunk set": (schunk, lambda s, *fs: s.__setitem__(slice(0, 300), LONG[:CHUNK]), first_as_it_was),
    "iterchunks": (schunk, lambda s, *fs: [c.tobytes() for c in s.iterchunks(np.dtype("i4"))], None),
    "iterchunks_info": (schunk, lambda s, *fs: [(c.nchunk, c.cratio) for c in s.iterchunks_info()], None),
    "vlmeta get": (schunk, lambda s, *fs: s.vlmeta["about"], None),
    "vlmeta set": (schunk, lambda s, *fs: s.vlmeta.__setitem__("about", [1, "b"]), vlmeta_as_it_was),
    "facts": (schunk, lambda s, *fs: (s.nchunks, s.cratio, s.nbytes, s.chunksize), None),
    "item": (array, lambda a, *fs: int(a[7, 8]), None),
    "row": (array, lambda a, *fs: shown(a[7]), None),
    "box": (array, lambda a, *fs: shown(a[3:40, 5:30]), None),
    "places": (array, lambda a, *fs: shown(a[[1, 2, 5]]), None),
    "mask": (array, lambda a, *fs: shown(a[ROWS % 7 == 0]), None),
    "set all": (array, lambda a, *fs: a.__setitem__(..., NOISE), as_it_was),
    "set an item": (array, lambda a, *fs: a.__setitem__((7, 8), 5), as_it_was),
    "slice": (array, lambda a, *fs: shown(a.slice((slice(3, 30), slice(0, 30)))[...]), None),
    "to_cframe": (array, lambda a, *fs: len(a.to_cframe()), None),
    "save": (array, saved, None),
    "copy": (array, lambda a, *fs: shown(a.copy(cparams={"clevel": 1})[...]), None),
    "create": (nothing, created, None),
    "close": (nothing, closing, None),
    "transaction": (schunk, in_transaction, before_transaction),
    "transaction of an array": (array, in_nd_transaction, as_it_was),
}


def verified(x: Any, folder: str, kind: str) -> None:
    """What it finds is no result: that there was no memory is a problem."""
    b2.verify(f"{folder}/old")


def closed_array(folder: str, kind: str) -> None:
    array(folder, kind).schunk.close()


ON_DISK: dict[str, Case] = {
    "open": (closed_array, opened(), None),
    "open to read": (closed_array, opened(mode="r"), None),
    "open mapped": (closed_array, opened(mmap_mode="r"), None),
    "open locked": (closed_array, opened(locking=True), None),
    "verify": (closed_array, verified, None),
}
CFRAME = b2.asarray(ROWS, **PARTS).to_cframe()

# ---- runs ----

nreports = 0


def report(title: str, what: str, exc: BaseException | None = None) -> None:
    global nreports
    nreports += 1
    print(f"{title}: {what}", flush=True)
    if exc is not None:
        lines = "".join(traceback.format_exception(exc))[-int(os.environ.get("B2C_TRACE", "1500")) :]
        print("    " + lines.replace("\n", "\n    "), flush=True)


def is_fair(exc: BaseException) -> bool:
    """MemoryError, or what CPython and NumPy make of it."""
    if isinstance(exc, RuntimeError):
        return str(exc) == "can't allocate lock"
    if isinstance(exc, SystemError):
        tb = exc.__traceback__
        while tb is not None and tb.tb_next is not None:
            tb = tb.tb_next
        return "numpy" in tb.tb_frame.f_code.co_filename or "function where" in str(exc)
    return isinstance(exc, MemoryError)


class Done(Exception):
    pass


def once(act: Callable[..., Any], args: tuple[Any, ...], n: int, stride: int) -> tuple[bool, Any, Any]:
    """Whether the n-th allocation was of the call, what that gave, and how it failed."""
    failed = result = None
    fired = True
    rest = [None] * stride
    _testcapi.set_nomemory(n, n + 1)
    try:
        try:
            result = act(*args)
        except BaseException as exc:
            failed = exc
        if failed is None:
            try:
                for i in range(stride):
                    rest[i] = bytearray(40)  # type: ignore[call-overload]
            except MemoryError:
                fired = False
    finally:
        _testcapi.remove_mem_hooks()
    return fired, result, failed


class Run:
    def __init__(self, folder: str, kind: str, name: str, case: Case) -> None:
        self.title = f"{name}, {kind}"
        self.folder, self.kind = folder, kind
        make, self.act, self.undo = case
        self.x = make(folder, kind)
        self.args = (self.x, folder, kind)
        self.old = look(self.x)
        for _ in range(3):  # imports, caches, ways that are found out
            self.result = self.act(*self.args)
            self.new = look(self.x)
            if self.undo is not None:
                self.undo(self.x)
        if look(self.x) != self.old:
            report(self.title, "undo is wrong")

    def elsewhere(self, title: str) -> None:
        """Another thread can do it."""
        failures: list[BaseException] = []

        def work() -> None:
            try:
                if self.act(*self.args) != self.result:
                    raise AssertionError("a wrong result")
            except BaseException as exc:
                failures.append(exc)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        for failure in failures:
            report(title, "then in another thread", failure)

    def at(self, n: int, stride: int) -> bool:
        title = f"{self.title}, at {n}"
        gc.collect()
        gc.disable()
        fired, result, failed = once(self.act, self.args, n, stride)
        gc.enable()
        if not fired:
            return False
        if failed is None:
            if result != self.result:
                report(title, f"a wrong result: {result!r:.200}")
        elif not is_fair(failed):
            report(title, "another failure", failed)
        del failed
        gc.collect()
        try:
            found = look(self.x)
            if found not in (self.old, self.new):
                report(title, "neither the old nor the new state")
            if self.undo is not None:
                self.undo(self.x)
            if self.act(*self.args) != self.result or look(self.x) != self.new:
                report(title, "a wrong result afterwards")
            if self.undo is not None:
                self.undo(self.x)
            if n % 5 == 0:
                self.elsewhere(title)
                if self.undo is not None:
                    self.undo(self.x)
        except BaseException as exc:
            if not (isinstance(exc, b2.ConflictError) and KEEPS_FRAMES):
                report(title, "afterwards", exc)
            raise Done from None
        return True

    def grows(self, n: int, times: int = 20) -> None:
        """Nothing is left of many failures; CPython from 3.11 on and NumPy leave something themselves."""
        counts = []
        for i in range(3 * times):
            once(self.act, self.args, n, 1)
            if self.undo is not None:
                self.undo(self.x)
            if i % times == times - 1:
                gc.collect()
                counts.append(sys.getallocatedblocks())
        if min(counts[1] - counts[0], counts[2] - counts[1]) >= times - 1:
            report(f"{self.title}, at {n}", f"{times} failures each leave more blocks: {counts}")

    def all(self, stride: int) -> None:
        n = 0
        while self.at(n, stride):
            n += stride
        end = n
        for n in range(0, end, stride) if os.environ.get("B2C_GROWTH") else ():
            self.grows(n)
        gc.collect()
        if self.x is not None:
            getattr(self.x, "schunk", self.x).close()
        if os.environ.get("B2C_TELL"):
            print(f"{self.title}: {end} allocations", flush=True)


def run(folder: str, kind: str, name: str, case: Case, stride: int) -> bool:
    """In a process of its own."""
    os.makedirs(folder)
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(MOST_SECONDS)
            sys.unraisablehook = lambda _: None  # also NumPy's
            warnings.simplefilter("ignore")
            Run(folder, kind, name, case).all(stride)
        except Done:
            pass
        except BaseException as exc:
            report(f"{name}, {kind}", "the case itself", exc)
        sys.stdout.flush()
        os._exit(nreports != 0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code not in (0, 1):
        report(f"{name}, {kind}", f"exit status {code}")
    shutil.rmtree(folder)
    return code == 0


def main(root: str, stride: int, names: list[str]) -> None:
    b2.set_nthreads(1)
    ok = True
    for cases, kinds in ((OF_NONE, KINDS[:1]), (CASES, KINDS), (ON_DISK, KINDS[1:])):
        for name, case in cases.items():
            if names and name not in names:
                continue
            for kind in kinds:
                ok = run(f"{root}/{name.replace(' ', '_')}_{kind}", kind, name, case, stride) and ok
    sys.exit(not ok)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
