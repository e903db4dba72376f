"""Which nests convolve, how their weights should lie, and which axes of theirs are channels."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.index import Axis, Index, axes_of
from burnish.tile.vectors import is_sum_of_products

Axes = frozenset[Axis]


@dataclass(frozen=True, slots=True)
class ConvolutionNest:
    """The weights of a convolution by their dimensions."""

    weight: str
    outputs: int
    """The dimension of output channels."""
    inputs: int
    """The dimension of input channels: what is summed up beside the taps."""
    order: tuple[int, ...]
    """How the weights should lie: taps outermost, then channels."""
    writes: Axes
    """Axes of the output that are channels."""
    sums: Axes
    """Axes that are summed over, and are channels."""


def convolution(graph: TileGraph, op: TileOp) -> ConvolutionNest | None:
    """Return the weights of a nest that convolves images; None: it does something else.

    Those of a transposed convolution have their input channels first, and each of its taps gives an
    output of its own. Weights may be computed, as those that styles modulate.
    """
    if not is_sum_of_products(op) or len(op.reads) < 2:
        return None
    if op.reads[1].tensor in graph.constants:
        return _transposed(op, 0) or (_plain(op, 0) if _is_whole(graph, op) else None)
    lead = _shared(op)
    found = _transposed(op, lead) or _modulated(op, lead)
    return found if found is not None and _slides(op) else None


def has_taps(graph: TileGraph, op: TileOp) -> bool:
    """Say whether a nest multiplies with weights that have taps: what is left of a sum.

    Of a batch of products each has rows and columns of its own, which outputs have too.
    """
    if not is_sum_of_products(op) or len(op.reads) < 2:
        return False
    read, inner = op.reads[1], set(op.reduced)
    taps = read.index[2:]
    if read.tensor not in graph.constants or not taps or axes_of(read.index[1]) - inner:
        return False
    return all(not axes_of(each) or axes_of(each) & inner for each in taps)


def taps_first(rank: int, lead: int = 0) -> tuple[int, ...]:
    """Return weights with taps outermost, then their second dimension of channels, then the first.

    Dimensions ahead of these, of a batch with weights of its own, stay ahead.
    """
    return (*range(lead), *range(lead + 2, rank), lead + 1, lead)


def _is_whole(graph: TileGraph, op: TileOp) -> bool:
    """Say whether a nest has an axis for each dimension of its weights, and one for each image."""
    if not has_taps(graph, op):
        return False
    weight = op.reads[1]
    channels = max(len(axes_of(weight.index[0]) & set(op.spatial)), 1)
    return len(weight.index) + channels - 1 == len(op.spatial)


def _plain(op: TileOp, lead: int) -> ConvolutionNest:
    weight, order = op.reads[1], taps_first(len(op.reads[1].index), lead)
    writes, sums = (axes_of(weight.index[lead + place]) for place in (0, 1))
    inner = frozenset(op.reduced)
    return ConvolutionNest(weight.tensor, lead, lead + 1, order, writes, sums & inner)


def _transposed(op: TileOp, lead: int) -> ConvolutionNest | None:
    weight, inner = op.reads[1], frozenset(op.reduced)
    own = frozenset(op.spatial) - _seen(op)
    first, *rest = weight.index[lead:] or (Index(),)
    sums = axes_of(first)
    if not sums or not sums <= inner or len(rest) < 2:
        return None
    if not all(len(axes_of(each) & own) == 1 and axes_of(each) <= own | inner for each in rest):
        return None
    if axes_of(rest[0]) & inner or inner - sums - {a for each in rest for a in axes_of(each)}:
        return None
    order = taps_first(len(weight.index), lead)
    return ConvolutionNest(weight.tensor, lead + 1, lead, order, axes_of(rest[0]), sums)


def _modulated(op: TileOp, lead: int) -> ConvolutionNest | None:
    """Return computed weights that have maps, channels, and taps of a window."""
    inner, own = frozenset(op.reduced), frozenset(op.spatial) - _seen(op)
    maps, *rest = (axes_of(index) for index in op.reads[1].index[lead:] or (Index(),))
    summed = all(axes and axes <= inner for axes in rest)
    return _plain(op, lead) if maps & own and len(rest) > 1 and summed else None


def _seen(op: TileOp) -> Axes:
    """Return the axes that the image has."""
    return frozenset(axis for index in op.reads[0].index for axis in axes_of(index))


def _shared(op: TileOp) -> int:
    """Return how many dimensions weights have ahead of their channels: of a batch, or of one."""
    known = _seen(op) & set(op.spatial)
    lead = 0
    for index in op.reads[1].index:
        if not axes_of(index) <= known:
            break
        lead += 1
    return lead


def _slides(op: TileOp) -> bool:
    """Say whether a window slides over the image: a place and a tap make one dimension of it."""
    own, inner = set(op.spatial), set(op.reduced)
    used = (axes_of(index) for index in op.reads[0].index)
    return any(axes & own and axes & inner for axes in used)
