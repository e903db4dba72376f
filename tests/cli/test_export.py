from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from burnish.cli.main import run

NET = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.out = torch.nn.LayerNorm(16), torch.nn.Linear(16, 4)

    def forward(self, x):
        return self.out(torch.nn.functional.gelu(self.norm(x)))

def make():
    return Net(), {"x": torch.randn(2, 5, 16)}, {"x": {0: "batch", 1: "length"}}
"""


@pytest.fixture
def net(tmp_path: Path) -> str:
    path = tmp_path / "own_net.py"
    path.write_text(NET)
    return f"{path}:make"


def _failed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = run(["export", *arguments])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


def test_one_source_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    expected = (
        "burnish: what to export is one NAME, one FOLDER or one --module\n"
        "  hint: see what there is: burnish zoo list\n"
    )
    assert _failed([], capsys) == (2, expected)
    assert _failed(["gpt2", "--module", "a:b"], capsys) == (2, expected)


@pytest.mark.parametrize(
    ("module", "problem"),
    [("gone.py:make", "gone.py: no such file"), ("net.py", "'net.py' does not name a function")],
)
def test_a_place_without_a_function_needs_no_process_to_be_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, module: str, problem: str
) -> None:
    monkeypatch.setattr("burnish.study.exporting.export", None)
    code, said = _failed(["--module", module], capsys)
    assert (code, problem in said) == (2, True)


def test_an_unknown_model_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, error = _failed(["gpt-2"], capsys)
    assert code == 2
    assert error.startswith("burnish: unknown model 'gpt-2'\n  hint: did you mean 'gpt2'?")


def test_an_unsupported_opset_is_refused_and_nothing_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    assert _failed(["gpt2", "--opset", "12", "--store", str(store)], capsys) == (
        2,
        "burnish: the exporter dynamo does not write opset 12\n  hint: choose --opset 18 to 23\n",
    )
    assert not store.exists()


@pytest.mark.slow
@pytest.mark.torch
def test_a_factory_that_raises_leaves_nothing_in_the_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, store = tmp_path / "bad.py", tmp_path / "store"
    path.write_text("def make():\n    raise OSError('no such weights')\n")
    code, error = _failed(["--module", f"{path}:make", "--store", str(store)], capsys)
    assert code == 3
    assert "burnish: failed while building the module\n    OSError: no such weights" in error
    assert not store.exists()


@pytest.mark.slow
@pytest.mark.torch
def test_a_pickle_is_not_loaded_without_trust(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"architectures": ["BertModel"]}')
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    code, error = _failed([str(folder), "--store", str(tmp_path / "store")], capsys)
    assert code == 2
    assert "its weights are a pickle (pytorch_model.bin), which can run any code" in error
    assert "--trust-pickle" in error


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_a_users_own_module_is_exported_optimised_verified_and_run(
    tmp_path: Path, net: str, exporter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "store")
    assert run(["export", "--module", net, "--exporter", exporter, "--store", store]) == 0
    shown = capsys.readouterr().out
    assert f"own_net/{exporter}: {exporter}, opset " in shown
    assert "dynamic sizes: batch, length" in shown
    assert "test_data_set_1 (batch=3, length=8)" in shown
    command = re.findall(r"next: burnish (.*) -o report", shown)[0].split()
    assert command == ["run", f"own_net/{exporter}", "--store", store]
    assert run(["verify", f"own_net/{exporter}", "--store", store, "--recorded"]) == 0
    torch_engine = ["--against", "torch-eager", "--store", store]
    assert run(["verify", f"own_net/{exporter}", *torch_engine]) == 2, "their code is not run"
    trusting = [*torch_engine, "--trust-factory", net]
    assert run(["verify", f"own_net/{exporter}", *trusting]) == 0
    report = str(tmp_path / "report")
    short = ["--engine", "onnxruntime-cpu", "--rounds", "1", "--budget", "1"]
    assert run([*command, "-o", report, *short]) == 0
    assert (tmp_path / "report" / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.torch
def test_int8_with_past_is_exported_and_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path)
    assert (
        run(["export", "gpt2", "--small", "--past", "-p", "int8", "--store", store, "--json"]) == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["schema"]) == ("export-report", 1)
    assert document["model"] == "gpt2/dynamo_small_past_int8"
    assert document["generation"]["agreeing"] >= 28
    assert run(["verify", "gpt2/dynamo_small_past_int8", "--store", store]) == 0
    assert run(["verify", "gpt2/dynamo_small_past_int8", "--store", store, "--recorded"]) == 0
