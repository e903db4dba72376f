"""One inference along time: a lane for each thread or stream, a bar for all that ran on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg
from burnish.report.charts.room import ASIDE, Room, seconds_line

_RIGHT, _TOP, _BAR, _LANE = 8, 20, 20, 46
_LETTER, _FEWEST = 5.7, 4
"""How wide a letter in a bar is, and from how many on they say anything."""
_NARROWEST = 0.4
"""Bars that are narrower, and close to one another, are drawn as one."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Something that ran on a lane from `start_s` on."""

    label: str
    lane: str
    start_s: float
    duration_s: float
    look: str = "h2"
    """Its colour: a class of the page."""
    key: str = ""

    @property
    def end_s(self) -> float:
        """Return when it ended."""
        return self.start_s + self.duration_s


def chart(stretches: Sequence[Stretch], room: Room = ASIDE) -> str:
    """Return the drawing, from the first start to the last end; bars say what they are."""
    begin = min((one.start_s for one in stretches), default=0.0)
    length = max((one.end_s for one in stretches), default=0.0) - begin
    marks = svg.ticks(length, most=5)
    scale = (room.width - _RIGHT) / (length or 1.0)
    lanes = list(dict.fromkeys(one.lane for one in stretches))
    bottom = _TOP + _LANE * len(lanes)
    grid = [
        seconds_line(v, x=v * scale, top=_TOP - 6, bottom=bottom)
        for v in marks
        if v <= length * (1 + 1e-9)
    ]
    rows = [
        _lane(lane, [o for o in stretches if o.lane == lane], begin, scale, _TOP + _LANE * number)
        for number, lane in enumerate(lanes)
    ]
    return svg.document(
        *grid, *rows, width=room.width, height=bottom + 20,
        label=f"{len(stretches)} stretches on {len(lanes)} lanes in {units.seconds(length)}",
    )  # fmt: skip


def _lane(name: str, stretches: Sequence[Stretch], begin: float, scale: float, top: float) -> str:
    bars = [
        _bar(one, (one.start_s - begin) * scale, max(_NARROWEST, one.duration_s * scale), top + 12)
        for one in _merged(stretches, _NARROWEST / scale)
    ]
    return svg.text(svg.shortened(name, 60), x=0, y=top + 6, class_="small") + "".join(bars)


def _bar(one: Stretch, x: float, width: float, y: float) -> str:
    letters = int((width - 6) / _LETTER)
    words = [svg.text(_cut(one.label, letters), x=x + 3, y=y + _BAR - 6, class_="in-bar")]
    return svg.element(
        "g",
        svg.title(f"{one.label}: {units.seconds(one.duration_s)}"),
        svg.element("rect", x=x, y=y, width=width, height=_BAR),
        *(words if letters >= _FEWEST else ()),
        class_=f"stretch row {one.look}",
        data_key=one.key,
    )


def _cut(label: str, letters: int) -> str:
    """Return the beginning of a label, in whole words if there is room for one."""
    if len(label) <= letters:
        return label
    words, _, _ = label[: letters + 1].rpartition(" ")
    return words or f"{label[: letters - 1]}…"


def _merged(stretches: Sequence[Stretch], narrowest_s: float) -> Iterable[Stretch]:
    """Yield stretches in order; neighbours too narrow to be seen become one, with its count."""
    waiting: list[Stretch] = []
    for one in sorted(stretches, key=lambda one: (one.start_s, -one.duration_s)):
        if waiting and one.start_s - waiting[0].start_s > narrowest_s:
            yield _one_of(waiting)
            waiting = []
        if one.duration_s < narrowest_s:
            waiting.append(one)
        else:
            yield one
    if waiting:
        yield _one_of(waiting)


def _one_of(many: Sequence[Stretch]) -> Stretch:
    if len(many) == 1:
        return many[0]
    end_s = max(one.end_s for one in many)
    first = many[0]
    return Stretch(
        f"{first.label} and {len(many) - 1} more", first.lane, first.start_s,
        end_s - first.start_s, first.look, first.key,
    )  # fmt: skip
