"""Which layer a box is in, and in which order boxes and passing lines stand within it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Layers:
    """Boxes and, after them, one stand-in for every layer that a line passes through.

    Lines from the same box share their stand-ins for as long as they go the same way.
    """

    layer: list[int]
    rows: list[list[int]]
    """Of each layer, from left to right."""
    above: list[list[int]]
    below: list[list[int]]
    chains: list[list[int]]
    """By edge: the stand-ins below its upper box; it passes the first `reach` of them."""
    reach: list[int]
    shared: list[int]
    """By edge: how many of them an earlier line from the same box has drawn already."""
    boxes: int

    @property
    def count(self) -> int:
        """Return how many there are, stand-ins included."""
        return len(self.layer)


def layered(boxes: int, edges: Sequence[tuple[int, int]]) -> Layers:
    """Return the layers of boxes that are given in the order of the flow."""
    downward = [(min(edge), max(edge)) for edge in edges]
    layer = _tightened(downward, _longest_paths(boxes, downward))
    found = Layers(
        layer, [[] for _ in range(max(layer, default=-1) + 1)], [[] for _ in layer],
        [[] for _ in layer], [[] for _ in edges], [0] * len(edges),
        [0] * len(edges), boxes,
    )  # fmt: skip
    _bridge(found, downward)
    for vertex in range(found.count):
        found.rows[found.layer[vertex]].append(vertex)
    _order(found)
    return found


def _longest_paths(boxes: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    layer = [0] * boxes
    for source, target in sorted(edges):
        if source != target:
            layer[target] = max(layer[target], layer[source] + 1)
    return layer


def _tightened(edges: Sequence[tuple[int, int]], layer: list[int]) -> list[int]:
    """Return layers in which a box with room to move stands close to those that use it."""
    users: list[list[int]] = [[] for _ in layer]
    sources = [0] * len(layer)
    for source, target in set(edges):
        if source != target:
            users[source].append(target)
            sources[target] += 1
    result = list(layer)
    for box in range(len(layer) - 1, -1, -1):
        if users[box] and sources[box] <= len(users[box]):
            result[box] = min(result[user] for user in users[box]) - 1
    return result


def _bridge(found: Layers, edges: Sequence[tuple[int, int]]) -> None:
    """Put stand-ins on edges that cross layers, shared by all edges from one box."""
    passing: list[list[int]] = [[] for _ in range(found.boxes)]
    for number in sorted(range(len(edges)), key=lambda n: found.layer[edges[n][1]]):
        source, target = edges[number]
        if source == target:
            continue
        chain = passing[source]
        needed = found.layer[target] - found.layer[source] - 1
        found.shared[number] = len(chain)
        while len(chain) < needed:
            stand_in = found.count
            _join(found, chain[-1] if chain else source, stand_in)
            found.layer.append(found.layer[source] + len(chain) + 1)
            chain.append(stand_in)
        found.chains[number] = chain
        found.reach[number] = needed
        _join(found, chain[needed - 1] if needed else source, target)


def _join(found: Layers, upper: int, lower: int) -> None:
    for vertex in (upper, lower):
        while len(found.above) <= vertex:
            found.above.append([])
            found.below.append([])
    found.below[upper].append(lower)
    found.above[lower].append(upper)


def _order(found: Layers) -> None:
    """Put each layer in the order of the middle of its neighbours, up and down some times."""
    place = [0.0] * found.count
    for row in found.rows:
        _number(row, place)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbours = found.above if down else found.below
        for row in found.rows if down else reversed(found.rows):
            if len(row) > 1:
                _sort(row, place, neighbours)


def _sort(row: list[int], place: list[float], neighbours: Sequence[Sequence[int]]) -> None:
    wanted = []
    for vertex in row:
        near = neighbours[vertex]
        if len(near) == 1:  # most have one, and there may be a hundred thousand
            middle = place[near[0]]
        else:
            middle = sum([place[n] for n in near]) / len(near) if near else place[vertex]
        wanted.append((middle, place[vertex], vertex))
    wanted.sort()
    row[:] = [vertex for _, _, vertex in wanted]
    _number(row, place)


def _number(row: Sequence[int], place: list[float]) -> None:
    """Count from the middle, so that layers of different lengths can be compared."""
    for number, vertex in enumerate(row):
        place[vertex] = number - (len(row) - 1) / 2
