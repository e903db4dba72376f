"""What references gave, kept with a benchmark, so that a gate can tell later whether it changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from burnish.bench.measure import BenchReport, Measurement, ParityMark
from burnish.bench.results import KeptArray, KeptResults, elements, kept, put_into
from burnish.core import units
from burnish.core.arrays import Arrays
from burnish.core.errors import BurnishError
from burnish.core.hashing import arrays_key
from burnish.feeds.feed import Feeds
from burnish.parity.compare import compare_tensor
from burnish.parity.tolerances import Tolerances
from burnish.store.stored import StoredModel
from burnish.study.inputs import feeds_of
from burnish.study.judge import draws, mark, reference_of
from burnish.study.measuring import CellPlan
from burnish.study.requests.line import joined


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
    one = _kept_of(before, then)
    if one is None or not one.outputs:
        return "the baseline's model is gone, and nothing of what it gave was kept"
    if one.inputs_key != arrays_key(feeds.arrays):
        return "the baseline's model is gone, and was fed other inputs than are made now"
    reference = reference_of(model, feeds)
    if lost := _not_there(reference.outputs, one):
        return ParityMark(passed=False, max_rel=None, note=f"the baseline gave {lost}")
    outputs = put_into(reference.outputs, one.outputs)
    return mark(reference.judged(model, reference.precision, outputs))


def apart(
    before: BenchReport, after: BenchReport, then: Measurement, now: Measurement
) -> Iterator[str]:
    """Yield what two measurements gave that is not the same, or that their files do not tell.

    Each was held to itself when it was measured: how fast one is says nothing of the other then.
    """
    asked = _question(then, now)
    one, other = _kept_of(before, then), _kept_of(after, now)
    if one is None or other is None or one.inputs_key != other.inputs_key:
        if then.model_key != now.model_key:
            yield (
                f"{now.subject}: the model is another one than before, and these files do not tell"
                f" whether it computes the same; {asked}"
            )
        return
    for name, found in one.outputs.items():
        if said := _other(found, other.outputs.get(name)):
            yield f"{now.subject} gave other results than before: {name} {said}; {asked}"


def _question(then: Measurement, now: Measurement) -> str:
    if then.file == now.file and then.model_key != now.model_key:
        return "keep a copy of a file before it is changed, and ask burnish verify"
    return f"ask {joined('verify', *dict.fromkeys((then.file, now.file)))}"


def _other(found: KeptArray, now: KeptArray | None) -> str:
    """Return how far an output is from what it was; empty: it is the same."""
    if now is None:
        return "is not given any more"
    if now.shape != found.shape or now.dtype != found.dtype:
        return f"was {found.dtype} {found.shape} and is {now.dtype} {now.shape}"
    diff = compare_tensor("", elements(found), elements(now), Tolerances())
    return "" if diff.passed else f"is off by {units.error(diff.max_abs)} at most"


def _kept_of(report: BenchReport, row: Measurement) -> KeptResults | None:
    return next((each for each in report.results if row.subject in each.subjects), None)


def _not_there(outputs: Arrays, one: KeptResults) -> str:
    """Return which outputs of a baseline are not given any more; empty: all are."""
    return ", ".join(name for name in one.outputs if name not in outputs)
