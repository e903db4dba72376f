"""One interactive page of a graph and its time that needs nothing else: no network, no file."""

from __future__ import annotations

import functools

from markupsafe import Markup

from burnish.core import units
from burnish.report import exploring, pages, theme
from burnish.report.charts.room import ASIDE, NARROW
from burnish.report.diagnosed import diagnosed
from burnish.report.graph import heat
from burnish.report.graph.overlay import Overlay
from burnish.report.graph.picture import Picture, PictureTiming, overlay
from burnish.report.pages import both
from burnish.store.graph import GraphRecord

_SCRIPTS = ("layout.js", "model.js", "simulate.js", "canvas.js", "page.js")


def page(picture: Picture) -> str:
    """Return the page; it runs the one script that is ours, and no other."""
    time = overlay(picture)
    charts = _charts(picture.timing, picture.graph) if picture.timing else {}
    return pages.page(
        "explore/page.html",
        style=_style(),
        script=_script(),
        picture=picture,
        facts=facts(picture, time),
        charts=charts,
        diagnosis=diagnosed(picture.diagnosis) if picture.diagnosis else None,
        data=Markup(exploring.script_json(exploring.data(picture))),
    )


def _charts(timing: PictureTiming, graph: GraphRecord) -> dict[str, Markup]:
    """Return the charts by name, each for wide pages and for narrow ones."""
    wide, narrow = (exploring.charts(timing, graph, room) for room in (ASIDE, NARROW))
    return {name: both((wide[name], narrow[name])) if wide[name] else Markup() for name in wide}


def facts(picture: Picture, time: Overlay | None) -> list[str]:
    """Return what stands above every drawing of the graph."""
    said = [units.count(len(picture.graph.nodes), "node")]
    if time is None or picture.timing is None:
        return [*said, "no trace"]
    said += [time.engine, f"{units.seconds(time.wall_s)} an inference"]
    if time.after_wall_s is not None:
        said.append(f"{units.seconds(time.after_wall_s)} after {picture.timing.change}")
    said.append(f"{units.share(time.coverage)} of the work led back to nodes")
    if time.unattributed_s:
        said.append(f"{units.seconds(time.unattributed_s)} unattributed")
    return said


@functools.cache
def _script() -> str:
    sources = [pages.source(f"explore/{name}").removeprefix('"use strict";\n') for name in _SCRIPTS]
    return '"use strict";\n' + "".join(sources)


def _style() -> str:
    chosen = "".join(
        f":root[data-theme={name}]{{color-scheme:{name};"
        f"{theme.variables(colours)}{theme.variables(heats)}}}\n"
        for name, colours, heats in (
            ("light", theme.LIGHT, heat.LIGHT),
            ("dark", theme.DARK, heat.DARK),
        )
    )
    return heat.css() + chosen + pages.source("explore/style.css")
