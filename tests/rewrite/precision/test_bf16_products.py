from __future__ import annotations

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.core.array_types import array_type
from burnish.core.errors import ModelError, UsageError
from burnish.rewrite.precision import convert
from rewriting import Graph, samples

BF16 = array_type("bf16")


def network(*, terms: int = 128) -> ir.Model:
    """Return two products that read one value, one with few weights, and one without any."""
    g = Graph()
    x = g.input("x", [4, terms])
    first = g.op("MatMul", x, samples(terms, 256))
    second = g.op("MatMul", x, samples(terms, 256))
    both = g.op("Add", first, second)
    turned = g.op("MatMul", g.op("Transpose", both, perm=[1, 0]), both)
    small = g.op("MatMul", turned, samples(256, 4))
    small.shape = ir.Shape([256, 4])
    return g.model(small)


def run(model: ir.Model, x: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    content = ir.serde.serialize_model(model).SerializeToString()
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


def test_both_factors_are_rounded_once_however_many_read_them() -> None:
    found = convert(network(), "bf16")
    casts = [node for node in found.model.graph if node.op_type == "Cast"]
    assert len(casts) == 4  # x there and back, and two weights
    weights = [one.const_value for one in found.model.graph.initializers.values()]
    kinds = [tensor.dtype for tensor in weights if tensor is not None]
    assert kinds.count(ir.DataType.BFLOAT16) == 2
    assert {(one.op_type, one.reason) for one in found.report.kept} == {
        ("MatMul", "it multiplies by no constant weights"),
        ("MatMul", "its weights are few (256×4)"),
    }
    assert found.report.how == "2 products, summed in fp32"


def test_an_engine_of_f32_multiplies_what_was_rounded() -> None:
    g = Graph()
    x = g.input("x", [4, 128])
    weights = samples(128, 256)
    y = g.op("MatMul", x, weights)
    y.shape = ir.Shape([4, 256])
    model = g.model(y)
    fed = np.random.default_rng(1).standard_normal((4, 128)).astype(np.float32)
    found = run(convert(model, "bf16").model, fed)
    wanted = fed.astype(BF16).astype(np.float64) @ weights.astype(BF16).astype(np.float64)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-4)
    assert not np.allclose(run(model, fed), wanted, rtol=1e-5, atol=1e-4)


def test_an_odd_number_of_terms_stays() -> None:
    with pytest.raises(ModelError, match="nothing in the model can become bf16 for CPUs"):
        convert(network(terms=129), "bf16")


def test_weights_that_are_bf16_already_are_the_reason() -> None:
    g = Graph()
    x = g.input("x", [4, 64], ir.DataType.BFLOAT16)
    y = g.op("MatMul", x, g.constant(samples(64, 64).astype(BF16)))
    y.shape, y.dtype = ir.Shape([4, 64]), ir.DataType.BFLOAT16
    model = g.model(y)
    told = "of 1 products 1 stay because its weights are BFLOAT16, not f32"
    with pytest.raises(ModelError, match=f"nothing in the model can become bf16 for CPUs: {told}"):
        convert(model, "bf16")
    with pytest.raises(ModelError, match="can be quantised: its weights are BFLOAT16, not f32"):
        convert(model, "int8")


def test_what_is_asked_for_stays() -> None:
    names = [node.name or "" for node in network().graph if node.op_type == "MatMul"]
    found = convert(network(), "bf16", keep=names[:1])
    assert len(found.report.changed) == 1
    assert found.report.kept[0].reason == "asked for"
    with pytest.raises(UsageError, match="no operator and no node 'nobody'"):
        convert(network(), "bf16", keep=["nobody"])


def test_an_opset_without_such_casts_is_refused() -> None:
    model = network()
    model.graph.opset_imports[""] = 12
    with pytest.raises(ModelError) as caught:
        convert(model, "bf16")
    assert caught.value.problem == "opset 12 has no casts to bf16"
    assert caught.value.hint == "convert the model to opset 13 or later first"


def test_for_cards_everything_becomes_bf16() -> None:
    found = convert(network(), "bf16", target="cuda")
    assert found.model.graph.outputs[0].dtype == ir.DataType.BFLOAT16
