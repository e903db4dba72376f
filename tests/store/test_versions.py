from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from burnish.core.errors import ModelError
from burnish.store import runtime_limits, versions
from burnish.store.runtime_limits import RuntimeLimits

OLD = RuntimeLimits(ir_version=11, opset=22, runtime="Some Runtime 1.0")


def model_from(body: str, *, opset: int, ir_version: int = 10) -> ir.Model:
    return ir.from_proto(
        onnx.parser.parse_model(
            f'<ir_version: {ir_version}, opset_import: ["" : {opset}]>'
            f" g (float[n, 3] x) => (float[n, m] y) {{ {body} }}"
        )
    )


def never() -> RuntimeLimits:
    raise AssertionError("the runtime need not be asked")


def test_versions_that_everyone_accepts_stay() -> None:
    model = model_from("y = Relu(x)", opset=20)
    assert versions.fitted(model, never).opset_imports[""] == 20


def test_the_argument_is_untouched() -> None:
    model = model_from("y = Relu(x)", opset=25, ir_version=13)
    versions.fitted(model, lambda: OLD)
    assert (model.ir_version, model.opset_imports[""]) == (13, 25)


@pytest.mark.parametrize(("before", "after"), [(3, 4), (7, 7), (11, 11), (13, 11)])
def test_ir_version_is_brought_into_range(before: int, after: int) -> None:
    model = model_from("y = Relu(x)", opset=20)
    model.ir_version = before
    assert versions.fitted(model, lambda: OLD).ir_version == after


def test_opset_is_lowered_by_stamp_where_no_operator_changed() -> None:
    fitted = versions.fitted(model_from("y = Relu(x)", opset=25), lambda: OLD)
    assert fitted.opset_imports[""] == 22


def test_opset_is_lowered_by_conversion_where_one_did() -> None:
    weight = ir.tensor(np.random.default_rng(0).random((3, 500), dtype=np.float32), name="w")
    model = model_from("c = Cast<to = 1>(x) y = Relu(c)", opset=25)
    model.graph.initializers["w"] = ir.Value(name="w", const_value=weight)
    fitted = versions.fitted(model, lambda: OLD)
    assert fitted.opset_imports[""] == 22
    assert fitted.graph.initializers["w"].const_value is weight
    assert [value.name for value in fitted.graph.inputs] == ["x"]
    feeds = {"x": np.array([[-1, 0, 2]], np.float32)}
    (found,) = ReferenceEvaluator(ir.to_proto(fitted)).run(None, feeds)
    assert found.tolist() == [[0, 0, 2]]


def test_what_cannot_be_converted_is_said() -> None:
    model = model_from("y = RMSNormalization(x, x)", opset=23)
    with pytest.raises(ModelError, match=r"opset 23, Some Runtime 1\.0 takes up to 22") as error:
        versions.fitted(model, lambda: OLD)
    assert "RMSNormalization cannot be converted down" in error.value.problem
    assert error.value.hint == "export it again with opset 22, or: pip install -U onnxruntime"


def test_functions_are_not_dropped_by_a_conversion() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 25, "own" : 1]>
    g (float[n] x) => (float[n] y) { y = own.twice(x) }
    <opset_import: ["" : 25], domain: "own">
    twice (a) => (b) { c = Cast<to = 1>(a) b = Add(c, c) }
    """
    model = ir.from_proto(onnx.parser.parse_model(text))
    with pytest.raises(ModelError, match="drops model-local functions"):
        versions.fitted(model, lambda: OLD)


def test_the_installed_runtime_answers() -> None:
    limits = runtime_limits.installed()
    assert limits.ir_version >= 10
    assert 21 <= limits.opset <= onnx.defs.onnx_opset_version()
    assert limits.runtime.startswith("ONNX Runtime ")
