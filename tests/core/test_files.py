from __future__ import annotations

import errno
import json
import os
import socket
import stat
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
    with pytest.raises(UsageError, match=r"cannot be written \(it is a folder\)"):
        files.write_text(tmp_path, "hello")


def test_a_pipe_and_a_socket_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"pipe: cannot be written \(it is a pipe\)"):
        files.write_text(tmp_path / "pipe", "hello")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        with pytest.raises(UsageError, match=r"socket: cannot be written \(it is a socket\)"):
            files.write_text(tmp_path / "socket", "hello")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISSOCK((tmp_path / "socket").stat().st_mode)


def test_a_device_is_not_replaced(device: Path) -> None:
    with pytest.raises(UsageError, match=r"null: cannot be written \(it is a device\)"):
        files.write_text(device, "hello")
    assert device.is_char_device()


def test_an_open_stream_is_not_replaced(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("w") as stream:
        (tmp_path / "stream").symlink_to(f"/proc/self/fd/{stream.fileno()}")
        with pytest.raises(UsageError, match="it is an open stream of a process"):
            files.write_text(tmp_path / "stream", "hello")


def test_a_link_stays_and_the_file_behind_it_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "deep" / "real.txt", tmp_path / "link.txt"
    real.parent.mkdir()
    real.write_text("old")
    (tmp_path / "middle").symlink_to("deep/real.txt")
    link.symlink_to("middle")
    files.write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert [path.name for path in real.parent.iterdir()] == ["real.txt"]


@pytest.mark.parametrize("leads_to", ["nowhere", "link.txt", "a device"])
def test_a_link_that_leads_to_no_file_is_refused(
    tmp_path: Path, device: Path, leads_to: str
) -> None:
    goal = device if leads_to == "a device" else Path(leads_to)
    (tmp_path / "link.txt").symlink_to(goal)
    with pytest.raises(UsageError, match=r"link\.txt: cannot be written \(it is a "):
        files.write_text(tmp_path / "link.txt", "hello")
    assert (tmp_path / "link.txt").readlink() == goal
    assert device.is_char_device()


def test_companions_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "m.onnx", tmp_path / "m.onnx"
    real.write_text("old")
    link.symlink_to(real)
    with (
        pytest.raises(UsageError, match=r"m\.onnx: is a link, and files") as caught,
        files.written_beside(link) as folder,
    ):
        (folder / "m.onnx").write_text("new")
        (folder / "m.data").write_text("weights")
    assert caught.value.hint == f"name the file itself: -o {real}; nothing was replaced"
    assert real.read_text() == "old"


def test_permissions_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o640)
    files.write_text(target, "new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_write_protected_file_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o440)
    with pytest.raises(UsageError, match="Permission denied"):
        files.write_text(target, "new")


def test_folders_made_for_a_file_that_does_not_come_are_removed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), files.written_beside(tmp_path / "a" / "b" / "c.txt"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_the_user_did_not_name_must_be_ours(tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    target.write_text("my results")
    with pytest.raises(UsageError) as caught:
        files.write_text(target, "ours: new", files.marked("a result", "ours:"))
    assert caught.value.problem == (
        f"{target}: is not a result that burnish wrote (it has no 'ours:'), and would be lost"
    )
    assert caught.value.hint == (
        f"choose another place with -o, or move it away: mv {target} {target}.old; "
        "nothing was replaced"
    )
    target.write_text("ours: old")
    files.write_text(target, "ours: new", files.marked("a result", "ours:"))
    assert target.read_text() == "ours: new"


def test_halves_of_pairs_are_written_as_escapes(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.json", json.dumps("\ud800", ensure_ascii=False))
    assert json.loads((tmp_path / "a.json").read_text()) == "\ud800"
