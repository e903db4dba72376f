"""The one place for short-lived files: gone when they are done with, and after a kill as well.

A folder is locked by the process that made it for as long as that lives, however it ends; the next
one that makes a folder removes those whose locks are free. A process that was started by another of
ours makes its folders inside a folder of its parent, and leaves nothing either.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "burnish-"
_OWNER = ".owner"
"""Locked by the process that made the folder; holds its number, for people."""
_BESIDE = ".beside"
"""Names a file elsewhere that goes with the folder."""
_HALF_MADE_S = 3600.0
"""A folder that nobody owns is being made; after this long its maker was killed meanwhile."""


class _State:
    """Where this process makes its folders."""

    parents: Path | None = None
    swept = False


def inside(folder: Path) -> None:
    """Make all further folders of this process inside one that its parent removes."""
    _State.parents = folder


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Yield a new folder for short-lived files; it is gone afterwards, whatever happens."""
    if _State.parents is None and not _State.swept:
        _State.swept = True
        sweep(Path(tempfile.gettempdir()))
    where = _State.parents or Path(tempfile.gettempdir())
    # named before it is made: a signal may come between any two steps
    folder = where / f"{PREFIX}{purpose}-{os.urandom(8).hex()}"
    lock = None
    try:
        folder.mkdir(mode=0o700)
        lock = _owned(folder)
        yield folder
    finally:
        _emptied(folder)
        if lock is not None:
            os.close(lock)


@contextmanager
def file_beside(home: Path, *, prefix: str, suffix: str) -> Iterator[Path]:
    """Yield a new file in a user's folder, for what must lie there; it is gone afterwards.

    It is written down before it is made, so that it is swept like a folder of ours.
    """
    path = home.absolute() / f"{prefix}{os.urandom(6).hex()}{suffix}"
    with scratch("beside") as folder:
        (folder / _BESIDE).write_text(json.dumps(str(path)))
        try:
            path.touch(exist_ok=False)
            yield path
        finally:
            path.unlink(missing_ok=True)


def sweep(where: Path) -> None:
    """Remove what processes of this user left that are no more; never raises."""
    with suppress(OSError):
        for folder in where.glob(f"{PREFIX}*"):
            with suppress(OSError, ValueError):
                if _is_stale(folder):
                    _remove(folder)


def _emptied(folder: Path) -> None:
    """Remove a folder, also when a signal asks for the end while it goes."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _owned(folder: Path) -> int:
    """Lock a folder; return what keeps the lock while it is open."""
    draft = folder / f"{_OWNER}.new"
    lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):  # a file system without locks: then nobody finds the folder stale
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(lock, f"{os.getpid()}\n".encode())
    # under its name only now: whoever finds it finds it locked
    draft.rename(folder / _OWNER)
    return lock


def _is_stale(folder: Path) -> bool:
    found = folder.lstat()
    if found.st_uid != os.geteuid() or not folder.is_dir() or folder.is_symlink():
        return False
    try:
        lock = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return time.time() - found.st_mtime > _HALF_MADE_S
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _remove(folder: Path) -> None:
    for note in folder.rglob(_BESIDE):
        path = Path(json.loads(note.read_text()))
        # only what `file_beside` may have made: hidden, and nobody's model
        if path.name.startswith(".") and path.suffix != ".onnx" and path.is_file():
            path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
