"""Remove what nobody reads.

onnx-ir's own RemoveUnusedNodesPass keeps what only the body of a removed node read, and the
weights of bodies; it looks up a schema for every node, and says nothing of inputs that it cut off.
Its RemoveUnusedOpsetsPass drops the import `ai.onnx`, the other name of ONNX's own domain.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer import walk
from burnish.rewrite import edit
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted


@dataclass(frozen=True)
class DropDeadCode(InPlacePass):
    """Remove nodes, initializers, functions and opset imports that nobody reads.

    Inputs of the graph stay, read or not: they are part of what callers rely on. Inputs of nodes
    that are left out at the end go: written as empty names they end ONNX Runtime 1.31.1, of
    LayerNormalization from level `extended` on, of Max and Sum at every level.
    """

    def call(self, model: ir.Model) -> Counted:
        """Sweep each graph once, from its end."""
        count = sum(_drop_nodes(graph) for graph in reversed(tuple(walk.graphs(model))))
        count += sum(_drop_initializers(graph) for graph in walk.graphs(model))
        count += sum(map(_drop_absent_inputs, walk.nodes(model)))
        if model.functions:
            count += _drop_functions(model)
        return counted(model, count + _drop_imports(model))


def _drop_functions(model: ir.Model) -> int:
    """Remove functions that nobody calls; onnx-ir's pass recurses as deep as they call."""
    called: set[ir.OperatorIdentifier] = set()
    bodies: list[ir.Graph] = [model.graph]
    while bodies:
        for node in bodies.pop().all_nodes():
            name = node.op_identifier()
            if name in model.functions and name not in called:
                called.add(name)
                bodies.append(model.functions[name].graph)
    doomed = [name for name in model.functions if name not in called]
    for name in doomed:
        del model.functions[name]
    return len(doomed)


def _drop_nodes(graph: ir.Graph) -> int:
    doomed = []
    for node in reversed(graph):
        if edit.is_dead(node):
            edit.detach(node)
            doomed.append(node)
    if doomed:
        graph.remove(doomed)
    return len(doomed)


def _drop_initializers(graph: ir.Graph) -> int:
    doomed = [
        name
        for name, value in graph.initializers.items()
        if not (value.is_graph_input() or value.is_graph_output() or value.uses())
    ]
    for name in doomed:
        del graph.initializers[name]
    return len(doomed)


def _drop_absent_inputs(node: ir.Node) -> int:
    given = len(node.inputs)
    while given and node.inputs[given - 1] is None:
        given -= 1
    absent = len(node.inputs) - given
    if absent:
        node.resize_inputs(given)
    return absent


def _drop_imports(model: ir.Model) -> int:
    if all(name in walk.STANDARD_DOMAINS for name in model.opset_imports):
        return 0
    used = {node.domain for node in walk.nodes(model)}
    used |= {node.domain for function in model.functions.values() for node in function.all_nodes()}
    doomed = [name for name in model.opset_imports if name not in {*used, *walk.STANDARD_DOMAINS}]
    for name in doomed:
        del model.opset_imports[name]
    return len(doomed)
