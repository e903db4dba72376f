"""How much room a chart has: a page, a column beside a graph, or a telephone."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg

_LETTER = 7.0
_ABOVE = 16.0
"""What a label above its bar needs."""


@dataclass(frozen=True, slots=True)
class Room:
    """A width, and the part of it that labels have at the left; none: they stand above."""

    width: float
    labels: float

    @property
    def left(self) -> float:
        """Return where bars begin."""
        return self.labels

    @property
    def most_ticks(self) -> int:
        """Return how many numbers have room on an axis."""
        return 6 if self.labels else 3

    @property
    def above(self) -> float:
        """Return how much a row begins with for its label."""
        return 0.0 if self.labels else _ABOVE

    def label(self, said: str, *, top: float, base: float, class_: str = "name") -> str:
        """Return a row's label: left of its bar at `base`, or above it, the end of what is long."""
        if self.labels:
            shown = svg.tail(said, int((self.labels - 10) / _LETTER))
            return svg.text(shown, x=self.labels - 10, y=base, class_=class_, anchor="end")
        return svg.text(svg.tail(said, int(self.width / _LETTER)), x=0, y=top + 10, class_=class_)


def grid_line(said: str, *, x: float, top: float, bottom: float) -> str:
    """Return a line of the grid and what stands below it, which stays inside the drawing."""
    line = svg.element("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid")
    anchor = "middle" if x >= 3 * len(said) else "start"
    return line + svg.text(said, x=x, y=bottom + 15, class_="tick", anchor=anchor)


def seconds_line(value_s: float, *, x: float, top: float, bottom: float) -> str:
    """Return the line of the grid at a time."""
    return grid_line(units.seconds(value_s) if value_s else "0", x=x, top=top, bottom=bottom)


def whisker(low: float, high: float, *, middle: float, cap: float) -> str:
    """Return what a value lies between, with ends that are `cap` high to both sides."""
    caps = [
        svg.element("line", x1=x, x2=x, y1=middle - cap, y2=middle + cap, class_="whisker")
        for x in (low, high)
    ]
    line = svg.element("line", x1=low, x2=high, y1=middle, y2=middle, class_="whisker")
    return "".join((line, *caps))


PAGE = Room(720, 230)
ASIDE = Room(520, 214)
NARROW = Room(360, 0)
