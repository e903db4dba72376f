"""How much of the time goes away if one thing gets faster, for each thing: the largest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg
from burnish.report.charts.room import ASIDE, Room, grid_line

_RIGHT, _TOP, _ROW, _BAR = 60, 30, 24, 15
LOOKS = ("swing-0", "swing-1", "swing-2", "swing-3")
"""From the smallest change to the largest."""


@dataclass(frozen=True, slots=True)
class Swing:
    """What changes of growing size to one thing save, as parts of the wall time."""

    label: str
    saved: tuple[float | None, ...]
    """In the order of the changes; None: not known for this thing."""
    key: str = ""


def chart(swings: Sequence[Swing], changes: Sequence[str], room: Room = ASIDE) -> str:
    """Return the drawing: the bars of a thing's changes lie over one another, from zero."""
    if len(changes) > len(LOOKS):
        raise ValueError(f"{len(changes)} changes, and {len(LOOKS)} can be told apart")
    most = max((part for swing in swings for part in swing.saved if part), default=0.0)
    marks = svg.ticks(most, most=min(5, room.most_ticks))
    scale, high = (room.width - room.left - _RIGHT) / marks[-1], _ROW + room.above
    bottom = _TOP + high * len(swings)
    grid = [_grid_line(value, room.left + value * scale, bottom) for value in marks]
    rows = [_row(s, changes, _TOP + high * n, scale, room) for n, s in enumerate(swings)]
    return svg.document(
        *_legend(changes, room.left), *grid, *rows, width=room.width, height=bottom + 22,
        label=f"Part of the time saved if one thing gets faster: {', '.join(changes)}",
    )  # fmt: skip


def _legend(changes: Sequence[str], x: float) -> list[str]:
    parts = []
    for change, look in zip(changes, LOOKS, strict=False):
        parts.append(svg.element("rect", x=x, y=4, width=11, height=11, rx=2, class_=look))
        parts.append(svg.text(change, x=x + 16, y=14, class_="small"))
        x += 34 + 6 * len(change)
    return parts


def _grid_line(value: float, x: float, bottom: float) -> str:
    said = f"{100 * value:.3g} %" if value else "0"
    return grid_line(said, x=x, top=_TOP - 6, bottom=bottom)


def _row(swing: Swing, changes: Sequence[str], top: float, scale: float, room: Room) -> str:
    bar = top + room.above
    known = [(part, n) for n, part in enumerate(swing.saved) if part is not None]
    bars = [
        svg.element(
            "rect", x=room.left, y=bar, width=max(0.0, part) * scale, height=_BAR, rx=1.5,
            class_=LOOKS[number],
        )
        for part, number in sorted(known, reverse=True)
    ]  # fmt: skip
    said = ", ".join(f"{changes[n]} saves {units.share(part)}" for part, n in known)
    most = max((part for part, _ in known), default=0.0)
    return svg.element(
        "g",
        svg.title(f"{swing.label}: {said or 'not known'}"),
        svg.element(
            "rect", x=0, y=top - 4, width=room.width, height=_ROW + room.above, class_="back"
        ),
        room.label(swing.label, top=top, base=bar + _BAR - 3),
        *bars,
        svg.text(
            units.share(most), x=room.left + max(0.0, most) * scale + 6, y=bar + _BAR - 3,
            class_="small",
        ),
        class_="row",
        data_key=swing.key,
    )  # fmt: skip
