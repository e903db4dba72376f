"""The one place for short-lived files: gone when they are done with, and after a kill as well.

A process that was started by another of ours makes its folders inside a folder of its parent, and
leaves nothing either.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.core.held import free, held_folder, is_numbered
from burnish.process import strays

PREFIX = "burnish-"
_BESIDE = ".beside"
"""Names a file elsewhere that goes with the folder."""


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
    with held_folder(where, f"{PREFIX}{purpose}-") as folder:
        yield folder


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
    """Remove what processes of this user left that are no more, and end what these had started.

    Never raises.

    A user's own folder may begin with our name: only what has the whole form of ours is looked at.
    """
    with suppress(OSError):
        for folder in where.glob(f"{PREFIX}*"):
            if is_numbered(folder.name):
                with suppress(OSError, ValueError), free(folder) as is_free:
                    if is_free:
                        strays.kill([folder.name])
                        _remove(folder)


def _remove(folder: Path) -> None:
    for note in folder.rglob(_BESIDE):
        path = Path(json.loads(note.read_text()))
        # only what `file_beside` may have made: hidden, and nobody's model
        if path.name.startswith(".") and path.suffix != ".onnx" and path.is_file():
            path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
