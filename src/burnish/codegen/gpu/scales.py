"""What scales a side of a product, applied to its sums instead.

s = sum_k (q[i, k] / n[i]) * (c[j] * p[j, k])  -->  s = (sum_k q[i, k] * p[j, k]) / n[i] * c[j]

An attention over channels divides whole images by their norms, which leaves a copy of each in
memory; its sums are a few thousand. What is summed is then what lies in memory: loads run ahead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from burnish.codegen.gpu.operands import contracts, narrow
from burnish.tile.expr import Accumulated, Argument, Call, Constant, Expr, cast, transform, walk
from burnish.tile.graph import TensorType, TileGraph, TileOp
from burnish.tile.index import axes_of
from burnish.tile.steps.substitution import inlined
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import regraph

EXACT = "f16"
"""The only type whose products cannot leave f32's range, however many are added up unscaled."""
_FLOATS = frozenset({EXACT, "f32"})


@dataclass(frozen=True, slots=True)
class _Scaled:
    """An element times and over what is the same for all terms of a sum."""

    element: Argument
    factors: tuple[tuple[str, Expr], ...] = ()
    """`multiply` or `divide`, and by what."""


def unscaled(graph: TileGraph) -> TileGraph:
    """Return the graph in which sums are scaled, where they are fewer than what was scaled."""
    known = {op.output: op for op in graph.ops}
    ops = tuple(_unscaled(op, known, graph.tensors) for op in graph.ops)
    return graph if ops == graph.ops else regraph(graph, ops)


def _unscaled(op: TileOp, known: Mapping[str, TileOp], tensors: Mapping[str, TensorType]) -> TileOp:
    if contracts(op) is None:
        return op
    assert isinstance(op.body, Call)
    for number in range(len(op.body.arguments)):
        op = _side_unscaled(op, number, known, tensors)
    return op


def _side_unscaled(
    op: TileOp, number: int, known: Mapping[str, TileOp], tensors: Mapping[str, TensorType]
) -> TileOp:
    """Return a product one side of which is what another nest scales, or as it is."""
    assert isinstance(op.body, Call)
    side = narrow(op.body.arguments[number])
    scaling = known.get(op.reads[side.position].tensor) if isinstance(side, Argument) else None
    if scaling is None or scaling.reduced or math.prod(op.shape) > math.prod(scaling.shape):
        return op
    assert isinstance(side, Argument)
    whole = inlined(op, side.position, scaling)
    assert isinstance(whole.body, Call)
    sides = list(whole.body.arguments)
    found = _scaled(sides[number], _same_for_all(whole))
    if found is None or not found.factors or found.element.dtype != EXACT:
        return op
    sides[number] = cast(found.element, "f32")
    finish = _applied(whole.finish or Accumulated("f32"), found.factors)
    body = Call("multiply", tuple(sides), whole.body.dtype)
    return tidy(replace(whole, body=body, finish=finish), tensors)


def _same_for_all(op: TileOp) -> frozenset[int]:
    """Return the reads that give the same for all terms of a sum."""
    return frozenset(
        position
        for position, read in enumerate(op.reads)
        if not any(axis in op.reduced for index in read.indices for axis in axes_of(index))
    )


def _scaled(expr: Expr, fixed: frozenset[int]) -> _Scaled | None:
    """Return an expression as one varying element and its factors; None: it is more than that."""
    match expr:
        case Argument(position, dtype) if position not in fixed and dtype in _FLOATS:
            return _Scaled(expr)
        case Call("cast", (inner,), dtype) if {inner.dtype, dtype} <= _FLOATS:
            return _scaled(inner, fixed)
        case Call("divide" | "multiply" as function, (left, right), dtype) if dtype in _FLOATS:
            pairs = ((left, right), (right, left))[: 1 + (function == "multiply")]
            for element, factor in pairs:
                found = _scaled(element, fixed)
                if found is not None and _is_fixed(factor, fixed):
                    return replace(found, factors=(*found.factors, (function, factor)))
    return None


def _is_fixed(expr: Expr, fixed: frozenset[int]) -> bool:
    return all(
        isinstance(part, Call | Constant) or (isinstance(part, Argument) and part.position in fixed)
        for part in walk(expr)
    )


def _applied(finish: Expr, factors: tuple[tuple[str, Expr], ...]) -> Expr:
    """Return what follows a sum, of the scaled sum."""

    def leaf(part: Expr) -> Expr:
        if isinstance(part, Accumulated):
            for function, factor in factors:
                part = Call(function, (part, cast(factor, "f32")), "f32")
        return part

    return transform(finish, leaf)
