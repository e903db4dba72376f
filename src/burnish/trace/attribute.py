"""Which of the time spent in nodes belongs to nodes that the model itself names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from burnish.trace.events import Trace
from burnish.trace.own_time import own_seconds

_TIMED = ("node", "kernel", "copy")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a trace's time has a node; the two parts add up to the total."""

    attributed_s: float
    unattributed_s: float

    @property
    def total_s(self) -> float:
        """Return the time of all nodes, kernels and copies."""
        return self.attributed_s + self.unattributed_s

    @property
    def share(self) -> float:
        """Return the attributed part, from 0 to 1; nothing to attribute is all of it."""
        return self.attributed_s / self.total_s if self.total_s else 1.0


def attribute(trace: Trace, nodes: Collection[str]) -> Trace:
    """Return the trace with `node` only on spans whose node is one of the model's, by exact name.

    Engines rename what they fuse (`MatMul_Add_fusion`, `…_nchwc`): such a span keeps the name and
    the operator that the engine gave it, and has no node of the model.
    """
    names = frozenset(nodes)
    spans = tuple(s if s.node in names else replace(s, node=None) for s in trace.spans)
    return replace(trace, spans=spans)


def coverage(trace: Trace) -> Coverage:
    """Return how much of the time inside inferences has a node."""
    timed = [span for span in trace.spans if span.category in _TIMED and span.run >= 0]
    attributed = unattributed = 0.0
    for span, seconds in zip(timed, own_seconds(timed), strict=True):
        if span.node is None:
            unattributed += seconds
        else:
            attributed += seconds
    return Coverage(attributed, unattributed)
