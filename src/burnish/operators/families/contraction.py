"""Matrix products: MatMul, Gemm and the contrib operator FusedMatMul."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from burnish.operators.loops.parameters import required
from burnish.operators.loops.products import Finish, contract, widened
from burnish.operators.record import Operands, Operator, Partial, Shape, register
from burnish.operators.rules import defined, stretched
from burnish.tile.expr import Expr, call
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at
from burnish.tile.pointwise import like
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for, broadcast_index

Item = TypeVar("Item")


def matmul(builder: NestBuilder, node: Node) -> None:
    """Add the product of the last two dimensions, the others broadcast; vectors are rows, columns.

    out[…, m, n] = Σ_k a[…, m, k] · b[…, k, n]
    """
    _product(builder, node.outputs[0], _row_first(builder, node), _column_last(builder, node))


def fused_matmul(builder: NestBuilder, node: Node) -> None:
    """Add the product of matrices that may be stored transposed, also across their batch."""
    flags = node.attributes
    first = _transposed(
        builder, required(node, 0), flags.get("transA", 0), flags.get("transBatchA", 0)
    )
    second = _transposed(
        builder, required(node, 1), flags.get("transB", 0), flags.get("transBatchB", 0)
    )
    _product(builder, node.outputs[0], first, second, _scaled(flags.get("alpha", 1.0)))


def gemm(builder: NestBuilder, node: Node) -> None:
    """Add alpha · A' · B' + beta · C, where the primes are optional transpositions."""
    flags = node.attributes
    a, b, c = required(node, 0), required(node, 1), node.input(2)
    m, k = _ordered(builder.type(a).shape, flags.get("transA", 0))
    _, n = _ordered(builder.type(b).shape, flags.get("transB", 0))
    rows, columns, inner = Axis("m", m), Axis("n", n), Axis("k", k)
    reads = [
        Read(a, _ordered((at(rows), at(inner)), flags.get("transA", 0))),
        Read(b, _ordered((at(inner), at(columns)), flags.get("transB", 0))),
    ]
    alpha, beta = float(flags.get("alpha", 1.0)), float(flags.get("beta", 1.0))
    scale = _scaled(alpha)
    if c is None or beta == 0:
        contract(builder, node.outputs[0], (rows, columns), reads, [inner], scale)
        return
    added = builder.type(c).shape
    if len(added) > 2 or any(
        size not in (1, extent) for size, extent in zip(reversed(added), (n, m), strict=False)
    ):
        raise NotCoveredError(f"it adds {list(added)} to a product of {m} rows of {n}")
    reads.append(Read(c, broadcast_index(added, (rows, columns))))

    def finish(total: Expr) -> Expr:
        return call("add", scale(total), _scaled(beta)(widened(builder, reads[2], 2)))

    contract(builder, node.outputs[0], (rows, columns), reads, [inner], finish)


class _Matrices:
    """An operand of a product: its batch, its matrix, and where an element of them is stored."""

    def __init__(self, tensor: str, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
        self.tensor = tensor
        self.order = order
        """Which dimension of the tensor each dimension of the operand is; -1: one that is added."""
        self.shape = tuple(1 if place < 0 else shape[place] for place in order)

    def read(self, batch: tuple[Axis, ...], matrix: tuple[Axis, Axis]) -> Read:
        index = (*broadcast_index(self.shape[:-2], batch), *(at(axis) for axis in matrix))
        places: dict[int, Index] = dict(zip(self.order, index, strict=True))
        return Read(self.tensor, tuple(places[place] for place in sorted(places) if place >= 0))


def _row_first(builder: NestBuilder, node: Node) -> _Matrices:
    name = required(node, 0)
    shape = builder.type(name).shape
    return _Matrices(name, shape, (-1, 0) if len(shape) == 1 else tuple(range(len(shape))))


def _column_last(builder: NestBuilder, node: Node) -> _Matrices:
    name = required(node, 1)
    shape = builder.type(name).shape
    return _Matrices(name, shape, (0, -1) if len(shape) == 1 else tuple(range(len(shape))))


def _transposed(builder: NestBuilder, name: str, last_two: int, batch: int) -> _Matrices:
    shape = builder.type(name).shape
    rank = len(shape)
    if rank < 2:
        raise NotCoveredError("a vector is an operand")
    order = list(range(rank))
    if batch and rank > 2:
        order = [*range(1, rank - 1), 0, rank - 1]
    if last_two:
        order[-2:] = order[:-3:-1]
    return _Matrices(name, shape, tuple(order))


def _product(
    builder: NestBuilder,
    output: str,
    first: _Matrices,
    second: _Matrices,
    finish: Finish = lambda total: total,
) -> None:
    batch = axes_for(np.broadcast_shapes(first.shape[:-2], second.shape[:-2]), "b")
    rows, inner = Axis("m", first.shape[-2]), Axis("k", first.shape[-1])
    columns = Axis("n", second.shape[-1])
    spatial = batch
    spatial += (rows,) if -1 not in first.order else ()
    spatial += (columns,) if -1 not in second.order else ()
    reads = [first.read(batch, (rows, inner)), second.read(batch, (inner, columns))]
    contract(builder, output, spatial, reads, [inner], finish)


def _scaled(factor: float) -> Finish:
    """Return multiplication by a number, in the type of what is multiplied."""

    def scale(value: Expr) -> Expr:
        if factor == 1:
            return value
        if not value.dtype.startswith(("f", "b")):
            raise NotCoveredError(f"integers are scaled by {factor}")
        return call("multiply", value, like(value, factor))

    return scale


def _ordered(pair: tuple[Item, ...], swapped: int) -> tuple[Item, ...]:
    return (pair[1], pair[0]) if swapped else pair


def _multiplied(at: Operands) -> Sequence[Partial | None]:
    left, right = at.shape(0), at.shape(1)
    if not left or not right:
        return [None]
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    return [(*stretched(left[:-2], right[:-2]), *rows, *columns)]


def _multiplied_transposed(at: Operands) -> Sequence[Partial | None]:
    found: list[Shape] = []
    for index, side in enumerate("AB"):
        shape = at.shape(index)
        if shape is None or len(shape) < 2:
            return [None]
        if at.number(f"transBatch{side}", 0):
            shape = (*shape[1:-1], shape[0], shape[-1])
        if at.number(f"trans{side}", 0):
            shape = (*shape[:-2], shape[-1], shape[-2])
        found.append(shape)
    left, right = found
    return [(*stretched(left[:-2], right[:-2]), left[-2], right[-1])]


def _multiplied_matrices(at: Operands) -> Sequence[Partial | None]:
    left, right = at.shape(0), at.shape(1)
    if left is None or right is None:
        return [None]
    rows = left[1 if at.number("transA", 0) else 0]
    return [(rows, right[0 if at.number("transB", 0) else 1])]


def product_work(at: Operands) -> float:
    """Return the operations of a product of matrices: two for each pair that meets."""
    depth = at.sizes(0)[-2 if at.number("transA", 0) and len(at.sizes(0)) > 1 else -1]
    return 2.0 * math.prod(at.out) * depth


def gemm_work(at: Operands) -> float:
    """Return the operations of a product of two matrices, and of what is added to it."""
    depth = at.sizes(0)[0 if at.number("transA", 0) else 1]
    return (2.0 * depth + at.given(2)) * math.prod(at.out)


register(
    {
        "MatMul": Operator(shape=_multiplied, work=product_work, folds=defined, loops=matmul),
        "com.microsoft.FusedMatMul": Operator(
            shape=_multiplied_transposed, work=product_work, loops=fused_matmul
        ),
        "com.microsoft.TransposeMatMul": Operator(shape=_multiplied_transposed, work=product_work),
        "Gemm": Operator(shape=_multiplied_matrices, work=gemm_work, loops=gemm),
        "com.microsoft.FusedGemm": Operator(shape=_multiplied_matrices, work=gemm_work),
    }
)
