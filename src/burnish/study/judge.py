"""The judge of a benchmark: what a timed process computed, against the baseline as written."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.bench.measure import ParityMark, Placed
from burnish.bench.rounds import Judge
from burnish.bench.subject import BenchSubject
from burnish.core.arrays import Arrays
from burnish.core.hashing import arrays_key
from burnish.feeds.feed import Feeds
from burnish.parity.reference import Judged, Reference, run_reference
from burnish.store import onnx_files
from burnish.store.stored import StoredModel

_LAST: dict[tuple[str, str], Reference] = {}


def judge_of(subjects: Sequence[BenchSubject], written: StoredModel, feeds: Feeds) -> Judge:
    """Return a judge that compares with a model as it is written, run with nothing optimised."""
    models = {subject.label: subject.model for subject in subjects}
    reference = _reference(written, feeds)

    def judge(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        return mark(reference.judged(models[label], placement.precision, outputs))

    return judge


def _reference(written: StoredModel, feeds: Feeds) -> Reference:
    """Return a model's reference; the last one is kept, for engines and types share it."""
    key = (onnx_files.content_key(written.onnx), arrays_key(feeds.arrays))
    if key not in _LAST:
        found = run_reference(written, feeds)
        _LAST.clear()
        _LAST[key] = found
    return _LAST[key]


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
