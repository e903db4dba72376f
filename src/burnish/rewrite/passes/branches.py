"""Take the branch that is always taken."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.shapes import Shapes, infer
from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted


@dataclass(frozen=True)
class ChooseBranches(InPlacePass):
    """Put a branch in place of an If whose condition is a constant, or compares equal sizes.

    rewrite:
        y = If(true) { then: a = Relu(x); return a  else: return x }
        -->
        a = Relu(x)

    Names are unique over the whole model when this runs, so nothing in a branch collides with
    what is around it.
    """

    facts: Facts

    def call(self, model: ir.Model) -> Counted:
        """Look at every If once; one that comes out of a branch waits for the next round."""
        count = 0
        for graph in tuple(walk.graphs(model)):
            for node in tuple(graph):
                if walk.is_standard(node, "If") and node.graph is graph:
                    condition = condition_of(node, infer(self.facts))
                    count += condition is not None and take(node, condition) is not None
        return counted(model, count)


def condition_of(node: ir.Node, shapes: Shapes) -> bool | None:
    """Return what the condition of an If always is; None: it depends, or this is no If."""
    if not walk.is_standard(node, "If"):
        return None
    array = shapes.constants.array(node.inputs[0])
    if array is not None:
        return bool(array.item()) if array.size == 1 else None
    elements = shapes.elements(node.inputs[0])
    return bool(elements[0]) if elements and elements[0] is not None else None


def take(node: ir.Node, condition: bool) -> tuple[ir.Node, ...] | None:
    """Put the branch that a condition chooses in place of an If; return its nodes.

    None: a weight of the branch has the name of one around it, and nothing was changed.
    """
    graph = node.graph
    branch = node.attributes["then_branch" if condition else "else_branch"].as_graph()
    if graph is None or any(name in graph.initializers for name in branch.initializers):
        return None
    results = tuple(branch.outputs)
    branch.outputs.clear()
    moved = _moved(branch, node, graph)
    for output, result in zip(node.outputs, results, strict=True):
        if not edit.redirect(output, result):
            copy = ir.node("Identity", [result], name=f"{node.name}/Identity")
            copy.outputs[0].name = f"{output.name}/copy"
            graph.insert_before(node, copy)
            edit.redirect(output, copy.outputs[0])
            moved = (*moved, copy)
    edit.remove([node])
    return moved


def _moved(branch: ir.Graph, before: ir.Node, graph: ir.Graph) -> tuple[ir.Node, ...]:
    for value in tuple(branch.initializers.values()):
        del branch.initializers[value.name or ""]
        graph.initializers.add(value)
    nodes = tuple(branch)
    branch.remove(nodes)
    graph.insert_before(before, nodes)
    return nodes
