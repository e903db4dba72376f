"""What people read who compile for ARM on another machine, or run what was compiled elsewhere."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import numpy as np
import pytest

from burnish.cli.main import run
from codegen.models import mlp, save


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    np.savez(tmp_path / "x.npz", x=np.ones((3, 8), np.float32))
    return save(mlp(), tmp_path / "mlp.onnx")


def compiled(stored: Path, target: str) -> Path:
    folder = stored.parent / "c"
    words = ["--shape", "batch=3", "--threads", "1", "--no-tune", "--target", target]
    assert run(["compile", str(stored), "-o", str(folder), *words]) == 0
    return folder


@pytest.mark.parametrize("target", ["neon", "cpu: neon"])
def test_a_folder_for_arm_is_written_anywhere_and_runs_on_arm_only(
    target: str, stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    folder = compiled(stored, target)
    text = capsys.readouterr().out
    assert "not shown to compute the same: here there is no aarch64" in text
    assert f"written: {folder} (cpu: neon, " in text
    assert f"run it there: burnish exec {folder} --data INPUTS.npz" in text
    assert (folder / "kernels.bin").exists()
    plan = json.loads((folder / "plan.json").read_text())
    assert [each["requires"] for each in plan["plans"]] == [["aarch64"]]
    assert run(["exec", str(folder), "--data", str(stored.parent / "x.npz")]) == 4
    said = capsys.readouterr().err
    assert (
        f"{folder}: its kernels are for cpu: neon (compiled on another processor, priced as"
        " arm-neoverse-n1), and here there is no aarch64\n"
    ) in said
    assert "hint: compile it again here: burnish compile " in said
    assert "--target cpu " in said


def test_a_folder_for_x86_is_refused_on_arm(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = compiled(stored, "cpu: portable")
    capsys.readouterr()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert run(["exec", str(folder), "--data", str(stored.parent / "x.npz")]) == 4
    said = capsys.readouterr().err
    assert f"{folder}: its kernels are for cpu: portable (compiled on " in said
    assert "), and here there is no x86_64\n" in said


@pytest.mark.parametrize("option", ["--bundle", "--timings"])
def test_what_only_cards_have_is_refused_for_arm_too(
    option: str, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", str(stored), "-o", str(stored.parent / "c"), "--shape", "batch=3"]
    assert run([*words, "--target", "neon", option, str(stored.parent / "b")]) == 2
    assert f"{option} " in capsys.readouterr().err
