"""All steps along a sequence, written out: nests that read what those of the step before gave.

Where starting a kernel is cheap (on a card) and steps are few, a recurrence is nests like others.
Both directions are one nest with an axis of its own, and nests of all steps but the first are
alike: what they read of the inputs' product lies where a constant of theirs says, so that one
kernel serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.operators.loops import sequences
from burnish.operators.loops.products import Over, reduce_nest, widened
from burnish.operators.loops.sequences import BIAS, RECURRENT, WEIGHTS, constant_part
from burnish.operators.loops.time_steps import Place
from burnish.tile.expr import Argument, Expr, Guard, Inside, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, fetched, number
from burnish.tile.pointwise import wide
from burnish.tile.recurrence import TURN
from burnish.tile.semantics import NestBuilder, NotCoveredError

MOST_WRITTEN = 1024
"""Steps that are written out; of more, each a kernel, planning would take minutes."""

BESIDE = 16
"""Tensors that one nest puts side by side."""


@dataclass(slots=True)
class WrittenSteps:
    """The steps of one node in the making; nests run over directions, rows and hidden units."""

    sequence: sequences.Sequence
    builder: NestBuilder
    states: tuple[str, ...]
    """Of what there is one for each step: `h`, or `h` and `c`."""
    time: int = 0
    tensors: dict[str, str] = field(default_factory=dict)
    """What the current step calls them."""
    held: dict[str, str] = field(default_factory=dict)
    """Constants of all steps."""
    given: list[str] = field(default_factory=list)
    """The state of each step."""

    def __post_init__(self) -> None:
        s = self.sequence
        if s.lengths is not None:
            raise NotCoveredError("its rows have lengths of their own")
        if s.steps > MOST_WRITTEN:
            raise NotCoveredError(
                f"it has {s.steps:,} steps, and at most {MOST_WRITTEN:,} become kernels"
            )

    @property
    def dtype(self) -> str:
        """Return the type of what is taken and given; sums and cells are f32."""
        return self.builder.type(self.sequence.node.inputs[0]).dtype

    @property
    def axes(self) -> tuple[Axis, Axis, Axis]:
        """Return directions, rows and hidden units."""
        s = self.sequence
        return Axis("d", s.directions), Axis("b", s.batch), Axis("j", s.hidden)

    def stacked(self, part: Callable[[int], Array]) -> Array:
        """Return what directions have of something, one after the other."""
        return np.stack([part(direction) for direction in range(self.sequence.directions)])

    def biases(self) -> Array:
        """Return what is added to products with inputs, and with states: direction, gate, unit."""
        s = self.sequence
        shape = (2, s.gates, s.hidden)
        both = self.stacked(lambda d: constant_part(self.builder, s, BIAS, d, shape))
        return both.astype(np.float32).swapaxes(0, 1)

    def peepholes(self) -> Array | None:
        """Return what cells add to gates: of three, direction and unit; None: nothing."""
        parts = [
            sequences.peepholes(self.builder, self.sequence, direction)
            for direction in range(self.sequence.directions)
        ]
        found = [part for part in parts if part is not None]
        return np.stack(found, axis=1) if found else None

    def times(self, bias: Array) -> Iterator[None]:
        """Yield once for each step, whose states are called `h.last` and `c.last` then."""
        self._add_inputs(bias)
        for place, name in enumerate(self.states):
            self.tensors[name] = self._initial(place, name)
        for time in range(self.sequence.steps):
            self.time = time
            last = {f"{name}.last": self.tensors[name] for name in self.states}
            self.tensors = {"x": self.tensors["x"], "turn": self._turn(time), **last}
            yield
            self.given.append(self.tensors["h"])

    def element(self, name: str, reads: list[Place], scalar: Callable[..., Expr]) -> str:
        """Add a nest over directions, rows and hidden units."""
        found = [Read(tensor, index) for tensor, index in reads]
        kinds = [self.builder.type(tensor).dtype for tensor, _ in reads]
        body = scalar(*(wide(Argument(place, kind)) for place, kind in enumerate(kinds)))
        dtype = self.dtype if name != "c" else "f32"
        self.tensors[name] = self.builder.add(self._own(name), self.axes, found, cast(body, dtype))
        return name

    def product(self, name: str, state: str, added: str, gates: range) -> str:
        """Add what states and inputs give for some gates: direction, row, gate, hidden unit."""
        g = Axis("g", len(gates))
        read = Read(self.tensors[added], self._of_inputs(at(g) + gates.start))
        return self._product(name, state, (g, gates.start), [read])

    def plain_product(self, name: str, state: str) -> str:
        """Add what states alone give for all gates: direction, row, gate, hidden unit."""
        return self._product(name, state, (Axis("g", self.sequence.gates), 0), [])

    def gate(self, tensor: str, which: int) -> Place:
        """Return the read of one gate."""
        d, b, j = self.axes
        if tensor == "x":
            return self.tensors["x"], self._of_inputs(number(which))
        return self.tensors[tensor], (at(d), at(b), number(which), at(j))

    def unit(self, tensor: str) -> Place:
        """Return the read of one hidden unit of a state."""
        return self.tensors[tensor], tuple(map(at, self.axes))

    def row(self, array: Array, name: str) -> Place:
        """Return the read of what is the same in all rows: direction, unit."""
        d, _, j = self.axes
        return self._constant(name, array.astype(np.float32)), (at(d), at(j))

    def end(self) -> None:
        """Add the node's outputs."""
        node = self.sequence.node
        if (every := node.output(0)) is not None:
            _side_by_side(self, every)
        for place, name in enumerate(self.states, start=1):
            if (last := node.output(place)) is not None:
                d, b, j = self.axes
                kind = self.builder.type(self.tensors[name]).dtype
                body = cast(wide(Argument(0, kind)), self.dtype) if kind != self.dtype else None
                read = Read(self.tensors[name], (at(d), at(b), at(j)))
                axes = (b, d, j) if self.sequence.batch_first else (d, b, j)
                self.builder.add(last, axes, [read], body or Argument(0, kind))

    def _own(self, name: str) -> str:
        return self.builder.fresh(self.sequence.own(f"{name}.{self.time}"))

    def _constant(self, name: str, array: Array) -> str:
        if name not in self.held:
            self.held[name] = self.builder.add_constant(array, self.sequence.own(name))
        return self.held[name]

    def _turn(self, time: int) -> str:
        """Return the constant that says which element of the sequence each direction reads."""
        s = self.sequence
        places = [s.steps - 1 - time if reverse else time for reverse in s.reverse]
        return self.builder.add_constant(np.array(places, np.int32), s.own(f"{TURN}{time}"))

    def _of_inputs(self, gate: Index) -> tuple[Index, ...]:
        """Return where this step's part of the inputs' product is."""
        d, b, j = self.axes
        place = fetched(self.tensors["turn"], (at(d),), self.sequence.steps)
        return place, at(b), at(d), gate, at(j)

    def _product(self, name: str, state: str, gates: tuple[Axis, int], added: list[Read]) -> str:
        """Add the product of a state with the weights of gates from one on."""
        (d, b, j), (g, first) = self.axes, gates
        k = Axis("k", self.sequence.hidden)
        reads = [
            Read(self.tensors[state], (at(d), at(b), at(k))),
            Read(self._weight(RECURRENT, k), self._row_of(at(g) + first, k)),
            *added,
        ]
        self.tensors[name] = self._summed(self._own(name), (d, b, g, j), reads, k)
        return name

    def _add_inputs(self, bias: Array) -> None:
        """Add the product with the inputs of all steps: time, row, direction, gate, unit."""
        s, (d, b, j) = self.sequence, self.axes
        t, g, i = Axis("t", s.steps), Axis("g", s.gates), Axis("i", s.width)
        place = (at(b), at(t)) if s.batch_first else (at(t), at(b))
        reads = [
            Read(s.node.inputs[0], (*place, at(i))),
            Read(self._weight(WEIGHTS, i), self._row_of(at(g), i)),
            Read(self._constant("inputs.bias", bias), (at(d), at(g), at(j))),
        ]
        self.tensors["x"] = self._summed(self._own("inputs"), (t, b, d, g, j), reads, i)

    def _weight(self, place: int, inner: Axis) -> str:
        """Return weights as the node has them: direction, gates' units, and what is summed."""
        s = self.sequence
        name, wanted = s.node.inputs[place], (s.directions, s.gates * s.hidden, inner.extent)
        if (shape := self.builder.type(name).shape) != wanted:
            raise NotCoveredError(f"{name!r} has the shape {list(shape)}, and none that fits")
        return name

    def _row_of(self, gate: Index, inner: Axis) -> tuple[Index, ...]:
        """Return where the weights of a hidden unit for a gate are."""
        d, _, j = self.axes
        return at(d), gate * self.sequence.hidden + at(j), at(inner)

    def _summed(self, name: str, axes: tuple[Axis, ...], reads: list[Read], inner: Axis) -> str:
        """Add a product in f32, to which the third read is added."""
        factors = [widened(self.builder, read, place) for place, read in enumerate(reads[:2])]
        over = Over(
            "sum", [inner],
            lambda total: call("add", total, Argument(2, "f32")) if len(reads) > 2 else total,
        )  # fmt: skip
        return reduce_nest(self.builder, name, axes, reads, call("multiply", *factors), over)

    def _initial(self, place: int, name: str) -> str:
        """Return a state before the first step: direction, row, unit."""
        s, (d, b, j) = self.sequence, self.axes
        given = s.state(place)
        dtype = self.dtype if name != "c" else "f32"
        if given is None:
            zeros = np.zeros((s.directions, s.batch, s.hidden), array_type(dtype))
            return self._constant(f"zeros.{name}", zeros)
        index = (at(b), at(d), at(j)) if s.batch_first else (at(d), at(b), at(j))
        body = cast(wide(Argument(0, self.dtype)), dtype)
        return self.builder.add(
            self._own(f"first.{name}"), self.axes, [Read(given, index)],
            Argument(0, dtype) if dtype == self.dtype else body,
        )  # fmt: skip


def _side_by_side(steps: WrittenSteps, output: str) -> None:
    """Add the states of all steps along the sequence, a few at a time, then what that gave."""
    s = steps.sequence
    each = BESIDE // s.directions
    parts: list[tuple[str, int]] = []
    for begin in range(0, s.steps, each):
        times = range(begin, min(begin + each, s.steps))
        name = output if len(times) == s.steps else steps._own(f"from.{begin}")
        parts.append((_states(steps, name, times), len(times)))
    while len(parts) > 1:
        rows = [parts[k : k + BESIDE] for k in range(0, len(parts), BESIDE)]
        parts = [
            (
                _joined(steps, output if len(rows) == 1 else steps._own(f"rows.{k}"), row),
                sum(length for _, length in row),
            )
            for k, row in enumerate(rows)
        ]


def _states(steps: WrittenSteps, output: str, times: range) -> str:
    """Add the states at some places of the sequence: of each direction, of some step."""
    s, (d, b, j) = steps.sequence, steps.axes
    t = Axis("t", len(times))
    reads = []
    for time in times:
        for direction, reverse in enumerate(s.reverse):
            tensor = steps.given[s.steps - 1 - time if reverse else time]
            here = [(t, time - times.start), (d, direction)]
            guards = [Guard(at(axis), n, n + 1) for axis, n in here if axis.extent > 1]
            reads.append(Read(tensor, (number(direction), at(b), at(j)), tuple(guards)))
    axes = (b, t, d, j) if s.batch_first else (t, d, b, j)
    return steps.builder.add(output, axes, reads, _first_inside(reads, steps.dtype))


def _joined(steps: WrittenSteps, output: str, parts: Sequence[tuple[str, int]]) -> str:
    """Add several stretches of the sequence as one."""
    d, b, j = steps.axes
    t = Axis("t", sum(length for _, length in parts))
    axes = (b, t, d, j) if steps.sequence.batch_first else (t, d, b, j)
    reads, begin = [], 0
    for tensor, length in parts:
        index = tuple(at(axis) - begin if axis == t else at(axis) for axis in axes)
        reads.append(Read(tensor, index, (Guard(at(t), begin, begin + length),)))
        begin += length
    return steps.builder.add(output, axes, reads, _first_inside(reads, steps.dtype))


def _first_inside(reads: Sequence[Read], dtype: str) -> Expr:
    """Return what is read where its guards hold; one of the reads always does."""
    *others, last = range(len(reads))
    body: Expr = Argument(last, dtype)
    for position in reversed(others):
        inside = Inside(reads[position].guards)
        body = call("where", inside, Argument(position, dtype), body)
    return body
