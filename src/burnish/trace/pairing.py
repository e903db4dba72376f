"""Pair the operators that PyTorch called with the units of a graph that they perform.

Calls and units of the same kind are aligned in order. Where their numbers differ, what tells
which of them have no partner is the shape of weights (which must agree), then modules, sizes, and
the place between pairs that are already made.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.trace.graph_units import GraphIndex, Unit
from burnish.trace.torch_calls import OperatorCall

_CELLS = 4_000_000
"""An alignment of more calls with more units than this is made near the diagonal only."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A call and the unit that it performed, by their places in what was paired."""

    call: int
    unit: int


def pairs(calls: Sequence[OperatorCall], units: Sequence[Unit], index: GraphIndex) -> list[Pair]:
    """Return which call performed which unit, each at most once, in the order of the calls."""
    made: list[Pair] = []
    for family in _families(calls, units):
        made += _aligned(family, calls, units, _Judge(index, calls, units, made))
    return sorted(made, key=lambda pair: pair.call)


@dataclass(frozen=True, slots=True)
class _Family:
    """Calls and units that only come into question for one another."""

    calls: tuple[int, ...]
    units: tuple[int, ...]

    @property
    def unevenness(self) -> float:
        return abs(len(self.calls) - len(self.units)) / max(len(self.calls), len(self.units))


def _families(calls: Sequence[OperatorCall], units: Sequence[Unit]) -> list[_Family]:
    """Return the families, those first in which every call has its unit."""
    family_of: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := family_of.setdefault(name, name)) != name:
            name = above
        return name

    for unit in units:
        first, *others = sorted(unit.group.torch)
        for other in others:
            family_of[root(other)] = root(first)
    callers: Mapping[str, list[int]] = defaultdict(list)
    called: Mapping[str, list[int]] = defaultdict(list)
    for number, call in enumerate(calls):
        callers[root(call.operator)].append(number)
    for number, unit in enumerate(units):
        called[root(min(unit.group.torch))].append(number)
    both = [_Family(tuple(callers[n]), tuple(called[n])) for n in callers if n in called]
    return sorted(both, key=lambda family: family.unevenness)


class _Judge:
    """Says how well a call and a unit go together."""

    def __init__(
        self,
        index: GraphIndex,
        calls: Sequence[OperatorCall],
        units: Sequence[Unit],
        made: Sequence[Pair],
    ) -> None:
        self._index, self._calls, self._units = index, calls, units
        placed = sorted((pair.call, units[pair.unit].anchor) for pair in made)
        self._paired_calls = [call for call, _ in placed]
        self._anchors = [anchor for _, anchor in placed]

    def score(self, call_number: int, unit_number: int) -> float:
        """Return how well they fit: 0 for not at all, at least 1 otherwise."""
        call, unit = self._calls[call_number], self._units[unit_number]
        if call.operator not in unit.group.torch or not self._weights_agree(call, unit):
            return 0.0
        between = self._between(call_number, unit.anchor)
        scope = self._index.graph.nodes[unit.anchor].scope
        return (
            1 + 2 * _likeness(call.modules, scope) + self._sizes_agree(call, unit) + 0.5 * between
        )

    def _weights_agree(self, call: OperatorCall, unit: Unit) -> bool:
        """Return False only if shapes are known on both sides and say something else."""
        if not call.shapes:
            return True
        wanted = [sorted(shape) for shape in self._index.weights(unit.anchor)]
        given = [sorted(shape) for shape in call.shapes]
        return all(shape in given for shape in wanted)

    def _sizes_agree(self, call: OperatorCall, unit: Unit) -> float:
        known = self._index.elements(unit.anchor)
        if not call.shapes or not known:
            return 0.0
        given = [_elements(shape) for shape in call.shapes]
        return sum(size in known for size in given) / len(given)

    def _between(self, call: int, anchor: int) -> bool:
        at = bisect.bisect_left(self._paired_calls, call)
        before = self._anchors[at - 1] if at else -1
        after = self._anchors[at] if at < len(self._anchors) else len(self._index.graph.nodes)
        return before < anchor < after


def _elements(shape: Sequence[int]) -> int:
    result = 1
    for dim in shape:
        result *= dim
    return result


def _likeness(modules: Sequence[str], scope: Sequence[str]) -> float:
    """Return from 0 to 1 how alike the modules around a call and around a node are.

    Modules are told by their path (`layer.0.attention`) or by class and number (`BertAttention_0`).
    """
    if not modules or not scope:
        return 0.0
    path = ".".join(scope)
    if modules[-1] == path:
        return 1.0
    if "." in modules[-1]:
        return 0.5 if modules[-1].endswith(f".{path}") or path.endswith(f".{modules[-1]}") else 0.0
    classes = [name.rpartition("_")[0].lower() or name.lower() for name in modules]
    told = [part.partition(".")[0].replace("_", "").lower() for part in scope]
    alike = sum(a in b for a, b in zip(reversed(told), reversed(classes), strict=False))
    return 0.8 * alike / max(len(told), len(classes))


def _aligned(
    family: _Family, calls: Sequence[OperatorCall], units: Sequence[Unit], judge: _Judge
) -> list[Pair]:
    """Return the pairs of the best alignment in order."""
    rows, columns = len(family.calls), len(family.units)
    reach = columns if rows * columns <= _CELLS else max(_CELLS // rows, abs(rows - columns) + 1)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    scores: dict[tuple[int, int], float] = {}
    for row in range(rows - 1, -1, -1):
        middle = row * columns // rows
        for column in range(columns - 1, -1, -1):
            here = max(best[row + 1][column], best[row][column + 1])
            if abs(column - middle) <= reach:
                score = judge.score(family.calls[row], family.units[column])
                if score:
                    scores[row, column] = score
                    here = max(here, score + best[row + 1][column + 1])
            best[row][column] = here
    found, row, column = [], 0, 0
    while row < rows and column < columns:
        score = scores.get((row, column), 0.0)
        if score and best[row][column] <= score + best[row + 1][column + 1] + 1e-9:
            found.append(Pair(family.calls[row], family.units[column]))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return found
