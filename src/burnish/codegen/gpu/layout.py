"""How tensors lie in a GPU's memory: images and convolution weights with channels innermost."""

from __future__ import annotations

from burnish.tile.graph import TileGraph
from burnish.tile.workload import is_contraction


def orders_of(graph: TileGraph) -> dict[str, tuple[int, ...]]:
    """Return the order of dimensions in memory, outermost first, where it is not ONNX's own.

    What others see keeps its order: inputs and outputs of the graph.
    """
    outside = {*graph.inputs, *graph.outputs}
    orders: dict[str, tuple[int, ...]] = {}
    orders.update(dict.fromkeys(_weights(graph), (2, 3, 1, 0)))
    orders.update(dict.fromkeys(_images(graph) - outside, (0, 2, 3, 1)))
    return orders


def _images(graph: TileGraph) -> set[str]:
    """Return the tensors that convolutions read or write, and those that follow from them."""
    kinds = graph.tensors
    found = {
        name
        for op in graph.ops
        if is_contraction(op) and len(op.spatial) == 4 and _is_convolution(graph, op.output)
        for name in (op.output, op.reads[0].tensor)
        if len(kinds[name].shape) == 4 and name not in graph.constants
    }
    changed = True
    while changed:
        changed = False
        for op in graph.ops:
            near = [n for n in (op.output, *op.inputs) if len(kinds[n].shape) == 4]
            alike = [
                n for n in near if n not in graph.constants and _same_image(graph, n, op.output)
            ]
            if any(n in found for n in alike) and not set(alike) <= found:
                found |= set(alike)
                changed = True
    return found


def _same_image(graph: TileGraph, first: str, second: str) -> bool:
    """Say whether two tensors have the same channels, so that one order serves both."""
    a, b = graph.tensors[first].shape, graph.tensors[second].shape
    return len(a) == len(b) == 4 and a[:2] == b[:2] and a[1] > 1


def _is_convolution(graph: TileGraph, output: str) -> bool:
    op = graph.producer(output)
    if op is None or len(op.reads) < 2:
        return False
    weight = op.reads[1].tensor
    return weight in graph.constants and len(graph.tensors[weight].shape) == 4


def _weights(graph: TileGraph) -> set[str]:
    """Return the constants that are only read as weights of convolutions with many channels."""
    readers = graph.consumers()
    return {
        op.reads[1].tensor
        for op in graph.ops
        if is_contraction(op) and len(op.reads) > 1 and _is_convolution(graph, op.output)
        if len(readers[op.reads[1].tensor]) == 1
        and op.reads[1].tensor not in (*graph.inputs, *graph.outputs)
    }
