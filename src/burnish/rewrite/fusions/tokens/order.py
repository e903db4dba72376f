"""The order of tokens in which those that count come first, as values of the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import Size, multiply
from burnish.rewrite.fusions.new_values import Maker
from burnish.rewrite.fusions.tokens.key_mask import KeyMask

_WHOLE = ir.DataType.INT32
"""Sums of it have a kernel of their own on GPUs; those of 64 bits are computed as f64."""


@dataclass(frozen=True, slots=True)
class TokenOrder:
    """Where tokens go; all tokens of a batch are counted in one go, sample after sample."""

    lengths: ir.Value
    """(batch,): how many tokens of each sample count."""
    sources: ir.Value
    """(batch, length): the token that comes here."""
    places: ir.Value
    """(batch, length): where this token has gone."""


def order_of(mask: KeyMask, tokens: Shape, make: Maker) -> TokenOrder:
    """Return the order for a mask; in a sample of which no token counts, all do."""
    flat = _by_sample(mask.condition, tokens, make)
    if not mask.keeps:
        flat = make.node("Not", [flat], tokens, dtype=ir.DataType.BOOL)
    each = (tokens[0], 1)
    some = make.over_axes("ReduceSum", _counted(flat, tokens, make), [1], each)
    zero = make.builder.constant("zero", np.array(0, np.int32))
    none = make.node("Equal", [some, zero], each, dtype=ir.DataType.BOOL)
    kept = make.node("Or", [flat, none], tokens, dtype=ir.DataType.BOOL)
    ones = _counted(kept, tokens, make)
    lengths = make.over_axes("ReduceSum", ones, [1], each)
    numbers, numbers_by_sample = _numbers(tokens, make)
    places = _places(kept, ones, lengths, numbers_by_sample, make)
    joined = make.node("Reshape", [places, make.numbers([-1])], (_total(tokens),), dtype=_WHOLE)
    sources = make.node(
        "ScatterElements", [numbers, joined, numbers], (_total(tokens),), dtype=_WHOLE
    )
    return TokenOrder(
        make.over_axes("Squeeze", lengths, [1], tokens[:1]),
        make.node("Reshape", [sources, make.shape(tokens)], tokens, dtype=_WHOLE),
        places,
    )


def _by_sample(condition: ir.Value, tokens: Shape, make: Maker) -> ir.Value:
    """Return a condition of shape (batch, 1, 1, length) without its ones: before it got them."""
    value: ir.Value | None = condition
    while value is not None:
        if make.shapes.of(value) == tokens:
            return value
        node = value.producer()
        reshapes = node is not None and is_standard(node, "Reshape", "Unsqueeze", "Squeeze")
        value = node.inputs[0] if node is not None and reshapes else None
    return make.over_axes("Squeeze", condition, [1, 2], tokens)


def _counted(condition: ir.Value, tokens: Shape, make: Maker) -> ir.Value:
    attributes = {"to": int(_WHOLE)}
    return make.node("Cast", [condition], tokens, dtype=_WHOLE, attributes=attributes)


def _total(tokens: Shape) -> Size:
    return multiply(tokens[0], tokens[1])


def _numbers(tokens: Shape, make: Maker) -> tuple[ir.Value, ir.Value]:
    """Return 0, 1, 2, … for all tokens of a batch, in a row and by sample."""
    total = _total(tokens)
    wide = ir.DataType.INT64
    end = make.node("Squeeze", [make.shape((total,))], (), dtype=wide)
    start, step = (
        make.builder.constant(role, np.array(n)) for role, n in (("start", 0), ("step", 1))
    )
    counted = make.node("Range", [start, end, step], (total,), dtype=wide)
    numbers = make.node("Cast", [counted], (total,), dtype=_WHOLE, attributes={"to": int(_WHOLE)})
    return numbers, make.node("Reshape", [numbers, make.shape(tokens)], tokens, dtype=_WHOLE)


def _places(
    kept: ir.Value, ones: ir.Value, lengths: ir.Value, numbers: ir.Value, make: Maker
) -> ir.Value:
    """Return where each token goes: behind those that count before it, or behind all that count.

    Of a token with number n in the batch, s of the first in its sample, before which c tokens
    count, this is s + c if it counts, and s + length + (n - s - c) if it does not.
    """
    tokens = make.shapes.of(kept) or ()
    axis = make.builder.constant("axis", np.array(1))
    before = make.node("CumSum", [ones, axis], tokens, dtype=_WHOLE, attributes={"exclusive": 1})
    bounds = [make.numbers([n]) for n in (0, 1, 1)]
    first = make.node("Slice", [numbers, *bounds], (tokens[0], 1), dtype=_WHOLE)
    front = make.node("Add", [first, before], tokens, dtype=_WHOLE)
    later = make.node("Sub", [numbers, before], tokens, dtype=_WHOLE)
    back = make.node("Add", [later, lengths], tokens, dtype=_WHOLE)
    return make.node("Where", [kept, front, back], tokens, dtype=_WHOLE)


def moved(value: ir.Value, sources: ir.Value, make: Maker) -> ir.Value:
    """Return the tokens that an order names."""
    shape = make.shapes.of(value) or ()
    rows = (multiply(shape[0], shape[1]), shape[2])
    joined = make.node("Reshape", [value, make.shape((-1, shape[2]))], rows, dtype=value.dtype)
    attributes = {"axis": 0}
    return make.node("Gather", [joined, sources], shape, dtype=value.dtype, attributes=attributes)
