"""The message for shape inference leaves out what says nothing about shapes, and nothing else."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.rewrite.edit import LARGEST_SERIALISED
from burnish.rewrite.passes.inference_proto import inference_proto
from rewriting import Graph


def _with_sizes_from_everywhere() -> ir.Model:
    """Return a model whose shapes come from attributes, integers, scales and declared axes."""
    g = Graph(opset=18)
    x = g.input("x", ["batch", 8, 6])
    weight = g.constant(np.ones((6, 60)), name="weight")
    wide = g.op("MatMul", x, weight)
    split = g.ops("Split", wide, np.array([20, 40], np.int64), outputs=2, axis=2)
    turned = g.op("Transpose", split[1], perm=[0, 2, 1])
    image = g.op("Unsqueeze", turned, np.array([1], np.int64))
    scales = g.constant(np.array([1.0, 1.0, 2.0, 0.5]))
    resized = g.op("Resize", image, None, scales)
    count = g.op("Range", g.constant(np.float32(0)), g.constant(np.float32(5)), g.constant(1.0))
    return g.model(resized, split[0], count)


def _inferred(proto: onnx.ModelProto) -> dict[str, str]:
    found = onnx.shape_inference.infer_shapes(proto, data_prop=True).graph
    return {info.name: str(info.type) for info in (*found.value_info, *found.output)}


def test_inference_finds_as_much_as_in_the_whole_model() -> None:
    model = _with_sizes_from_everywhere()
    whole = _inferred(ir.serde.serialize_model(model))
    slim = _inferred(inference_proto(model))
    assert slim == {name: whole[name] for name in slim}
    assert {value.name for node in model.graph for value in node.outputs} <= slim.keys()


@pytest.mark.parametrize("count", [4, 100_000])
def test_no_weight_travels_with_it(count: int) -> None:
    g = Graph()
    x = g.input("x", [count])
    model = g.model(g.op("Mul", x, g.constant(np.ones(count), name="weight")))
    proto = inference_proto(model)
    assert proto.ByteSize() < LARGEST_SERIALISED
    known = {value.name for value in (*proto.graph.input, *proto.graph.initializer)}
    assert known == {"x", "weight"}


def test_metadata_and_names_of_nodes_stay_behind() -> None:
    g = Graph()
    model = g.model(g.op("Relu", g.input("x", [2])))
    model.graph[0].metadata_props["trace"] = "a long one"
    assert "trace" not in str(inference_proto(model))


def test_bodies_travel_whole() -> None:
    g = Graph()
    inner = Graph()
    doubled = inner.op("Relu", inner.constant(np.ones(3)))
    body = ir.Graph([], [doubled], nodes=inner.nodes, initializers=inner.initializers, name="b")
    y = g.op("If", g.input("c", [], ir.DataType.BOOL), then_branch=body, else_branch=body.clone())
    proto = inference_proto(g.model(y))
    assert _inferred(proto)[y.name or ""]
    assert [item.g.node[0].op_type for item in proto.graph.node[0].attribute] == ["Relu", "Relu"]
