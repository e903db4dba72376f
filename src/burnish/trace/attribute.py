"""Say which nodes of a model each span did the work of, and how that is known.

The surest way that leads anywhere is taken: the node's own name on the span, on a range around
the call that launched it, or in a layer's name; then the engine's own graph, through the names of
tensors; then PyTorch's operators; then what kernels of that name usually do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.store.graph import GraphRecord
from burnish.trace.events import WORK, Confidence, Span, Trace
from burnish.trace.graph_names import GraphNames
from burnish.trace.graph_units import GraphIndex, units
from burnish.trace.grouping import GroupLibrary, library
from burnish.trace.timed import timed
from burnish.trace.torch_attribution import Owners, attribute_torch


@dataclass(frozen=True, slots=True)
class TimeCoverage:
    """How much of the time that was recorded is led back to nodes of the model."""

    total_s: float
    seconds_s: Mapping[Confidence, float]
    """The time of each confidence, `none` included; together they are the total."""
    unattributed: int
    """How many spans are led back to nothing."""

    @property
    def attributed_s(self) -> float:
        """Return the time that is led back to some node."""
        return sum(s for confidence, s in self.seconds_s.items() if confidence != "none")

    @property
    def share(self) -> float:
        """Return the part of the time that is led back to some node."""
        return self.attributed_s / self.total_s if self.total_s else 0.0


def attribute(trace: Trace, graph: GraphRecord, groups: GroupLibrary | None = None) -> Trace:
    """Return the trace with `nodes` and `confidence` on every span that some way leads back.

    Nothing is dropped; spans that no way leads back keep no nodes. Where nothing at all is led
    back, a note says why.
    """
    known = groups or library()
    owners = _by_name(trace, GraphNames(graph))
    torch = attribute_torch(trace.spans, graph, known)
    owners = torch.owners | owners
    owners = _by_kernel(trace.spans, graph, known, owners) | owners if not torch.notes else owners
    operators = {node.name: node.op_type for node in graph.nodes}
    spans = tuple(
        _owned(span, *owners[at], operators) if at in owners else span
        for at, span in enumerate(trace.spans)
    )
    found = replace(trace, spans=spans, notes=(*trace.notes, *torch.notes))
    if torch.notes or coverage(found).share or not coverage(found).total_s:
        return found
    return replace(found, notes=(*found.notes, _nothing(found, graph)))


def _owned(
    span: Span, nodes: tuple[str, ...], confidence: Confidence, operators: Mapping[str, str]
) -> Span:
    """Return a span with its nodes; its operator is theirs, where the trace names none."""
    op_type = span.op_type
    if op_type is None and span.category in WORK:
        op_type = "+".join(dict.fromkeys(operators[name] for name in nodes if name in operators))
    return replace(span, nodes=nodes, confidence=confidence, op_type=op_type or None)


def coverage(trace: Trace) -> TimeCoverage:
    """Return how much of a trace's time is led back to nodes, over all its inferences."""
    seconds: dict[Confidence, float] = defaultdict(float)
    unattributed = 0
    for span, own_s in timed(trace).own:
        seconds[span.confidence if span.nodes else "none"] += own_s
        unattributed += not span.nodes
    return TimeCoverage(sum(seconds.values()), dict(seconds), unattributed)


def _nothing(trace: Trace, graph: GraphRecord) -> str:
    ran = next((s.node or s.name for s, _ in timed(trace).own), "")
    has = graph.nodes[0].name if graph.nodes else "no nodes"
    return (
        f"no time is led back to the model's nodes: the trace may be of another model (it has for"
        f" instance {ran!r}, the model {has!r})"
    )


def _by_name(trace: Trace, names: GraphNames) -> Owners:
    """Return what names tell: of nodes, of ranges around launches, of layers and of tensors."""
    found: Owners = {}
    for at, span in enumerate(trace.spans):
        if span.category == "run":
            continue
        for name in (span.node, *_around(trace.spans, span)):
            owner = names.owner(name, span, trace.origins) if name else None
            if owner is not None:
                found[at] = owner
                break
    return found


def _around(spans: Sequence[Span], span: Span) -> list[str]:
    """Return the names of the ranges around a span, or around what launched it, inner first."""
    names = []
    at = span.cause if span.cause is not None else span.parent
    while at is not None:
        if spans[at].category == "range" or spans[at].node:
            names.append(spans[at].node or spans[at].name)
        at = spans[at].parent
    return names


def _by_kernel(
    spans: Sequence[Span], graph: GraphRecord, known: GroupLibrary, owners: Owners
) -> Owners:
    """Return what the names of kernels suggest, where nothing better is known.

    Only if there are as many kernels of a kind in an inference as the graph has units of it:
    kernels that are fewer or more may each be any of them.
    """
    orphans = [
        at
        for at, span in enumerate(spans)
        if at not in owners and span.category == "kernel" and span.run >= 0
    ]
    groups = [group for group in known.groups if group.kernel]
    if not orphans or not groups:
        return {}
    index = GraphIndex(graph)
    by_expression: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for unit in units(index, groups):
        names = tuple(graph.nodes[at].name for at in unit.nodes)
        by_expression[unit.group.kernel].append(names)
    found: Owners = {}
    for expression, members in by_expression.items():
        likes = re.compile(expression, re.IGNORECASE)
        by_run: dict[int, list[int]] = defaultdict(list)
        for at in orphans:
            if at not in found and likes.search(spans[at].name):
                by_run[spans[at].run].append(at)
        for matching in by_run.values():
            if len(matching) == len(members):
                found |= {at: (m, "pattern") for at, m in zip(matching, members, strict=True)}
    return found
