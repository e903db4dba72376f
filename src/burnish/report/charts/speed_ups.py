"""Speed-ups as bars from 1×, each with its interval: to the right is faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg

WIDTH = 720
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 260, 60, 28, 22, 12
_HEAD = 24


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """How many times faster one subject is than its baseline."""

    label: str
    ratio: float
    low: float
    high: float
    series: str
    """`good` for what is shown to be faster, `bad` for slower or wrong, else `baseline`."""
    group: str = ""
    """What those of one baseline have in common: the model and its size."""


def chart(speed_ups: Sequence[SpeedUp], *, title: str) -> str:
    """Return the drawing; the axis begins at zero, and a line stands at 1×."""
    # an interval that ends far beyond its bar would press all bars flat
    marks = svg.ticks(max([1.0, *(min(one.high, 2 * one.ratio) for one in speed_ups)]))
    scale = (WIDTH - _LEFT - _RIGHT) / marks[-1]
    rows, bottom = _rows(speed_ups, scale)
    grid = [_grid_line(value, scale, bottom) for value in marks]
    one = _LEFT + scale
    even = svg.element("line", x1=one, x2=one, y1=_TOP, y2=bottom, class_="even")
    said = "; ".join(_said(each) for each in speed_ups)
    return svg.document(
        svg.text(title, x=0, y=14, class_="name"), *grid, *rows, even,
        width=WIDTH, height=bottom + 24, label=f"{title}: {said}",
    )  # fmt: skip


def _rows(speed_ups: Sequence[SpeedUp], scale: float) -> tuple[list[str], float]:
    """Return the bars, each group under its name where there are several, and where they end."""
    several = len({one.group for one in speed_ups}) > 1
    rows: list[str] = []
    top, before = float(_TOP), ""
    for one in speed_ups:
        if several and one.group != before:
            named = svg.shortened(one.group, 80)
            rows.append(svg.text(named, x=0, y=top + _HEAD - 6, class_="name"))
            top, before = top + _HEAD, one.group
        rows.append(_row(one, top, scale))
        top += _ROW
    return rows, top


def _grid_line(value: float, scale: float, bottom: float) -> str:
    x = _LEFT + value * scale
    line = svg.element("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="grid")
    return line + svg.text(f"{value:g}×", x=x, y=bottom + 16, class_="tick", anchor="middle")


def _row(one: SpeedUp, top: float, scale: float) -> str:
    middle = top + _ROW / 2
    ends = sorted((_LEFT + scale, _LEFT + one.ratio * scale))
    end = WIDTH - _RIGHT
    low, high = _LEFT + one.low * scale, min(_LEFT + one.high * scale, end)
    beyond = (
        f", interval up to {units.ratio(one.high)}" if _LEFT + one.high * scale > end + 1 else ""
    )
    return svg.element(
        "g",
        svg.title(_said(one)),
        svg.text(
            svg.shortened(one.label, 46), x=_LEFT - 10, y=middle + 4, class_="small", anchor="end"
        ),
        svg.element(
            "rect", x=ends[0], y=middle - _BAR / 2, width=ends[1] - ends[0], height=_BAR, rx=2,
            class_=f"bar {one.series}",
        ),
        svg.element("line", x1=low, x2=high, y1=middle, y2=middle, class_="whisker"),
        svg.text(
            units.ratio(one.ratio) + beyond, x=(ends[1] if beyond else max(high, ends[1])) + 8,
            y=middle + (-4 if beyond else 4), class_="value",
        ),
    )  # fmt: skip


def _said(one: SpeedUp) -> str:
    whose = ": ".join(filter(None, (one.group, one.label)))
    return f"{whose} {units.ratio(one.ratio)}, {units.ratio(one.low)} to {units.ratio(one.high)}"
