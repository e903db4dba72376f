"""Windows that slide: a program computes a patch of neighbours, and walks on with what it has read.

Outputs side by side share what they read by name. Along the outer of two directions a program also
takes several turns: what the next turn reads again is handed on, and only the rest is loaded, while
this turn computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product as every

from burnish.codegen.gpu.blocks import AxisBlock
from burnish.codegen.gpu.guards import Bind
from burnish.codegen.gpu.loads import touch
from burnish.codegen.gpu.values import Scope, Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Guard
from burnish.tile.index import Axis, Index, at, axes_of, number, substitute


@dataclass(frozen=True, slots=True)
class Patch:
    """Outputs of one lane: some along each axis in one turn, and turns along the last of them."""

    phases: Mapping[Axis, int]
    walked: Axis | None = None
    turns: int = 1

    @property
    def counts(self) -> dict[Axis, int]:
        """Return how many neighbours along each axis one lane computes in all."""
        found = {axis: count for axis, count in self.phases.items() if count > 1}
        if self.walked is not None and self.turns > 1:
            found[self.walked] = self.phases.get(self.walked, 1) * self.turns
        return found

    def places(self, steps: Bind, axes: Mapping[Axis, Axis], turn: Index) -> Iterator[Bind]:
        """Yield where the anchor's axes are, for each output of a turn."""
        counts = self.counts
        phases = {axis: self.phases.get(axis, 1) for axis in counts}
        for place in every(*(range(count) for count in phases.values())):
            shift = {axis: number(each) for axis, each in zip(phases, place, strict=True)}
            if self.walked in shift:
                shift[self.walked] = shift[self.walked] + turn * phases[self.walked]
            yield {
                axis: steps[new] * counts.get(axis, 1) + shift.get(axis, number(0))
                for axis, new in axes.items()
            }


def patch_of(sliding: Sequence[Axis], settings: Mapping[str, int]) -> Patch:
    """Return what one lane computes, of windows that slide along some axes, the innermost first."""
    wanted = (settings.get("across", 1), settings.get("down", 1))
    phases = {axis: min(n, axis.extent) for axis, n in zip(sliding, wanted, strict=False)}
    turns = settings.get("turns", 1)
    if len(sliding) < 2 or turns * phases[sliding[1]] > sliding[1].extent:
        return Patch(phases)
    return Patch(phases, sliding[1], turns)


@dataclass(frozen=True, slots=True)
class WalkTurn:
    """One of the turns that a program takes."""

    index: Index
    ready: tuple[Guard, ...] = ()
    """What holds where its outputs are complete."""
    ranges: Mapping[Axis, tuple[int, int]] = field(default_factory=dict)
    """What the axis of all turns is then."""


@contextmanager
def turning(writer: KernelWriter, turns: int, lead: int = 0) -> Iterator[WalkTurn]:
    """Write a loop over turns, which gives its index; what one has read, the next one keeps.

    With a lead there are as many turns more before the first one: nothing is complete by then.
    """
    if turns == 1:
        yield WalkTurn(number(0))
        return
    name = writer.fresh("turn")
    axis = Axis(name, turns + lead)
    writer.blocks[axis] = AxisBlock(axis, name, 1)
    with writer.loop(f"for {name} in range({axis.extent}):", (axis,), axis.extent):
        ready = Guard(at(axis), lead, axis.extent)
        yield WalkTurn(at(axis) - lead, (ready,) if lead else (), {axis: (lead, axis.extent - 1)})
        _hand_on(writer, axis, always=lead > 0)


@dataclass(frozen=True, slots=True)
class _Load:
    """Something that a turn loads."""

    tensor: str
    index: tuple[Index, ...]
    guards: tuple[Guard, ...]
    otherwise: object
    value: Value

    def becomes(self, other: _Load, turn: Axis) -> bool:
        """Say whether the next turn loads here what this one loads there."""
        bind = {turn: at(turn) + 1}
        moved = tuple(substitute(part, bind) for part in self.index)
        if (self.tensor, moved) != (other.tensor, other.index):
            return False
        if self.value.dims != other.value.dims:
            return False
        if self.guards and other.guards and self.otherwise != other.otherwise:
            return False
        own, theirs = (
            {each for each in guards if turn not in axes_of(each.index)}
            for guards in (self.guards, other.guards)
        )
        # conditions on the walked axis are those of one tensor at one place: the same
        return own == theirs


def _hand_on(writer: KernelWriter, turn: Axis, *, always: bool) -> None:
    """Rewrite the loop that is being written: what it loads, was loaded in the turn before.

    Where nothing is handed on, loads stay where they are, unless they are always to run ahead.
    """
    body, outer = writer.scopes[-1], writer.scopes[-2]
    loads = list(_movable(_loads(writer, body), body))
    next_of: dict[str, str] = {}
    for load in loads:
        found = next((other for other in loads if load.becomes(other, turn)), None)
        if found is not None:
            next_of[load.value.text] = found.value.text
            _spare(writer, load, body.trips - outer.trips)
    if not loads or not (next_of or always):
        return
    new = {load.value.text: f"{load.value.text}_ahead" for load in loads} | next_of
    first = {name: line for line in body.lines if (name := line.partition(" = ")[0]) in new}
    ahead = [_ahead(first[name], turn) for name in new if name not in next_of]
    rest = [line for line in body.lines if line.partition(" = ")[0] not in first]
    outer.lines += [f"{turn.name} = 0", *first.values()]
    body.lines = [*ahead, *rest, *(f"{name} = {source}" for name, source in _in_order(new))]


def _movable(loads: Iterable[_Load], body: Scope) -> Iterator[_Load]:
    """Yield loads of a turn that need nothing it computes: others, as of fetched places, stay."""
    lines = {line.partition(" = ")[0]: line for line in body.lines}
    for load in loads:
        text = lines.get(load.value.text, "").partition(" = ")[2]
        if text and lines.keys().isdisjoint(re.findall(r"\w+", text)):
            yield load


def _ahead(line: str, turn: Axis) -> str:
    """Return the statement that loads for the next turn, if there is one, under another name."""
    name, _, rest = line.partition(" = tl.load(")
    text, _, compared = rest.rpartition(")")  # what is true is stored as a number
    moved = re.sub(rf"\b{turn.name}\b", f"({turn.name} + 1)", text)
    place, masked, rest = moved.partition(", mask=")
    condition, _, other = rest.rpartition(", other=")
    more = f"({turn.name} + 1 < {turn.extent})"
    condition = f"{condition} & {more}" if masked else more
    return f"{name}_ahead = tl.load({place}, mask={condition}, other={other or '0'}){compared}"


def _loads(writer: KernelWriter, body: Scope) -> Iterator[_Load]:
    for key, value in body.values.items():
        if value.text not in writer.loaded:
            continue
        match key:
            case (str(tensor), tuple(index), tuple(guards), otherwise, _):
                yield _Load(tensor, index, guards, otherwise, value)
            case (str(tensor), tuple(index), _) if tensor not in writer.ops:
                yield _Load(tensor, index, (), None, value)


def _spare(writer: KernelWriter, load: _Load, trips: int) -> None:
    """Take back what was counted for a load in every turn but the first."""
    dtype, dims = writer.types[load.tensor].dtype, load.value.dims
    writer.tally.spare(load.tensor, dtype, writer.elements(dims), trips)
    touch(writer, writer.offset(load.tensor, load.index), dtype, dims, -trips)


def _in_order(next_of: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield assignments so that nothing is overwritten that is still to be handed on."""
    left = dict(next_of)
    while left:
        sources = set(left.values())
        name = next(each for each in left if each not in sources)
        yield name, left.pop(name)
