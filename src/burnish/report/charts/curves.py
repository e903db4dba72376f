"""Something against a size: one line per subject, each point with its interval.

Values begin at zero; where the largest is many times the smallest, which would lie flat on the
ground, they stand on powers of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.report import svg
from burnish.report.charts.powers import PowerAxis

WIDTH = 720
_HEIGHT = 260
_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 76, 24, 28, 40, 18
COLOURS = 8
"""How many lines can be told apart by colour; their names tell them apart in any case."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_FLAT = 20.0
"""How many times the smallest value the largest is, from where on powers of ten are drawn."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A value at a size, and the interval that holds it."""

    size: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The values of one subject."""

    label: str
    points: tuple[CurvePoint, ...]
    colour: int
    dash: int = 0
    """Which of the lines of one colour: 0 is drawn through."""


def chart(
    curves: Sequence[Curve], *, title: str, axis: str, written: Callable[[float], str]
) -> str:
    """Return the drawing; sizes stand side by side."""
    sizes = sorted({point.size for curve in curves for point in curve.points})
    up = _axis([point for curve in curves for point in curve.points])
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(sizes))
    places = {size: _LEFT + step * (number + 0.5) for number, size in enumerate(sizes)}
    grid = [_grid_line(value, up, written) for value in up.powers]
    across = [
        svg.text(f"{axis} {size}", x=x, y=_TOP + _HEIGHT + 16, class_="tick", anchor="middle")
        for size, x in places.items()
    ]
    lines = [_line(curve, places, up, written) for curve in curves]
    names = [_name(curve, number) for number, curve in enumerate(curves)]
    said = "; ".join(_said(curve, axis, written) for curve in curves)
    return svg.document(
        svg.text(title, x=0, y=14, class_="name"), *grid, *across, *lines, *names,
        width=WIDTH, height=_TOP + _HEIGHT + _BOTTOM + _LINE * len(curves),
        label=f"{title}: {said}",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _FromZero:
    """Values from zero upwards."""

    powers: list[float]
    """The values that have a mark."""

    def place(self, value: float) -> float:
        return _TOP + _HEIGHT - value * _HEIGHT / self.powers[-1]


def _axis(points: Sequence[CurvePoint]) -> _FromZero | PowerAxis:
    values = [point.value for point in points]
    ends = [end for point in points for end in (point.low, point.high)]
    if min(ends, default=0.0) > 0 and max(values) > _FLAT * min(values):
        return PowerAxis.around(ends, _TOP + _HEIGHT, _TOP)
    return _FromZero(list(svg.ticks(max(ends, default=0.0))))


def _grid_line(value: float, up: _FromZero | PowerAxis, written: Callable[[float], str]) -> str:
    y = up.place(value)
    label = written(value) if value else "0"
    line = svg.element("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y, y2=y, class_="grid")
    return line + svg.text(label, x=_LEFT - 8, y=y + 4, class_="tick", anchor="end")


def _line(
    curve: Curve,
    places: dict[int, float],
    up: _FromZero | PowerAxis,
    written: Callable[[float], str],
) -> str:
    class_ = _class(curve)
    at = [(places[p.size], up.place(p.value)) for p in curve.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    line = svg.element("polyline", points=path, class_=class_, **_dashed(curve))
    marks = [
        svg.element(
            "g",
            svg.title(f"{curve.label}: {written(p.value)}, {written(p.low)} to {written(p.high)}"),
            svg.element("line", x1=x, x2=x, y1=up.place(p.low), y2=up.place(p.high), class_=class_),
            svg.element("circle", cx=x, cy=y, r=3.5, class_=class_),
        )
        for p, (x, y) in zip(curve.points, at, strict=True)
    ]
    return svg.element("g", line if len(at) > 1 else "", *marks)


def _class(curve: Curve) -> str:
    return f"curve c{curve.colour % COLOURS}"


def _dashed(curve: Curve) -> dict[str, str]:
    dashes = _DASHES[curve.dash % len(_DASHES)]
    return {"stroke_dasharray": dashes} if dashes else {}


def _name(curve: Curve, number: int) -> str:
    y = _TOP + _HEIGHT + _BOTTOM + _LINE * number
    mark = svg.element(
        "line", x1=_LEFT, x2=_LEFT + 22, y1=y - 4, y2=y - 4, class_=_class(curve), **_dashed(curve)
    )
    return mark + svg.text(svg.shortened(curve.label, 90), x=_LEFT + 30, y=y, class_="small")


def _said(curve: Curve, axis: str, written: Callable[[float], str]) -> str:
    values = ", ".join(f"{written(point.value)} at {axis} {point.size}" for point in curve.points)
    return f"{curve.label}: {values}"
