"""Latencies as bars from zero, each with the interval of its median and a mark per round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg
from burnish.report.charts.room import PAGE, Room, seconds_line, whisker

_RIGHT, _TOP, _ROW, _BAR = 76, 4, 40, 16


@dataclass(frozen=True, slots=True)
class LatencyBar:
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


def chart(latencies: Sequence[LatencyBar], room: Room = PAGE) -> str:
    """Return the drawing; the axis starts at zero, so that lengths can be compared."""
    longest = max((_longest(latency) for latency in latencies), default=0.0)
    marks = svg.ticks(longest, most=room.most_ticks)
    scale, high = (room.width - room.left - _RIGHT) / marks[-1], _ROW + room.above / 2
    bottom = _TOP + high * len(latencies)
    grid = [seconds_line(v, x=room.left + v * scale, top=_TOP, bottom=bottom) for v in marks]
    rows = [_row(one, _TOP + high * number, scale, room) for number, one in enumerate(latencies)]
    said = "; ".join(_said(one) for one in latencies)
    return svg.document(
        *grid, *rows, width=room.width, height=bottom + 24, label=f"Median latency: {said}"
    )


def _longest(latency: LatencyBar) -> float:
    return max((latency.median_s or 0.0, latency.high_s or 0.0, *latency.rounds_s))


def _value(latency: LatencyBar) -> str:
    return latency.remark if latency.median_s is None else units.seconds(latency.median_s)


def _said(latency: LatencyBar) -> str:
    return f"{latency.label} on {latency.engine}: {_value(latency)}"


def _row(latency: LatencyBar, top: float, scale: float, room: Room) -> str:
    middle = top + _ROW / 2 + room.above / 2
    if room.above:
        name = room.label(f"{latency.label} · {latency.engine}", top=top, base=middle)
    else:
        name = room.label(latency.label, top=top, base=middle - 2) + room.label(
            latency.engine, top=top, base=middle + 12, class_="small"
        )
    if latency.median_s is None:
        drawn = svg.text(latency.remark, x=room.left + 8, y=middle + 4, class_="remark")
    else:
        drawn = _bar(latency, latency.median_s, middle, scale, room.left)
    return svg.element("g", svg.title(_said(latency)), name, drawn)


def _bar(latency: LatencyBar, median_s: float, middle: float, scale: float, left: float) -> str:
    end = left + median_s * scale
    reach = left + _longest(latency) * scale
    bar = svg.element(
        "rect", x=left, y=middle - _BAR / 2, width=median_s * scale, height=_BAR, rx=2,
        class_=f"bar {latency.series}",
    )  # fmt: skip
    rounds = [
        svg.element(
            "line",
            x1=left + value * scale,
            x2=left + value * scale,
            y1=middle + _BAR / 2 + 2,
            y2=middle + _BAR / 2 + 7,
            class_="round",
        )
        for value in latency.rounds_s
    ]
    value = svg.text(_value(latency), x=max(end, reach) + 8, y=middle + 4, class_="value")
    return "".join((bar, _whisker(latency, middle, scale, left), *rounds, value))


def _whisker(latency: LatencyBar, middle: float, scale: float, left: float) -> str:
    if latency.low_s is None or latency.high_s is None:
        return ""
    low, high = left + latency.low_s * scale, left + latency.high_s * scale
    return whisker(low, high, middle=middle, cap=4)
