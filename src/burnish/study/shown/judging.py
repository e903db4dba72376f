"""What people are shown of verify, reduce, bench and run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.bench.measure import BenchReport
from burnish.core import units
from burnish.parity.report import Bisection, Culprit, VerifyReport
from burnish.parity.verdict import verdict
from burnish.report import markdown, matrix, measured
from burnish.report.next_steps import next_steps
from burnish.report.overall import overall
from burnish.report.record import RunReport
from burnish.report.rewritten import parity_table
from burnish.report.study_page import StudyReport
from burnish.report.table import Cell, Shown, Table, table
from burnish.report.verdict import findings, headline
from burnish.study.reduce import ReduceReport
from burnish.study.requests.judging import Format

_NAMES = 8


def verify_lines(report: VerifyReport) -> Shown:
    """Yield the tensors, what must be known of them, the verdict and where the runs part."""
    tensors = parity_table(report)
    if tensors.rows:
        yield replace(tensors, title=tensors.remark, remark="")
    yield from (f"note: {note}" for note in report.notes)
    if report.passed or report.outcome == "not shown":
        yield verdict(report)
    if report.bisection is not None:
        yield from _parting(report.bisection)


def bench_lines(report: BenchReport, how: Format = Format()) -> Shown:  # noqa: B008  (frozen)
    """Yield the rows, the sizes against each other, and what must be known; or rows only."""
    if how.format == "csv":
        yield from matrix.csv_lines(report)
    elif how.format == "md":
        for part in measured.bench_lines(report, more=matrix.tables(report)):
            shown = markdown.table(part) if isinstance(part, Table) else markdown.escaped(part)
            yield from (*shown.splitlines(), "")
    else:
        yield from measured.bench_lines(report, more=matrix.tables(report))


def reduce_lines(report: ReduceReport) -> Shown:
    """Yield how small the part is, how it differs, and how to see it again."""
    before = units.count(report.nodes_before, "node")
    operators = ", ".join(report.operators)
    yield f"{before} reduced to {report.nodes_after:,}; of the candidate: {operators}"
    yield f"{report.diff.name} differs: {report.diff.reason}"
    yield f"see it again: {report.command}"


def study_lines(report: StudyReport) -> Shown:
    """Yield what was measured, and where everything was written."""
    yield report.title
    together = overall(report.bench)
    more = (*matrix.tables(report.bench), *([together] if together.rows else []))
    yield from measured.bench_lines(report.bench, more=more)
    yield from (f"{what}: {place}" for what, place in report.files.items())


def run_lines(report: RunReport) -> Shown:
    """Yield the answers, the latencies, and what to do next."""
    yield f"{report.model}: {headline(report).answer}"
    yield table(
        "",
        ("question", "answer", "evidence"),
        [(one.question, Cell(one.answer, tone=one.tone), one.facts) for one in findings(report)],
    )
    yield from measured.bench_lines(report.bench)
    yield table(
        "what to do next",
        ("why", "command"),
        [(step.why, step.command) for step in next_steps(report)],
    )
    folder = Path(report.optimized).parent
    yield from (f"{what}: {folder / name}" for what, name in report.files.items())


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
