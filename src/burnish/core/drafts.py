"""Folders in which something is written before it takes its place; what a kill leaves is found.

A draft lies beside what it will become, so that one rename is enough. Its owner holds a lock on it
while it lives, which the system lets go of when the owner dies, however it dies: a draft that
nobody holds is litter, and the next writer in that folder removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SUFFIX = ".burnish-draft"
OLD = "old"
"""Where a draft keeps what it replaces on systems that cannot exchange two folders."""

_SHOWN = 64
"""Characters of the target's name in that of its draft: together they must fit a file name."""


@contextmanager
def draft_beside(target: Path) -> Iterator[Path]:
    """Yield a new folder beside `target`; it is gone afterwards, and so is litter of the dead."""
    sweep(target.parent)
    folder, lock = _locked_draft(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep(parent: Path) -> None:
    """Remove the drafts that nobody holds any more; put back what one of them had moved away."""
    for folder in parent.glob(f".*{SUFFIX}"):
        with _held(folder) as is_free:
            if is_free:
                put_back(folder)
                shutil.rmtree(folder, ignore_errors=True)


def put_back(folder: Path) -> None:
    """Move what a draft had moved away to where it was, if nothing has taken its place."""
    with suppress(OSError):
        for old in (folder / OLD).iterdir():
            if not os.path.lexists(folder.parent / old.name):
                old.rename(folder.parent / old.name)


def recover(target: Path) -> None:
    """Put a folder back that a writer had moved away when it was killed."""
    if not os.path.lexists(target) and target.parent.is_dir():
        with suppress(OSError):
            sweep(target.absolute().parent)


def _locked_draft(target: Path) -> tuple[Path, int]:
    prefix = f".{target.name[:_SHOWN]}."
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, suffix=SUFFIX, dir=target.parent))
        # until it is locked somebody may take it for litter: then another one is made
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            with suppress(OSError):  # where nothing can be locked nothing is swept either
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.is_dir():
                return folder, lock
            os.close(lock)


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Yield whether nobody holds a draft; meanwhile this process does."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False  # it is gone, somebody else's, or no draft at all
        return
    try:
        yield _could_take(lock)
    finally:
        os.close(lock)


def _could_take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
