"""What ONNX Runtime refuses is said in two lines that name the file and the way out."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.onnxruntime_errors import explain, explained, shortened
from burnish.store.stored import StoredModel

Stored = Callable[..., StoredModel]

MODEL = StoredModel(Path("m.onnx"), "m")
HEAD = '<ir_version: {ir}, opset_import: ["": {opset}, "custom": 1]> tiny '


def refused(model: StoredModel) -> BurnishError:
    with pytest.raises(BurnishError) as caught:
        ENGINES["onnxruntime-cpu"].open(model, EngineOptions())
    return caught.value


@pytest.mark.parametrize(
    ("graph", "versions", "problem", "hint"),
    [
        ("(float[2] x) => (float[2] y) { y = custom.Fast(x) }", (10, 21),
         "operator custom:Fast is not known to ONNX Runtime", "without custom operators"),
        ("(float[2] x) => (float[2] y) { [act] y = Rolu(x) }", (10, 21),
         "operator Rolu (node 'act') is not known to ONNX Runtime in opset 21", "custom operators"),
        ("(bfloat16[2] x) => (bfloat16[2] y) { [act] y = Erf(x) }", (10, 21),
         "Erf(13) (node 'act') has no implementation for these element types", "model show"),
        ("(float[2] x) => (float[2] y) { y = Relu(x) }", (99, 21),
         "has IR version 99, ONNX Runtime knows", "burnish optimize"),
        ("(float[2] x) => (float[2] y) { y = Relu(x) }", (10, 99),
         "uses opset 99 of ai.onnx, ONNX Runtime knows", "burnish optimize"),
        ("(float[2] x) => (float[2] y) { y = Relu(z) }", (10, 21),
         "ONNX Runtime cannot use it (Invalid model. Node input 'z' is not a graph input",
         "burnish model show"),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_loaded_says_why(
    stored: Stored,
    graph: str,
    versions: tuple[int, int],
    problem: str,
    hint: str,
) -> None:
    ir_version, opset = versions
    error = refused(stored(graph, head=HEAD.format(ir=ir_version, opset=opset)))
    assert isinstance(error, ModelError)
    assert "tiny.onnx: " in error.problem
    assert problem in error.problem
    assert hint in error.hint
    assert "\n" not in error.problem + error.hint


def test_an_operator_of_an_opset_that_is_too_old_says_how_to_raise_it(stored: Stored) -> None:
    graph = "(float[2,3] x, float[3] z) => (float[2,3] y) { [sum] y = Add<broadcast=1>(x, z) }"
    old = stored(graph, head='<ir_version: 3, opset_import: ["": 6]> tiny ')
    error = refused(old)
    assert "Add(6) (node 'sum') is of an opset before 7" in error.problem
    start, command, _ = error.hint.split('"')
    assert start == "raise its opset: python -c "
    subprocess.run([sys.executable, "-c", command], check=True)
    newer = old.onnx.with_stem(f"{old.onnx.stem}_newer")
    session = ENGINES["onnxruntime-cpu"].open(StoredModel(newer, "newer"), EngineOptions())
    session.close()


def test_the_first_version_of_another_domains_operator_is_not_too_old() -> None:
    said = RuntimeError("Could not find an implementation for SVMRegressor(1) node with name 'SVM'")
    error = explain(said, MODEL)
    assert "SVMRegressor(1) (node 'SVM') has no implementation for these" in error.problem


def test_a_file_that_is_not_there_says_so() -> None:
    error = refused(MODEL)
    assert error.problem == "m.onnx: no such file"
    assert error.hint == "list the models of a store: burnish model list"


@pytest.mark.parametrize("damage", ["removed", "cut"])
def test_missing_weights_are_named(tmp_path: Path, damage: str) -> None:
    weight = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    x, y = (helper.make_tensor_value_info(name, 1, ["n", 64]) for name in "xy")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [weight]
    )
    opset = [helper.make_opsetid("", 21)]
    path = tmp_path / "m.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=opset, ir_version=10), path,
        save_as_external_data=True, location="m.data", size_threshold=0,
    )  # fmt: skip
    if damage == "removed":
        (tmp_path / "m.data").unlink()
    else:
        os.truncate(tmp_path / "m.data", 100)
    error = refused(StoredModel(path, "m"))
    assert isinstance(error, ModelError)
    assert "m.onnx: its external weights cannot be read (" in error.problem
    assert "beside the model" in error.hint


def test_a_copy_that_finds_no_room_is_told_from_weights_that_are_not_there(stored: Stored) -> None:
    said = RuntimeError(
        "[ONNXRuntimeError] : 1 : FAIL : graph.cc:5436 AddExternalInitializersToGraphProtoImpl "
        'Failed to write external initializers to file: "/tmp/x/m.data"'
    )
    error = explain(said, stored("(float[n] x) => (float[n] y) { y = Neg(x) }"))
    assert isinstance(error, MissingCapabilityError)
    assert "ONNX Runtime cannot write what it made of it (" in error.problem
    assert error.hint == "free some space, or choose another place with TMPDIR"


def test_a_node_that_fails_while_running_is_named(stored: Stored) -> None:
    model = stored("(float[n] x, float[m] z) => (float[k] y) { [sum] y = Add(x, z) }")
    with (
        ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session,
        pytest.raises(ModelError) as caught,
    ):
        session.run({"x": np.zeros(2, np.float32), "z": np.zeros(3, np.float32)})
    assert "Add (node 'sum') failed: " in caught.value.problem
    assert "2 by 3" in caught.value.problem
    assert "/onnxruntime_src" not in caught.value.problem


def test_too_little_memory_is_the_machines_lack() -> None:
    error = explain(RuntimeError("bfc_arena: Failed to allocate memory for buffer of 9 TB"), MODEL)
    assert isinstance(error, MissingCapabilityError)
    assert error.problem.startswith("m.onnx: not enough memory to load or run it (")
    assert "--shape" in error.hint


LAMBDA = (
    "Exception during initialization: /a/text/string_normalizer.cc:235 "
    "onnxruntime::StringNormalizer::Locale::Locale(const std::string&)::<lambda()> "
)


def test_a_locale_that_is_not_installed_is_the_machines_lack() -> None:
    error = explain(
        RuntimeError(f"{LAMBDA}Failed to construct locale with name:de_DE.UTF-8:no"), MODEL
    )
    assert isinstance(error, MissingCapabilityError)
    assert error.problem == (
        "m.onnx: its operators on text need the locale de_DE.UTF-8, which is not installed here"
    )
    assert error.hint == "install it: localedef -i de_DE -f UTF-8 de_DE.UTF-8"


def test_a_place_in_a_lambda_of_the_source_is_left_out() -> None:
    assert shortened(f"{LAMBDA}It is odd") == "Exception during initialization: It is odd"


NAMELESS = "(bfloat16[2] x) => (bfloat16[2] y) { y = Erf(x) }"


def test_a_node_without_a_name_is_not_called_by_it(stored: Stored) -> None:
    error = refused(stored(NAMELESS, head=HEAD.format(ir=10, opset=21)))
    assert "Erf(13) has no implementation for these element types" in error.problem


def test_commands_hold_a_path_with_spaces_together() -> None:
    error = explain(RuntimeError("it is odd"), StoredModel(Path("my model.onnx"), "m"))
    assert error.hint == "see what it is with `burnish model show 'my model.onnx'`"


def test_a_model_as_text_says_how_to_make_it_binary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = tmp_path / "it's.textproto"
    onnx.save(onnx.parser.parse_model(f"{HEAD.format(ir=8, opset=17)}{RELU}"), text)
    error = refused(StoredModel(text, "text"))
    assert error.problem == f"{text}: is a model as text, which ONNX Runtime does not read"
    start, _, command = error.hint.partition(" -c ")
    assert start == "make it binary: python"
    subprocess.run([sys.executable, "-c", *shlex.split(command)], check=True)
    ENGINES["onnxruntime-cpu"].open(
        StoredModel(tmp_path / "it's.onnx", "b"), EngineOptions()
    ).close()


RELU = "(float[2] x) => (float[2] y) { [one] y = Relu(x) }"
SHARED = "(float[2] x) => (float[2] y) { [one] a = Relu(x) [one] y = Neg(a) }"


def test_nodes_of_one_name_say_how_to_name_them(stored: Stored, tmp_path: Path) -> None:
    model = stored(SHARED, head=HEAD.format(ir=8, opset=17))
    error = refused(model)
    start, _, command = error.hint.partition(": ")
    assert start == "give each node a name of its own"
    command = command.replace("burnish", f"{sys.executable} -m burnish", 1)
    subprocess.run(shlex.split(command), check=True, cwd=tmp_path, capture_output=True)
    ENGINES["onnxruntime-cpu"].open(
        StoredModel(tmp_path / "tiny_loadable.onnx", "b"), EngineOptions()
    ).close()


def test_a_mistake_of_ours_is_not_explained_away() -> None:
    with pytest.raises(KeyError), explained(MODEL):
        raise KeyError("ours")


def test_a_long_message_is_cut_to_its_first_line() -> None:
    assert shortened("first\nsecond") == "first"
    assert len(shortened("x" * 1000)) == 200
    assert shortened("") == "no reason given"
