from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.core.errors import UsageError
from burnish.store import datasets, layout, onnx_files
from burnish.store.stored import StoredModel
from burnish.study.distill import answer
from burnish.study.distilled import rewritten
from burnish.study.requests.rewriting import DistillCommand
from rewriting import SQRT2, Graph


def stack(path: Path, *, one: float = 1.0, layers: int = 3) -> StoredModel:
    graph = Graph(opset=20)
    x = graph.input("x", ["batch", "sequence", 8])
    for _ in range(layers):
        hidden = graph.op("MatMul", x, np.eye(8, dtype=np.float32))
        curve = graph.op("Add", graph.op("Erf", graph.op("Div", hidden, SQRT2)), one)
        x = graph.op("Mul", graph.op("Mul", hidden, curve), 0.5)
    onnx.save(ir.serde.serialize_model(graph.model(x)), path)
    return StoredModel(path, path.stem)


def test_places_of_one_structure_give_one_small_model_with_its_data(tmp_path: Path) -> None:
    model = stack(tmp_path / "model.onnx")
    report = answer(DistillCommand(model, output=tmp_path / "out", pattern="gelu"))
    (piece,) = report.pieces
    assert (piece.name, piece.copies, piece.nodes, piece.reason) == ("gelu_0", 3, 5, "")
    stored = layout.stored(piece.onnx)
    interface = onnx_files.interface(onnx_files.read(piece.onnx))
    assert interface.inputs[0].shape == ("batch", "sequence", 8)
    data = datasets.read(stored.data_sets[0], interface)
    assert set(data.inputs) == {interface.inputs[0].name}
    assert set(data.outputs) == {interface.outputs[0].name}
    again = rewritten(piece.onnx)
    assert again.parity.passed
    assert again.report.fusion_counts["gelu"] == 1


def test_small_models_are_called_as_asked(tmp_path: Path) -> None:
    model, output = stack(tmp_path / "model.onnx", layers=1), tmp_path / "out"
    report = answer(DistillCommand(model, output=output, pattern="gelu", name="mine"))
    assert [piece.name for piece in report.pieces] == ["mine_0"]
    with pytest.raises(UsageError, match="cannot be part of a model's name"):
        answer(DistillCommand(model, output=output, pattern="gelu", name="../mine"))


def test_what_was_not_fused_is_cut_out_with_the_reason(tmp_path: Path) -> None:
    model = stack(tmp_path / "model.onnx", one=2.0, layers=1)
    report = answer(DistillCommand(model, output=tmp_path / "out", pattern="gelu", failing=True))
    (piece,) = report.pieces
    assert "0.5·erf·x + 1·x" in piece.reason
    assert "xfail" in report.test_file.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("failing", [False, True])
def test_the_test_that_is_written_passes(tmp_path: Path, failing: bool) -> None:
    model = stack(tmp_path / "model.onnx", one=2.0 if failing else 1.0)
    request = DistillCommand(model, output=tmp_path / "out", pattern="gelu", failing=failing, max=1)
    test = answer(request).test_file
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


FUNCTIONS = """
<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
main (float[batch, sequence, 8] x) => (float[batch, sequence, 8] y) {
    h = my.Layer<epsilon = 0.001>(x)
    y = my.Layer<epsilon = 0.01>(h)
}
<domain: "my", opset_import: ["" : 17, "my" : 1]>
Layer <epsilon: float> (x) => (y) {
    n = my.MyRMSNorm<epsilon: float = @epsilon>(x)
    y = Relu(n)
}
<domain: "my", opset_import: ["" : 17]>
MyRMSNorm <epsilon: float> (x) => (y) {
    e = Constant<value_float: float = @epsilon>()
    s = Mul(x, x)
    m = ReduceMean<axes = [-1], keepdims = 1>(s)
    d = Add(m, e)
    r = Sqrt(d)
    y = Div(x, r)
}
"""


@pytest.fixture
def functions(tmp_path: Path) -> StoredModel:
    path = tmp_path / "functions.onnx"
    onnx.save(onnx.parser.parse_model(FUNCTIONS), path)
    return StoredModel(path, "functions")


def test_calls_of_a_function_are_cut_out_wherever_they_are_made(
    functions: StoredModel, tmp_path: Path
) -> None:
    report = answer(DistillCommand(functions, output=tmp_path / "out", function="RMSNorm"))
    assert (report.found, len(report.pieces)) == (2, 2)
    read = onnx.load(report.pieces[0].onnx)
    (call,) = read.graph.node
    assert call.op_type == "MyRMSNorm"
    assert {attribute.name for attribute in call.attribute} == {"epsilon"}
    assert [function.name for function in read.functions] == ["MyRMSNorm"]
    for piece in report.pieces:
        assert rewritten(piece.onnx).parity.passed


@pytest.mark.parametrize(
    ("request_", "problem", "hint"),
    [
        ({}, "distil either a function or a pattern", "--function NAME, or --pattern RULE"),
        ({"function": "a", "pattern": "gelu"}, "distil either", "name one"),
        ({"function": "Attention"}, "no function of the model has 'Attention'", "MyRMSNorm"),
        ({"pattern": "gellu"}, "there is no rule 'gellu'", "gelu"),
        ({"pattern": "gelu"}, "there is no such place", "burnish explain"),
    ],
)
def test_what_cannot_be_distilled_is_told(
    functions: StoredModel, tmp_path: Path, request_: dict[str, str], problem: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        answer(DistillCommand(functions, output=tmp_path / "out", **request_))
    assert hint in (caught.value.hint or "")


def test_a_model_without_functions_is_sent_to_patterns(tmp_path: Path) -> None:
    model = stack(tmp_path / "model.onnx", layers=1)
    with pytest.raises(UsageError) as caught:
        answer(DistillCommand(model, output=tmp_path / "out", function="Attention"))
    assert caught.value.hint == "cut by --pattern: it has no functions"
