"""Numbers that Dynamo hands to a graph as tensors, and the graph with these numbers in it.

Where sizes are to stay open, a module's `eps` comes as a tensor without dimensions, whose element
the graph asks for. Sums and products of it have a form in ONNX; where an operation takes the
number itself, an exporter must know it.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.integrations.torch_opened import is_tensor

GraphModule = Any
Node = Any
"""PyTorch's types: torch is imported only where it is used."""


_ARITHMETIC = frozenset({operator.add, operator.sub, operator.mul, operator.truediv})


def asked_for(graph: GraphModule, example_inputs: Sequence[Any]) -> frozenset[int]:
    """Return which values are tensors of the host whose elements a graph must know as numbers."""
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return frozenset(
        number
        for number, (node, value) in enumerate(zip(nodes, example_inputs, strict=True))
        if _is_scalar(value) and all(_asks(user) for user in node.users) and not _computes(node)
    )


def with_numbers(graph: GraphModule, numbers: Mapping[int, float]) -> GraphModule:
    """Return a copy of a graph that has numbers for the elements of some of its values."""
    import torch

    if not numbers:
        return graph
    places = [node for node in graph.graph.nodes if node.op == "placeholder"]
    given = {places[place]: number for place, number in numbers.items()}
    copied, known = torch.fx.Graph(), dict[Node, Any]()
    for node in graph.graph.nodes:
        number = given.get(node.args[0]) if _asks(node) else None
        known[node] = copied.node_copy(node, known.__getitem__) if number is None else number
    return torch.fx.GraphModule(graph, copied)


def _is_scalar(value: Any) -> bool:  # noqa: ANN401
    import torch

    on_host = is_tensor(value) and value.device.type == "cpu"
    return on_host and value.ndim == 0 and not isinstance(value, torch.nn.Parameter)


def _computes(node: Node) -> bool:
    """Say whether nothing is done with a tensor's element but to compute with it."""
    uses = [use for asking in node.users for use in asking.users]
    return all(use.op == "call_function" and use.target in _ARITHMETIC for use in uses)


def _asks(node: Node) -> bool:
    """Say whether a node does nothing but ask for a tensor's element."""
    return bool(node.op == "call_method" and node.target == "item")
