from __future__ import annotations

import onnx_ir as ir

from burnish.engines.openvino import with_absorbed

GRAPH = """<ir_version: 10, opset_import: ["": 21]>
g (float[n, 4] x) => (float[n, 4] y) <float[4, 4] w, float[4] b> {
    [mm] p = MatMul(x, w)
    [bias] q = Add(p, b)
    [shape] s = Shape(x)
    [wide] e = Expand(b, s)
    [relu] r = Relu(q)
    [out] y = Mul(r, e)
}"""


def test_nodes_that_an_engine_does_not_tell_belong_to_those_that_read_them() -> None:
    graph = ir.from_onnx_text(GRAPH).graph
    told = {"fc": ("bias",), "tail": ("out",), "made": ()}
    assert with_absorbed(graph, told) == {
        "fc": ("mm", "bias"),
        "tail": ("relu", "out"),
        "made": (),
    }
