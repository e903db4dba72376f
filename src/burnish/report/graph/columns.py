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
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbours = found.above if down else found.below
        for row in found.rows if down else reversed(found.rows):
            _settle(row, neighbours, found.boxes, widths, gap, centres)
    _straighten(found, widths, gap, centres)
    left = min((centres[v] - widths[v] / 2 for v in range(found.count)), default=0.0)
    return [centre - left for centre in centres]


def _pack(row: Sequence[int], widths: Sequence[float], gap: float, centres: list[float]) -> None:
    """Stand side by side around 0."""
    x = -(sum(widths[v] for v in row) + gap * (len(row) - 1)) / 2
    for vertex in row:
        centres[vertex] = x + widths[vertex] / 2
        x += widths[vertex] + gap


def _settle(
    row: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    boxes: int,
    widths: Sequence[float],
    gap: float,
    centres: list[float],
) -> None:
    """Move a layer's boxes as close to the middle of their neighbours as their order allows.

    The least squares answer under "each stands right of the one before": runs of boxes that
    would overlap are merged and stand together around what they want on average.
    """
    runs: list[list[float]] = []  # wanted place × weight, weight, how many
    offsets: list[float] = []
    offset = before = 0.0
    for vertex in row:
        half = widths[vertex] / 2
        offset += before + half + gap if offsets else 0.0
        before = half
        offsets.append(offset)
        wanted, weight = _wanted(vertex, neighbours[vertex], boxes, centres)
        runs.append([(wanted - offset) * weight, weight, 1])
        while len(runs) > 1 and runs[-2][0] * runs[-1][1] > runs[-1][0] * runs[-2][1]:
            last = runs.pop()
            for part in range(3):
                runs[-1][part] += last[part]
    place = 0
    for total, weight, many in runs:
        for _ in range(int(many)):
            centres[row[place]] = total / weight + offsets[place]
            place += 1


def _wanted(
    vertex: int, near: Sequence[int], boxes: int, centres: Sequence[float]
) -> tuple[float, float]:
    """Return where a box or stand-in wants to be, and how much; lines do not move boxes."""
    if not near:
        return centres[vertex], 0.5
    if vertex < boxes:
        near = [other for other in near if other < boxes] or near
    total, weight = 0.0, _MIDDLE_PULL
    for other in near:
        pull = (1.0, _END_PULL, _LINE_PULL)[(vertex >= boxes) + (other >= boxes)]
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
