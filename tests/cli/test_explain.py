from __future__ import annotations

import json
import shlex
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from burnish.cli.main import run
from rewriting import SQRT2, Graph


@pytest.fixture
def model(tmp_path: Path) -> Path:
    graph = Graph(opset=17)
    x = graph.input("x", ["batch", "sequence", 8])
    curve = graph.op("Erf", graph.op("Div", x, SQRT2))
    y = graph.op("Mul", graph.op("Mul", x, graph.op("Add", curve, 1.0)), 0.5)
    near = graph.op("Mul", graph.op("Mul", x, graph.op("Add", graph.op("Erf", x), 1.0)), 0.5)
    path = tmp_path / "model.onnx"
    gate = graph.op("Sigmoid", x)
    onnx.save(ir.serde.serialize_model(graph.model(y, near, gate)), path)
    return path


def test_fusions_misses_and_leftovers_are_told(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-q", "explain", str(model), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["schema"]) == ("explain-report", 1)
    (fusion,) = document["rewrite"]["fusions"]
    assert fusion["rule"] == "gelu"
    assert len(fusion["replaced"]) == 5
    (miss,) = document["rewrite"]["misses"]
    assert miss["rule"] == "gelu"
    assert miss["remedy"]
    (leftover,) = document["leftovers"]
    assert leftover["op_type"] == "Sigmoid"
    assert document["check"]["sites"] == 1


def test_the_tables_end_with_the_command_that_acts(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", str(model), "--target", "cuda", "--disable", "swish"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "with 1 fusion" in shown
    assert "left alone, though it looked right" in shown
    assert "left alone, because it is something else" in shown
    assert f"do it: burnish optimize {model} --output model_optimized.onnx" in shown
    assert shown.endswith("--disable swish --target cuda")
    assert sorted(path.name for path in model.parent.iterdir()) == ["model.onnx"]


def test_one_node_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph(opset=17)
    path = tmp_path / "one.onnx"
    one = graph.model(graph.op("Relu", graph.input("x", [4])))
    onnx.save(ir.serde.serialize_model(one), path)
    assert run(["explain", str(path)]) == 0
    assert "one: 1 node becomes 1 with 0 fusions" in capsys.readouterr().out


def test_the_command_that_acts_can_be_run(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = model.parent / "a folder"
    folder.mkdir()
    placed = model.rename(folder / "my model.onnx")
    monkeypatch.chdir(folder)
    assert run(["-q", "explain", str(placed), "--json", "--disable", "swish", "--no-trial"]) == 0
    command = shlex.split(json.loads(capsys.readouterr().out)["command"])
    assert command[0] == "burnish"
    assert run(["-q", *command[1:]]) == 0
    assert (folder / "my model_optimized.onnx").is_file()
