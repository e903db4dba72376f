"""Which nodes of a model an engine runs as part of others, where it tells only some of them."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from burnish.store.correspondence import Names, of_sizes
from burnish.store.graph_nodes import nodes_of


def with_absorbed(graph: ir.Graph, told: Mapping[str, Names]) -> dict[str, Names]:
    """Return the nodes behind each of an engine's, with those that it tells behind none.

    Such a node was made part of the ones that read it. Constants and what is computed from sizes
    alone are left out.
    """
    nodes = nodes_of(graph)
    known = {node.name: node for node in nodes}
    producer = {name: node.name for node in nodes for name in node.outputs if name}
    small = of_sizes(nodes, {value.name or "" for value in graph.inputs})
    elsewhere = small.union(*told.values())
    result = {}
    for key, behind in told.items():
        found = {name for name in behind if name in known}
        waiting = list(found)
        while waiting:
            read = (producer.get(name, "") for name in known[waiting.pop()].inputs)
            absorbed = {name for name in read if name} - elsewhere - found
            found |= absorbed
            waiting += absorbed
        result[key] = tuple(node.name for node in nodes if node.name in found)
    return result
