from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from burnish.cli.main import run
from burnish.rewrite.fusions import gelu
from burnish.rewrite.rule import Builder, Match
from rewriting import SQRT2, Graph


def write(path: Path, *, one: float = 1.0, opset: int = 17) -> Path:
    graph = Graph(opset=opset)
    x = graph.input("x", ["batch", "sequence", 8])
    curve = graph.op("Erf", graph.op("Div", x, SQRT2))
    y = graph.op("Mul", graph.op("Mul", x, graph.op("Add", curve, one)), 0.5)
    y.shape = ir.Shape(["batch", "sequence", 8])
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(ir.serde.serialize_model(graph.model(y)), path)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write(tmp_path / "model.onnx")


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def test_a_model_is_rewritten_verified_and_written(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target)]) == 0
    assert operators(target) == ["Gelu"]
    shown = capsys.readouterr().out
    assert "5 nodes before, 1 after" in shown
    assert "gelu" in shown
    assert "out on onnxruntime-cpu equals model on onnxruntime-cpu: 4 tensors in 4 samples" in shown
    assert f"written: {target}" in shown


def test_json_is_one_document(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["-q", "optimize", str(model), "-o", str(target), "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["kind"], document["schema"]) == ("optimize-report", 2)
    assert document["rewrite"]["fusions"][0]["rule"] == "gelu"
    assert captured.err == ""


def test_near_misses_are_shown_with_what_would_let_them_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write(tmp_path / "near.onnx", one=2.0)
    assert run(["optimize", str(model), "-o", str(tmp_path / "out.onnx")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 place left alone that looked right" in shown
    assert "0.5·erf·x + 1·x" in shown
    assert "correct the constants" in shown


def test_a_wrong_rewrite_is_not_written(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong = dataclasses.replace(gelu.RULES[0], replace=_wrong)
    monkeypatch.setattr("burnish.rewrite.pipeline.FUSIONS", (wrong,))
    target = tmp_path / "out.onnx"
    target.write_bytes(b"precious")
    assert run(["optimize", str(model), "-o", str(target), "--no-trial"]) == 1
    assert target.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "out.onnx"]
    captured = capsys.readouterr()
    assert f"{target} was not written" in captured.err
    assert "--disable gelu" in captured.err
    assert "written:" not in captured.out


def test_a_wrong_fusion_is_undone_with_its_reason(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong = dataclasses.replace(gelu.RULES[0], replace=_wrong)
    monkeypatch.setattr("burnish.rewrite.pipeline.FUSIONS", (wrong,))
    target = tmp_path / "out.onnx"
    assert run(["-q", "optimize", str(model), "-o", str(target), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rewrite"]["fusions"] == []
    assert "tried on its own" in document["rewrite"]["misses"][0]["reason"]
    assert document["check"]["undone"] == 1
    assert "Relu" not in operators(target)


def test_rules_of_the_users_own_take_part(model: Path, tmp_path: Path) -> None:
    rules = tmp_path / "my_rules.py"
    rules.write_text(
        "from burnish.rewrite.rule import Match, Rule\n"
        "def find(node, facts):\n"
        "    return Match((node,), node.outputs[0], {'x': node.inputs[0]})\n"
        "def replace(match, builder):\n"
        "    return builder.node('Tanh', [match.values['x']], like=match.output)\n"
        "RULES = (Rule('erf-is-tanh', 'a --> b', frozenset({'Erf'}), find, replace),)\n"
    )
    target = tmp_path / "out.onnx"
    arguments = ["optimize", str(model), "-o", str(target), "--rules", str(rules), "--no-verify"]
    assert run([*arguments, "--no-trial"]) == 0
    assert "Tanh" in operators(target)
    assert run(arguments) == 0
    assert operators(target) == ["Gelu"]


def _wrong(match: Match, builder: Builder) -> ir.Value:
    return builder.node("Relu", [match.values["x"]], like=match.output)


def test_without_verification_that_is_said(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target), "--no-verify"]) == 0
    assert "not verified" in capsys.readouterr().out


def test_a_disabled_rule_leaves_the_model_as_it_is(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target), "--disable", "gelu"]) == 0
    assert operators(target) == operators(model)
    assert "gelu" not in capsys.readouterr().out


def test_an_unknown_rule_is_a_usage_error(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["optimize", str(model), "-o", str(tmp_path / "o.onnx"), "--only", "gelo"]) == 2
    assert "did you mean 'gelu'?" in capsys.readouterr().err


def test_stages_are_dumped(model: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    target = str(tmp_path / "out.onnx")
    assert run(["optimize", str(model), "-o", target, "--dump", str(dump)]) == 0
    assert [path.name for path in sorted(dump.iterdir())][-1].endswith("drop-dead-code.onnxtxt")


def test_a_model_in_the_store_becomes_a_variant_with_its_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write(tmp_path / "store" / "tiny" / "made" / "tiny_made.onnx")
    data = model.parent / "test_data_set_0"
    data.mkdir()
    tensor = numpy_helper.from_array(np.ones((1, 2, 8), np.float32), "x")
    (data / "input_0.pb").write_bytes(tensor.SerializeToString())
    assert run(["optimize", "tiny/made", "--store", str(tmp_path / "store")]) == 0
    target = tmp_path / "store" / "tiny" / "made_optimized"
    assert operators(target / "tiny_made_optimized.onnx") == ["Gelu"]
    assert (target / "test_data_set_0" / "input_0.pb").read_bytes() == tensor.SerializeToString()
    assert "written:" in capsys.readouterr().out


def test_a_file_outside_a_store_is_optimised_beside_itself(model: Path) -> None:
    assert run(["optimize", str(model)]) == 0
    assert operators(model.with_name(f"{model.stem}_optimized.onnx")) == ["Gelu"]


def test_what_lies_there_and_is_not_ours_is_not_replaced(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = model.with_name(f"{model.stem}_optimized.onnx")
    other.write_bytes(model.read_bytes())
    assert run(["optimize", str(model)]) == 2
    assert "it does not tell of burnish" in capsys.readouterr().err
    assert other.read_bytes() == model.read_bytes()


def test_the_written_model_remembers_what_was_done(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target)]) == 0
    metadata = {entry.key: entry.value for entry in onnx.load(target).metadata_props}
    assert "gelu" in metadata["burnish.steps"]
