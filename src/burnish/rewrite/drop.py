"""Take nodes out of a model to see what it costs to have them; the result computes nonsense."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.store.element_types import DATA_TYPES
from burnish.store.graph import GraphRecord
from burnish.store.graph_nodes import node_names


def without_nodes(model: ir.Model, names: Collection[str], graph: GraphRecord) -> ir.Model:
    """Return a copy without the named nodes, with the same interface.

    What a node gave is taken from an operand of the same type and shape, else from a constant.
    What nobody reads any more becomes an output, so that nothing but the named nodes is spared.
    `graph` is the model's own, with the shapes of the inference that is to be measured.
    """
    work = model.clone()
    gone = [
        node for name, node in zip(node_names(work.graph), work.graph, strict=True) if name in names
    ]
    for node in gone:
        for output in node.outputs:
            if output.uses() or output.is_graph_output():
                _replace(work, node, output, _stand_in(work, node, output, graph))
        operands = [operand for operand in node.inputs if operand is not None]
        work.graph.remove(node, safe=True)
        _keep_alive(work, operands, graph)
    return work


def _keep_alive(model: ir.Model, operands: list[ir.Value], graph: GraphRecord) -> None:
    for value in dict.fromkeys(operands):
        made = value.producer() is not None and value.name not in graph.constants
        known = graph.static(value.name or "")
        if made and not value.uses() and not value.is_graph_output() and known is not None:
            value.type = ir.TensorType(DATA_TYPES[known.dtype])
            value.shape = ir.Shape([int(dim) for dim in known.shape])
            model.graph.outputs.append(value)


def _replace(model: ir.Model, node: ir.Node, output: ir.Value, stand_in: ir.Value) -> None:
    if output.is_graph_output():
        # an output must keep its name, so something has to write it
        copied = ir.node("Identity", [stand_in])
        model.graph.insert_before(node, copied)
        new = copied.outputs[0]
        new.name, new.type, new.shape = output.name, output.type, output.shape
        output.name = f"{output.name}_dropped"
        model.graph.outputs[list(model.graph.outputs).index(output)] = new
        stand_in = new
    for user, index in tuple(output.uses()):
        user.replace_input_with(index, stand_in)


def _stand_in(model: ir.Model, node: ir.Node, output: ir.Value, graph: GraphRecord) -> ir.Value:
    wanted = graph.static(output.name or "")
    if wanted is None:
        raise ModelError(
            f"node {node.name!r} cannot be dropped: the shape of {output.name!r} is not known",
            hint="bind all sizes: --shape batch=1,sequence=128",
        )
    for operand in node.inputs:
        found = graph.static(operand.name or "") if operand is not None else None
        varies = operand is not None and operand.name not in graph.constants
        if found and varies and (found.dtype, found.shape) == (wanted.dtype, wanted.shape):
            return operand  # type: ignore[return-value]
    dtype = DATA_TYPES[wanted.dtype]
    shape = tuple(int(dim) for dim in wanted.shape)
    # small and not zero: multiplying by zeros or by huge numbers may take another time
    values = np.random.default_rng(0).uniform(0.1, 0.9, shape).astype(dtype.numpy())
    constant = ir.Value(
        name=f"{output.name}_instead",
        shape=ir.Shape(shape),
        type=ir.TensorType(dtype),
        const_value=ir.tensor(values, dtype=dtype, name=f"{output.name}_instead"),
    )
    model.graph.register_initializer(constant)
    return constant
