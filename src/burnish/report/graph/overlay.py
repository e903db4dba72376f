"""What a trace says about a graph: seconds, the critical path and the branches, ready to draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Link = tuple[str, str]
"""Two nodes by name, the first of which computes what the second takes."""


@dataclass(frozen=True, slots=True)
class DrawnCost:
    """Time of one inference that one thing took: a node, or a kernel that does several."""

    name: str
    nodes: tuple[str, ...]
    """The nodes that it does; its time is shown on the first, once, so that sums are right."""
    seconds_s: float
    after_s: float | None = None
    """The same after a change that was simulated; None: nothing was changed."""
    confidence: str = "exact"


@dataclass(frozen=True, slots=True)
class Overlay:
    """Time on a graph."""

    costs: tuple[DrawnCost, ...]
    wall_s: float
    """What shares are shares of."""
    unattributed_s: float
    """Time that belongs to no node of the graph; never dropped."""
    engine: str
    after_wall_s: float | None = None
    critical: tuple[str, ...] = ()
    """The nodes of the critical path, in order."""
    branch_shares: Mapping[Link, float] = field(default_factory=dict)
    """For lines into a node where branches meet: the branch's part of the wall time."""

    @property
    def attributed_s(self) -> float:
        """Return the time of all nodes together."""
        return sum(cost.seconds_s for cost in self.costs)

    @property
    def coverage(self) -> float:
        """Return the part of the recorded time that belongs to nodes of the graph."""
        total = self.attributed_s + self.unattributed_s
        return self.attributed_s / total if total else 1.0


def leads(overlay: Overlay) -> dict[str, list[DrawnCost]]:
    """Return the costs by the node on which they are shown."""
    found: dict[str, list[DrawnCost]] = {}
    for cost in overlay.costs:
        found.setdefault(cost.nodes[0], []).append(cost)
    return found


def followers(overlay: Overlay) -> dict[str, DrawnCost]:
    """Return, for nodes whose time is shown on another one, the cost that includes it."""
    return {node: cost for cost in overlay.costs for node in cost.nodes[1:]}


def total_s(costs: Iterable[DrawnCost], *, after: bool = False) -> float:
    """Return the seconds of some costs, before or after the change."""
    return sum(
        cost.after_s if after and cost.after_s is not None else cost.seconds_s for cost in costs
    )
