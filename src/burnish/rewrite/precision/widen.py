"""The same graph with its bf16 tensors as f32: what a machine without bf16 kernels can check."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir

NARROW, WIDE = ir.DataType.BFLOAT16, ir.DataType.FLOAT


def in_f32(model: ir.Model) -> ir.Model:
    """Return a copy in which every bf16 tensor and every cast to bf16 is one of f32.

    It computes what the model says, without the model's roundings.
    """
    copy = model.clone()
    for value in _values(copy.graph):
        if value.const_value is not None and value.const_value.dtype == NARROW:
            value.const_value = _widened(value.const_value)
        if value.dtype == NARROW:
            value.type = ir.TensorType(WIDE)  # a clone shares the old type with its original
    for node in copy.graph.all_nodes():
        for attribute in list(node.attributes.values()):
            _widen_attribute(node, attribute)
    return copy


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from (*graph.inputs, *graph.initializers.values())
    for node in graph.all_nodes():
        yield from node.outputs
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                inner = attribute.as_graph()
                yield from (*inner.inputs, *inner.initializers.values())


def _widen_attribute(node: ir.Node, attribute: ir.Attr) -> None:
    if attribute.type == ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        if tensor.dtype == NARROW:
            node.attributes[attribute.name] = ir.AttrTensor(attribute.name, _widened(tensor))
    elif attribute.name in ("to", "dtype") and attribute.value == NARROW:
        node.attributes[attribute.name] = ir.AttrInt64(attribute.name, int(WIDE))


def _widened(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    return ir.Tensor(tensor.numpy().astype(np.float32), name=tensor.name)
