"""What people read who compile for a card, and run that where there is one, or none."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from burnish.cli.main import run
from burnish.core.errors import ModelError
from burnish.runtime.cuda import runner
from burnish.study.requests.rewriting import OptimizeCommand
from burnish.study.rewriting import options_of
from codegen.gpu.compiled import MIXED, written
from codegen.gpu.interpreted_card import interpreted_card
from fake_driver import H200, FakeDriver

pytest.importorskip("triton")


@pytest.fixture(autouse=True)
def cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile no kernel twice, and take no card for granted."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cubins"))
    monkeypatch.setattr(runner, "_OPEN", [])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.savez(tmp_path / "x.npz", x=np.ones((6, 96), np.float32))
    return tmp_path / "x.npz"


def compiled(tmp_path: Path, *words: str) -> Path:
    path = written(MIXED, tmp_path)
    given = ["compile", str(path), "-o", str(tmp_path / "c"), "--target", "sm_90", *words]
    assert run(given) == 0
    return tmp_path / "c"


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="there is a card")
def test_a_folder_for_a_card_says_that_nothing_was_shown(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = compiled(tmp_path, "--dump", str(tmp_path / "d"))
    text = capsys.readouterr().out
    assert "2 nodes in 2 kernels, 1 with ONNX Runtime" in text
    assert "with ONNX Runtime, on the CPU" in text
    assert "note: nothing is timed for cuda: sm_90: the plan is predicted" in text
    assert "not shown to compute the same: " in text
    assert f"show it where it runs: burnish verify {folder} --engine burnish-cuda" in text
    assert f"written: {folder} (cuda: sm_90, " in text
    proved = (tmp_path / "d" / "plan_0" / "09-prove.txt").read_text()
    assert "not shown to compute the same: " in proved
    assert len(list((tmp_path / "d" / "plan_0").glob("*.json"))) == 2
    assert run(["exec", str(folder), "--data", str(data)]) == 4
    assert re.search("no NVIDIA card can be used|cuda-bindings", capsys.readouterr().err)


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="there is a card")
def test_the_card_that_is_here_must_be_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(MIXED, tmp_path)
    assert run(["compile", str(path), "-o", str(tmp_path / "c"), "--target", "cuda"]) == 4
    said = capsys.readouterr().err
    assert "--target cuda compiles for the card that is here: " in said
    assert "hint: name the kind of card that it will run on: --target sm_90" in said
    assert not (tmp_path / "c").exists()


def test_a_folder_runs_where_such_a_card_is(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = compiled(tmp_path)
    interpreted_card(monkeypatch, folder)
    assert run(["exec", str(folder), "--data", str(data), "-o", str(tmp_path / "y.npz")]) == 0
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_allclose(found["y"], np.full((6, 4), np.e), rtol=1e-5)
    assert "(median of 1 run)" in capsys.readouterr().out


def test_another_card_is_refused_with_the_command_for_it(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = compiled(tmp_path)
    older = FakeDriver(device=dataclasses.replace(H200, capability=(8, 0)))
    monkeypatch.setattr(runner, "_OPEN", [older])
    assert run(["exec", str(folder), "--data", str(data)]) == 4
    said = capsys.readouterr().err
    assert "its kernels are for cuda: sm_90" in said
    assert "and here there is no sm_90a" in said
    assert f"--target cuda -o {folder}" in said


def test_without_the_bindings_it_says_what_to_install(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = compiled(tmp_path)
    for name in ("cuda", "cuda.bindings", "cuda.bindings.driver"):
        monkeypatch.setitem(sys.modules, name, None)
    assert run(["exec", str(folder), "--data", str(data)]) == 4
    said = capsys.readouterr().err
    assert "reached through the package cuda-bindings, which is not installed" in said
    assert "hint: pip install cuda-bindings" in said


def test_a_kind_of_card_is_a_target_of_rewriting_too() -> None:
    assert options_of(OptimizeCommand("m.onnx", target="sm_80")).target == "cuda"
    assert options_of(OptimizeCommand("m.onnx")).target == "cpu"


_FACTORY = """
import torch

def make():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU()).eval(), (torch.ones(4, 8),)
"""


@pytest.mark.slow
@pytest.mark.torch
def test_a_module_is_exported_and_compiled_for_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "my_model.py").write_text(_FACTORY)
    monkeypatch.setenv("BURNISH_STORE", str(tmp_path / "store"))
    factory = f"{tmp_path / 'my_model.py'}:make"
    words = ["compile", "--module", factory, "--target", "sm_90", "-o", str(tmp_path / "c")]
    assert run(words) == 0
    assert f"written: {tmp_path / 'c'} (cuda: sm_90, " in capsys.readouterr().out
    assert list((tmp_path / "c" / "kernels").glob("*.cubin"))


def test_a_module_that_is_not_exported_says_where_the_options_are_that_may_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object, **_named: object) -> None:
        raise ModelError("failed while exporting", hint="try --exporter torchscript")

    monkeypatch.setattr("burnish.study.compiling.exporting.answer", failing)
    words = ["compile", "--module", "m.py:make", "--target", "sm_90", "-o", str(tmp_path / "c")]
    assert run(words) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "failed while exporting" in said
    assert (
        "hint: burnish export --module m.py:make takes what may help (try --exporter torchscript);"
        " compile what that writes"
    ) in said


@pytest.mark.parametrize("given", [[], ["a.onnx", "--module", "b.py:make"]])
def test_what_to_compile_is_one_thing(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compile", *given, "-o", str(tmp_path / "c")]) == 2
    assert "what to compile is one MODEL or one --module" in capsys.readouterr().err
