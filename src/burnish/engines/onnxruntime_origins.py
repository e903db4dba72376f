"""Lead the nodes of the graph that ONNX Runtime made of a model back to the model's own nodes.

Both graphs name tensors, and ONNX Runtime keeps the names of those that it still computes. What
lies in the model between two tensors that both graphs have is what the nodes between them in the
other graph do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx_ir as ir

from burnish.store.graph_of import node_names
from burnish.trace.events import Trace

Names = tuple[str, ...]
_OTHER_TYPE = "InsertedPrecisionFreeCast_"
"""What ONNX Runtime puts before the name of a tensor that it computes in another type."""


def origins(model: ir.Model, optimized: ir.Model, trace: Trace) -> dict[str, Names]:
    """Return, for every node that the trace names, the model's nodes whose work it does.

    Constants have no work, and are left out.
    """
    behind = list(_behind(model.graph, optimized.graph))
    named = {node.name: found for node, found in behind if node.name}
    return named | _nameless([(n.op_type, f) for n, f in behind if not n.name], named, trace)


def _behind(original: ir.Graph, optimized: ir.Graph) -> Iterator[tuple[ir.Node, Names]]:
    """Yield every node of the optimised graph, and the original nodes behind it."""
    names = dict(zip(original, node_names(original), strict=True))
    producer = {value.name: node for node in original for value in node.outputs if value.name}
    known = {(name, node.op_type): node for node, name in names.items()}
    written = {node: _written(node, producer, known) for node in optimized}
    kept = frozenset().union(*written.values())
    targets: dict[ir.Node, frozenset[str]] = {}
    for node in reversed(list(optimized)):
        further = (targets[reader] for reader in _readers(node, targets))
        targets[node] = written[node] or frozenset().union(*further)
    between: dict[str, set[ir.Node]] = {}
    for node in optimized:
        for target in targets[node] - set(between):
            between[target] = _between(target, producer, kept)
        covered = set().union(*(between[target] for target in targets[node]))
        yield node, tuple(name for each, name in names.items() if each in covered)


def _written(
    node: ir.Node, producer: Mapping[str, ir.Node], known: Mapping[tuple[str, str], ir.Node]
) -> frozenset[str]:
    """Return the tensors of the original graph that a node of the optimised one computes.

    A tensor is known by its name, also with the prefix that it gets where its type was changed;
    a node with the name and operator of an original one computes what that one does.
    """
    names = [(value.name or "").removeprefix(_OTHER_TYPE) for value in node.outputs]
    found = frozenset(name for name in names if name in producer)
    twin = known.get((node.name or "", node.op_type))
    if found or twin is None:
        return found
    return frozenset(value.name for value in twin.outputs if value.name)


def _readers(node: ir.Node, known: Mapping[ir.Node, object]) -> Iterable[ir.Node]:
    """Return the nodes of the same graph that read what a node writes."""
    readers = [use.node for value in node.outputs for use in value.uses()]
    return [reader for reader in readers if reader in known]


def _between(target: str, producer: Mapping[str, ir.Node], kept: frozenset[str]) -> set[ir.Node]:
    """Return the original nodes that make a tensor from others that both graphs have."""
    found: set[ir.Node] = set()
    wanted = [target]
    while wanted:
        node = producer.get(wanted.pop())
        if node is None or node in found or node.op_type == "Constant":
            continue
        found.add(node)
        inputs = (value.name for value in node.inputs if value is not None)
        wanted += [name for name in inputs if name and name not in kept]
    return found


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
