"""Images whose vectors run along channels lie with their channels innermost.

Along a row of 7 or 14 elements, vectors are half empty and padding breaks every row; along a few
hundred channels they are full. The same holds where one small matrix is multiplied with all
channels of an image, and of bytes, which are multiplied by fours along the channels, however long
their rows are (of a sequence, too); and a sequence that is read in steps of two or more would use
each of its lines in part. Only tensors that no one outside sees are laid out anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.index import at, axes_of, coefficient
from burnish.tile.steps.substitution import is_contraction

Orders = dict[str, tuple[int, ...]]

ROWS_OF_VECTORS = 2
"""Rows of fewer vectors count as short."""
SMALL = 8
"""Rows of a matrix that is small."""

_INNERMOST: Mapping[int, tuple[int, ...]] = {3: (0, 2, 1), 4: (0, 2, 3, 1)}
"""The order in which channels lie innermost, by the rank of a sequence or an image."""


def layouts(graph: TileGraph, lanes: int) -> Orders:
    """Return the order of dimensions in memory, outermost first, where it is not ONNX's own."""
    outside = {*graph.inputs, *graph.outputs}
    wanted = [op.output for op in graph.ops if _is_suited_image(op, lanes)]
    for op in graph.ops:
        wanted += _before(
            graph, [*_walked_by_channels(op, graph), *_summed_by_channels(op, graph, lanes)]
        )
    return {n: _INNERMOST[len(graph.tensors[n].shape)] for n in wanted if n not in outside}


def image_orders(graph: TileGraph) -> tuple[Orders, Orders]:
    """Return the two ways in which images may lie that a graph is given, gives, or moves."""
    moved = (op.output for op in graph.ops if op.combine is None)
    every = (*graph.inputs, *graph.outputs, *moved)
    images = [name for name in every if len(graph.tensors[name].shape) == len(_INNERMOST[4])]
    return {}, dict.fromkeys(images, _INNERMOST[4])


def _is_suited_image(op: TileOp, lanes: int) -> bool:
    if len(op.shape) != len(_INNERMOST[4]):
        return False
    _, channels, height, width = op.shape
    suits = width < ROWS_OF_VECTORS * lanes or op.dtype == "u8"
    return channels % lanes == 0 and height > 1 and width > 1 and suits


def _walked_by_channels(op: TileOp, graph: TileGraph) -> Iterator[str]:
    """Yield the image that a nest takes apart, or puts together, by one matrix for all channels."""
    operands = _operands(op, graph)
    if operands is None or any(axis.extent > SMALL for axis in op.reduced):
        return
    image, matrix = operands
    same = {axis for axis in op.spatial if not any(axis in axes_of(i) for i in matrix.index)}
    rank, last = len(_INNERMOST[4]), op.spatial[-1]
    if len(image.index) == rank and last in same and image.index[1] == at(last):
        yield image.tensor
    channels = op.spatial[1] if len(op.spatial) == rank else None
    if channels in same and image.index[-1] == at(channels):
        yield op.output


def _summed_by_channels(op: TileOp, graph: TileGraph, lanes: int) -> Iterator[str]:
    """Yield the sequence whose channels a nest sums: of bytes, or where it is read a few apart."""
    operands = _operands(op, graph)
    if operands is None or len(operands[0].index) != len(_INNERMOST[3]):
        return
    sequence = operands[0]
    kind = graph.tensors[sequence.tensor]
    steps = [coefficient(sequence.index[2], axis) or 0 for axis in op.spatial]
    suits = kind.dtype == "u8" or max(steps) > 1
    if kind.shape[1] % lanes == 0 and suits and axes_of(sequence.index[1]) & set(op.reduced):
        yield sequence.tensor


def _operands(op: TileOp, graph: TileGraph) -> tuple[Read, Read] | None:
    """Return the tensor and the constant that a nest multiplies; None: it does something else.

    A nest that gives a single number walks along nothing.
    """
    if not is_contraction(op) or not op.spatial:
        return None
    reads = [op.reads[position] for position in arguments_of(op.body)]
    reads.sort(key=lambda read: read.tensor in graph.constants)
    is_one = [read.tensor in graph.constants for read in reads] == [False, True]
    return (reads[0], reads[1]) if is_one else None


def _before(graph: TileGraph, names: Iterable[str]) -> Iterator[str]:
    """Yield tensors, and those that are only moved or changed one by one to become them."""
    for name in names:
        yield name
        op = graph.producer(name)
        if op is not None and op.combine is None:
            yield from _before(graph, _lying_alike(op, graph))


def _lying_alike(op: TileOp, graph: TileGraph) -> Iterator[str]:
    for read in op.reads:
        is_image = len(read.index) == len(op.spatial) and read.tensor not in graph.constants
        if is_image and read.index[1] == at(op.spatial[1]):
            yield read.tensor
