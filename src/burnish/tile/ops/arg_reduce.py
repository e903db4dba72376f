"""Where the greatest or the least element is."""

from __future__ import annotations

from burnish.tile.expr import Argument, Constant, Coordinate, Expr, call
from burnish.tile.graph import Combine, Read
from burnish.tile.index import at, flatten
from burnish.tile.pointwise import positive_axis, wide
from burnish.tile.reduction import Fold, Place, elements, place, reduce_over
from burnish.tile.semantics import (
    SEMANTICS,
    Builder,
    Meaning,
    Node,
    NotCoveredError,
    Reduction,
)


def _position(combine: Combine) -> Meaning:
    def meaning(builder: Builder, node: Node) -> None:
        shape = builder.type(node.inputs[0]).shape
        axis = positive_axis(node.attributes.get("axis", 0), len(shape))
        where = place(shape, [axis], keepdims=bool(node.attributes.get("keepdims", 1)))
        last = bool(node.attributes.get("select_last_index", 0))
        best = best_of(builder, node.inputs[0], node.outputs[0], where, combine)
        side: Combine = "max" if last else "min"
        position_of(builder, node.outputs[0], node.inputs[0], best, where, side)

    return meaning


SEMANTICS.register("ArgMax")(_position("max"))
SEMANTICS.register("ArgMin")(_position("min"))


def best_of(builder: Builder, source: str, output: str, where: Place, combine: Combine) -> str:
    """Add the nest of the greatest or least elements, and return what it writes."""
    best = builder.fresh(f"{output}.{combine}")
    return reduce_over(builder, best, [source], where, Fold(combine), builder.type(source).dtype)


def position_of(
    builder: Builder,
    output: str,
    source: str,
    best: str,
    where: Place,
    side: Combine,
) -> str:
    """Add the nest of the first (side `min`) or last position at which `best` is found.

    Positions count row-major over the reduced dimensions. NaN is found before all else.
    """
    shape, gone = builder.type(source).shape, where.gone
    count = elements(shape, gone)
    if not count:
        raise NotCoveredError("it looks for a position among no elements")
    if not where.reduced:
        return builder.add(output, where.spatial, [], Constant(0, "i64"))
    position = flatten([where.index[dim] for dim in gone], [shape[dim] for dim in gone])
    here: Expr = Coordinate(position)
    kind = builder.type(source).dtype
    x, most = wide(Argument(0, kind)), wide(Argument(1, kind))
    hit = call("equal", x, most)
    if kind[0] in "fb" and kind != "bool":
        hit = call("or", hit, call("is_nan", x))
    body = call("where", hit, here, Constant(count if side == "min" else -1, "i64"))
    reads = [
        Read(source, where.index),
        Read(best, tuple(at(axis) for axis in where.spatial)),
    ]
    return builder.add(output, where.spatial, reads, body, Reduction(where.reduced, side))
