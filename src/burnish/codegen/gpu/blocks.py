"""Loops of a Triton kernel as blocks: vectors of indices, and index arithmetic over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from burnish.tile.expr import Guard
from burnish.tile.index import Atom, Axis, Div, Fetch, Index, Mod, bounds

Frame = tuple[Axis, ...]
"""The dimensions of a block of values, in order; each is an axis that runs over many lanes."""


@dataclass(frozen=True, slots=True)
class AxisBlock:
    """How a program sees one axis: some neighbouring elements of it at a time."""

    axis: Axis
    name: str
    """The variable that holds the indices: a vector, or a number where there is one only."""
    size: int
    """Lanes, a power of two."""

    @property
    def whole(self) -> bool:
        """Say whether one block covers the axis."""
        return self.size >= self.axis.extent

    @property
    def padded(self) -> bool:
        """Say whether some lanes may lie behind the end of the axis."""
        return self.axis.extent % self.size != 0


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """Where a program begins along an axis that programs share."""

    place: str
    """Which one it is along the axis, as text."""
    size: int
    """Elements that each has."""
    count: int
    """Programs along the axis."""

    @property
    def first(self) -> str:
        """Return its first element, as text."""
        if self.count == 1:
            return "0"
        return f"{self.place} * {self.size}" if self.size > 1 else self.place


FetchText = Callable[[Fetch], str]
"""An index that is read from a tensor, as text."""


@dataclass(frozen=True, slots=True)
class FrameArithmetic:
    """Writes indices in one frame."""

    blocks: Mapping[Axis, AxisBlock]
    frame: Frame
    fetched: FetchText

    def index(self, index: Index) -> str:
        """Return an index as text; its shape is that of the frame, or it is a number."""
        parts = [self._term(atom, factor) for atom, factor in index.terms]
        if index.constant or not parts:
            parts.append(str(index.constant))
        return " + ".join(parts).replace("+ -", "- ")

    def condition(self, guard: Guard) -> str:
        """Return a condition as text, without what holds in any case; empty: it always holds."""
        low, high = bounds(guard.index)
        text = self.index(guard.index)
        parts = []
        if low < guard.low:
            parts.append(f"({text} >= {guard.low})")
        if high >= guard.high:
            parts.append(f"({text} < {guard.high})")
        return " & ".join(parts)

    def inside(self, axis: Axis) -> str:
        """Return the condition that lanes are not behind the end of an axis."""
        return f"({self._axis(axis)} < {axis.extent})"

    def _term(self, atom: Atom, factor: int) -> str:
        text = self._atom(atom)
        return text if factor == 1 else f"{text} * {factor}"

    def _atom(self, atom: Atom) -> str:
        match atom:
            case Axis():
                return self._axis(atom)
            case Div(of, by):
                text, less = self._positive(of, by)
                quotient = f"{_wrapped(text)} // {by}"
                return f"({quotient} - {less})" if less else f"({quotient})"
            case Mod(of, by):
                text, _ = self._positive(of, by)
                return f"({_wrapped(text)} % {by})"
            case Fetch():
                return self.fetched(atom)

    def _positive(self, of: Index, by: int) -> tuple[str, int]:
        """Return an index and whole periods that keep it from being negative.

        Triton divides towards zero, as C does.
        """
        low, _ = bounds(of)
        periods = max(-(low // by), 0)
        return self.index(of + periods * by), periods

    def _axis(self, axis: Axis) -> str:
        block = self.blocks[axis]
        if block.size == 1 or len(self.frame) == 1:
            return block.name
        place = ", ".join(":" if each == axis else "None" for each in self.frame)
        return f"{block.name}[{place}]"


def _wrapped(text: str) -> str:
    """Return a sum in parentheses; what already has them around it, or is one name, as it is."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and (letter in " *" or (letter == ")" and place + 1 < len(text))):
            return f"({text})"
    return text


def power_of_two(extent: int, least: int = 1) -> int:
    """Return the least power of two that is neither below `extent` nor below `least`."""
    return max(1 << max(extent - 1, 0).bit_length(), least)
