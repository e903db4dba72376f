"""Numbers that a graph computes from its constants and fixed sizes: the same whatever is fed.

Whether such a number is stored or computed is a matter of form. A rewrite that stores it rounds
it to the type in which the model would have computed it.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.constants import Constants, constant_tensor
from burnish.infer.shapes import Shapes, infer
from burnish.meaning.node import RANDOM


def settled_numbers(model: ir.Model) -> tuple[ir.Value, ...]:
    """Return the real results of a model's nodes that depend on nothing that is fed.

    Sizes that are free are fed, too: a table of as many rows as there are tokens is none of these.
    """
    try:
        shapes = infer(Constants(model))
    except walk.CONTRADICTIONS:
        return ()  # what contradicts itself is not known to be the same
    known: set[ir.Value] = set()
    for node in walk.nodes(model):
        if _is_settled(node, known, shapes):
            known.update(node.outputs)
    return tuple(value for value in known if _is_real(value, shapes))


def _is_settled(node: ir.Node, known: set[ir.Value], shapes: Shapes) -> bool:
    if walk.is_standard(node, *RANDOM) or walk.may_hold_bodies(node):
        return False
    if walk.is_standard(node, "Shape", "Size") or not node.inputs:
        return _are_whole(node.outputs[0], shapes)
    return all(
        value is None or value in known or constant_tensor(value) is not None
        or _are_whole(value, shapes)
        for value in node.inputs
    )  # fmt: skip


def _are_whole(value: ir.Value, shapes: Shapes) -> bool:
    """Return whether all elements of a value are known whole numbers."""
    elements = shapes.elements(value)
    return elements is not None and all(isinstance(each, int) for each in elements)


def _is_real(value: ir.Value, shapes: Shapes) -> bool:
    return (shapes.dtype(value) or "").startswith(("f", "bf"))
