"""One page of all measurements that needs nothing else: no network, no file.

Models down, engines across. Each row says how far an engine is from the fastest one, so that the
largest gap, where work pays most, stands first; each cell opens its trend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from burnish.report import pages
from burnish.report.exploring import script_json
from burnish.report.over_time import Series, TrendPoint


def page(every: Sequence[Series], machines: Mapping[str, str]) -> str:
    """Return the page; it runs the one script that is ours, and no other."""
    return pages.page(
        "dashboard/page.html",
        style=pages.source("dashboard/style.css"),
        script=pages.source("dashboard/page.js"),
        data=Markup(script_json(data(every, machines))),
        models=len({series.model for series in every}),
        measurements=sum(len(series.points) for series in every),
    )


def data(every: Sequence[Series], machines: Mapping[str, str]) -> dict[str, Any]:
    """Return what the page is drawn from."""
    return {
        "machines": dict(machines),
        "series": [
            {
                "model": one.model,
                "engine": one.engine,
                "precision": one.precision or "as it is",
                "threads": one.threads,
                "sizes": one.sizes,
                "machine": one.machine,
                "points": [_point(point) for point in one.points],
            }
            for one in every
        ],
    }


def _point(point: TrendPoint) -> dict[str, Any]:
    return {
        "at": point.measured_at,
        "status": point.status,
        "s": point.median_s,
        "low": point.low_s,
        "high": point.high_s,
        "environment": point.environment,
    }
