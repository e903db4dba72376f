"""Running sums and products, each element from all before it: for dimensions that are short."""

from __future__ import annotations

from burnish.tile.expr import Accumulated, Argument, Guard, cast
from burnish.tile.graph import Combine, Read
from burnish.tile.index import Axis, at
from burnish.tile.pointwise import positive_axis, wide
from burnish.tile.semantics import (
    SEMANTICS,
    Builder,
    Meaning,
    Node,
    NotCoveredError,
    Reduction,
    axes_for,
)

LONGEST = 1024
"""Elements; the work grows with the square, and above this a library's running sum is better."""


def _running(combine: Combine, neutral: int) -> Meaning:
    def meaning(builder: Builder, node: Node) -> None:
        source, output = node.inputs[0], node.outputs[0]
        kind = builder.type(source)
        given = builder.constant(node.input(1), "its axis").reshape(-1)
        place = positive_axis(int(given[0]), len(kind.shape))
        extent = kind.shape[place]
        if extent > LONGEST:
            raise NotCoveredError(f"a running {combine} over {extent} elements")
        axes, inner = axes_for(kind.shape), Axis("r", extent)
        index = [at(axis) for axis in axes]
        ahead = index[place] - at(inner)
        if node.attributes.get("reverse", 0):
            ahead = ahead * -1
        first = 1 if node.attributes.get("exclusive", 0) else 0
        index[place] = at(inner)
        read = Read(source, tuple(index), (Guard(ahead, first, max(extent, 1)),), neutral)
        body = wide(Argument(0, kind.dtype))
        if extent == 1:
            builder.add(output, axes, [read], cast(body, kind.dtype))
            return
        finish = cast(Accumulated(body.dtype), kind.dtype)
        over = Reduction((inner,), combine, None if body.dtype == kind.dtype else finish)
        builder.add(output, axes, [read], body, over)

    return meaning


SEMANTICS.register("CumSum")(_running("sum", 0))
SEMANTICS.register("CumProd")(_running("prod", 1))
