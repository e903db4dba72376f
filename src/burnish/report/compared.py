"""Two profiles side by side as a picture: what changed, by effect, and what came and went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from burnish.analyze import kernel_names
from burnish.analyze.breakdown import ALWAYS_THERE
from burnish.analyze.difference import ROUNDING_S, Difference, DifferenceRow
from burnish.analyze.profile import ProfileReport
from burnish.core import units
from burnish.core.errors import UsageError
from burnish.report import pages, svg, theme
from burnish.report.charts import changes
from burnish.report.charts.changes import DrawnChange
from burnish.report.charts.room import NARROW, PAGE
from burnish.report.diagnosed import Diagnosed, diagnosed
from burnish.report.pages import both

_SHOWN = 24
_ALWAYS = frozenset(kind.value for kind in ALWAYS_THERE)
_GROUND = "svg{background:var(--paper);font-family:var(--sans)}\n"


@dataclass(frozen=True, slots=True)
class Section:
    """One way to match the two: its chart, and what is in one of them only."""

    title: str
    chart: Markup
    fates: Mapping[str, tuple[str, ...]]
    left_out: int


def page(report: ProfileReport) -> str:
    """Return the page: what holds each back, then what changed by every way to match them."""
    whole = _difference(report)
    told = [one.diagnosis for one in (report.profiles[0], report.profiles[-1])]
    sides: list[tuple[str, Diagnosed]] = [
        (name, diagnosed(one))
        for name, one in zip((whole.baseline, whole.candidate), told, strict=True)
        if one is not None
    ]
    return pages.page(
        "compared.html",
        style=changes.css() + pages.source("style.css"),
        whole=whole,
        headline=headline(whole),
        sides=sides,
        sections=tuple(_sections(report)),
        notes=tuple(dict.fromkeys(note for one in report.profiles for note in one.notes)),
    )


def drawing(report: ProfileReport) -> str:
    """Return one drawing: by kernel where these tell most, else by operator."""
    whole = _difference(report)
    found = report.by_kernel if _on_device(report) and report.by_kernel else whole
    chart = changes.chart(_changes(found, named=_named(found, report)), title="")
    style = svg.element("style", f"{theme.css()}{_GROUND}{changes.css()}")
    return chart.replace(">", f">{style}", 1)


def headline(found: Difference) -> str:
    """Return the whole change in words."""
    before_s, after_s = found.baseline_wall_s, found.candidate_wall_s
    if units.seconds(before_s) == units.seconds(after_s):
        return f"{units.seconds(before_s)} a run, before and after"
    said = f"{units.seconds(before_s)} → {units.seconds(after_s)} a run"
    if not (before_s and after_s):
        return said
    word = "faster" if after_s < before_s else "slower"
    return f"{said}: {units.ratio(max(before_s / after_s, after_s / before_s))} {word}"


WRITERS: Mapping[str, Callable[[ProfileReport], str]] = {".svg": drawing, ".html": page}


def writer_for(target: Path) -> Callable[[ProfileReport], str]:
    """Return what writes a comparison to files of this name."""
    if target.suffix.lower() in WRITERS:
        return WRITERS[target.suffix.lower()]
    raise UsageError(
        f"{target.name}: its ending says no format of a comparison",
        hint=f"end it in one of {', '.join(WRITERS)}",
    )


def _difference(report: ProfileReport) -> Difference:
    if report.difference is not None:
        return report.difference
    raise UsageError(
        "-o draws what changed between two, and one is given",
        hint="draw one alone: burnish graph MODEL --engine onnxruntime-cpu -o graph.html",
    )


def _on_device(report: ProfileReport) -> bool:
    return all(one.by_kernel.clock == "device" for one in report.profiles)


def _sections(report: ProfileReport) -> Iterator[Section]:
    for title, found in (
        ("By operator", report.difference),
        ("By kernel", report.by_kernel if _on_device(report) else None),
        ("By node of the model", report.aligned),
        ("By module", report.by_layer),
    ):
        if found is None or not any(row.label not in _ALWAYS for row in _moved(found)):
            continue
        shown = _changes(found, named=_named(found, report))
        charts = [changes.chart(shown, room, title=title) for room in (PAGE, NARROW)]
        fates = {fate: _only(found, fate, report) for fate in ("appears", "vanishes")}
        yield Section(title, both(charts), fates, max(0, len(_moved(found)) - len(shown)))


def _only(found: Difference, fate: str, report: ProfileReport) -> tuple[str, ...]:
    name = _named(found, report)
    rows = sorted((row for row in found.rows if row.fate == fate), key=_effect)
    return tuple(f"{name(row.label)} ({units.seconds(abs(row.change_s))})" for row in rows)


def _named(found: Difference, report: ProfileReport) -> Callable[[str], str]:
    """Return what shortens the labels of a difference: names of kernels are long."""
    return kernel_names.short if found is report.by_kernel else str


def _effect(row: DifferenceRow) -> tuple[float, str]:
    return -abs(row.change_s), row.label


def _moved(found: Difference) -> list[DifferenceRow]:
    return sorted((row for row in found.rows if abs(row.change_s) > ROUNDING_S), key=_effect)


def _changes(found: Difference, *, named: Callable[[str], str]) -> list[DrawnChange]:
    """Return the rows that changed most, the largest effect first."""
    return [
        DrawnChange(
            named(row.label),
            row.change_s,
            row.candidate_interval_s[0] - row.baseline_interval_s[1],
            row.candidate_interval_s[1] - row.baseline_interval_s[0],
            told=found.tells(row),
            fate=row.fate,
            detail=f"{row.label}: {units.recorded(row.baseline_s, row.baseline_count)} → "
            f"{units.recorded(row.candidate_s, row.candidate_count)}",
        )
        for row in _moved(found)[:_SHOWN]
    ]
