"""Means and spreads of an image's parts, from the product that writes it.

y[i, c] = sum_k …;  m[p, c], v[p, c]: of the rows i of the p-th part                   becomes
y[i, c] = sum_k …, with a part for each block of rows: m and v of what the block has   one kernel

Whoever normalises an image reads it twice: once for its statistics. The kernel that writes it has
it in registers; a block of as many rows as a part has terms gives both, about its own mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from burnish.codegen.gpu.blocks import AxisBlock
from burnish.codegen.gpu.form import form, places_of
from burnish.codegen.gpu.library import BY_LIBRARY
from burnish.codegen.gpu.moments import averages, spreads
from burnish.codegen.gpu.parting import needed
from burnish.codegen.gpu.sectors import HANDED, WARP
from burnish.codegen.gpu.spelling import HALVES
from burnish.codegen.gpu.values import Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Argument, Call
from burnish.tile.graph import TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, at, axes_of, flatten, substitute, unflatten

BEGUN = "begun"
"""The setting of products that give the means and spreads of what they write."""

Orders = Mapping[str, tuple[int, ...]]
Settings = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BlockMoments:
    """Nests that write an image, and what is wanted of the rows of each block."""

    ops: tuple[TileOp, ...]
    """The nests that lead to the image, its own last."""
    outputs: tuple[str, str]
    """The means and the spreads of parts."""
    shape: tuple[int, ...]
    """Of either."""
    place: tuple[Index, ...]
    """Where a block's lie, over `rows` and `columns`."""
    rows: Axis
    """Counts blocks of rows."""
    columns: Axis
    """Counts columns of the product."""
    terms: int
    """Rows of a block."""


def block_moments(group: Group, orders: Orders) -> BlockMoments | None:
    """Return what a group writes, and the moments of its parts, where it does just that."""
    if len(group.outputs) != 3 or len(group.ops) < 3:
        return None
    mean, spread = group.ops[-2:]
    image = group.outputs[0]
    if group.outputs[1:] != (mean.output, spread.output) or not averages(mean):
        return None
    match mean.body:
        case Argument(position, _):
            read = mean.reads[position]
        case Call("cast", (Argument(position, dtype),), "f32") if dtype in HALVES:
            read = mean.reads[position]
        case _:
            return None
    readers = [op for op in group.ops if image in op.inputs]
    ops = needed(group, image, ())
    if read.tensor != image or readers != [mean, spread] or len(ops) + 2 != len(group.ops):
        return None
    if not spreads(spread, mean) or mean.finish is None or spread.finish is not None:
        return None
    return _placed(ops, mean, spread, read.index, orders)


def _placed(
    ops: tuple[TileOp, ...],
    mean: TileOp,
    spread: TileOp,
    index: tuple[Index, ...],
    orders: Orders,
) -> BlockMoments | None:
    """Return the moments with their places; None: parts are no blocks of rows."""
    anchor = ops[-1]
    shape = form(ops, anchor, orders.get(anchor.output), places_of(ops, anchor))
    if shape.whole or not shape.multiplies or shape.batch:
        return None
    row, column = (_position(anchor, axes, index) for axes in (shape.rows, shape.columns))
    start, inner = row - _part(row, mean), _part(row, mean)
    terms = tuple(axis for axis in mean.reduced if axis.extent > 1)
    if inner != flatten(map(at, terms), [axis.extent for axis in terms]):
        return None
    rows, columns, _ = shape.counts
    count, every = Axis("blocks", rows // mean.terms), Axis("n", columns)
    bind = {
        **_counted(start, mean, count, mean.terms), **_counted(column, mean, every, 1)
    }  # fmt: skip
    own = [axis for axis in mean.spatial if axis.extent > 1]
    if set(own) != set(bind) or rows % mean.terms:
        return None
    place = tuple(bind.get(axis, Index()) for axis in mean.spatial)
    return BlockMoments(
        ops, (mean.output, spread.output), mean.shape, place, count, every, mean.terms
    )


def _position(anchor: TileOp, axes: Iterable[Axis], index: tuple[Index, ...]) -> Index:
    """Return which row or column an element of the image is in."""
    own = dict(zip(anchor.spatial, index, strict=True))
    found = [axis for axis in axes if axis.extent > 1]
    return flatten([own[axis] for axis in found], [axis.extent for axis in found])


def _part(position: Index, mean: TileOp) -> Index:
    """Return what of a position differs within a part."""
    return Index(
        tuple(term for term in position.terms if axes_of(Index((term,))) & set(mean.reduced))
    )


def _counted(position: Index, mean: TileOp, count: Axis, step: int) -> dict[Axis, Index]:
    """Return the axes of a nest over what counts them all; empty: their order is another one."""
    terms = sorted(position.terms, key=lambda term: -term[1])
    axes = [atom for atom, _ in terms if isinstance(atom, Axis) and atom in mean.spatial]
    extents = [axis.extent for axis in axes]
    whole = flatten(map(at, axes), extents) * step
    if whole != position or math.prod(extents) != count.extent:
        return {}
    return dict(zip(axes, unflatten(at(count), tuple(extents)), strict=True))


def begun_blocks(
    group: Group, orders: Orders, blocks: Callable[[Group], Iterable[Settings]]
) -> Iterator[Settings]:
    """Yield those of the blocks of a group's image that have as many rows as parts have terms."""
    found = block_moments(group, orders)
    if found is None:
        return
    for settings in blocks(Group(found.ops, (found.ops[-1].output,))):
        if settings.get("m") == found.terms and not {BY_LIBRARY, "split"} & set(settings):
            yield {**settings, BEGUN: 1}


def store_moments(writer: KernelWriter, found: BlockMoments | None, value: Value) -> None:
    """Write the mean and the spread of each column of a block, if they are wanted."""
    if found is None:
        return
    m, n = (next(axis for axis in writer.blocks if axis.name == name) for name in ("m", "n"))
    text = value.text if value.dtype == "f32" else f"{value.text}.to(tl.float32)"
    wide, mean, spread = (writer.fresh(stem) for stem in ("wide", "mean", "spread"))
    size = writer.blocks[m].size
    writer.line(f"{wide} = {text}")
    writer.line(f"{mean} = tl.sum({wide}, axis=0) / {float(size)}")
    writer.line(f"{wide} = {wide} - {mean}[None, :]")
    writer.line(f"{spread} = tl.sum({wide} * {wide}, axis=0)")
    rows = Axis("blocks", found.rows.extent)
    writer.blocks[rows] = AxisBlock(rows, "blocks", 1)
    writer.line(f"blocks = {writer.starts[m].place}")
    writer.know(rows)
    bind = {found.columns: at(n)}
    offset = flatten([substitute(part, bind) for part in found.place], found.shape)
    mask = writer.mask((n,), (), (n,))
    for tensor, name in zip(found.outputs, (mean, spread), strict=True):
        place = f"{writer.pointer(tensor)} + {writer.arithmetic((n,)).index(offset)}"
        writer.line(f"tl.store({place}, {name}{f', mask={mask}' if mask else ''})")
        writer.tally.store(tensor, "f32", writer.blocks[n].size)
    elements = size * writer.blocks[n].size
    writer.tally.work("add", elements, 6)
    # of a tensor core's result, a thread has every fourth column, and eight threads have each
    handed = 2 * math.log2(8) * writer.blocks[n].size / 4
    writer.tally.lane_operations += HANDED * handed * WARP * writer.warps
