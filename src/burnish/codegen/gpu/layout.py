"""How tensors lie in a GPU's memory: images and convolution weights with channels innermost.

Convolutions say where channels are; from them it spreads along the indices of reads, so that what
is read side by side lies side by side, whatever the order of a tensor's own dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from burnish.tile.graph import Read, TileGraph, TileOp
from burnish.tile.index import Axis, Index, axes_of
from burnish.tile.vectors import is_sum_of_products

Order = tuple[int, ...]
"""Dimensions of a tensor, outermost in memory first."""

RUN = 8
"""Elements that one instruction loads, if each run of them begins at a multiple."""
LEAST_TERMS = 64
"""Of a product with a single row whose constant lies with them innermost: fewer are written one
after the other, and lanes are neighbouring outputs."""


def orders_of(graph: TileGraph) -> dict[str, Order]:
    """Return the order of dimensions in memory, outermost first, where it is not ONNX's own.

    What others see keeps its order: inputs and outputs of the graph.
    """
    outside = {*graph.inputs, *graph.outputs}
    found = _spread(graph, outside)
    found.update({name: _innermost_last(graph, name) for name in _weights(graph)})
    for name, order in _rows_of_products(graph, outside):
        found.setdefault(name, order)
    for op, read in _only_reads(graph, outside):
        found[read.tensor] = _in_runs(op, read, graph, found.get(read.tensor))
    found.update(_of_single_rows(graph, outside))
    return {name: order for name, order in found.items() if _moves(order, graph, name)}


def _moves(order: Order, graph: TileGraph, name: str) -> bool:
    """Say whether an order is another than the tensor's own; single elements lie anywhere."""
    shape = graph.tensors[name].shape
    long = [dim for dim in order if shape[dim] > 1]
    return long != sorted(long)


def _spread(graph: TileGraph, outside: set[str]) -> dict[str, Order]:
    """Return the orders of all tensors that lie as convolutions want it, the plain ones too."""
    orders: dict[str, Order] = {}
    for op in graph.ops:
        if _is_convolution(graph, op) and op.output not in outside:
            # what was transposed behind it is part of the nest: channels are what weights say
            channels = axes_of(op.reads[1].index[0])
            ranks = [(axis in channels, dim) for dim, axis in enumerate(op.spatial)]
            orders[op.output] = tuple(dim for _, dim in sorted(ranks))
        elif _is_transposed(graph, op) and op.output not in outside:
            channels = axes_of(op.reads[1].index[1])
            ranks = [(axis in channels, dim) for dim, axis in enumerate(op.spatial)]
            orders[op.output] = tuple(dim for _, dim in sorted(ranks))
    changed = bool(orders)
    while changed:
        before = len(orders)
        for op in graph.ops:
            for read in op.reads:
                if read.tensor not in graph.constants:
                    _follow(op, read, graph, orders, outside)
        changed = len(orders) > before
    return orders


def _follow(
    op: TileOp, read: Read, graph: TileGraph, orders: dict[str, Order], outside: set[str]
) -> None:
    """Give what is read the order of what is written, or the other way round."""
    if op.output in orders and read.tensor not in orders and read.tensor not in outside:
        places = {op.spatial[dim]: place for place, dim in enumerate(orders[op.output])}
        convolves = _is_convolution(graph, op)
        order = _ordered([_place(index, places, inner=convolves) for index in read.index])
        if order is not None and _worth(graph, read.tensor):
            orders[read.tensor] = order
    elif read.tensor in orders and op.output not in orders and op.output not in outside:
        known = _axis_places(read, orders[read.tensor])
        if known is not None:
            order = _ordered([known.get(axis, -1) for axis in op.spatial], op.shape)
            if order is not None and _worth(graph, op.output):
                orders[op.output] = order


def _worth(graph: TileGraph, name: str) -> bool:
    return sum(extent > 1 for extent in graph.tensors[name].shape) > 1


def _place(index: Index, places: Mapping[Axis, int], *, inner: bool) -> int | None:
    """Return how far inside the output the axis of a dimension lies; None: nobody can say.

    Along what a convolution sums (channels) neighbours should lie side by side: `inner`.
    """
    axes = axes_of(index)
    if not axes:
        return -1
    own = [places[axis] for axis in axes if axis in places]
    if len(own) > 1:
        return None
    return own[0] if own else len(places) if inner else None


def _axis_places(read: Read, order: Order) -> dict[Axis, int] | None:
    """Return where the axes of an output lie in what is read; None: it is read otherwise."""
    found: dict[Axis, int] = {}
    for place, dim in enumerate(order):
        used = axes_of(read.index[dim])
        if not used:
            continue
        (axis, *more) = used
        if more or axis in found:
            return None
        found[axis] = place
    return found


def _ordered(places: Sequence[int | None], shape: Sequence[int] | None = None) -> Order | None:
    """Return dimensions sorted by their places; None where one is not known or two are equal.

    Without `shape`, places of -1 are constants; with it, they must be of one element.
    """
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return None
    inside = [place for place in known if place >= 0]
    if len(set(inside)) < len(inside):
        return None
    if shape is not None and any(
        place < 0 and extent > 1 for place, extent in zip(known, shape, strict=True)
    ):
        return None
    return tuple(sorted(range(len(known)), key=lambda dim: (known[dim], dim)))


def _rows_of_products(graph: TileGraph, outside: set[str]) -> Iterator[tuple[str, Order]]:
    """Yield what a product alone reads, with all that it sums up side by side.

    The heads of an attention, for example: rows of the product behind it are rows of memory then,
    and it is a product of two matrices.
    """
    readers = graph.consumers()
    for op in graph.ops:
        for read in op.reads if is_sum_of_products(op) and len(op.reduced) > 1 else ():
            name = read.tensor
            if name in outside or name in graph.constants or len(readers[name]) > 1:
                continue
            places = {axis: place for place, axis in enumerate((*op.spatial, *op.reduced))}
            plain = all(len(index.terms) <= 1 and not index.constant for index in read.index)
            order = _ordered([_place(index, places, inner=False) for index in read.index])
            if plain and order is not None and not read.guards:
                yield name, order


def _innermost_last(graph: TileGraph, weight: str) -> Order:
    """Return weights with taps outermost, then input channels, then output channels."""
    rank = len(graph.tensors[weight].shape)
    return (*range(2, rank), 1, 0)


def _only_reads(graph: TileGraph, outside: set[str]) -> Iterator[tuple[TileOp, Read]]:
    """Yield products with what they alone read of constants."""
    readers = graph.consumers()
    for op in graph.ops:
        for read in op.reads if is_sum_of_products(op) else ():
            name = read.tensor
            if name in graph.constants and name not in outside and len(readers[name]) == 1:
                yield op, read


def _in_runs(op: TileOp, read: Read, graph: TileGraph, order: Order | None) -> Order:
    """Return a constant's order with terms innermost, where only they can be read in runs."""
    shape = graph.tensors[read.tensor].shape
    order = order or tuple(range(len(shape)))
    inner = set(op.reduced)
    terms = [d for d in order if (axes := axes_of(read.index[d])) and axes <= inner]
    if not terms or shape[order[-1]] % RUN == 0 or shape[terms[-1]] % RUN:
        return order
    return (*(dim for dim in order if dim != terms[-1]), terms[-1])


def _of_single_rows(graph: TileGraph, outside: set[str]) -> dict[str, Order]:
    """Return the constants that only products of a single row read, with their terms innermost.

    As each element is read once, what counts is that it is read in whole lines: a program takes all
    terms of a few outputs. With more rows blocks of many columns do. What is computed of constants
    alone, as weights of their bytes and scales, counts as one.
    """
    fixed = {*graph.constants}
    for op in graph.ops:
        if not op.reduced and fixed.issuperset(op.inputs):
            fixed.add(op.output)
    fixed -= outside | {fetch.tensor for op in graph.ops for fetch in op.fetches}
    wanted: dict[str, Order | None] = {}
    for op in reversed(graph.ops):
        for read in op.reads:
            if read.tensor in fixed:
                order = _terms_innermost(op, read) or _followed(op, read, wanted.get(op.output))
                known = wanted.setdefault(read.tensor, order)
                wanted[read.tensor] = order if order == known else None
    return {name: order for name, order in wanted.items() if order is not None}


def _followed(op: TileOp, read: Read, order: Order | None) -> Order | None:
    """Return the order of what is read that is as the output's order is; None: there is none."""
    if order is None or op.reduced:
        return None
    places = {op.spatial[dim]: place for place, dim in enumerate(order)}
    runs = [sorted(places[axis] for axis in axes_of(index)) for index in read.index]
    ordered = sorted(range(len(runs)), key=lambda dim: runs[dim][:1])
    flat = [place for dim in ordered for place in runs[dim]]
    return tuple(ordered) if flat == sorted(set(flat)) else None


def _terms_innermost(op: TileOp, read: Read) -> Order | None:
    """Return the order in which a product of a single row wants a constant; None: it is none."""
    used = frozenset(axis for index in read.index for axis in axes_of(index))
    own = {axis for axis in op.spatial if axis.extent > 1}
    if not is_sum_of_products(op) or op.terms < LEAST_TERMS or not used & set(op.reduced):
        return None
    if not own <= used or not own:
        return None
    places = {axis: place for place, axis in enumerate(op.reduced)}
    outer, inner = list[int](), list[tuple[int, int]]()
    for dim, index in enumerate(read.index):
        summed = axes_of(index) & set(places)
        if summed and axes_of(index) & own:
            return None
        if summed:
            inner.append((min(places[axis] for axis in summed), dim))
        else:
            outer.append(dim)
    return (*outer, *(dim for _, dim in sorted(inner)))


def _is_convolution(graph: TileGraph, op: TileOp) -> bool:
    if not _has_taps(graph, op):
        return False
    weight = op.reads[1]
    channels = max(len(axes_of(weight.index[0]) & set(op.spatial)), 1)
    return len(graph.tensors[weight.tensor].shape) + channels - 1 == len(op.spatial)


def _is_transposed(graph: TileGraph, op: TileOp) -> bool:
    """Say whether a nest is a transposed convolution: each tap gives an output of its own."""
    if not is_sum_of_products(op) or len(op.reads) < 2:
        return False
    first, *rest = op.reads[1].index
    inner, own = set(op.reduced), set(op.spatial)
    return (
        op.reads[1].tensor in graph.constants
        and len(rest) > 1
        and axes_of(first) == inner
        and all(len(axes_of(each)) == 1 and axes_of(each) <= own for each in rest)
    )


def _has_taps(graph: TileGraph, op: TileOp) -> bool:
    """Say whether a nest multiplies with weights that have taps: what is left of a sum.

    Of a batch of products each has rows and columns of its own, which outputs have too.
    """
    if not is_sum_of_products(op) or len(op.reads) < 2:
        return False
    read, inner = op.reads[1], set(op.reduced)
    taps = read.index[2:]
    return read.tensor in graph.constants and bool(taps) and all(
        not axes_of(each) or axes_of(each) & inner for each in taps
    )  # fmt: skip


def _weights(graph: TileGraph) -> set[str]:
    """Return the constants that are only read as weights of convolutions with many channels."""
    readers = graph.consumers()
    return {
        op.reads[1].tensor
        for op in graph.ops
        if _has_taps(graph, op) or _is_transposed(graph, op)
        if len(readers[op.reads[1].tensor]) == 1
        and op.reads[1].tensor not in (*graph.inputs, *graph.outputs)
    }
