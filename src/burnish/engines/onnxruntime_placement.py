"""Where ONNX Runtime put each node, and whether that is what was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burnish.core import units
from burnish.engines.base import EngineOptions
from burnish.engines.fallback import accepted

if TYPE_CHECKING:  # it reads graphs, which takes long to import
    from burnish.engines.shape_nodes import ShapeNode


@dataclass(frozen=True, slots=True)
class AssignedNode:
    """A node of the model as ONNX Runtime divides it among its providers."""

    provider: str
    name: str
    op_type: str

    def __str__(self) -> str:
        return f"{self.op_type} {self.name!r}" if self.name else self.op_type


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


def fallbacks(
    nodes: Sequence[AssignedNode], provider: str, allowed: Sequence[ShapeNode]
) -> tuple[AssignedNode, ...]:
    """Return the nodes that run elsewhere than on `provider`, less the shape computations.

    A node is a shape computation when it has the name of one; ONNX Runtime renames some nodes, so
    the others may each stand for one of the same operator that was not found by name.
    """
    elsewhere = [node for node in nodes if node.provider != provider]
    names = {node.name for node in allowed if node.name}
    by_name = [node for node in elsewhere if node.name in names]
    spare = Counter(node.op_type for node in allowed) - Counter(node.op_type for node in by_name)
    result = []
    for node in elsewhere:
        if node.name in names:
            continue
        if spare[node.op_type] > 0:
            spare[node.op_type] -= 1
            continue
        result.append(node)
    return tuple(result)


def placement_notes(
    nodes: Sequence[AssignedNode] | None,
    provider: str,
    allowed: Sequence[ShapeNode],
    options: EngineOptions,
) -> tuple[str, ...]:
    """Return what to know about the placement; raise if nodes fell back and that is not allowed."""
    if nodes is None:
        return accepted(
            "this ONNX Runtime does not tell which provider runs which node, so a fallback to the "
            "CPU would go unseen",
            options,
            hint="pip install --upgrade onnxruntime-gpu",
        )
    fallen = fallbacks(nodes, provider, allowed)
    on_purpose = sum(node.provider != provider for node in nodes) - len(fallen)
    notes: tuple[str, ...] = ()
    if on_purpose:
        notes = (f"{units.count(on_purpose, 'shape computation')} on the CPU, as intended",)
    if not fallen:
        return notes
    shown = ", ".join(map(str, fallen[:3])) + (" …" if len(fallen) > 3 else "")
    problem = (
        f"{units.count(len(fallen), 'node')} of {len(nodes):,} asked for on {provider} went to "
        f"{', '.join(count_by_provider(fallen))}: {shown}"
    )
    return notes + accepted(problem, options)
