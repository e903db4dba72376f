"""What `burnish run` shows: the verdict, the latencies, and where to read on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from burnish.cli.bench_tables import tables as bench_tables
from burnish.cli.output import Table
from burnish.report.next_steps import next_steps
from burnish.report.record import RunReport
from burnish.report.verdict import findings, headline


def shown_report(report: RunReport, folder: Path) -> Iterator[Table | str]:
    """Yield the run for a person at a terminal."""
    summary = headline(report)
    yield f"{report.model}: {summary.answer}"
    yield Table(
        "", ("question", "answer", "evidence"),
        [(one.question, one.answer, one.facts) for one in findings(report)],
    )  # fmt: skip
    yield from bench_tables(report.bench)
    yield Table(
        "what to do next", ("why", "command"),
        [(step.why, step.command) for step in next_steps(report)],
    )  # fmt: skip
    for what, name in report.files.items():
        yield f"{what}: {folder / name}"
