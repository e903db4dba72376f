"""Which subjects of a benchmark need more rounds, and when a round itself has said enough."""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable, Mapping, Sequence

from burnish.bench.compare import ERROR_RATE, compare, rounds_missing
from burnish.bench.evidence import FEWEST_ROUNDS, rounds_until
from burnish.bench.measure import Measurement, TimedBlock
from burnish.bench.stats import round_levels
from burnish.bench.tally import SubjectTally

Missing = Callable[[Mapping[str, SubjectTally]], Mapping[str, int]]
"""Says how many more rounds each subject needs; who is left out needs none."""


def until_visible(baseline: str, visible: float) -> Missing:
    """Return what tells how many more rounds each subject needs to show a difference so large.

    The baseline goes on with whoever does. Alone, it goes on until its own time is as certain.
    """

    def missing(tallies: Mapping[str, SubjectTally]) -> dict[str, int]:
        others = [_so_far(name, tally) for name, tally in tallies.items() if name != baseline]
        first = _so_far(baseline, tallies[baseline])
        if not others:
            return {baseline: _alone(first, visible)}
        if first.failure is not None:
            return {}
        sound = [one for one in others if one.failure is None]
        found = compare(first, sound)
        needed = {one.candidate: rounds_missing(one, visible) for one in found}
        return {baseline: max(needed.values(), default=0), **needed}

    return missing


FEWEST_BLOCKS = 8
"""The spread of fewer says too little about their mean."""
_FINER = 10
"""A round's own error is this many times smaller than what should be visible: then next to all of
the spread over rounds is the luck of processes, which more blocks of the same ones do not show."""


def said_enough(levels: Mapping[str, Sequence[float]], baseline: str, visible: float) -> bool:
    """Return whether more blocks of one round would hardly change what it says.

    `levels`: the logarithm of each block of each subject, in the order of the cycles, so that
    those of one cycle are neighbours in time. Only how far they spread is looked at, never which
    subject is ahead.
    """
    theirs = levels.get(baseline, ())
    others = [ours for name, ours in levels.items() if name != baseline]
    # of a baseline that is gone, or alone, there is nothing to subtract
    apart = [list(map(operator.sub, theirs, ours)) for ours in others] if theirs else others
    return all(_error(one) <= visible / _FINER for one in apart or [theirs])


def _error(levels: Sequence[float]) -> float:
    if len(levels) < FEWEST_BLOCKS:
        return math.inf
    return statistics.stdev(levels) / math.sqrt(len(levels))


def block_levels(blocks: Sequence[TimedBlock], number: int) -> list[float]:
    """Return the logarithms of a subject's blocks in one round."""
    return [math.log(block.median_s) for block in blocks if block.round == number]


def _alone(measured: Measurement, visible: float) -> int:
    levels = list(round_levels(measured.blocks).values())
    if len(levels) < FEWEST_ROUNDS:
        return FEWEST_ROUNDS - len(levels)
    return rounds_until(levels, visible, ERROR_RATE)


def _so_far(subject: str, tally: SubjectTally) -> Measurement:
    return Measurement(
        subject=subject,
        model_key="",
        engine="",
        options={},
        bindings={},
        launches=(),
        blocks=tuple(tally.blocks),
        placement=None,
        failure=tally.failure,
    )
