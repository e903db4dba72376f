"""The steps of a plan as the native loop reads them: rows of words, and the addresses behind them.

A step that is repeated has a row for each time. Where a loop has at least as many chains as there
are threads, or its steps are short, its rows are lists, one for each chain, that single threads
walk from begin to end: then nobody waits for anybody between two times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from burnish.core.arrays import Array
from burnish.runtime.cpu.driver import STEP_WORDS
from burnish.runtime.host_memory import Words, address_of
from burnish.runtime.plan import KernelStep, Plan, loops

CHUNKS_PER_THREAD = 8
"""Tiles are taken in as many pieces: enough to even threads out, few enough to cost nothing."""

WORTH_WAITING_S = 30e-6
"""A repeated step that takes less is one thread's. Behind other steps all threads wait for each
other: a microsecond, or as long as somebody else keeps the core of one of them."""

_FEW = 16
"""Places of a tensor that are written one by one faster than at once."""


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel, the tensors that it is given, each from an offset on, and its tiles."""

    function: int
    tensors: tuple[tuple[str, int], ...]
    tiles: int


Lists = tuple[tuple[Row, ...], ...]
"""Rows that run apart from each other, each list on one thread."""


class LoopTable:
    """Rows for all kernels of a plan, in memory that stays where it is."""

    def __init__(self, plan: Plan, addresses: Mapping[str, int], chains: int, threads: int) -> None:
        """Set the table out; `chains` is where the function is whose tiles are lists of rows."""
        walked: list[Row | Lists] = []
        self._spans: dict[int, tuple[int, int]] = {}
        for numbers in loops(plan.steps):
            steps = [step for n in numbers if isinstance(step := plan.steps[n], KernelStep)]
            found = list(_rows(steps, addresses, threads))
            # what all steps of a loop do is done where the first stands
            self._spans |= dict.fromkeys(numbers, (len(walked) + len(found), 0))
            self._spans[numbers.start] = (len(walked), len(found))
            walked += found
        apart = [each for lists in walked if not isinstance(lists, Row) for each in lists]
        every = [*walked, *chain(*apart)]
        words = sum(2 * len(row) if not isinstance(row, Row) else len(row.tensors) for row in every)
        self._arguments: Words = np.zeros(max(words, 1), np.int64)
        self._steps: Words = np.zeros((max(len(every), 1), STEP_WORDS), np.int64)
        self._write(every, len(walked), chains, threads)

    def span(self, first: int, count: int) -> tuple[int, int]:
        """Return where the rows of `count` steps begin, as an address, and how many they are."""
        begin, _ = self._spans[first]
        last, rows = self._spans[first + count - 1]
        return self._row(begin), last + rows - begin

    def point(self, name: str, array: Array) -> None:
        """Write an array's address wherever it is used."""
        address = address_of(array)
        for place, offset in self._few.get(name, ()):
            self._arguments[place] = address + offset
        if name in self._many:
            places, offsets = self._many[name]
            self._arguments[places] = address + offsets

    def _write(self, every: Sequence[Row | Lists], behind: int, chains: int, threads: int) -> None:
        """Write all rows; lists begin `behind` those that are walked."""
        used: dict[str, list[tuple[int, int]]] = defaultdict(list)
        begin = 0
        for number, row in enumerate(every):
            table = address_of(self._arguments) + 8 * begin
            if isinstance(row, Row):
                self._steps[number] = step_row(row.function, table, row.tiles, threads)
                for place, (name, offset) in enumerate(row.tensors, begin):
                    used[name].append((place, offset))
                begin += len(row.tensors)
                continue
            self._steps[number] = step_row(chains, table, len(row), threads)
            for each in row:
                self._arguments[begin : begin + 2] = self._row(behind), len(each)
                behind, begin = behind + len(each), begin + 2
        self._few = {name: tuple(at) for name, at in used.items() if len(at) <= _FEW}
        self._many = {
            name: (np.array([p for p, _ in at]), np.array([o for _, o in at]))
            for name, at in used.items()
            if len(at) > _FEW
        }

    def _row(self, number: int) -> int:
        return address_of(self._steps) + 8 * STEP_WORDS * number


def step_row(function: int, arguments: int, tiles: int, threads: int) -> Sequence[int]:
    """Return a step as the loop reads it: two addresses, tiles, and how many to take at once."""
    return function, arguments, tiles, max(tiles // (threads * CHUNKS_PER_THREAD), 1)


def _rows(
    steps: Sequence[KernelStep], addresses: Mapping[str, int], threads: int
) -> Iterator[Row | Lists]:
    """Yield the rows of a step, or those of all steps of a loop."""
    if not steps or steps[0].repeat is None:
        yield from (_row(step, addresses, 0) for step in steps)
        return
    chains: dict[int, list[KernelStep]] = defaultdict(list)
    for step in steps:
        assert step.repeat is not None
        chains[step.repeat.chain].append(step)
    times = range(steps[0].repeat.times)
    lists = tuple(
        tuple(_row(step, addresses, time) for time in times for step in each)
        for each in chains.values()
    )
    apart = len(lists) >= threads or _shortest_s(steps) < WORTH_WAITING_S
    if threads > 1 and apart:
        yield lists
    else:
        yield from chain(*lists)


def _shortest_s(steps: Sequence[KernelStep]) -> float:
    """Return what the shortest of repeated steps should take, once."""
    times = [step.repeat.times for step in steps if step.repeat]
    return min((step.predicted_s or 0.0) / n for step, n in zip(steps, times, strict=True))


def _row(step: KernelStep, addresses: Mapping[str, int], time: int) -> Row:
    strips = step.repeat.strips if step.repeat else (None,) * len(step.arguments)
    tensors = tuple(
        (name, 0)
        if strip is None
        else (strip.initial if strip.initial and not time else name, strip.begin(time))
        for name, strip in zip(step.arguments, strips, strict=True)
    )
    return Row(addresses[step.kernel], tensors, step.launch["tiles"])
