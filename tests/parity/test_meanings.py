from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.feeds.feed import Feeds
from burnish.parity.report import VerifyReport
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import JudgedSubject, judge, verify
from burnish.store.stored import StoredModel

WIDTH, LAYERS = 32, 4


def _layers(path: Path, kind: str, off: dict[int, float]) -> StoredModel:
    """Write products with weights as a type holds them; some layers are off by a factor."""
    random = np.random.default_rng(3)
    weights: list[Array] = []
    for layer in range(LAYERS):
        exact = (random.standard_normal((WIDTH, WIDTH)) * WIDTH**-0.5).astype(np.float32)
        factor = np.float32(off.get(layer, 1.0))
        weights.append((exact * factor).astype(array_type(kind)).astype(np.float32))
    names = ["x", *(f"h{layer}" for layer in range(1, LAYERS)), "y"]
    nodes = [
        helper.make_node("MatMul", [names[layer], f"w{layer}"], [names[layer + 1]])
        for layer in range(LAYERS)
    ]
    shape = ["n", WIDTH]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(each, f"w{layer}") for layer, each in enumerate(weights)],
    )  # fmt: skip
    opset = helper.make_opsetid("", 20)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=10), path)
    return StoredModel(path, path.stem)


def _judged(folder: Path, kind: str, asked: str, off: dict[int, float]) -> VerifyReport:
    reference = _layers(folder / "a.onnx", "f32", {})
    candidate = _layers(folder / "b.onnx", kind, off)
    x = np.random.default_rng(1).standard_normal((12, WIDTH)).astype(np.float32)
    return verify(
        judge(reference), JudgedSubject(candidate), [Feeds({"x": x}, {"n": 12})],
        tolerances=Tolerances(asked),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_weights_may_be_rounded_to_what_was_asked_for(tmp_path: Path, kind: str) -> None:
    assert _judged(tmp_path, kind, kind, {}).passed


@pytest.mark.parametrize(("kind", "off"), [("bf16", 1.02), ("f16", 1.003)])
def test_a_layer_that_is_a_little_off_is_not_what_rounding_weights_does(
    tmp_path: Path, kind: str, off: float
) -> None:
    found = _judged(tmp_path, kind, kind, {2: off})
    assert not found.passed
    assert any(not diff.passed for sample in found.samples for diff in sample.meant)


@pytest.mark.parametrize("layer", range(LAYERS))
def test_roundings_of_other_weights_hide_no_layer(tmp_path: Path, layer: int) -> None:
    assert not _judged(tmp_path, "bf16", "bf16", {layer: 1.01}).passed


def test_products_in_tf32_leave_what_a_model_means_as_it_is(tmp_path: Path) -> None:
    assert _judged(tmp_path, "f32", "tf32", {}).passed
    found = _judged(tmp_path, "f32", "tf32", {2: 1.005})
    assert any(not diff.passed for sample in found.samples for diff in sample.meant)


def _scaled(path: Path, *factors: Array) -> StoredModel:
    """Write products with single numbers, one after the other."""
    names = ["x", *(f"h{place}" for place in range(1, len(factors))), "y"]
    nodes = [
        helper.make_node("Mul", [names[place], f"s{place}"], [names[place + 1]])
        for place in range(len(factors))
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 16])],
        [numpy_helper.from_array(each, f"s{place}") for place, each in enumerate(factors)],
    )  # fmt: skip
    opset = helper.make_opsetid("", 20)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=10), path)
    return StoredModel(path, path.stem)


@pytest.mark.parametrize(("off", "passed"), [(1.0, True), (1.02, False)])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_all_may_hang_on_a_single_constant_that_few_runs_moved_by_little(
    tmp_path: Path, kind: str, off: float, passed: bool
) -> None:
    random = np.random.default_rng(70)
    x = random.standard_normal((8, 16)).astype(np.float32)
    one, two = (np.array(each, np.float32) for each in random.standard_normal(2))
    joined = np.asarray(one * two * np.float32(off)).astype(array_type(kind)).astype(np.float32)
    found = verify(
        judge(_scaled(tmp_path / "a.onnx", one, two)),
        JudgedSubject(_scaled(tmp_path / "b.onnx", joined)), [Feeds({"x": x}, {"n": 8})],
        tolerances=Tolerances(kind),
    )  # fmt: skip
    assert found.passed == passed


def test_a_sixth_that_f32_rounds_is_a_sixth(tmp_path: Path) -> None:
    clipped = """line (float[n, 8] x) => (float[n, 8] y)
    { a = Add (x, three) c = Clip (a, zero, six) d = Div (c, six) y = Mul (x, d) }"""
    curved = """line (float[n, 8] x) => (float[n, 8] y)
    {{ h = HardSigmoid <alpha = {}, beta = 0.5> (x) y = Mul (x, h) }}"""
    known = {"three": 3.0, "zero": 0.0, "six": 6.0}
    found = {}
    for name, text in (
        ("clipped", clipped), ("right", curved.format("0.16666667")),
        ("wrong", curved.format("0.1666668")),
    ):  # fmt: skip
        proto = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 20]> ' + text)
        used = {given for node in proto.graph.node for given in node.input}
        for constant in used & known.keys():
            array = np.asarray(known[constant], np.float32)
            proto.graph.initializer.append(numpy_helper.from_array(array, constant))
        path = tmp_path / f"{name}.onnx"
        onnx.save(proto, path)
        found[name] = StoredModel(path, name)
    feeds = (Feeds({"x": np.linspace(-5, 5, 64, dtype=np.float32).reshape(8, 8)}, {"n": 8}),)
    for name, passed in (("right", True), ("wrong", False)):
        report = verify(
            judge(found["clipped"]), JudgedSubject(found[name], "onnxruntime-cpu"), feeds
        )
        assert report.passed is passed
