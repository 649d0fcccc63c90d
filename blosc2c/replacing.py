"""What is at a path: whether it may be removed, and removing it.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile

from .errors import ParameterError
from .params import folder_of, to_path

_INDEX = "chunks.b2frame"


def remove_urlpath(path: str | bytes | os.PathLike[str] | None) -> None:
    """Remove a file or directory; nothing happens for None or when it is not there.

    A directory goes only when it looks like a sparse frame or is empty, and no device, pipe or socket does:
    ValueError otherwise.
    """
    if path is None:
        return
    name = to_path(path)
    if not os.path.lexists(name):
        return
    check_removable(name)
    if os.path.islink(name) or not os.path.isdir(name):
        os.remove(name)
        return
    try:
        _remove_folder(name)
    except OSError as exc:  # which may name a file in it without saying where
        raise OSError(exc.errno, exc.strerror, name) from None


def _remove_folder(name: str) -> None:
    """At once for who opens it; what a failure leaves goes when a new one takes its path."""
    aside = name.rstrip("/") + ".b2new"
    with contextlib.suppress(OSError):
        if not os.path.lexists(aside):
            os.rename(name, aside)
            name = aside
    for entry in sorted(os.listdir(name), key=_INDEX.__eq__):  # without its index it would not be known again
        path = os.path.join(name, entry)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    os.rmdir(name)


def is_sparse_frame(name: str) -> bool:
    """Whether the directory has the index file of one."""
    return os.path.exists(os.path.join(name, _INDEX))


def check_removable(name: str) -> None:
    """ValueError for a directory that is neither a sparse frame nor empty, and for what is no file."""
    if not os.path.lexists(name) or os.path.islink(name) or os.path.isfile(name):
        return
    if not os.path.isdir(name):
        raise ParameterError(f"{name} is neither a file nor a directory; it is not removed", path=name)
    if os.listdir(name) and not is_sparse_frame(name):
        raise ParameterError(f"{name} is a directory but no sparse frame; it is not removed", path=name)


def check_not_special(path: str) -> None:
    """OSError for a pipe, device or socket: to open one may mean to wait forever."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise OSError(errno.EINVAL, "not a regular file", path)


def folder_beside(path: str) -> tempfile.TemporaryDirectory[str]:
    """A temporary directory in that of `path`, for what is to take its place."""
    try:
        return tempfile.TemporaryDirectory(prefix=".blosc2c.", dir=folder_of(path))
    except OSError as exc:  # which names a file that nobody knows
        raise OSError(exc.errno, exc.strerror, os.path.dirname(path) or ".") from None
