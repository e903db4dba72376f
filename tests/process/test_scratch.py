"""Short-lived files are gone afterwards: after an error, after a kill, and nobody else's are."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from burnish.core import held as held_folders
from burnish.process import scratch as module
from burnish.process.scratch import file_beside, inside, scratch, sweep

HOLD = """
import sys, time
from pathlib import Path
from burnish.process.scratch import scratch, file_beside
with scratch("held") as folder, file_beside(Path(sys.argv[1]), prefix=".m.", suffix=".exposed") as file:
    print(folder, file, flush=True)
    time.sleep(600)
"""  # noqa: E501


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which scratch folders are made."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(module._State, "swept", False)
    monkeypatch.setattr(module._State, "parents", None)
    return place


@pytest.fixture
def held(home: Path, tmp_path: Path) -> tuple[subprocess.Popen[str], Path, Path]:
    """Return a process that holds a folder and a file beside a model, and both."""
    models = tmp_path / "models"
    models.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(models)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    folder, file = map(Path, process.stdout.readline().split())
    yield process, folder, file
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_folder_is_gone_afterwards_even_if_something_goes_wrong(home: Path) -> None:
    with pytest.raises(RuntimeError), scratch("check") as folder:
        (folder / "file").write_text("content")
        assert folder.parent == home
        assert folder.name.startswith("burnish-check-")
        assert folder.stat().st_mode & 0o777 == 0o700
        raise RuntimeError
    assert list(home.iterdir()) == []


def test_what_a_killed_process_left_is_swept_by_the_next(
    held: tuple[subprocess.Popen[str], Path, Path], home: Path
) -> None:
    process, folder, file = held
    assert folder.exists()
    assert file.exists()
    process.kill()
    process.wait()
    with scratch("next") as own:
        assert list(home.iterdir()) == [own]
        assert not file.exists()


def test_what_a_living_process_holds_is_left_alone(
    held: tuple[subprocess.Popen[str], Path, Path], home: Path
) -> None:
    _, folder, file = held
    with scratch("next"):
        assert folder.exists()
        assert file.exists()


def test_foreign_files_and_links_are_left_alone(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "precious").touch()
    (home / "burnish-link").symlink_to(target)
    (home / "burnish-file").touch()
    (home / "other").mkdir()
    sweep(home)
    assert len(list(home.iterdir())) == 3
    assert (target / "precious").exists()


def test_a_note_can_only_name_what_we_may_have_made(home: Path, tmp_path: Path) -> None:
    stale = home / "burnish-beside-x"
    stale.mkdir()
    model = tmp_path / "model.onnx"
    model.touch()
    (stale / ".beside").write_text(f'"{model}"')
    sweep(home)
    assert model.exists()
    assert not stale.exists()


def test_a_folder_that_cannot_be_searched_is_no_problem(tmp_path: Path) -> None:
    sweep(tmp_path / "nowhere")


def test_a_child_makes_its_folders_inside_its_parents(home: Path, tmp_path: Path) -> None:
    inside(tmp_path)
    with scratch("inner") as folder:
        assert folder.parent == tmp_path


def test_a_file_beside_a_model_is_gone_afterwards(home: Path, tmp_path: Path) -> None:
    with file_beside(tmp_path, prefix=".bert.", suffix=".exposed") as path:
        assert path.parent == tmp_path
        assert path.exists()
    assert not path.exists()
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("moment", ["mkdir", "_locked"])
def test_a_signal_while_it_is_made_leaves_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    owner = Path if moment == "mkdir" else held_folders
    done = getattr(owner, moment)

    def interrupted(*args: object, **named: object) -> None:
        done(*args, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, moment, interrupted)
    with pytest.raises(KeyboardInterrupt), scratch("early"):
        pass
    assert list(home.iterdir()) == []


def test_a_signal_while_it_goes_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove, asked = shutil.rmtree, []

    def interrupted(folder: Path, *, ignore_errors: bool) -> None:
        asked.append(folder)
        if len(asked) == 1:
            raise KeyboardInterrupt
        remove(folder, ignore_errors=ignore_errors)

    with pytest.raises(KeyboardInterrupt), scratch("late"):
        monkeypatch.setattr(shutil, "rmtree", interrupted)
    assert list(home.iterdir()) == []
