"""What rewriting did and did not do to a model: plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Fusion:
    """One place where a rule fired."""

    rule: str
    node: str
    """The name of the node that now does the work."""
    op_type: str
    """Its operator; contrib operators carry their domain: `com.microsoft::Gelu`."""
    replaced: tuple[str, ...]
    """The nodes that are gone, in the order in which they ran."""


@dataclass(frozen=True, slots=True)
class Miss:
    """One place that looked like a rule's, and why the rule left it alone."""

    rule: str
    node: str
    reason: str
    """Names the node, what was found, and what was expected."""
    remedy: str
    """What would let it through."""


@dataclass(frozen=True, slots=True)
class StepCount:
    """How many changes a clean-up step made, over all its runs."""

    step: str
    count: int


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """All that was done to a model, and what nearly was."""

    fusions: tuple[Fusion, ...]
    misses: tuple[Miss, ...]
    steps: tuple[StepCount, ...]
    nodes_before: int
    nodes_after: int
    operators_before: Mapping[str, int]
    operators_after: Mapping[str, int]
    notes: tuple[str, ...] = ()
    """What a reader must know besides: an opset that was raised, a function that was kept."""

    @property
    def fusion_counts(self) -> dict[str, int]:
        """Return how often each rule fired, for those that did."""
        counts: dict[str, int] = {}
        for fusion in self.fusions:
            counts[fusion.rule] = counts.get(fusion.rule, 0) + 1
        return counts
