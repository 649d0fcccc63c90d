# SPDX-License-Identifier: BSD-3-Clause
"""What test_faults.py does while calls fail: cases, each a preparation and one call.

Run as a program, preloaded with fault_calls.c, with the arguments folder, kind of faults, stride, cases.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from typing import Any

import blosc2
import numpy as np

import blosc2c as b2

MEMORY, SHORT, KILL = -1, -2, -3
ROWS = np.arange(60 * 40, dtype="<i4").reshape(60, 40)
NOISE = np.random.default_rng(5).integers(0, 1 << 30, (60, 40), dtype="<i4")
PARTS = {"chunks": (16, 20), "blocks": (8, 10)}
LONG = np.random.default_rng(6).bytes(30_000)
CHUNK = 1200


# ---- what is there ----


def content(path: str, package: Any = b2) -> Any:
    """All that a frame holds; None when there is nothing."""
    if not os.path.lexists(path):
        return None
    x = package.open(path, mode="r")
    s = getattr(x, "schunk", x)
    vlmeta = {name: s.vlmeta[name] for name in sorted(s.vlmeta)}
    if hasattr(x, "schunk"):
        return x.shape, np.asarray(x[...]).tobytes(), vlmeta
    return [s.decompress_chunk(i) for i in range(s.nchunks)], vlmeta


def seen(folder: str, package: Any = b2) -> dict[str, Any]:
    return {name: content(f"{folder}/{name}", package) for name in ("old", "new")}


# ---- cases ----


def old_array(folder: str, contiguous: bool, a: np.ndarray = ROWS) -> None:
    x = b2.asarray(a, urlpath=f"{folder}/old", contiguous=contiguous, **PARTS)
    x.schunk.vlmeta["about"] = {"a": 1}
    x.schunk.close()


def old_schunk(folder: str, contiguous: bool) -> None:
    s = b2.SChunk(chunksize=CHUNK, data=ROWS, urlpath=f"{folder}/old", contiguous=contiguous)
    s.vlmeta["about"] = "x" * 100
    s.close()


def old_dead(folder: str, contiguous: bool) -> None:
    """With room of replaced chunks."""
    old_array(folder, contiguous)
    with b2.open(f"{folder}/old", mode="a") as a:
        a[:20] = NOISE[:20]
        a[30:] = 7


def old_damaged(folder: str, contiguous: bool) -> None:
    old_schunk(folder, contiguous)
    name = f"{folder}/old" if contiguous else f"{folder}/old/00000001.chunk"
    with open(name, "r+b") as f:
        f.seek(600 if contiguous else 40)
        f.write(b"\xa5" * 8)


def old_cut(folder: str, contiguous: bool) -> None:
    old_schunk(folder, contiguous)
    name = f"{folder}/old" if contiguous else f"{folder}/old/chunks.b2frame"
    os.truncate(name, os.path.getsize(name) - 60)


def nothing(folder: str, contiguous: bool) -> None:
    pass


def to(folder: str, contiguous: bool, name: str = "new", **more: Any) -> dict[str, Any]:
    return {"urlpath": f"{folder}/{name}", "contiguous": contiguous, "mode": "w", **more}


def opened(mode: str = "a", **kwargs: Any) -> Callable[[str, bool], Any]:
    return lambda folder, contiguous: b2.open(f"{folder}/old", mode=mode, **kwargs)


def in_memory(folder: str, contiguous: bool) -> Any:
    return b2.asarray(NOISE, **PARTS)


def none(folder: str, contiguous: bool) -> Any:
    return None


def fill_all(x: Any, folder: str, contiguous: bool) -> Any:
    x[...] = NOISE


def close(x: Any) -> Any:
    """Of a new one: nothing is to be found out about it."""
    getattr(x, "schunk", x).close()


def transaction(x: Any, folder: str, contiguous: bool) -> Any:
    s = x.schunk
    with s.transaction():
        x[3:40, 5:30] = NOISE[3:40, 5:30]
        s.vlmeta["more"] = LONG[:3000]
        x[50:] = 0
        s.vlmeta["about"] = 5


class Ended(Exception):
    pass


def rolled_back(x: Any, folder: str, contiguous: bool) -> Any:
    s = x.schunk
    try:
        with s.transaction():
            x[3:40, 5:30] = NOISE[3:40, 5:30]
            s.vlmeta["more"] = LONG[:3000]
            x.resize((70, 40))
            raise Ended
    except Ended:
        pass


def mixed_edits(s: Any, folder: str, contiguous: bool) -> Any:
    with s.transaction():
        s.append_data(LONG[:CHUNK])
        s.update_data(0, LONG[CHUNK : 2 * CHUNK])
        s.insert_data(1, LONG[2 * CHUNK : 3 * CHUNK])
        s.delete_chunk(2)
        s.vlmeta["about"] = 1


def refreshed(x: Any, folder: str, contiguous: bool) -> Any:
    x.schunk.refresh()
    return x[...].tobytes()


def outdated(folder: str, contiguous: bool) -> Any:
    x = b2.open(f"{folder}/old")
    x[0]
    with b2.open(f"{folder}/old", mode="a") as w:
        w[...] = NOISE
        w.schunk.vlmeta["about"] = 2
    return x


def from_frame(x: Any, folder: str, contiguous: bool) -> Any:
    return b2.from_cframe(x.to_cframe())[...].tobytes()


def read_all(x: Any, folder: str, contiguous: bool) -> Any:
    return x[...].tobytes(), x[5, 6], x[::7, 3].tobytes(), x.schunk.vlmeta["about"]


def repaired(x: Any, folder: str, contiguous: bool) -> Any:
    b2.repair(f"{folder}/old", f"{folder}/new", contiguous=contiguous)


def old_repaired(folder: str, contiguous: bool) -> None:
    """Damaged, and something at the path of the repaired one."""
    old_damaged(folder, contiguous)
    b2.asarray(NOISE, urlpath=f"{folder}/new", contiguous=contiguous).schunk.close()


def repaired_over(x: Any, folder: str, contiguous: bool) -> Any:
    b2.repair(f"{folder}/old", f"{folder}/new", mode="w", contiguous=contiguous)


def repaired_over_other(x: Any, folder: str, contiguous: bool) -> Any:
    b2.repair(f"{folder}/old", f"{folder}/new", mode="w", contiguous=not contiguous)


def verified(x: Any, folder: str, contiguous: bool) -> Any:
    """What it finds is no result: that a call failed is a problem."""
    b2.verify(f"{folder}/old")


def opening(**kwargs: Any) -> Callable[..., Any]:
    def call(x: Any, folder: str, contiguous: bool) -> Any:
        with b2.open(f"{folder}/old", **kwargs) as a:
            return read_all(a, folder, contiguous)

    return call


def set_long(x: Any, folder: str, contiguous: bool) -> Any:
    x.schunk.vlmeta["about"] = LONG


def resized(*shape: int) -> Callable[..., Any]:
    return lambda x, f, c: x.resize(shape)


def saved(x: Any, f: str, c: bool) -> Any:
    x.save(f"{f}/old", mode="w", contiguous=c)


Case = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]
CASES: dict[str, Case] = {
    "asarray": (nothing, none, lambda x, f, c: close(b2.asarray(NOISE, **to(f, c), **PARTS))),
    "schunk of data": (
        nothing,
        none,
        lambda x, f, c: close(b2.SChunk(data=NOISE, chunksize=CHUNK, **to(f, c))),
    ),
    "zeros": (nothing, none, lambda x, f, c: close(b2.zeros((50, 30), dtype="f4", **to(f, c)))),
    "full": (nothing, none, lambda x, f, c: close(b2.full((50, 30), 7, dtype="f4", **to(f, c)))),
    "arange": (nothing, none, lambda x, f, c: close(b2.arange(900, **to(f, c)))),
    "asarray over": (old_array, none, lambda x, f, c: close(b2.asarray(NOISE, **to(f, c, "old"), **PARTS))),
    "save over": (old_array, in_memory, saved),
    "save over the other": (
        old_array,
        in_memory,
        lambda x, f, c: x.save(f"{f}/old", mode="w", contiguous=not c),
    ),
    "copy": (old_array, opened("r"), lambda x, f, c: close(x.copy(**to(f, c)))),
    "copy anew": (old_array, opened("r"), lambda x, f, c: close(x.copy(**to(f, c), cparams={"clevel": 1}))),
    "copy a schunk": (old_schunk, opened("r"), lambda x, f, c: close(x.copy(**to(f, c)))),
    "slice": (old_array, opened("r"), lambda x, f, c: close(x.slice((slice(3, 30),), **to(f, c)))),
    "open": (old_array, none, opening()),
    "open mapped": (old_array, none, opening(mmap_mode="r")),
    "open locked": (old_array, none, opening(mode="a", locking=True)),
    "open for copies": (old_array, none, opening(mode="a", mmap_mode="c")),
    "read": (old_array, opened("r"), read_all),
    "read in memory": (nothing, in_memory, lambda x, f, c: (x[...].tobytes(), x[5, 6], x[::7, 3].tobytes())),
    "write": (old_array, opened(), fill_all),
    "write locked": (old_array, opened(locking=True), fill_all),
    "write a part": (old_array, opened(), lambda x, f, c: x.__setitem__((slice(3, 40), slice(5, 30)), 9)),
    "write an item": (old_array, opened(), lambda x, f, c: x.__setitem__((3, 5), 9)),
    "resize": (old_array, opened(), resized(70, 50)),
    "resize down": (old_array, opened(), resized(20, 15)),
    "append": (old_array, opened(), lambda x, f, c: x.append(NOISE[:20], axis=0)),
    "to_cframe": (old_array, opened("r"), from_frame),
    "verify": (old_array, none, verified),
    "vlmeta": (old_array, opened(), set_long),
    "transaction": (old_array, opened(), transaction),
    "rollback": (old_array, opened(), rolled_back),
    "mixed edits": (old_schunk, opened(), mixed_edits),
    "append data": (old_schunk, opened(), lambda x, f, c: x.append_data(LONG[:CHUNK])),
    "update data": (old_schunk, opened(), lambda x, f, c: x.update_data(1, LONG[:CHUNK])),
    "delete": (old_schunk, opened(), lambda x, f, c: x.delete_chunk(1)),
    "fill special": (old_schunk, opened(), lambda x, f, c: x.fill_special(3000, b2.SpecialValue.ZERO)),
    "compact": (old_dead, none, lambda x, f, c: b2.compact(f"{f}/old")),
    "compact it": (old_dead, opened(), lambda x, f, c: x.schunk.compact()),
    "refresh": (old_array, outdated, refreshed),
    "repair": (old_damaged, none, repaired),
    "repair of what is cut": (old_cut, none, repaired),
    "repair over": (old_repaired, none, repaired_over),
    "repair over the other": (old_repaired, none, repaired_over_other),
    "remove": (old_array, none, lambda x, f, c: b2.remove_urlpath(f"{f}/old")),
}
GROW = ("append", "append data", "fill special", "mixed edits", "delete")  # made twice they are another state


# ---- runs ----

shim = ctypes.CDLL(None)
shim.fault_range.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
shim.fault_arm.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_int]
shim.fault_disarm.restype = shim.fault_count.restype = ctypes.c_ulong
shim.fault_last.restype = ctypes.c_char_p
shim.fault_live.restype = ctypes.c_long
nreports = 0


def find_range() -> None:
    with open("/proc/self/maps") as f:
        spans = [line.split()[0].split("-") for line in f if "/_b2c" in line]
    shim.fault_range(min(int(a, 16) for a, _ in spans), max(int(b, 16) for _, b in spans))


def report(where: str, what: str, exc: BaseException | None = None) -> None:
    global nreports
    nreports += 1
    print(f"{where} [{shim.fault_last().decode()}]: {what}", flush=True)
    if exc is not None:
        print(
            "    " + "".join(traceback.format_exception(exc)[-3:]).replace("\n", "\n    ")[-900:], flush=True
        )


def nfds() -> int:
    return len(os.listdir("/proc/self/fd"))


def end(x: Any) -> None:
    if x is not None:
        getattr(x, "schunk", x).close()


def is_fair(exc: BaseException, kind: int, folder: str) -> bool:
    """Whether a failure tells what was injected, and of a file which one."""
    if kind == MEMORY:
        return isinstance(exc, MemoryError)
    if not isinstance(exc, OSError) or exc.errno != kind:
        return False
    return exc.filename is not None and str(exc.filename).startswith(folder)


class Run:
    def __init__(self, root: str, name: str, contiguous: bool) -> None:
        self.prepare, self.open, self.act = CASES[name]
        self.name = name
        self.title = f"{name}, {'file' if contiguous else 'directory'}"
        self.contiguous, self.root = contiguous, root
        self.base, self.folder = f"{root}/base", f"{root}/here"
        os.makedirs(self.base)
        self.prepare(self.base, contiguous)
        self.damaged = self.prepare in (old_damaged, old_cut, old_repaired)
        self.old = self.look(self.base)
        self.fresh()
        self.act(None, self.folder, contiguous) if self.open is none else None  # imports, caches
        self.fresh()
        x = self.open(self.folder, contiguous)
        self.before = self.look()  # the opening may have changed something
        self.result = self.act(x, self.folder, contiguous)
        end(x)
        self.new = self.look()
        self.names = sorted(os.listdir(self.folder))

    def look(self, folder: str | None = None, package: Any = b2) -> Any:
        folder = folder or self.folder
        if self.damaged:
            return [content(f"{folder}/new", package)]
        return seen(folder, package)

    def fresh(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.base, self.folder, symlinks=True)

    def check_state(self, where: str, wanted: tuple[Any, ...], package: Any = b2) -> None:
        if self.damaged and self.is_of_medium:
            wanted = (*wanted, self.look(package=package))  # what cannot be read is lost
        try:
            found = self.look(package=package)
        except BaseException as exc:
            report(where, f"{package.__name__} cannot read what is stored", exc)
            return
        if found not in wanted:
            report(where, f"{package.__name__} sees neither the old nor the new state")

    def retry(self, where: str) -> None:
        """With another object it succeeds, and leaves nothing behind."""
        try:
            x = self.open(self.folder, self.contiguous)
            self.act(x, self.folder, self.contiguous)
            end(x)
        except BaseException as exc:
            if not isinstance(exc, b2.FrameExistsError | FileExistsError | FileNotFoundError):
                report(where, "a retry fails", exc)
            return
        if self.name in GROW or (self.is_of_medium and self.damaged):
            return
        self.check_state(f"{where}, after a retry", (self.new,))
        self.check_state(f"{where}, after a retry", (self.new,), blosc2)
        if self.name != "remove" and sorted(os.listdir(self.folder)) != self.names:
            report(where, f"left over: {sorted(os.listdir(self.folder))}")

    def once(self, kind: int, n: int, lasts: int, reference: bool) -> bool:
        where = f"{self.title}, {kind} {'lasting' if lasts else 'once'} at {n}"
        self.is_of_medium = kind > 0 or kind == SHORT
        self.fresh()
        fds = nfds()
        x = self.open(self.folder, self.contiguous)
        failed = None
        shim.fault_arm(kind, n, lasts)
        try:
            result = self.act(x, self.folder, self.contiguous)
        except BaseException as exc:
            failed = exc
        finally:
            fired = shim.fault_disarm()
        if not fired:
            end(x)
            return False
        if failed is None:
            if result != self.result:
                report(where, "a wrong result")
        elif kind == errno.EINTR or kind == SHORT or not is_fair(failed, kind, self.folder):
            report(where, "another failure", failed)
        failed = None
        if x is not None:
            try:
                self.act(x, self.folder, self.contiguous)  # with the same object
            except b2.ReadOnlyError:
                pass
            except BaseException as exc:
                report(where, "a retry with the same object", exc)
            try:
                end(x)
            except BaseException as exc:
                report(where, "closing", exc)
            x = None
        else:
            wanted = (self.old, self.before, self.new)
            self.check_state(where, wanted)
            if reference:
                self.check_state(where, wanted, blosc2)
            x = None
            gc.collect()
        if nfds() > fds:
            report(where, f"{nfds() - fds} descriptors are left open")
        self.retry(where)
        return True

    def killed(self, kind: int, n: int, reference: bool) -> bool:
        where = f"{self.title}, {kind} at {n}"
        self.is_of_medium = False
        self.fresh()
        pid = os.fork()
        if pid == 0:
            try:
                x = self.open(self.folder, self.contiguous)
                shim.fault_arm(kind, n, 0)
                self.act(x, self.folder, self.contiguous)
                end(x)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code not in (0, 77):
            report(where, f"exit status {code}")
        if code != 77:
            return False
        wanted = (self.old, self.before, self.new)
        if reference:
            self.check_state(where, wanted, blosc2)
        self.check_state(where, wanted)
        self.retry(where)
        return True


GROWTH_RUNS = int(os.environ.get("B2C_GROWTH", "6"))


def check_growth(run: Run, kind: int) -> None:
    """Nothing is left of many failures: no memory of ours, no objects, no descriptors."""
    if kind not in (MEMORY, errno.EIO):
        return
    run.fresh()
    x = run.open(run.folder, run.contiguous)
    shim.fault_arm(kind, 0, 0)
    with contextlib.suppress(BaseException):
        run.act(x, run.folder, run.contiguous)
    middle = shim.fault_count() // 2 + 1
    shim.fault_disarm()
    with contextlib.suppress(BaseException):
        end(x)
    counts = []
    for i in range(GROWTH_RUNS):
        run.once(kind, middle + i % 3, 0, False)
        if i in (GROWTH_RUNS // 2, GROWTH_RUNS - 1):
            x = None
            gc.collect()
            counts.append((shim.fault_live(), len(gc.get_objects()), nfds()))
    growth = [b - a for a, b in zip(*counts, strict=True)]
    if growth[0] > 8 or growth[1] > 20 or growth[2] > 0:
        report(f"{run.title}, {kind} about {middle}", f"growth of memory, objects, descriptors: {growth}")


KINDS = {
    "memory": MEMORY,
    "short": SHORT,
    "kill": KILL,
    "EIO": errno.EIO,
    "ENOSPC": errno.ENOSPC,
    "EINTR": errno.EINTR,
    "EMFILE": errno.EMFILE,
}


def main(root: str, kind: int, stride: int, names: list[str]) -> None:
    find_range()
    b2.set_nthreads(1)
    total = 0
    for name in names or CASES:
        for contiguous in (True, False):
            run = Run(f"{root}/{name.replace(' ', '_')}_{contiguous}", name, contiguous)
            for lasts in (0,) if kind in (KILL, errno.EINTR) else (0, 1):
                n = 1
                while True:
                    if kind == KILL:
                        more = run.killed(kind, n, n % 2 == 1)
                    else:
                        more = run.once(kind, n, lasts, n % 7 == 1)
                    total += 1
                    if not more:
                        break
                    n += stride
            check_growth(run, kind)
            shutil.rmtree(run.root)
    print(f"{total} runs, {nreports} reports")
    sys.exit(nreports != 0)


if __name__ == "__main__":
    main(sys.argv[1], KINDS[sys.argv[2]], int(sys.argv[3]), sys.argv[4:])
