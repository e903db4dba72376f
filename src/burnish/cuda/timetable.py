"""What is put into three streams, and what waits for what, so that steps run in little memory.

Kernels run in one stream, copies to the card in a second, copies from it in a third. Each step and
each copy has an event, by its number, that is reached when it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from burnish.core.residency import Residency, Stay, SteppedWork


@dataclass(frozen=True, slots=True)
class Moved:
    """A copy between the host and a place on the card."""

    name: str
    offset: int
    event: int
    after: tuple[int, ...]
    """The events that it waits for."""


@dataclass(frozen=True, slots=True)
class TimedStep:
    """A step, the copies that are put in line before it, and those behind it."""

    fetched: tuple[Moved, ...]
    places: Mapping[str, int]
    """Where on the card those of the things that it touches are that lie there for a while."""
    event: int
    after: tuple[int, ...]
    """The events of copies that it waits for."""
    stored: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class Timetable:
    """All steps in order."""

    steps: tuple[TimedStep, ...]
    events: int
    """How many there are."""


def timetable(work: SteppedWork, found: Residency) -> Timetable:
    """Return in which order steps and copies are put in line, and what they wait for.

    What waits stands behind what it waits for: an event that was never put in line is taken for
    reached.
    """
    return _Draft(work, found).timetable()


class _Draft:
    """A timetable in the making; steps wait for each other by standing in one stream."""

    def __init__(self, work: SteppedWork, found: Residency) -> None:
        self._work = work
        self._found = found
        self._numbers = count()
        self._steps = [next(self._numbers) for _ in work.steps]
        self._fetches = {stay: next(self._numbers) for stay in found.stays if stay.fetched}
        self._stores = {name: next(self._numbers) for name in found.stored}

    def timetable(self) -> Timetable:
        steps = tuple(self._step(number) for number in range(len(self._steps)))
        return Timetable(steps, next(self._numbers))

    def _step(self, number: int) -> TimedStep:
        touching = [stay for stay in self._found.stays if number in stay.uses]
        places = {stay.name: stay.offset for stay in touching}
        waits = [*self._before(number, touching), *self._of_aside(number)]
        return TimedStep(
            fetched=tuple(self._fetch(s) for s in self._fetches if s.since == number),
            places=places,
            event=self._steps[number],
            after=tuple(dict.fromkeys(waits)),
            stored=tuple(
                Moved(name, places[name], self._stores[name], (self._steps[number],))
                for name, at in self._found.stored.items()
                if at == number
            ),
        )

    def _fetch(self, stay: Stay) -> Moved:
        """Return a copy that begins when its place is free, and what it copies is on the host."""
        free = [self._steps[stay.since - 1]] if stay.since else []
        stored = [self._stores[stay.name]] if stay.name in self._stores else []
        waits = (*free, *self._being_stored(stay), *stored)
        return Moved(stay.name, stay.offset, self._fetches[stay], tuple(dict.fromkeys(waits)))

    def _before(self, number: int, touching: list[Stay]) -> Iterator[int]:
        """Yield the copies that must be over: to what a step reads, from where it writes."""
        for stay in touching:
            if stay.first == number:
                if stay.fetched:
                    yield self._fetches[stay]
                else:
                    yield from self._being_stored(stay)

    def _of_aside(self, number: int) -> Iterator[int]:
        """Yield the copies of what a step reads where it was put aside."""
        names = self._found.aside.get(number, ())
        return (self._stores[name] for name in names if name in self._stores)

    def _being_stored(self, stay: Stay) -> Iterator[int]:
        """Yield copies from where this comes to lie."""
        end = stay.offset + self._work.sizes[stay.name]
        for each in self._found.stays:
            meets = each.offset < end and stay.offset < each.offset + self._work.sizes[each.name]
            if meets and each.last < stay.first and not each.fetched and each.name in self._stores:
                yield self._stores[each.name]
