"""What stays in a memory that is too small for all, and when: the rest waits in a larger one.

Steps run one after the other, and what one touches must be there. What is not needed at once may be
put aside and fetched again. Everything is written once, so that it is put aside once at most. Where
a single step touches more than there is room for, part of it is touched where it lies, aside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burnish.core.seating import seated

AHEAD = 4
"""Steps before its own that something is fetched at most, so that what is urgent comes first."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What one step reads and writes."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return all of it, each once."""
        return tuple(dict.fromkeys((*self.reads, *self.writes)))


@dataclass(frozen=True, slots=True)
class SteppedWork:
    """Steps in order, and the things that they touch."""

    steps: tuple[Touched, ...]
    sizes: Mapping[str, int]
    """Bytes of each thing."""
    given: frozenset[str] = frozenset()
    """What lies aside from the beginning, and stays there: it is never written here."""
    wanted: frozenset[str] = frozenset()
    """What must lie aside in the end."""
    fixed: frozenset[str] = frozenset()
    """What no step can touch where it lies aside."""
    lasting: frozenset[str] = frozenset()
    """What of the given may stay for good, from run to run, if there is room."""

    def without(self, names: frozenset[str]) -> SteppedWork:
        """Return the steps as if they did not touch some things."""
        return replace(
            self,
            steps=tuple(
                Touched(
                    tuple(name for name in step.reads if name not in names),
                    tuple(name for name in step.writes if name not in names),
                )
                for step in self.steps
            ),
        )

    def bytes_of(self, names: Sequence[str]) -> int:
        """Return how large things are together."""
        return sum(self.sizes[name] for name in names)


@dataclass(frozen=True, slots=True)
class Stay:
    """A time during which something lies in the small memory, at one place."""

    name: str
    uses: tuple[int, ...]
    """The steps that touch it there."""
    fetched: bool
    """Whether it comes from aside; otherwise its first step writes it."""
    offset: int = 0
    since: int = 0
    """The step before which fetching may begin: its place is free from then on."""

    @property
    def first(self) -> int:
        """Return the first step that touches it."""
        return self.uses[0]

    @property
    def last(self) -> int:
        """Return the last step that touches it."""
        return self.uses[-1]


@dataclass(frozen=True, slots=True)
class Residency:
    """What is where at every step, and what is moved for it."""

    stays: tuple[Stay, ...]
    """In the order of their first steps."""
    aside: Mapping[int, frozenset[str]]
    """What steps touch where it lies aside, by step."""
    stored: Mapping[str, int]
    """What is put aside, and the step that writes it."""
    bytes: int
    """Of the small memory, without what is kept."""
    fetched_bytes: int
    stored_bytes: int
    """Both with what is touched aside."""
    kept: frozenset[str] = frozenset()
    """What stays for good, and is moved in no run."""

    @property
    def moved_bytes(self) -> int:
        """Return what is moved in both directions."""
        return self.fetched_bytes + self.stored_bytes


class TooSmallError(Exception):
    """What a single step cannot touch elsewhere is more than there is room for."""

    def __init__(self, step: int, needed_bytes: int) -> None:
        super().__init__(f"step {step} needs {needed_bytes:,} bytes for itself")
        self.step = step
        self.needed_bytes = needed_bytes


def residency(work: SteppedWork, limit_bytes: int) -> Residency:
    """Return how steps run in so many bytes, with as little moved as was found.

    `TooSmallError` where they cannot, because one step needs more.
    """
    found = []
    for kept in dict.fromkeys((work.lasting, frozenset[str]())):
        room = limit_bytes - work.bytes_of(tuple(kept))
        try:
            found.append(replace(_without_kept(work.without(kept), room), kept=kept))
        except TooSmallError as error:
            if not kept and not found:
                raise error from None
    return min(found, key=lambda one: one.moved_bytes)


def _without_kept(work: SteppedWork, limit_bytes: int) -> Residency:
    """Return the best of all choices; one that moves more before it has places is not placed."""
    aside = {
        number: left
        for number in range(len(work.steps))
        if (left := frozenset(_left_aside(work, number, limit_bytes)))
    }
    tried = [tuple(_stays(work, limit_bytes, aside, choice)) for choice in _CHOICES]
    drafts = sorted(dict.fromkeys(_moves(work, stays, aside) for stays in tried), key=_Moves.total)
    best: tuple[_Moves, Sequence[int]] | None = None
    for draft in drafts:
        if best is None or draft.total() < best[0].total():
            stays, offsets = _seated(work, draft.stays, limit_bytes)
            found = _moves(work, stays, aside)
            best = (found, offsets) if best is None or found.total() < best[0].total() else best
    assert best is not None
    return _residency(work, *best)


def _left_aside(work: SteppedWork, number: int, limit_bytes: int) -> Iterator[str]:
    """Yield what a step must touch aside: the smallest thing that suffices, else the largest."""
    there = list(work.steps[number].names)
    while (over := work.bytes_of(there) - limit_bytes) > 0:
        loose = sorted((n for n in there if n not in work.fixed), key=lambda n: work.sizes[n])
        if not loose:
            raise TooSmallError(number, work.bytes_of(there))
        chosen = next((name for name in loose if work.sizes[name] >= over), loose[-1])
        there.remove(chosen)
        yield chosen


@dataclass(slots=True)
class _Room:
    """The small memory as steps go by."""

    work: SteppedWork
    uses: Mapping[str, Sequence[int]]
    """The steps that touch each thing, in order."""
    free_bytes: int
    there: dict[str, Stay] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    """What has a copy aside, or will have one anyway."""

    def next_use(self, name: str, step: int) -> int:
        """Return the step after this one that touches something; one after the end if none does."""
        uses = self.uses[name]
        at = bisect_right(uses, step)
        return uses[at] if at < len(uses) else len(self.work.steps)

    def enters(self, name: str, step: int) -> None:
        """Note that something is touched, and takes room from now on if it did not."""
        known = self.there.get(name)
        if known is None:
            self.free_bytes -= self.work.sizes[name]
            fetched = name not in self.work.steps[step].writes
            self.there[name] = Stay(name, (step,), fetched)
        else:
            self.there[name] = replace(known, uses=(*known.uses, step))

    def leaves(self, name: str) -> Stay:
        """Return a stay that ends, whose room is free then."""
        self.free_bytes += self.work.sizes[name]
        return self.there.pop(name)


_Choice = Callable[[_Room, str, int], tuple[float, ...]]
"""How gladly something is put aside at a step."""


def _farthest(room: _Room, name: str, step: int) -> tuple[float, ...]:
    return room.next_use(name, step), room.work.sizes[name]


def _cheapest(room: _Room, name: str, step: int) -> tuple[float, ...]:
    return name in room.copied, *_farthest(room, name, step)


def _weighed(room: _Room, name: str, step: int) -> tuple[float, ...]:
    moves = 1 if name in room.copied else 2
    return (room.next_use(name, step) - step) / moves, room.work.sizes[name]


def _smallest(room: _Room, name: str, step: int) -> tuple[float, ...]:
    return -room.work.sizes[name], room.next_use(name, step)


_CHOICES: tuple[_Choice, ...] = (_farthest, _cheapest, _weighed, _smallest)
"""None is the best for things of different sizes, so all are tried."""


def _stays(
    work: SteppedWork, limit_bytes: int, aside: Mapping[int, frozenset[str]], choice: _Choice
) -> Iterator[Stay]:
    """Yield when each thing is there; places are not looked at."""
    room = _Room(work, _uses(work, aside), limit_bytes, copied={*work.given, *work.wanted})
    for number, step in enumerate(work.steps):
        elsewhere = aside.get(number, frozenset())
        yield from (room.leaves(name) for name in elsewhere if name in room.there)
        room.copied |= elsewhere
        names = [name for name in step.names if name not in elsewhere]
        missing = work.bytes_of([name for name in names if name not in room.there])
        while room.free_bytes < missing:
            others = [name for name in room.there if name not in names]
            victim = max(others, key=lambda name: choice(room, name, number))
            room.copied.add(victim)
            yield room.leaves(victim)
        for name in names:
            room.enters(name, number)
        for name in names:
            if room.next_use(name, number) == len(work.steps):
                yield room.leaves(name)


def _uses(work: SteppedWork, aside: Mapping[int, frozenset[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {name: [] for step in work.steps for name in step.names}
    for number, step in enumerate(work.steps):
        for name in step.names:
            if name not in aside.get(number, ()):
                found[name].append(number)
    return found


@dataclass(frozen=True)
class _Moves:
    """What is moved for stays that may have no places yet."""

    stays: tuple[Stay, ...]
    aside: Mapping[int, frozenset[str]] = field(hash=False, compare=False)
    stored: Mapping[str, int] = field(hash=False, compare=False)
    fetched_bytes: int
    stored_bytes: int

    def total(self) -> int:
        return self.fetched_bytes + self.stored_bytes


def _moves(work: SteppedWork, stays: Sequence[Stay], aside: Mapping[int, frozenset[str]]) -> _Moves:
    written = {name: number for number, step in enumerate(work.steps) for name in step.writes}
    needed = {*work.wanted, *(stay.name for stay in stays if stay.fetched)}
    needed |= {name for names in aside.values() for name in names}
    there = {name for name, at in written.items() if name not in aside.get(at, ())}
    stored = {name: written[name] for name in sorted(needed & there)}
    read = [n for at, names in aside.items() for n in names if n not in work.steps[at].writes]
    made = [n for at, names in aside.items() for n in names if n in work.steps[at].writes]
    return _Moves(
        stays=tuple(sorted(stays, key=lambda stay: (stay.uses, stay.name))),
        aside=aside,
        stored=stored,
        fetched_bytes=work.bytes_of([stay.name for stay in stays if stay.fetched] + read),
        stored_bytes=work.bytes_of([*stored, *made]),
    )


def _residency(work: SteppedWork, moves: _Moves, offsets: Sequence[int]) -> Residency:
    placed = [replace(stay, offset=at) for stay, at in zip(moves.stays, offsets, strict=True)]
    written = {name: number for number, step in enumerate(work.steps) for name in step.writes}
    return Residency(
        stays=tuple(_with_lead(placed, work.sizes, written)),
        aside=moves.aside,
        stored=moves.stored,
        bytes=max((each.offset + work.sizes[each.name] for each in placed), default=0),
        fetched_bytes=moves.fetched_bytes,
        stored_bytes=moves.stored_bytes,
    )


def _seated(
    work: SteppedWork, stays: Sequence[Stay], limit_bytes: int
) -> tuple[Sequence[Stay], Sequence[int]]:
    """Return stays with their places; those that gaps keep from fitting are fetched once more.

    In the end every stay is of one step, and what one step touches fits.
    """
    while True:
        found = seated([(s.first, s.last, work.sizes[s.name]) for s in stays], limit_bytes)
        if found.homeless is None:
            return stays, found.offsets
        stays = _with_one_split(work, stays, stays[found.homeless])


def _with_one_split(work: SteppedWork, stays: Sequence[Stay], homeless: Stay) -> Sequence[Stay]:
    """Return stays of which one is two: the one without a place, or the smallest in its way."""
    in_the_way = [s for s in stays if s.first <= homeless.last and homeless.first <= s.last]
    longer = [stay for stay in in_the_way if len(stay.uses) > 1]
    chosen = min(longer, key=lambda stay: (stay is not homeless, work.sizes[stay.name]))
    gaps = [b - a for a, b in zip(chosen.uses, chosen.uses[1:], strict=False)]
    at = gaps.index(max(gaps)) + 1
    parts = (
        replace(chosen, uses=chosen.uses[:at]),
        replace(chosen, uses=chosen.uses[at:], fetched=True),
    )
    others = [stay for stay in stays if stay is not chosen]
    return sorted([*others, *parts], key=lambda stay: (stay.uses, stay.name))


def _with_lead(
    stays: Sequence[Stay], sizes: Mapping[str, int], written: Mapping[str, int]
) -> Iterator[Stay]:
    """Yield stays that know how early their place is free, and that what comes there is aside."""
    for stay in stays:
        before = (each for each in stays if each.last < stay.first and _meet(each, stay, sizes))
        free = max((each.last + 1 for each in before), default=0)
        aside = written.get(stay.name, -1) + 1
        since = max(free, aside, stay.first - AHEAD)
        yield replace(stay, since=since if stay.fetched else stay.first)


def _meet(one: Stay, other: Stay, sizes: Mapping[str, int]) -> bool:
    """Say whether two places have memory in common."""
    ends = one.offset + sizes[one.name], other.offset + sizes[other.name]
    return max(one.offset, other.offset) < min(ends)
