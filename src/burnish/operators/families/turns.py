"""Bodies that are repeated: Scan along the slices of its inputs, Loop so many times.

Each turn is a step, as one time of an LSTM is: states are read where the turn before wrote them,
slices are taken where they lie, and what turns give is written into the node's outputs themselves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from burnish.core.arrays import Array
from burnish.operators.loops.sequences import MOST_STEPS
from burnish.operators.loops.time_steps import nests_before
from burnish.operators.record import Operands, Operator, register
from burnish.tile.graph import TensorType, TileGraph, TileOp
from burnish.tile.index import at, number
from burnish.tile.pointwise import positive_axis
from burnish.tile.recurrence import Body, Chain, Recurrence, TimeStrip
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


@dataclass(slots=True)
class _Turns:
    """A repeated body in the making."""

    node: Node
    body: Body
    times: int
    before: NestBuilder
    turn: NestBuilder
    strips: dict[str, TimeStrip] = field(default_factory=dict)
    given: list[str] = field(default_factory=list)
    """What a turn gives."""
    tensors: dict[str, TensorType] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)

    def own(self, what: str) -> str:
        """Return the name of a tensor that only this node has."""
        return f"{next(name for name in self.node.outputs if name)}${what}"

    def outside(self, name: str) -> str:
        """Return a tensor that turns see parts of; a constant is kept with them."""
        if name in self.before.constants:
            self.constants[name] = np.asarray(self.before.constants[name])
        return name

    def state(self, place: int, initial: str, formal: str, result: str) -> None:
        """Add what a turn finds, and leaves for the next; the last is an output of the node."""
        kind = self._kind(formal)
        if self.before.type(initial) != kind or self._kind(result) != kind:
            raise NotCoveredError(f"{result!r} is not what {initial!r} is: turns differ in shape")
        tensor, size = self.own(f"state.{place}"), kind.size
        self.tensors[tensor] = TensorType(kind.dtype, (self.times, *kind.shape))
        self.strips[formal] = TimeStrip(tensor, -size, size, self.outside(initial), 0)
        self._give(result, TimeStrip(tensor, 0, size))

    def slices(self, source: str, formal: str, axis: int, *, backwards: bool) -> None:
        """Add an input of which each turn sees one slice."""
        axis = positive_axis(axis, len(self.before.type(source).shape))
        tensor = self._outermost(source, axis) if axis else self.outside(source)
        self.strips[formal] = self._along(tensor, self._kind(formal).size, backwards=backwards)

    def gives(self, output: str, result: str, *, backwards: bool = False) -> None:
        """Add an output that has a slice of each turn."""
        kind = self._kind(result)
        self.tensors[output] = TensorType(kind.dtype, (self.times, *kind.shape))
        self._give(result, self._along(output, kind.size, backwards=backwards))

    def recurrence(self, states: list[str]) -> Recurrence:
        """Return all of it, given the outputs that are states behind the last turn."""
        builder = self.turn
        used = {name for op in builder.ops for name in op.inputs}
        outside = [name for name in self.body.graph.inputs if name not in self.strips]
        self.strips |= {name: TimeStrip(name, 0, 0) for name in outside}
        inputs = tuple(name for name in self.strips if name in used and name not in self.given)
        constants = {name: builder.constants[name] for name in used & builder.constants.keys()}
        written = {op.output for op in builder.ops}
        known = {n: builder.tensors[n] for n in (*inputs, *written, *constants)}
        graph = TileGraph(known, inputs, tuple(self.given), tuple(builder.ops), constants)
        strips = {n: s for n, s in self.strips.items() if n in (*inputs, *self.given)}
        return Recurrence(
            nests_before(self.before), (Chain(graph, strips),), self.times, self._after(states),
            self.tensors, self.constants,
        )  # fmt: skip

    def _after(self, states: list[str]) -> TileGraph | None:
        """Return what gives the states behind the last turn."""
        builder = NestBuilder(self.tensors, {}, self.before.wanted)
        builder.begin(self.node)
        for place, output in enumerate(states):
            if output:
                tensor = self.own(f"state.{place}")
                axes = axes_for(self.tensors[tensor].shape[1:])
                builder.view(output, tensor, (number(self.times - 1), *map(at, axes)), axes)
        return nests_before(builder) if builder.ops else None

    def _kind(self, name: str) -> TensorType:
        kind = self.turn.type(name)
        if not kind.size:
            raise NotCoveredError(f"{name!r} has no elements")
        return kind

    def _give(self, result: str, strip: TimeStrip) -> None:
        """Let a turn write its own copy of a result: it may be read, or given twice."""
        axes = axes_for(self._kind(result).shape)
        name = self.turn.view(self.turn.fresh("given"), result, tuple(map(at, axes)), axes)
        self.strips[name] = strip
        self.given.append(name)

    def _outermost(self, source: str, axis: int) -> str:
        """Return a tensor with another axis outermost."""
        sizes = self.before.type(source).shape
        axes = axes_for(sizes)
        order = (axes[axis], *axes[:axis], *axes[axis + 1 :])
        name = self.before.fresh(self.own(f"along.{source}"))
        return self.before.view(name, source, tuple(map(at, axes)), order)

    def _along(self, tensor: str, size: int, *, backwards: bool) -> TimeStrip:
        return (
            TimeStrip(tensor, (self.times - 1) * size, -size)
            if backwards
            else TimeStrip(tensor, 0, size)
        )


def scan(builder: NestBuilder, node: Node) -> Recurrence:
    """Return the turns of a Scan."""
    if node.opset < 9:
        raise NotCoveredError("Scan has batches of its own before opset 9")
    body, count = _body(node), int(node.attributes["num_scan_inputs"])
    states = len(node.inputs) - count
    axes, inward = (_numbers(node, f"scan_input_{what}", count) for what in ("axes", "directions"))
    outputs = len(node.outputs) - states
    sides, outward = (
        _numbers(node, f"scan_output_{what}", outputs) for what in ("axes", "directions")
    )
    if any(sides):
        raise NotCoveredError("its outputs are put side by side along an inner axis")
    shapes = [builder.type(name).shape for name in node.inputs[states:]]
    times = {shape[axis] for shape, axis in zip(shapes, axes, strict=True)}
    found = _turns(builder, node, body, times.pop() if len(times) == 1 else 0)
    for place in range(states):
        found.state(place, node.inputs[place], body.inputs[place], body.outputs[place])
    for place, source in enumerate(node.inputs[states:]):
        formal = body.inputs[states + place]
        found.slices(source, formal, axes[place], backwards=bool(inward[place]))
    for place, output in enumerate(node.outputs[states:]):
        if output:
            found.gives(output, body.outputs[states + place], backwards=bool(outward[place]))
    return found.recurrence(list(node.outputs[:states]))


def loop(builder: NestBuilder, node: Node) -> Recurrence:
    """Return the turns of a Loop that is known to go on so many times."""
    body = _body(node)
    times = int(builder.constant(node.input(0), "how often it turns").reshape(-1)[0])
    go = node.input(1)
    goes = go is None or bool(builder.constant(go, "whether it begins").reshape(-1)[0])
    on = body.constants.get(body.outputs[0])
    if not goes or on is None or not bool(np.asarray(on).reshape(-1)[0]):
        raise NotCoveredError("it ends by what its turns compute")
    found = _turns(builder, node, body, times)
    states = len(node.inputs) - 2
    turn = found.own("turn")
    found.constants[turn] = np.arange(found.times, dtype=np.int64)
    found.strips[body.inputs[0]] = TimeStrip(turn, 0, 1)
    for place in range(states):
        found.state(place, node.inputs[2 + place], body.inputs[2 + place], body.outputs[1 + place])
    for place, output in enumerate(node.outputs[states:]):
        if output:
            found.gives(output, body.outputs[1 + states + place])
    return found.recurrence(list(node.outputs[:states]))


def _body(node: Node) -> Body:
    body = node.attributes["body"]
    assert isinstance(body, Body)
    return body


def _turns(builder: NestBuilder, node: Node, body: Body, times: int) -> _Turns:
    if not 0 < times <= MOST_STEPS:
        raise NotCoveredError(f"it has {times:,} turns, and a plan repeats 1 to {MOST_STEPS:,}")
    turn = NestBuilder({**body.types, **body.graph.tensors}, body.constants)
    turn.begin(node)
    turn.ops = list(named_as(body, node))
    return _Turns(node, body, times, builder, turn)


def named_as(body: Body, node: Node) -> Iterator[TileOp]:
    """Yield the nests of a turn as the work of the node outside."""
    yield from (dataclasses.replace(op, nodes=(node.name,)) for op in body.graph.ops)


def _numbers(node: Node, name: str, count: int) -> list[int]:
    return [int(each) for each in node.attributes.get(name) or [0] * count]


def told_by_bodies(_: Operands) -> Sequence[str | None]:
    """Tell no types: who follows the bodies states them."""
    return ()


register({
    "Scan": Operator(types=told_by_bodies, steps=scan),
    "Loop": Operator(types=told_by_bodies, steps=loop),
})  # fmt: skip
