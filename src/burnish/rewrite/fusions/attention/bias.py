"""The sum of all that is added to the scores, in the shape that a fused operator takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import Size, broadcast, text
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.scores import Term
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.rule import Refusal

_HALF_OF_LOWEST = -1e38
"""Two numbers below this can add up to -inf."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a term is brought into the shape of the scores."""

    term: Term
    shape: Shape
    """Its own, with leading ones up to the rank of the scores it is added to."""
    outer: Shape
    """Of the scores where it is added."""
    inner: Shape
    """Of the product."""


def fit(term: Term, product: Shape, merged: Shape, facts: Facts) -> Fit | Refusal:
    """Return how a term is added to the product, if it stretches nothing.

    `merged` is the shape of the product as the operator sees it.
    """
    outer = product if term.inside is None else term.inside[0]
    inner = merged
    own = shapes_of(facts).of(term.value)
    if own is None or len(own) > len(outer):
        found = "unknown" if own is None else f"{len(own)}"
        return Refusal(
            f"the mask or bias {term.value.name!r} has rank {found}, expected {len(outer)} at most",
            "declare the shapes of the graph's inputs",
        )
    shape = []
    padded = ((1,) * len(outer) + own)[-len(outer) :]
    for axis, (mine, theirs) in enumerate(zip(padded, outer, strict=True)):
        if broadcast(mine, theirs) != theirs:
            return Refusal(
                f"axis {axis - len(outer)} of the mask or bias {term.value.name!r} is {text(mine)},"
                f" not proven to be 1 or that of the scores, {text(theirs)}",
                "give the axes of the graph's inputs names, the same for the same size, or fix"
                " their sizes",
            )
        shape.append(1 if mine == 1 else theirs)
    return Fit(term, tuple(shape), outer, inner)


def lowest(term: Term, facts: Facts) -> float | None:
    """Return what a term adds where it masks; None: not known."""
    if term.fill is not None:
        return term.fill
    constant = facts.array(term.value)
    if constant is not None and constant.size:
        ends = (float(constant.min()) * term.factor, float(constant.max()) * term.factor)
        return min(ends)
    node = term.value.producer()
    while node is not None and is_standard(node, "Expand", "Unsqueeze", "Slice"):
        node = None if node.inputs[0] is None else node.inputs[0].producer()
    if node is None or not is_standard(node, "Where") or term.factor != 1.0:
        return None
    found = [facts.array(value) for value in node.inputs[1:]]
    if any(array is None or array.size == 0 for array in found):
        return None
    return float(min(array.min() for array in found if array is not None))


def always_finite(terms: tuple[Term, ...], facts: Facts) -> bool:
    """Return whether no sum of scores and terms is -inf, so that a softmax always has numbers."""
    marks = [lowest(term, facts) for term in terms]
    finite = all(mark is not None and mark > -np.inf for mark in marks)
    return finite and sum(mark is not None and mark < _HALF_OF_LOWEST for mark in marks) < 2


def total(fits: tuple[Fit, ...], make: SizedBuilder) -> tuple[ir.Value, Shape]:
    """Return the sum of all terms, with as many axes as the product."""
    parts = [_part(one, make) for one in fits]
    value, shape = parts[0]
    for other, theirs in parts[1:]:
        shape = tuple(b if a == 1 else a for a, b in zip(shape, theirs, strict=True))
        value = make.node("Add", [value, other], shape)
    return value, shape


def _part(one: Fit, make: SizedBuilder) -> tuple[ir.Value, Shape]:
    term, shape = one.term, one.shape
    value = term.value
    own = make.shapes.of(value) or shape
    if len(own) < len(shape):
        value = make.over_axes("Unsqueeze", value, range(len(shape) - len(own)), shape)
    if one.outer != one.inner:
        value, shape = _rearranged(value, one, make)
    if term.fill is not None:
        fill, zero = make.scalar(term.fill), make.scalar(0.0)
        choices = [fill, zero] if term.filled else [zero, fill]
        return make.node("Where", [value, *choices], shape), shape
    if term.factor != 1.0:
        value = make.node("Mul", [value, make.scalar(term.factor)], shape)
    return value, shape


def _rearranged(value: ir.Value, one: Fit, make: SizedBuilder) -> tuple[ir.Value, Shape]:
    """Return a term for the product, though it is added where axes are split or merged."""
    same = 0
    while same < len(one.inner) and one.inner[-1 - same] == one.outer[-1 - same]:
        same += 1
    split, merged = one.outer[: len(one.outer) - same], one.inner[: len(one.inner) - same]
    own = one.shape[: len(split)]
    rest = one.shape[len(split) :]
    if any(size != 1 for size in own):
        wide = (*split, *(1 for _ in rest))
        value = make.node("Expand", [value, make.shape(wide)], (*split, *rest), dtype=value.dtype)
        leading: Shape = merged
    else:
        leading = (1,) * len(merged)
    result = (*leading, *rest)
    return make.node("Reshape", [value, make.shape(result)], result, dtype=value.dtype), result


def spread(
    value: ir.Value, shape: Shape, rows: Size, columns: Size, make: SizedBuilder
) -> ir.Value:
    """Return a bias of rank 4 with all its rows and columns, which operators insist on."""
    if shape[-2:] == (rows, columns):
        return value
    wide = make.shape((1, 1, rows, columns))
    return make.node("Expand", [value, wide], (*shape[:2], rows, columns))
