"""Steps along a sequence in the making: the nests of one, and where their tensors lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from burnish.core.arrays import Array
from burnish.operators.loops.products import contract
from burnish.operators.loops.sequences import Sequence, along, inputs_product, weights
from burnish.tile.expr import Argument, Expr, Guard, Inside, call
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, Index, at, number
from burnish.tile.pointwise import like
from burnish.tile.recurrence import Chain, Recurrence, TimeStrip
from burnish.tile.semantics import NestBuilder

Place = tuple[str, tuple[Index, ...]]
"""A tensor, and where it is read."""


class StepWriter(Protocol):
    """What nests of one step are added with, be it the one of all times or one of many."""

    def product(self, name: str, state: str, added: str, gates: range) -> str:
        """Add what states and inputs give for some gates."""

    def plain_product(self, name: str, state: str) -> str:
        """Add what states alone give for all gates."""

    def element(self, name: str, reads: list[Place], scalar: Callable[..., Expr]) -> str:
        """Add a nest over rows and hidden units."""

    def gate(self, tensor: str, which: int) -> Place:
        """Return the read of one gate."""

    def unit(self, tensor: str) -> Place:
        """Return the read of one hidden unit of a state."""

    def row(self, array: Array, name: str) -> Place:
        """Return the read of what is the same in all rows."""


@dataclass(slots=True)
class StepBuilder:
    """The nests of one step of one direction, and where their tensors lie."""

    sequence: Sequence
    direction: int
    builder: NestBuilder
    held: Array
    """The recurrent weights: gate, output, input."""
    inputs: list[str] = field(default_factory=list)
    strips: dict[str, TimeStrip] = field(default_factory=dict)

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """Return rows and hidden units."""
        return Axis("b", self.sequence.batch), Axis("j", self.sequence.hidden)

    @property
    def inner(self) -> Axis:
        """Return the hidden units of the last step, which products sum over."""
        return Axis("k", self.sequence.hidden)

    def read_from(self, name: str, kind: TensorType, strip: TimeStrip | None) -> str:
        """Declare what a step takes: a strip, or the whole of a tensor outside."""
        self.builder.tensors[name] = kind
        self.inputs.append(name)
        if strip is not None:
            self.strips[name] = strip
        return name

    def element(self, name: str, reads: list[Place], scalar: Callable[..., Expr]) -> str:
        """Add a nest over rows and hidden units."""
        found = [Read(tensor, index) for tensor, index in reads]
        kinds = [self.builder.type(tensor).dtype for tensor, _ in reads]
        body = scalar(*(Argument(place, kind) for place, kind in enumerate(kinds)))
        return self.builder.add(name, self.axes, found, body)

    def product(self, name: str, state: str, added: str, gates: range) -> str:
        """Add what states and inputs give for some gates: rows, gates, hidden units."""
        (b, j), k, g = self.axes, self.inner, Axis("g", len(gates))
        held = self.builder.add_constant(self.held[gates.start : gates.stop], f"{name}.weight")
        reads = [Read(state, (at(b), at(k))), Read(held, (at(g), at(j), at(k)))]
        reads.append(Read(added, (at(b), at(g) + gates.start, at(j))))

        def finish(total: Expr) -> Expr:
            return call("add", total, Argument(2, "f32"))

        return contract(self.builder, name, (b, g, j), reads, [k], finish)

    def plain_product(self, name: str, state: str) -> str:
        """Add what states alone give for all gates: rows, gates, hidden units."""
        (b, j), k, g = self.axes, self.inner, Axis("g", len(self.held))
        held = self.builder.add_constant(self.held, f"{name}.weight")
        reads = [Read(state, (at(b), at(k))), Read(held, (at(g), at(j), at(k)))]
        return contract(self.builder, name, (b, g, j), reads, [k])

    def gate(self, tensor: str, which: int) -> Place:
        """Return the read of one gate."""
        b, j = self.axes
        return tensor, (at(b), number(which), at(j))

    def unit(self, tensor: str) -> Place:
        """Return the read of one hidden unit of a state."""
        return tensor, tuple(map(at, self.axes))

    def row(self, array: Array, name: str) -> Place:
        """Return the read of what is the same in all rows."""
        return self.builder.add_constant(array, name), (at(self.axes[1]),)


NOW, LENGTHS = "now", "lengths"


@dataclass(slots=True)
class Unrolled:
    """A recurrence in the making."""

    sequence: Sequence
    builder: NestBuilder
    """Of the nests before the steps."""
    states: tuple[str, ...]
    """Of what there is one for each step: `h`, or `h` and `c`."""
    chains: list[Chain] = field(default_factory=list)
    tensors: dict[str, TensorType] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)

    @property
    def is_direct(self) -> bool:
        """Say whether steps write the node's first output themselves: its parts are whole."""
        s = self.sequence
        in_order = not s.batch_first or (s.batch == 1 and s.directions == 1)
        return s.node.output(0) is not None and s.lengths is None and in_order

    def begin(self, direction: int, bias: Array) -> StepBuilder:
        """Return a step to be filled: it has `x`, and `h` and `c` of the last step as `h.last`."""
        s = self.sequence
        strip = inputs_product(self.builder, s, direction, bias)
        own = NestBuilder({}, {})
        own.begin(s.node)
        step = StepBuilder(s, direction, own, weights(self.builder, s, direction))
        step.read_from("x", TensorType("f32", (s.batch, s.gates, s.hidden)), strip)
        kind = TensorType("f32", (s.batch, s.hidden))
        for place, name in enumerate(self.states):
            here = self._place(name, direction)
            first, start = self._initial(place, direction)
            last = TimeStrip(here.tensor, here.start - here.step, here.step, first, start)
            step.read_from(f"{name}.last", kind, last)
        if s.lengths is not None:
            self.constants[s.own(NOW)] = np.arange(s.steps, dtype=np.int32)
            now = along(s, direction, s.own(NOW), 1)
            step.read_from(NOW, TensorType("i32", (1,)), now)
            step.read_from(
                LENGTHS, self.builder.type(s.lengths), TimeStrip(self._outside(s.lengths), 0, 0)
            )
        return step

    def end(self, step: StepBuilder, new: Mapping[str, str]) -> None:
        """Add the chain of a direction, given the tensors that are its new states."""
        outputs: dict[str, str] = {}
        for name, computed in new.items():
            outputs[name] = self._kept(step, name, computed)
        if self.sequence.lengths is not None:
            outputs["y"] = self._within(step, new["h"])
        for name, tensor in outputs.items():
            step.strips[tensor] = self._place(name, step.direction)
        builder = step.builder
        used = {name for op in builder.ops for name in op.inputs}
        inputs = tuple(name for name in step.inputs if name in used)
        body = TileGraph(
            builder.tensors, inputs, tuple(outputs.values()), tuple(builder.ops), builder.constants
        )
        strips = {n: s for n, s in step.strips.items() if n in used or n in body.outputs}
        self.chains.append(Chain(body, strips, self.sequence.lengths or ""))

    def _initial(self, place: int, direction: int) -> tuple[str, int]:
        """Return where a state lies before the first step."""
        s = self.sequence
        given, size = s.state(place), s.batch * s.hidden
        if given is None:
            name = s.own("zeros")
            self.constants[name] = np.zeros((s.batch, s.hidden), np.float32)
            return name, 0
        if not s.batch_first or s.batch == 1:
            return self._outside(given), direction * size
        b, j = Axis("b", s.batch), Axis("j", s.hidden)
        name = self.builder.fresh(s.own(f"first.{place}.{direction}"))
        return self.builder.view(name, given, (at(b), number(direction), at(j)), (b, j)), 0

    def _outside(self, name: str) -> str:
        """Return a tensor that steps see parts of; a constant is kept with them."""
        if name in self.builder.constants:
            self.constants[name] = np.asarray(self.builder.constants[name])
        return name

    def _place(self, name: str, direction: int) -> TimeStrip:
        """Return where a step writes a state; the first output itself where that is in order."""
        s = self.sequence
        size = s.batch * s.hidden
        if name == "h" and self.is_direct:
            whole = s.node.outputs[0]
            shape = (s.steps, s.directions, s.batch, s.hidden)
            if s.batch_first:
                shape = (s.batch, s.steps, s.directions, s.hidden)
            self.tensors[whole] = TensorType("f32", shape)
            return along(s, direction, whole, size, of=s.directions, at_place=direction)
        tensor = s.own(f"{name}.{direction}")
        self.tensors[tensor] = TensorType("f32", (s.steps, s.batch, s.hidden))
        return along(s, direction, tensor, size)

    def _kept(self, step: StepBuilder, name: str, computed: str) -> str:
        """Return a state that stays as it is behind a row's end."""
        if self.sequence.lengths is None:
            return computed
        reads = [*_times(step), step.unit(computed), step.unit(f"{name}.last")]
        return step.element(f"{name}.kept", reads, _kept_behind)

    def _within(self, step: StepBuilder, computed: str) -> str:
        """Return what a step gives: zeros behind a row's end."""
        reads = [*_times(step), step.unit(computed)]
        return step.element(
            "y", reads, lambda now, length, x: _if_within(now, length, x, like(x, 0.0))
        )

    def recurrence(self) -> Recurrence:
        """Return all of it."""
        return Recurrence(
            nests_before(self.builder), tuple(self.chains), self.sequence.steps, self._after(),
            self.tensors, self.constants,
        )  # fmt: skip

    def _after(self) -> TileGraph | None:
        """Return what gives the node's outputs that no step writes."""
        s = self.sequence
        builder = NestBuilder(self.tensors, {}, self.builder.wanted)
        builder.begin(s.node)
        if s.node.output(0) is not None and not self.is_direct:
            self._every(builder, s.node.outputs[0])
        for place, name in enumerate(self.states, start=1):
            if (output := s.node.output(place)) is not None:
                self._last(builder, output, name)
        if not builder.ops:
            return None
        written = tuple(op.output for op in builder.ops)
        inputs = tuple(dict.fromkeys(name for op in builder.ops for name in op.inputs))
        known = {name: builder.tensors[name] for name in (*inputs, *written)}
        return TileGraph(known, inputs, written, tuple(builder.ops), {})

    def _every(self, builder: NestBuilder, output: str) -> None:
        """Add the first output: time, direction, row, unit."""
        s = self.sequence
        name = "h" if s.lengths is None else "y"
        t, d = Axis("t", s.steps), Axis("d", s.directions)
        b, j = Axis("b", s.batch), Axis("j", s.hidden)
        axes = (b, t, d, j) if s.batch_first else (t, d, b, j)
        tensors = [s.own(f"{name}.{direction}") for direction in range(s.directions)]
        reads = [Read(tensor, (at(t), at(b), at(j))) for tensor in tensors]
        builder.add(output, axes, reads, _of_direction(d))

    def _last(self, builder: NestBuilder, output: str, name: str) -> None:
        """Add the states behind the last step: direction, row, unit."""
        s = self.sequence
        d, b, j = Axis("d", s.directions), Axis("b", s.batch), Axis("j", s.hidden)
        reads = []
        for direction in range(s.directions):
            strip = self._place(name, direction)
            time = number(0 if s.reverse[direction] else s.steps - 1)
            index: tuple[Index, ...] = (time, at(b), at(j))
            if name == "h" and self.is_direct:
                index = (time, number(direction), at(b), at(j))
                if s.batch_first:
                    index = (at(b), time, number(direction), at(j))
            reads.append(Read(strip.tensor, index))
        axes = (b, d, j) if s.batch_first else (d, b, j)
        builder.add(output, axes, reads, _of_direction(d))


def nests_before(builder: NestBuilder) -> TileGraph:
    """Return nests outside of the steps as a graph that gives all that they compute."""
    written = [op.output for op in builder.ops]
    used = dict.fromkeys(name for op in builder.ops for name in op.inputs)
    outside = [name for name in used if name not in written]
    constants = {name: builder.constants[name] for name in outside if name in builder.constants}
    return TileGraph(
        {name: builder.tensors[name] for name in (*outside, *written)},
        tuple(name for name in outside if name not in constants),
        tuple(written),
        tuple(builder.ops),
        constants,
    )


def _times(step: StepBuilder) -> list[Place]:
    return [(NOW, (number(0),)), (LENGTHS, (at(step.axes[0]),))]


def _kept_behind(now: Expr, length: Expr, new: Expr, last: Expr) -> Expr:
    """Return a state, old behind a row's end; of a row without any step zeros, as engines do."""
    begun = _if_within(like(length, 0), length, last, like(last, 0.0))
    return _if_within(now, length, new, begun)


def _if_within(now: Expr, length: Expr, inside: Expr, outside: Expr) -> Expr:
    return call("where", call("less", now, length), inside, outside)


def _of_direction(axis: Axis) -> Expr:
    """Return the read of each direction: the only one, or one of two."""
    first = Argument(0, "f32")
    if axis.extent == 1:
        return first
    return call("where", Inside((Guard(at(axis), 0, 1),)), first, Argument(1, "f32"))
