"""Stand-ins for operators that ONNX cannot infer shapes of: same shapes, other arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

_LIKE_FIRST_INPUT = frozenset(
    {
        "BiasGelu", "BiasSplitGelu", "FastGelu", "Gelu", "MultiHeadAttention", "QuickGelu",
        "GroupQueryAttention", "RotaryEmbedding", "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization",
    }
)  # fmt: skip
_PLAIN_TWIN = {
    "FusedConv": "Conv", "FusedGemm": "Gemm", "Conv": "Conv", "MaxPool": "MaxPool",
    "AveragePool": "AveragePool", "GlobalAveragePool": "GlobalAveragePool",
    "GlobalMaxPool": "GlobalMaxPool",
}  # fmt: skip
_LAYOUT_CHANGES = frozenset({"ReorderInput", "ReorderOutput"})
_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
"""The second is ONNX Runtime's own layout of images: channels in blocks, the shape as before."""


def replace_contrib(model: ir.Model) -> None:
    """Give nodes of ONNX Runtime's own operators, where it is possible, a twin with shapes.

    Changes `model`, which must be a copy made for shape inference only.
    """
    graph = model.graph
    for node in list(graph):
        twin = _twin(node) if node.domain in _DOMAINS else None
        if twin is None:
            continue
        first, *others = node.outputs
        twin_output = twin.outputs[0]
        twin_output.name, first.name = first.name, f"{first.name}_twinned"
        for index, output in enumerate(graph.outputs):
            if output is first:
                graph.outputs[index] = twin_output
        for user, index in tuple(first.uses()):
            user.replace_input_with(index, twin_output)
        graph.insert_before(node, twin)
        if not any(tuple(other.uses()) for other in others):
            graph.remove(node)


def _twin(node: ir.Node) -> ir.Node | None:
    if node.op_type in _LIKE_FIRST_INPUT | _LAYOUT_CHANGES:
        return ir.node("Identity", [node.inputs[0]])
    if node.op_type in _PLAIN_TWIN:
        given = {k: v for k, v in node.attributes.items() if not k.startswith("activation")}
        # FusedConv may add a fourth input to its result
        return ir.node(_PLAIN_TWIN[node.op_type], node.inputs[:3], attributes=given)
    if node.op_type in ("FusedMatMul", "TransposeMatMul"):
        return _product(node)
    return None


def _product(node: ir.Node) -> ir.Node:
    """Return the einsum of a product that transposes its operands on the way."""
    attributes = node.attributes
    left = "ki" if _flag(attributes, "transA") else "ik"
    right = "jk" if _flag(attributes, "transB") else "kj"
    equation = f"...{left},...{right}->...ij"
    return ir.node("Einsum", node.inputs[:2], attributes={"equation": equation})


def _flag(attributes: Mapping[str, ir.Attr], name: str) -> bool:
    return name in attributes and bool(attributes[name].as_int())
