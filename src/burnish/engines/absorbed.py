"""Which nodes of a model an engine runs as part of others, where it tells only some of them."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from burnish.store.graph_of import node_names

Names = tuple[str, ...]


def with_absorbed(graph: ir.Graph, told: Mapping[str, Names]) -> dict[str, Names]:
    """Return the nodes behind each of an engine's, with those that it tells behind none.

    Such a node was made part of the ones that read it. Constants have no work, and are left out.
    """
    names = dict(zip(graph, node_names(graph), strict=True))
    nodes = {name: node for node, name in names.items()}
    anywhere = frozenset(name for behind in told.values() for name in behind)
    result = {}
    for key, behind in told.items():
        found = {nodes[name] for name in behind if name in nodes}
        waiting = list(found)
        while waiting:
            for value in waiting.pop().inputs:
                node = value.producer() if value is not None else None
                if node is None or node in found or names.get(node, "") in anywhere:
                    continue
                if node.op_type != "Constant" and node in names:
                    found.add(node)
                    waiting.append(node)
        result[key] = tuple(name for node, name in names.items() if node in found)
    return result
