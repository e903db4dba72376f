"""Renames that never lose what stands at their target: into a gap, or in exchange for it."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

_HERE = -100
"""AT_FDCWD: relative paths begin at the current folder."""
_NO_REPLACE, _EXCHANGE = 1, 2
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.ENOTSUP)
"""What systems and file systems answer that do not know these renames."""


def fill_gap(source: Path, target: Path) -> None:
    """Rename to a name that is free; raise FileExistsError where it is not."""
    if _renamed(source, target, _NO_REPLACE):
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.rename(target)


def exchange(one: Path, other: Path) -> bool:
    """Let two paths change places at one moment; return False where the system cannot."""
    return _renamed(one, other, _EXCHANGE)


def _renamed(source: Path, target: Path, how: int) -> bool:
    rename = _system_rename()
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(source), _HERE, os.fsencode(target), how) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


@lru_cache(maxsize=1)
def _system_rename() -> Any:  # noqa: ANN401  (a function of the C library, or None)
    if not sys.platform.startswith("linux"):
        return None
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        rename.argtypes = (
            ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint,
        )  # fmt: skip
    return rename
