"""Error against gain: every choice a mark, and the line of those that none is better than."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg, theme

WIDTH, HEIGHT = 520, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 20, 44


_STYLE = (
    "text{font-family:var(--sans);font-size:11px;fill:var(--quiet)}.grid{stroke:var(--line)}"
    ".front{fill:none;stroke:var(--accent);stroke-width:1.6}.mark{fill:var(--accent)}"
    ".mark.quiet{fill:var(--baseline)}"
)
"""The drawing stands for itself: whoever opens it has no page around it."""


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """One thing that could be done: what it should save, and what error it has."""

    label: str
    saved: float
    """The share of the operations."""
    error: float


def front(choices: Sequence[ParetoPoint]) -> tuple[ParetoPoint, ...]:
    """Return the choices than which no other saves as much with a smaller error, by what they save.

    Of equals, the first is taken.
    """
    best: list[ParetoPoint] = []
    for one in sorted(choices, key=lambda c: (-c.saved, c.error)):
        if not best or one.error < best[-1].error:
            best.append(one)
    return tuple(reversed(best))


def chart(choices: Sequence[ParetoPoint]) -> str:
    """Return the drawing; what saves more is further right, what is more wrong further up."""
    across = svg.ticks(max((100 * one.saved for one in choices), default=1.0))
    up = svg.ticks(max((100 * one.error for one in choices), default=1.0))
    best = front(choices)

    def x(percent: float) -> float:
        return _LEFT + percent / across[-1] * (WIDTH - _LEFT - _RIGHT)

    def y(percent: float) -> float:
        return HEIGHT - _BOTTOM - percent / up[-1] * (HEIGHT - _TOP - _BOTTOM)

    grid = [
        svg.element("line", x1=x(mark), x2=x(mark), y1=_TOP, y2=HEIGHT - _BOTTOM, class_="grid")
        + svg.text(f"{mark:g} %", x=x(mark), y=HEIGHT - _BOTTOM + 15, class_="tick",
                   anchor="middle")
        for mark in across
    ] + [
        svg.element("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y(mark), y2=y(mark), class_="grid")
        + svg.text(f"{mark:g} %", x=_LEFT - 7, y=y(mark) + 4, class_="tick", anchor="end")
        for mark in up
    ]  # fmt: skip
    points = " ".join(f"{x(100 * one.saved):.1f},{y(100 * one.error):.1f}" for one in best)
    line = svg.element("polyline", points=points, class_="front")
    marks = [_mark(one, x(100 * one.saved), y(100 * one.error), best) for one in choices]
    names = [
        svg.text("operations saved", x=WIDTH / 2, y=HEIGHT - 10, class_="small", anchor="middle"),
        svg.text("relative error of the worst output", x=4, y=12, class_="small"),
    ]
    return svg.document(
        svg.element("style", f"{theme.css()}{_STYLE}"), *grid, line, *marks, *names,
        width=WIDTH, height=HEIGHT,
        label=f"Error against gain of {len(choices)} choices",
    )  # fmt: skip


def _mark(one: ParetoPoint, x: float, y: float, best: Sequence[ParetoPoint]) -> str:
    said = f"{one.label}: saves {units.share(one.saved)}, error {units.share(one.error)}"
    radius = 4.5 if one in best else 3.0
    look = "mark" if one in best else "mark quiet"
    return svg.element("circle", svg.title(said), cx=x, cy=y, r=radius, class_=look)
