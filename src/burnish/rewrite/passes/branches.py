"""Take the branch that is always taken."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted
from burnish.rewrite.symbolic import size
from burnish.rewrite.symbolic.elements import Elements
from burnish.rewrite.symbolic.shapes import Shapes


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
        for graph in tuple(edit.graphs(model)):
            for node in tuple(graph):
                if edit.is_standard(node, "If") and node.graph is graph:
                    count += self._choose(node, graph)
        return counted(model, count)

    def _choose(self, node: ir.Node, graph: ir.Graph) -> bool:
        condition = self._condition(node.inputs[0])
        if condition is None:
            return False
        branch = node.attributes["then_branch" if condition else "else_branch"].as_graph()
        if any(name in graph.initializers for name in branch.initializers):
            return False
        results = tuple(branch.outputs)
        branch.outputs.clear()
        self._move(branch, node, graph)
        for output, result in zip(node.outputs, results, strict=True):
            if not edit.redirect(output, result):
                copy = ir.node("Identity", [result], name=f"{node.name}/Identity")
                copy.outputs[0].name = f"{output.name}/copy"
                graph.insert_before(node, copy)
                edit.redirect(output, copy.outputs[0])
        edit.remove([node])
        return True

    def _condition(self, value: ir.Value | None) -> bool | None:
        """Return what a condition always is; None: it depends."""
        array = self.facts.array(value)
        if array is not None:
            return bool(array.item()) if array.size == 1 else None
        test = None if value is None else value.producer()
        if test is None:
            return None
        if edit.is_standard(test, "Not", "Identity", "Cast"):
            inner = self._condition(test.inputs[0])
            return not inner if inner is not None and test.op_type == "Not" else inner
        if not edit.is_standard(test, "Equal"):
            return None
        shapes = Shapes(self.facts)
        one, other = shapes.elements(test.inputs[0]), shapes.elements(test.inputs[1])
        return _equal(one, other)

    @staticmethod
    def _move(branch: ir.Graph, before: ir.Node, graph: ir.Graph) -> None:
        for value in tuple(branch.initializers.values()):
            del branch.initializers[value.name or ""]
            graph.initializers.add(value)
        nodes = tuple(branch)
        branch.remove(nodes)
        graph.insert_before(before, nodes)


def _equal(one: Elements | None, other: Elements | None) -> bool | None:
    """Return whether two sizes are the same whatever the inputs are; None: it depends on them."""
    if one is None or other is None or len(one) != 1 or len(other) != 1:
        return None
    if one[0] is None or other[0] is None:
        return None
    difference = size.subtract(one[0], other[0])
    return difference == 0 if isinstance(difference, int) else None
