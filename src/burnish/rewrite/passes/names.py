"""Names that are there, and there once; the order of nodes.

onnx-ir's own NameFixPass gives a name to outputs that were left out, so that they are computed,
and lets two branches use one name, which collides when both are taken; here names are unique over
the whole model.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir
from onnx_ir.passes.common import TopologicalSortPass

from burnish.core.free_names import FreeNames
from burnish.infer import walk
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted


@dataclass(frozen=True)
class FixNames(InPlacePass):
    """Give every node and value a name of its own.

    Inputs, outputs and initializers keep theirs; an optional output that was left out (its name
    is empty) stays left out.
    """

    def call(self, model: ir.Model) -> Counted:
        """Rename what has no name or another's."""
        return counted(model, _name_values(model) + _name_nodes(model))


def _name_nodes(model: ir.Model) -> int:
    names = FreeNames()
    count = 0
    for node in walk.nodes(model):
        if not node.name or node.name in names.taken:
            node.name = names.unused(node.name or node.op_type.lower())
            count += 1
        names.taken.add(node.name)
    return count


def _name_values(model: ir.Model) -> int:
    names = FreeNames(
        {
            value.name or ""
            for graph in walk.graphs(model)
            for value in (*graph.inputs, *graph.outputs, *graph.initializers.values())
        }
    )
    count = 0
    for node in walk.nodes(model):
        for value in node.outputs:
            if value.name == "" or value.is_graph_output():
                continue
            if value.name is None or value.name in names.taken:
                value.name = names.unused(value.name or node.name or "value")
                count += 1
            names.taken.add(value.name)
    return count


class SortNodes(TopologicalSortPass):
    """Put nodes after those they read, as ONNX demands."""
