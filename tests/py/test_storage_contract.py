# SPDX-License-Identifier: BSD-3-Clause
"""What every storage of a super-chunk must do: one class of tests, run on each of them.

After every kind of edit the reference opens what is there and must see the same.
"""

from __future__ import annotations

import contextlib
import itertools
import os

import blosc2
import numpy as np
import pytest
from inputs import make

import blosc2c as b2

SIZE, TYPESIZE = 2000, 4
ITEMS = SIZE // TYPESIZE
NAN = np.float32("nan").tobytes()


class Place:
    """A kind of storage: how to create a super-chunk in it and how others see that."""

    def __init__(self, kind: str, folder) -> None:
        self.kind = kind
        self.folder = folder
        self.numbers = itertools.count()

    def new(self, chunksize: int | None = SIZE, typesize: int = TYPESIZE, meta: dict | None = None):
        cparams = {"typesize": typesize, "clevel": 1, "nthreads": 2}
        path = self.folder / f"{self.kind}{next(self.numbers)}"
        kwargs = {"chunksize": chunksize, "cparams": cparams, "meta": meta}
        if self.kind == "memory":
            return b2.SChunk(**kwargs)
        if self.kind == "cframe":
            return b2.schunk_from_cframe(b2.SChunk(**kwargs).to_cframe(), copy=True)
        s = b2.SChunk(urlpath=path, contiguous=self.kind != "directory", **kwargs)
        if self.kind == "mmap":
            s.close()
            s = b2.open(path, mmap_mode="r+")
        return s

    @property
    def is_disk(self) -> bool:
        return self.kind in ("file", "directory", "mmap")

    def again(self, s):
        """Opened once more, by us."""
        if not self.is_disk:
            return b2.schunk_from_cframe(s.to_cframe(), copy=True)
        s.flush()
        return b2.open(s.urlpath, mmap_mode="r" if self.kind == "mmap" else None)

    def reference(self, s):
        """Opened by the reference."""
        if not self.is_disk:
            return blosc2.schunk_from_cframe(s.to_cframe(), copy=True)
        s.flush()
        return blosc2.open(s.urlpath, mode="r")


@pytest.fixture(params=["memory", "cframe", "file", "directory", "mmap"])
def place(request, tmp_path):
    return Place(request.param, tmp_path)


def check(place: Place, s, model: list[bytes], vlmeta: dict | None = None) -> None:
    """We, another handle of ours and the reference all see `model`."""
    for seen in (s, place.again(s), place.reference(s)):
        assert seen.nchunks == len(model)
        assert [seen.decompress_chunk(i) for i in range(len(model))] == model
        assert seen.nbytes == sum(map(len, model))
        if vlmeta is not None:
            assert seen.vlmeta[:] == vlmeta


def filled(place: Place, n: int = 5, **kwargs):
    """A super-chunk of n different chunks, and the list of them."""
    s = place.new(**kwargs)
    model = [make("text", SIZE, i) for i in range(n)]
    for i, data in enumerate(model):
        assert s.append_data(data) == i + 1
    return s, model


class TestEveryStorage:
    # ---- chunks ------------------------------------------------------------

    def test_nothing(self, place):
        s = place.new()
        assert len(s) == s.nchunks == s.nbytes == 0
        assert s[:] == b"" == s.get_slice(0, 10)
        assert list(s.iterchunks(np.uint8)) == list(s.iterchunks_info()) == []
        for call in (s.decompress_chunk, s.get_chunk, s.get_lazychunk, s.delete_chunk):
            with pytest.raises(b2.ChunkIndexError):
                call(0)
        s.reorder_offsets([])
        check(place, s, [], {})

    def test_append_data(self, place):
        s, model = filled(place)
        check(place, s, model)
        s.append_data(model[0][:400])  # short last chunk
        check(place, s, [*model, model[0][:400]])

    @pytest.mark.parametrize("library", [b2, blosc2])
    def test_append_chunk(self, place, library):
        s, model = filled(place, 2)
        data = make("random", SIZE, 7)
        chunk = library.compress2(data, typesize=TYPESIZE, codec=library.Codec.LZ4)
        assert s.append_chunk(chunk) == 3
        assert s.get_chunk(2) == chunk
        check(place, s, [*model, data])

    def test_insert(self, place):
        s, model = filled(place)
        for k in (0, 3, 7):
            data = make("ramp", SIZE, k)
            assert s.insert_data(k, data) == len(model) + 1
            model.insert(k, data)
            check(place, s, model)
        chunk = b2.compress2(model[1], typesize=TYPESIZE)
        assert s.insert_chunk(2, chunk) == len(model) + 1
        model.insert(2, model[1])
        check(place, s, model)

    def test_update(self, place):
        s, model = filled(place)
        for k, kind in ((0, "random"), (4, "zeros"), (2, "text")):
            model[k] = make(kind, SIZE, 50 + k)
            assert s.update_data(k, model[k]) == 5
            check(place, s, model)
        model[1] = make("runs", SIZE, 9)
        assert s.update_chunk(1, b2.compress2(model[1], typesize=TYPESIZE)) == 5
        check(place, s, model)

    def test_delete(self, place):
        s, model = filled(place)
        for k in (2, 0, 2, 0, 0):
            assert s.delete_chunk(k) == len(model) - 1
            del model[k]
            check(place, s, model)
        s.append_data(make("text", SIZE, 1))
        check(place, s, [make("text", SIZE, 1)])

    def test_reorder(self, place):
        s, model = filled(place)
        order = [3, 0, 4, 1, 2]
        s.reorder_offsets(order)
        check(place, s, [model[i] for i in order])
        s.append_data(model[0])
        check(place, s, [*(model[i] for i in order), model[0]])

    @pytest.mark.parametrize(
        "kind, value, item",
        [("ZERO", None, bytes(4)), ("NAN", None, NAN), ("VALUE", b"abcd", b"abcd"), ("UNINIT", None, None)],
    )
    def test_special(self, place, kind, value, item):
        s, model = filled(place, 2)
        special = b2.SpecialValue[kind]
        assert s.fill_special(2 * ITEMS + 100, special, value) == 5
        sizes = [SIZE, SIZE, 400]
        assert [len(s.decompress_chunk(i)) for i in (2, 3, 4)] == sizes
        assert [i.special for i in s.iterchunks_info()][2:] == [special] * 3
        assert s.update_special(0, special, value) == 5
        if item is not None:  # what was never set has no value
            model = [item * ITEMS, model[1], *(item * (n // 4) for n in sizes)]
            check(place, s, model)
        else:
            assert place.reference(s).nbytes == s.nbytes == 4 * SIZE + 400
            assert s.decompress_chunk(1) == model[1] == place.reference(s).decompress_chunk(1)

    def test_only_special(self, place):
        """Chunks that exist in the index alone."""
        s = place.new()
        s.fill_special(10 * ITEMS, b2.SpecialValue.ZERO)
        assert s.nchunks == 10
        check(place, s, [bytes(SIZE)] * 10)
        data = make("text", SIZE)
        s.update_data(4, data)
        check(place, s, [bytes(SIZE)] * 4 + [data] + [bytes(SIZE)] * 5)

    def test_variable_sizes(self, place):
        """Chunks of any size, from data and from ready chunks."""
        s = place.new(chunksize=None)
        model = [make("text", n, n) for n in (400, 4, 3000, 400, 12000)]
        for i, data in enumerate(model):
            if i % 2:
                s.append_chunk(b2.compress2(data, typesize=TYPESIZE))
            else:
                s.append_data(data)
        check(place, s, model)
        whole = b"".join(model)
        assert s[:] == whole and s[90:900] == whole[360:3600]
        s.delete_chunk(2)
        s.insert_data(0, whole[:1000])
        model = [whole[:1000], *model[:2], *model[3:]]
        check(place, s, model)
        assert s[245:260] == b"".join(model)[980:1040]
        s.update_data(1, whole[:48])
        model[1] = whole[:48]
        check(place, s, model)

    @pytest.mark.parametrize("typesize", [1, 3, 255, 256, 300, 2000])
    def test_type_sizes(self, place, typesize):
        nbytes = 6000
        s = place.new(chunksize=nbytes // typesize * typesize, typesize=typesize)
        assert s.typesize == typesize
        data = make("text", s.chunksize, typesize)
        s.append_data(data)
        s.fill_special(2, b2.SpecialValue.VALUE, data[:typesize])
        expected = [data, data[:typesize] * 2]
        check(place, s, expected)
        n = len(data) // typesize
        assert len(s) == n + 2
        assert s[1:3] == (data * 2)[typesize : 3 * typesize] if n > 2 else True
        assert s[n] == data[:typesize]
        s[n + 1] = data[-typesize:]
        check(place, s, [data, data[:typesize] + data[-typesize:]])
        assert place.again(s).typesize == place.reference(s).typesize == typesize

    # ---- items -------------------------------------------------------------

    def test_get_slice(self, place):
        s, model = filled(place, 3)
        s.append_data(model[0][:40])
        whole = b"".join(model) + model[0][:40]
        bounds = (None, 0, 1, ITEMS - 1, ITEMS, ITEMS + 1, 3 * ITEMS, 3 * ITEMS + 10, 10**9, -1, -ITEMS)
        items = [whole[i : i + 4] for i in range(0, len(whole), 4)]
        for start, stop in itertools.product(bounds, bounds):
            expected = b"".join(items[start:stop])
            assert s[start:stop] == s.get_slice(start, stop) == expected
        out = bytearray(8 * 4)
        assert s.get_slice(ITEMS - 4, ITEMS + 4, out) is None
        assert out == b"".join(items[ITEMS - 4 : ITEMS + 4])
        with pytest.raises(ValueError):
            s.get_slice(0, 10, bytearray(39))
        assert s[7] == items[7] and s[-1] == items[-1]
        with pytest.raises(IndexError):
            s[len(items)]
        with pytest.raises(IndexError):
            s[::2]

    def test_set_slice(self, place):
        s, model = filled(place, 3)
        flat = bytearray(b"".join(model))
        for start, stop in ((0, 1), (ITEMS - 2, ITEMS + 3), (ITEMS, 2 * ITEMS), (5, 5), (0, 3 * ITEMS)):
            data = make("random", (stop - start) * 4, stop)
            s[start:stop] = data
            flat[start * 4 : stop * 4] = data
            check(place, s, [bytes(flat[i : i + SIZE]) for i in range(0, len(flat), SIZE)])
        with pytest.raises(ValueError):
            s[0:2] = bytes(7)

    def test_growing(self, place):
        """Writing past the end: the last chunk is filled up, then new ones follow."""
        s, model = filled(place, 1)
        flat = bytearray(model[0])
        for start, n in ((ITEMS, 10), (ITEMS + 5, 20), (ITEMS + 25, 3 * ITEMS), (4 * ITEMS + 25, 1)):
            data = make("text", n * 4, n)
            s.set_slice(data, start, start + n)
            flat[start * 4 :] = data
            check(place, s, [bytes(flat[i : i + SIZE]) for i in range(0, len(flat), SIZE)])
        with pytest.raises(ValueError):
            s.set_slice(bytes(4), len(s) + 1, len(s) + 2)
        s.truncate(ITEMS + 3)
        check(place, s, [bytes(flat[:SIZE]), bytes(flat[SIZE : SIZE + 12])])

    # ---- reading -----------------------------------------------------------

    def test_iteration(self, place):
        s, model = filled(place)
        s.fill_special(ITEMS, b2.SpecialValue.VALUE, b"wxyz")
        model.append(b"wxyz" * ITEMS)
        for array, data in zip(s.iterchunks(np.int32), model, strict=True):
            assert array.dtype == np.int32 and array.tobytes() == data
        infos = list(s.iterchunks_info())
        assert [i.nchunk for i in infos] == list(range(6))
        assert infos[5].special is b2.SpecialValue.VALUE and infos[5].repeated_value == b"wxyz"
        for info, data in zip(infos, model, strict=True):
            assert b2.decompress2(info.lazychunk) == blosc2.decompress2(info.lazychunk) == data
            assert info.cratio > 1

    def test_stored_chunks(self, place):
        s, model = filled(place)
        for i, data in enumerate(model):
            chunk = s.get_chunk(i)
            assert chunk[:32] == s.get_lazychunk(i)[:32]
            assert blosc2.decompress2(chunk) == data
            assert place.again(s).get_chunk(i) == chunk
            # From a chunk file of its own the reference gives the checksum after it as well.
            assert place.reference(s).get_chunk(i)[: len(chunk)] == chunk

    def test_into_a_buffer(self, place):
        s, model = filled(place)
        out = np.zeros(ITEMS, np.int32)
        assert s.decompress_chunk(1, out) is None and out.tobytes() == model[1]
        longer = bytearray(b"#" * (SIZE + 3))
        assert s.decompress_chunk(2, longer) is None and longer == model[2] + b"###"
        with pytest.raises(ValueError):
            s.decompress_chunk(0, bytearray(SIZE - 1))
        with pytest.raises((ValueError, TypeError)):
            s.decompress_chunk(0, bytes(SIZE))
        s.read_into(longer := bytearray(SIZE), 10)
        assert longer == b"".join(model)[40 : 40 + SIZE]

    # ---- the whole ---------------------------------------------------------

    @pytest.mark.parametrize("target", ["memory", "file", "directory"])
    def test_copy(self, place, target, tmp_path):
        s, model = filled(place, meta={"fixed": [1, 2]})
        s.append_data(model[0][:8])
        s.vlmeta["name"] = ("a", 1)
        where = {} if target == "memory" else {"urlpath": tmp_path / "copy", "contiguous": target == "file"}
        for n, cparams in enumerate((None, {"codec": "lz4", "clevel": 9})):
            with s.copy(cparams, **where, mode="w") as copy:
                check(Place(target, tmp_path), copy, [*model, model[0][:8]], {"name": ("a", 1)})
                assert copy.meta[:] == {"fixed": [1, 2]}
                assert (copy.get_chunk(0) == s.get_chunk(0)) == (n == 0)
                copy.append_data(model[1]) if n else copy.delete_chunk(0)
        check(place, s, [*model, model[0][:8]])

    @pytest.mark.parametrize("copy", [True, False])
    def test_cframe(self, place, copy):
        s, model = filled(place, meta={"m": 1})
        s.vlmeta["v"] = "value"
        cframe = s.to_cframe()
        t = b2.schunk_from_cframe(cframe, copy=copy)
        del s
        assert t[:] == b"".join(model) and t.meta["m"] == 1 and t.vlmeta["v"] == "value"
        assert blosc2.schunk_from_cframe(cframe)[:] == t[:]
        kept = bytes(bytearray(cframe))
        with contextlib.suppress(b2.ReadOnlyError):  # of borrowed bytes
            t.append_data(model[0])
            assert copy or t.nchunks == 6
        assert cframe == kept
        theirs = blosc2.schunk_from_cframe(t.to_cframe())
        assert theirs.nchunks == t.nchunks and theirs[:] == t[:]

    def test_inside_another_file(self, place, tmp_path):
        s, model = filled(place)
        s.vlmeta["a"] = 1
        frame = s.to_cframe()
        path = tmp_path / "outer"
        for offset in (1, 4096, 100_003):
            path.write_bytes(b"\xa5" * offset + frame + b"tail" * 100)
            for mmap_mode in (None, "r"):
                with b2.open(path, offset=offset, mmap_mode=mmap_mode) as t:
                    assert t[:] == b"".join(model) and t.vlmeta["a"] == 1
            assert blosc2.open(str(path), offset=offset)[:] == b"".join(model)
            with pytest.raises(b2.FormatError):
                b2.open(path, offset=offset + 1)
        with pytest.raises((b2.FormatError, OSError)):
            b2.open(path, offset=10**9)

    def test_compact(self, place):
        s, model = filled(place, 12)
        for i in range(0, 12, 2):
            model[i] = make("random", SIZE, i)
            s.update_data(i, model[i])
        for i in (11, 5, 0):
            s.delete_chunk(i)
            del model[i]
        s.vlmeta["a"] = 1
        s.compact()
        check(place, s, model, {"a": 1})
        if place.kind in ("file", "mmap"):
            s.flush()
            assert os.path.getsize(s.urlpath) < s.cbytes + 2000
        s.append_data(model[0])
        s.close() if place.is_disk else None
        if place.is_disk:
            assert b2.open(s.urlpath)[:] == b"".join([*model, model[0]]) == blosc2.open(s.urlpath)[:]
            assert b2.verify(s.urlpath).ok

    # ---- metadata ----------------------------------------------------------

    def test_metalayers(self, place):
        values = {"number": 5, "list": [1, "two", b"3"], "tuple": (1, (2, 3)), "text": "x" * 100}
        s, model = filled(place, 2, meta=values)
        assert s.meta[:] == values and list(s.meta) == list(values) and len(s.meta) == 4
        assert "list" in s.meta and "nothing" not in s.meta
        s.meta["number"] = 6  # as long as before
        s.meta["tuple"] = (4, (5, 6))
        values.update(number=6, tuple=(4, (5, 6)))
        for seen in (s, place.again(s), place.reference(s)):
            assert {name: seen.meta[name] for name in values} == values
        with pytest.raises(ValueError):
            s.meta["number"] = 1000
        with pytest.raises(KeyError):
            s.meta["nothing"]
        with pytest.raises(KeyError):
            s.meta["nothing"] = 1
        check(place, s, model)

    def test_vlmetalayers(self, place):
        s, model = filled(place, 2)
        expected: dict = {}
        for name, value in (
            ("a", 1),
            ("b", {"x": [1.5, None, True]}),
            ("c", ("t", [b"bytes", ()])),
            ("d", "long" * 10_000),
            ("a", "another"),
            ("b", []),
        ):
            s.vlmeta[name] = expected[name] = value
            check(place, s, model, expected)
        del s.vlmeta["b"], expected["b"]
        check(place, s, model, expected)
        assert list(s.vlmeta) == list(expected) and len(s.vlmeta) == 3 and "b" not in s.vlmeta
        for action in (lambda: s.vlmeta["b"], lambda: s.vlmeta.__delitem__("b")):
            with pytest.raises(KeyError):
                action()
        with pytest.raises(TypeError):
            s.vlmeta["object"] = object()
        with pytest.raises(ValueError):
            s.vlmeta["n" * 32] = 1
        s.append_data(model[0])
        check(place, s, [*model, model[0]], expected)
        for name in list(expected):
            del s.vlmeta[name], expected[name]
        check(place, s, [*model, model[0]], {})

    # ---- commits -----------------------------------------------------------

    def test_transaction(self, place):
        s, model = filled(place)
        s.vlmeta["n"] = 1
        with pytest.raises(RuntimeError, match="undo"), s.transaction():
            s.append_data(model[0])
            s.delete_chunk(0)
            s.vlmeta["n"] = 2
            raise RuntimeError("undo")
        check(place, s, model, {"n": 1})
        with s.transaction():
            s.update_data(1, model[0])
            s.delete_chunk(0)
            s.vlmeta["n"] = 2
        check(place, s, [model[0], *model[2:]], {"n": 2})

    def test_reference_continues(self, place):
        """What the reference appends and removes is there for us."""
        s, model = filled(place)
        if not place.is_disk:
            theirs = blosc2.schunk_from_cframe(s.to_cframe(), copy=True)
        else:
            s.close()
            theirs = blosc2.open(s.urlpath, mode="a")
        data = make("ramp", SIZE, 3)
        theirs.append_data(data)
        theirs.delete_chunk(1)
        theirs.vlmeta["theirs"] = [1]
        model = [model[0], *model[2:], data]
        if not place.is_disk:
            ours = b2.schunk_from_cframe(theirs.to_cframe(), copy=True)
        else:
            del theirs
            ours = b2.open(s.urlpath, mode="a")
        check(place, ours, model, {"theirs": [1]})
        ours.update_data(0, data)
        check(place, ours, [data, *model[1:]], {"theirs": [1]})
        ours.close()

    def test_closed(self, place):
        with filled(place)[0] as s:
            pass
        s.close()  # twice is fine
        for call in (
            lambda: s.nchunks,
            lambda: s[:],
            lambda: s.append_data(bytes(SIZE)),
            lambda: s.vlmeta["a"],
            lambda: s.decompress_chunk(0),
            lambda: s.flush(),
        ):
            with pytest.raises(b2.ClosedError, match="closed"):
                call()
        assert "closed" in repr(s)
