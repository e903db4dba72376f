"""Sums of products inside a kernel: blocks of terms, multiplied by tensor cores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.blocks import AxisBlock, power_of_two
from burnish.codegen.gpu.guards import Bind
from burnish.codegen.gpu.operands import LEAST, ProductOperands, narrow
from burnish.codegen.gpu.values import Point, Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Expr
from burnish.tile.graph import TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, axes_of, flatten, substitute, unflatten

MOST_SEGMENTS = 16
"""Tensors that lie side by side in what is multiplied, each with a loop of its own."""
RUN = 8
"""Terms that one instruction loads: so many hold or fail a condition together."""
WHOLE = 128
"""Terms of a product inside of another that are multiplied in one step."""
STEP_TERMS = 8
"""Terms that one more step is worth."""
TOGETHER = 3
"""Loads of one side of a product that are worth moving together: each as large as that side. Rows
of an image, and numbers for each of its rows and columns (a norm), are moved faster as Triton
does (NAFNet b1, an H200: 4.1 us so, and 7.0 together)."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Reduced axes of a product: those counted one by one, and those cut into blocks."""

    outer: tuple[Axis, ...]
    inner: tuple[Axis, ...]
    block: int

    @property
    def count(self) -> int:
        """Return how many terms are cut into blocks."""
        return math.prod(axis.extent for axis in self.inner)


@dataclass(frozen=True, slots=True)
class ProductLoop:
    """One run over neighbouring terms: the axes that count them, and where each nest's are."""

    k: Axis
    scalars: tuple[Axis, ...]
    point: Point
    chunks: int
    steps: int


def summed(writer: KernelWriter, point: Point, sides: ProductOperands) -> Value:
    """Write the loops over the terms of a sum of products; what is summed up comes back."""
    depends = axes_in(point.bind.values())
    writer.tally.multiplied_sums += writer.beside
    with writer.at(depends):
        terms = terms_of(writer, point, sides)
        total = started(writer, sides)
        parts = list(pairwise(_starts(writer, point, terms)))
        loops = [loop_over(writer, point, terms, part) for part in parts]
        if all(loop.steps == 1 for loop in loops):
            _at_once(writer, loops, sides, total)
        else:
            for loop in loops:
                writer.tally.multiplied_sums += writer.multiplying
                with counted(writer, loop):
                    _dot(writer, loop, sides, ready_sides(writer, loop, sides), total)
    return Value(total, point.op.body.dtype, frozenset(point.frame), depends)


def started(writer: KernelWriter, sides: ProductOperands) -> str:
    """Write the sum of no terms; return its name."""
    total = writer.fresh("total")
    sizes = f"{writer.blocks[sides.rows].size}, {writer.blocks[sides.columns].size}"
    writer.line(f"{total} = tl.zeros([{sizes}], dtype=tl.float32)")
    return total


def loop_over(
    writer: KernelWriter, point: Point, terms: Terms, part: tuple[int, int]
) -> ProductLoop:
    """Return how some neighbouring terms are counted; nothing is written yet."""
    start, end = part
    block = min(terms.block, power_of_two(end - start, LEAST))
    k = _counted_before(writer, point, block, end - start) if not terms.outer else None
    if k is None:
        k = Axis(writer.fresh("k"), end - start)
        writer.blocks[k] = AxisBlock(k, k.name, block)
    scalars = tuple(Axis(writer.fresh("tap"), axis.extent) for axis in terms.outer)
    for axis in scalars:
        writer.blocks[axis] = AxisBlock(axis, axis.name, 1)
    places = unflatten(at(k) + start, tuple(axis.extent for axis in terms.inner))
    bind = {**point.bind, **dict(zip(terms.inner, places, strict=True))}
    bind |= {axis: at(new) for axis, new in zip(terms.outer, scalars, strict=True)}
    chunks = -(-k.extent // block)
    steps = math.prod(axis.extent for axis in terms.outer) * chunks
    return ProductLoop(k, scalars, replace(point, bind=bind, done={}), chunks, steps)


def _counted_before(writer: KernelWriter, point: Point, block: int, extent: int) -> Axis | None:
    """Return an axis that counts as many terms already, all at once, and means nothing else here.

    What two products of a chain read is then the same, and written once.
    """
    taken = {*point.frame, *axes_in(point.bind.values())}
    for axis in writer.whole_terms:
        fits = axis.extent == extent and writer.blocks[axis].size == block
        if fits and axis not in taken:
            return axis
    return None


@contextmanager
def counted(writer: KernelWriter, loop: ProductLoop) -> Iterator[str]:
    """Write a loop whose body multiplies a block of terms; of a single one, only its indices.

    The name of what counts its steps is yielded, empty where there is no loop.
    """
    block = writer.blocks[loop.k]
    if loop.steps == 1:
        if not writer.knows(loop.k):
            writer.count(block)
            writer.whole_terms += () if loop.scalars else (loop.k,)
        for axis in loop.scalars:
            writer.count(writer.blocks[axis])
        yield ""
        return
    if writer.scopes[-1].trips > 1:
        writer.tally.nested += writer.scopes[-1].trips * loop.steps
    step = writer.fresh("step")
    head = f"for {step} in range({loop.steps}):"
    with writer.loop(head, (loop.k, *loop.scalars), loop.steps):
        _count(writer, step, loop, block)
        yield step


def _count(writer: KernelWriter, step: str, loop: ProductLoop, block: AxisBlock) -> None:
    """Write what a step of the loop is: one of each outer axis, and a block of the inner."""
    turn = f"({step} % {loop.chunks})" if loop.scalars else step
    start = f"{turn} * {block.size} + " if loop.chunks > 1 else ""
    writer.line(f"{block.name} = {start}{writer.lanes(block.size)}")
    less = loop.chunks
    for axis in reversed(loop.scalars):
        text = f"{step} // {less}" if less > 1 else step
        writer.line(f"{axis.name} = {writer.wide(f'{text} % {axis.extent}')}")
        less *= axis.extent


def _at_once(
    writer: KernelWriter, loops: Sequence[ProductLoop], sides: ProductOperands, total: str
) -> None:
    """Write products without a loop; what the next one needs is on its way before each."""
    ready = []
    for number, loop in enumerate(loops):
        with counted(writer, loop):
            ready.append(ready_sides(writer, loop, sides))
        if number:
            _dot(writer, loops[number - 1], sides, ready[number - 1], total, waits=number == 1)
    _dot(writer, loops[-1], sides, ready[-1], total, waits=len(loops) == 1)


@dataclass(frozen=True, slots=True)
class Ready:
    """Both sides of a product as text, and how many statements load for them."""

    left: str
    right: str
    loads: int
    plain: bool
    """Whether both are nothing but what is loaded."""


def ready_sides(writer: KernelWriter, loop: ProductLoop, sides: ProductOperands) -> Ready:
    """Write what a block of terms is made of; return both sides."""
    before = writer.tally.loads
    left, right = (
        operand_text(writer, loop, side, frame, sides.dtype)
        for side, frame in (
            (sides.left, (sides.rows, loop.k)),
            (sides.right, (loop.k, sides.columns)),
        )
    )
    for text in (left, right):
        single, placed = writer.apart.pop(text, ((0, 0), False))
        writer.tally.operand(single, writer.scopes[-1].trips, placed=placed)
    plain = left in writer.loaded and right in writer.loaded
    return Ready(left, right, writer.tally.loads - before, plain)


def operand_text(
    writer: KernelWriter, loop: ProductLoop, side: Expr, frame: tuple[Axis, Axis], dtype: str
) -> str:
    """Return one side of a product in the type that is multiplied, zero behind the last term."""
    inner, point = narrow(side), replace(loop.point, frame=frame, done={})
    tally = writer.tally
    planes, moved = tally.planes, sum(tally.loaded_bytes.values())
    products = sum(tally.unrolled.values())
    with writer.multiplied(beside=frame[0] == loop.k):
        value = writer.expression(inner, point)
    text = spelling.casted(value.text, value.dtype, dtype)
    alone = sum(tally.unrolled.values()) == products
    if alone and tally.planes - planes >= TOGETHER and _comes_together(writer, value, dtype, point):
        tally.flying = max(tally.flying, sum(tally.loaded_bytes.values()) - moved)
        writer.helpers.add("together")
        whole = replace(value, text=f"together({text})", dtype=dtype)
        writer.moved[text] = writer.named(whole, "moved").text
    text = writer.moved.get(text, text)
    if writer.blocks[loop.k].padded and not writer.loaded.get(value.text):
        kept = f"tl.where({writer.arithmetic(frame).inside(loop.k)}, {text}, 0.0)"
        text = f"{kept}.to({spelling.TYPES[dtype]})"
    if not value.dims >= set(frame):
        text = f"tl.broadcast_to({text}, {writer.shape(frame, frame)})"
    return text


def _comes_together(writer: KernelWriter, value: Value, dtype: str, point: Point) -> bool:
    """Say whether what is computed of loads is to be moved to where it is multiplied as one.

    Triton would move each load by itself, through shared memory with a barrier before and behind
    it, so that loops may load ahead: a window of nine loads waited 45 times instead of five.
    Nothing runs ahead where there is no loop. What other sums are made of is not moved at all.
    """
    here = writer.own_functions and not writer.looping and dtype in spelling.HALVES
    return here and value.dims >= set(point.frame)


def _dot(
    writer: KernelWriter,
    loop: ProductLoop,
    sides: ProductOperands,
    ready: Ready,
    total: str,
    *,
    waits: bool = True,
) -> None:
    m, n, k = (writer.blocks[axis].size for axis in (sides.rows, sides.columns, loop.k))
    trips = writer.scopes[-1].trips
    # outside of a loop all loads are in flight at once
    loads = ready.loads if trips > 1 else 2
    ahead = (ready.plain and trips > 1) or not waits
    writer.tally.product(sides.dtype, (m, n, k), trips, ahead=ahead, loads=loads)
    writer.line(f"{total} = {dot_text(writer, sides, ready.left, ready.right, total)}")


def dot_text(
    writer: KernelWriter, sides: ProductOperands, left: str, right: str, total: str
) -> str:
    """Return the product of two blocks, added to a sum."""
    precise = f', input_precision="{writer.precision}"' if sides.dtype == "f32" else ""
    return f"tl.dot({left}, {right}, {total}{precise})"


def terms_of(writer: KernelWriter, point: Point, sides: ProductOperands) -> Terms:
    """Return how the terms of a product are counted.

    Channels of a window are cut into blocks for each of its taps: whole runs of them lie inside of
    an image, or outside. Too few of them, and all terms are counted as one.
    """
    order = sorted(point.op.reduced, key=lambda axis: -_stride(writer, point, sides, axis))
    inner, count = order[-1], math.prod(axis.extent for axis in order)
    if len(order) == 1 or _side_by_side(writer, point, order):
        # a product inside of another's loop must not loop itself
        whole = writer.multiplying and count <= WHOLE
        block = power_of_two(count, LEAST) if whole else writer.depth(count)
        return Terms((), tuple(order), block)
    if inner.extent >= LEAST and inner.extent % RUN == 0:
        return Terms(tuple(order[:-1]), (inner,), _block(inner.extent, writer.depth(inner.extent)))
    return _of_parts(writer, point, order) or Terms((), tuple(order), writer.depth(count))


def _of_parts(writer: KernelWriter, point: Point, order: Sequence[Axis]) -> Terms | None:
    """Return terms whose innermost axes are counted as one, in no more steps than all of them.

    Channels of a norm's groups, for example: groups, and what each has.
    """
    whole = math.prod(axis.extent for axis in order)
    for split in range(1, len(order) - 1):
        inner = tuple(order[split:])
        count = math.prod(axis.extent for axis in inner)
        block = _block(count, writer.depth(count))
        steps = whole // count * -(-count // block)
        fits = count % RUN == 0 and steps <= -(-whole // writer.depth(whole))
        if fits and _side_by_side(writer, point, inner):
            return Terms(tuple(order[:split]), inner, block)
    return None


def _side_by_side(writer: KernelWriter, point: Point, order: Sequence[Axis]) -> bool:
    """Say whether all terms lie in memory as if they were counted by one axis."""
    op, k = point.op, Axis("k", math.prod(axis.extent for axis in order))
    bind = dict(zip(order, unflatten(at(k), tuple(axis.extent for axis in order)), strict=True))
    for read in (op.reads[position] for position in arguments_of(op.body)):
        kind = writer.types[read.tensor]
        places = writer.orders.get(read.tensor) or range(len(kind.shape))
        index = [substitute(read.index[place], bind) for place in places]
        offset = flatten(index, [kind.shape[place] for place in places])
        plain = all(atom == k or k not in axes_of(Index(((atom, 1),))) for atom, _ in offset.terms)
        if read.guards or not plain:
            return False
    return True


def _block(extent: int, most: int) -> int:
    """Return the terms of a step, up to `most`: few are multiplied in vain, in few steps."""
    sizes = [most >> n for n in range(most.bit_length()) if most >> n >= LEAST]
    return min(sizes, key=lambda size: -(-extent // size) * (size + STEP_TERMS))


def _starts(writer: KernelWriter, point: Point, terms: Terms) -> list[int]:
    """Return where loops over the terms begin, and the end: one where other tensors begin."""
    ends = [0, terms.count]
    if len(terms.inner) > 1:
        return ends
    edges = sorted({*ends, *_edges(writer, point, terms.inner[0])})
    short = any(end - start < LEAST for start, end in pairwise(edges))
    return ends if short or len(edges) > MOST_SEGMENTS + 1 else edges


def _edges(writer: KernelWriter, point: Point, k: Axis) -> Iterator[int]:
    """Yield the terms at which conditions change that depend on nothing else."""
    waiting: list[tuple[TileOp, Bind]] = [(point.op, {**point.bind, k: at(k)})]
    seen: set[str] = set()
    while waiting:
        op, bind = waiting.pop()
        for guard in op.guards:
            index = substitute(guard.index, bind)
            if index.terms == ((k, 1),):
                places = (guard.low - index.constant, guard.high - index.constant)
                yield from (place for place in places if 0 < place < k.extent)
        for read in op.reads:
            inner = writer.ops.get(read.tensor)
            if inner is not None and not inner.reduced and inner.output not in seen:
                seen.add(inner.output)
                indices = (substitute(part, bind) for part in read.index)
                waiting.append((inner, dict(zip(inner.spatial, indices, strict=True))))


def _stride(writer: KernelWriter, point: Point, sides: ProductOperands, axis: Axis) -> int:
    """Return how far apart neighbours along an axis lie in what the sides read, at most."""
    found = [0]
    for side in (sides.left, sides.right):
        for position in arguments_of(side):
            read = point.op.reads[position]
            kind = writer.types[read.tensor]
            order = writer.orders.get(read.tensor) or range(len(kind.shape))
            step = 1
            for dim in reversed(tuple(order)):
                if axis in axes_of(read.index[dim]):
                    found.append(step)
                    break
                step *= kind.shape[dim]
    return max(found)


def axes_in(indices: Iterable[Index]) -> frozenset[Axis]:
    """Return every axis that some indices depend on."""
    return frozenset(axis for index in indices for axis in axes_of(index))
