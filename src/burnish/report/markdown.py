"""The report as markdown, for pull requests and terminals: the same tables as the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from burnish.report import machine, measured, rewritten
from burnish.report.next_steps import next_steps
from burnish.report.record import RunReport
from burnish.report.table import MARKS, Cell, Table
from burnish.report.verdict import findings, headline

_MEANS_SOMETHING = re.compile(r"([\\`*_{}\[\]<>#|~])")


def text(report: RunReport) -> str:
    """Return the whole report as GitHub-flavoured markdown."""
    return "\n".join(_lines(report)) + "\n"


def table(content: Table) -> str:
    """Return one table, with its remark below."""
    head = "| " + " | ".join(escaped(column.title) for column in content.columns) + " |"
    rule = "|" + "|".join(" --: " if c.numeric else " --- " for c in content.columns) + "|"
    rows = ["| " + " | ".join(map(_cell, row)) + " |" for row in content.rows]
    remark = ["", escaped(content.remark)] if content.remark else []
    return "\n".join([head, rule, *rows, *remark])


def escaped(content: str) -> str:
    """Return text on one line that markdown shows as it is."""
    return _MEANS_SOMETHING.sub(r"\\\1", " ".join(content.split()))


def _lines(report: RunReport) -> Iterator[str]:
    said = headline(report)
    yield f"# {escaped(report.model)}: {MARKS[said.tone]} {escaped(said.answer)}"
    yield ""
    for finding in findings(report):
        answer = f"{MARKS[finding.tone]} **{escaped(finding.answer)}**".strip()
        yield f"- {escaped(finding.question)} {answer}. {escaped(finding.facts)}"
    for warning in report.bench.machine.warnings:
        yield f"- Take the times with care: {escaped(warning)}"
    for note in measured.notes(report.bench):
        yield f"- Note: {escaped(note)}"
    for title, content in _tables(report):
        if content.rows:
            yield from ("", f"## {title}", "", table(content))
    yield from ("", "## Next")
    for step in next_steps(report):
        yield from ("", f"{escaped(step.why)}:", "", f"    {' '.join(step.command.split())}")
    yield from ("", "## Machine and versions", "")
    yield from (f"- {name}: {escaped(value)}" for name, value in machine.facts(report))


def _tables(report: RunReport) -> Iterator[tuple[str, Table]]:
    yield "Latency", measured.latency_table(report.bench)
    yield "Results", rewritten.parity_table(report.parity)
    yield "Fusions", rewritten.fusion_table(report.rewrite)
    yield "Near misses", rewritten.miss_table(report.rewrite)
    yield "Clean-up", rewritten.clean_up_table(report.rewrite)
    yield "Nodes by operator", rewritten.node_count_table(report.rewrite)
    if report.profile:
        yield "Time by operator", measured.operator_table(report)
        yield "Slowest nodes", measured.node_table(report)
    yield "Steps", machine.step_table(report)


def _cell(cell: Cell) -> str:
    parts = (MARKS[cell.tone], escaped(cell.text), f"({escaped(cell.detail)})" * bool(cell.detail))
    return " ".join(part for part in parts if part)
