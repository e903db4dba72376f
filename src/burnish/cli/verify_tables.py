"""What `burnish verify` shows to people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from burnish.cli.output import Table
from burnish.core import units
from burnish.parity.report import Bisection, Culprit, Sample, TensorDiff, VerifyReport
from burnish.parity.verdict import reference_of, verdict

_ROWS = 24
"""More rows than these are cut to the worst of each sample, and counted."""
_NAMES = 8


def tables(report: VerifyReport) -> Iterator[Table | str]:
    """Yield the tensors, what must be known of them, the verdict and where the runs part."""
    samples = report.all_samples
    rows = [(sample, diff) for sample in samples for diff in sample.diffs]
    kept = rows if len(rows) <= _ROWS else _worst_of_each(samples)
    if kept:
        columns = (
            "sample", "tensor", "max abs", "max rel", "cosine", "top-1", "meaning", "verdict"
        )  # fmt: skip
        yield Table(
            f"{report.candidate} on {report.candidate_engine}, against {reference_of(report)}",
            columns,
            [_row(sample, diff) for sample, diff in kept],
            right=frozenset(columns[2:7]),
        )
    if len(kept) < len(rows):
        yield f"and {units.count(len(rows) - len(kept), 'better tensor')}; --json has them all"
    yield from (f"note: {note}" for note in report.notes)
    if report.passed or report.outcome == "not shown":
        yield verdict(report)
    if report.bisection is not None:
        yield from _parting(report.bisection)


def _worst_of_each(samples: Sequence[Sample]) -> list[tuple[Sample, TensorDiff]]:
    """Return what failed, and the worst of each sample in which nothing did."""
    kept = []
    for sample in samples:
        failed = [diff for diff in sample.diffs if not diff.passed]
        worst = sorted(sample.diffs, key=lambda diff: -diff.severity)[:1]
        kept += [(sample, diff) for diff in failed or worst]
    return kept


def _row(sample: Sample, diff: TensorDiff) -> tuple[str, ...]:
    top1 = "–" if diff.top1_agreement is None else units.share(diff.top1_agreement)
    return (
        sample.title,
        diff.name,
        units.error(diff.max_abs),
        units.error(diff.max_rel),
        f"{diff.cosine:.6f}",
        top1,
        _meaning(sample, diff.name),
        "equal" if diff.passed and all(d.passed for d in _meant(sample, diff.name)) else "differs",
    )


def _meant(sample: Sample, name: str) -> list[TensorDiff]:
    return [diff for diff in sample.meant if diff.name == name]


def _meaning(sample: Sample, name: str) -> str:
    """Return how far apart the two are in real numbers."""
    found = _meant(sample, name)
    return units.error(found[0].max_rel) if found else "–"


def _parting(bisection: Bisection) -> Iterator[str]:
    compared = f"{units.count(bisection.compared, 'value')} compared, sample {bisection.sample}"
    if bisection.culprit is None:
        yield f"no node to blame was found ({compared})"
    else:
        yield from _accusation(bisection.culprit, compared)
    yield from (f"note: {note}" for note in bisection.notes)


def _accusation(culprit: Culprit, compared: str) -> Iterator[str]:
    made = f", made by the rule {culprit.rule}" if culprit.rule else ""
    where = f"{culprit.op_type} {culprit.node!r}"
    if len(culprit.candidate_nodes) > 1:
        where = f"one of {units.count(len(culprit.candidate_nodes), 'node')} up to {where}"
    yield f"the runs part at {where}{made} ({compared})"
    said = culprit.diff.reason or f"off by {units.error(culprit.diff.max_abs)} at most"
    yield f"  gives {culprit.tensor}: {said}"
    for agreement in culprit.inputs:
        exact = "bit for bit" if agreement.severity == 0 else _share(agreement.severity)
        yield f"  from {agreement.tensor}: agrees {exact}"
    for change in culprit.changes:
        yield f"  {change.kind} {change.name}: {change.detail}"
    if culprit.candidate_nodes != culprit.reference_nodes:
        yield f"  stands for: {_listed(culprit.reference_nodes)}"


def _share(severity: float) -> str:
    return f"to {units.error(severity)} of what is allowed" if severity <= 1 else "no more"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
