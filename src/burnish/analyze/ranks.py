"""What the ranks of a distributed run spend on each other, from their own timelines.

Clocks of different machines do not agree, and need not: a collective ends for all of its ranks
when the last one has come. So whoever came last took the shortest in it, and what others took
longer they waited for that one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.analyze.kernel_names import family
from burnish.core import units
from burnish.trace.events import DEVICE, Span, Trace
from burnish.trace.own_time import busy_seconds

_COMMUNICATION = "communication"


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank's inference: the mean of all that were recorded."""

    label: str
    wall_s: float
    compute_s: float
    """During which something else than communication was at work."""
    communication_s: float
    exposed_s: float
    """The part of it during which nothing else was at work."""
    waiting_s: float
    """The part of it that is waiting for ranks that came later."""
    collectives: float
    """How many in an inference."""

    @property
    def overlap(self) -> float:
        """Return the part of the communication that computation hides."""
        hidden_s = self.communication_s - self.exposed_s
        return hidden_s / self.communication_s if self.communication_s else 0.0


@dataclass(frozen=True, slots=True)
class Ranks:
    """All ranks of one run."""

    ranks: tuple[Rank, ...]
    notes: tuple[str, ...] = ()

    @property
    def slowest(self) -> Rank:
        """Return the rank for which the others wait: it waits least itself."""
        return min(self.ranks, key=lambda rank: (rank.waiting_s, -rank.compute_s))


def ranks(traces: Mapping[str, Trace]) -> Ranks:
    """Return what each rank spent on computation, on communication and on waiting for others."""
    collectives = {label: _collectives(trace) for label, trace in traces.items()}
    waits, notes = _waiting(collectives)
    found = [_rank(label, trace, waits[label]) for label, trace in traces.items()]
    return Ranks(tuple(found), notes)


def _collectives(trace: Trace) -> tuple[Span, ...]:
    found = [span for span in trace.spans if _is_communication(span) and span.run >= 0]
    return tuple(sorted(found, key=lambda span: (span.run, span.start_s)))


def _is_communication(span: Span) -> bool:
    return span.category == "kernel" and family(span.name) == _COMMUNICATION


def _waiting(
    collectives: Mapping[str, Sequence[Span]],
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return how long each rank waited in all collectives that every rank has."""
    by_key: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for label, spans in collectives.items():
        seen: dict[tuple[str, int], int] = defaultdict(int)
        for span in spans:
            kind = (span.name, span.run)
            by_key[(*kind, seen[kind])][label] = span.duration_s
            seen[kind] += 1
    waits = dict.fromkeys(collectives, 0.0)
    alone = 0
    for durations in by_key.values():
        if len(durations) < len(collectives):
            alone += 1
            continue
        shortest_s = min(durations.values())
        for label, duration_s in durations.items():
            waits[label] += duration_s - shortest_s
    if not alone:
        return waits, ()
    of = f"{alone:,} of {units.count(len(by_key), 'collective')}"
    return waits, (f"{of} are not in the timelines of all ranks, and say nothing about waiting",)


def _rank(label: str, trace: Trace, waiting_s: float) -> Rank:
    work = [span for span in trace.spans if span.category in DEVICE and span.run >= 0]
    communication = [span for span in work if _is_communication(span)]
    rest = [span for span in work if not _is_communication(span)]
    runs = max(1, trace.runs)
    compute_s = sum(_busy_by_run(rest).values()) / runs
    both_s = sum(_busy_by_run(work).values()) / runs
    walls = [span.duration_s for span in trace.spans if span.category == "run" and span.run >= 0]
    return Rank(
        label=label,
        wall_s=sum(walls) / runs,
        compute_s=compute_s,
        communication_s=sum(_busy_by_run(communication).values()) / runs,
        exposed_s=max(0.0, both_s - compute_s),
        waiting_s=waiting_s / runs,
        collectives=len(communication) / runs,
    )


def _busy_by_run(spans: Sequence[Span]) -> dict[int, float]:
    by_run: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        by_run[span.run].append(span)
    return {run: busy_seconds(members) for run, members in by_run.items()}
