"""Compare what was measured at different times: stored samples, of this machine only.

The two did not take turns, so nothing of what a machine does is common to both: the error of
either counts, by Welch's t. What changed on the machine from one time to the other (its
temperature, its neighbours, a library) is in the difference and in no interval; who needs to know
measures side by side.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.bench.compare import ERROR_RATE, judged, levels_of
from burnish.bench.evidence import FEWEST_ROUNDS, Evidence, Sure
from burnish.bench.fingerprint import machine_key
from burnish.bench.measure import BenchReport, Comparison, MachineState, Measurement
from burnish.bench.stats import round_levels
from burnish.core.errors import UsageError


def compare_across(
    baseline: Measurement, candidate: Measurement, rate: float = ERROR_RATE
) -> Comparison:
    """Return how two measurements of different sessions compare; `rate`: of false verdicts."""
    return judged(baseline, candidate, _evidence(baseline, candidate), rate)


def compare_each(several: Sequence[tuple[Measurement, Measurement]]) -> tuple[Comparison, ...]:
    """Return how several pairs compare, which together claim no more than a single one may."""
    found = {str(number): _evidence(*pair) for number, pair in enumerate(several)}
    levels = levels_of(found)
    return tuple(
        judged(*pair, found[str(number)], levels[str(number)])
        for number, pair in enumerate(several)
    )


def pairs(before: BenchReport, after: BenchReport) -> Iterator[tuple[Measurement, Measurement]]:
    """Yield what is to be compared: the same subject, else the same engine and sizes, else all.

    "All" is one measurement on either side, whatever they are called.
    """
    if len(before.measurements) == len(after.measurements) == 1:
        yield before.measurements[0], after.measurements[0]
        return
    by_name = {one.subject: one for one in before.measurements}
    by_work = {_work(one): one for one in before.measurements}
    alone = len(by_work) == len(by_name)
    for one in after.measurements:
        partner = by_name.get(one.subject) or (by_work.get(_work(one)) if alone else None)
        if partner is not None:
            yield partner, one


def require_same_machine(before: MachineState, after: MachineState, remedy: str) -> None:
    """Raise if two machines are unlike: their figures say nothing of each other."""
    if machine_key(before) != machine_key(after):
        raise UsageError(
            f"measured on unlike machines: {_machine(before)}; and {_machine(after)}", hint=remedy
        )


def changes(before: MachineState, after: MachineState) -> tuple[str, ...]:
    """Return what differs between two times on one machine, and may be what made the difference."""
    found = [
        f"{name}: {_old(before.versions, name)} before, {_old(after.versions, name)} after"
        for name in sorted({*before.versions, *after.versions})
        if before.versions.get(name) != after.versions.get(name)
    ]
    found += [
        f"{name}={_old(before.environment, name)} before, {_old(after.environment, name)} after"
        for name in sorted({*before.environment, *after.environment})
        if before.environment.get(name) != after.environment.get(name)
    ]
    if before.python != after.python:
        found.append(f"Python: {before.python} before, {after.python} after")
    return tuple(found)


def _evidence(baseline: Measurement, candidate: Measurement) -> Evidence:
    theirs = list(round_levels(baseline.blocks).values())
    ours = list(round_levels(candidate.blocks).values())
    if not theirs or not ours:
        return Evidence(())
    middle = statistics.fmean(theirs)
    logs = tuple(middle - level for level in ours)
    if min(len(theirs), len(ours)) < FEWEST_ROUNDS:
        return Evidence(logs[: len(theirs)], statistics.fmean(logs))
    spreads = _spreads(theirs, ours)
    parts = [
        one.variance / len(levels) for one, levels in zip(spreads, (theirs, ours), strict=True)
    ]
    shares = sum(part**2 / one.degrees for part, one in zip(parts, spreads, strict=True))
    # Welch's degrees of freedom, rounded down: a fraction less is on the safe side
    degrees = int(sum(parts) ** 2 / shares) if shares else min(len(theirs), len(ours)) - 1
    return Evidence(logs, statistics.fmean(logs), (Sure(math.sqrt(sum(parts)), max(1, degrees)),))


@dataclass(frozen=True, slots=True)
class _Spread:
    """How far processes differ, and of how many that is known."""

    variance: float
    degrees: int


def _spreads(theirs: Sequence[float], ours: Sequence[float]) -> tuple[_Spread, _Spread]:
    """Return how far the processes of either side differ.

    Processes often come in two kinds, and three of them may all be of one: so whoever has fewer
    is taken to differ as much as the other side's do, where that is more.
    """
    found = [_Spread(statistics.variance(levels), len(levels) - 1) for levels in (theirs, ours)]
    fewer, more = sorted(found, key=lambda one: one.degrees)
    borrowed = fewer.degrees < more.degrees and fewer.variance < more.variance
    first, second = (more if borrowed and one is fewer else one for one in found)
    return first, second


def _work(one: Measurement) -> tuple[object, ...]:
    return (one.engine, tuple(sorted(one.bindings.items())), one.options.get("precision"))


def _machine(state: MachineState) -> str:
    gpus = [gpu.name for gpu in state.before.gpus]
    return ", ".join((state.cpu, f"{state.usable_cores} cores", *gpus))


def _old(values: Mapping[str, str], name: str) -> str:
    return values.get(name, "none")
