"""A folder is replaced as a whole, only if it is one of ours, and never lost on the way."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core import drafts, files, held
from burnish.core.errors import UsageError
from burnish.core.files import Kind, folder_written_beside, foreign_entry

SET = Kind("a set", lambda folder: foreign_entry(folder, lambda name: name.endswith(".pb")))


def named(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def written(target: Path, *names: str) -> Path:
    with folder_written_beside(target, SET) as fresh:
        for name in names:
            (fresh / name).write_text(name)
    return target


@pytest.fixture(params=["exchange", "two steps"])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Try a system that can exchange two folders, and one that cannot."""
    if request.param == "two steps":
        monkeypatch.setattr(files, "_system_rename", lambda: None)


@pytest.mark.usefixtures("_system")
def test_a_folder_of_the_same_kind_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = written(tmp_path / "set", "stale.pb")
    written(target, "new.pb")
    assert named(target) == ["new.pb"]
    assert named(tmp_path) == ["set"]


def test_an_empty_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    assert named(written(tmp_path / "set", "new.pb")) == ["new.pb"]


@pytest.mark.usefixtures("_system")
def test_a_failure_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    target = written(tmp_path / "set", "good.pb")
    with pytest.raises(RuntimeError), folder_written_beside(target, SET):
        raise RuntimeError
    assert named(target) == ["good.pb"]
    assert named(tmp_path) == ["set"]


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "set").touch()
    with pytest.raises(UsageError, match=r"set: cannot be written \(it is no folder\)"):
        written(tmp_path / "set")


@pytest.mark.parametrize("stranger", ["notes.txt", "deep/down/x.txt", "empty/"])
def test_a_folder_with_something_else_in_it_is_refused_untouched(
    tmp_path: Path, stranger: str
) -> None:
    target = written(tmp_path / "set", "good.pb")
    path = target / stranger
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir() if stranger.endswith("/") else path.write_text("mine")
    before = sorted(target.rglob("*"))
    with pytest.raises(UsageError) as caught:
        written(target, "new.pb")
    assert caught.value.problem == (
        f"{target}: is not a set that burnish wrote (it holds {stranger}), and would be lost"
    )
    assert caught.value.hint.startswith(
        f"choose another place with -o, or move it away: mv {target}"
    )
    assert sorted(target.rglob("*")) == before
    assert named(tmp_path) == ["set"]


@pytest.mark.parametrize("name", ["link.pb", "folder"])
def test_a_link_in_a_folder_is_something_else(tmp_path: Path, name: str) -> None:
    target = written(tmp_path / "set", "good.pb")
    (target / name).symlink_to(tmp_path)
    with pytest.raises(UsageError, match=f"it holds {name}, which is no regular file"):
        written(target, "new.pb")


def test_a_folder_behind_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    real = written(tmp_path / "deep" / "real", "old.pb")
    (tmp_path / "link").symlink_to("deep/real")
    written(tmp_path / "link", "new.pb")
    assert (tmp_path / "link").is_symlink()
    assert named(real) == ["new.pb"]
    assert named(real.parent) == ["real"]


def test_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")
    with pytest.raises(UsageError, match=r"it is a link to .*nothing, which is not there"):
        written(tmp_path / "link")


@pytest.mark.parametrize("target", [".", "..", "deep/.."])
def test_the_current_folder_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    here = tmp_path / "here"
    (here / "deep").mkdir(parents=True)
    (here / "deep").rmdir() if target != "deep/.." else None
    monkeypatch.chdir(here)
    with pytest.raises(UsageError, match="it is, or holds, the current folder") as caught:
        written(Path(target))
    assert caught.value.hint.startswith("name a new folder: -o ")
    assert here.is_dir()


def test_permissions_of_a_folder_are_kept(tmp_path: Path) -> None:
    target = written(tmp_path / "set", "old.pb")
    target.chmod(0o750)
    written(target, "new.pb")
    assert stat.S_IMODE(target.stat().st_mode) == 0o750


@pytest.mark.usefixtures("_system")
def test_what_comes_to_the_place_meanwhile_is_judged_too(tmp_path: Path) -> None:
    target = tmp_path / "set"
    with (
        pytest.raises(UsageError, match=r"it holds mine\.txt"),
        folder_written_beside(target, SET),
    ):
        target.mkdir()
        (target / "mine.txt").touch()
    assert named(target) == ["mine.txt"]
    assert named(tmp_path) == ["set"]


@pytest.mark.usefixtures("_system")
def test_what_changes_between_the_last_look_and_the_rename_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = written(tmp_path / "set", "old.pb")
    judge, looks = files._judge, []

    def late(place: Path, asked: Path, kind: Kind) -> None:
        judge(place, asked, kind)
        looks.append(place)
        if len(looks) == 2:  # after the look just before the rename
            (target / "mine.txt").touch()

    monkeypatch.setattr(files, "_judge", late)
    with pytest.raises(UsageError, match=r"it holds mine\.txt"):
        written(target, "new.pb")
    assert named(target) == ["mine.txt", "old.pb"]
    assert named(tmp_path) == ["set"]


WRITER = """
import os, signal, sys
from pathlib import Path
from burnish.core import files
from burnish.core.files import Kind, folder_written_beside

steps, moment = 0, int(sys.argv[2])

def counting(module, name):
    real = getattr(module, name)
    def counted(*arguments, **more):
        global steps
        for when in ("before", "after"):
            if steps == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            steps += 1
            if when == "before":
                result = real(*arguments, **more)
        return result
    setattr(module, name, counted)

if sys.argv[3] == "two steps":
    files._system_rename = lambda: None
for module, name in ((Path, "rename"), (files, "exchange"), (files, "fill_gap"), (Path, "mkdir"),
                     (files, "_keep_mode"), (os, "rmdir")):
    counting(module, name)
with folder_written_beside(Path(sys.argv[1]), Kind("a set", lambda _folder: None)) as fresh:
    (fresh / "new.pb").write_text("new")
"""


@pytest.mark.parametrize("way", ["exchange", "two steps"])
def test_whoever_is_killed_at_any_moment_leaves_the_old_or_the_new_folder(
    tmp_path: Path, way: str
) -> None:
    found = set()
    for moment in range(100):
        target = written(tmp_path / "set", "old.pb")
        words = [sys.executable, "-c", WRITER, str(target), str(moment), way]
        code = subprocess.run(words, check=False, timeout=600).returncode
        assert code in (0, -signal.SIGKILL)
        if way == "exchange":
            assert target.is_dir()
        drafts.recover(target)
        found.add(tuple(named(target)))
        assert found <= {("old.pb",), ("new.pb",)}
        written(target, "new.pb")
        assert named(tmp_path) == ["set"], "the next writer removes what the dead one left"
        if code == 0:
            break
        (target / "new.pb").rename(target / "old.pb")
    assert found == {("old.pb",), ("new.pb",)}


def test_a_draft_that_somebody_holds_is_not_litter(tmp_path: Path) -> None:
    with drafts.draft_beside(tmp_path / "one") as mine, drafts.draft_beside(tmp_path / "two"):
        assert mine.is_dir()
    assert named(tmp_path) == []


@pytest.mark.parametrize("moment", ["open", "flock"])
def test_a_draft_that_is_taken_for_litter_too_soon_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    module = {"open": os, "flock": held.fcntl}[moment]
    real, calls = getattr(module, moment), []

    def late(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            next(tmp_path.glob(".*.burnish-draft")).rmdir()
        return real(*arguments)

    monkeypatch.setattr(module, moment, late)
    with drafts.draft_beside(tmp_path / "one") as draft:
        assert draft.is_dir()
    assert len(calls) == 2


def test_a_folder_that_an_older_version_may_hold_is_not_litter(tmp_path: Path) -> None:
    (tmp_path / ".owner").touch()
    with held.free(tmp_path) as is_free:
        assert not is_free
    (tmp_path / ".owner").unlink()
    with held.free(tmp_path) as is_free:
        assert is_free


def test_what_only_looks_like_a_draft_stays(tmp_path: Path) -> None:
    (tmp_path / ".x.burnish-draft").write_text("a file")
    (tmp_path / ".y.burnish-draft").symlink_to(tmp_path)
    drafts.sweep(tmp_path)
    assert len(named(tmp_path)) == 2


def test_a_gap_that_was_filled_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for system in ("new", "old"):
        source, target = tmp_path / f"{system} source", tmp_path / f"{system} target"
        source.mkdir()
        target.mkdir()
        with pytest.raises(FileExistsError):
            files.fill_gap(source, target)
        monkeypatch.setattr(files, "_system_rename", lambda: None)


def test_other_failures_of_a_rename_are_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file") as caught:
        files.exchange(tmp_path / "a", tmp_path / "b")
    assert caught.value.errno == errno.ENOENT


@given(names=st.lists(st.sampled_from("abc/"), min_size=1, max_size=6).map("".join))
def test_every_file_of_a_folder_is_looked_at(
    tmp_path_factory: pytest.TempPathFactory, names: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = folder / names.strip("/") if names.strip("/") else folder / "a"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    relative = path.relative_to(folder).as_posix()
    assert foreign_entry(folder, lambda _name: False) == f"it holds {relative}"
    assert foreign_entry(folder, {relative}.__contains__) is None


@pytest.fixture(autouse=True)
def _here(tmp_path: Path) -> Iterator[None]:
    """Come back to a folder that exists, whatever a test has replaced."""
    yield
    os.chdir(Path(__file__).parent)
