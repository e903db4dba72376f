"""Where ONNX Runtime put each node, and whether that is what was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AssignedNode:
    """A node of the model as ONNX Runtime divides it among its providers."""

    provider: str
    name: str
    op_type: str


def assigned(session: Any) -> tuple[AssignedNode, ...] | None:  # noqa: ANN401  (untyped package)
    """Return the provider of every node; None: this ONNX Runtime does not tell."""
    if not hasattr(session, "get_provider_graph_assignment_info"):
        return None
    return tuple(
        AssignedNode(part.ep_name, node.name, node.op_type)
        for part in session.get_provider_graph_assignment_info()
        for node in part.get_nodes()
    )


def count_by_provider(nodes: Sequence[AssignedNode]) -> dict[str, int]:
    """Return how many nodes each provider runs, most first."""
    return dict(Counter(node.provider for node in nodes).most_common())
