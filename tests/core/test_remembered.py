"""What was made of files is made again when, and only when, a file may have changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core import remembered
from burnish.core.remembered import Remembered


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files count as settled that were written a moment ago."""
    monkeypatch.setattr(remembered, "SETTLED_S", -60.0)


def counted(file: Path) -> tuple[list[str], Callable[[], tuple[str, tuple[Path, ...]]]]:
    made: list[str] = []

    def make() -> tuple[str, tuple[Path, ...]]:
        made.append(file.read_text())
        return made[-1], (file,)

    return made, make


@pytest.mark.usefixtures("settled")
def test_what_did_not_change_is_made_once(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    made, make = counted(file)
    kept: Remembered[str] = Remembered(4)
    assert [kept.of("a", make), kept.of("a", make)] == ["one", "one"]
    assert made == ["one"]


@pytest.mark.usefixtures("settled")
def test_what_was_replaced_by_a_file_of_the_same_size_and_age_is_made_again(tmp_path: Path) -> None:
    file, other = tmp_path / "a", tmp_path / "b"
    file.write_text("one")
    _, make = counted(file)
    kept: Remembered[str] = Remembered(4)
    kept.of("a", make)
    other.write_text("two")
    stat = file.stat()
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.rename(file)
    assert kept.of("a", make) == "two"


@pytest.mark.usefixtures("settled")
def test_what_is_gone_is_not_remembered(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    _, make = counted(file)
    kept: Remembered[str] = Remembered(4)
    kept.of("a", make)
    file.unlink()
    with pytest.raises(FileNotFoundError):
        kept.of("a", make)


def test_a_file_that_changed_just_now_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    made, make = counted(file)
    kept: Remembered[str] = Remembered(4)
    kept.of("a", make)
    kept.of("a", make)
    assert made == ["one", "one"]


@pytest.mark.usefixtures("settled")
def test_a_failure_is_not_remembered(tmp_path: Path) -> None:
    kept: Remembered[str] = Remembered(4)

    def fail() -> tuple[str, tuple[Path, ...]]:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept.of("a", fail)
    assert kept.of("a", lambda: ("yes", ())) == "yes"


@given(sizes=st.lists(st.integers(0, 12), min_size=1, max_size=8))
def test_no_more_is_kept_than_asked_for(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    kept: Remembered[int] = Remembered(4, most_bytes=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remembered, "SETTLED_S", -60.0)
        for number, size in enumerate(sizes):
            file = folder / str(number)
            file.write_bytes(b"x" * size)
            kept.of(number, lambda file=file, size=size: (size, (file,)))  # type: ignore[misc]
            assert sum(one.size_bytes for one in kept._kept.values()) <= 20
            assert number in kept._kept
            assert len(kept._kept) <= 4


def test_what_is_known_of_a_file_that_was_written_need_not_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "SETTLED_S", -60.0)
    file = tmp_path / "f"
    file.write_text("one")
    kept = Remembered[str](2)
    kept.keep("place", "known", [file])
    assert kept.of("place", lambda: ("made", [file])) == "known"
    file.write_text("another")
    assert kept.of("place", lambda: ("made", [file])) == "made"
