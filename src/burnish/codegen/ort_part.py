"""The part of a model that is left to ONNX Runtime, cut out as a model of its own."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from burnish.rewrite.edit import bodies, is_standard
from burnish.rewrite.extract import Part, as_model, reads


def cut(model: ir.Model, nodes: Sequence[ir.Node], name: str) -> ir.Model:
    """Return these nodes, which are in the order of their graph, as a model of their own.

    It takes what they read from elsewhere and gives what is read elsewhere or is an output of the
    model, under the same names; constants become its own.
    """
    return as_model(_part(nodes), model, name)


def border(nodes: Sequence[ir.Node]) -> tuple[ir.Value, ...]:
    """Return what these nodes would take and give as a part."""
    part = _part(nodes)
    return (*part.inputs, *part.outputs)


def _part(nodes: Sequence[ir.Node]) -> Part:
    own = dict.fromkeys([*_constant_nodes(nodes), *nodes])
    made = {value for node in own for value in node.outputs}
    read = dict.fromkeys(value for node in own for value in reads(node) if value not in made)
    return Part(
        nodes=tuple(own),
        inputs=tuple(value for value in read if not value.is_initializer()),
        weights=(),
        constants=tuple(value for value in read if value.is_initializer()),
        outputs=tuple(_given(nodes)),
    )


def _constant_nodes(nodes: Sequence[ir.Node]) -> list[ir.Node]:
    """Return the Constant nodes that the nodes read: each part has its own copy of them."""
    makers = (value.producer() for node in nodes for value in reads(node))
    return [node for node in makers if node is not None and is_standard(node, "Constant")]


def _given(nodes: Sequence[ir.Node]) -> list[ir.Value]:
    inside = set(nodes)
    for node in nodes:
        inside |= {inner for body in bodies(node) for inner in body.all_nodes()}
    return [
        value
        for node in nodes
        for value in node.outputs
        if value.is_graph_output() or any(user not in inside for user in value.consumers())
    ]
