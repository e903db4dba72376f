"""Transpose, DepthToSpace and SpaceToDepth: the same elements in another order."""

from __future__ import annotations

from burnish.tile.index import at, floor_divide, remainder
from burnish.tile.ops.parameters import required
from burnish.tile.semantics import SEMANTICS, Builder, Node, NotCoveredError, axes_for


@SEMANTICS.register("Transpose")
def transpose(builder: Builder, node: Node) -> None:
    """Add the data with dimension `perm[i]` as its dimension `i`; default: reversed."""
    source = required(node, 0)
    shape = builder.type(source).shape
    order = node.attributes.get("perm")
    order = tuple(order) if order is not None else tuple(reversed(range(len(shape))))
    axes = axes_for([shape[place] for place in order])
    index = [at(axes[order.index(place)]) for place in range(len(shape))]
    builder.view(node.outputs[0], source, index, axes)


@SEMANTICS.register("DepthToSpace")
def depth_to_space(builder: Builder, node: Node) -> None:
    """Add channels as blocks of pixels; which part of the channel is the block, the mode tells."""
    source = required(node, 0)
    block, mode = int(node.attributes["blocksize"]), node.attributes.get("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise NotCoveredError(f"its mode is {mode!r}")
    batch, channels, height, width = builder.type(source).shape
    depth = channels // (block * block)
    n, c, h, w = axes_for((batch, depth, height * block, width * block))
    within = remainder(at(h), block) * block + remainder(at(w), block)
    channel = within * depth + at(c) if mode == "DCR" else at(c) * (block * block) + within
    index = (at(n), channel, floor_divide(at(h), block), floor_divide(at(w), block))
    builder.view(node.outputs[0], source, index, (n, c, h, w))


@SEMANTICS.register("SpaceToDepth")
def space_to_depth(builder: Builder, node: Node) -> None:
    """Add blocks of pixels as channels; the pixel's place is before the channel, or after it."""
    source = required(node, 0)
    block, mode = int(node.attributes["blocksize"]), node.attributes.get("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise NotCoveredError(f"its mode is {mode!r}")
    batch, channels, height, width = builder.type(source).shape
    n, c, h, w = axes_for((batch, channels * block * block, height // block, width // block))
    place, channel = floor_divide(at(c), channels), remainder(at(c), channels)
    if mode == "CRD":
        place, channel = remainder(at(c), block * block), floor_divide(at(c), block * block)
    index = (
        at(n),
        channel,
        at(h) * block + floor_divide(place, block),
        at(w) * block + remainder(place, block),
    )
    builder.view(node.outputs[0], source, index, (n, c, h, w))
