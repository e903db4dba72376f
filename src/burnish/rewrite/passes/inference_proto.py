"""The part of a model that shape inference looks at, as a protobuf message.

Names of nodes, metadata and weights say nothing about shapes, and take most of the time and
memory of a whole message.
"""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from burnish.rewrite import edit

Proto = Any
"""A protobuf message of onnx, which has no type information."""

_FLOAT_BYTES = 48
"""Floating constants that shapes depend on are a few scales of a Resize, or ends of a Range."""
_INDEX_TYPES = frozenset({ir.DataType.INT64, ir.DataType.INT32, ir.DataType.BOOL})


def inference_proto(model: ir.Model) -> Proto:
    """Return a message with the same nodes in the same order; weights are inputs of it."""
    import onnx

    proto = onnx.ModelProto(ir_version=model.ir_version)
    for domain, version in model.opset_imports.items():
        proto.opset_import.add(domain=domain, version=version)
    proto.functions.extend(map(ir.serde.serialize_function, model.functions.values()))
    graph = model.graph
    proto.graph.name = graph.name or "graph"
    for value in graph.inputs:
        _state(proto.graph.input.add(), value)
    _add_constants(proto.graph, graph)
    for node in graph:
        _add_node(proto.graph.node, node)
        for output in node.outputs:
            if output.type is not None and output.name and not output.is_graph_output():
                _state(proto.graph.value_info.add(), output)
    for value in graph.outputs:
        _state(proto.graph.output.add(), value)
    return proto


def _add_constants(proto: Proto, graph: ir.Graph) -> None:
    for value in graph.initializers.values():
        tensor = value.const_value
        if tensor is None:
            continue
        most = edit.LARGEST_SERIALISED if tensor.dtype in _INDEX_TYPES else _FLOAT_BYTES
        # text has no size in bytes, and nothing to say about shapes
        if tensor.dtype is not ir.DataType.STRING and tensor.nbytes <= most:
            ir.serde.serialize_tensor_into(proto.initializer.add(), from_=tensor)
            proto.initializer[-1].name = value.name
        elif not value.is_graph_input():
            _state(proto.input.add(), value)


def _add_node(nodes: Proto, node: ir.Node) -> None:
    if edit.may_hold_bodies(node):
        ir.serde.serialize_node_into(nodes.add(), from_=node)
        return
    made = nodes.add(
        op_type=node.op_type,
        input=["" if value is None else value.name for value in node.inputs],
        output=[value.name for value in node.outputs],
    )
    for attribute in node.attributes.values():
        ir.serde.serialize_attribute_into(made.attribute.add(), from_=attribute)


def _state(info: Proto, value: ir.Value) -> None:
    """Fill in what is known about a value."""
    kind = value.type
    if not isinstance(kind, ir.TensorType):
        ir.serde.serialize_value_into(info, value)
        return
    info.name = value.name
    tensor = info.type.tensor_type
    tensor.elem_type = int(kind.dtype)
    if value.shape is None:
        return
    tensor.shape.SetInParent()
    for size in value.shape.dims:
        if isinstance(size, int):
            tensor.shape.dim.add(dim_value=size)
        else:
            tensor.shape.dim.add(dim_param=size.value)
