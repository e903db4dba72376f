"""Lead the nodes of the graph that ONNX Runtime made of a model back to the model's own nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import onnx_ir as ir

from burnish.store.correspondence import Names, behind
from burnish.store.graph_nodes import nodes_of
from burnish.trace.events import Trace


def origins(model: ir.Model, optimized: ir.Model, trace: Trace) -> dict[str, Names]:
    """Return, for every node that the trace names, the model's nodes whose work it does."""
    inputs = {value.name or "" for value in model.graph.inputs}
    found = behind(nodes_of(model.graph), nodes_of(optimized.graph), inputs=inputs)
    pairs = list(zip(optimized.graph, found, strict=True))
    named = {node.name: names for node, names in pairs if node.name}
    return named | _nameless([(n.op_type, names) for n, names in pairs if not n.name], named, trace)


def _nameless(
    nodes: Sequence[tuple[str, Names]], named: Mapping[str, Names], trace: Trace
) -> dict[str, Names]:
    """Return the origins of nodes without a name, which a profile calls `Op_12`.

    The number is one that only ONNX Runtime knows; nodes of one operator ran in the graph's order.
    """
    in_graph: Mapping[str, list[Names]] = defaultdict(list)
    for op_type, found in nodes:
        in_graph[op_type].append(found)
    ran: Mapping[str, dict[str, None]] = defaultdict(dict)
    for span in trace.spans:
        if span.category == "node" and span.node and span.op_type and span.node not in named:
            ran[span.op_type][span.node] = None
    return {
        name: found
        for op_type, founds in in_graph.items()
        if len(founds) == len(ran[op_type])
        for name, found in zip(ran[op_type], founds, strict=True)
    }
