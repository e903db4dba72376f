"""Work on a device's roof: how fast each node computes, against what memory and units allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg
from burnish.report.charts.powers import PowerAxis
from burnish.report.charts.room import ASIDE, Room

HEIGHT = 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 28, 44
_NAME_STEP = 34
"""So far apart do the names of memories stand."""
_POWERS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


@dataclass(frozen=True, slots=True)
class Mark:
    """A node or a kind of nodes: what it computes and moves, and how long that took."""

    label: str
    flops: float
    bytes_moved: float
    seconds_s: float
    key: str = ""


@dataclass(frozen=True, slots=True)
class DeviceRoof:
    """What a device can do at best."""

    name: str
    peak_flops_per_s: float
    bandwidths_bytes_per_s: Mapping[str, float]
    """Of each memory by name, the fastest first; the last holds everything."""

    @property
    def slowest_bytes_per_s(self) -> float:
        """Return the bandwidth of the memory that holds everything."""
        return list(self.bandwidths_bytes_per_s.values())[-1]

    def limit(self, intensity: float) -> float:
        """Return the most operations a second at this many operations a byte."""
        return min(self.peak_flops_per_s, intensity * self.slowest_bytes_per_s)


def chart(marks: Sequence[Mark], roof: DeviceRoof, room: Room = ASIDE) -> str:
    """Return the drawing, both axes in powers of ten; the area of a mark is its time.

    What computes nothing (copies, reshapes) has no place on it.
    """
    shown = [m for m in marks if m.flops > 0 and m.bytes_moved > 0 and m.seconds_s > 0]
    ridge = roof.peak_flops_per_s / roof.slowest_bytes_per_s
    intensities = [ridge, *(m.flops / m.bytes_moved for m in shown)]
    across = PowerAxis.around(intensities, _LEFT, room.width - _RIGHT)
    rates = [roof.peak_flops_per_s, *(m.flops / m.seconds_s for m in shown)]
    up = PowerAxis.around(rates, HEIGHT - _BOTTOM, _TOP)
    longest = max((m.seconds_s for m in shown), default=1.0)
    drawn = [
        _mark(m, across, up, longest, roof)
        for m in sorted(shown, key=lambda m: (-m.seconds_s, m.label))
    ]
    return svg.document(
        *_grid(across, up), *_roof(roof, across, up), *drawn, width=room.width, height=HEIGHT,
        label=f"Roofline of {roof.name} with {len(shown)} marks",
    )  # fmt: skip


def _grid(across: PowerAxis, up: PowerAxis) -> list[str]:
    parts = []
    for power in across.powers:
        x = across.place(power)
        parts.append(svg.element("line", x1=x, x2=x, y1=up.end, y2=up.start, class_="grid"))
        parts.append(svg.text(f"{power:g}", x=x, y=up.start + 15, class_="tick", anchor="middle"))
    for power in up.powers:
        y = up.place(power)
        parts.append(svg.element("line", x1=across.start, x2=across.end, y1=y, y2=y, class_="grid"))
        parts.append(
            svg.text(_rate(power), x=across.start - 7, y=y + 4, class_="tick", anchor="end")
        )
    middle = (across.start + across.end) / 2
    parts.append(
        svg.text("FLOP per byte", x=middle, y=HEIGHT - 10, class_="small", anchor="middle")
    )
    parts.append(svg.text("FLOP/s", x=4, y=11, class_="small"))
    return parts


def _roof(roof: DeviceRoof, across: PowerAxis, up: PowerAxis) -> list[str]:
    """Return the flat part, and a slope for each memory, the one that holds everything boldest."""
    peak = up.place(roof.peak_flops_per_s)
    parts = []
    last = list(roof.bandwidths_bytes_per_s)[-1]
    for number, (name, bandwidth) in enumerate(roof.bandwidths_bytes_per_s.items()):
        first = max(10.0**across.low, 10.0**up.low / bandwidth)
        ridge = min(roof.peak_flops_per_s / bandwidth, 10.0**across.high)
        if first >= ridge:
            continue
        foot = (across.place(first), up.place(first * bandwidth))
        end = across.end if name == last else across.place(ridge)
        corners = [foot, (across.place(ridge), up.place(ridge * bandwidth)), (end, peak)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        look = "roof" if name == last else "roof cache"
        parts.append(svg.element("polyline", points=points, class_=look))
        parts.append(_slope_name(name, corners[:2], number, below=name == last))
    label = f"{roof.name}: {_rate(roof.peak_flops_per_s)}FLOP/s"
    parts.append(svg.text(label, x=across.end - 4, y=peak - 6, class_="small", anchor="end"))
    return parts


def _slope_name(
    name: str, slope: Sequence[tuple[float, float]], number: int, *, below: bool
) -> str:
    """Return a memory's name at its slope: left above it, and of the lowest one right below.

    Side by side, for memories of nearly the same speed lie close to one another.
    """
    (x0, y0), (x1, y1) = slope
    x = min(x0 + _NAME_STEP * (number + 1), (x0 + x1) / 2)
    y = y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    if below:
        return svg.text(name, x=x + 4, y=y + 11, class_="small")
    return svg.text(name, x=x, y=y - 4, class_="small", anchor="end")


def _mark(mark: Mark, across: PowerAxis, up: PowerAxis, longest: float, roof: DeviceRoof) -> str:
    intensity, rate = mark.flops / mark.bytes_moved, mark.flops / mark.seconds_s
    limit = roof.limit(intensity)
    bound = "memory" if limit < roof.peak_flops_per_s else "arithmetic"
    said = (
        f"{mark.label}: {units.seconds(mark.seconds_s)}, {_rate(rate)}FLOP/s of at most "
        f"{_rate(limit)}FLOP/s from the largest memory ({units.share(rate / limit)}), "
        f"bound by {bound} at best"
    )
    return svg.element(
        "circle", svg.title(said), cx=across.place(intensity), cy=up.place(rate),
        r=max(2.5, 16 * math.sqrt(mark.seconds_s / longest)), class_="mark row", data_key=mark.key,
    )  # fmt: skip


def _rate(value: float) -> str:
    factor, letter = next((pair for pair in _POWERS if value >= pair[0]), _POWERS[-1])
    return f"{value / factor:.3g} {letter}"
