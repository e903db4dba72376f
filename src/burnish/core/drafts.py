"""Folders in which something is written before it takes its place; what a kill leaves is found.

A draft lies beside what it will become, so that one rename is enough.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.core.held import free, held_folder, is_numbered

SUFFIX = ".burnish-draft"
OLD = "old"
"""Where a draft keeps what it replaces on systems that cannot exchange two folders."""

_SHOWN = 64
"""Characters of the target's name in that of its draft: together they must fit a file name."""


@contextmanager
def draft_beside(target: Path) -> Iterator[Path]:
    """Yield a new folder beside `target`; it is gone afterwards, and so is litter of the dead."""
    sweep(target.parent)
    with held_folder(target.parent, f".{target.name[:_SHOWN]}.", SUFFIX) as folder:
        yield folder


def sweep(parent: Path) -> None:
    """Remove the drafts that nobody holds any more; put back what one of them had moved away."""
    for folder in parent.glob(f".*{SUFFIX}"):
        if is_numbered(folder.name):
            with free(folder) as is_free:
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
