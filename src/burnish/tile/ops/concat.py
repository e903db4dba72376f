"""Concat: tensors one after the other along one dimension."""

from __future__ import annotations

from burnish.tile.expr import Argument, Expr, Guard, Inside, call
from burnish.tile.graph import Read
from burnish.tile.index import at
from burnish.tile.pointwise import positive_axis, present
from burnish.tile.semantics import SEMANTICS, Builder, Node, axes_for


@SEMANTICS.register("Concat")
def concat(builder: Builder, node: Node) -> None:
    """Add one nest in which each part is read inside its own range of the dimension."""
    names = present(node.inputs)
    first = builder.type(names[0])
    place = positive_axis(int(node.attributes.get("axis", 1)), len(first.shape))
    sizes = [builder.type(name).shape[place] for name in names]
    axes = axes_for([*first.shape[:place], sum(sizes), *first.shape[place + 1 :]])
    reads: list[Read] = []
    start = 0
    for name, size in zip(names, sizes, strict=True):
        if size:
            index = [at(axis) for axis in axes]
            guard = Guard(index[place], start, start + size)
            index[place] = index[place] - start
            reads.append(Read(name, tuple(index), (guard,)))
        start += size
    if len(reads) < 2:
        source = reads[0].tensor if reads else names[0]
        builder.view(node.outputs[0], source, [at(axis) for axis in axes], axes)
        return
    body: Expr = Argument(len(reads) - 1, first.dtype)
    for position in reversed(range(len(reads) - 1)):
        body = call("where", Inside(reads[position].guards), Argument(position, first.dtype), body)
    builder.add(node.outputs[0], axes, reads, body)
