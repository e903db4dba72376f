"""What takes the most time, the largest first, and the most that work on it can give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg
from burnish.report.charts.room import ASIDE, Room

_RIGHT, _TOP, _ROW, _BAR = 168, 22, 22, 13


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row: seconds of one inference, and the overall speed-up if they were not there."""

    label: str
    seconds_s: float
    share: float
    ceiling: float
    key: str = ""
    """What a page selects when the row is clicked: `op Softmax`, `node /layer/MatMul`."""
    detail: str = ""
    """What the pointer reads besides: the kernel that it is."""
    quiet: bool = False
    """True for what is no node: time between nodes, or of none."""


def chart(rows: Sequence[Ranked], room: Room = ASIDE, *, title: str) -> str:
    """Return the drawing; bars start at zero."""
    longest = max((row.seconds_s for row in rows), default=0.0) or 1.0
    scale, high = (room.width - room.left - _RIGHT) / longest, _ROW + room.above
    head = [
        svg.text(word, x=x, y=13, class_="small", anchor="end")
        for word, x in (
            ("time", room.width - 102),
            ("share", room.width - 50),
            ("ceiling", room.width),
        )
    ]
    drawn = [_row(row, _TOP + high * number, scale, room) for number, row in enumerate(rows)]
    return svg.document(
        *head, *drawn, width=room.width, height=_TOP + high * len(rows) + 2,
        label=f"{title}: {'; '.join(_said(row) for row in rows[:5])}",
    )  # fmt: skip


def _said(row: Ranked) -> str:
    return f"{row.label} {units.recorded(row.seconds_s, not row.quiet)}, {units.share(row.share)}"


def _details(row: Ranked, ceiling: str) -> str:
    named = f"\n{row.detail}" if row.detail else ""
    return f"{_said(row)}; without it, {ceiling} as fast at most{named}"


def _row(row: Ranked, top: float, scale: float, room: Room) -> str:
    bar = top + room.above
    base = bar + _BAR - 1.5
    ceiling = units.ratio(row.ceiling) if math.isfinite(row.ceiling) else "∞"
    numbers = (
        (units.recorded(row.seconds_s, not row.quiet), room.width - 102),
        (units.share(row.share), room.width - 50),
        (ceiling, room.width),
    )
    return svg.element(
        "g",
        svg.title(_details(row, ceiling)),
        svg.element(
            "rect", x=0, y=top - 4, width=room.width, height=_ROW + room.above, class_="back"
        ),
        room.label(row.label, top=top, base=base, class_="name quiet" if row.quiet else "name"),
        svg.element(
            "rect", x=room.left, y=bar, width=max(0.0, row.seconds_s) * scale, height=_BAR, rx=1.5,
            class_="bar baseline" if row.quiet else "bar accent",
        ),
        *(svg.text(text, x=x, y=base, class_="number", anchor="end") for text, x in numbers),
        class_="row",
        data_key=row.key,
    )  # fmt: skip
