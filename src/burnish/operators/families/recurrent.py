"""Networks that run along a sequence: LSTM, GRU and RNN; each step needs the one before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from burnish.core.arrays import Array
from burnish.operators.loops.sequences import (
    Activation,
    activations,
    biases,
    peepholes,
    same_activations,
    sequence_of,
)
from burnish.operators.loops.time_steps import StepWriter, Unrolled
from burnish.operators.loops.written_out import WrittenSteps
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import all_first_type
from burnish.tile.expr import Expr, call
from burnish.tile.pointwise import like
from burnish.tile.recurrence import Recurrence, Unrolling
from burnish.tile.semantics import Meaning, NestBuilder, Node


def _shape(at: Operands) -> Sequence[Partial | None]:
    source, recurrence = at.shape(0), at.shape(2)
    if source is None or recurrence is None:
        return [None]
    directions, hidden = recurrence[0], recurrence[2]
    if at.number("layout", 0):
        batch, steps, _ = source
        last: Partial = (batch, directions, hidden)
        return [(batch, steps, directions, hidden), last, last]
    steps, batch, _ = source
    last = (directions, batch, hidden)
    return [(steps, directions, batch, hidden), last, last]


Functions = tuple[Activation, ...]
"""Those of one direction, in ONNX's order."""
_TYPES = ("f32", "f16", "bf16")
"""Of what is written out."""


def lstm(builder: NestBuilder, node: Node) -> Recurrence:
    """Return the steps of an LSTM."""
    sequence = sequence_of(builder, node, gates=4)
    found = Unrolled(sequence, builder, ("h", "c"))
    coupled = bool(node.attributes.get("input_forget", 0))
    for direction, functions in enumerate(activations(sequence, ("sigmoid", "tanh", "tanh"))):
        step = found.begin(direction, biases(builder, sequence, direction).sum(axis=0))
        eyes = peepholes(builder, sequence, direction)
        _lstm_step(step, functions, eyes, coupled=coupled)
        found.end(step, {"h": "h", "c": "c"})
    return found.recurrence()


def lstm_written(builder: NestBuilder, node: Node) -> None:
    """Add all steps of an LSTM."""
    sequence = sequence_of(builder, node, 4, _TYPES)
    functions = same_activations(sequence, ("sigmoid", "tanh", "tanh"))
    coupled = bool(node.attributes.get("input_forget", 0))
    steps = WrittenSteps(sequence, builder, ("h", "c"))
    eyes = steps.peepholes()
    for _ in steps.times(steps.biases().sum(axis=0)):
        _lstm_step(steps, functions, eyes, coupled=coupled)
    steps.end()


def _lstm_step(
    step: StepWriter, functions: Functions, eyes: Array | None, *, coupled: bool
) -> None:
    """Add the new cell and state; gates are in ONNX's order: input, output, forget, cell."""
    f, g, h = functions
    gates = step.product("gates", "h.last", "x", range(4))
    peeps = [] if eyes is None else [step.row(row, f"peephole.{n}") for n, row in enumerate(eyes)]

    def cell(into: Expr, forget: Expr, new: Expr, last: Expr, *seen: Expr) -> Expr:
        into = f(_with_cell(into, last, seen[:1]))
        kept = f(_with_cell(forget, last, seen[1:]))
        if coupled:
            kept = call("subtract", like(into, 1.0), into)
        return call("add", call("multiply", kept, last), call("multiply", into, g(new)))

    def state(out: Expr, now: Expr, *seen: Expr) -> Expr:
        return call("multiply", f(_with_cell(out, now, seen)), h(now))

    reads = [*(step.gate(gates, n) for n in (0, 2, 3)), step.unit("c.last")]
    step.element("c", [*reads, *peeps[:1], *peeps[2:]], cell)
    step.element("h", [step.gate(gates, 1), step.unit("c"), *peeps[1:2]], state)


def _with_cell(gate: Expr, cell: Expr, seen: Sequence[Expr]) -> Expr:
    """Return a gate that sees the cell, if it does."""
    return call("add", gate, call("multiply", seen[0], cell)) if seen else gate


def gru(builder: NestBuilder, node: Node) -> Recurrence:
    """Return the steps of a GRU; gates are in ONNX's order: update, reset, hidden."""
    sequence = sequence_of(builder, node, gates=3)
    found = Unrolled(sequence, builder, ("h",))
    write = _gru_step(node)
    for direction, functions in enumerate(activations(sequence, ("sigmoid", "tanh"))):
        first, second = biases(builder, sequence, direction)
        step = found.begin(direction, first + _early(node, second))
        write(step, second[2], functions)
        found.end(step, {"h": "h"})
    return found.recurrence()


def gru_written(builder: NestBuilder, node: Node) -> None:
    """Add all steps of a GRU."""
    sequence = sequence_of(builder, node, 3, _TYPES)
    functions = same_activations(sequence, ("sigmoid", "tanh"))
    steps = WrittenSteps(sequence, builder, ("h",))
    (first, second), write = steps.biases(), _gru_step(node)
    for _ in steps.times(first + _early(node, second)):
        write(steps, second[:, 2], functions)
    steps.end()


def _gru_step(node: Node) -> Callable[[StepWriter, Array, Functions], None]:
    return _reset_behind if node.attributes.get("linear_before_reset", 0) else _reset_before


def _early(node: Node, bias: Array) -> Array:
    """Return what is added to products with states ahead of time: gate, unit.

    What is added before a product is reset is reset with it.
    """
    if not node.attributes.get("linear_before_reset", 0):
        return bias
    return np.where(np.arange(3)[:, None] < 2, bias, np.float32(0))


def _reset_behind(step: StepWriter, bias: Array, functions: Functions) -> None:
    """Add a step in which the product with the last state is reset."""
    f, g = functions
    plain = step.plain_product("gates", "h.last")

    def state(*given: Expr) -> Expr:
        update, reset, hidden, x_update, x_reset, x_hidden, added, last = given
        reset = f(call("add", reset, x_reset))
        new = g(call("add", x_hidden, call("multiply", reset, call("add", hidden, added))))
        return _mixed(f(call("add", update, x_update)), new, last)

    reads = [step.gate(tensor, n) for tensor in (plain, "x") for n in range(3)]
    step.element("h", [*reads, step.row(bias, "bias"), step.unit("h.last")], state)


def _reset_before(step: StepWriter, _bias: Array, functions: Functions) -> None:
    """Add a step in which the last state is reset before it is multiplied."""
    f, g = functions
    gates = step.product("gates", "h.last", "x", range(2))
    step.element(
        "reset",
        [step.gate(gates, 1), step.unit("h.last")],
        lambda reset, last: call("multiply", f(reset), last),
    )
    hidden = step.product("hidden", "reset", "x", range(2, 3))
    reads = [step.gate(gates, 0), step.gate(hidden, 0), step.unit("h.last")]
    step.element("h", reads, lambda update, new, last: _mixed(f(update), g(new), last))


def _mixed(update: Expr, new: Expr, last: Expr) -> Expr:
    """Return the new state: so much of the last one as is not updated."""
    fresh = call("multiply", call("subtract", like(update, 1.0), update), new)
    return call("add", fresh, call("multiply", update, last))


def rnn(builder: NestBuilder, node: Node) -> Recurrence:
    """Return the steps of a plain recurrence."""
    sequence = sequence_of(builder, node, gates=1)
    found = Unrolled(sequence, builder, ("h",))
    for direction, (f,) in enumerate(activations(sequence, ("tanh",))):
        step = found.begin(direction, biases(builder, sequence, direction).sum(axis=0))
        _rnn_step(step, f)
        found.end(step, {"h": "h"})
    return found.recurrence()


def rnn_written(builder: NestBuilder, node: Node) -> None:
    """Add all steps of a plain recurrence."""
    sequence = sequence_of(builder, node, 1, _TYPES)
    (f,) = same_activations(sequence, ("tanh",))
    steps = WrittenSteps(sequence, builder, ("h",))
    for _ in steps.times(steps.biases().sum(axis=0)):
        _rnn_step(steps, f)
    steps.end()


def _rnn_step(step: StepWriter, f: Activation) -> None:
    gates = step.product("gates", "h.last", "x", range(1))
    step.element("h", [step.gate(gates, 0)], f)


def _recurrent(gates: int, steps: Unrolling, written: Meaning) -> Operator:
    def work(at: Operands) -> float:
        source, (directions, _, hidden) = at.sizes(0), at.sizes(2)
        return 2.0 * source[0] * source[1] * directions * gates * hidden * (source[2] + hidden)

    return Operator(shape=_shape, types=all_first_type, work=work, steps=steps, written=written)


register(
    {
        "LSTM": _recurrent(4, lstm, lstm_written),
        "GRU": _recurrent(3, gru, gru_written),
        "RNN": _recurrent(1, rnn, rnn_written),
    }
)
