"""One page that needs nothing else: no network, no script, no other file."""

from __future__ import annotations

from markupsafe import Markup

from burnish.core.files import marked
from burnish.report import machine, measured, pages, rewritten
from burnish.report.charts import bars, intervals
from burnish.report.charts.room import NARROW, PAGE
from burnish.report.diagnosed import diagnosed
from burnish.report.drawings import Drawings
from burnish.report.graph import draw, heat
from burnish.report.next_steps import next_steps
from burnish.report.pages import both
from burnish.report.record import RunReport
from burnish.report.table import MARKS
from burnish.report.verdict import findings, headline

FILES = marked("a report", '<meta name="generator" content="burnish')


def page(report: RunReport, drawn: Drawings | None = None) -> str:
    """Return the report as HTML; all text in it is escaped, only our own drawings are not.

    `drawn` is the typical inference of the last model that was profiled.
    """
    return pages.page(
        "page.html",
        style=heat.css() + draw.css(".drawn ") + pages.source("style.css"),
        version=report.burnish_version,
        report=report,
        marks=MARKS,
        headline=headline(report),
        findings=findings(report),
        latency=measured.latency_table(report.bench),
        latency_notes=measured.notes(report.bench),
        latency_chart=both(
            intervals.chart(measured.latencies(report.bench), room) for room in (PAGE, NARROW)
        ),
        parity=rewritten.parity_table(report.parity),
        fusions=rewritten.fusion_table(report.rewrite),
        misses=rewritten.miss_table(report.rewrite),
        clean_up=rewritten.clean_up_table(report.rewrite),
        node_counts=rewritten.node_count_table(report.rewrite),
        profile=_profile(report),
        drawn=_drawn(drawn),
        machine=machine.facts(report),
        steps=machine.step_table(report),
        next_steps=next_steps(report),
    )


def _profile(report: RunReport) -> dict[str, object] | None:
    """Return what the section on where the time goes shows; None when nothing was profiled."""
    if not report.profile:
        return None
    ends = (report.profile[0], *report.profile[1:][-1:])
    names = ("original", "optimised")[: len(ends)]
    notes = dict.fromkeys(note for one in ends for note in one.notes)
    groups = measured.operator_groups(report)
    told = ends[-1].diagnosis
    return {
        "diagnosis": diagnosed(told) if told is not None else None,
        "chart": both(bars.chart(groups, names, room) for room in (PAGE, NARROW)),
        "operators": measured.operator_table(report),
        "nodes": measured.node_table(report),
        "ends": ends,
        "notes": tuple(notes),
    }


def _drawn(drawn: Drawings | None) -> dict[str, object] | None:
    if drawn is None:
        return None
    return {
        "label": drawn.label,
        "engine": drawn.engine,
        "graph": Markup(drawn.graph),
        "roofline": both(drawn.roofline) if all(drawn.roofline) else "",
        "timeline": both(drawn.timeline),
    }
