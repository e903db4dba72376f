"""Folders that belong to a process for as long as it lives, however it ends.

Who makes a folder holds a lock on it, which the system lets go of when that process dies: a folder
that nobody holds is litter, and whoever makes the next one removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NUMBER_BYTES = 8
_NUMBERED = re.compile(rf".*[-.][0-9a-f]{{{2 * _NUMBER_BYTES}}}(?:\..*)?", re.DOTALL)


@contextmanager
def held_folder(parent: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Yield a new folder that nobody else takes for litter; it is gone afterwards."""
    lock = None
    while lock is None:
        # named before it is made: a signal may come between any two steps
        folder = parent / f"{prefix}{os.urandom(_NUMBER_BYTES).hex()}{suffix}"
        try:
            folder.mkdir(mode=0o700)
            lock = _locked(folder)
            if lock is not None:
                yield folder
        finally:
            _removed(folder)
            if lock is not None:
                os.close(lock)


def is_numbered(name: str) -> bool:
    """Return whether a name has the form that `held_folder` gives; nobody else's has it."""
    return _NUMBERED.fullmatch(name) is not None


@contextmanager
def free(folder: Path) -> Iterator[bool]:
    """Yield whether a folder of this user is nobody's; meanwhile it is this process's."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False  # it is gone, somebody else's, or no folder at all
        return
    try:
        # older versions lock this file in it instead, and their folders have the form of ours
        is_older = (folder / ".owner").exists()
        yield os.fstat(lock).st_uid == os.geteuid() and not is_older and _could_take(lock)
    finally:
        os.close(lock)


def _locked(folder: Path) -> int | None:
    """Return what holds a folder while it is open; None: it was taken for litter meanwhile."""
    with suppress(FileNotFoundError):
        lock = os.open(folder, os.O_RDONLY)
        with suppress(OSError):  # where nothing can be locked nothing is removed either
            fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            return lock
        os.close(lock)
    return None


def _could_take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _removed(folder: Path) -> None:
    """Remove a folder, also when a signal asks for the end while it goes."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
