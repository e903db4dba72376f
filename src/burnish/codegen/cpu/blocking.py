"""Which axis of a nest becomes the vector, which is kept in registers, and how much of each.

The innermost code of every nest is a block: `rows` steps of one axis times `vectors` vectors of
another, all accumulators in registers. Matrix products, convolutions, pooling, reductions and
element-wise nests differ only in which axes these are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from burnish.codegen.cpu.form import Access, NestForm, Range, axis_names
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import size_in_bytes
from burnish.codegen.cpu.window import Shared, Stencil, in_turn, sharing, window_of
from burnish.hw.unit import UnitSpec
from burnish.tile.graph import arguments_of
from burnish.tile.index import Axis

UNPACKED, UNPACKED_ROWS, UNPACKED_SPLATS = 4.0, 1.3, 1.05
"""How much longer a product takes with weights that are gathered, in rows, or spread one by one."""
MOST_UNROLLED = 512
"""Evaluations of the body that may be written out one after the other."""
LONGEST_UNROLLED = 8
MOST_ROWS, MOST_VECTORS = 16, 6
PAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Blocking:
    """The innermost block of a nest."""

    width: int
    """Lanes of a vector; 1 for scalar code."""
    vector: Axis | None
    horizontal: bool
    """Whether the vector runs along a reduced axis, so that lanes are combined at the end."""
    vectors: int
    block: Axis | None
    rows: int
    unrolled: tuple[Axis, ...]
    """Reduced axes without a loop: their steps follow one another in the code."""
    rows_first: bool = False
    """Whether the loop over rows is around the one over vectors, not inside it."""
    panels_first: bool = False
    """Whether the loop over vectors is around all others, so that a panel of weights serves all."""
    shared: Shared = "kept"
    stencil: Stencil | None = None
    """Where elements are shared in turn: along this axis."""


def choose(nest: NestForm, target: InstructionSet) -> Blocking:
    """Return the block that should run fastest."""
    width = _width(nest, target)
    found = vector_axis(nest, width, target.unit)
    if found is None:
        return Blocking(1, None, False, 1, None, 1, ())
    horizontal = found in nest.reduced
    block = _block_axis(nest, found)
    rows, vectors = _shape(nest, found, block, target, width)
    room = MOST_UNROLLED // max(rows * vectors, 1)
    window = window_of(nest, block) if block and not horizontal else None
    unrolled = tuple(_unrolled(nest, found if horizontal else None, room, window))[::-1]
    return Blocking(
        width,
        found.axis,
        horizontal,
        vectors,
        block.axis if block and rows > 1 else None,
        rows if block else 1,
        unrolled,
        block is not None and not horizontal and _rows_first(nest, found, block),
        _panels_first(nest, found, block, vectors * width, target.unit),
        *sharing(nest, found, block, (rows, vectors), unrolled, target.registers),
    )


def walked(nest: NestForm, blocking: Blocking) -> str:
    """Return how a nest is walked, in words: what is unrolled, and along which axis vectors lie."""
    names = axis_names(nest)
    ranges = (*nest.spatial, *nest.reduced)
    said = [f"{names[each.axis]}={each.size} of {_parts(each)}" for each in ranges]
    if blocking.vector is not None:
        along = f"{'summed ' if blocking.horizontal else ''}along {names[blocking.vector]}"
        said.append(f"{blocking.vectors} vectors of {blocking.width} {along}")
    if blocking.block is not None:
        said.append(f"{blocking.rows} of {names[blocking.block]} unrolled")
    said += [f"{names[axis]} unrolled" for axis in blocking.unrolled if axis in names]
    return f"{nest.op.output}: {', '.join(said) or 'one element'}"


def _parts(along: Range) -> str:
    return "·".join(axis.name for axis in along.parts)


def vector_axis(nest: NestForm, width: int, unit: UnitSpec) -> Range | None:
    """Return the range that vectors should run along; None where there is nothing to walk."""
    candidates = [
        *(
            (vector_cost(nest, each, width, unit), each)
            for each in reversed(nest.spatial)
            if each.axis not in nest.in_turn
        ),
        *((vector_cost(nest, each, width, unit), each) for each in reversed(nest.reduced)),
    ]
    best = min(candidates, key=lambda pair: pair[0], default=None)
    return best[1] if best else None


def vector_cost(nest: NestForm, along: Range, width: int, unit: UnitSpec) -> float:
    """Return about how many vector operations one evaluation of the body costs."""
    horizontal = along in nest.reduced
    inner = math.prod(each.size for each in nest.reduced)
    in_body = set(arguments_of(nest.op.body))
    cost = 1.0
    for position, read in enumerate(nest.reads):
        if not (horizontal and position not in in_body):
            share = 1.0 if position in in_body or not nest.reduced else 1 / max(inner, 1)
            packed = read.constant and nest.reduced and not horizontal and not along.step % width
            if not packed:
                cost += share * _read_cost(read, along.axis, unit.gather_loads)
    if horizontal:
        # with a vector of each operand per product, loads are the limit
        along_both = sum(read.offset.depends(along.axis) for read in nest.reads) > 1
        cost += unit.across_operations * width / max(inner, 1) + (1.0 if along_both else 0.0)
    else:
        stride = nest.output.stride(along.axis)
        cost += (0.0 if stride == 1 else unit.gather_loads) / max(inner, 1)
    filled = along.size / (math.ceil(along.size / width) * width) if along.size else 1.0
    return cost / filled


def _read_cost(read: Access, along: Axis, gather_loads: float) -> float:
    if not read.offset.steady(along):
        return gather_loads
    stride = read.offset.stride(along)
    if stride in (0, 1):
        return 0.0
    return 2.0 if 2 <= stride <= 4 and not read.guards else gather_loads


def _width(nest: NestForm, target: InstructionSet) -> int:
    """Return the lanes of a vector: of long elements half as many.

    Of a sum its steps decide, whatever follows it (a mask made of lengths).
    """
    steps = arguments_of(nest.op.body) if nest.reduced else range(len(nest.reads))
    sizes = [size_in_bytes(nest.reads[position].dtype) for position in steps]
    sizes += [size_in_bytes(nest.op.body.dtype), size_in_bytes(nest.op.dtype)]
    return target.lanes // 2 if max(sizes) > 4 else target.lanes


def _block_axis(nest: NestForm, along: Range) -> Range | None:
    """Return the axis whose steps share the most of what they read."""
    if not nest.reduced:
        return None
    scored = [
        (_shared(nest, each, along), min(each.size, MOST_ROWS), -_distance(nest, each), each)
        for each in nest.spatial
        if each is not along and each.size > 1
    ]
    best = max(scored, key=lambda item: item[:3], default=None)
    return best[3] if best and best[0] > 0 else None


def _distance(nest: NestForm, candidate: Range) -> int:
    """Return how far apart in memory a row and the next read: nearer ones share lines."""
    reads = (nest.reads[position].offset for position in arguments_of(nest.op.body))
    return sum(abs(offset.stride(candidate.axis)) for offset in reads)


def _shared(nest: NestForm, candidate: Range, along: Range) -> float:
    total = 0.0
    reduced = [each.axis for each in nest.reduced]
    for position in arguments_of(nest.op.body):
        offset = nest.reads[position].offset
        if not offset.depends(candidate.axis):
            total += 4.0 if offset.depends(along.axis) else 1.0
        elif any(offset.stride(axis) == offset.stride(candidate.axis) for axis in reduced):
            # a stencil: the next row reads what this one has just read
            total += 1.0
    return total


def _rows_first(nest: NestForm, along: Range, block: Range) -> bool:
    """Say whether memory is walked in order: nothing that vectors read serves all rows.

    What depends on the vector alone (a panel of a product) should stay in the first cache while
    the rows pass; a stencil has nothing of the kind, and down a column each step is a new page.
    """
    reads = [nest.reads[position].offset for position in arguments_of(nest.op.body)]
    return not any(
        offset.depends(along.axis) and not offset.depends(block.axis) for offset in reads
    ) and nest.output.stride(along.axis) < nest.output.stride(block.axis)


def _panels_first(
    nest: NestForm, along: Range, block: Range | None, panel: int, unit: UnitSpec
) -> bool:
    """Say whether all rows of a tile should pass before the next panel of weights.

    Rows that lie in several axes of an image are walked axis by axis. Weights that no cache holds
    (2.4 MB of 384 × 1536) would be read anew for each step of the outer ones, where what they are
    multiplied with is read anew for each panel instead.
    """
    others = [each for each in nest.spatial if each is not along and each is not block]
    if block is None or along in nest.reduced or math.prod(each.size for each in others) == 1:
        return False
    weights, images = 0, 0
    for read in (nest.reads[position] for position in arguments_of(nest.op.body)):
        walked = [each for each in (*nest.spatial, *nest.reduced) if read.offset.depends(each.axis)]
        size = math.prod(each.size for each in walked) * size_in_bytes(read.dtype)
        if along not in walked:
            images += size
        elif block in walked or any(each in walked for each in others):
            return False
        else:
            weights += size
    again = weights * math.prod(each.size for each in others)
    is_near = images <= max(unit.most_copied_bytes, weights)
    panels = math.ceil(along.size / panel)
    return weights > unit.first_cache_bytes and is_near and again > images * panels


def _shape(
    nest: NestForm, along: Range, block: Range | None, target: InstructionSet, width: int
) -> tuple[int, int]:
    """Return rows and vectors of the block: most work per load, least waste at the ends."""
    rows = range(1, min(MOST_ROWS, block.size) + 1) if block else range(1, 2)
    most = max(1, min(MOST_VECTORS, math.ceil(along.size / width)))
    costs = _Costs(nest, along, block, width, target)
    found = [
        (costs.of_all(r, v), -r * v, r, v)
        for r in rows
        for v in range(1, most + 1)
        if r * v + v + 2 <= target.registers
    ]
    _, _, best_rows, best_vectors = min(found, default=(0.0, 0, 1, 1))
    if not nest.reduced:
        best_vectors = min(best_vectors, 2)
    return best_rows, best_vectors


class _Costs:
    """Cycles of one step along the sum, for blocks of any shape."""

    def __init__(
        self, nest: NestForm, along: Range, block: Range | None, width: int, target: InstructionSet
    ) -> None:
        self._nest = nest
        self._along = along
        self._block = block
        self._width = width
        self._unit = target.unit
        self._registers = target.registers
        self._reads = [nest.reads[position] for position in arguments_of(nest.op.body)]
        self._steps = math.prod(each.size for each in nest.reduced)
        self._pieces = _far_pieces(nest, along, block) if block else 0
        self._window = window_of(nest, block) if block else None

    def of_all(self, rows: int, vectors: int) -> float:
        """Return the cycles for all blocks of the tile, those at the ends included."""
        down = _pieces(self._block, rows, 1) if self._block else [(1, 1)]
        across = _pieces(self._along, vectors * self._width, self._width)
        cycles = sum(
            count * times * self._of_block(r, math.ceil(size / self._width))
            for r, count in down
            for size, times in across
        )
        return cycles * self._unpacked(rows, vectors)

    def _unpacked(self, rows: int, vectors: int) -> float:
        """Return how much longer all takes because weights cannot be laid out as blocks walk them.

        They can where tiles begin with a panel.
        """
        result = 1.0
        for read in self._reads:
            if not read.constant:
                continue
            if read.offset.depends(self._along.axis):
                if self._along.step % (vectors * self._width):
                    side_by_side = read.offset.stride(self._along.axis) == 1
                    result *= UNPACKED_ROWS if side_by_side else UNPACKED
            elif self._block and read.offset.depends(self._block.axis) and self._block.step % rows:
                result *= UNPACKED_SPLATS
        return result

    def _of_block(self, rows: int, vectors: int) -> float:
        """Return the cycles of one block.

        What it walks of an operand comes from the second cache where the first does not hold it.
        """
        unit, loads, far_bytes = self._unit, 0.0, 0
        for read in self._reads:
            by_row = rows if self._block and read.offset.depends(self._block.axis) else 1
            along = read.offset.depends(self._along.axis)
            loads += self._loads(read, rows, vectors)
            elements = by_row * (vectors * self._width if along else 1)
            step_bytes = elements * size_in_bytes(read.dtype)
            reduced = (each for each in self._nest.reduced if read.offset.depends(each.axis))
            # windows of neighbours overlap: what a block reads is little more than one step
            steps = 1 if self._window else math.prod(each.size for each in reduced)
            far_bytes += step_bytes if step_bytes * steps > unit.first_cache_bytes else 0
            if not read.constant and by_row > self._rows_near(read):
                # each row's line is gone when its next element is wanted
                far_bytes += by_row * unit.read_bytes
        multiplying = max(rows * vectors, unit.accumulators if self._nest.reduced else 1) / 2
        far = far_bytes / unit.second_cache_bytes_per_cycle
        starts = unit.piece_cycles * rows * self._pieces / max(self._steps, 1)
        # what hides behind the longest part does so not wholly, and windows have other ways
        hidden = unit.exposed_share * min(multiplying, loads / 2) if self._window else 0.0
        return unit.step_cycles + max(multiplying, loads / 2, far) + hidden + starts

    def _loads(self, read: Access, rows: int, vectors: int) -> float:
        """Return the loads of one operand for one step; two where a vector crosses a line."""
        along, window = read.offset.depends(self._along.axis), self._window
        by_row = float(rows if self._block and read.offset.depends(self._block.axis) else 1)
        if window is None or read.constant:
            return by_row * (vectors if along else 1)
        if in_turn(self._nest, self._along, (rows, vectors), window.axis) <= self._registers:
            by_row = (rows + window.size - 1) / window.size
        slides = any(read.offset.stride(each.axis) == 1 for each in self._nest.reduced)
        crossing = self._width * size_in_bytes(read.dtype) / self._unit.read_bytes if slides else 0
        return by_row * vectors * (1 + crossing) if along else by_row

    def _rows_near(self, read: Access) -> int:
        """Return how many rows of an operand the first cache holds at once, by their distance."""
        unit = self._unit
        stride = read.offset.stride(self._block.axis) if self._block else 0
        apart = math.gcd(stride * size_in_bytes(read.dtype), unit.cache_sets_bytes)
        return unit.cache_ways * (unit.cache_sets_bytes // apart)


def _far_pieces(nest: NestForm, along: Range, block: Range) -> int:
    """Return how many pieces of far memory each row of a block begins.

    Nothing fetches the first lines of a piece before they are asked for: two rows of six vectors
    are better than six of two. Rows that lie within a page of each other are one piece, unless each
    is walked to its end before the next.
    """
    in_order = _rows_first(nest, along, block)
    far = [(read.offset, read.dtype) for read in nest.reads if read.is_far]
    far += [(nest.output, nest.op.dtype)] if nest.is_far else []
    strides = [abs(offset.stride(block.axis)) * size_in_bytes(kind) for offset, kind in far]
    return sum(stride >= PAGE_BYTES or (stride > 0 and in_order) for stride in strides)


def _pieces(along: Range, step: int, single: int) -> list[tuple[int, int]]:
    """Return sizes of the blocks along a range, and how many there are of each.

    What is left is a block of its own where its size is known, else single rows or vectors.
    """
    left = along.size % step
    whole = [(step, along.size // step)] if along.size >= step else []
    if not left:
        return whole
    return [*whole, (left, 1) if along.fixed else (single, -(-left // single))]


def _unrolled(
    nest: NestForm, along: Range | None, room: int, window: Range | None
) -> Iterator[Axis]:
    """Yield axes of the sum while their steps are few enough to be written out.

    A window's axis comes first, along which rows share what they read; then the innermost ones.
    """
    if window is not None and window.size <= room:
        room //= window.size
        yield window.axis
    for each in reversed(nest.reduced):
        if each is along or each.size > min(room, LONGEST_UNROLLED):
            return
        if each is not window:
            room //= max(each.size, 1)
            yield each.axis
