"""The exceptions of the package: one tree, each also of the fitting builtin type.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import os


class DamageWarning(UserWarning):
    """A damaged chunk is read as zeros, see open(on_damage="fill")."""


class Blosc2Error(Exception):
    """Base of all errors that this package raises about data and parameters.

    Every attribute is None when it does not apply.

    Attributes
    ----------
    path : the file or directory concerned
    offset : byte of the input where the trouble lies
    field : name of the stored field or of the parameter
    chunk, block : their numbers
    expected, actual : two values that should be the same (sizes, checksums), or a bound and what is beyond
    """

    def __init__(
        self,
        message: str = "",
        *,
        path: str | os.PathLike[str] | None = None,
        offset: int | None = None,
        field: str | None = None,
        chunk: int | None = None,
        block: int | None = None,
        expected: int | None = None,
        actual: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.offset = offset
        self.field = field
        self.chunk = chunk
        self.block = block
        self.expected = expected
        self.actual = actual

    # The builtin bases of the subclasses would quote or rearrange the message.
    def __str__(self) -> str:
        return self.message


class FormatError(Blosc2Error, RuntimeError, ValueError):
    """The bytes are no chunk or frame, or of a version that is not supported."""

    @property
    def found(self) -> int | None:
        """What was found in place of what the format asks for."""
        return self.actual


class CorruptError(FormatError):
    """Impossible values, or a stream that does not decode."""


class ChecksumError(CorruptError):
    """Stored and computed checksums differ."""


class TruncatedError(FormatError, EOFError):
    """The data ends too early."""


class ParameterError(Blosc2Error, RuntimeError, ValueError):
    """An argument is outside its documented values."""


class UnknownParameterError(ParameterError, TypeError):
    """A keyword that there is not: Python has TypeErrors for these, Python-Blosc2 often ValueErrors."""


class RenamedError(UnknownParameterError, NameError):
    """A parameter by the name that it had in earlier versions of Python-Blosc2."""


class UnfitBufferError(ParameterError, BufferError):
    """Memory that is not C-contiguous, or not writable where a result is to go."""


class SelectionError(ParameterError, IndexError):
    """A key that does not fit what it selects from, where Python-Blosc2 has no IndexError."""


class UnknownCodecError(ParameterError):
    """A codec that is neither built in nor registered."""


class UnknownFilterError(ParameterError):
    """A filter that is neither built in nor registered."""


class ReadOnlyError(Blosc2Error, RuntimeError, ValueError):
    """A change of something that was opened for reading, or of which a write has failed before."""


class ChunkIndexError(Blosc2Error, IndexError, RuntimeError):
    """A chunk or item number that is not there."""


class FrameExistsError(Blosc2Error, FileExistsError, RuntimeError):
    """The file or directory to be created is already there."""


class NoDirectoryError(Blosc2Error, FileNotFoundError, RuntimeError):
    """The directory in which a file or directory is to be created is not there."""


class NotFoundError(Blosc2Error, KeyError, RuntimeError, ValueError):
    """No metalayer, field or callback of that name."""


class NotPackedError(FormatError, NotFoundError):
    """A frame that no packing function has made: Python-Blosc2 has a KeyError for the name that is missing."""


class ClosedError(Blosc2Error, ValueError):
    """Use of an object after its close()."""


class LimitError(Blosc2Error, RuntimeError, ValueError):
    """Beyond a limit of the format, or of what is accepted from untrusted input."""


class ConflictError(Blosc2Error, RuntimeError):
    """Somebody else has changed the file or directory meanwhile: what was to be written, or read, does not fit."""


class SourceChangedError(ConflictError):
    """What was read part by part, or as it is stored, was of several states; reading it again may do."""


class InternalError(Blosc2Error, RuntimeError):
    """A defect of this library, or a failure in a user's codec or filter."""
