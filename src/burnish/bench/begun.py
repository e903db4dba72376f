"""Groups that were ended before their last round: what was finished of them is gone on with.

A group of subjects takes turns in rounds, and its cells are finished all at once, behind the last.
Until then each finished round is kept by itself (`apart`), so that whoever is killed loses the
round that was running and no other. Rounds that are put together again (`joined`) are what one
undisturbed run would have: in a round all subjects took turns within the same minutes, however long
ago, so what is paired stays paired, and each round has fresh processes in any case.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from burnish.bench.cells import Finished
from burnish.bench.figures import figures_of
from burnish.bench.measure import BenchReport, Measurement, ParityMark
from burnish.bench.sound import finding
from burnish.bench.tally import SubjectTally
from burnish.core import units


@dataclass(frozen=True, slots=True)
class BegunGroup:
    """What was finished of a group that is not."""

    session: str
    rounds: int
    """How many were begun and ended; the next has this number."""
    cells: Mapping[str, Finished]
    """By the key of the task, with the samples of all these rounds."""


@dataclass(frozen=True, slots=True)
class EarlierRounds:
    """Finished rounds of a benchmark that was ended, by subject."""

    rounds: int = 0
    cells: Mapping[str, Finished] = field(default_factory=dict)
    members: int = 0
    """How many took turns; not all of them need be here."""

    @property
    def tallies(self) -> dict[str, SubjectTally]:
        """Return where each subject stood behind the last of them."""
        return {name: tally_of(one.measurement, one.parity) for name, one in self.cells.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the reasons to doubt them."""
        every = (text for one in self.cells.values() for text in one.machine.warnings)
        return tuple(dict.fromkeys(every))

    @property
    def note(self) -> str:
        """Return what a reader of the whole must know; empty: there are none."""
        if not self.rounds:
            return ""
        last = max(one.measured_at for one in self.cells.values())
        some = units.count(self.rounds, "round")
        first, *others = self.cells
        told = f" and {units.count(len(others), 'other subject')}" if others else ""
        return f"{first}{told}: went on behind {some} of a benchmark that was ended ({last})"


class Journal(Protocol):
    """Where the finished rounds of one benchmark are kept."""

    def earlier(self) -> EarlierRounds:
        """Return the rounds of it that are there."""

    def keep(self, number: int, report: BenchReport) -> None:
        """Keep a further one: a report with the samples of this round alone; never raises."""


def apart(one: Measurement, number: int) -> Measurement:
    """Return what one round gave of a measurement."""
    return replace(
        one,
        launches=tuple(launch for launch in one.launches if launch.round == number),
        blocks=tuple(block for block in one.blocks if block.round == number),
    )


def joined(parts: Iterable[Finished]) -> dict[str, Finished]:
    """Return whole cells by the key of their task; `parts`: of each round, the first round first.

    Raises `ValueError` where nobody can have measured what comes of it.
    """
    rounds: dict[str, list[Finished]] = {}
    for one in parts:
        rounds.setdefault(one.task.key, []).append(one)
    return {key: _whole(some) for key, some in rounds.items()}


def _whole(parts: Sequence[Finished]) -> Finished:
    measured = replace(
        parts[-1].measurement,
        launches=tuple(launch for one in parts for launch in one.measurement.launches),
        blocks=tuple(block for one in parts for block in one.measurement.blocks),
    )
    if (found := finding(measured)) is not None:
        raise ValueError(f"it {found}")
    return replace(parts[-1], measurement=measured, figures=figures_of(measured))


def tally_of(one: Measurement, parity: ParityMark | None) -> SubjectTally:
    """Return a tally that goes on from a measurement; what its last round took is made out."""
    last = [block for block in one.blocks if block.round == max(one.rounds, default=0)]
    opened_s = sum(each.load_s + each.first_call_s + each.warmup_s for each in one.launches[-1:])
    return SubjectTally(
        launches=list(one.launches),
        blocks=list(one.blocks),
        placement=one.placement,
        parity=parity,
        failure=one.failure,
        status="ok" if one.status == "wrong" else one.status,
        call_s=statistics.median(block.median_s for block in last) if last else 0.0,
        round_s=opened_s + math.fsum(sample for block in last for sample in block.samples_s),
    )
