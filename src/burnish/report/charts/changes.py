"""What changed from one to another, by effect: slower to the right, faster to the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg
from burnish.report.charts.room import PAGE, Room, grid_line, whisker

_BESIDE, _TOP, _ROW, _BAR = 112.0, 26.0, 24.0, 14.0
_RULES = """svg text{fill:var(--ink);font-size:12.5px;font-variant-numeric:tabular-nums}
svg .small,svg .tick{font-size:11px;fill:var(--quiet)}
svg .grid{stroke:var(--line)}
svg .zero{stroke:var(--ink)}
svg .bar.worse{fill:var(--bad)}
svg .bar.better{fill:var(--good)}
svg .bar.alike{fill-opacity:.3;stroke:var(--quiet);stroke-dasharray:2 2}
svg .whisker{stroke:var(--ink);stroke-width:1.2}
"""


@dataclass(frozen=True, slots=True)
class DrawnChange:
    """One thing: how much longer it takes, and between what that lies."""

    label: str
    change_s: float
    low_s: float
    high_s: float
    told: bool
    """False: it is not told apart from no change."""
    fate: str = ""
    """`appears` or `vanishes`, for what is in one of them only."""
    detail: str = ""
    """What the pointer reads besides."""


def chart(changes: Sequence[DrawnChange], room: Room = PAGE, *, title: str) -> str:
    """Return the drawing, in the order given; a whisker is what the change lies between."""
    reach = [*(c.low_s for c in changes), *(c.high_s for c in changes), 0.0]
    axis = _Axis.of(min(reach), max(reach), room)
    high = _ROW + room.above
    bottom = _TOP + high * len(changes)
    grid = [
        grid_line(_signed(value), x=axis.place(value), top=_TOP - 4, bottom=bottom)
        for value in axis.ticks
    ]
    zero = axis.place(0.0)
    middle = svg.element("line", x1=zero, x2=zero, y1=_TOP - 4, y2=bottom, class_="zero")
    rows = [_row(one, _TOP + high * n, axis, room) for n, one in enumerate(changes)]
    ends = svg.text("← faster", x=zero - 8, y=13, class_="small", anchor="end") + svg.text(
        "slower →", x=zero + 8, y=13, class_="small"
    )
    return svg.document(
        ends, *grid, middle, *rows, width=room.width, height=bottom + 22,
        label=f"{title}: {'; '.join(map(_said, changes[:5]))}",
    )  # fmt: skip


def css() -> str:
    """Return how the drawing looks, with the colours of the theme."""
    return _RULES


@dataclass(frozen=True, slots=True)
class _Axis:
    """Seconds from `least` to `most`, around zero."""

    start: float
    scale: float
    least: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, least: float, most: float, room: Room) -> _Axis:
        width = room.width - room.left - 2 * _BESIDE
        reach = max(most, -least) or 1.0
        steps = svg.ticks(reach, most=max(2, room.most_ticks // 2))
        both = (*(-step for step in reversed(steps[1:])), *steps)
        ticks = tuple(v for v in both if least - 1e-15 <= v <= most + 1e-15)
        return cls(room.left + _BESIDE, width / ((most - least) or 1.0), least, ticks)

    def place(self, value: float) -> float:
        return self.start + (value - self.least) * self.scale


def _row(one: DrawnChange, top: float, axis: _Axis, room: Room) -> str:
    bar = top + room.above
    low, high = sorted((axis.place(0.0), axis.place(one.change_s)))
    look = "worse" if one.change_s > 0 else "better"
    value = _value(one)
    left = one.change_s < 0
    far = min(low, axis.place(one.low_s)) if left else max(high, axis.place(one.high_s))
    return svg.element(
        "g",
        svg.title(f"{_said(one)}{chr(10) if one.detail else ''}{one.detail}"),
        room.label(one.label, top=top, base=bar + _BAR - 3),
        svg.element(
            "rect", x=low, y=bar, width=high - low, height=_BAR, rx=1.5,
            class_=f"bar {look}" if one.told else f"bar {look} alike",
        ),
        _whisker(one, axis, bar + _BAR / 2),
        svg.text(
            value, x=far - 6 if left else far + 6, y=bar + _BAR - 3, class_="small",
            anchor="end" if left else "start",
        ),
        class_="row",
    )  # fmt: skip


def _whisker(one: DrawnChange, axis: _Axis, middle: float) -> str:
    if one.fate or one.low_s == one.high_s:
        return ""
    return whisker(axis.place(one.low_s), axis.place(one.high_s), middle=middle, cap=3)


def _value(one: DrawnChange) -> str:
    said = _signed(one.change_s) if one.told else f"~ {_signed(one.change_s)}"
    return f"{said} {one.fate}".rstrip()


def _said(one: DrawnChange) -> str:
    doubt = "" if one.told else " (not told apart)"
    return f"{one.label} {_signed(one.change_s)} {one.fate}".rstrip() + doubt


def _signed(seconds_s: float) -> str:
    if not seconds_s:
        return "0"
    return f"{'+' if seconds_s > 0 else '−'}{units.seconds(abs(seconds_s))}"
