from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from burnish.core import files
from burnish.core.errors import MissingCapabilityError, UsageError


def test_text_is_written_and_folders_are_made(tmp_path: Path) -> None:
    files.write_text(tmp_path / "new" / "a.txt", "hello")
    assert (tmp_path / "new" / "a.txt").read_text() == "hello"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("good")
    with pytest.raises(RuntimeError), files.written_beside(target) as folder:
        (folder / "a.txt").write_text("half")
        raise RuntimeError
    assert target.read_text() == "good"
    assert list(tmp_path.iterdir()) == [target]


def test_companions_move_before_the_file_that_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []
    replace = Path.replace

    def note(path: Path, target: Path) -> Path:
        moved.append(path.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", note)
    with files.written_beside(tmp_path / "a.onnx") as folder:
        (folder / "a.onnx").write_text("names z.data")
        (folder / "z.data").write_text("weights")
    assert moved == ["z.data", "a.onnx"]


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("good")
    with (
        pytest.raises(
            MissingCapabilityError, match=r"a\.txt: the disk is full \(no room\)"
        ) as caught,
        files.written_beside(target),
    ):
        raise OSError(errno.ENOSPC, "no room")
    assert caught.value.hint == (
        "free some space, or choose another place with -o; nothing was replaced"
    )
    assert target.read_text() == "good"


def test_a_really_full_disk_says_so(tmp_path: Path) -> None:
    def fill() -> None:
        with files.written_beside(tmp_path / "a.txt") as folder:
            (folder / "a.txt").symlink_to("/dev/full")
            (folder / "a.txt").write_bytes(b"x")

    with pytest.raises(MissingCapabilityError, match="the disk is full"):
        fill()
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_place_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written") as caught:
        files.write_text(tmp_path / "file" / "a.txt", "hello")
    assert caught.value.hint == "choose another place with -o; nothing was replaced"


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be written \(Is a directory\)"):
        files.write_text(tmp_path, "hello")


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "set"
    target.mkdir()
    (target / "stale.pb").touch()
    with files.folder_written_beside(target) as fresh:
        (fresh / "new.pb").touch()
    assert [path.name for path in target.iterdir()] == ["new.pb"]
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "set"
    target.mkdir()
    (target / "good.pb").touch()
    with pytest.raises(RuntimeError), files.folder_written_beside(target):
        raise RuntimeError
    assert [path.name for path in target.iterdir()] == ["good.pb"]
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "set").touch()
    with (
        pytest.raises(UsageError, match="set: cannot be written"),
        files.folder_written_beside(tmp_path / "set"),
    ):
        pass


def test_halves_of_pairs_are_written_as_escapes(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.json", json.dumps("\ud800", ensure_ascii=False))
    assert json.loads((tmp_path / "a.json").read_text()) == "\ud800"
