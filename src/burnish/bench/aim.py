"""Which subjects of a benchmark need more rounds, for their intervals are the widest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from burnish.bench.compare import FEWEST_ROUNDS, compare, rounds_missing, rounds_until
from burnish.bench.measure import Measurement
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
        found = compare(first, [one for one in others if one.failure is None])
        needed = {one.candidate: rounds_missing(one, visible) for one in found}
        return {baseline: max(needed.values(), default=0), **needed}

    return missing


def _alone(measured: Measurement, visible: float) -> int:
    levels = list(round_levels(measured.blocks).values())
    if len(levels) < FEWEST_ROUNDS:
        return FEWEST_ROUNDS - len(levels)
    return rounds_until(levels, visible)


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
