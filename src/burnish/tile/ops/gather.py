"""Elements at places that another tensor holds: Gather, GatherElements and GatherND."""

from __future__ import annotations

import numpy as np

from burnish.tile.index import Axis, Index, at, fetched, number
from burnish.tile.ops.parameters import required
from burnish.tile.ops.places import even
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import SEMANTICS, Builder, Node, axes_for


@SEMANTICS.register("Gather")
def gather(builder: Builder, node: Node) -> None:
    """Add the slices of one dimension that the indices name."""
    source, places = required(node, 0), required(node, 1)
    shape = builder.type(source).shape
    axis = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    inner = builder.type(places).shape
    axes = axes_for((*shape[:axis], *inner, *shape[axis + 1 :]))
    chosen = _place(builder, places, axes[axis : axis + len(inner)], shape[axis])
    index = (*map(at, axes[:axis]), chosen, *map(at, axes[axis + len(inner) :]))
    builder.view(node.outputs[0], source, index, axes)


@SEMANTICS.register("GatherElements")
def gather_elements(builder: Builder, node: Node) -> None:
    """Add, for each element of the indices, the element at this place of one dimension."""
    source, places = required(node, 0), required(node, 1)
    shape = builder.type(source).shape
    axis = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    axes = axes_for(builder.type(places).shape)
    index = [at(each) for each in axes]
    index[axis] = _place(builder, places, axes, shape[axis])
    builder.view(node.outputs[0], source, index, axes)


@SEMANTICS.register("GatherND")
def gather_nd(builder: Builder, node: Node) -> None:
    """Add the slices that the indices name: their last dimension is a place in the data's first."""
    source, places = required(node, 0), required(node, 1)
    shape, (*outer, depth) = builder.type(source).shape, builder.type(places).shape
    batch = int(node.attributes.get("batch_dims", 0))
    axes = axes_for((*outer, *shape[batch + depth :]))
    front = [at(axis) for axis in axes[: len(outer)]]
    chosen = [
        fetched(places, (*front, number(position)), shape[batch + position])
        for position in range(depth)
    ]
    index = (*front[:batch], *chosen, *map(at, axes[len(outer) :]))
    builder.view(node.outputs[0], source, index, axes)


def _place(builder: Builder, places: str, axes: tuple[Axis, ...], extent: int) -> Index:
    """Return the index that a tensor holds; an even row of constants is an index by itself."""
    known = builder.constants.get(places)
    if known is not None and known.size and len(axes) <= 1:
        row = np.asarray(known).reshape(-1).astype(np.int64)
        found = even(np.where(row < 0, row + extent, row), axes[0] if axes else Axis("one", 1))
        if found is not None:
            return found
    return fetched(places, map(at, axes), extent)
