"""The judge of a benchmark: what a timed process computed, against the baseline as written."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from burnish.bench.measure import ParityMark, Placed
from burnish.bench.rounds import Judge
from burnish.bench.subject import BenchSubject
from burnish.core.arrays import Arrays
from burnish.feeds.feed import Feeds
from burnish.parity.reference import Judged, Reference, run_reference
from burnish.store import history, onnx_files
from burnish.store.history import PRUNED, Step
from burnish.store.stored import StoredModel


def judge_of(subjects: Sequence[BenchSubject], baseline: str, feeds: Feeds) -> Judge:
    """Return a judge that compares with the baseline's model, run with nothing optimised.

    A model that was pruned computes something else on purpose: it is held to what it gives itself
    with nothing optimised, and its distance from the baseline is told.
    """
    models = {subject.label: subject.model for subject in subjects}
    reference = run_reference(models[baseline], feeds)
    others: dict[Path, Reference] = {}

    def judge(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        model = models[label]
        found = reference.judged(model, placement.precision, outputs)
        if _pruned(model) == _pruned(models[baseline]):
            return mark(found)
        if model.onnx not in others:
            others[model.onnx] = run_reference(model, feeds)
        cosine = min((diff.cosine for diff in found.sample.diffs), default=0.0)
        own = mark(others[model.onnx].judged(model, placement.precision, outputs))
        note = f"pruned: cosine {cosine:.4f} to the baseline"
        return dataclasses.replace(own, allowed="itself", note=note) if own.passed else own

    return judge


def _pruned(model: StoredModel) -> tuple[Step, ...]:
    """Return the steps in a model's history that changed what it computes."""
    if not model.onnx.is_file():
        return ()
    found = history.read(onnx_files.read(model.onnx))
    return () if found is None else tuple(step for step in found.steps if step.name == PRUNED)


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
