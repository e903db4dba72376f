"""Products of products, in the order that multiplies less.

y = W (A V)  -->  y = (W A) V   where A is small: an attention over channels, and what follows it

V is an image, and so is A V, which is then neither computed nor written. A is a softmax and W
constant, so that how large W A can be is known beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.operands import contracts, narrow
from burnish.tile.expr import Accumulated, Argument, Call, Expr, cast, renumbered
from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, axes_of, substitute
from burnish.tile.steps.substitution import read_mapped
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import regraph

WORTH = 0.9
"""Of the multiplications at most, for another order to be taken."""
LARGEST = 65_504.0
"""Of an f16."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """A constant times the product of weights and values, over the axes of the last product."""

    last: TileOp
    constant: Read
    weights: Read
    values: Read
    terms: tuple[Axis, ...]
    """What the inner product sums over."""
    dtype: str
    """Of the constant, the values, and what was between."""
    weights_dtype: str

    @property
    def shared(self) -> tuple[Axis, ...]:
        """Return what the last product sums over and the values depend on: heads."""
        return tuple(axis for axis in self.last.reduced if axis in _axes(self.values))

    @property
    def summed(self) -> tuple[Axis, ...]:
        """Return what the last product sums over, and the values do not depend on."""
        return tuple(axis for axis in self.last.reduced if axis not in _axes(self.values))

    @property
    def small(self) -> tuple[Axis, ...]:
        """Return the axes of the product of the constant with the weights."""
        used = _axes(self.constant) | _axes(self.weights)
        own = tuple(axis for axis in self.last.spatial if axis in used and axis.extent > 1)
        return (*own, *self.shared, *self.terms)


def reordered(graph: TileGraph) -> TileGraph:
    """Return the graph in which constants are multiplied with weights before those with values."""
    known = {op.output: op for op in graph.ops}
    single = {name for name, ops in graph.consumers().items() if len(ops) == 1}
    single -= set(graph.outputs)
    ops: list[TileOp] = []
    for op in graph.ops:
        chain = _chain(op, known, single, graph)
        new = (op,) if chain is None or not _bounded(chain, graph) else _reordered(chain)
        ops += (tidy(each, graph.tensors) if len(new) > 1 else each for each in new)
    return regraph(graph, ops) if len(ops) > len(graph.ops) else graph


def _chain(
    op: TileOp, known: Mapping[str, TileOp], single: set[str], graph: TileGraph
) -> _Chain | None:
    """Return a product of a constant with a product that nobody else reads; None: it is none."""
    sides = _plain_sides(op)
    if sides is None:
        return None
    for outer, inner in (sides, sides[::-1]):
        middle = known.get(inner.tensor)
        if outer.tensor not in graph.constants or inner.tensor not in single or middle is None:
            continue
        both = _plain_sides(middle)
        if both is None or inner.guards or not _only_rounded(middle):
            continue
        terms = tuple(Axis(f"term{n}", axis.extent) for n, axis in enumerate(middle.reduced))
        bind = dict(zip(middle.spatial, inner.index, strict=True))
        bind |= dict(zip(middle.reduced, map(at, terms), strict=True))
        placed = [_placed(each, bind) for each in both]
        for weights, values in (placed, placed[::-1]):
            kind = graph.tensors[weights.tensor].dtype
            found = _Chain(op, outer, weights, values, terms, middle.dtype, kind)
            if (
                _of_one_type(found, graph)
                and _is_softmax(weights, known)
                and _is_shorter(found, middle)
            ):
                return found
    return None


def _plain_sides(op: TileOp) -> tuple[Read, Read] | None:
    """Return what a product multiplies, if that is two elements as they are."""
    if contracts(op) is None or not isinstance(op.body, Call):
        return None
    reads = []
    for side in op.body.arguments:
        inner = narrow(side)
        if isinstance(inner, Argument) and not op.reads[inner.position].guards:
            reads.append(op.reads[inner.position])
    return (reads[0], reads[1]) if len(reads) == 2 else None


def _only_rounded(op: TileOp) -> bool:
    match op.finish:
        case Call("cast", (Accumulated(),), half):
            return half in spelling.HALVES
    return False


def _is_softmax(weights: Read, known: Mapping[str, TileOp]) -> bool:
    """Say whether what is read are parts of one: exponentials over the sum of them all."""
    op = known.get(weights.tensor)
    match _unrounded(op.body) if op is not None else None:
        case Call("divide", (Argument(above, "f32"), Argument(below, "f32")), _):
            assert op is not None
            powers, total = (known.get(op.reads[each].tensor) for each in (above, below))
            if powers is None or total is None or total.finish is not None:
                return False
            whole = [read.tensor for read in total.reads] == [powers.output]
            exponential = isinstance(powers.body, Call) and powers.body.function == "exp"
            return whole and exponential and total.combine == "sum"
    return False


def _unrounded(expr: Expr) -> Expr:
    match expr:
        case Call("cast", (inner,), half) if inner.dtype == "f32" and half in spelling.HALVES:
            return inner
    return expr


def _of_one_type(chain: _Chain, graph: TileGraph) -> bool:
    kinds = {graph.tensors[each.tensor].dtype for each in (chain.constant, chain.values)}
    return kinds == {chain.dtype} and chain.weights_dtype in ("f32", chain.dtype)


def _is_shorter(chain: _Chain, middle: TileOp) -> bool:
    """Say whether the other order is one, and multiplies less."""
    if not chain.summed or not set(chain.summed) <= _axes(chain.weights):
        return False
    last = chain.last
    now = _size(middle.spatial) * _size(middle.reduced) + _size(last.spatial) * _size(last.reduced)
    then = _size(chain.small) * _size(chain.summed)
    then += _size(last.spatial) * _size(chain.shared) * _size(chain.terms)
    return then < WORTH * now


def _bounded(chain: _Chain, graph: TileGraph) -> bool:
    """Say whether the product of the constant with weights up to one has a 16-bit float."""
    largest = float(np.abs(np.asarray(graph.constants[chain.constant.tensor], np.float32)).max())
    return largest * _size(chain.summed) < LARGEST


def _reordered(chain: _Chain) -> tuple[TileOp, TileOp]:
    """Return the product of constant and weights, and that of it with the values."""
    last, dtype = chain.last, chain.dtype
    first = TileOp(
        output=f"{last.output}.first",
        spatial=chain.small,
        reads=(chain.constant, chain.weights),
        body=_product(dtype, chain.weights_dtype),
        reduced=chain.summed,
        combine="sum",
        finish=cast(Accumulated("f32"), dtype),
        nodes=last.nodes,
    )
    rest = arguments_of(last.finish) if last.finish else ()
    places = {old: new for new, old in enumerate(rest, start=2)}
    second = replace(
        last,
        reads=(
            Read(first.output, tuple(map(at, chain.small))),
            chain.values,
            *(last.reads[position] for position in rest),
        ),
        body=_product(dtype, dtype),
        reduced=(*chain.shared, *chain.terms),
        finish=renumbered(last.finish, places) if last.finish else None,
    )
    return first, second


def _product(*dtypes: str) -> Expr:
    sides = tuple(cast(Argument(n, dtype), "f32") for n, dtype in enumerate(dtypes))
    return Call("multiply", sides, "f32")


def _placed(read: Read, bind: Mapping[Axis, Index]) -> Read:
    return read_mapped(read, lambda index: substitute(index, bind))


def _axes(read: Read) -> set[Axis]:
    return {axis for index in read.index for axis in axes_of(index)}


def _size(axes: Sequence[Axis]) -> int:
    return math.prod(axis.extent for axis in axes)
