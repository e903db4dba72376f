"""The judge of a benchmark: what a timed process computed, against the baseline as written."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from functools import partial

from burnish.bench.measure import ParityMark, Placed
from burnish.bench.rounds import Judge
from burnish.bench.subject import BenchSubject
from burnish.core.arrays import Arrays
from burnish.core.hashing import arrays_key
from burnish.feeds.feed import Feeds
from burnish.meaning.node import RANDOM
from burnish.parity.reference import Judged, Reference, run_reference
from burnish.store import history, onnx_files
from burnish.store.history import PRUNED, HistoryStep
from burnish.store.stored import StoredModel
from burnish.study.rounding_drift import rounded_run

DRAWN = "draws numbers at random: that they are alike proves little"
_KEPT: dict[tuple[str, str], Reference] = {}


def judge_of(subjects: Sequence[BenchSubject], written: StoredModel, feeds: Feeds) -> Judge:
    """Return a judge that compares with a model as it is written, run with nothing optimised.

    A model that was pruned computes something else on purpose: it is held to what it gives itself
    with nothing optimised, and its distance from the first is told. Of one that draws numbers at
    random each process has others: the first is looked at, and the row says what that is worth.
    """
    models = {subject.label: subject.model for subject in subjects}
    reference = reference_of(written, feeds)
    drawn: dict[str, ParityMark] = {}

    def judge(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        if label not in drawn:
            found = compared(label, placement, outputs)
            if not draws(models[label]):
                return found
            drawn[label] = dataclasses.replace(found, note=_joined(found.note, DRAWN))
        return drawn[label]

    def compared(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        model = models[label]
        found = reference.judged(model, placement.precision, outputs)
        if _pruned(model) == _pruned(written):
            return mark(found)
        cosine = min((diff.cosine for diff in found.sample.diffs), default=0.0)
        own = mark(reference_of(model, feeds).judged(model, placement.precision, outputs))
        note = _joined(f"pruned: cosine {cosine:.4f} to the first", own.note)
        return dataclasses.replace(own, allowed="itself", note=note) if own.passed else own

    return judge


def reference_of(written: StoredModel, feeds: Feeds) -> Reference:
    """Return a model's reference, which engines and types share; those of other inputs are let go.

    Inputs may be large, and are measured one after the other.
    """
    fed = arrays_key(feeds.arrays)
    for other in [key for key in _KEPT if key[1] != fed]:
        del _KEPT[other]
    key = (onnx_files.content_key(written.onnx), fed)
    if key not in _KEPT:
        _KEPT[key] = run_reference(written, feeds, alike=partial(rounded_run, written))
    return _KEPT[key]


def draws(model: StoredModel) -> bool:
    """Return whether a model draws numbers at random."""
    if not model.onnx.is_file():
        return False
    found = onnx_files.read(model.onnx)
    nodes = itertools.chain(
        found.graph.all_nodes(), *(one.all_nodes() for one in found.functions.values())
    )
    return any(node.op_type in RANDOM for node in nodes)


def _pruned(model: StoredModel) -> tuple[HistoryStep, ...]:
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
        note=_joined(sample.problem, *wrong, *judged.doubts),
        allowed=judged.allowed,
    )


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
