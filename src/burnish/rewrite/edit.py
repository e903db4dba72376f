"""The few ways in which a graph is changed; names of graph inputs and outputs always survive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.walk import bodies

LARGEST_SERIALISED = 1024
"""Bytes; larger constants are weights: no shape or axis is read from them."""


def redirect(old: ir.Value, new: ir.Value) -> bool:
    """Make every reader of `old` read `new`; return False where that cannot be done.

    If `old` is an output of its graph, `new` takes its place, name, type and shape. That is
    impossible when `new` is itself an input, an initializer or an output, or lives in another
    graph: then nothing is changed.
    """
    if old is new:
        return False
    if old.is_graph_output() and not _take_output_place(old, new):
        return False
    if new.type is None:
        new.type = old.type
    if new.shape is None:
        new.shape = old.shape
    old.replace_all_uses_with(new)
    return True


def _take_output_place(old: ir.Value, new: ir.Value) -> bool:
    bound = new.is_graph_output() or new.is_graph_input() or new.is_initializer()
    graph = old.graph
    if bound or graph is None or new.graph is not graph:
        return False
    name = old.name
    for index, output in enumerate(graph.outputs):
        if output is old:
            graph.outputs[index] = new
    old.name, new.name = new.name, name
    new.type = old.type or new.type
    new.shape = old.shape if old.shape is not None else new.shape
    return True


def is_dead(node: ir.Node) -> bool:
    """Return whether nobody reads any output of a node."""
    return not any(output.uses() or output.is_graph_output() for output in node.outputs)


def remove(nodes: Iterable[ir.Node]) -> None:
    """Remove nodes that nobody reads, with the bodies they hold."""
    by_graph: dict[ir.Graph, list[ir.Node]] = {}
    for node in nodes:
        detach(node)
        if node.graph is not None:
            by_graph.setdefault(node.graph, []).append(node)
    for graph, doomed in by_graph.items():
        graph.remove(doomed)


def detach(node: ir.Node) -> None:
    """Stop a node, and every node in its bodies, from being a reader of anything."""
    for index in range(len(node.inputs)):
        node.replace_input_with(index, None)
    for body in bodies(node):
        for inner in body:
            detach(inner)


def add_initializer(graph: ir.Graph, name: str, content: Array | ir.TensorProtocol) -> ir.Value:
    """Return a new constant of a graph; `name` must be free in it."""
    tensor = _named_tensor(name, content)
    value = ir.Value(
        name=name,
        type=ir.TensorType(tensor.dtype),
        shape=ir.Shape(tensor.shape.numpy()),
        const_value=tensor,
    )
    graph.register_initializer(value)
    return value


def _named_tensor(name: str, content: Array | ir.TensorProtocol) -> ir.TensorProtocol:
    """Return the content under a name of its own: tensors are shared with the caller's model."""
    if isinstance(content, np.ndarray):
        return ir.Tensor(content, name=name)
    if isinstance(content, ir.LazyTensor):
        content.name = name
        return content
    if content.dtype == ir.DataType.STRING:
        return ir.StringTensor(content.numpy(), name=name, shape=ir.Shape(content.shape.numpy()))
    return ir.Tensor(content.numpy(), dtype=content.dtype, name=name)


def replace_by_constant(value: ir.Value, content: Array | ir.TensorProtocol) -> ir.Value:
    """Return a constant that takes the place and name of a node's output.

    The output must not be one of its graph.
    """
    graph = value.graph
    if graph is None or value.name is None or value.is_graph_output():
        raise ValueError(f"{value.name} cannot become a constant")
    name = value.name
    value.name = None
    constant = add_initializer(graph, name, content)
    value.replace_all_uses_with(constant)
    return constant


@contextmanager
def weights_as_inputs(graph: ir.Graph) -> Iterator[None]:
    """Show large initializers as inputs while the block runs, so that none is serialised."""
    weights = [
        value
        for value in graph.initializers.values()
        if not value.is_graph_input()
        and value.const_value is not None
        and value.const_value.nbytes > LARGEST_SERIALISED
    ]
    if not weights:
        yield
        return
    inputs = tuple(graph.inputs)
    order = tuple(graph.initializers.values())
    for value in weights:
        del graph.initializers[value.name or ""]
    graph.inputs.extend(weights)
    try:
        yield
    finally:
        graph.inputs.clear()
        graph.inputs.extend(inputs)
        graph.initializers.clear()
        for value in order:
            graph.initializers.add(value)
