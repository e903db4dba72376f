"""Something against a size: one line per subject, each point with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.report import svg

WIDTH = 720
_HEIGHT = 260
_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 76, 24, 28, 40, 18
COLOURS = 8
"""How many lines can be told apart by colour; their names tell them apart in any case."""


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


def chart(
    curves: Sequence[Curve], *, title: str, axis: str, written: Callable[[float], str]
) -> str:
    """Return the drawing; sizes stand side by side, and values begin at zero."""
    sizes = sorted({point.size for curve in curves for point in curve.points})
    marks = svg.ticks(max((p.high for curve in curves for p in curve.points), default=0.0))
    scale = _HEIGHT / marks[-1]
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(sizes))
    places = {size: _LEFT + step * (number + 0.5) for number, size in enumerate(sizes)}
    grid = [_grid_line(value, scale, written) for value in marks]
    across = [
        svg.text(f"{axis} {size}", x=x, y=_TOP + _HEIGHT + 16, class_="tick", anchor="middle")
        for size, x in places.items()
    ]
    lines = [_line(curve, number, places, scale, written) for number, curve in enumerate(curves)]
    names = [_name(curve, number) for number, curve in enumerate(curves)]
    said = "; ".join(_said(curve, axis, written) for curve in curves)
    return svg.document(
        svg.text(title, x=0, y=14, class_="name"), *grid, *across, *lines, *names,
        width=WIDTH, height=_TOP + _HEIGHT + _BOTTOM + _LINE * len(curves),
        label=f"{title}: {said}",
    )  # fmt: skip


def _grid_line(value: float, scale: float, written: Callable[[float], str]) -> str:
    y = _TOP + _HEIGHT - value * scale
    label = written(value) if value else "0"
    line = svg.element("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y, y2=y, class_="grid")
    return line + svg.text(label, x=_LEFT - 8, y=y + 4, class_="tick", anchor="end")


def _line(
    curve: Curve,
    number: int,
    places: dict[int, float],
    scale: float,
    written: Callable[[float], str],
) -> str:
    class_ = f"curve c{number % COLOURS}"
    at = [(places[p.size], _TOP + _HEIGHT - p.value * scale) for p in curve.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    line = svg.element("polyline", points=path, class_=class_) if len(at) > 1 else ""
    marks = [
        svg.element(
            "g",
            svg.title(
                f"{curve.label}: {written(p.value)}, {written(p.low)} to {written(p.high)}"
            ),
            svg.element(
                "line", x1=x, x2=x, y1=_TOP + _HEIGHT - p.low * scale,
                y2=_TOP + _HEIGHT - p.high * scale, class_=class_,
            ),
            svg.element("circle", cx=x, cy=y, r=3.5, class_=class_),
        )
        for p, (x, y) in zip(curve.points, at, strict=True)
    ]  # fmt: skip
    return svg.element("g", line, *marks)


def _name(curve: Curve, number: int) -> str:
    y = _TOP + _HEIGHT + _BOTTOM + _LINE * number
    mark = svg.element(
        "line", x1=_LEFT, x2=_LEFT + 22, y1=y - 4, y2=y - 4, class_=f"curve c{number % COLOURS}"
    )
    return mark + svg.text(svg.shortened(curve.label, 90), x=_LEFT + 30, y=y, class_="small")


def _said(curve: Curve, axis: str, written: Callable[[float], str]) -> str:
    values = ", ".join(f"{written(point.value)} at {axis} {point.size}" for point in curve.points)
    return f"{curve.label}: {values}"
