"""What takes the most time, the largest first, and the most that work on it can give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg

WIDTH = 520
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 214, 168, 22, 22, 13


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


def chart(rows: Sequence[Ranked], *, title: str) -> str:
    """Return the drawing; bars start at zero."""
    longest = max((row.seconds_s for row in rows), default=0.0) or 1.0
    scale = (WIDTH - _LEFT - _RIGHT) / longest
    head = [
        svg.text(word, x=x, y=13, class_="small", anchor="end")
        for word, x in (("time", WIDTH - 102), ("share", WIDTH - 50), ("ceiling", WIDTH))
    ]
    drawn = [_row(row, _TOP + _ROW * number, scale) for number, row in enumerate(rows)]
    return svg.document(
        *head, *drawn, width=WIDTH, height=_TOP + _ROW * len(rows) + 2,
        label=f"{title}: {'; '.join(_said(row) for row in rows[:5])}",
    )  # fmt: skip


def _said(row: Ranked) -> str:
    return f"{row.label} {units.seconds(row.seconds_s)}, {units.share(row.share)}"


def _details(row: Ranked, ceiling: str) -> str:
    named = f"\n{row.detail}" if row.detail else ""
    return f"{_said(row)}; without it, {ceiling} as fast at most{named}"


def _row(row: Ranked, top: float, scale: float) -> str:
    base = top + _BAR - 1.5
    ceiling = units.ratio(row.ceiling) if math.isfinite(row.ceiling) else "∞"
    numbers = (
        (units.seconds(row.seconds_s), WIDTH - 102),
        (units.share(row.share), WIDTH - 50),
        (ceiling, WIDTH),
    )
    return svg.element(
        "g",
        svg.title(_details(row, ceiling)),
        svg.element("rect", x=0, y=top - 4, width=WIDTH, height=_ROW, class_="back"),
        svg.text(
            svg.tail(row.label, 32), x=_LEFT - 10, y=base, anchor="end",
            class_="name quiet" if row.quiet else "name",
        ),
        svg.element(
            "rect", x=_LEFT, y=top, width=max(0.0, row.seconds_s) * scale, height=_BAR, rx=1.5,
            class_="bar baseline" if row.quiet else "bar accent",
        ),
        *(svg.text(text, x=x, y=base, class_="number", anchor="end") for text, x in numbers),
        class_="row",
        data_key=row.key,
    )  # fmt: skip
