"""What is cut out of a model computes the same as inside it, on memory that is given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.regions import cut
from burnish.core.errors import ModelError
from burnish.rewrite.static import static
from burnish.runtime import ort
from burnish.runtime.plan import OrtStep, PlanTensor
from burnish.store import onnx_files
from burnish.store.element_types import DATA_TYPES
from burnish.store.history import History

TEXT = """
<ir_version: 10, opset_import: ["": 21]>
tiny (float[4] x, bool flag) => (float[4] y)
<float[4] w = {1, 2, 3, 4}>
{
    one = Constant <value_float = 1.0> ()
    [add] a = Add(x, w)
    [relu] b = Relu(a)
    [more] c = Add(b, one)
    [choose] d = If (flag) <
        then_branch = yes () => (float[4] t) { t = Add(a, b) },
        else_branch = no () => (float[4] e) { e = Identity(b) }
    >
    [last] y = Mul(c, d)
}
"""


@pytest.fixture
def model() -> ir.Model:
    return ir.serde.deserialize_model(onnx.parser.parse_model(TEXT))


def nodes(model: ir.Model, *names: str) -> list[ir.Node]:
    return [node for node in model.graph if node.name in names]


def names(values: list[ir.Value]) -> list[str | None]:
    return [value.name for value in values]


def written(model: ir.Model, folder: Path) -> Path:
    path = folder / "part.onnx"
    onnx_files.write(model, path, history=History("", ()))
    return path


def test_a_part_takes_and_gives_what_crosses_its_border(model: ir.Model) -> None:
    part = cut(model, nodes(model, "relu", "more"), "part")
    assert names(part.graph.inputs) == ["a"]
    assert names(part.graph.outputs) == ["b", "c"]
    assert [node.op_type for node in part.graph] == ["Constant", "Relu", "Add"]


def test_weights_become_the_parts_own(model: ir.Model) -> None:
    part = cut(model, nodes(model, "add"), "part")
    assert names(part.graph.inputs) == ["x"]
    assert list(part.graph.initializers) == ["w"]
    np.testing.assert_array_equal(part.graph.initializers["w"].const_value.numpy(), [1, 2, 3, 4])


def test_what_a_body_reads_from_around_it_is_an_input(model: ir.Model) -> None:
    part = cut(model, nodes(model, "choose", "last"), "part")
    assert set(names(part.graph.inputs)) == {"flag", "a", "b", "c"}
    assert names(part.graph.outputs) == ["y"]


def test_the_model_itself_is_untouched(model: ir.Model) -> None:
    before = ir.to_proto(model).SerializeToString()
    cut(model, nodes(model, "relu", "choose"), "part")
    assert ir.to_proto(model).SerializeToString() == before


def test_it_runs_on_memory_that_is_given(model: ir.Model, tmp_path: Path) -> None:
    typed = static(model, {})
    path = written(cut(typed, nodes(typed, "relu", "more"), "part"), tmp_path)
    step = OrtStep(path.name, ("a",), ("b", "c"), ("relu", "more"))
    tensors = {name: PlanTensor("f32", (4,), "arena") for name in "abc"}
    part = ort.BoundPart.of(ort.load(path, 1), step, tensors)
    arrays = {name: np.zeros(4, np.float32) for name in "abc"}
    for name, array in arrays.items():
        part.bind(name, array.ctypes.data)
    for value in (-2.0, 3.0):
        arrays["a"][:] = value
        part.run()
        np.testing.assert_array_equal(arrays["b"], np.full(4, max(value, 0), np.float32))
        np.testing.assert_array_equal(arrays["c"], arrays["b"] + 1)


def test_a_part_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    path = tmp_path / "part.onnx"
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"part\.onnx: ONNX Runtime cannot run this part") as found:
        ort.load(path, 1)
    assert found.value.hint == "run the whole model with --engine onnxruntime-cpu"


def test_a_part_that_fails_is_named(model: ir.Model, tmp_path: Path) -> None:
    path = written(cut(model, nodes(model, "add"), "part"), tmp_path)
    step = OrtStep("part_0.onnx", ("x",), ("a",), ("add",))
    part = ort.LoosePart(ort.load(path, 1), step)
    with pytest.raises(ModelError, match=r"part_0\.onnx: ONNX Runtime cannot run this part"):
        part.run({"x": np.zeros(3, np.float32)})


def test_the_numbers_of_element_types_are_onnxs() -> None:
    for name in ("bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0"):
        assert ort.element_type(name) == DATA_TYPES[name].value
    assert ort.element_type("f32") is np.float32
