"""Convolutions of 3×3 by Winograd's method: fewer products for the same sums.

y = Aᵀ·[(G·w·Gᵀ) ∘ (Bᵀ·x·B)]·A for every block of m×m outputs, whose x has (m + 2)×(m + 2) elements

Blocks of 2×2 take 16 products for each pair of channels where the sum itself takes 36; blocks of
4×4 take 36 instead of 144. All steps are nests like others, so they are grouped, priced, tried and
judged as others are: two take the image apart, along columns and along rows; a product over
channels for each place of a block; two put outputs together. Weights are taken apart beforehand.

Where taps are d apart, every d-th row, and every d-th column, is an image by itself: its blocks are
those of a convolution whose taps are neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.tile.expr import Argument, Call, Guard, renumbered
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp, arguments_of, constant_type
from burnish.tile.index import Axis, Index, at, floor_divide, remainder, substitute
from burnish.tile.steps.substitution import read_mapped
from burnish.tile.steps.unused import regraph

TAPS = 3
"""Along both directions."""

Matrix = NDArray[np.float64]

_PRODUCT = Call("multiply", (Argument(0, "f32"), Argument(1, "f32")), "f32")


@dataclass(frozen=True, slots=True)
class Transform:
    """The matrices for blocks of so many outputs along one direction."""

    outputs: int
    image: Matrix
    """Bᵀ: takes a block of the image apart."""
    weights: Matrix
    """G."""
    result: Matrix
    """Aᵀ: puts a block of outputs together."""

    @property
    def places(self) -> int:
        """Return the length of a block of the image, and of what it is taken apart into."""
        return self.outputs + TAPS - 1


def transform(points: Sequence[Fraction]) -> Transform:
    """Return the matrices that convolve by values of polynomials at these points, and at infinity.

    Points that are sums of few powers of two make matrices that f32 holds exactly.
    """
    outputs = len(points) + 2 - TAPS
    others = [[each for each in points if each != point] for point in points]
    scales = [_value(roots, point) for roots, point in zip(others, points, strict=True)]
    image = [[*_coefficients(roots), Fraction(0)] for roots in others]
    weights = [[p**n / scale for n in range(TAPS)] for p, scale in zip(points, scales, strict=True)]
    last = [Fraction(n == TAPS - 1) for n in range(TAPS)]
    result = [[*(p**n for p in points), Fraction(n == outputs - 1)] for n in range(outputs)]
    every = ([*image, _coefficients(points)], [*weights, last], result)
    return Transform(outputs, *(np.array(rows, dtype=np.float64) for rows in every))


def _value(roots: Sequence[Fraction], point: Fraction) -> Fraction:
    found = Fraction(1)
    for root in roots:
        found *= point - root
    return found


def _coefficients(roots: Sequence[Fraction]) -> list[Fraction]:
    """Return the polynomial with these roots, the constant term first."""
    found = [Fraction(1)]
    for root in roots:
        shifted, same = [Fraction(0), *found], [*found, Fraction(0)]
        found = [a - root * b for a, b in zip(shifted, same, strict=True)]
    return found


TRANSFORMS = (
    transform([Fraction(0), Fraction(1), Fraction(-1)]),
    # about 3/4 and 3/2 roundings grow least: twice those of the plain sum of 128 channels, where
    # the usual 1 and 2 have five times them
    transform([Fraction(n, 4) for n in (0, 3, -3, 6, -6)]),
)
"""Blocks of two and of four."""


@dataclass(frozen=True, slots=True)
class PlainThreeByThree:
    """A nest that is a 3×3 convolution with step 1: its operands and axes."""

    op: TileOp
    image: Read
    weight: Read
    apart: tuple[int, int]
    """How far taps are from their neighbours, along rows and along columns."""

    @property
    def inside(self) -> Axis:
        """Return the channels that are summed."""
        return self.op.reduced[0]


def convolution(op: TileOp, graph: TileGraph) -> PlainThreeByThree | None:
    """Return the nest as such a convolution with constant weights; None: it is none."""
    match op.body:
        case Call("multiply", (Argument(first, "f32"), Argument(second, "f32")), "f32"):
            image, weight = op.reads[first], op.reads[second]
        case _:
            return None
    if op.combine != "sum" or len(op.spatial) != 4 or len(op.reduced) != 3:
        return None
    if image.tensor in graph.constants:
        image, weight = weight, image
    if weight.tensor not in graph.constants or image.guards or weight.guards:
        return None
    batch, outside, rows, columns = op.spatial
    inside, down, across = op.reduced
    if weight.index != (at(outside), at(inside), at(down), at(across)):
        return None
    apart = _apart(image.index[2] - at(rows), down), _apart(image.index[3] - at(columns), across)
    fits = image.index[:2] == (at(batch), at(inside)) and down.extent == across.extent == TAPS
    return PlainThreeByThree(op, image, weight, apart) if fits and all(apart) else None


def _apart(index: Index, taps: Axis) -> int:
    """Return how many elements there are from a tap to the next; 0: the index tells none."""
    match index:
        case Index(((axis, apart),), 0) if axis == taps:
            return max(apart, 0)
    return 0


Choose = Callable[[Sequence[TileGraph]], int]
"""Tells which of several graphs that compute the same should be the fastest."""


def in_blocks(graph: TileGraph, choose: Choose) -> TileGraph:
    """Return the graph with convolutions by Winograd's method, where `choose` prefers that."""
    moves = {op.output: op for op in graph.ops if op.combine is None and len(op.reads) == 1}
    constants: dict[str, Array] = {}
    chosen: dict[Hashable, int] = {}
    ops: list[TileOp] = []
    for op in graph.ops:
        conv = convolution(op, graph)
        if conv is None:
            ops.append(op)
            continue
        before = moves.get(conv.image.tensor)
        ways = [_Blocks(conv, by, before, graph.tensors[conv.image.tensor]) for by in TRANSFORMS]
        key = (op.shape, op.finish, *(graph.tensors[name] for name in op.inputs))
        if key not in chosen:
            plain = _alone([before, op] if before else [op], op, graph, {})
            chosen[key] = choose([plain, *(_alone(w.nests, op, graph, w.shapes) for w in ways)])
        if chosen[key] == 0:
            ops.append(op)
            continue
        way = ways[chosen[key] - 1]
        ops += way.nests
        constants |= way.constants(np.asarray(graph.constants[conv.weight.tensor]))
    return regraph(graph, ops, constants)


def _alone(
    ops: Sequence[TileOp], last: TileOp, graph: TileGraph, shapes: Mapping[str, tuple[int, ...]]
) -> TileGraph:
    """Return one convolution as a graph to be priced: new constants have shapes only."""
    zero = np.zeros((), np.float32)
    constants: dict[str, Array] = {n: np.broadcast_to(zero, shape) for n, shape in shapes.items()}
    names = dict.fromkeys(name for op in ops for name in op.inputs)
    constants |= {name: graph.constants[name] for name in names if name in graph.constants}
    written = {op.output: TensorType(op.dtype, op.shape) for op in ops}
    inputs = tuple(name for name in names if name not in constants and name not in written)
    tensors = {name: constant_type(array) for name, array in constants.items()} | written
    tensors |= {name: graph.tensors[name] for name in inputs}
    return TileGraph(tensors, inputs, (last.output,), tuple(ops), constants)


@dataclass(frozen=True, slots=True)
class _Direction:
    """One direction of an image in blocks."""

    axis: Axis
    outputs: int
    """Of a block."""
    apart: int
    """Outputs of a block, and taps: from one to the next."""

    @property
    def count(self) -> int:
        """Return the number of blocks; those that begin in one row of blocks stand side by side."""
        return self.apart * self._rows

    @property
    def length(self) -> int:
        """Return the elements of the image that all blocks read."""
        return self.apart * (self._rows * self.outputs + TAPS - 1)

    @property
    def _rows(self) -> int:
        return -(-self.axis.extent // (self.outputs * self.apart))

    def place(self, block: Index, tap: Index) -> Index:
        """Return where an element of a block lies in the image."""
        first = floor_divide(block, self.apart) * self.outputs + tap
        return remainder(block, self.apart) + first * self.apart

    def block(self, output: Index) -> Index:
        """Return the block that an output belongs to."""
        row = floor_divide(output, self.outputs * self.apart)
        return row * self.apart + remainder(output, self.apart)

    def output(self, output: Index) -> Index:
        """Return its number within its block."""
        return remainder(floor_divide(output, self.apart), self.outputs)


class _Blocks:
    """One convolution by one transform."""

    def __init__(
        self, conv: PlainThreeByThree, by: Transform, before: TileOp | None, image: TensorType
    ) -> None:
        self._conv = conv
        self._by = by
        self._batch, outside, rows, columns = conv.op.spatial
        self._grid = tuple(
            _Direction(axis, by.outputs, apart)
            for axis, apart in zip((rows, columns), conv.apart, strict=True)
        )
        self._inside, self._outside = Axis("c", conv.inside.extent), Axis("k", outside.extent)
        self._block = Axis("t", prod(each.count for each in self._grid))
        self._p, self._q = Axis("p", by.places), Axis("q", by.places)
        self._weights = f"{conv.weight.tensor}|{conv.op.output}|{by.outputs}"
        self._matrices = {
            f"$blocks of {by.outputs}: image": by.image,
            f"$blocks of {by.outputs}: result": by.result,
        }
        self.nests = tuple(self._nests(self._grown(before, image)))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the constants that the nests read and the graph does not have."""
        weights = (self._p.extent, self._q.extent, self._inside.extent, self._outside.extent)
        return {name: each.shape for name, each in self._matrices.items()} | {
            self._weights: weights
        }

    def constants(self, weights: Array) -> dict[str, Array]:
        """Return these constants, given the convolution's weights."""
        g = self._by.weights
        apart = np.einsum("pa,kcab,qb->pqck", g, weights.astype(np.float64), g, optimize=True)
        found = {**self._matrices, self._weights: apart}
        return {name: each.astype(np.float32) for name, each in found.items()}

    def _nests(self, grown: TileOp | None) -> Iterator[TileOp]:
        if grown is not None:
            yield grown
        yield (columns := self._columns(grown.output if grown else self._conv.image.tensor))
        yield (places := self._places(columns))
        yield (products := self._products(places))
        yield (rows := self._rows(products))
        yield self._result(rows)

    def _grown(self, before: TileOp | None, image: TensorType) -> TileOp | None:
        """Return the image with as many rows and columns as whole blocks read; None: it has them.

        What pads it already pads it further instead, where it can.
        """
        shape = (*image.shape[:2], *(each.length for each in self._grid))
        if shape == image.shape:
            return None
        axes = tuple(Axis(f"i{place}", extent) for place, extent in enumerate(shape))
        name = f"{self._conv.op.output}.grown"
        if before is not None and _pads_all(before, shape):
            values = {old: at(new) for old, new in zip(before.spatial, axes, strict=True)}
            read = read_mapped(before.reads[0], lambda index: substitute(index, values))
            return replace(before, output=name, spatial=axes, reads=(read,))
        longer = zip(axes, image.shape, strict=True)
        guards = tuple(Guard(at(axis), 0, size) for axis, size in longer if axis.extent > size)
        source = Read(self._conv.image.tensor, tuple(map(at, axes)), guards, 0.0)
        return TileOp(name, axes, (source,), Argument(0, "f32"), nodes=self._conv.op.nodes)

    def _columns(self, image: str) -> TileOp:
        """Return what takes the columns of blocks apart, for each column of the image."""
        rows, columns = self._grid
        tap, down, column = (
            Axis("a", self._by.places), Axis("d", rows.count), Axis("x", columns.length)
        )  # fmt: skip
        place = rows.place(at(down), at(tap))
        there = (at(self._batch), at(self._inside), place, at(column))
        spatial = (self._batch, self._p, down, column, self._inside)
        matrix = self._matrix("image", (at(self._p), at(tap)))
        return self._sum("columns", spatial, tap, Read(image, there), matrix)

    def _places(self, columns: TileOp) -> TileOp:
        """Return what takes their rows apart."""
        tap, grid = Axis("a", self._by.places), self._grid[1]
        down = floor_divide(at(self._block), grid.count)
        across = grid.place(remainder(at(self._block), grid.count), at(tap))
        there = (at(self._batch), at(self._p), down, across, at(self._inside))
        spatial = (self._batch, self._p, self._q, self._block, self._inside)
        matrix = self._matrix("image", (at(self._q), at(tap)))
        return self._sum("places", spatial, tap, Read(columns.output, there), matrix)

    def _products(self, places: TileOp) -> TileOp:
        """Return the sum over channels, for each place of each block."""
        shared = (self._batch, self._p, self._q, self._block)
        there = tuple(map(at, (*shared, self._inside)))
        weights = tuple(map(at, (self._p, self._q, self._inside, self._outside)))
        reads = (Read(places.output, there), Read(self._weights, weights))
        return self._sum("products", (*shared, self._outside), self._inside, *reads)

    def _rows(self, products: TileOp) -> TileOp:
        """Return what puts the rows of outputs together."""
        row = Axis("y", self._by.outputs)
        shared = (self._q, self._block, self._outside)
        there = tuple(map(at, (self._batch, self._p, *shared)))
        matrix = self._matrix("result", (at(row), at(self._p)))
        return self._sum(
            "rows", (self._batch, row, *shared), self._p, Read(products.output, there), matrix
        )

    def _result(self, rows: TileOp) -> TileOp:
        """Return what puts outputs together, and ends as the convolution does."""
        op, (rows_of, columns_of) = self._conv.op, self._grid
        _, outside, down, across = op.spatial
        block = rows_of.block(at(down)) * columns_of.count + columns_of.block(at(across))
        row = rows_of.output(at(down))
        there = (at(self._batch), row, at(self._q), block, at(outside))
        matrix = self._matrix("result", (columns_of.output(at(across)), at(self._q)))
        later = sorted(arguments_of(op.finish)) if op.finish else []
        numbers = {old: new for new, old in enumerate(later, start=2)}
        reads = (Read(rows.output, there), matrix, *(op.reads[old] for old in later))
        finish = renumbered(op.finish, numbers) if op.finish else None
        return replace(op, reads=reads, body=_PRODUCT, reduced=(self._q,), finish=finish)

    def _sum(self, name: str, spatial: tuple[Axis, ...], along: Axis, *reads: Read) -> TileOp:
        op = self._conv.op
        name = f"{op.output}.{name}"
        return TileOp(name, spatial, reads, _PRODUCT, (along,), "sum", nodes=op.nodes)

    def _matrix(self, which: str, index: tuple[Index, ...]) -> Read:
        return Read(f"$blocks of {self._by.outputs}: {which}", index)


def _pads_all(op: TileOp, shape: Sequence[int]) -> bool:
    """Say whether what a nest gives beyond its own shape is padding, too."""
    guarded = {guard.index for guard in op.reads[0].guards}
    longer = [axis for axis, size in zip(op.spatial, shape, strict=True) if size > axis.extent]
    return isinstance(op.body, Argument) and all(at(axis) in guarded for axis in longer)
