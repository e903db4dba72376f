"""`burnish optimize` with other types and names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto

from burnish.cli.main import run
from rewriting import Graph, samples


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write(tmp_path / "store" / "tiny" / "made" / "tiny_made.onnx")


def write(path: Path, *, axis: str = "length") -> Path:
    g = Graph()
    ids = g.input("ids", ["batch", "length"], ir.DataType.INT64)
    scale = g.input("scale", ["batch", axis, 1])
    rows = g.op("Mul", g.op("Gather", g.constant(samples(10, 8)), ids), scale)
    total = g.op("CumSum", g.op("MatMul", rows, samples(8, 8)), g.constant(np.array(1)))
    total.shape = ir.Shape(["batch", "length", 8])
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(ir.serde.serialize_model(g.model(total)), path)
    return path


def types(path: Path) -> list[str]:
    graph = onnx.load(path).graph
    kinds = (value.type.tensor_type.elem_type for value in (*graph.input, *graph.output))
    return [TensorProto.DataType.Name(kind) for kind in kinds]


def test_a_model_is_written_in_fp16_and_says_what_is_not(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target), "-p", "fp16"]) == 0
    assert types(target) == ["INT64", "FLOAT16", "FLOAT16"]
    shown = " ".join(capsys.readouterr().out.split())
    assert "computes in fp16, but for 1 node" in shown
    assert "CumSum 1 counts beyond 2,048 are not exact in fp16" in shown
    assert "equals tiny/made" in shown


def test_its_inputs_and_outputs_can_stay(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    arguments = ["optimize", str(model), "-o", str(target), "-p", "fp16", "--keep-io"]
    assert run(["-q", *arguments, "--keep-fp32", "MatMul", "--json"]) == 0
    assert types(target) == ["INT64", "FLOAT", "FLOAT"]
    document = json.loads(capsys.readouterr().out)
    kept = {item["op_type"]: item["reason"] for item in document["conversion"]["numbers"]["kept"]}
    assert kept["MatMul"] == "asked for"
    steps = {entry.key: entry.value for entry in onnx.load(target).metadata_props}["burnish.steps"]
    assert "2 nodes kept in fp32" in steps


def test_inputs_take_int32(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target), "--int32-inputs"]) == 0
    assert types(target) == ["INT32", "FLOAT", "FLOAT"]
    assert "takes i32 in place of i64: ids" in capsys.readouterr().out


def test_axes_are_renamed_and_fed_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, target = write(tmp_path / "model.onnx", axis="unk__7"), tmp_path / "out.onnx"
    arguments = ["optimize", str(model), "-o", str(target)]
    assert run(arguments) == 0  # sizes at which it runs are looked for
    said = " ".join(capsys.readouterr().out.split())
    assert "it does not run at the sizes that its names suggest, but at" in said
    assert run([*arguments, "--rename-axis", "unk__7=length"]) == 0
    scale = onnx.load(target).graph.input[1].type.tensor_type.shape
    assert [dim.dim_param or dim.dim_value for dim in scale.dim] == ["batch", "length", 1]
    assert "axis unk__7 is now length" in capsys.readouterr().out


def test_a_variant_of_its_own_without_data_of_other_types(model: Path, tmp_path: Path) -> None:
    (model.parent / "test_data_set_0").mkdir()
    store = str(tmp_path / "store")
    arguments = ["optimize", "tiny/made", "--store", store, "--no-verify"]
    assert run([*arguments, "-p", "fp16", "--int32-inputs"]) == 0
    folder = tmp_path / "store" / "tiny" / "made_optimized_fp16_int32"
    assert (folder / "tiny_made_optimized_fp16_int32.onnx").is_file()
    assert not (folder / "test_data_set_0").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--keep-io"], "--keep-io says nothing without -p fp16 or bf16"),
        (["--keep-f32", "MatMul"], "--keep-fp32 says nothing without -p fp16 or bf16 or int8 or"),
        (["--max-error", "1"], "--max-error says nothing without -p fp16 or bf16 or int8 or int4"),
        (["-p", "int8", "--calibrate", "no.npz"], "--calibrate: there is no data at no.npz"),
        (["-p", "fp16", "--calibrate", "synthetic"], "--calibrate says nothing without -p int8"),
        (["--rename-axis", "batch"], "--rename-axis 'batch' is not OLD=NEW"),
        (["--rename-axis", "bach=b"], "no input or output has an axis 'bach'"),
        (["-p", "fp16", "--keep-fp32", "Matmul"], "no operator and no node 'Matmul'"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(
    model: Path,
    tmp_path: Path,
    arguments: list[str],
    problem: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "o.onnx"
    assert run(["optimize", str(model), "-o", str(target), *arguments]) == 2
    assert problem in capsys.readouterr().err
    assert not target.exists()


def test_what_f16_cannot_hold_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    g = Graph()
    x = g.input("x", ["batch", 8])
    large = g.op("Mul", g.op("Relu", x), g.constant(np.float32(60_000)))
    twice = g.op("Mul", large, g.constant(np.float32(1_000)))
    model = tmp_path / "large.onnx"
    onnx.save(ir.serde.serialize_model(g.model(twice)), model)
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target), "-p", "fp16"]) == 1
    assert not target.exists()
    assert "keep more of it: --keep-fp32 Relu (operators, nodes" in capsys.readouterr().err


def test_a_model_is_written_in_int8_with_how_far_it_moved(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target), "-p", "int8"]) == 0
    assert types(target) == ["INT64", "FLOAT", "FLOAT"]
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 node in int8 (dynamic, per channel," in shown
    assert "before its numbers were changed, out on onnxruntime-cpu equals tiny/made" in shown
    assert "3 samples (synthetic: accuracy not proven)" in shown
    assert "error: of an output's root mean square; 15% are allowed" in shown
    assert "on disk: " in shown


def test_what_moves_too_far_in_int8_is_not_written(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    words = ["optimize", str(model), "-o", str(target), "-p", "i8", "--max-error", "1e-6"]
    assert run(words) == 1
    assert not target.exists()
    told = capsys.readouterr().err
    assert "was not written: in int8, " in told
    assert "of its root mean square (cosine " in told
    assert "and 0.00% are allowed" in told
    assert "--keep-fp32 NAME,…; or allow more: --max-error " in told


def test_types_are_not_changed_where_casts_are_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '<ir_version: 8, opset_import: ["": 5]> g (float[4] x) => (float[4] y) { y = Neg(x) }'
    path, target = tmp_path / "old.onnx", tmp_path / "out.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    assert run(["optimize", str(path), "-o", str(target), "-p", "fp16", "--no-verify"]) == 3
    assert not target.exists()
    assert "types cannot be changed in opset 5: it has other casts" in capsys.readouterr().err


def test_bf16_is_compared_as_it_is_rounded_and_says_so(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    words = ["optimize", str(model), "-o", str(target), "-p", "bfloat16", "--target", "cuda"]
    assert run(words) == 0
    assert types(target) == ["INT64", "BFLOAT16", "BFLOAT16"]
    shown = " ".join(capsys.readouterr().out.split())
    assert "computes in f32, and rounds each value to bf16" in shown
    assert "judged by the tolerance of bf16, as asked for" in shown


def test_a_model_without_products_for_bf16_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.onnx"
    assert run(["optimize", str(model), "-o", str(target), "-p", "bf16"]) == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "can become bf16 for CPUs: of 1 products 1 stay because its weights are few" in told
    assert "leave -p bf16 away; for GPUs, add --target cuda" in told
    assert not target.exists()


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_half_of_the_bits_may_be_held_to_a_bound_of_the_users(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], precision: str
) -> None:
    target = tmp_path / "out.onnx"
    arguments = ["optimize", str(model), "-o", str(target), "-p", precision, "--budget", "0"]
    arguments += ["--target", "cuda"] if precision == "bf16" else []
    assert run([*arguments, "--max-error", "0.02"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "before its numbers were changed, out on onnxruntime-cpu equals" in shown
    assert "error: of an output's root mean square; 2% are allowed" in shown
    target.unlink()
    assert run([*arguments, "--max-error", "1e-9"]) == 1
    told = capsys.readouterr().err
    assert f"was not written: in {precision}, " in told
    assert "or allow more: --max-error" in told
    assert not target.exists()
