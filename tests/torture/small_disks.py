"""Folders without room, or that cannot be written: small file systems, or plain permissions."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

_SPARE_PAGES = (0, 1, 16, 256)
"""How many pages of 4 KiB are left on a full disk."""


def taken_away(stack: ExitStack, root: Path, fault: str, chance: random.Random) -> bool:
    """Make `root`/work, tmp or cache full or read-only until the stack ends; False: cannot."""
    how, _, which = fault.partition(" ")
    folder = root / which
    if how == "full":
        return _full(stack, folder, chance.choice(_SPARE_PAGES))
    return _read_only(stack, folder)


def _full(stack: ExitStack, folder: Path, spare_pages: int) -> bool:
    if not _on_its_own(stack, folder):
        return False
    disk = os.statvfs(folder)
    pages = disk.f_blocks - disk.f_bfree + spare_pages
    return _called("mount", "-o", f"remount,size={pages * disk.f_bsize}", str(folder))


def _read_only(stack: ExitStack, folder: Path) -> bool:
    if os.geteuid() != 0:
        folder.chmod(0o555)
        stack.callback(folder.chmod, 0o755)
        return True
    return _on_its_own(stack, folder) and _called("mount", "-o", "remount,ro", str(folder))


def _on_its_own(stack: ExitStack, folder: Path) -> bool:
    """Give a folder a file system of its own, with what was in it; False: this is not allowed."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    kept = folder.with_name(f"{folder.name}-kept")
    shutil.copytree(folder, kept)
    if not _called("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)):
        return False
    stack.callback(_called, "umount", str(folder))
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return True


def _called(*words: str) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
