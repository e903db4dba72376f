"""Take the branch that is always taken."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted


@dataclass(frozen=True)
class ChooseBranches(InPlacePass):
    """Put a branch in place of an If whose condition is a constant.

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
        condition = self.facts.array(node.inputs[0])
        if condition is None or condition.size != 1:
            return False
        branch = node.attributes["then_branch" if condition.item() else "else_branch"].as_graph()
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

    @staticmethod
    def _move(branch: ir.Graph, before: ir.Node, graph: ir.Graph) -> None:
        for value in tuple(branch.initializers.values()):
            del branch.initializers[value.name or ""]
            graph.initializers.add(value)
        nodes = tuple(branch)
        branch.remove(nodes)
        graph.insert_before(before, nodes)
