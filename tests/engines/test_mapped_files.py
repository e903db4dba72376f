"""Memory of mapped files goes back to the system, and what was in it can be read again."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from burnish.engines import mapped_files

SIZE = 1 << 24
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/smaps").exists(), reason="the system does not tell what is mapped"
)


def resident_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssFile"))


def mapped(path: Path, access: int) -> mmap.mmap:
    path.write_bytes(b"x" * SIZE)
    with path.open("r+b") as stream:
        return mmap.mmap(stream.fileno(), 0, access=access)


def test_files_of_the_folder_are_let_go_and_stay_readable(tmp_path: Path) -> None:
    area = mapped(tmp_path / "a.data", mmap.ACCESS_READ)
    assert area.find(b"y") == -1
    before = resident_bytes()
    mapped_files.let_go(tmp_path)
    assert before - resident_bytes() > SIZE // 2
    assert area.find(b"y") == -1


def test_files_of_other_folders_stay_in_memory(tmp_path: Path) -> None:
    area = mapped(tmp_path / "a.data", mmap.ACCESS_READ)
    assert area.find(b"y") == -1
    before = resident_bytes()
    mapped_files.let_go(tmp_path / "another")
    assert before - resident_bytes() < SIZE // 2


def test_what_was_written_to_is_kept(tmp_path: Path) -> None:
    area = mapped(tmp_path / "a.data", mmap.ACCESS_COPY)
    area[:3] = b"new"
    mapped_files.let_go(tmp_path)
    assert area[:4] == b"newx"
