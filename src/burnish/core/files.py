"""Write files so that a good one is never replaced by half of a new one."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnish.core.errors import BurnishError, MissingCapabilityError, UsageError


@contextmanager
def written_beside(target: Path) -> Iterator[Path]:
    """Yield a new folder beside `target`; on success all files in it move next to `target`.

    `target` itself moves last, so that it never names companions that are not there yet. On
    any failure the folder is removed and what stood at `target` is as it was.
    """
    with _explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        with _explained(target):
            yield folder
            for path in sorted(folder.iterdir(), key=lambda path: path.name == target.name):
                _sync(path)
                path.replace(target.parent / path.name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def folder_written_beside(target: Path) -> Iterator[Path]:
    """Yield a new folder; on success it takes the place of the folder `target` as a whole.

    On any failure what stood at `target` is as it was.
    """
    with _explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_dir():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        around = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        with _explained(target):
            fresh, old = around / "new", around / "old"
            fresh.mkdir()
            yield fresh
            if target.exists():
                target.rename(old)
            fresh.rename(target)
    finally:
        shutil.rmtree(around, ignore_errors=True)


def write_text(target: Path, text: str) -> None:
    """Write a text file: all of it, or nothing."""
    # Lone halves of pairs, which JSON may hold, are no UTF-8; as escapes they are JSON again.
    write_bytes(target, text.encode(errors="backslashreplace"))


def write_bytes(target: Path, content: bytes) -> None:
    """Write a file: all of it, or nothing."""
    with written_beside(target) as folder:
        (folder / target.name).write_bytes(content)


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise explain(error, target) from error


def explain(error: OSError, target: Path) -> BurnishError:
    """Return what the user should read when writing `target` failed."""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MissingCapabilityError(
            f"{target}: the disk is full ({reason})",
            hint="free some space, or choose another place with -o; nothing was replaced",
        )
    return UsageError(
        f"{target}: cannot be written ({reason})",
        hint="choose another place with -o; nothing was replaced",
    )


def _sync(path: Path) -> None:
    """Wait until a file is on disk: some file systems report a full disk only then."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
