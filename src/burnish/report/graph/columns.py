"""Where along its layer each box stands: near its neighbours, never over another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.report.graph.layers import Layers

_SWEEPS = 6
_LINE_PULL, _END_PULL, _MIDDLE_PULL = 8.0, 0.3, 0.02
"""How hard stand-ins pull at one another, so that lines run straight (boxes pull with 1), how
hard a stand-in and a box, and the middle at all, so that deep graphs do not drift."""


def columns(found: Layers, widths: Sequence[float], gap: float) -> list[float]:
    """Return the centre of every box and stand-in; the leftmost edge of all is 0."""
    centres = [0.0] * found.count
    for row in found.rows:
        _pack(row, widths, gap, centres)
    offsets = [_offsets(row, widths, gap) for row in found.rows]
    rows = list(zip(found.rows, offsets, strict=True))
    pulls = [_pulling(found, neighbours) for neighbours in (found.above, found.below)]
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row, apart in rows if down else reversed(rows):
            _settle(row, apart, pulls[sweep % 2], found.boxes, centres)
    _straighten(found, widths, gap, centres)
    left = min((centres[v] - widths[v] / 2 for v in range(found.count)), default=0.0)
    return [centre - left for centre in centres]


def _pack(row: Sequence[int], widths: Sequence[float], gap: float, centres: list[float]) -> None:
    """Stand side by side around 0."""
    x = -(sum(widths[v] for v in row) + gap * (len(row) - 1)) / 2
    for vertex in row:
        centres[vertex] = x + widths[vertex] / 2
        x += widths[vertex] + gap


def _offsets(row: Sequence[int], widths: Sequence[float], gap: float) -> list[float]:
    """Return how far each of a layer is from the first if all stand side by side."""
    found, offset, before = [0.0] * len(row), 0.0, 0.0
    for place, vertex in enumerate(row):
        half = widths[vertex] / 2
        offset += before + half + gap if place else 0.0
        before = half
        found[place] = offset
    return found


def _pulling(found: Layers, neighbours: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Return who pulls at each: at a box other boxes, and lines only where there is no box."""
    boxes = found.boxes
    own = ([other for other in near if other < boxes] or near for near in neighbours[:boxes])
    return [*own, *neighbours[boxes:]]


def _settle(
    row: Sequence[int],
    offsets: Sequence[float],
    pulling: Sequence[Sequence[int]],
    boxes: int,
    centres: list[float],
) -> None:
    """Move a layer's boxes as close to the middle of their neighbours as their order allows.

    The least squares answer under "each stands right of the one before": runs of boxes that
    would overlap are merged and stand together around what they want on average.
    """
    # of each run: wanted place × weight, weight, how many
    totals, weights, counts = list[float](), list[float](), list[int]()
    for vertex, offset in zip(row, offsets, strict=True):
        wanted, weight = _wanted(vertex, pulling[vertex], boxes, centres)
        total, many = (wanted - offset) * weight, 1
        while totals and totals[-1] * weight > total * weights[-1]:
            total += totals.pop()
            weight += weights.pop()
            many += counts.pop()
        totals.append(total)
        weights.append(weight)
        counts.append(many)
    place = 0
    for total, weight, many in zip(totals, weights, counts, strict=True):
        first = total / weight
        for _ in range(many):
            centres[row[place]] = first + offsets[place]
            place += 1


def _wanted(
    vertex: int, near: Sequence[int], boxes: int, centres: Sequence[float]
) -> tuple[float, float]:
    """Return where a box or stand-in wants to be, and how much; lines do not move boxes."""
    if not near:
        return centres[vertex], 0.5
    if vertex < boxes and near[0] < boxes:
        weight = _MIDDLE_PULL + len(near)
        return sum([centres[other] for other in near]) / weight, weight
    total, weight = 0.0, _MIDDLE_PULL
    for other in near:
        pull = _LINE_PULL if vertex >= boxes and other >= boxes else _END_PULL
        total += centres[other] * pull
        weight += pull
    return total / weight, weight


def _straighten(found: Layers, widths: Sequence[float], gap: float, centres: list[float]) -> None:
    """Stand chains without a fork or a join, and lines, on one vertical as far as there is room."""
    beside: dict[int, list[int | None]] = {}
    for row in found.rows:
        for place, vertex in enumerate(row):
            right = row[place + 1] if place + 1 < len(row) else None
            beside[vertex] = [row[place - 1] if place else None, right]
    followers = [_follower(vertex, found) for vertex in range(found.count)]
    followed = frozenset(followers)
    for first in range(found.count):
        if first in followed:
            continue
        run, room, vertex = list[int](), (-math.inf, math.inf), first
        while vertex >= 0:
            own = _room(vertex, beside[vertex], widths, gap, centres)
            both = (max(room[0], own[0]), min(room[1], own[1]))
            if both[0] > both[1]:
                _align(run, room, centres)
                run, both = [], own
            run.append(vertex)
            room, vertex = both, followers[vertex]
        _align(run, room, centres)


def _follower(vertex: int, found: Layers) -> int:
    """Return who stands below in the same chain or line; -1: nobody."""
    if vertex >= found.boxes:
        return next((below for below in found.below[vertex] if below >= found.boxes), -1)
    below = [other for other in found.below[vertex] if other < found.boxes]
    if len(below) != 1:
        return -1
    above = [other for other in found.above[below[0]] if other < found.boxes]
    return below[0] if len(above) == 1 else -1


def _room(
    vertex: int,
    beside: Sequence[int | None],
    widths: Sequence[float],
    gap: float,
    centres: Sequence[float],
) -> tuple[float, float]:
    """Return between which centres one may stand without touching its neighbours."""
    left, right = beside
    least, most = -math.inf, math.inf
    if left is not None:
        least = centres[left] + (widths[left] + widths[vertex]) / 2 + gap
    if right is not None:
        most = centres[right] - (widths[right] + widths[vertex]) / 2 - gap
    # neighbours that touch leave no room but where it stands, rounding aside
    return min(least, centres[vertex]), max(most, centres[vertex])


def _align(run: Sequence[int], room: tuple[float, float], centres: list[float]) -> None:
    if not run:
        return
    middle = sum(centres[vertex] for vertex in run) / len(run)
    for vertex in run:
        centres[vertex] = min(max(middle, room[0]), room[1])
