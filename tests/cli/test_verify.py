from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from burnish.cli.main import run
from codegen import models

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'
MODEL = f"""{HEAD} g (float[batch, sequence, 4] x) => (float[batch, sequence, 4] y)
    <float k = {{0.5}}> {{ a = Tanh(x)  b = Mul(a, a)  y = Add(b, k) }}"""


def write(path: Path, text: str = MODEL) -> str:
    onnx.save(onnx.parser.parse_model(text), path)
    return str(path)


@pytest.fixture
def same(tmp_path: Path) -> tuple[str, str]:
    return write(tmp_path / "one.onnx"), write(tmp_path / "two.onnx")


@pytest.fixture
def different(tmp_path: Path) -> tuple[str, str]:
    return write(tmp_path / "one.onnx"), write(tmp_path / "two.onnx", MODEL.replace("0.5", "0.75"))


def test_equal_models_give_exit_code_0_and_a_table(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", *same]) == 0
    shown = capsys.readouterr().out
    assert "two on onnxruntime-cpu against one on onnxruntime-cpu" in shown
    for column in ("tensor", "results", "relative", "cosine", "top-1", "meaning", "tolerance"):
        assert column in shown
    assert "two on onnxruntime-cpu equals one on onnxruntime-cpu: 4 tensors in 4 samples" in shown


def test_without_shapes_an_odd_one_is_tried_too(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", *same, "--samples", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [sample["bindings"] for sample in document["samples"]] == [
        {"batch": 1, "sequence": 128},
        {"batch": 3, "sequence": 7},
    ]


def test_each_shape_is_a_shape_of_its_own(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    shapes = ["--shape", "batch=1,sequence=8", "--shape", "batch=2,sequence=16"]
    assert run(["verify", *same, *shapes, "--samples", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [sample["bindings"] for sample in document["samples"]] == [
        {"batch": 1, "sequence": 8},
        {"batch": 2, "sequence": 16},
    ]


def test_different_models_give_exit_code_1_and_the_bisect_command(
    different: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    shape = ["--shape", "batch=1,sequence=2"]
    assert run(["verify", *different, *shape, "--samples", "1"]) == 1
    output = capsys.readouterr()
    assert "✗ WRONG" in output.out
    assert "two on onnxruntime-cpu means something else than one on onnxruntime-cpu: " in output.err
    assert "y in sample 1 (batch=1, sequence=2): 8 of 8 elements out of tolerance" in output.err
    hint = output.err.partition("hint: find the node where they part: ")[2].strip()
    first, second = different
    assert hint == f"burnish verify {first} {second} {' '.join(shape)} --samples 1 --bisect"


def test_the_hinted_command_names_the_node(
    different: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    run(["verify", *different, "--samples", "1"])
    hint = capsys.readouterr().err.partition("where they part: ")[2]
    assert run(shlex.split(hint)[1:]) == 1
    output = capsys.readouterr()
    assert "the runs part at Add 'the Add that gives y' (3 values compared, sample" in output.out
    assert "from b: agrees bit for bit" in output.out
    assert "initializer k: at []: 0.75, the reference has 0.5" in output.out
    assert "hint: look at Add 'the Add that gives y': burnish model show" in output.err


def test_a_rule_that_made_the_node_is_named_in_the_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write(tmp_path / "one.onnx")
    model = onnx.parser.parse_model(MODEL.replace("b = Mul(a, a)", "b = Mul(a, x)"))
    entry = model.graph.node[1].metadata_props.add()
    entry.key, entry.value = "burnish.rule", "erf-gelu"
    second = tmp_path / "two.onnx"
    onnx.save(model, second)
    assert run(["verify", first, str(second), "--bisect"]) == 1
    output = capsys.readouterr()
    assert "made by the rule erf-gelu" in output.out
    assert f"burnish optimize {first} -o {second} --disable erf-gelu" in output.err


def test_json_is_one_document_even_when_the_answer_is_no(
    different: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", *different, "--bisect", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["schema"]) == ("verify-report", 2)
    assert document["bisection"]["culprit"]["changes"][0]["name"] == "k"


def test_one_model_is_compared_with_itself_as_it_is_written(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", same[0], "--engine", "onnxruntime-cpu"]) == 0
    assert "one on onnxruntime-cpu equals one as it is written" in capsys.readouterr().out


def test_asked_tolerances_reach_the_comparison(different: tuple[str, str]) -> None:
    assert run(["verify", *different, "--rtol", "1"]) == 0
    assert run(["verify", *different, "--atol", "0.3"]) == 0
    assert run(["verify", *different, "--tolerance", "f8e5m2"]) == 0


def test_an_unknown_tolerance_is_a_usage_error(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", *same, "--tolerance", "fp17"]) == 2
    assert "there is no tolerance for 'fp17'" in capsys.readouterr().err


def test_an_unknown_engine_is_a_usage_error(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", *same, "--engine", "onnxruntime-cpo"]) == 2
    assert "did you mean 'onnxruntime-cpu'?" in capsys.readouterr().err


def test_a_model_in_place_of_an_engine_is_told_how_two_models_are_compared(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    reference, candidate = same
    assert run(["verify", candidate, "--against", reference, "--samples", "1"]) == 2
    told = capsys.readouterr().err
    assert f"--against names an engine, and {reference} is a file" in told
    hinted = f"burnish verify {reference} {candidate} --samples 1"
    assert f"compare two models: {hinted}" in told
    assert run(hinted.split()[1:]) == 0


def test_inputs_from_a_file_are_used(
    different: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "feeds.npz", x=np.zeros((2, 3, 4), np.float32))
    assert run(["verify", *different, "--data", str(tmp_path / "feeds.npz"), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [sample["bindings"] for sample in document["samples"]] == [{"batch": 2, "sequence": 3}]


def data_set(folder: Path, **tensors: np.ndarray) -> None:
    folder.mkdir()
    for file, array in tensors.items():
        onnx.save_tensor(numpy_helper.from_array(array), folder / f"{file}.pb")


@pytest.mark.parametrize("first", ["model", "folder"])
def test_the_kernels_of_a_compiled_folder_are_run_at_the_sizes_that_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str
) -> None:
    model, folder = models.save(models.mlp(), tmp_path / "mlp.onnx"), tmp_path / "c"
    words = ["--shape", "batch=3", "--shape", "batch=5", "--threads", "1", "--no-tune"]
    assert run(["compile", str(model), "-o", str(folder), *words]) == 0
    capsys.readouterr()
    asked = [str(model), str(folder)] if first == "model" else [str(folder)]
    assert run(["verify", *asked, "--samples", "1"]) == 0
    text = capsys.readouterr().out
    assert "mlp on burnish equals mlp on onnxruntime-cpu" in text
    assert "batch=5" in text


def test_recorded_outputs_are_compared(
    same: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 2, 4)
    data_set(tmp_path / "test_data_set_0", input_0=x, output_0=np.tanh(x) ** 2 + np.float32(0.5))
    assert run(["verify", same[0], "--recorded"]) == 0
    assert "equals what was recorded" in capsys.readouterr().out
    data_set(tmp_path / "test_data_set_1", input_0=x, output_0=x)
    assert run(["verify", same[0], "--recorded"]) == 1
    assert "y in sample test_data_set_1" in capsys.readouterr().err


def test_recorded_needs_a_data_set(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", same[0], "--recorded"]) == 2
    error = capsys.readouterr().err
    assert "no test_data_set_N folder lies beside it" in error
    assert "hint: name one with --data, or leave out --recorded" in error


def test_recorded_outputs_cannot_be_bisected(
    same: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", same[0], "--recorded", "--bisect"]) == 2
    error = capsys.readouterr().err
    assert "recorded outputs have no inner values to bisect" in error
    assert f"burnish verify {same[0]} --bisect" in error


def test_a_pruned_input_gives_exit_code_1_with_its_name(
    same: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MODEL.replace(") =>", ", float[4] more) =>").replace("Add(b, k)", "Add(b, more)")
    more = write(tmp_path / "more.onnx", text)
    assert run(["verify", more, same[0], "--json"]) == 1
    output = capsys.readouterr()
    assert json.loads(output.out)["problems"] == ["the candidate lacks the input more: f32[4]"]
    assert "cannot stand for more on onnxruntime-cpu" in output.err


def test_many_outputs_are_cut_to_the_worst_of_each_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"y{index}" for index in range(30)]
    nodes = [helper.make_node("Tanh", ["x"], [name]) for name in names]
    tensor = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", tensor, [2])],
        [helper.make_tensor_value_info(name, tensor, [2]) for name in names],
    )  # fmt: skip
    path = tmp_path / "many.onnx"
    onnx.save(
        helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)]), path
    )
    assert run(["verify", str(path), "--samples", "2"]) == 0
    assert re.search(r"\d+ better tensors left out", capsys.readouterr().out)
