"""What lies between a value of a graph and the nearest values that another graph has too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import onnx_ir as ir


@dataclass(frozen=True, slots=True)
class ValueRegion:
    """The nodes that compute a value from a cut through the graph."""

    cut: tuple[str, ...]
    """The nearest values before it that are marked, each once."""
    nodes: tuple[ir.Node, ...]
    """The nodes between the cut and the value, in order of execution."""
    initializers: tuple[ir.Value, ...]
    """The weights that these nodes read."""


class Producers:
    """The values of a graph's top level by name, with the nodes that make them."""

    def __init__(self, model: ir.Model) -> None:
        self._initializers = model.graph.initializers
        self._place = {node: place for place, node in enumerate(model.graph)}
        self._nodes = {
            value.name: node for node in model.graph for value in node.outputs if value.name
        }

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def node(self, name: str) -> ir.Node:
        """Return the node that makes the value `name`."""
        return self._nodes[name]

    def before(self, name: str, marked: Callable[[str], bool]) -> ValueRegion:
        """Return what lies between the value `name` and the nearest marked values before it."""
        cut: dict[str, None] = {}
        nodes = {self._nodes[name]}
        initializers: dict[str, ir.Value] = {}
        waiting = [self._nodes[name]]
        while waiting:
            for source in _reads(waiting.pop()):
                if source in self._initializers:
                    initializers[source] = self._initializers[source]
                elif source not in self._nodes:
                    continue  # an input of the model: both were fed the same
                elif marked(source):
                    cut[source] = None
                elif self._nodes[source] not in nodes:
                    nodes.add(self._nodes[source])
                    waiting.append(self._nodes[source])
        ordered = tuple(sorted(nodes, key=self._place.__getitem__))
        return ValueRegion(tuple(cut), ordered, tuple(initializers.values()))


def live_values(model: ir.Model) -> tuple[str, ...]:
    """Return the values that the outputs depend on, outputs included, in order of execution."""
    producers = Producers(model)
    needed: set[str] = set()
    waiting = [value.name for value in model.graph.outputs if value.name]
    while waiting:
        name = waiting.pop()
        if name in producers and name not in needed:
            needed.add(name)
            waiting.extend(_reads(producers.node(name)))
    return tuple(
        value.name
        for node in model.graph
        for value in node.outputs
        if value.name in needed and _is_tensor(value)
    )


def name_of(node: ir.Node) -> str:
    """Return how people find a node: its name, else its first output's."""
    return node.name or f"the {node.op_type} that gives {node.outputs[0].name}"


def _reads(node: ir.Node) -> Iterator[str]:
    """Yield the names of all values that a node reads, those read inside its subgraphs too."""
    for value in node.inputs:
        if value is not None and value.name:
            yield value.name
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        graphs: tuple[ir.Graph, ...] = ()
        if attribute.type is ir.AttributeType.GRAPH:
            graphs = (attribute.as_graph(),)
        elif attribute.type is ir.AttributeType.GRAPHS:
            graphs = tuple(attribute.as_graphs())
        for graph in graphs:
            yield from _read_from_outside(graph)


def _read_from_outside(graph: ir.Graph) -> Iterator[str]:
    own = {value.name for value in (*graph.inputs, *graph.initializers.values())}
    own.update(value.name for node in graph for value in node.outputs)
    for node in graph:
        yield from (name for name in _reads(node) if name not in own)
    for value in graph.outputs:
        if value.name and value.name not in own:
            yield value.name


def _is_tensor(value: ir.Value) -> bool:
    return value.type is None or isinstance(value.type, ir.TensorType)
