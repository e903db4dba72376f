"""Latencies as bars from zero, each with the interval of its median and a mark per round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg

WIDTH = 720
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 250, 76, 4, 40, 16


@dataclass(frozen=True, slots=True)
class Latency:
    """One line of the chart; times are None where it failed."""

    label: str
    engine: str
    series: str
    """`baseline` for the baseline's model, `accent` for another, `bad` for wrong results."""
    median_s: float | None
    low_s: float | None = None
    high_s: float | None = None
    rounds_s: tuple[float, ...] = ()
    remark: str = ""
    """Stands where the bar would, when there is none."""


def chart(latencies: Sequence[Latency]) -> str:
    """Return the drawing; the axis starts at zero, so that lengths can be compared."""
    longest = max((_longest(latency) for latency in latencies), default=0.0)
    marks = svg.ticks(longest)
    scale = (WIDTH - _LEFT - _RIGHT) / marks[-1]
    bottom = _TOP + _ROW * len(latencies)
    grid = [_grid_line(value, _LEFT + value * scale, bottom) for value in marks]
    rows = [_row(one, _TOP + _ROW * number, scale) for number, one in enumerate(latencies)]
    said = "; ".join(_said(one) for one in latencies)
    return svg.document(
        *grid, *rows, width=WIDTH, height=bottom + 24, label=f"Median latency: {said}"
    )


def _longest(latency: Latency) -> float:
    return max((latency.median_s or 0.0, latency.high_s or 0.0, *latency.rounds_s))


def _value(latency: Latency) -> str:
    return latency.remark if latency.median_s is None else units.seconds(latency.median_s)


def _said(latency: Latency) -> str:
    return f"{latency.label} on {latency.engine}: {_value(latency)}"


def _grid_line(value: float, x: float, bottom: float) -> str:
    label = units.seconds(value) if value else "0"
    return svg.element("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="grid") + svg.text(
        label, x=x, y=bottom + 16, class_="tick", anchor="middle"
    )


def _row(latency: Latency, top: float, scale: float) -> str:
    middle = top + _ROW / 2
    name = svg.text(
        svg.shortened(latency.label, 40), x=_LEFT - 10, y=middle - 2, class_="name", anchor="end"
    ) + svg.text(latency.engine, x=_LEFT - 10, y=middle + 12, class_="small", anchor="end")
    if latency.median_s is None:
        drawn = svg.text(latency.remark, x=_LEFT + 8, y=middle + 4, class_="remark")
    else:
        drawn = _bar(latency, latency.median_s, middle, scale)
    return svg.element("g", svg.title(_said(latency)), name, drawn)


def _bar(latency: Latency, median_s: float, middle: float, scale: float) -> str:
    end = _LEFT + median_s * scale
    reach = _LEFT + _longest(latency) * scale
    bar = svg.element(
        "rect", x=_LEFT, y=middle - _BAR / 2, width=median_s * scale, height=_BAR, rx=2,
        class_=f"bar {latency.series}",
    )  # fmt: skip
    rounds = [
        svg.element(
            "line",
            x1=_LEFT + value * scale,
            x2=_LEFT + value * scale,
            y1=middle + _BAR / 2 + 2,
            y2=middle + _BAR / 2 + 7,
            class_="round",
        )
        for value in latency.rounds_s
    ]
    value = svg.text(_value(latency), x=max(end, reach) + 8, y=middle + 4, class_="value")
    return "".join((bar, _whisker(latency, middle, scale), *rounds, value))


def _whisker(latency: Latency, middle: float, scale: float) -> str:
    if latency.low_s is None or latency.high_s is None:
        return ""
    low, high = _LEFT + latency.low_s * scale, _LEFT + latency.high_s * scale
    caps = [
        svg.element("line", x1=x, x2=x, y1=middle - 4, y2=middle + 4, class_="whisker")
        for x in (low, high)
    ]
    line = svg.element("line", x1=low, x2=high, y1=middle, y2=middle, class_="whisker")
    return "".join((line, *caps))
