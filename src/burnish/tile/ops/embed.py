"""The embeddings of tokens, summed and normalised, as ONNX Runtime's own operator has them."""

from __future__ import annotations

from burnish.tile.expr import Argument, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, fetched
from burnish.tile.ops.norm import add_layer_norm
from burnish.tile.pointwise import wide
from burnish.tile.semantics import SEMANTICS, Builder, Node, NotCoveredError, axes_for


@SEMANTICS.register("com.microsoft.EmbedLayerNormalization")
def embed_layer_normalization(builder: Builder, node: Node) -> None:
    """Add the sum of word, position and segment embeddings, and its normalisation."""
    if node.output(1) is not None:
        raise NotCoveredError("the number of valid tokens, which it gives out")
    ids, words, positions = node.inputs[0], node.inputs[2], node.inputs[3]
    axes = axes_for((*builder.type(ids).shape, builder.type(words).shape[1]))
    token = (at(axes[0]), at(axes[1]))
    reads = [
        _row(builder, words, ids, token, axes[2]),
        _position(builder, node, positions, axes),
    ]
    segments = node.input(4)
    if segments is not None:
        reads.append(_row(builder, segments, node.inputs[1], token, axes[2]))
    dtype = builder.type(words).dtype
    total: Expr = wide(Argument(0, dtype))
    for position, read in enumerate(reads[1:], start=1):
        total = call("add", total, wide(Argument(position, builder.type(read.tensor).dtype)))
    summed = node.output(2) or builder.fresh(f"{node.outputs[0]}.sum")
    builder.add(summed, axes, reads, cast(total, dtype))
    add_layer_norm(builder, node, summed, [node.input(5), node.input(6)], None)


def _row(builder: Builder, table: str, ids: str, token: tuple[Index, ...], column: Axis) -> Read:
    """Return the read of the table's row that a token names."""
    return Read(table, (fetched(ids, token, builder.type(table).shape[0]), at(column)))


def _position(builder: Builder, node: Node, table: str, axes: tuple[Axis, ...]) -> Read:
    given = node.input(8)
    if given is None:
        return Read(table, (at(axes[1]), at(axes[2])))
    row = at(axes[0]) if builder.type(given).shape[0] != 1 else Index()
    return _row(builder, table, given, (row, at(axes[1])), axes[2])
