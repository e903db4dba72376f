"""From a simulated inference to time on a graph."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.analyze.critical_path import CriticalPath, critical_path
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.parallel import if_parallel
from burnish.analyze.simulate import simulate
from burnish.report.graph.groups import arithmetic_on_sizes
from burnish.report.graph.overlay import DrawnCost, Link, Overlay
from burnish.store.graph import GraphRecord
from burnish.trace.events import Confidence

_HEAVY = frozenset(
    (
        "MatMul", "Gemm", "Conv", "ConvTranspose", "Attention", "MultiHeadAttention", "Einsum",
        "MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv", "LSTM", "GRU",
    )
)  # fmt: skip


def overlay_of(
    events: EventGraph,
    record: GraphRecord,
    *,
    engine: str,
    after: EventGraph | None = None,
    confidences: Mapping[tuple[str, ...], Confidence] | None = None,
) -> Overlay:
    """Return an inference as time on the nodes of `record`, and the path if branches ran at once.

    `after` is the same inference after a change, event by event; `confidences` says by
    an event's nodes how they are known; by their names where it says nothing.
    """
    places = {node.name: place for place, node in enumerate(record.nodes)}
    first = shown_first(record)
    shown, changed = events.work, after or events
    costs, unattributed = [], 0.0
    for number in shown:
        event, known = events.events[number], confidences or {}
        nodes = tuple(sorted((n for n in event.nodes if n in first), key=first.__getitem__))
        if not nodes:
            unattributed += event.duration_s
            continue
        after_s = changed.events[number].duration_s if after else None
        sure = known.get(event.nodes, "exact")
        costs.append(DrawnCost(event.name, nodes, event.duration_s, after_s, sure))
    side_by_side = if_parallel(changed, record)
    path = critical_path(side_by_side)
    return Overlay(
        costs=tuple(costs),
        wall_s=simulate(events).wall_s,
        unattributed_s=unattributed,
        engine=engine,
        after_wall_s=simulate(after).wall_s if after else None,
        critical=_path_nodes(side_by_side, path, places),
        branch_shares=_branch_shares(side_by_side, path, places),
    )


def shown_first(record: GraphRecord) -> dict[str, int]:
    """Return nodes with the order in which the time of several is shown on one of them.

    That is one that drawings do not leave out, and one that does the bulk of the work if there
    is such a one: a product with its bias is shown on the product.
    """
    hidden = arithmetic_on_sizes(record)
    ordered = sorted(record.nodes, key=lambda n: (n.name in hidden, n.op_type not in _HEAVY))
    return {node.name: place for place, node in enumerate(ordered)}


def _path_nodes(
    graph: EventGraph, path: CriticalPath, places: Mapping[str, int]
) -> tuple[str, ...]:
    return tuple(
        node
        for number in path.places
        for node in sorted(
            (n for n in graph.events[number].nodes if n in places), key=places.__getitem__
        )
    )


def _branch_shares(
    graph: EventGraph, path: CriticalPath, places: Mapping[str, int]
) -> dict[Link, float]:
    """Return branches by the nodes at their end; of several that share both, the longest."""
    found: dict[Link, float] = {}
    for branch in path.branches:
        last, join = (
            [node for node in graph.events[number].nodes if node in places]
            for number in (branch.last, branch.join)
        )
        if last and join:
            link = (max(last, key=places.__getitem__), min(join, key=places.__getitem__))
            found[link] = max(path.share(branch), found.get(link, 0.0))
    return found
