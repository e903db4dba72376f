from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from burnish.cli.main import run
from rewriting import SQRT2, Graph


@pytest.fixture
def model(tmp_path: Path) -> Path:
    graph = Graph(opset=20)
    x = graph.input("x", ["batch", 8])
    curve = graph.op("Add", graph.op("Erf", graph.op("Div", x, SQRT2)), 1.0)
    result = graph.op("Mul", graph.op("Mul", x, curve), 0.5)
    path = tmp_path / "model.onnx"
    onnx.save(ir.serde.serialize_model(graph.model(result)), path)
    return path


def test_the_small_models_and_their_test_are_told(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out"
    arguments = ["distill", str(model), "--pattern", "gelu", "-o", str(target)]
    assert run([*arguments, "--shape", "batch=3"]) == 0
    shown = capsys.readouterr().out
    assert "1 different of 1 place in model" in shown
    assert f"try them: pytest {target / 'test_distilled.py'}" in shown


def test_json_is_one_document(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["-q", "distill", str(model), "--pattern", "gelu", "-o", str(tmp_path / "out")]
    assert run([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], len(document["pieces"])) == ("distill-report", 1)
