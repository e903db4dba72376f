"""The judge of a benchmark: what a timed process computed, against the baseline as written."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.bench.measure import ParityMark, Placed
from burnish.bench.rounds import Judge
from burnish.bench.subject import BenchSubject
from burnish.core.arrays import Arrays
from burnish.feeds.feed import Feeds
from burnish.parity.reference import Judged, run_reference


def judge_of(subjects: Sequence[BenchSubject], baseline: str, feeds: Feeds) -> Judge:
    """Return a judge that compares with the baseline's model, run with nothing optimised."""
    models = {subject.label: subject.model for subject in subjects}
    reference = run_reference(models[baseline], feeds)

    def judge(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        return mark(reference.judged(models[label], placement.precision, outputs))

    return judge


def mark(judged: Judged) -> ParityMark:
    """Return what a row says about a comparison."""
    sample = judged.sample
    wrong = [f"{diff.name}: {diff.reason}" for diff in sample.diffs if not diff.passed]
    return ParityMark(
        passed=sample.passed,
        max_rel=max((diff.max_rel for diff in sample.diffs), default=None),
        note=sample.problem or "; ".join(wrong),
        allowed=judged.allowed,
    )
