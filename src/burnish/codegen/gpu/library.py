"""Which groups are products that a library can form: two matrices row by row, and what is added."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.operands import contracts, narrow
from burnish.codegen.gpu.spelling import HALVES
from burnish.cuda.library import LibraryProduct
from burnish.tile.connect import NoGroupError
from burnish.tile.expr import Accumulated, Argument, Call, Expr
from burnish.tile.graph import Read, TensorType, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, at, flatten

BY_LIBRARY = "library"
"""The setting of a kernel that a library's product takes the place of, where there is a library."""
RUN = 8
"""Elements of which a row must have a multiple: cuBLASLt's fast kernels load sixteen bytes."""


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a product, each list in the order in which memory has them."""

    rows: tuple[Axis, ...]
    columns: tuple[Axis, ...]
    terms: tuple[Axis, ...]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Return how many rows, columns and terms there are."""
        rows, columns, terms = (
            math.prod(axis.extent for axis in axes)
            for axes in (self.rows, self.columns, self.terms)
        )
        return rows, columns, terms


@dataclass(frozen=True, slots=True)
class _Memory:
    """Where elements lie."""

    tensors: Mapping[str, TensorType]
    orders: Mapping[str, tuple[int, ...]]

    def offset(self, read: Read) -> Index:
        """Return how far from its tensor's beginning an element lies."""
        shape = self.tensors[read.tensor].shape
        order = self.orders.get(read.tensor) or range(len(shape))
        return flatten([read.index[dim] for dim in order], [shape[dim] for dim in order])


def by_library(
    group: Group,
    launch: Launch,
    tensors: Mapping[str, TensorType],
    orders: Mapping[str, tuple[int, ...]],
) -> Launch:
    """Return a group's only kernel with what a library forms in its place, under another name."""
    product = library_product(group, launch.arguments, tensors, orders)
    if product is None:
        raise NoGroupError("no library forms what it computes")
    name = f"library_{launch.name.partition('_')[2]}"
    source = launch.source.replace(launch.name, name)
    return replace(launch, name=name, source=source, library=product)


def library_product(
    group: Group,
    pointers: Sequence[str],
    tensors: Mapping[str, TensorType],
    orders: Mapping[str, tuple[int, ...]],
) -> LibraryProduct | None:
    """Return a group as a product over a kernel's pointers; None: it is something else, or more."""
    op, memory = group.ops[-1], _Memory(tensors, orders)
    sides = _sides(op)
    axes = _axes(op, orders.get(op.output))
    if len(group.ops) > 1 or sides is None or axes is None or any(n % RUN for n in axes.sizes[1:]):
        return None
    left, right = (memory.offset(read) for read in sides)
    straight = right == _flat(*axes.terms, *axes.columns)
    if left != _flat(*axes.rows, *axes.terms) or not (
        straight or right == _flat(*axes.columns, *axes.terms)
    ):
        return None
    own = memory.offset(Read(op.output, tuple(at(axis) for axis in op.spatial)))
    if own != _flat(*axes.rows, *axes.columns):
        return None
    more = _summands(op, {own: "added", _flat(*axes.columns): "offsets"}, memory)
    if more is None:
        return None
    rows, columns, terms = axes.sizes
    place = {name: pointers.index(tensor) for name, tensor in more.items()}
    a, b, result = (pointers.index(each) for each in (*(r.tensor for r in sides), op.output))
    return LibraryProduct(
        op.dtype, rows, columns, terms, a, b, result,
        place.get("offsets"), place.get("added"), turned=not straight,
    )  # fmt: skip


def _flat(*axes: Axis) -> Index:
    """Return the place of an element whose dimensions are these axes, the last one innermost."""
    return flatten([at(axis) for axis in axes], [axis.extent for axis in axes])


def _sides(op: TileOp) -> tuple[Read, Read] | None:
    """Return what is multiplied, where that is read as it lies, in 16-bit floats as the result."""
    if op.dtype not in HALVES or op.fetches or any(read.guards for read in op.reads):
        return None
    match op.body:
        case Call("multiply", (one, other), _):
            sides = [narrow(one), narrow(other)]
            reads = [op.reads[side.position] for side in sides if isinstance(side, Argument)]
            if len(reads) == 2 and all(side.dtype == op.dtype for side in sides):
                return reads[0], reads[1]
    return None


def _axes(op: TileOp, order: Sequence[int] | None) -> _Axes | None:
    """Return the axes of one product; None: it is none, or there are several side by side."""
    roles = contracts(op)
    if roles is None:
        return None
    ordered = [op.spatial[dim] for dim in order or range(len(op.spatial))]
    long = [axis for axis in ordered if axis.extent > 1]
    rows, columns = (tuple(axis for axis in long if axis in each) for each in roles)
    return _Axes(rows, columns, op.reduced) if len(rows) + len(columns) == len(long) else None


def _summands(op: TileOp, places: Mapping[Index, str], memory: _Memory) -> dict[str, str] | None:
    """Return the tensors that are added to the sums, by how they lie; None: it is more than that.

    What is rounded to 16 bits between stays as exact as it is.
    """
    found: dict[str, str] = {}
    sums = 0
    for part in _added(op.finish or Accumulated("f32")):
        match part:
            case Accumulated():
                sums += 1
            case Argument(position, dtype) if dtype == op.dtype:
                place = places.get(memory.offset(op.reads[position]))
                if place is None or place in found:
                    return None
                found[place] = op.reads[position].tensor
            case _:
                return None
    return found if sums == 1 else None


def _added(expr: Expr) -> Iterator[Expr]:
    """Yield what an expression adds up, whatever the types between."""
    match expr:
        case Call("add", (one, other), _):
            yield from _added(one)
            yield from _added(other)
        case Call("cast", (inner,), dtype) if dtype in (*HALVES, "f32"):
            yield from _added(inner)
        case _:
            yield expr
