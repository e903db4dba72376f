"""How tensors lie in a GPU's memory: images and convolution weights with channels innermost.

Convolutions say where channels are; from them it spreads along the indices of reads, so that what
is read side by side lies side by side, whatever the order of a tensor's own dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from burnish.codegen.gpu.convolving import ConvolutionNest, convolution, has_taps, taps_first
from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Div, Index, Mod, axes_of
from burnish.tile.vectors import is_sum_of_products

Order = tuple[int, ...]
"""Dimensions of a tensor, outermost in memory first."""

Place = tuple[int, int]
"""Where something lies among dimensions from the outermost on, and where among equal ones."""
FIRST: Place = (-1, 0)
"""Of what has no axis: a constant place, or a dimension that nothing is known of."""

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
    found.update(_weights(graph, outside))
    for name, order in _moved_constants(graph, outside, found):
        found.setdefault(name, order)
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
    """Return the orders of all tensors that lie as convolutions want it, the plain ones too.

    What a convolution writes for others lies as they want it, and what it reads as if it did not.
    """
    orders: dict[str, Order] = dict(_computed_weights(graph, outside))
    for op in graph.ops:
        if (found := convolution(graph, op)) is not None:
            # what was transposed behind it is part of the nest: channels are what weights say
            ranks = [(axis in found.writes, dim) for dim, axis in enumerate(op.spatial)]
            order = tuple(dim for _, dim in sorted(ranks))
            if op.output not in outside:
                orders[op.output] = order
            else:
                _follow_back(op, op.reads[0], graph, order, orders, outside)
    # what readers want goes ahead of what only follows from how a dimension is cut
    for parts in (False, True):
        changed = bool(orders)
        while changed:
            before = len(orders)
            for op in graph.ops:
                for read in op.reads:
                    if op.output in orders:
                        _follow_back(op, read, graph, orders[op.output], orders, outside)
                    elif read.tensor in orders and op.output not in outside:
                        _follow(op, read, orders, parts=parts and not op.reduced)
            changed = len(orders) > before
    return orders


def _follow(op: TileOp, read: Read, orders: dict[str, Order], *, parts: bool) -> None:
    """Give what is written the order of what is read, if its axes tell one."""
    known = _axis_places(read, orders[read.tensor], parts=parts)
    if known is not None:
        order = _ordered([known.get(axis, FIRST) for axis in op.spatial], op.shape)
        if order is not None and _worth(order, op.shape):
            orders[op.output] = order


def _follow_back(
    op: TileOp,
    read: Read,
    graph: TileGraph,
    written: Order,
    orders: dict[str, Order],
    outside: set[str],
) -> None:
    """Give what is read the order of what is written, if it has none."""
    if read.tensor in orders or read.tensor in outside or read.tensor in graph.constants:
        return
    innermost = next((axis for d in reversed(written) if (axis := op.spatial[d]).extent > 1), None)
    if not op.reduced and not any(innermost in axes_of(index) for index in read.index):
        return
    order = _read_order(op, read, written, convolution(graph, op))
    if order is not None and _worth(order, graph.tensors[read.tensor].shape):
        orders[read.tensor] = order


def _read_order(
    op: TileOp, read: Read, written: Order, convolves: ConvolutionNest | None
) -> Order | None:
    """Return the order of what is read that fits an order of what is written; None: none does.

    Along what a convolution sums (channels) neighbours should lie side by side.
    """
    places = {op.spatial[dim]: place for place, dim in enumerate(written)}
    if convolves is not None:
        ranked = sorted(op.reduced, key=lambda axis: axis in convolves.sums)
        places |= {axis: len(written) + place for place, axis in enumerate(ranked)}
    return _ordered([_place(index, places, set(op.spatial)) for index in read.index])


def _worth(order: Order, shape: Sequence[int]) -> bool:
    """Say whether an order that came through a read is worth having.

    It is if other elements lie side by side then: rows in another order are no better, and no
    matrix for who multiplies them.
    """
    long = [dim for dim in order if shape[dim] > 1]
    return len(long) > 1 and (long == sorted(long) or long[-1] != max(long))


def _place(index: Index, places: Mapping[Axis, int], spatial: set[Axis]) -> Place | None:
    """Return how far inside the output a dimension's axis lies; None: nobody can say.

    Of several axes that make a dimension, that with the smallest steps decides; of dimensions that
    one axis makes, those it changes rarely (quotients) are outside of those it changes often.
    """
    used = axes_of(index)
    if not used:
        return FIRST
    own = used & spatial or used
    if not own & set(places):
        return None
    steps = [
        (abs(factor), -places[axis])
        for atom, factor in index.terms
        for axis in axes_of(Index(((atom, 1),))) & own & set(places)
    ]
    return -min(steps)[1], -_grain(index)


def _grain(index: Index) -> int:
    """Return how many steps of an axis an index waits for until it changes, at least."""
    grains = []
    for atom, _ in index.terms:
        match atom:
            case Div(of, by):
                grains.append(by * _grain(of))
            case Mod(of, _):
                grains.append(_grain(of))
            case _:
                return 1
    return min(grains, default=1)


def _axis_places(read: Read, order: Order, *, parts: bool = True) -> dict[Axis, Place] | None:
    """Return where the axes of an output lie in what is read; None: it is read otherwise.

    An axis that makes several dimensions lies where the outermost of them does; of several axes
    that make one dimension, that with the larger steps lies outside. Without `parts`, each axis
    must have a dimension of its own.
    """
    found: dict[Axis, Place] = {}
    for place, dim in enumerate(order):
        for rank, (atom, _) in enumerate(read.index[dim].terms):
            # terms are sorted, the largest steps first
            axes = axes_of(Index(((atom, 1),)))
            if len(axes) > 1 or (not parts and (rank or axes & set(found))):
                return None
            for axis in axes:
                found.setdefault(axis, (place, rank))
    return found


def _ordered(places: Sequence[Place | None], shape: Sequence[int] | None = None) -> Order | None:
    """Return dimensions sorted by their places; None where one is not known or two are equal.

    Without `shape`, `FIRST` places are constants; with it, they must be of one element.
    """
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return None
    inside = [place for place in known if place != FIRST]
    if len(set(inside)) < len(inside):
        return None
    if shape is not None and any(
        place == FIRST and extent > 1 for place, extent in zip(known, shape, strict=True)
    ):
        return None
    return tuple(sorted(range(len(known)), key=lambda dim: (known[dim], dim)))


def _moved_constants(
    graph: TileGraph, outside: set[str], orders: Mapping[str, Order]
) -> Iterator[tuple[str, Order]]:
    """Yield constants that one nest reads element by element, as what it writes lies."""
    readers = graph.consumers()
    for op in graph.ops:
        written = orders.get(op.output)
        for read in op.reads if written is not None and not op.reduced else ():
            name = read.tensor
            if name in graph.constants and name not in outside and len(readers[name]) == 1:
                assert written is not None
                order = _read_order(op, read, written, None)
                if order is not None and _worth(order, graph.tensors[name].shape):
                    yield name, order


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
            order = _ordered([_place(index, places, set(places)) for index in read.index])
            if plain and order is not None and not read.guards:
                yield name, order


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


def _weights(graph: TileGraph, outside: set[str]) -> Iterator[tuple[str, Order]]:
    """Yield the constants that are only read as weights of convolutions, with how they lie."""
    readers = graph.consumers()
    convolve = {
        op.output: op.reads[1].tensor
        for op in graph.ops
        if has_taps(graph, op) or convolution(graph, op) is not None
    }
    for name in dict.fromkeys(convolve.values()):
        alike = all(convolve.get(each.output) == name for each in readers[name])
        if name in graph.constants and alike and name not in outside:
            yield name, taps_first(len(graph.tensors[name].shape))


def _computed_weights(graph: TileGraph, outside: set[str]) -> Iterator[tuple[str, Order]]:
    """Yield what is computed, and multiplied by nobody but a convolution that has it as weights."""
    readers = graph.consumers()
    for op in graph.ops:
        found = convolution(graph, op)
        if found is None or found.weight in (*outside, *graph.constants):
            continue
        if all(each is op or not is_sum_of_products(each) for each in readers[found.weight]):
            yield found.weight, _with_runs(found, graph.tensors[found.weight].shape)


def _with_runs(found: ConvolutionNest, shape: Sequence[int]) -> Order:
    """Return how computed weights lie: what is summed innermost, if that makes whole runs.

    What modulates weights divides them by norms over their inputs and taps, row by row.
    """
    *taps, outer, inner = found.order
    summed = shape[found.inputs] % RUN == 0 or shape[found.outputs] % RUN != 0
    if (inner == found.inputs) != summed:
        outer, inner = inner, outer
    return (*taps, outer, inner)


def sums_in_order(graph: TileGraph) -> TileGraph:
    """Return the graph with terms counted as they lie, where tensors have orders of their own."""
    orders = orders_of(graph)
    ops = []
    for op in graph.ops:
        inside = (op.reads[position] for position in arguments_of(op.body))
        found = next((read for read in inside if read.tensor in orders), None)
        if len(op.reduced) > 1 and found is not None and not is_sum_of_products(op):
            places = _axis_places(found, orders[found.tensor]) or {}
            ranked = sorted(op.reduced, key=lambda axis: places.get(axis, FIRST))
            op = replace(op, reduced=tuple(ranked))
        ops.append(op)
    return replace(graph, ops=tuple(ops))
