"""How element-wise meanings are written: operands broadcast together, one expression of them.

16-bit floats are computed in f32, and what comes out is rounded once. A constant of one element
becomes a number in the expression, so that no nest reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from burnish.tile.expr import Argument, Constant, Expr, Number, call, cast
from burnish.tile.graph import Read
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for, broadcast_index

HALVES = ("f16", "bf16")

Scalar = Callable[..., Expr]
"""An expression of the operands' elements."""


def pointwise(
    builder: NestBuilder,
    output: str,
    operands: Sequence[str],
    scalar: Scalar,
    dtype: str | None = None,
) -> str:
    """Add the nest `output = scalar(*operands)`, of type `dtype` (default: the first operand's)."""
    shapes = [builder.type(name).shape for name in operands]
    axes = axes_for(_together(shapes))
    reads: list[Read] = []
    arguments: list[Expr] = []
    for name, shape in zip(operands, shapes, strict=True):
        found: Expr | None = element_of_constant(builder, name)
        if found is None:
            found = Argument(len(reads), builder.type(name).dtype)
            reads.append(Read(name, broadcast_index(shape, axes)))
        arguments.append(wide(found))
    result = cast(scalar(*arguments), dtype or builder.type(operands[0]).dtype)
    return builder.add(output, axes, reads, result)


def _together(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise NotCoveredError(f"operands of the shapes {listed} do not fit together") from None


def elementwise(builder: NestBuilder, node: Node, scalar: Scalar, dtype: str | None = None) -> None:
    """Add the nest that computes the node's only output from all its inputs."""
    pointwise(builder, node.outputs[0], present(node.inputs), scalar, dtype)


def present(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names; one that is left out is an error."""
    if not all(names):
        raise NotCoveredError("an operand is left out")
    return tuple(names)


def element_of_constant(builder: NestBuilder, name: str) -> Constant | None:
    """Return the only element of a constant; None for all other tensors."""
    array = builder.constants.get(name)
    if array is None or array.size != 1:
        return None
    value: Number = np.asarray(array).reshape(()).item()
    return Constant(value, builder.type(name).dtype)


def wide(value: Expr) -> Expr:
    """Return the value in the type that is computed with: f32 for 16-bit floats."""
    if value.dtype not in HALVES:
        return value
    if isinstance(value, Constant):
        return Constant(value.value, "f32")
    return cast(value, "f32")


def wide_type(dtype: str) -> str:
    """Return the type that values of `dtype` are computed in."""
    return "f32" if dtype in HALVES else dtype


def like(value: Expr, number: Number) -> Expr:
    """Return a number of the same type as `value`."""
    return Constant(number, value.dtype)


def below(value: Expr, limit: Expr) -> Expr:
    """Return the value, or the limit where that is less; NaN stays NaN."""
    return call("where", call("less", limit, value), limit, value)


def above(value: Expr, limit: Expr) -> Expr:
    """Return the value, or the limit where that is greater; NaN stays NaN."""
    return call("where", call("less", value, limit), limit, value)


def positive_axis(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    if not -rank <= axis < max(rank, 1):
        raise NotCoveredError(f"the axis {axis} is outside of {rank} dimensions")
    return axis + rank if axis < 0 else axis
