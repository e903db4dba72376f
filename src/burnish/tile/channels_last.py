"""Images whose rows are shorter than a few vectors lie with their channels innermost.

Along a row of 7 or 14 elements, vectors are half empty and padding breaks every row; along a few
hundred channels they are full. Bytes lie so whatever their rows are, for they are multiplied by
fours along the channels. Only tensors that no one outside the graph sees are laid out anew.
"""

from __future__ import annotations

from burnish.tile.graph import TileGraph, TileOp

ROWS_OF_VECTORS = 2
"""Rows of fewer vectors count as short."""


def layouts(graph: TileGraph, lanes: int) -> dict[str, tuple[int, ...]]:
    """Return the order of dimensions in memory, outermost first, where it is not ONNX's own."""
    outside = {*graph.inputs, *graph.outputs}
    return {
        op.output: (0, 2, 3, 1)
        for op in graph.ops
        if op.output not in outside and _has_channels_last(op, lanes)
    }


def _has_channels_last(op: TileOp, lanes: int) -> bool:
    if len(op.shape) != 4:
        return False
    _, channels, height, width = op.shape
    short = width < ROWS_OF_VECTORS * lanes or op.dtype == "u8"
    return channels % lanes == 0 and height > 1 and width > 1 and short
