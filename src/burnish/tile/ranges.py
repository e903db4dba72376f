"""Between which whole numbers the elements of tensors lie.

Most computed places of a tensor exist whatever is fed (of a maximum, of a clipped number, a
remainder), and many divisors are never 0: nobody has to look at those.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from burnish.core.arrays import Array
from burnish.core.tensors import BITS
from burnish.tile.expr import Accumulated, Argument, Call, Constant, Coordinate, Expr, Inside
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.index import bounds

Range = tuple[int, int]
"""The least and the greatest that a number may be."""
Ranges = Mapping[str, Range]

TRUTH: Range = (0, 1)
ANY: Range = (-(2**64), 2**64)
"""Of what is no whole number, or may be any."""


def ranges(graph: TileGraph) -> dict[str, Range]:
    """Return between which numbers the elements of constants and of what nests give lie."""
    known: dict[str, Range] = {}
    for op in graph.ops:
        for name in op.inputs:
            if name in graph.constants and name not in known:
                known[name] = _of_constant(np.asarray(graph.constants[name]))
        known[op.output] = _of_nest(op, known)
    return known


def _of_constant(array: Array) -> Range:
    if array.dtype.kind not in "iub" or not array.size:
        return ANY
    return int(array.min()), int(array.max())


def _of_nest(op: TileOp, known: Ranges) -> Range:
    value = _Expressions(op, known, ANY).range(op.body)
    if op.combine == "sum":
        value = _within((min(value[0] * op.terms, 0), max(value[1] * op.terms, 0)), op.body.dtype)
    elif op.combine == "prod":
        value = _limits(op.body.dtype)
    if op.finish is None:
        return value
    return _Expressions(op, known, value).range(op.finish)


class _Expressions:
    """Finds the ranges of the expressions of a nest."""

    def __init__(self, op: TileOp, known: Ranges, accumulated: Range) -> None:
        self._op = op
        self._known = known
        self._accumulated = accumulated

    def range(self, expr: Expr) -> Range:
        """Return between which numbers an expression lies."""
        match expr:
            case Constant(number, _):
                whole = not isinstance(number, float)
                return (int(number), int(number)) if whole else ANY
            case Coordinate(index, _):
                return bounds(index)
            case Inside():
                return TRUTH
            case Accumulated():
                return self._accumulated
            case Argument(position, dtype):
                return self._of_read(position, dtype)
            case Call("where", (Call("less", (low, high)), first, second), dtype) if (
                first,
                second,
            ) in ((low, high), (high, low)):
                chosen = "minimum" if first == low else "maximum"
                return self._of_call(chosen, (low, high), dtype)
            case Call(function, arguments, dtype):
                return self._of_call(function, arguments, dtype)

    def _of_read(self, position: int, dtype: str) -> Range:
        read = self._op.reads[position]
        found = self._known.get(read.tensor, _limits(dtype))
        if read.guards and not isinstance(read.otherwise, float):
            found = _union(found, (int(read.otherwise), int(read.otherwise)))
        return found

    def _of_call(self, function: str, arguments: tuple[Expr, ...], dtype: str) -> Range:
        if dtype == "bool":
            return TRUTH
        parts = tuple(map(self.range, arguments))
        return _within(_called(function, parts) or ANY, dtype)


def _called(function: str, parts: tuple[Range, ...]) -> Range | None:
    """Return the range of a function of numbers in these ranges; None: it may be any."""
    match function, parts:
        case "cast", (part,):
            return part
        case "where", (_, first, second):
            return _union(first, second)
        case "minimum", ((a, b), (c, d)):
            return min(a, c), min(b, d)
        case "maximum", ((a, b), (c, d)):
            return max(a, c), max(b, d)
        case "add", ((a, b), (c, d)):
            return a + c, b + d
        case "subtract", ((a, b), (c, d)):
            return a - d, b - c
        case "multiply", ((a, b), (c, d)):
            products = [x * y for x in (a, b) for y in (c, d)]
            return min(products), max(products)
        case "modulo", (_, (c, d)) if c > 0:
            return 0, d - 1
    return None


def _union(first: Range, second: Range) -> Range:
    return min(first[0], second[0]), max(first[1], second[1])


def _within(found: Range, dtype: str) -> Range:
    """Return a range that a type holds; what goes beyond it may come out as anything."""
    low, high = _limits(dtype)
    return found if low <= found[0] and found[1] <= high else (low, high)


def _limits(dtype: str) -> Range:
    if dtype == "bool":
        return TRUTH
    if dtype[0] not in "iu":
        return ANY
    bits = BITS[dtype]
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype[0] == "i" else (0, 2**bits - 1)
