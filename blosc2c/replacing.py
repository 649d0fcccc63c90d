"""What is at a path: removing it, and keeping it until what replaces it is complete.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil

from .errors import ParameterError
from .params import absolute, to_path

SUFFIX = ".b2old"


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
    _check_removable(name)
    if os.path.isdir(name) and not os.path.islink(name):
        shutil.rmtree(name)
    else:
        os.remove(name)


def _check_removable(name: str) -> None:
    if os.path.islink(name) or os.path.isfile(name):
        return
    if not os.path.isdir(name):
        raise ParameterError(f"{name} is neither a file nor a directory; it is not removed", path=name)
    if os.listdir(name) and not os.path.exists(os.path.join(name, "chunks.b2frame")):
        raise ParameterError(f"{name} is a directory but no sparse frame; it is not removed", path=name)


def check_not_special(path: str) -> None:
    """OSError for a pipe, device or socket: to open one may mean to wait forever."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise OSError(errno.EINVAL, "not a regular file", path)


class Replaced:
    """What was at a path, if anything: beside it, with SUFFIX and perhaps a number added to its name.

    It is there from put_aside() until put_back(), or until forget() removes it.  A process that is
    killed in between leaves it there.
    """

    def __init__(self, path: str) -> None:
        self.path = absolute(path)
        self.kept: str | None = None
        if os.path.lexists(path):
            _check_removable(path)
            names = itertools.chain([path + SUFFIX], (f"{path}{SUFFIX}{n}" for n in itertools.count(1)))
            self.kept = absolute(next(name for name in names if not os.path.lexists(name)))

    def put_aside(self) -> None:
        if self.kept is not None:
            os.rename(self.path, self.kept)

    def put_back(self, is_made: bool) -> None:
        """In place of what is at the path now; of what is made there when nothing was."""
        if self.kept is None:
            if is_made:
                remove_urlpath(self.path)
        elif os.path.lexists(self.kept):
            remove_urlpath(self.path)
            os.rename(self.kept, self.path)

    def forget(self) -> None:
        with contextlib.suppress(OSError):  # what was asked for is done
            remove_urlpath(self.kept)
