"""Repeated elements: Expand and Tile."""

from __future__ import annotations

import numpy as np

from burnish.tile.index import at, remainder
from burnish.tile.ops.parameters import integers, required
from burnish.tile.semantics import (
    SEMANTICS,
    Builder,
    Node,
    NotCoveredError,
    axes_for,
    broadcast_index,
)


@SEMANTICS.register("Expand")
def expand(builder: Builder, node: Node) -> None:
    """Add the data broadcast together with a shape."""
    source = required(node, 0)
    wanted = integers(builder, node, 1, "shape")
    if wanted is None:
        raise NotCoveredError("it has no shape")
    shape = builder.type(source).shape
    axes = axes_for(np.broadcast_shapes(shape, wanted))
    builder.view(node.outputs[0], source, broadcast_index(shape, axes), axes)


@SEMANTICS.register("Tile")
def tile(builder: Builder, node: Node) -> None:
    """Add the data again and again, as often in each dimension as `repeats` says."""
    source = required(node, 0)
    repeats = integers(builder, node, 1, "repeats")
    shape = builder.type(source).shape
    if repeats is None or len(repeats) != len(shape) or node.opset < 6:
        raise NotCoveredError("it does not say how often each dimension is repeated")
    axes = axes_for([extent * times for extent, times in zip(shape, repeats, strict=True)])
    index = [remainder(at(axis), max(extent, 1)) for axis, extent in zip(axes, shape, strict=True)]
    builder.view(node.outputs[0], source, index, axes)
