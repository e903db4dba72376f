"""What a box says: its lines, its colour, and all that is known of it for the pointer."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report.graph import heat
from burnish.report.graph.groups import Box, View
from burnish.report.graph.layout import Edge
from burnish.report.graph.overlay import DrawnCost, Overlay, followers, leads, total_s
from burnish.store.graph import GraphNode, GraphRecord

_MOST_MEMBERS = 8
TOO_SHORT = "too short to tell"
"""Of what ran and took no longer than recording it does; the page's script says the same."""


@dataclass(frozen=True)
class Describer:
    """A graph and, where there is one, what a trace says about it."""

    graph: GraphRecord
    overlay: Overlay | None
    most_s: float = 0.0
    """The time of the most expensive box: the end of the colours."""

    @functools.cached_property
    def nodes(self) -> Mapping[str, GraphNode]:
        """Return the graph's nodes by name."""
        return {node.name: node for node in self.graph.nodes}

    @functools.cached_property
    def _leads(self) -> Mapping[str, list[DrawnCost]]:
        return leads(self.overlay) if self.overlay else {}

    @functools.cached_property
    def _followers(self) -> Mapping[str, DrawnCost]:
        return followers(self.overlay) if self.overlay else {}

    @functools.cached_property
    def _critical(self) -> frozenset[str]:
        return frozenset(self.overlay.critical) if self.overlay else frozenset()

    def costs(self, box: Box) -> list[DrawnCost]:
        """Return what is shown on a box."""
        return [cost for name in box.members for cost in self._leads.get(name, ())]

    def seconds_s(self, box: Box) -> float:
        """Return a box's time: after the change, where there was one."""
        return total_s(self.costs(box), after=True)

    def lines(self, box: Box) -> list[str]:
        """Return what stands in a box."""
        if box.kind in ("input", "output"):
            return [box.label]
        second = self._time(box) or self._size(box)
        label = _tail(box.label) if box.kind == "group" else box.label
        return [label, second] if second else [label]

    def look(self, box: Box) -> str:
        """Return a box's classes: its colour, and whether it is on the critical path."""
        if box.kind in ("input", "output"):
            return ""
        step = heat.step(self.seconds_s(box), self.most_s)
        on_path = not self._critical.isdisjoint(box.members)
        return f"h{step} critical" if on_path else f"h{step}"

    def details(self, box: Box) -> str:
        """Return all that is known of a box."""
        lines = [f"{box.label}: {box.kind}"]
        if len(box.members) == 1:
            lines = list(self._node_lines(self.nodes[box.members[0]]))
        elif box.members:
            lines = [box.label, units.count(len(box.members), "node")]
            lines += box.members[:_MOST_MEMBERS]
            lines += ["…"] if len(box.members) > _MOST_MEMBERS else []
        return "\n".join([*lines, *self._cost_lines(box)])

    def critical_edges(self, view: View) -> frozenset[Edge]:
        """Return the lines of the critical path, also through boxes that take no time."""
        if self.overlay is None:
            return frozenset()
        owner = _owner(view)
        path = dict.fromkeys(owner[name] for name in self.overlay.critical if name in owner)
        ways = itertools.starmap(self._ways(view), itertools.pairwise(path))
        return frozenset(edge for way in ways for edge in itertools.pairwise(way))

    def branch_shares(self, view: View) -> dict[Edge, float]:
        """Return, by line, the part of the wall time in the branch that ends there."""
        if self.overlay is None:
            return {}
        owner, way = _owner(view), self._ways(view)
        found: dict[Edge, float] = {}
        for (source, target), share in self.overlay.branch_shares.items():
            if source in owner and target in owner and owner[source] != owner[target]:
                *_, edge = [None, *itertools.pairwise(way(owner[source], owner[target]))]
                if edge is not None:
                    found[edge] = max(share, found.get(edge, 0.0))
        return found

    def left_out(self, view: View) -> list[str]:
        """Return what a view does not draw, with its time; nothing if it draws everything."""
        if not view.hidden:
            return []
        costs = [cost for name in view.hidden for cost in self._leads.get(name, ())]
        time = f" ({units.seconds(total_s(costs))})" if costs else ""
        return [f"{units.count(len(view.hidden), 'node')} of constants and sizes not drawn{time}"]

    def _ways(self, view: View) -> Callable[[int, int], list[int]]:
        """Return what finds the way between two boxes through boxes that take no time."""
        free = frozenset(i for i, box in enumerate(view.boxes) if not self.costs(box))
        users: dict[int, list[int]] = {}
        for source, target in view.edges:
            users.setdefault(source, []).append(target)
        return functools.partial(_way, users=users, free=free)

    def legend(self) -> list[str]:
        """Return what each colour means; nothing where there is no time."""
        if self.overlay is None or not self.most_s:
            return []
        return [f"≤ {units.seconds(bound * self.most_s)}" for bound in (*heat.BOUNDS, 1.0)]

    def _time(self, box: Box) -> str:
        costs = self.costs(box)
        if not costs or self.overlay is None:
            return ""
        before, after = total_s(costs), total_s(costs, after=True)
        if before != after:
            return f"{units.seconds(before)} → {units.seconds(after)}"
        wall = self.overlay.after_wall_s or self.overlay.wall_s
        if not before:
            return TOO_SHORT
        return f"{units.seconds(before)} · {units.share(before / wall)}" if wall else ""

    def _size(self, box: Box) -> str:
        if box.kind == "group":
            return units.count(len(box.members), "node")
        specs = [self.graph.tensors.get(name) for name in self.nodes[box.members[0]].outputs[:1]]
        if self.overlay is not None or not specs or specs[0] is None:
            return ""
        return f"{specs[0].dtype}[{', '.join(map(_dim, specs[0].shape))}]"

    def _node_lines(self, node: GraphNode) -> list[str]:
        domain = f" ({node.domain})" if node.domain else ""
        lines = [node.name, f"{node.op_type}{domain}"]
        for word, names in (("takes", node.inputs), ("gives", node.outputs)):
            specs = [self.graph.tensors.get(name) for name in names if name]
            lines += [
                f"{word} {spec or name}"
                for name, spec in zip(filter(None, names), specs, strict=True)
            ]
        lines += [f"{key} = {value}" for key, value in sorted(node.attributes.items())]
        return lines

    def _cost_lines(self, box: Box) -> list[str]:
        overlay = self.overlay
        if overlay is None or not box.members:
            return []
        costs = self.costs(box)
        if costs:
            seconds = total_s(costs)
            share = f", {units.share(seconds / overlay.wall_s)} of the time" * bool(overlay.wall_s)
            doubts = sorted({cost.confidence for cost in costs})
            told = f"{units.seconds(seconds)}{share}" if seconds else TOO_SHORT
            return [told, f"attributed: {', '.join(doubts)}"]
        included = [self._followers[name] for name in box.members if name in self._followers]
        if included:
            return [f"its time is in {included[0].name}, shown on {included[0].nodes[0]}"]
        return ["no time was recorded for it"]


def describer(graph: GraphRecord, overlay: Overlay | None, view: View) -> Describer:
    """Return what describes the boxes of a view, with colours that reach to its largest."""
    plain = Describer(graph, overlay)
    most = max((plain.seconds_s(box) for box in view.boxes), default=0.0)
    return Describer(graph, overlay, most)


def _owner(view: View) -> dict[str, int]:
    return {name: index for index, box in enumerate(view.boxes) for name in box.members}


def _way(
    start: int, end: int, users: Mapping[int, Sequence[int]], free: Collection[int]
) -> list[int]:
    """Return the boxes from `start` to `end` through free ones only; nothing if there is no way."""
    came: dict[int, int] = {start: start}
    waiting = [start]
    for box in waiting:
        for user in users.get(box, ()):
            if user not in came and (user == end or user in free):
                came[user] = box
                waiting.append(user)
        if end in came:
            break
    if end not in came:
        return []
    way = [end]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]


def _tail(path: str) -> str:
    """Return the last two parts of a module's path."""
    return "/".join(path.split("/")[-2:])


def _dim(dim: int | str) -> str:
    return str(dim) if isinstance(dim, int) else "?"
