from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest

from burnish.core.tensors import TensorSpec
from burnish.infer.graph_of import graph_of

TEXT = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[batch, 4] x) => (float[N, M] y)
<float[4, 6] w = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}, int64[2] s = {-1, 3}>
{
    h = MatMul(x, w)
    r = Reshape(h, s)
    g = com.microsoft.Gelu(r)
    y = com.microsoft.FusedMatMul<transB = 1>(g, r)
}
"""


def model() -> ir.Model:
    return ir.from_onnx_text(TEXT)


def test_sizes_that_are_bound_reach_every_tensor_also_behind_operators_of_onnx_runtime() -> None:
    graph = graph_of(model(), {"batch": 2})
    assert graph.static("h") == TensorSpec("h", "f32", (2, 6))
    assert graph.static("r") == TensorSpec("r", "f32", (4, 3))
    assert graph.static("g") == TensorSpec("g", "f32", (4, 3))
    assert graph.outputs == (TensorSpec("y", "f32", (4, 4)),)


def test_sizes_that_are_not_bound_stay_unknown() -> None:
    graph = graph_of(model(), {})
    assert graph.static("h") is None
    assert graph.tensors["h"].shape[1] == 6


def test_shapes_of_real_inputs_are_taken_as_they_are() -> None:
    assert graph_of(model(), {}, shapes={"x": (5, 4)}).static("h") == TensorSpec("h", "f32", (5, 6))


def test_the_model_is_left_as_it_was() -> None:
    one = model()
    before = ir.to_proto(one).SerializeToString()
    graph_of(one, {"batch": 2})
    assert ir.to_proto(one).SerializeToString() == before


def test_nameless_nodes_are_called_by_operator_and_index_and_no_name_is_there_twice() -> None:
    one = model()
    nodes = list(one.graph)
    nodes[1].name = "MatMul_0"
    names = [node.name for node in graph_of(one, {}).nodes]
    assert names[1:] == ["MatMul_0", "Gelu_2", "FusedMatMul_3"]
    assert len(set(names)) == 4


def test_constants_are_the_weights_and_what_constant_nodes_give() -> None:
    assert graph_of(model(), {}).constants == {"w", "s"}


@pytest.mark.parametrize(
    ("name", "metadata", "scope"),
    [
        ("/encoder/layer.0/MatMul", {}, ("encoder", "layer.0")),
        ("MatMul_7", {}, ()),
        ("n", {"namespace": "net: Net/block: Block/mm: aten.mm"}, ("net", "block", "mm")),
        (
            "n",
            {"pkg.torch.onnx.name_scopes": "['', 'model', 'model.layers.0.mlp', 'linear']"},
            ("model", "layers.0", "mlp"),
        ),
        ("n", {"pkg.torch.onnx.name_scopes": "['_empty_nn_module_stack_from_x', 'add']"}, ()),
    ],
)
def test_the_scope_is_what_metadata_or_the_name_tells(
    name: str, metadata: dict[str, str], scope: tuple[str, ...]
) -> None:
    one = model()
    node = next(iter(one.graph))
    node.name = name
    node.metadata_props.update(metadata)
    assert graph_of(one, {}).nodes[0].scope == scope


def test_a_layer_is_written_with_slashes() -> None:
    one = model()
    next(iter(one.graph)).name = "/a/b/MatMul"
    assert graph_of(one, {}).nodes[0].layer == "a/b"


def test_functions_that_inference_refuses_leave_what_is_written() -> None:
    text = """<ir_version: 9, opset_import: ["" : 17, "my" : 1]>
        g (float[4] x) => (float[4] y) { y = my.f(x) }
        <domain: "my", opset_import: ["my" : 1]> f (a) => (b) { b = my.f(a) }"""
    model = ir.serde.deserialize_model(onnx.parser.parse_model(text))
    record = graph_of(model, {})
    assert [node.op_type for node in record.nodes] == ["f"]


def test_a_size_that_has_a_name_keeps_it_wherever_it_goes() -> None:
    assert graph_of(model(), {}).tensors["h"].shape == ("batch", 6)
