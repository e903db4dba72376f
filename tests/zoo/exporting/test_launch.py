"""Every way an export can fail: the stage, what was said there, and what to try next."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError, UsageError
from burnish.store import layout
from burnish.store.stored import TorchSource
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.exporting.launch import _environment, launch
from burnish.zoo.exporting.request import Exporter, ExportRequest, FactorySource, ZooSource

pytestmark = [pytest.mark.torch, pytest.mark.slow]

NET = """
import os, signal, sys, time
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
    def forward(self, x):
        if {EXPORTING}:
            {DURING}
        return self.linear(x).tanh()

def make():
    {BEFORE}
    return Net(), (torch.ones(2, {COLUMNS}),), {'x': {0: 'batch'}}
"""
EXPORTING = "torch.compiler.is_exporting() or torch.onnx.is_in_onnx_export()"


def request(
    folder: Path, *, exporter: Exporter = "dynamo", options: NetworkOptions | None = None,
    before: str = "pass", during: str = "pass", columns: int = 4,
) -> ExportRequest:  # fmt: skip
    text = NET.replace("{BEFORE}", before).replace("{DURING}", during)
    text = text.replace("{COLUMNS}", str(columns)).replace("{EXPORTING}", EXPORTING)
    path = folder / "net.py"
    path.write_text(text)
    return ExportRequest(FactorySource(f"{path}:make"), options or NetworkOptions(), exporter)


def failure(asked: ExportRequest, folder: Path, *, time_limit_s: float = 600) -> BurnishError:
    with pytest.raises(BurnishError) as raised:
        launch(asked, folder / "m.onnx", time_limit_s=time_limit_s)
    assert not (folder / "m.onnx").exists()
    return raised.value


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_a_module_is_exported_with_two_data_sets_and_its_source(
    tmp_path: Path, exporter: Exporter
) -> None:
    target = tmp_path / "m.onnx"
    outcome, generation = launch(request(tmp_path, exporter=exporter), target)
    assert outcome.dynamic_axes == ("batch",)
    assert [stage.stage for stage in outcome.stages] == ["build", "run", "export", "write"]
    assert generation is None
    stored = layout.stored(target)
    assert len(stored.data_sets) == 2
    assert stored.torch is not None
    assert stored.torch == TorchSource("module", f"{tmp_path / 'net.py'}:make", {})


def test_a_factory_that_raises_is_told_with_its_own_words(tmp_path: Path) -> None:
    error = failure(request(tmp_path, before="raise RuntimeError('no weights')"), tmp_path)
    assert isinstance(error, ModelError)
    first, *lines = error.problem.splitlines()
    assert first == "failed while building the module"
    assert lines[0].strip() == "RuntimeError: no weights"
    assert lines[1].strip().startswith(f"at {tmp_path / 'net.py'}:")
    assert error.hint.startswith("make the module run on its inputs in PyTorch first")


def test_inputs_that_do_not_fit_are_told_before_exporting(tmp_path: Path) -> None:
    error = failure(request(tmp_path, columns=5), tmp_path)
    first, second, *_ = error.problem.splitlines()
    assert first == "the module does not run in PyTorch on its inputs x [2, 5]"
    assert second.startswith("    RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert error.hint == "let the factory return inputs that the module takes"


@pytest.mark.parametrize(
    ("during", "how"),
    [
        ("os._exit(3)", "the process ended with exit code 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the process ended by SIGSEGV"),
    ],
)
def test_an_exporter_that_dies_is_told_with_its_last_words(
    tmp_path: Path, during: str, how: str
) -> None:
    during = f"print('last words', flush=True); {during}"
    error = failure(request(tmp_path, exporter="torchscript", during=during), tmp_path)
    assert error.problem.startswith(f"failed while exporting (torchscript, opset 17): {how}")
    assert "last words" in error.problem
    assert error.hint == "try --exporter dynamo, --static or another --opset"


def test_an_exporter_that_hangs_is_ended(tmp_path: Path) -> None:
    asked = request(tmp_path, exporter="torchscript", during="time.sleep(600)")
    error = failure(asked, tmp_path, time_limit_s=15)
    assert error.problem.startswith(
        "failed while exporting (torchscript, opset 17): the process gave no answer within 15.0 s"
    )
    assert error.hint.startswith("give it longer with --time-limit, or try --exporter dynamo")


def test_an_exporter_that_refuses_is_told_with_the_first_cause(tmp_path: Path) -> None:
    during = "raise ValueError('not today')"
    error = failure(request(tmp_path, exporter="torchscript", during=during), tmp_path)
    assert "\n    ValueError: not today" in error.problem


def test_what_a_model_cannot_follow_is_a_usage_error(tmp_path: Path) -> None:
    asked = request(tmp_path, options=NetworkOptions(layers=2))
    error = failure(asked, tmp_path)
    assert isinstance(error, UsageError)
    assert error.problem == "--layers cannot be followed: a factory decides that itself"
    assert error.hint == "leave --layers away"


def test_without_pytorch_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingCapabilityError, match="exporting needs PyTorch") as raised:
        launch(ExportRequest(ZooSource("bert-mini")), tmp_path / "m.onnx")
    assert raised.value.hint == "pip install 'burnish[torch]'"


def test_attention_is_spelled_out_where_dynamo_needs_it_and_that_is_said(tmp_path: Path) -> None:
    options = NetworkOptions(small=True, layers=1)
    outcome, _ = launch(ExportRequest(ZooSource("t5-encoder"), options), tmp_path / "m.onnx")
    assert outcome.workarounds[0].what == "attention spelled out: --attention eager"
    assert "Cannot view a tensor" in outcome.workarounds[0].because
    source = layout.stored(tmp_path / "m.onnx").torch
    assert source is not None
    assert source.arguments["attention"] == "eager"


def test_what_an_export_frees_is_kept_unless_the_user_says_how(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = ExportRequest(ZooSource("bert-tiny"), NetworkOptions())
    for name in [name for name in os.environ if name.startswith("MALLOC_")]:
        monkeypatch.delenv(name)
    assert _environment(request)["MALLOC_MMAP_MAX_"] == "0"
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    assert _environment(request) == {}
