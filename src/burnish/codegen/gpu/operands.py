"""Which sums are products of two matrices, and what tensor cores multiply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.values import Point
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Call, Expr
from burnish.tile.graph import TileOp, arguments_of, expression_indices
from burnish.tile.index import Axis, Index, at, axes_of, substitute

LEAST = 16
"""Neither side of a block that tensor cores multiply may be shorter."""


@dataclass(frozen=True, slots=True)
class ProductOperands:
    """A sum of products as tensor cores compute it."""

    left: Expr
    right: Expr
    rows: Axis
    columns: Axis
    dtype: str
    """The element type that is multiplied."""


def operands(writer: KernelWriter, point: Point) -> ProductOperands | None:
    """Return the two sides of a product that tensor cores can do here; None: they cannot."""
    op = point.op
    result = {axis for index in point.bind.values() for axis in axes_of(index)}
    match op.body:
        case Call("multiply", (left, right), _) if op.combine == "sum" and len(point.frame) == 2:
            pass
        case _:
            return None
    if not set(point.frame) <= result:
        return None
    if any(writer.blocks[axis].size < LEAST for axis in point.frame):
        return None
    rows, columns = point.frame
    sides = [_used(op, each, point.bind) for each in (left, right)]
    if columns in sides[0] and rows in sides[1]:
        left, right, sides = right, left, sides[::-1]
    if columns in sides[0] or rows in sides[1] or rows not in sides[0] or columns not in sides[1]:
        return None
    dtype = _product_type(left, right, op.dtype)
    return ProductOperands(left, right, rows, columns, dtype) if dtype else None


def contracts(op: TileOp) -> tuple[frozenset[Axis], frozenset[Axis]] | None:
    """Return the spatial axes of only the left and only the right side of a sum of products."""
    match op.body:
        case Call("multiply", (left, right), _) if op.combine == "sum":
            bind = {axis: at(axis) for axis in (*op.spatial, *op.reduced)}
            sides = [_used(op, each, bind) & set(op.spatial) for each in (left, right)]
            rows, columns = sides[0] - sides[1], sides[1] - sides[0]
            if rows and columns and _inner_type(left) and _inner_type(right):
                return frozenset(rows), frozenset(columns)
    return None


def multiplies_f32(op: TileOp) -> bool:
    """Say whether a nest sums products of numbers that have the 24 bits of f32."""
    match op.body:
        case Call("multiply", sides, _) if contracts(op) is not None:
            return any(narrow(side).dtype == "f32" for side in sides)
    return False


def _used(op: TileOp, expr: Expr, bind: Mapping[Axis, Index]) -> set[Axis]:
    """Return the axes of the kernel that an expression of a nest depends on."""
    reads = [op.reads[position] for position in arguments_of(expr)]
    indices = [index for read in reads for index in read.indices] + expression_indices(expr)
    return {axis for index in indices for axis in axes_of(substitute(index, bind))}


def narrow(side: Expr) -> Expr:
    """Return what a side widens to f32, or the side itself."""
    match side:
        case Call("cast", (inner,), "f32") if inner.dtype in spelling.HALVES:
            return inner
    return side


def _inner_type(side: Expr) -> str | None:
    dtype = narrow(side).dtype
    return dtype if dtype in (*spelling.HALVES, "f32") else None


def _product_type(left: Expr, right: Expr, result: str) -> str | None:
    """Return the type that is multiplied: what both sides are, or the half that the result is."""
    types = {_inner_type(left), _inner_type(right)}
    if None in types:
        return None
    if len(types) == 1:
        return types.pop()
    halves = types & spelling.HALVES
    # one side is computed in f32, as the weights of an attention are: rounded as the result is
    return halves.pop() if len(halves) == 1 and result in halves else "f32"
