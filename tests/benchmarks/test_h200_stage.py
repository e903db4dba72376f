"""What is carried to a lent machine is put in its place, and what fails there is said."""

from __future__ import annotations

import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from h200 import stage
from h200.stage import Check, checked, copied, joined, site, told, unpacked, widened

from burnish.version import __version__


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    lent, carry = tmp_path / "lent", tmp_path / "carry"
    for folder in (lent / "parts", lent / "site", carry / "kit" / "wheels"):
        folder.mkdir(parents=True)
    return lent, carry


def wheel(folder: Path, name: str, module: str) -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}/__init__.py", "")
        archive.writestr(f"{name}-1.0.dist-info/METADATA", "")
    return path


def test_only_wheels_of_what_is_missing_are_unpacked(places: tuple[Path, Path]) -> None:
    lent, carry = places
    wheels = [
        wheel(carry, "never_heard_of", "never_heard_of"),
        wheel(carry, "msgspec", "msgspec"),
    ]
    assert site(lent / "site", wheels) == "added never_heard_of"
    there = {path.name for path in (lent / "site").iterdir()}
    assert {"never_heard_of", f"burnish-{__version__}.dist-info"} <= there
    assert "msgspec" not in there
    (points,) = (path.read_text() for path in lent.rglob("entry_points.txt"))
    assert "[torch_dynamo_backends]\nburnish = burnish.integrations.torch_backend:" in points


def test_without_wheels_something_is_wrong(places: tuple[Path, Path]) -> None:
    line = told(("site", lambda: site(places[0] / "site", [])))
    assert line == "WRONG  site: FileNotFoundError: no wheels were carried"


def test_what_this_machine_wrote_is_newer_than_what_was_carried(places: tuple[Path, Path]) -> None:
    lent, carry = places
    carried = carry / "ledger.sqlite"
    assert copied(carried, lent) == "was not carried"
    carried.write_text("old" * 1000)
    assert copied(carried, lent) == "2 KiB"
    (lent / "ledger.sqlite").write_text("new")
    assert copied(carried, lent) == "is there"
    assert (lent / "ledger.sqlite").read_text() == "new"


def test_a_ledger_that_was_carried_is_unpacked_where_there_is_none(
    places: tuple[Path, Path],
) -> None:
    lent, carry = places
    carried = carry / "ledger.sqlite.xz"
    assert widened(carried, lent) == "was not carried"
    carried.write_bytes(lzma.compress(b"old" * 1000))
    assert widened(carried, lent) == "2 KiB"
    assert (lent / "ledger.sqlite").read_bytes() == b"old" * 1000
    (lent / "ledger.sqlite").write_text("new")
    assert widened(carried, lent) == "is there"


def archived(folder: Path) -> bytes:
    (folder / "inside").mkdir(parents=True)
    (folder / "inside" / "file").write_text("what was packed" * 1000)
    packed = subprocess.run(
        f"tar c -C {folder} . | xz --x86 --lzma2", shell=True, check=True, capture_output=True
    )
    return packed.stdout


def test_parts_that_came_with_different_calls_are_joined(places: tuple[Path, Path]) -> None:
    lent, carry = places
    whole = archived(carry / "ort-source")
    (carry / "kit" / "ort.bytes").write_text(str(len(whole)))
    for folder in ("ort", "openvino"):
        (carry / folder).mkdir()
    (carry / "ort" / "ort.part.aa").write_bytes(whole[:50])
    assert joined(lent, carry).startswith("waits, ")
    (carry / "ort" / "ort.part.aa").unlink()
    (carry / "openvino" / "ort.part.ab").write_bytes(whole[50:])
    joined(lent, carry)
    assert (lent / "ortgpu" / "inside" / "file").read_text().startswith("what was packed")
    assert joined(lent, carry) == "is there"


def test_an_archive_that_is_cut_short_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.xz").write_bytes(archived(tmp_path / "source")[:-40])
    line = told(("openvino", lambda: unpacked(tmp_path / "a.xz", tmp_path / "there")))
    assert line.startswith("WRONG  openvino: ")
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize(("text", "line"), [
    ("print('all is well')", "ok     a check: all is well"),
    ("import no_such_module", "WRONG  a check: Traceback"),
    ("import time; time.sleep(60)", "WRONG  a check: has not ended within 1 s"),
])  # fmt: skip
def test_a_check_is_one_line(text: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "")
    limit = 1 if "sleep" in text else 60
    assert checked(Check("a check", ("-c", text), limit), no_card=False).startswith(line)


def test_what_needs_a_card_is_left_out_where_none_is_looked_for() -> None:
    told_of = checked(Check("card", ("-c", "1/0"), needs_card=True), no_card=True)
    assert told_of == "left   card: no card is looked for"


@pytest.mark.parametrize("name", ["IMPORTS", "CARD", "OPENING", "BACK_END", "ORT", "OPENVINO"])
def test_what_checks_run_is_python(name: str) -> None:
    compile(getattr(stage, name), name, "exec")


def test_the_command_line_says_what_is_wrong(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lent, carry = places
    monkeypatch.setenv("LENT", str(lent))
    monkeypatch.setenv("CARRY", str(carry))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    assert stage.main(["--no-card", "--quick"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "WRONG  site: FileNotFoundError: no wheels were carried"
    assert lines[-1] == "left   card: no card is looked for"
