"""Cutting a tile-graph into groups: which nests share a kernel, by predicted or measured gain.

Three steps. Dynamic programming along the order of the nests finds the best cut into consecutive
runs, where no early choice can stand in the way of a better later one. What lies in a run only
because of the order, and would rather be computed before it, is taken out. Greedy merging then
joins whatever still gains, neighbours in the graph that are none in the order included.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from burnish.core.units import seconds as seconds_text
from burnish.tile.connect import NoGroupError, Wiring, grouped, in_order, singles, wiring
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import Machine
from burnish.tile.predict import Predictions, Predictor

Fusion = Literal["none", "element-wise", "full"]
"""How far kernels share work; without `full`, each nest is a kernel (and simplifying differs)."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far the search goes."""

    nests: int = 24
    """The most nests of one group."""
    gain: float = 0.02
    """The least share of both groups' time that joining them must save."""
    patience: int = 3
    """How many longer runs may get worse before the search stops making a run longer."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Two groups that stay apart although one reads what the other writes, and why."""

    first: str
    """The anchor's output of the group that writes."""
    second: str
    reason: str


@dataclass(frozen=True, slots=True)
class Partition:
    """Groups in an order in which they can run, and why neighbours stay apart."""

    groups: tuple[Group, ...]
    rejections: tuple[Rejection, ...] = ()


def partition(
    graph: TileGraph,
    machine: Machine,
    fusion: Fusion = "full",
    *,
    predictor: Predictor | None = None,
    limits: SearchLimits = SearchLimits(),  # noqa: B008  # frozen
) -> Partition:
    """Return which nests of a simplified graph share a kernel.

    `predictor` tells the seconds of a group (default: the cost model for `machine`).
    """
    if fusion != "full" or not graph.ops:
        return Partition(singles(graph))
    predict = predictor or Predictions(graph, machine)
    wires = wiring(graph)
    merging = _Merging(wires, predict, limits)
    for members in _consecutive(wires, predict, limits):
        merging.add(members)
    merging.take_out()
    merging.run()
    return Partition(in_order(merging.groups), tuple(merging.rejections()))


def chain_order(wires: Wiring) -> tuple[int, ...]:
    """Return the nests such that each comes after what it needs, and chains stay together."""
    count = len(wires.graph.ops)
    depth = [0] * count
    for position in range(count):
        depth[position] = 1 + max((depth[k] for k in wires.predecessors(position)), default=0)
    order: dict[int, None] = {}
    ends = [position for position in range(count) if not wires.successors(position)]
    for end in ends:
        stack = [(end, False)]
        while stack:
            position, ready = stack.pop()
            if position in order:
                continue
            if ready:
                order[position] = None
                continue
            stack.append((position, True))
            # the deepest goes last on the stack, so first into the order
            before = sorted(wires.predecessors(position), key=lambda k: (depth[k], -k))
            stack += [(k, False) for k in before if k not in order]
    return tuple(order)


def _consecutive(wires: Wiring, predict: Predictor, limits: SearchLimits) -> list[tuple[int, ...]]:
    """Return the cheapest cut of the order into consecutive groups."""
    order = chain_order(wires)
    total = [0.0]
    start = [0]
    for end in range(1, len(order) + 1):
        best, choice = float("inf"), end - 1
        worse = 0
        for begin, seconds in _runs(order, end, wires, predict, limits):
            if total[begin] + seconds < best:
                best, choice, worse = total[begin] + seconds, begin, 0
            else:
                worse += 1
            if worse > limits.patience:
                break
        total.append(best)
        start.append(choice)
    cuts: list[tuple[int, ...]] = []
    end = len(order)
    while end:
        cuts.append(order[start[end] : end])
        end = start[end]
    return cuts[::-1]


def _runs(
    order: Sequence[int], end: int, wires: Wiring, predict: Predictor, limits: SearchLimits
) -> Iterator[tuple[int, float]]:
    """Yield where runs that end here may begin, and their seconds, the shortest run first."""
    single = Group((wires.graph.ops[order[end - 1]],), (wires.graph.ops[order[end - 1]].output,))
    yield end - 1, _price(single, predict)
    for begin in range(end - 2, max(end - limits.nests, 0) - 1, -1):
        members = order[begin:end]
        try:
            group = grouped(wires, members)
        except NoGroupError:
            # an earlier nest does not help: nobody in the run reads the one added here
            return
        yield begin, (1 + limits.gain) * _price(group, predict)


def _price(group: Group, predict: Predictor) -> float:
    try:
        return predict(group)
    except NoGroupError:
        # a nest is a kernel in any case; nothing gains by joining one that has no schedule
        return 0.0 if len(group.ops) == 1 else float("inf")


class _Merging:
    """Groups that are joined two at a time, the greatest gain first."""

    def __init__(self, wires: Wiring, predict: Predictor, limits: SearchLimits) -> None:
        self._wires = wires
        self._predict = predict
        self._limits = limits
        self._members: dict[int, tuple[int, ...]] = {}
        self._groups: dict[int, Group] = {}
        self._price: dict[int, float] = {}
        self._owner: dict[int, int] = {}
        self._offers: list[tuple[float, int, int]] = []
        self._reasons: dict[tuple[int, int], str] = {}

    @property
    def groups(self) -> tuple[Group, ...]:
        return tuple(self._groups.values())

    def add(self, members: Iterable[int]) -> int:
        """Make these nests a group, in place of the groups that they were in."""
        chosen = tuple(members)
        number = len(self._wires.graph.ops) + max(self._members, default=0) + 1
        for old in {self._owner[k] for k in chosen if k in self._owner} & self._members.keys():
            del self._members[old], self._groups[old], self._price[old]
        self._members[number] = chosen
        self._groups[number] = grouped(self._wires, chosen)
        self._price[number] = _price(self._groups[number], self._predict)
        self._owner |= dict.fromkeys(chosen, number)
        return number

    def take_out(self) -> None:
        """Give nests that begin a group a kernel of their own wherever that gains."""
        waiting = [number for number, members in self._members.items() if len(members) > 2]
        while waiting:
            number = waiting.pop()
            found = min(self._without_one(number), default=None)
            if found is not None:
                _, taken = found
                rest = [k for k in self._members[number] if k != taken]
                self.add((taken,))
                waiting.append(self.add(rest))

    def _without_one(self, number: int) -> Iterator[tuple[float, int]]:
        """Yield what a group and a nest that begins it take apart, where that is less."""
        members = set(self._members[number])
        most = (1 - self._limits.gain) * self._price[number]
        for taken in self._members[number]:
            if members & set(self._wires.predecessors(taken)):
                continue
            try:
                alone = self._predict(grouped(self._wires, (taken,)))
                rest = self._predict(
                    grouped(self._wires, [k for k in self._members[number] if k != taken])
                )
            except NoGroupError:
                continue
            if alone + rest < most:
                yield alone + rest, taken

    def run(self) -> None:
        """Join groups until nothing gains any more."""
        for first in list(self._members):
            for second in self._after(first):
                self._offer(first, second)
        while self._offers:
            _, first, second = heapq.heappop(self._offers)
            if first not in self._members or second not in self._members:
                continue
            if reason := self._between(first, second):
                self._reasons[first, second] = reason
                continue
            joined = self.add((*self._members[first], *self._members[second]))
            for before in self._before(joined):
                self._offer(before, joined)
            for after in self._after(joined):
                self._offer(joined, after)

    def rejections(self) -> Iterator[Rejection]:
        """Yield why each two neighbours stay apart."""
        for first in self._members:
            for second in self._after(first):
                writes, reads = (
                    self._groups[first].anchor.output,
                    self._groups[second].anchor.output,
                )
                yield Rejection(writes, reads, self._reasons[first, second])

    def _offer(self, first: int, second: int) -> None:
        try:
            gain = self._gain(first, second)
        except NoGroupError as refusal:
            self._reasons[first, second] = str(refusal)
            return
        heapq.heappush(self._offers, (-gain, first, second))

    def _gain(self, first: int, second: int) -> float:
        members = (*self._members[first], *self._members[second])
        if len(members) > self._limits.nests:
            raise NoGroupError(
                f"together they are {len(members)} nests, and {self._limits.nests} is the limit"
            )
        if reason := self._between(first, second):
            raise NoGroupError(reason)
        apart = self._price[first] + self._price[second]
        together = self._predict(grouped(self._wires, members))
        if apart - together <= self._limits.gain * apart:
            raise NoGroupError(
                f"they take {seconds_text(apart)} apart and {seconds_text(together)} together"
            )
        return apart - together

    def _between(self, first: int, second: int) -> str:
        """Return which group lies on another way from the first to the second; empty: none."""
        for begin in self._after(first):
            if begin == second:
                continue
            seen, frontier = {begin}, [begin]
            while frontier:
                for after in self._after(frontier.pop()):
                    if after == second:
                        return f"{self._groups[begin].anchor.output!r} lies between them"
                    if after not in seen:
                        seen.add(after)
                        frontier.append(after)
        return ""

    def _after(self, number: int) -> list[int]:
        found = (self._owner[k] for m in self._members[number] for k in self._wires.successors(m))
        return [each for each in dict.fromkeys(found) if each != number]

    def _before(self, number: int) -> list[int]:
        found = (self._owner[k] for m in self._members[number] for k in self._wires.predecessors(m))
        return [each for each in dict.fromkeys(found) if each != number]
