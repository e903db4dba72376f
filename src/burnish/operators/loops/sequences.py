"""What LSTM, GRU and RNN have in common: operands by direction, and the tensors along time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from burnish.core.arrays import Array
from burnish.operators.loops.products import contract
from burnish.tile.expr import Argument, Expr, call
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at
from burnish.tile.pointwise import above, below, like
from burnish.tile.recurrence import TimeStrip
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError

SOURCE, WEIGHTS, RECURRENT, BIAS, LENGTHS, STATE, CELL, PEEPHOLES = range(8)
"""The places of its inputs."""

MOST_STEPS = 2**17
"""Of a sequence in a plan, which has a row for each."""

Activation = Callable[[Expr], Expr]

_OF_CELL = 2
"""The place of the function that sees an LSTM's cell; those before it see sums."""

_ACTIVATIONS: Mapping[str, Activation] = {
    "sigmoid": lambda x: call("sigmoid", x),
    "tanh": lambda x: call("tanh", x),
    "relu": lambda x: above(x, like(x, 0.0)),
    "softsign": lambda x: call("divide", x, call("add", like(x, 1.0), call("absolute", x))),
}
"""Those without parameters of their own."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """One node: its sizes, and what it takes."""

    node: Node
    gates: int
    steps: int
    batch: int
    width: int
    hidden: int
    directions: int
    batch_first: bool
    reverse: tuple[bool, ...]
    """Of each direction, whether it runs backwards."""
    lengths: str | None
    """None: all rows are as long as the sequence."""

    def own(self, what: str) -> str:
        """Return the name of a tensor that only this node has: values have names of their own."""
        return f"{next(name for name in self.node.outputs if name)}${what}"

    def state(self, place: int) -> str | None:
        """Return what the first step finds as its last state, or cell; None: zeros."""
        return self.node.input(STATE + place)


def sequence_of(
    builder: NestBuilder, node: Node, gates: int, types: tuple[str, ...] = ("f32",)
) -> Sequence:
    """Return what a node says of itself; forms that have no nests here are not covered."""
    source = builder.type(node.inputs[SOURCE])
    if source.dtype not in types:
        raise NotCoveredError(f"its numbers are {source.dtype}, and steps compute with f32")
    directions, _, hidden = builder.type(node.inputs[RECURRENT]).shape
    batch_first = bool(node.attributes.get("layout", 0))
    steps, batch = (source.shape[1], source.shape[0]) if batch_first else source.shape[:2]
    if steps > MOST_STEPS:
        raise NotCoveredError(f"it has {steps:,} steps, and a plan repeats at most {MOST_STEPS:,}")
    if not steps or not batch or not hidden or not source.shape[2]:
        raise NotCoveredError("there is nothing to compute")
    if node.attributes.get("hidden_size", hidden) != hidden:
        said = node.attributes["hidden_size"]
        raise NotCoveredError(f"hidden_size is {said}, and its weights are for {hidden}")
    said = node.attributes.get("direction", "forward")
    reverse = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}.get(said)
    if reverse is None or len(reverse) != directions:
        raise NotCoveredError(f"{directions} directions that are called {said!r}")
    lengths = _lengths(builder, node, steps)
    return Sequence(
        node, gates, steps, batch, source.shape[2], hidden, directions, batch_first, reverse,
        lengths,
    )  # fmt: skip


def _lengths(builder: NestBuilder, node: Node, steps: int) -> str | None:
    """Return what says how long rows are; None: all are as long as the sequence."""
    name = node.input(LENGTHS)
    known = None if name is None else builder.constants.get(name)
    if known is None:
        return name
    rows = np.asarray(known, np.int64)
    beyond = rows[(rows < 0) | (rows > steps)]
    if beyond.size:
        raise NotCoveredError(f"a row has {beyond[0]} steps, and the sequence has {steps}")
    return None if (rows == steps).all() else name


def same_activations(sequence: Sequence, usual: tuple[str, ...]) -> tuple[Activation, ...]:
    """Return the functions that all directions have in common."""
    count = len(usual)
    names = [name.lower() for name in sequence.node.attributes.get("activations", ())]
    if names[count:] not in ([], names[:count]):
        raise NotCoveredError(f"its directions have different functions: {', '.join(names)}")
    return activations(sequence, usual)[0]


def activations(sequence: Sequence, usual: tuple[str, ...]) -> list[tuple[Activation, ...]]:
    """Return the functions of each direction, each with what is clipped before it.

    What is clipped are sums: the cell, which the third function of an LSTM sees, engines leave as
    it is.
    """
    attributes, count = sequence.node.attributes, len(usual)
    names = [name.lower() for name in attributes.get("activations", ())]
    names = names or list(usual) * sequence.directions
    unknown = [name for name in names if name not in _ACTIVATIONS]
    if unknown or len(names) != count * sequence.directions:
        raise NotCoveredError(f"its functions are {', '.join(names)}")
    limit = float(attributes.get("clip", 0.0))
    found = [
        _clipped(_ACTIVATIONS[name], limit if place % count < _OF_CELL else 0.0)
        for place, name in enumerate(names)
    ]
    return [tuple(found[d * count : (d + 1) * count]) for d in range(sequence.directions)]


def _clipped(function: Activation, limit: float) -> Activation:
    if limit <= 0:
        return function
    return lambda x: function(below(above(x, like(x, -limit)), like(x, limit)))


def constant_part(
    builder: NestBuilder, sequence: Sequence, place: int, direction: int, shape: tuple[int, ...]
) -> Array:
    """Return one direction of an operand that must be a constant, in another shape."""
    name = sequence.node.input(place)
    what = {WEIGHTS: "its weight", RECURRENT: "its recurrent weight", BIAS: "its bias"}
    if name is None:
        return np.zeros(shape, np.float32)
    array = np.asarray(builder.constant(name, what.get(place, "its peephole")))
    if array.size != sequence.directions * math.prod(shape):
        raise NotCoveredError(f"{name!r} has the shape {list(array.shape)}, and none that fits")
    return np.asarray(array[direction]).reshape(shape)


def weights(builder: NestBuilder, sequence: Sequence, direction: int) -> Array:
    """Return the recurrent weights of a direction: gate, output, input."""
    shape = (sequence.gates, sequence.hidden, sequence.hidden)
    return constant_part(builder, sequence, RECURRENT, direction, shape)


def biases(builder: NestBuilder, sequence: Sequence, direction: int) -> Array:
    """Return the biases of a direction, of the product with inputs and that with states."""
    shape = (2, sequence.gates, sequence.hidden)
    return constant_part(builder, sequence, BIAS, direction, shape)


def peepholes(builder: NestBuilder, sequence: Sequence, direction: int) -> Array | None:
    """Return what cells add to gates, a row for each of three; None: nothing."""
    if sequence.node.input(PEEPHOLES) is None:
        return None
    return constant_part(builder, sequence, PEEPHOLES, direction, (3, sequence.hidden))


def inputs_product(
    builder: NestBuilder, sequence: Sequence, direction: int, bias: Array
) -> TimeStrip:
    """Add the product with the inputs of all steps; return a step's part of it."""
    columns = sequence.gates * sequence.hidden
    shape = (columns, sequence.width)
    weight = constant_part(builder, sequence, WEIGHTS, direction, shape)
    held = builder.add_constant(weight, f"{sequence.node.inputs[WEIGHTS]}.{direction}")
    added = builder.add_constant(bias.reshape(columns), sequence.own(f"bias.{direction}"))
    t, b, n = Axis("t", sequence.steps), Axis("b", sequence.batch), Axis("n", columns)
    inner = Axis("i", sequence.width)
    place = (at(b), at(t)) if sequence.batch_first else (at(t), at(b))
    reads = [
        Read(sequence.node.inputs[SOURCE], (*place, at(inner))),
        Read(held, (at(n), at(inner))),
        Read(added, (at(n),)),
    ]
    name = builder.fresh(sequence.own(f"inputs.{direction}"))
    contract(builder, name, (t, b, n), reads, [inner], lambda s: call("add", s, Argument(2, "f32")))
    return along(sequence, direction, name, sequence.batch * columns)


def along(
    sequence: Sequence, direction: int, tensor: str, size: int, *, of: int = 1, at_place: int = 0
) -> TimeStrip:
    """Return a step's part of a tensor that has `of` parts of some size for each time."""
    stride = size * of
    if sequence.reverse[direction]:
        return TimeStrip(tensor, (sequence.steps - 1) * stride + at_place * size, -stride)
    return TimeStrip(tensor, at_place * size, stride)
