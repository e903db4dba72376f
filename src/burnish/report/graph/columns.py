"""Where along its layer each box stands: near its neighbours, never over another."""

from __future__ import annotations

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
