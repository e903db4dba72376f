"""The same elements in row-major order: Reshape, Flatten, Squeeze and Unsqueeze."""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.tile.ops.parameters import integers, required
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import SEMANTICS, Builder, Node, NotCoveredError


@SEMANTICS.register("Reshape")
def reshape(builder: Builder, node: Node) -> None:
    """Add the data in a given shape, in which 0 keeps a dimension and -1 is what is left over."""
    source = required(node, 0)
    wanted = integers(builder, node, 1, "shape")
    if wanted is None:
        raise NotCoveredError("it has no shape")
    keeps = not node.attributes.get("allowzero", 0)
    shape = _completed(builder.type(source).shape, wanted, 0 if keeps else None)
    builder.reshape(node.outputs[0], source, shape)


@SEMANTICS.register("Flatten")
def flatten(builder: Builder, node: Node) -> None:
    """Add the data in two dimensions: those before the axis, and those from it on."""
    source = required(node, 0)
    shape = builder.type(source).shape
    axis = int(node.attributes.get("axis", 1))
    cut = axis + len(shape) if axis < 0 else axis
    builder.reshape(node.outputs[0], source, (math.prod(shape[:cut]), math.prod(shape[cut:])))


@SEMANTICS.register("Squeeze")
def squeeze(builder: Builder, node: Node) -> None:
    """Add the data without some dimensions of extent one; default: without all of them."""
    source = required(node, 0)
    shape = builder.type(source).shape
    axes = integers(builder, node, 1, "axes")
    if axes is None:
        dropped = {place for place, extent in enumerate(shape) if extent == 1}
    else:
        dropped = {positive_axis(axis, len(shape)) for axis in axes}
    kept = [extent for place, extent in enumerate(shape) if place not in dropped]
    builder.reshape(node.outputs[0], source, kept)


@SEMANTICS.register("Unsqueeze")
def unsqueeze(builder: Builder, node: Node) -> None:
    """Add the data with new dimensions of extent one, at places of the output."""
    source = required(node, 0)
    axes = integers(builder, node, 1, "axes")
    if axes is None:
        raise NotCoveredError("it has no axes")
    shape = builder.type(source).shape
    rank = len(shape) + len(axes)
    added = {positive_axis(axis, rank) for axis in axes}
    rest = iter(shape)
    builder.reshape(
        node.outputs[0], source, [1 if place in added else next(rest) for place in range(rank)]
    )


def _completed(
    shape: Sequence[int], wanted: Sequence[int], keep_mark: int | None
) -> tuple[int, ...]:
    """Return the wanted shape with kept dimensions and the one that is left over filled in."""
    kept = [shape[i] if extent == keep_mark else extent for i, extent in enumerate(wanted)]
    if -1 in kept:
        others = -math.prod(kept)
        kept[kept.index(-1)] = math.prod(shape) // others if others else 0
    if math.prod(kept) != math.prod(shape):
        raise NotCoveredError(f"its shape is {list(wanted)}, and its data is {list(shape)}")
    return tuple(kept)
