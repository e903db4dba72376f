"""A study as a page, as markdown and as files of drawings: one record, several readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from burnish.bench.measure import BenchReport
from burnish.report import markdown, matrix, measured, pages, theme
from burnish.report.overall import overall
from burnish.report.plans import PlannedRow, plans_table
from burnish.report.studied import Plot
from burnish.report.table import MARKS, Table

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class StudyReport:
    """What a study measured, what it is about, and where everything was written."""

    title: str
    about: str
    bench: BenchReport
    draw: tuple[str, ...]
    """The sizes that figures are drawn against: `batch`, `sequence`, `past`."""
    fusions: Mapping[str, Mapping[str, int]]
    """How often each fusion was made, by model; empty: nothing was rewritten."""
    plans: tuple[PlannedRow, ...]
    """What plans need, as predicted; empty: none were asked for."""
    missing: Mapping[str, str]
    """What the original experiment has and this one has not, with the reason."""
    files: Mapping[str, str]
    """What was written, by what it is."""
    command: str
    burnish_version: str


def page(study: StudyReport, plots: Sequence[Plot]) -> str:
    """Return the study as one HTML page that needs nothing else."""
    return pages.page(
        "study.html",
        style=pages.source("style.css"),
        version=study.burnish_version,
        study=study,
        marks=MARKS,
        drawings=[Markup(plot.svg) for plot in plots],
        tables=[part for part in tables(study) if part.rows],
        notes=measured.notes(study.bench),
    )


def text(study: StudyReport, plots: Sequence[Plot]) -> str:
    """Return the study as GitHub-flavoured markdown, with links to its drawings."""
    lines = [f"# {markdown.escaped(study.title)}", ""]
    lines += [markdown.escaped(part) + "\n" for part in study.about.split("\n\n")]
    lines += [f"![{plot.name}]({plot.name}.svg)\n" for plot in plots]
    for part in tables(study):
        title = part.title or "latency"
        lines += [f"## {markdown.escaped(title[:1].upper() + title[1:])}", "", markdown.table(part)]
        lines.append("")
    if study.missing:
        lines += ["## What the original has and this has not", ""]
        lines += [
            f"- {markdown.escaped(what)}: {markdown.escaped(why)}"
            for what, why in study.missing.items()
        ]
        lines.append("")
    lines += [f"- {markdown.escaped(note)}" for note in measured.notes(study.bench)]
    lines += [
        f"- Take the times with care: {markdown.escaped(warning)}"
        for warning in study.bench.machine.warnings
    ]
    return "\n".join([*lines, "", f"    {study.command}"]) + "\n"


def drawing(plot: Plot) -> str:
    """Return a drawing as a file of its own, with the colours that a page would give it."""
    rules = "\n".join(
        line for line in pages.source("style.css").splitlines() if line.startswith("svg")
    )
    head, _, rest = plot.svg.partition(">")
    return f"{head}><style>{theme.css()}{rules}</style>{rest}\n"


def tables(study: StudyReport) -> tuple[Table, ...]:
    """Return what engines came to, the latencies and all else of cells, and what plans need."""
    plans = (plans_table(study.plans),) if study.plans else ()
    together = overall(study.bench)
    rows = (measured.latency_table(study.bench), *matrix.tables(study.bench), *plans)
    return (together, *rows) if together.rows else rows
