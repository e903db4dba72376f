"""What scales the columns of a product, put into its constants.

y = (sum_k x[i, k] * w[k, j] + b[j]) * g[j]  -->  y = sum_k x[i, k] * (w[k, j] * g[j]) + b[j] * g[j]

Blocks of many networks end with a learned scale for each channel. Without it what follows their
products is a sum, which libraries of products add by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from burnish.codegen.gpu.operands import contracts, narrow
from burnish.codegen.gpu.spelling import HALVES
from burnish.core.arrays import Array
from burnish.tile.expr import Accumulated, Argument, Call, Expr, walk
from burnish.tile.graph import Read, TileGraph, TileOp, constant_type
from burnish.tile.index import Axis, at, axes_of
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import free_name, regraph

CLOSE = {"f16": 2.0**-10, "bf16": 2.0**-7}
"""How far a column of scaled constants may be from the exact one: twice what rounding is."""
LEAST = {"f16": 2.0**-25, "bf16": 2.0**-134}
"""Half of the smallest step of a type: what rounding a scaled sum loses anyway, as the model does.
An offset may be as far off. (A column of weights may not: its errors are multiplied.)"""


@dataclass(frozen=True, slots=True)
class _Scale:
    """A product of sums and constants, and what the columns are multiplied by."""

    whole: Expr
    sums: Expr
    factor: Array


def folded(graph: TileGraph) -> TileGraph:
    """Return the graph whose products have scaled constants instead of scaled sums."""
    constants, taken = dict[str, Array](), set(graph.tensors)
    ops = []
    for op in graph.ops:
        found = _folded(op, graph, taken)
        if found is None:
            ops.append(op)
            continue
        changed, more = found
        constants |= more
        types = {name: constant_type(array) for name, array in more.items()}
        ops.append(tidy(changed, {**graph.tensors, **types}))
    return regraph(graph, ops, constants) if constants else graph


def _folded(
    op: TileOp, graph: TileGraph, taken: set[str]
) -> tuple[TileOp, dict[str, Array]] | None:
    """Return a product with its scale in new constants; None: it has none, or it would be lost."""
    if op.dtype not in HALVES or op.finish is None or contracts(op) is None:
        return None
    for column in op.spatial:
        weight = _weight(op, column, graph)
        scale = _scale(op, column, graph) if weight is not None else None
        if weight is None or scale is None:
            continue
        changed = {weight, *_positions(scale.sums)}
        if changed & _positions(_put(op.finish, scale.whole, Accumulated("f32"))):
            continue
        reads, more = list(op.reads), dict[str, Array]()
        for position in sorted(changed):
            read = op.reads[position]
            array = _scaled(np.asarray(graph.constants[read.tensor]), read, column, scale.factor)
            if array is None:
                return None
            name = free_name(f"{op.output}.scaled{position}", taken)
            more[name] = array
            reads[position] = replace(read, tensor=name)
        finish = _put(op.finish, scale.whole, scale.sums)
        return replace(op, reads=tuple(reads), finish=finish), more
    return None


def _positions(expr: Expr) -> set[int]:
    """Return the reads that an expression uses."""
    return {part.position for part in walk(expr) if isinstance(part, Argument)}


def _weight(op: TileOp, column: Axis, graph: TileGraph) -> int | None:
    """Return the side of a product that is a constant of its own, with a dimension of columns."""
    assert isinstance(op.body, Call)
    for side in map(narrow, op.body.arguments):
        if not isinstance(side, Argument) or side.dtype not in CLOSE:
            continue
        read = op.reads[side.position]
        readers = sum(read.tensor in each.inputs for each in graph.ops)
        if read.tensor in graph.constants and readers == 1 and _dimension(read, column) is not None:
            return side.position
    return None


def _dimension(read: Read, column: Axis) -> int | None:
    """Return the dimension of a tensor that columns run along, and nothing else does."""
    found = [place for place, index in enumerate(read.index) if column in axes_of(index)]
    plain = len(found) == 1 and read.index[found[0]] == at(column) and not read.guards
    return found[0] if plain else None


def _scale(op: TileOp, column: Axis, graph: TileGraph) -> _Scale | None:
    """Return what scales sums, where nothing but scaled sums is used of them."""
    assert op.finish is not None
    for whole in walk(op.finish):
        for sums, factor in _sides(whole):
            inner = factor.arguments[0] if isinstance(factor, Call) else factor
            vector = _vector(inner, op, column, graph) if isinstance(inner, Argument) else None
            if vector is None or not _linear(sums, op, column, graph):
                continue
            if sum(isinstance(part, Accumulated) for part in walk(sums)) != 1:
                continue
            rest = _put(op.finish, whole, factor)
            if not any(isinstance(part, Accumulated) for part in walk(rest)):
                return _Scale(whole, sums, vector)
    return None


def _sides(expr: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield what is multiplied and what by, both ways round; a cast around a factor is its own."""
    match expr:
        case Call("multiply", (one, other), _):
            for sums, factor in ((one, other), (other, one)):
                if isinstance(factor, Argument) or (
                    isinstance(factor, Call) and factor.function == "cast"
                ):
                    yield sums, factor


def _linear(expr: Expr, op: TileOp, column: Axis, graph: TileGraph) -> bool:
    """Say whether an expression is the sums, and constants of columns that are added to them."""
    match expr:
        case Accumulated():
            return True
        case Argument():
            return expr.dtype in CLOSE and _vector(expr, op, column, graph) is not None
        case Call("cast", (inner,), dtype):
            return dtype in {*CLOSE, "f32"} and _linear(inner, op, column, graph)
        case Call("add", (one, other), _):
            return all(_linear(each, op, column, graph) for each in (one, other))
    return False


def _vector(part: Argument, op: TileOp, column: Axis, graph: TileGraph) -> Array | None:
    """Return a constant with one number for each column; None: it is something else."""
    read = op.reads[part.position]
    array = graph.constants.get(read.tensor)
    if array is None or _dimension(read, column) is None or np.size(array) != column.extent:
        return None
    return np.asarray(array).reshape(-1)


def _scaled(array: Array, read: Read, column: Axis, factor: Array) -> Array | None:
    """Return a constant times what its columns are scaled by; None: too little would be left."""
    place = _dimension(read, column)
    assert place is not None
    shape = [-1 if dim == place else 1 for dim in range(array.ndim)]
    exact = array.astype(np.float64) * factor.astype(np.float64).reshape(shape)
    with np.errstate(over="ignore"):
        rounded = exact.astype(array.dtype)
    others = tuple(dim for dim in range(array.ndim) if dim != place)
    error, size = (
        np.sqrt(np.square(each).sum(axis=others))
        for each in (rounded.astype(np.float64) - exact, exact)
    )
    kind = str(constant_type(array).dtype)
    near = np.isfinite(error) & (
        error <= np.maximum(CLOSE[kind] * size, 0 if others else LEAST[kind])
    )
    return rounded if near.all() else None


def _put(expr: Expr, old: Expr, new: Expr) -> Expr:
    """Return an expression with another part wherever it has one like the old part."""
    if expr == old:
        return new
    if isinstance(expr, Call):
        return replace(expr, arguments=tuple(_put(each, old, new) for each in expr.arguments))
    return expr
