"""What references gave, kept with a benchmark, so that a gate can tell later whether it changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from burnish.bench.measure import BenchReport, Measurement, ParityMark
from burnish.bench.results import KeptResults, kept, put_into
from burnish.core.arrays import Arrays
from burnish.core.errors import BurnishError
from burnish.core.hashing import arrays_key
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel
from burnish.study.inputs import feeds_of
from burnish.study.judge import draws, mark, reference_of
from burnish.study.measuring import CellPlan


def with_results(report: BenchReport, plans: Sequence[CellPlan]) -> BenchReport:
    """Return a report with what each group's reference gives; notes say of which it is not known.

    Who writes tokens, or draws numbers at random, gives nothing that could be compared later.
    """
    shown = {one.subject for one in report.measurements}
    found, notes = [], []
    for plan in plans:
        subjects = tuple(name for name in plan.subjects if name in shown)
        written = plan.subjects[plan.baseline].model
        if not subjects or plan.group.generate or draws(written):
            continue
        try:
            feeds = feeds_of(plan.group.models[0], plan.group)
            outputs = reference_of(written, feeds).outputs
        except BurnishError as error:
            notes.append(f"{written.label}: what it gives is not kept: {error.problem}")
            continue
        found.append(KeptResults(subjects, arrays_key(feeds.arrays), kept(outputs)))
    return dataclasses.replace(report, results=tuple(found), notes=(*report.notes, *notes))


def since(
    before: BenchReport, then: Measurement, model: StoredModel, feeds: Feeds
) -> ParityMark | str:
    """Return whether a model still means what was kept of a baseline, or why that is not known.

    What was kept is judged as if an engine had given it that was asked to run the model of now.
    """
    one = next((each for each in before.results if then.subject in each.subjects), None)
    if one is None or not one.outputs:
        return "the baseline's model is gone, and nothing of what it gave was kept"
    if one.inputs_key != arrays_key(feeds.arrays):
        return "the baseline's model is gone, and was fed other inputs than are made now"
    reference = reference_of(model, feeds)
    if lost := _not_there(reference.outputs, one):
        return ParityMark(passed=False, max_rel=None, note=f"the baseline gave {lost}")
    outputs = put_into(reference.outputs, one.outputs)
    return mark(reference.judged(model, reference.precision, outputs))


def _not_there(outputs: Arrays, one: KeptResults) -> str:
    """Return which outputs of a baseline are not given any more; empty: all are."""
    return ", ".join(name for name in one.outputs if name not in outputs)
