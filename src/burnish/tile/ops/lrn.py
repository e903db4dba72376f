"""LRN: each element divided by a power of the squares around it, across channels."""

from __future__ import annotations

from burnish.tile.expr import Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at
from burnish.tile.ops.contraction import Over, reduce_nest, widened
from burnish.tile.ops.pad import padded
from burnish.tile.ops.parameters import required
from burnish.tile.pointwise import like
from burnish.tile.semantics import SEMANTICS, Builder, Node, axes_for


@SEMANTICS.register("LRN")
def local_response_normalization(builder: Builder, node: Node) -> None:
    """Add x / (bias + alpha / size · Σ squares of `size` channels around it) ^ beta."""
    source = required(node, 0)
    kind = builder.type(source)
    size = int(node.attributes["size"])
    alpha, beta = node.attributes.get("alpha", 0.0001), node.attributes.get("beta", 0.75)
    bias = node.attributes.get("bias", 1.0)
    before, others = (size - 1) // 2, [0] * (len(kind.shape) - 2)
    wide = padded(builder, source, [0, before, *others], [0, size - 1 - before, *others], 0)
    axes, tap = axes_for(kind.shape), Axis("t", size)
    reads = [
        Read(wide, (at(axes[0]), at(axes[1]) + at(tap), *map(at, axes[2:]))),
        Read(source, tuple(map(at, axes))),
    ]
    element = widened(builder, reads[0], 0)

    def finish(total: Expr) -> Expr:
        scaled = call("multiply", total, like(total, float(alpha) / size))
        divisor = call("power", call("add", scaled, like(total, bias)), like(total, beta))
        return cast(call("divide", widened(builder, reads[1], 1), divisor), kind.dtype)

    body = call("multiply", element, element)
    reduce_nest(builder, node.outputs[0], axes, reads, body, Over("sum", [tap], finish))
