"""The geometry of sliding windows, which convolutions and poolings share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnish.core.arrays import Array
from burnish.operators.record import Operands, Partial
from burnish.operators.size import Size, add, floor_divide
from burnish.tile.index import Axis, Index, at
from burnish.tile.semantics import NestBuilder, NotCoveredError


@dataclass(frozen=True, slots=True)
class Side:
    """Windows along one dimension: output `o` sees `o·stride - before + t·dilation`, t < kernel."""

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    """Padding behind the data that was asked for; windows may need less, or (ceil) more."""
    outputs: int

    @property
    def needed_after(self) -> int:
        """Return how many elements behind the data the last window sees."""
        return max(self._last + 1 - self.size, 0)

    @property
    def unseen_after(self) -> int:
        """Return how many elements at the end of the data no window reaches."""
        return max(self.size - 1 - self._last, 0)

    @property
    def within(self) -> Side:
        """Return the same windows without the taps at their ends that see data in none of them.

        Some write a window that is larger than any data where they mean all of it.
        """
        reached = -(-(self.size + self.before) // self.dilation)
        return replace(self, kernel=max(min(self.kernel, reached), 1))

    @property
    def unseeing(self) -> int:
        """Return how many taps at the beginning see data in no window."""
        reach = (self.outputs - 1) * self.stride - self.before
        found = max(-(reach // self.dilation), 0)
        return min(found, self.before // self.dilation, self.kernel - 1)

    def without(self, taps: int) -> Side:
        """Return the same windows without so many of their first taps."""
        return replace(self, kernel=self.kernel - taps, before=self.before - taps * self.dilation)

    @property
    def _last(self) -> int:
        return (self.outputs - 1) * self.stride - self.before + (self.kernel - 1) * self.dilation

    @property
    def inside(self) -> Array:
        """Return how many elements of the data each window sees."""
        return self._counted(0, self.size)

    @property
    def inside_padding(self) -> Array:
        """Return how many elements of the data and of the padding asked for each window sees."""
        return self._counted(-self.before, self.size + self.after)

    def _counted(self, low: int, high: int) -> Array:
        starts = np.arange(self.outputs)[:, None] * self.stride - self.before
        seen = starts + np.arange(self.kernel) * self.dilation
        return np.asarray(np.sum((seen >= low) & (seen < high), axis=1))


def sides(
    attributes: Mapping[str, Any], sizes: Sequence[int], kernel: Sequence[int]
) -> tuple[Side, ...]:
    """Return the windows of a node with these attributes over dimensions of these sizes."""
    count = len(sizes)
    if len(kernel) != count:
        raise NotCoveredError(f"its kernel has {len(kernel)} dimensions for data with {count}")
    strides = tuple(attributes.get("strides") or [1] * count)
    dilations = tuple(attributes.get("dilations") or [1] * count)
    pads = tuple(attributes.get("pads") or [0] * 2 * count)
    how = attributes.get("auto_pad") or "NOTSET"
    rounds_up = bool(attributes.get("ceil_mode", 0))
    return tuple(
        _side((size, *geometry), (pads[i], pads[count + i]), how, rounds_up)
        for i, (size, *geometry) in enumerate(zip(sizes, kernel, strides, dilations, strict=True))
    )


def _side(geometry: Sequence[int], pads: tuple[int, int], how: str, rounds_up: bool) -> Side:
    size, kernel, stride, dilation = geometry
    reach = (kernel - 1) * dilation + 1
    if how in ("SAME_UPPER", "SAME_LOWER"):
        outputs = -(-size // stride)
        total = max((outputs - 1) * stride + reach - size, 0)
        less, more = total // 2, total - total // 2
        before, after = (less, more) if how == "SAME_UPPER" else (more, less)
        return Side(size, kernel, stride, dilation, before, after, outputs)
    before, after = pads if how == "NOTSET" else (0, 0)
    if min(before, after) < 0:
        raise NotCoveredError("its pads are negative")
    room = size + before + after - reach
    outputs = (-(-room // stride) if rounds_up else room // stride) + 1
    if rounds_up and (outputs - 1) * stride >= size + before:
        # A window that would start in the padding behind the data is left out.
        outputs -= 1
    return Side(size, kernel, stride, dilation, before, after, max(outputs, 0))


def fitting(at: Operands, sizes: Sequence[Size], window: Sequence[Size]) -> Partial:
    """Return in how many places a window fits; None where its own width is open."""
    axes = len(sizes)
    steps, spread = at.ints("strides") or (1,) * axes, at.ints("dilations") or (1,) * axes
    pads, how = at.ints("pads") or (0,) * (2 * axes), at.text("auto_pad", "NOTSET")
    found: list[Size | None] = []
    for axis, (own, width) in enumerate(zip(sizes, window, strict=True)):
        both = (pads[axis], pads[axis + axes])
        if isinstance(own, int) and isinstance(width, int):
            geometry = (own, width, steps[axis], spread[axis])
            found.append(_side(geometry, both, how, bool(at.number("ceil_mode", 0))).outputs)
        elif not isinstance(width, int):
            found.append(None)
        elif how.startswith("SAME"):
            found.append(floor_divide(add(own, steps[axis] - 1), steps[axis]))
        else:
            added = 0 if how == "VALID" else sum(both)
            reach = spread[axis] * (width - 1) + 1
            up = bool(at.number("ceil_mode", 0))
            found.append(_places(add(own, added), reach, steps[axis], up=up, padded=added > 0))
    return tuple(found)


def _places(length: Size, reach: int, step: int, *, up: bool, padded: bool) -> Size | None:
    """Return how often a window fits into an open length; None: that depends on the padding.

    Rounded up, a last window that would begin in the padding is left out.
    """
    if up and step > 1 and (padded or step > reach):
        return None
    more = step - 1 if up else 0
    return add(floor_divide(add(length, more - reach), step), 1)


def seen(all_sides: Sequence[Side], outputs: Sequence[Axis], taps: Sequence[Axis]) -> list[Index]:
    """Return where each window's taps lie in the padded data."""
    return [
        at(output) * side.stride + at(tap) * side.dilation
        for side, output, tap in zip(all_sides, outputs, taps, strict=True)
    ]


def window_axes(all_sides: Sequence[Side]) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """Return the axes of the outputs, and of the taps of a window."""
    outputs = tuple(Axis(f"o{i}", side.outputs) for i, side in enumerate(all_sides))
    return outputs, tuple(Axis(f"t{i}", side.kernel) for i, side in enumerate(all_sides))


def padded_for(builder: NestBuilder, source: str, all_sides: Sequence[Side], value: float) -> str:
    """Return the data with the padding that the windows need, as a tensor of its own."""
    from burnish.operators.families.pad import padded

    before = (0, 0, *(side.before for side in all_sides))
    after = (0, 0, *(side.needed_after for side in all_sides))
    return padded(builder, source, before, after, value)
