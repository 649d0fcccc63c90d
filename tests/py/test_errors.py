# SPDX-License-Identifier: BSD-3-Clause
"""Every status of the C library has its exception; every exception tells what is known."""

from __future__ import annotations

import builtins
import errno
import pickle
import re
import struct
from pathlib import Path

import numpy as np
import pytest

import blosc2c as b2
from blosc2c import _ffi, errors

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"

BASES = {
    "FormatError": (RuntimeError,),
    "CorruptError": (errors.FormatError,),
    "ChecksumError": (errors.CorruptError,),
    "TruncatedError": (errors.FormatError,),
    "ParameterError": (RuntimeError, ValueError),
    "UnfitBufferError": (errors.ParameterError, BufferError),
    "SelectionError": (errors.ParameterError, IndexError),
    "UnknownParameterError": (errors.ParameterError, TypeError),
    "RenamedError": (errors.UnknownParameterError, NameError),
    "UnknownCodecError": (errors.ParameterError,),
    "UnknownFilterError": (errors.ParameterError,),
    "ReadOnlyError": (RuntimeError, ValueError),
    "ChunkIndexError": (IndexError, RuntimeError),
    "FrameExistsError": (FileExistsError, RuntimeError),
    "ClosedError": (ValueError,),
    "LimitError": (RuntimeError, ValueError),
}

EXPECTED = {
    "B2C_E_ARGUMENT": errors.ParameterError,
    "B2C_E_RANGE": errors.ChunkIndexError,
    "B2C_E_OUTPUT_SIZE": errors.ParameterError,
    "B2C_E_READ_ONLY": errors.ReadOnlyError,
    "B2C_E_EXISTS": errors.FrameExistsError,
    "B2C_E_NOT_FOUND": KeyError,
    "B2C_E_FORMAT": errors.FormatError,
    "B2C_E_CORRUPT": errors.CorruptError,
    "B2C_E_TRUNCATED": errors.TruncatedError,
    "B2C_E_UNSUPPORTED": errors.FormatError,
    "B2C_E_UNKNOWN_CODEC": errors.UnknownCodecError,
    "B2C_E_UNKNOWN_FILTER": errors.UnknownFilterError,
    "B2C_E_CHECKSUM": errors.ChecksumError,
    "B2C_E_MEMORY": MemoryError,
    "B2C_E_LIMIT": errors.LimitError,
    "B2C_E_IO": OSError,
    "B2C_E_LOCKED": OSError,
    "B2C_E_CONFLICT": errors.ConflictError,
    "B2C_E_CALLBACK": errors.Blosc2Error,
    "B2C_E_INTERNAL": errors.Blosc2Error,
}


def statuses() -> dict[str, int]:
    """All members of the C enumeration but success, as the extension knows them."""
    names = dict(_ffi.ffi.typeof("b2c_status").elements)
    return {name: value for value, name in names.items() if name != "B2C_OK"}


@pytest.mark.parametrize("name", BASES)
def test_bases(name):
    cls = getattr(errors, name)
    assert issubclass(cls, errors.Blosc2Error)
    for base in BASES[name]:
        assert issubclass(cls, base)
    assert getattr(b2, name) is cls and b2.Blosc2Error is errors.Blosc2Error


def test_the_table_of_the_documents():
    """Each row of docs/python.md names all builtin exceptions that its own ones are, too."""
    rows = re.findall(r"^\| (`\w+Error`.*?) \| (.*?) \|", DOCUMENT.read_text(), re.M)
    assert len(rows) > 10
    implied = (errors.Blosc2Error, Exception, BaseException, LookupError, OSError, object)
    for names, bases in rows:
        told: set[type] = set()
        for base in re.findall(r"\w+", bases):
            told |= set((getattr(errors, base, None) or getattr(builtins, base)).__mro__)
        for name in re.findall(r"\w+Error", names):
            cls = getattr(b2, name)
            # A subclass of its neighbour, and the one that is an EOFError, are told of beside them.
            rest = set(cls.__mro__) - told - {cls, errors.CorruptError, EOFError} - set(implied)
            assert told <= set(cls.__mro__) and not rest, name


def test_every_status_is_expected_here():
    assert set(statuses()) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_status_has_its_exception(name):
    value = statuses()[name]
    with pytest.raises(EXPECTED[name]) as info:
        _ffi.check(value)
    assert str(info.value).strip()
    text = _ffi.text(_ffi.lib.b2c_status_text(value))
    assert text and text != _ffi.text(_ffi.lib.b2c_status_text(9999))


def test_success_raises_nothing():
    _ffi.check(_ffi.lib.B2C_OK)


def test_an_unknown_status_is_an_error_too():
    with pytest.raises(errors.Blosc2Error):
        _ffi.check(77)


@pytest.mark.parametrize("cls", [getattr(errors, n) for n in BASES])
def test_attributes(cls):
    e = cls("what happened", path="p", offset=7, field="f", chunk=1, block=2, expected=3, actual=4)
    assert str(e) == "what happened"
    assert (e.path, e.offset, e.field, e.chunk, e.block, e.expected, e.actual) == ("p", 7, "f", 1, 2, 3, 4)
    bare = cls("x")
    assert bare.offset is bare.field is bare.chunk is bare.block is bare.path is None
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is cls and str(again) == str(e)


def test_damage_is_located(tmp_path):
    """Chunk, block and byte of a damaged stream in a file, and the file's name."""
    path = tmp_path / "x.b2frame"
    data = np.arange(3000, dtype="<i4").tobytes()
    cparams = {"typesize": 4, "codec": b2.Codec.ZLIB, "filters": [], "blocksize": 1000}
    with b2.SChunk(chunksize=4000, data=data, cparams=cparams, urlpath=path) as s:
        chunk = s.get_chunk(1)
    raw = path.read_bytes()
    at = raw.index(chunk)
    start = struct.unpack_from("<i", chunk, 32 + 4 * 2)[0]  # block 2 of the chunk
    damaged = bytearray(raw)
    damaged[at + start + 4 : at + start + 12] = b"\xff" * 8
    path.write_bytes(damaged)
    with b2.open(path) as s:
        assert s.decompress_chunk(0) == data[:4000]
        with pytest.raises(b2.CorruptError) as info:
            s.decompress_chunk(1)
        e = info.value
        assert e.chunk == 1 and str(path) in (str(e.path), str(e))
        assert isinstance(e, b2.ChecksumError) or e.block == 2
        assert "chunk 1" in str(e)
        assert s.decompress_chunk(2) == data[8000:]


def test_chunk_numbers():
    s = b2.SChunk(data=bytes(100), chunksize=50)
    for call in (s.decompress_chunk, s.get_chunk):
        for n in (2, -1, 1 << 40):
            with pytest.raises(b2.ChunkIndexError):
                call(n)
        with pytest.raises((TypeError, AttributeError)):
            call("0")


def test_files_the_system_refuses(tmp_path):
    with pytest.raises(FileNotFoundError) as info:
        b2.open(tmp_path / "nothing")
    assert info.value.errno == errno.ENOENT and str(info.value.filename).endswith("nothing")
    with pytest.raises(OSError, match="nowhere"):
        b2.SChunk(chunksize=100, urlpath=tmp_path / "nowhere" / "x")
    (tmp_path / "plain").write_bytes(b"x")
    with pytest.raises(OSError, match="plain"):
        b2.SChunk(chunksize=100, urlpath=tmp_path / "plain" / "x")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises((OSError, b2.FormatError)):
        b2.open(folder)


@pytest.mark.parametrize("n", [0, 1, 16, 87, 96, 131])
def test_frames_cut_short(n, tmp_path):
    frame = b2.SChunk(data=bytes(range(100)), chunksize=50).to_cframe()
    with pytest.raises(b2.FormatError):
        b2.schunk_from_cframe(frame[:n])
    (tmp_path / "cut").write_bytes(frame[:n])
    with pytest.raises(b2.FormatError) as info:
        b2.open(tmp_path / "cut")
    assert str(info.value.path).endswith("cut")


def test_every_truncation_of_a_frame():
    frame = b2.SChunk(data=bytes(range(200)), chunksize=50, meta={"a": 1}).to_cframe()
    for n in range(len(frame)):
        with pytest.raises(b2.FormatError):
            b2.schunk_from_cframe(frame[:n])


def test_every_change_of_a_frame_is_found_or_harmless():
    """Reads everything of each changed frame: data or a Blosc2Error, nothing else."""
    s = b2.SChunk(chunksize=50, meta={"a": 1}, cparams={"typesize": 1})
    for i in range(4):
        s.append_data(bytes(range(i, i + 50)))
    s.vlmeta["v"] = [1, 2]
    frame = s.to_cframe()
    for at in range(len(frame)):
        for value in {frame[at] ^ 1, frame[at] ^ 0x80, 0xFF, 0}:
            changed = frame[:at] + bytes([value]) + frame[at + 1 :]
            try:
                t = b2.schunk_from_cframe(changed)
                [t.decompress_chunk(n) for n in range(min(t.nchunks, 8))]
                t.meta[:], t.vlmeta[:], t.cparams, repr(t)
                if t.nbytes < 1 << 20:
                    t[:]
            except (b2.Blosc2Error, MemoryError):
                pass


def test_every_change_of_an_array_is_found_or_harmless():
    frame = b2.asarray(np.arange(35, dtype="<i4").reshape(5, 7), chunks=(4, 5), blocks=(3, 2)).to_cframe()
    header_len = struct.unpack_from(">i", frame, 11)[0]
    for at in range(header_len):
        for value in {frame[at] ^ 1, frame[at] ^ 0x80, 0xFF, 0, frame[at] ^ 0x10}:
            changed = frame[:at] + bytes([value]) + frame[at + 1 :]
            try:
                a = b2.from_cframe(changed)
                if a.nbytes < 1 << 20:
                    a[...] if isinstance(a, b2.NDArray) else a[:]
            except (b2.Blosc2Error, MemoryError):
                pass


def test_numbers_beyond_the_end_are_told():
    with b2.SChunk(chunksize=400, data=bytes(1200)) as s:
        with pytest.raises(b2.ChunkIndexError, match="no chunk of this number: asked for 3, there are 3"):
            s.decompress_chunk(3)
        with pytest.raises(b2.ChunkIndexError, match="asked for 7, there are 3"):
            s.insert_chunk(7, s.get_chunk(0))


@pytest.mark.parametrize("number", [1 << 62, (1 << 64) - 1, 1 << 64, 10**30])
def test_numbers_of_any_size(number):
    vlchunk = b2.vlcompress([b"a", b"b"])
    with b2.SChunk(chunksize=400, data=bytes(1200), cparams={"typesize": 4}) as s:
        chunk = s.get_chunk(0)
        for call in (
            s.get_chunk,
            s.decompress_chunk,
            s.delete_chunk,
            s.chunk_facts,
            lambda n: s.insert_chunk(n, chunk),
            lambda n: s.insert_data(n, bytes(400)),
            lambda n: s.update_data(n, bytes(400)),
            lambda n: s.update_special(n, b2.SpecialValue.ZERO),
            lambda n: s.get_vlblock(n, 0),
            lambda n: b2.vldecompress_block(vlchunk, n),
        ):
            with pytest.raises(b2.ChunkIndexError):
                call(number)
        with pytest.raises(b2.LimitError):
            s.fill_special(number, b2.SpecialValue.ZERO)
        with pytest.raises(b2.LimitError):
            s.fill_special(np.int64(1 << 62), b2.SpecialValue.ZERO)
        assert s.nchunks == 3


@pytest.mark.parametrize("mode", ["a", "w"])
def test_the_empty_path_is_no_place(mode):
    x = b2.asarray(np.arange(3))
    for make in (
        lambda: b2.asarray(np.arange(3), urlpath="", mode=mode),
        lambda: b2.SChunk(urlpath="", mode=mode),
        lambda: b2.zeros(3, urlpath="", mode=mode, contiguous=False),
        lambda: x.save("", mode=mode),
    ):
        with pytest.raises(FileNotFoundError, match="''"):
            make()


def test_a_chunksize_that_is_no_number():
    with pytest.raises(TypeError, match="integer"):
        b2.SChunk(chunksize="a")
