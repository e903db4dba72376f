"""How work gets to a device: by launches one by one, by a graph of them, or nobody saw."""

from __future__ import annotations

from burnish.analyze.event_graph import EventGraph
from burnish.analyze.simulate import simulate
from burnish.trace.events import DEVICE

_OTHER_WORK_S = 1e-3
"""No framework needs as long for one launch: then the host does something else."""


def is_launching(graph: EventGraph) -> bool:
    """Return whether what the host does is launching; else it does something of its own."""
    timeline = simulate(graph)
    number = sum(event.kind in DEVICE for event in graph.events)
    return number > 0 and (timeline.wall_s - timeline.busy_s) / number < _OTHER_WORK_S


def is_launched_singly(graph: EventGraph) -> bool:
    """Return whether work of a device was seen to be launched, and not by a graph of it already."""
    calls = {graph.events[e.launch].name for e in graph.events if e.launch is not None}
    return any("GraphLaunch" not in name for name in calls)
