"""Time by operator: for each, one bar per model, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg
from burnish.report.charts.room import PAGE, Room, seconds_line

_RIGHT, _TOP, _BAR, _GAP = 78, 30, 11, 9
SERIES = ("baseline", "accent")
"""How the models' bars look, in order."""


@dataclass(frozen=True, slots=True)
class BarGroup:
    """One operator: its seconds in each model, in the order of the names."""

    label: str
    seconds_s: tuple[float, ...]
    told: bool = True
    """False where the models' times are not told apart."""
    quiet: bool = False
    """True for what is no operator: time between nodes, the rest of the list."""


def chart(groups: Sequence[BarGroup], names: Sequence[str], room: Room = PAGE) -> str:
    """Return the drawing of at most as many models as there are `SERIES`."""
    if len(names) > len(SERIES):
        raise ValueError(f"{len(names)} models, and {len(SERIES)} can be told apart")
    longest = max((max(group.seconds_s) for group in groups), default=0.0)
    marks = svg.ticks(longest, most=room.most_ticks)
    scale = (room.width - room.left - _RIGHT) / marks[-1]
    height = len(names) * (_BAR + 1) + _GAP + room.above
    bottom = _TOP + height * len(groups)
    grid = [seconds_line(v, x=room.left + v * scale, top=_TOP - 4, bottom=bottom) for v in marks]
    drawn = [_group(g, names, _TOP + height * i, scale, room) for i, g in enumerate(groups)]
    return svg.document(
        _legend(names, room), *grid, *drawn, width=room.width, height=bottom + 22,
        label=f"Time by operator in one inference: {', '.join(names)}",
    )  # fmt: skip


def _legend(names: Sequence[str], room: Room) -> str:
    parts, x = [], room.left
    for name, series in zip(names, SERIES, strict=False):
        shown = svg.shortened(name, 36)
        parts.append(
            svg.element("rect", x=x, y=6, width=_BAR, height=_BAR, rx=2, class_=f"bar {series}")
        )
        parts.append(svg.text(shown, x=x + _BAR + 6, y=16, class_="name"))
        x += _BAR + 30 + 7 * len(shown)
    return "".join(parts)


def _group(group: BarGroup, names: Sequence[str], top: float, scale: float, room: Room) -> str:
    first = top + room.above
    base = first + len(names) * (_BAR + 1) / 2 + 4
    look = "name quiet" if group.quiet else "name"
    label = room.label(group.label, top=top, base=base, class_=look)
    looks = SERIES if group.told else (SERIES[0], f"{SERIES[1]} alike")
    bars = [
        _bar(value, series, room.left, first + number * (_BAR + 1), scale)
        for number, (value, series) in enumerate(zip(group.seconds_s, looks, strict=False))
    ]
    times = ", ".join(
        f"{name} {units.recorded(value, 0)}"
        for name, value in zip(names, group.seconds_s, strict=True)
    )
    return svg.element(
        "g",
        svg.title(f"{group.label}: {times}{'' if group.told else ' (not told apart)'}"),
        label,
        *bars,
    )


def _bar(value: float, series: str, left: float, top: float, scale: float) -> str:
    width = value * scale
    bar = svg.element(
        "rect", x=left, y=top, width=width, height=_BAR, rx=1.5, class_=f"bar {series}"
    )
    label = units.seconds(value) if value else "none"
    return bar + svg.text(label, x=left + width + 6, y=top + _BAR - 1.5, class_="small")
