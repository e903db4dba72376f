"""Three streams that wait for each other as told, in any order that this allows."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.residency import Residency, SteppedWork, TooSmallError, Touched, residency
from burnish.cuda.timetable import Moved, Timetable, timetable
from residencies import limits, works

LINE = 64

Order = Callable[[list[Callable[[Any], None]]], Callable[[Any], None]]
"""Says which of the streams that can go on does: kernels', copies there, copies back."""
ORDERS: dict[str, Order] = {
    "kernels first": lambda ready: ready[0],
    "last": lambda ready: ready[-1],
}


@dataclass
class Card:
    """Memory whose lines are labelled with what they hold, and three queues of work."""

    work: SteppedWork
    found: Residency
    table: Timetable
    lines: dict[int, str] = field(default_factory=dict)
    host: set[str] = field(default_factory=set)
    reached: set[int] = field(default_factory=set)

    def run(self, choose: Order) -> None:
        self.host |= self.work.given
        kernels: deque[int] = deque(range(len(self.table.steps)))
        there = deque(each for step in self.table.steps for each in step.fetched)
        back = deque(each for step in self.table.steps for each in step.stored)
        while kernels or there or back:
            ready: dict[Callable[[Any], None], deque[Any]] = {}
            if kernels and self._may(self.table.steps[kernels[0]].after):
                ready[self._step] = kernels
            if there and self._may(there[0].after):
                ready[self._fetch] = there
            if back and self._may(back[0].after):
                ready[self._store] = back
            assert ready, "everything waits"
            act = choose(list(ready))
            act(ready[act].popleft())

    def _may(self, events: tuple[int, ...]) -> bool:
        return self.reached.issuperset(events)

    def _places(self, name: str, offset: int) -> range:
        return range(offset, offset + self.work.sizes[name], LINE)

    def _step(self, number: int) -> None:
        timed = self.table.steps[number]
        step = self.work.steps[number]
        for name in step.reads:
            if name in timed.places:
                held = {self.lines.get(at) for at in self._places(name, timed.places[name])}
                assert held <= {name}, f"step {number} reads {held} for {name}"
            elif name not in self.found.kept:
                assert name in self.host, f"step {number} reads {name}, which is not aside"
        for name in step.writes:
            if name in timed.places:
                self.lines |= dict.fromkeys(self._places(name, timed.places[name]), name)
            else:
                self.host.add(name)
        self.reached.add(timed.event)

    def _fetch(self, move: Moved) -> None:
        assert move.name in self.host, f"{move.name} is fetched, and not aside"
        self.lines |= dict.fromkeys(self._places(move.name, move.offset), move.name)
        self.reached.add(move.event)

    def _store(self, move: Moved) -> None:
        held = {self.lines.get(at) for at in self._places(move.name, move.offset)}
        assert held <= {move.name}, f"{held} is stored for {move.name}"
        self.host.add(move.name)
        self.reached.add(move.event)


@given(works(), limits, st.randoms(use_true_random=False))
def test_every_order_that_the_events_allow_computes_the_same(
    work: SteppedWork, limit: int, order: random.Random
) -> None:
    try:
        found = residency(work, limit)
    except TooSmallError:
        return
    for choose in (order.choice, *ORDERS.values()):
        card = Card(work, found, timetable(work, found))
        card.run(choose)
        assert card.host >= work.wanted


BACK_AND_FORTH = SteppedWork(
    steps=(
        Touched(("x",), ("a",)),
        Touched(("x",), ("b",)),
        Touched(("b",), ("c",)),
        Touched(("a", "c"), ("y",)),
    ),
    sizes={"x": LINE, "a": LINE, "b": LINE, "c": LINE, "y": LINE},
    given=frozenset("x"),
    wanted=frozenset("y"),
)


@pytest.mark.parametrize("choose", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("lines", [1, 2, 3])
def test_what_was_put_aside_has_arrived_there_before_it_is_used(lines: int, choose: Order) -> None:
    found = residency(BACK_AND_FORTH, lines * LINE)
    used = {name for names in found.aside.values() for name in names}
    used |= {stay.name for stay in found.stays if stay.fetched}
    assert used & {"a", "b", "c"} or lines == 3
    Card(BACK_AND_FORTH, found, timetable(BACK_AND_FORTH, found)).run(choose)


@given(works(), limits)
def test_what_waits_stands_behind_what_it_waits_for(work: SteppedWork, limit: int) -> None:
    try:
        found = residency(work, limit)
    except TooSmallError:
        return
    table = timetable(work, found)
    put: set[int] = set()
    for step in table.steps:
        for events, own in [*((m.after, m.event) for m in step.fetched), (step.after, step.event)]:
            assert put.issuperset(events)
            put.add(own)
        for move in step.stored:
            assert put.issuperset(move.after)
            put.add(move.event)
    assert len(put) == table.events
