"""Time by operator: for each, one bar per model, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg

WIDTH = 720
_LEFT, _RIGHT, _TOP, _BAR, _GAP = 190, 78, 30, 11, 9
SERIES = ("baseline", "accent")
"""How the models' bars look, in order."""


@dataclass(frozen=True, slots=True)
class Group:
    """One operator: its seconds in each model, in the order of the names."""

    label: str
    seconds_s: tuple[float, ...]
    quiet: bool = False
    """True for what is no operator: time between nodes, the rest of the list."""


def chart(groups: Sequence[Group], names: Sequence[str]) -> str:
    """Return the drawing of at most as many models as there are `SERIES`."""
    if len(names) > len(SERIES):
        raise ValueError(f"{len(names)} models, and {len(SERIES)} can be told apart")
    marks = svg.ticks(max((max(group.seconds_s) for group in groups), default=0.0))
    scale = (WIDTH - _LEFT - _RIGHT) / marks[-1]
    height = len(names) * (_BAR + 1) + _GAP
    bottom = _TOP + height * len(groups)
    grid = [_grid_line(value, _LEFT + value * scale, bottom) for value in marks]
    drawn = [_group(g, names, _TOP + height * i, scale) for i, g in enumerate(groups)]
    return svg.document(
        _legend(names), *grid, *drawn, width=WIDTH, height=bottom + 22,
        label=f"Time by operator in one inference: {', '.join(names)}",
    )  # fmt: skip


def _legend(names: Sequence[str]) -> str:
    parts, x = [], float(_LEFT)
    for name, series in zip(names, SERIES, strict=False):
        shown = svg.shortened(name, 36)
        parts.append(
            svg.element("rect", x=x, y=6, width=_BAR, height=_BAR, rx=2, class_=f"bar {series}")
        )
        parts.append(svg.text(shown, x=x + _BAR + 6, y=16, class_="name"))
        x += _BAR + 30 + 7 * len(shown)
    return "".join(parts)


def _grid_line(value: float, x: float, bottom: float) -> str:
    label = units.seconds(value) if value else "0"
    return svg.element("line", x1=x, x2=x, y1=_TOP - 4, y2=bottom, class_="grid") + svg.text(
        label, x=x, y=bottom + 15, class_="tick", anchor="middle"
    )


def _group(group: Group, names: Sequence[str], top: float, scale: float) -> str:
    middle = top + len(names) * (_BAR + 1) / 2
    label = svg.text(
        svg.shortened(group.label, 26), x=_LEFT - 10, y=middle + 4, anchor="end",
        class_="name quiet" if group.quiet else "name",
    )  # fmt: skip
    bars = [
        _bar(value, series, top + number * (_BAR + 1), scale)
        for number, (value, series) in enumerate(zip(group.seconds_s, SERIES, strict=False))
    ]
    times = ", ".join(
        f"{name} {units.seconds(value)}" for name, value in zip(names, group.seconds_s, strict=True)
    )
    return svg.element("g", svg.title(f"{group.label}: {times}"), label, *bars)


def _bar(value: float, series: str, top: float, scale: float) -> str:
    width = value * scale
    bar = svg.element(
        "rect", x=_LEFT, y=top, width=width, height=_BAR, rx=1.5, class_=f"bar {series}"
    )
    label = units.seconds(value) if value else "none"
    return bar + svg.text(label, x=_LEFT + width + 6, y=top + _BAR - 1.5, class_="small")
