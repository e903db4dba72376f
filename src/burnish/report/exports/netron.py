"""A file that Netron shows beside an open model: time as a metric of each node."""

from __future__ import annotations

from burnish.core import records
from burnish.report.graph.overlay import leads
from burnish.report.graph.picture import Picture, overlay


def attachment(picture: Picture) -> str:
    """Return microseconds and share of every node that has time, each written once."""
    time = overlay(picture)
    metrics = []
    for name, costs in (leads(time) if time else {}).items():
        seconds_s = sum(cost.seconds_s for cost in costs)
        share = seconds_s / time.wall_s if time and time.wall_s else 0.0
        metrics += [
            _metric(name, "time_us", round(1e6 * seconds_s, 3)),
            _metric(name, "share_percent", round(100 * share, 3)),
        ]
    about = {"model": picture.label, "engine": time.engine if time else "none"}
    return records.text_of(
        {
            "signature": "netron:attachment",
            "metadata": [
                {"kind": "graph", "target": picture.graph.name, "name": name, "value": value}
                for name, value in about.items()
            ],
            "metrics": metrics,
        }
    )


def _metric(node: str, name: str, value: float) -> dict[str, str]:
    return {
        "kind": "node",
        "target": node,
        "name": name,
        "value": f"{value:g}",
        "type": "float64",
    }
