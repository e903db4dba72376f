"""The chain of events that decides how long an inference takes, and what runs beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.analyze.event_graph import EventGraph
from burnish.analyze.simulate import simulate


@dataclass(frozen=True, slots=True)
class Branch:
    """One of several chains that begin after one event and meet again at another."""

    join: int
    """The event where they meet, by place."""
    fork: int | None
    """The last event that all of them have before it; None: they begin with the inference."""
    last: int
    """The last event of this one."""
    length_s: float
    """Its longest chain, from the end of `fork` to the end of `last`."""


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The longest chain of a graph."""

    places: tuple[int, ...]
    """Its events, the first first."""
    length_s: float
    """With the gaps on it."""
    branches: tuple[Branch, ...]
    """Every chain that meets others, at joins on the path and off it."""

    def share(self, branch: Branch) -> float:
        """Return a branch's part of the whole path."""
        return branch.length_s / self.length_s if self.length_s else 0.0


def critical_path(graph: EventGraph) -> CriticalPath:
    """Return the exact longest path; any number of beginnings and ends is fine."""
    ends_s = simulate(graph).ends_s
    if not ends_s:
        return CriticalPath((), 0.0, ())
    last = max(range(len(ends_s)), key=lambda place: ends_s[place])
    chain = [last]
    while after := graph.events[chain[-1]].after:
        chain.append(max(after, key=lambda place: ends_s[place]))
    return CriticalPath(tuple(reversed(chain)), ends_s[last], _branches(graph, ends_s))


def _branches(graph: EventGraph, ends_s: Sequence[float]) -> tuple[Branch, ...]:
    """Return the chains into each join.

    Every way to `last` leads through the fork, which dominates it; so the longest chain between
    the two is the difference of their longest ends.
    """
    dominators = _dominators(graph)
    found = []
    for join, event in enumerate(graph.events):
        if len(event.after) < 2:
            continue
        fork = dominators[join]
        begin_s = ends_s[fork] if fork is not None else 0.0
        found += [
            Branch(join, fork, last, ends_s[last] - begin_s) for last in event.after if last != fork
        ]
    return tuple(found)


def _dominators(graph: EventGraph) -> tuple[int | None, ...]:
    """Return for each event the last one that lies on all ways to it; None: there is none."""
    found: list[int | None] = []
    for event in graph.events:
        common: int | None = event.after[0] if event.after else None
        for other in event.after[1:]:
            common = _meet(common, other, found)
        found.append(common)
    return tuple(found)


def _meet(one: int | None, other: int | None, above: Sequence[int | None]) -> int | None:
    """Return where two chains of dominators come together; places grow along a chain."""
    while one != other:
        if one is None or other is None:
            return None
        if one > other:
            one = above[one]
        else:
            other = above[other]
    return one
