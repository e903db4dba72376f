"""Products of 8-bit integers with zero points, as sums of products of plain bytes.

    Σ_k (a - p)·(b - q)  =  Σ a·b  -  p · Σ b  -  q · Σ a  +  K·p·q

Sums are those of 32 bits, which wrap, so the right side is the left one to the last bit. Of weights
the sums along k are constants, and weights that are symmetric (q = 0) leave one correction. Bytes
are brought to the one pair of types that processors multiply, unsigned times signed: a number and
its zero point move by 128 together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from burnish.operators.loops.products import Over, reduce_nest
from burnish.tile.expr import Argument, Constant, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at
from burnish.tile.pointwise import element_of_constant, pointwise
from burnish.tile.semantics import NestBuilder, NotCoveredError, axes_for, broadcast_index

BYTES = ("u8", "i8")
_TO_OTHER_TYPE = 128

Finish = Callable[[Expr, Callable[[Read], Expr]], Expr]
"""What follows the sum, given how other tensors are read beside it."""


@dataclass(frozen=True, slots=True)
class ByteOperand:
    """A tensor of bytes and its zero point."""

    tensor: str
    zero: str | None = None
    """A tensor with one for all, or one for each row (of the first operand) or column (of the
    second); None: zero."""
    moved_by: int = 0
    """What was added to the bytes, and is to be added to the zero point."""


def integer_product(
    builder: NestBuilder, output: str, left: ByteOperand, right: ByteOperand, finish: Finish
) -> str:
    """Add the product of matrices of bytes, and what follows it."""
    shapes = [builder.type(each.tensor).shape for each in (left, right)]
    if min(map(len, shapes)) < 2:
        raise NotCoveredError("a vector is an operand")
    if any(builder.type(each.tensor).dtype not in BYTES for each in (left, right)):
        raise NotCoveredError("its operands are not bytes")
    left, right = unsigned(builder, left), signed(builder, right)
    places = _Places(builder, shapes[0], shapes[1])
    reads = [places.left(left.tensor), places.right(right.tensor)]
    body = call("multiply", *(_wide(builder, read, at) for at, read in enumerate(reads)))

    def beside(read: Read) -> Expr:
        known = element_of_constant(builder, read.tensor)
        if known is not None:
            return known
        reads.append(read)
        return Argument(len(reads) - 1, builder.type(read.tensor).dtype)

    def total_of(total: Expr) -> Expr:
        return finish(places.corrected(total, left, right, beside), beside)

    over = Over("sum", [places.inner], total_of)
    return reduce_nest(builder, output, places.spatial, reads, body, over)


def scaled_product(
    builder: NestBuilder,
    output: str,
    operands: tuple[ByteOperand, ByteOperand],
    scales: tuple[str, str],
    bias: str | None,
) -> str:
    """Add the product of matrices of bytes as the real numbers that they stand for, and a bias.

    A scale is one for all, or one for each row of the first and each column of the second.
    """
    rows, columns = (builder.type(each.tensor).shape for each in operands)
    axes = Axis("m", rows[-2]), Axis("n", columns[-1])

    def finish(total: Expr, beside: Callable[[Read], Expr]) -> Expr:
        factors = [
            beside(Read(scale, one_or_each(builder.type(scale).shape, axis)))
            for scale, axis in zip(scales, axes, strict=True)
        ]
        result = call("multiply", cast(total, factors[0].dtype), call("multiply", *factors))
        if bias is None:
            return result
        return call(
            "add", result, beside(Read(bias, one_or_each(builder.type(bias).shape, axes[1])))
        )

    if any(builder.type(scale).dtype != "f32" for scale in scales):
        raise NotCoveredError("its scales are not f32")
    return integer_product(builder, output, *operands, finish)


class _Places:
    """The axes of a product, and where its operands are read."""

    def __init__(self, builder: NestBuilder, left: Sequence[int], right: Sequence[int]) -> None:
        self._builder = builder
        self._batch = axes_for(np.broadcast_shapes(left[:-2], right[:-2]), "b")
        self._shapes = left, right
        self._rows, self._columns = Axis("m", left[-2]), Axis("n", right[-1])
        self.inner = Axis("k", left[-1])
        self.spatial = (*self._batch, self._rows, self._columns)

    def left(self, tensor: str) -> Read:
        outer = broadcast_index(self._shapes[0][:-2], self._batch)
        return Read(tensor, (*outer, at(self._rows), at(self.inner)))

    def right(self, tensor: str) -> Read:
        outer = broadcast_index(self._shapes[1][:-2], self._batch)
        return Read(tensor, (*outer, at(self.inner), at(self._columns)))

    def corrected(
        self, total: Expr, left: ByteOperand, right: ByteOperand, beside: Callable[[Read], Expr]
    ) -> Expr:
        """Return the sum of products without what the zero points added."""
        rows = self._zero(left, self._rows, beside)
        columns = self._zero(right, self._columns, beside)
        if rows is not None:
            sums = self._sums(right.tensor, -2)
            outer = broadcast_index(self._shapes[1][:-2], self._batch)
            found = beside(Read(sums, (*outer, at(self._columns))))
            total = call("subtract", total, call("multiply", rows, found))
        if columns is not None:
            sums = self._sums(left.tensor, -1)
            outer = broadcast_index(self._shapes[0][:-2], self._batch)
            found = beside(Read(sums, (*outer, at(self._rows))))
            total = call("subtract", total, call("multiply", columns, found))
        if rows is not None and columns is not None:
            both = call("multiply", rows, columns)
            count = Constant(self.inner.extent, "i32")
            total = call("add", total, call("multiply", both, count))
        return total

    def _zero(
        self, operand: ByteOperand, along: Axis, beside: Callable[[Read], Expr]
    ) -> Expr | None:
        """Return an operand's zero point; None: it is zero."""
        if operand.zero is None:
            return Constant(operand.moved_by, "i32") if operand.moved_by else None
        known = self._builder.constants.get(operand.zero)
        if known is not None and not (known.astype(np.int32) + operand.moved_by).any():
            return None
        shape = self._builder.type(operand.zero).shape
        found = cast(beside(Read(operand.zero, one_or_each(shape, along))), "i32")
        moved = Constant(operand.moved_by, "i32")
        return call("add", found, moved) if operand.moved_by else found

    def _sums(self, tensor: str, gone: int) -> str:
        """Return the sums of a matrix along one of its last two dimensions."""
        builder, shape = self._builder, self._builder.type(tensor).shape
        dims = len(shape) + gone
        axes = axes_for([size for dim, size in enumerate(shape) if dim != dims])
        inner = Axis("k", shape[dims])
        index = [*map(at, axes)]
        index.insert(dims, at(inner))
        read = Read(tensor, tuple(index))
        body = cast(Argument(0, builder.type(tensor).dtype), "i32")
        over = Over("sum", [inner])
        return reduce_nest(builder, builder.fresh(f"{tensor}.sums"), axes, [read], body, over)


def one_or_each(shape: Sequence[int], along: Axis) -> tuple[Index, ...]:
    """Return where what all rows or columns share, or what each has for itself, is read."""
    if int(np.prod(shape)) == 1:
        return tuple(Index() for _ in shape)
    if len(shape) == 1 and shape[0] == along.extent:
        return (at(along),)
    raise NotCoveredError(f"scales, zero points or a bias of the shape {tuple(shape)}")


def _wide(builder: NestBuilder, read: Read, position: int) -> Expr:
    return cast(Argument(position, builder.type(read.tensor).dtype), "i32")


def unsigned(builder: NestBuilder, operand: ByteOperand) -> ByteOperand:
    """Return an operand whose bytes are unsigned."""
    return _as_type(builder, operand, "u8", _TO_OTHER_TYPE)


def signed(builder: NestBuilder, operand: ByteOperand) -> ByteOperand:
    """Return an operand whose bytes are signed."""
    return _as_type(builder, operand, "i8", -_TO_OTHER_TYPE)


def _as_type(builder: NestBuilder, operand: ByteOperand, dtype: str, by: int) -> ByteOperand:
    """Return an operand whose bytes are of a type: they and their zero point move together."""
    if builder.type(operand.tensor).dtype == dtype:
        return operand

    def moved(byte: Expr) -> Expr:
        return call("add", cast(byte, "i32"), Constant(by, "i32"))

    name = builder.fresh(f"{operand.tensor}.{dtype}")
    tensor = pointwise(builder, name, [operand.tensor], moved, dtype)
    return ByteOperand(tensor, operand.zero, operand.moved_by + by)
