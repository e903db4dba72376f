"""The same graph with its tensors of 16 bits as f32: what any machine can run, and check.

A machine without kernels of fewer bits computes such a graph in f32 between casts, and joins the
casts: a number that 16 bits cannot hold comes out as if they could. `rounding` says what they do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import onnx_ir as ir

NARROW, WIDE = ir.DataType.BFLOAT16, ir.DataType.FLOAT
HALVES = (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
_TYPED = ("to", "dtype", "output_datatype")

ROUNDED = (
    "ONNX Runtime's CPU provider has no bf16: what is compared computes in f32, and rounds each "
    "value to bf16"
)
"""What people are told where `rounding` runs in place of a model."""


def computes_in(model: ir.Model, kinds: Collection[ir.DataType] = (NARROW,)) -> bool:
    """Return whether any node but a cast reads or gives tensors of these kinds."""
    return any(
        value is not None and value.dtype in kinds
        for node in model.graph.all_nodes()
        if node.op_type != "Cast"
        for value in (*node.inputs, *node.outputs)
    )


def in_f32(model: ir.Model, kinds: Collection[ir.DataType] = (NARROW,)) -> ir.Model:
    """Return a copy in which every tensor of these kinds, and every cast to one, is of f32.

    It computes what the model says, without the model's roundings.
    """
    copy = model.clone()
    for _ in _widened_values(copy, kinds):
        pass
    return copy


def rounding(model: ir.Model) -> ir.Model:
    """Return a copy in f32 that rounds each value to the 16 bits that the model has it in.

    Kernels on devices add up in f32 and round what they give: so does this. It must be run with
    nothing optimised, for between the two casts stands an Identity that keeps them apart.
    """
    copy = model.clone()
    made = list(_widened_values(copy, HALVES))
    for value, dtype in made:
        _round(value, dtype)
    return copy


def _widened_values(
    model: ir.Model, kinds: Collection[ir.DataType]
) -> Iterator[tuple[ir.Value, ir.DataType]]:
    """Make what is of these kinds f32; yield what is no constant, with the type that it had."""
    for value in tuple(_values(model.graph)):
        if value.const_value is not None and value.const_value.dtype in kinds:
            value.const_value = _widened(value.const_value)
        if value.dtype in kinds:
            dtype = value.dtype
            value.type = ir.TensorType(WIDE)  # a clone shares the old type with its original
            if value.const_value is None and dtype is not None:
                yield value, dtype
    for node in model.graph.all_nodes():
        for attribute in list(node.attributes.values()):
            _widen_attribute(node, attribute, kinds)


def _round(value: ir.Value, dtype: ir.DataType) -> None:
    """Put a rounding behind a value, which takes its name and all its readers."""
    graph, producer = value.graph, value.producer()
    if graph is None:
        return
    narrow = ir.node("Cast", [value], attributes={"to": int(dtype)})
    apart = ir.node("Identity", [narrow.outputs[0]])
    wide = ir.node("Cast", [apart.outputs[0]], attributes={"to": int(WIDE)})
    rounded = wide.outputs[0]
    rounded.type, rounded.shape = ir.TensorType(WIDE), value.shape
    for reader, position in tuple(value.uses()):
        if reader is not narrow:
            reader.replace_input_with(position, rounded)
    is_input = producer is None
    name = value.name or ""
    for node, kind in ((narrow, "narrow"), (apart, "apart"), (wide, "wide")):
        node.name = node.outputs[0].name = f"{name}/{kind}"
    if not is_input:
        value.name, rounded.name = f"{name}/exact", name
    for index, output in enumerate(graph.outputs):
        if output is value:
            graph.outputs[index] = rounded
    if producer is None:
        for node in (wide, apart, narrow):
            graph.insert_before(graph[0], node)
    else:
        graph.insert_after(producer, (narrow, apart, wide))


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from (*graph.inputs, *graph.initializers.values())
    for node in graph.all_nodes():
        yield from node.outputs
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                inner = attribute.as_graph()
                yield from (*inner.inputs, *inner.initializers.values())


def _widen_attribute(node: ir.Node, attribute: ir.Attr, kinds: Collection[ir.DataType]) -> None:
    if attribute.type == ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        if tensor.dtype in kinds:
            node.attributes[attribute.name] = ir.AttrTensor(attribute.name, _widened(tensor))
    elif attribute.name in _TYPED and attribute.value in kinds:
        node.attributes[attribute.name] = ir.AttrInt64(attribute.name, int(WIDE))


def _widened(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    return ir.Tensor(tensor.numpy().astype(np.float32), name=tensor.name)
