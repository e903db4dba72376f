"""Where boxes and lines go: layers along the flow, lines bent around what lies between."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from burnish.report.graph.columns import columns
from burnish.report.graph.layers import Layers, layered

GAP_ACROSS, GAP_ALONG, LINE_ROOM = 18.0, 30.0, 10.0
"""Between boxes of a layer, between layers, and what a line needs beside a box."""

_STRAIGHT = 1.0
"""Lines that bend by less than this between two layers are drawn straight."""

Edge = tuple[int, int]
Point = tuple[float, float]
Size = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BoxPlace:
    """Where a box stands: its upper left corner, and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of all boxes and the points of all lines, in the order in which they were given."""

    places: tuple[BoxPlace, ...]
    routes: tuple[tuple[Point, ...], ...]
    """From box to box: points in pairs, straight inside a layer and curved between two."""
    layers: tuple[int, ...]
    width: float
    height: float


def layout(
    sizes: Sequence[Size],
    edges: Sequence[Edge],
    *,
    left_to_right: bool = False,
    whole: Collection[Edge] = frozenset(),
) -> Layout:
    """Return a drawing plan for boxes in an order in which edges go from earlier to later.

    An edge from a later box to an earlier one (folding nodes into boxes can make cycles) is
    drawn upwards. Lines from one box share their way, and a route begins where it leaves what
    is drawn already; those in `whole` are given from end to end. Equal arguments give equal
    plans; the work grows with the boxes and with the layers that lines cross.
    """
    if left_to_right:
        turned = [(height, width) for width, height in sizes]
        return _turned(layout(turned, edges, whole=whole))
    found = layered(len(sizes), edges)
    widths = [*(size[0] for size in sizes), *[LINE_ROOM] * (found.count - len(sizes))]
    centres = columns(found, widths, GAP_ACROSS)
    tops, bottoms = _rows(found, [size[1] for size in sizes])
    places = tuple(
        BoxPlace(centres[i] - size[0] / 2, tops[found.layer[i]], *size)
        for i, size in enumerate(sizes)
    )
    plan = _Plan(found, centres, places, tops, bottoms)
    ends = _ends(edges, plan)
    routes = tuple(
        _route(number, edge, plan, ends[number], whole=edge in whole)
        for number, edge in enumerate(edges)
    )
    width = max((c + w / 2 for c, w in zip(centres, widths, strict=True)), default=0.0)
    return Layout(places, routes, tuple(found.layer[: len(sizes)]), width, max(bottoms, default=0))


@dataclass(frozen=True, slots=True)
class _Plan:
    found: Layers
    centres: Sequence[float]
    places: Sequence[BoxPlace]
    tops: Sequence[float]
    bottoms: Sequence[float]


def _rows(found: Layers, heights: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return where each layer begins and ends."""
    tops, bottoms, y = [], [], 0.0
    for row in found.rows:
        tall = max((heights[i] for i in row if i < len(heights)), default=0.0)
        tops.append(y)
        bottoms.append(y + tall)
        y += tall + GAP_ALONG
    return tops, bottoms


def _ends(edges: Sequence[Edge], plan: _Plan) -> list[float]:
    """Return, by edge, where it reaches its lower box: side by side, in the order they come."""
    arriving: dict[int, list[tuple[float, int]]] = {}
    for number, edge in enumerate(edges):
        reach = plan.found.reach[number]
        before = plan.found.chains[number][reach - 1] if reach else min(edge)
        arriving.setdefault(max(edge), []).append((plan.centres[before], number))
    result = [0.0] * len(edges)
    for box, lines in arriving.items():
        lines.sort()
        apart = min(14.0, plan.places[box].width / (len(lines) + 1))
        first = plan.centres[box] - apart * (len(lines) - 1) / 2
        for place, (_, number) in enumerate(lines):
            result[number] = first + apart * place
    return result


def _route(number: int, edge: Edge, plan: _Plan, end: float, *, whole: bool) -> tuple[Point, ...]:
    upper, lower = plan.places[min(edge)], plan.places[max(edge)]
    chain, reach = plan.found.chains[number], plan.found.reach[number]
    drawn = 0 if whole else min(plan.found.shared[number], reach)
    points = [(plan.centres[min(edge)], upper.y + upper.height)]
    if drawn:
        fork = chain[drawn - 1]
        points = [(plan.centres[fork], plan.bottoms[plan.found.layer[fork]])]
    for stand_in in chain[drawn:reach]:
        x, row = plan.centres[stand_in], plan.found.layer[stand_in]
        if len(points) > 1 and abs(points[-1][0] - x) < _STRAIGHT:
            points[-1] = (points[-1][0], plan.bottoms[row])
        else:
            points.extend(((x, plan.tops[row]), (x, plan.bottoms[row])))
    points.append((end, lower.y))
    return tuple(points) if edge[0] <= edge[1] else tuple(reversed(points))


def _turned(plan: Layout) -> Layout:
    return Layout(
        tuple(BoxPlace(p.y, p.x, p.height, p.width) for p in plan.places),
        tuple(tuple((y, x) for x, y in route) for route in plan.routes),
        plan.layers,
        plan.height,
        plan.width,
    )
