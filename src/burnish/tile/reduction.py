"""How reductions are written: which axes go, what is combined, and what is made of the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from burnish.tile.expr import Accumulated, Argument, Expr, call, cast
from burnish.tile.graph import Combine, Read
from burnish.tile.index import Axis, Index, at
from burnish.tile.pointwise import like, positive_axis, wide
from burnish.tile.semantics import NestBuilder, Reduction, axes_for


def unchanged(value: Expr) -> Expr:
    """Return the value."""
    return value


@dataclass(frozen=True, slots=True)
class Fold:
    """What is combined over some axes: `finish(combine over the axes of body(*operands))`."""

    combine: Combine
    body: Callable[..., Expr] = unchanged
    finish: Callable[[Expr], Expr] = unchanged


@dataclass(frozen=True, slots=True)
class ReductionPlace:
    """The axes of a nest that reduces a tensor, and where it reads that tensor."""

    spatial: tuple[Axis, ...]
    reduced: tuple[Axis, ...]
    index: tuple[Index, ...]
    gone: tuple[int, ...]
    """The dimensions of the tensor that are reduced."""


def place(shape: Sequence[int], gone: Sequence[int], *, keepdims: bool) -> ReductionPlace:
    """Return the loops that reduce the dimensions `gone`; those kept have one element."""
    inner = {dim: Axis(f"r{dim}", shape[dim]) for dim in gone}
    if keepdims:
        spatial = axes_for([1 if dim in inner else size for dim, size in enumerate(shape)])
        outer = dict(enumerate(spatial))
    else:
        kept = [dim for dim in range(len(shape)) if dim not in inner]
        spatial = axes_for([shape[dim] for dim in kept])
        outer = dict(zip(kept, spatial, strict=True))
    index = tuple(at(inner[dim] if dim in inner else outer[dim]) for dim in range(len(shape)))
    # Nothing is combined over an axis of one element: it is no loop at all.
    reduced = tuple(axis for axis in inner.values() if axis.extent != 1)
    return ReductionPlace(spatial, reduced, index, tuple(gone))


def reduce_over(
    builder: NestBuilder,
    output: str,
    operands: Sequence[str],
    where: ReductionPlace,
    fold: Fold,
    dtype: str,
) -> str:
    """Add the nest that folds the first operand at `where`; the others are read at its outputs.

    Others have the shape of the output, or that shape with the reduced dimensions left out.
    """
    reads = [Read(operands[0], where.index)]
    reads += [Read(name, tuple(at(axis) for axis in where.spatial)) for name in operands[1:]]
    arguments = [
        wide(Argument(position, builder.type(name).dtype)) for position, name in enumerate(operands)
    ]
    body = fold.body(*arguments)
    if not where.reduced:
        return builder.add(output, where.spatial, reads, cast(fold.finish(body), dtype))
    result = cast(fold.finish(Accumulated(body.dtype)), dtype)
    finish = None if result == Accumulated(dtype) else result
    over = Reduction(where.reduced, fold.combine, finish)
    return builder.add(output, where.spatial, reads, body, over)


def positive_axes(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """Return axes counted from the front, sorted, each once."""
    return tuple(sorted({positive_axis(int(axis), rank) for axis in axes}))


def mean_of(count: int) -> Callable[[Expr], Expr]:
    """Return the step from a sum of `count` values to their mean."""
    return lambda total: call("divide", total, like(total, count))


def elements(shape: Sequence[int], dims: Iterable[int]) -> int:
    """Return how many elements are combined into one."""
    return math.prod(shape[dim] for dim in dims)
