"""The machine's failures are told in two lines."""

from __future__ import annotations

import errno
import os

import pytest

from burnish.core import mishaps
from burnish.core.errors import MissingCapabilityError


def _os_error(number: int, path: str | None = "/tmp/x") -> OSError:
    return OSError(number, os.strerror(number), path)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (MemoryError(), "there is not enough memory"),
        (MemoryError("Unable to allocate 8.00 TiB"), "there is not enough memory (Unable to"),
        (_os_error(errno.ENOMEM), "there is not enough memory"),
        (ImportError("libx.so: failed to map segment from shared object"), "there is not enough"),
        (RuntimeError("can't start new thread"), "there is not enough memory"),
        (_os_error(errno.ENOSPC), "/tmp/x: the disk is full (No space left on device)"),
        (_os_error(errno.EDQUOT, None), "the disk is full (Disk quota exceeded)"),
        (_os_error(errno.EROFS), "/tmp/x: Read-only file system"),
        (_os_error(errno.EACCES), "/tmp/x: Permission denied"),
        (_os_error(errno.EMFILE), "/tmp/x: Too many open files"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/a']"),
         "no folder for temporary files can be written"),
    ],
)  # fmt: skip
def test_what_the_machine_lacks_is_not_a_bug(error: Exception, problem: str) -> None:
    found = mishaps.explained(error)
    assert isinstance(found, MissingCapabilityError)
    assert found.problem.startswith(problem)
    assert found.hint


@pytest.mark.parametrize(
    "error",
    [IndexError(), RuntimeError("oh"), ImportError("no module named x"), _os_error(errno.ENOENT)],
)
def test_anything_else_is(error: Exception) -> None:
    assert mishaps.explained(error) is None
