"""One page that needs nothing else: no network, no script, no other file."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

import jinja2
from markupsafe import Markup, escape

from burnish.core import units
from burnish.core.files import marked
from burnish.report import machine, measured, rewritten, theme
from burnish.report.charts import bars, intervals
from burnish.report.charts.room import NARROW, PAGE
from burnish.report.diagnosed import diagnosed
from burnish.report.drawings import Drawings
from burnish.report.graph import draw, heat
from burnish.report.next_steps import next_steps
from burnish.report.record import RunReport
from burnish.report.table import MARKS
from burnish.report.verdict import findings, headline

FILES = marked("a report", '<meta name="generator" content="burnish')


def page(report: RunReport, drawn: Drawings | None = None) -> str:
    """Return the report as HTML; all text in it is escaped, only our own drawings are not.

    `drawn` is the typical inference of the last model that was profiled.
    """
    return (
        environment()
        .get_template("page.html")
        .render(
            report=report,
            style=Markup(theme.css() + heat.css() + draw.css(".drawn ") + _style()),
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


def both(drawings: Iterable[str]) -> Markup:
    """Return a drawing for wide pages and one for narrow ones, of which one is seen."""
    wide, narrow = map(Markup, drawings)
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(wide, narrow)


def _style() -> str:
    return environment().get_template("style.css").render()


@functools.cache
def environment() -> jinja2.Environment:
    """Return what renders our templates: everything escaped, nothing silently undefined."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("burnish.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        seconds=units.seconds, share=units.share, sentence=_sentence, name=_with_places_to_break
    )
    return made


def _with_places_to_break(text: str) -> Markup:
    """Return text that may go on in a new line after a slash or an underscore, as names do."""
    return Markup(re.sub(r"(?<=[/_])(?=\w)", "<wbr>", escape(text)))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
