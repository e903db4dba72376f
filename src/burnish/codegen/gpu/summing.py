"""Sums over an image that the kernel which writes it begins: each program adds up its own part.

y[b, c, h, w] = …;  s[b, c] = sum_hw y[b, c, h, w]                                     becomes
y[b, c, h, w] = …;  p[b, program, c] = sum over what the program has of y              one kernel
s[b, c] = sum_program p[b, program, c]                                                 a small one

An average over an image would read it again, in two launches where rows are few. What a program has
of it is in registers as it is written, whether windows slide there or not; all that it costs is a
sum over the program's threads. Always in the same order: the same inputs give the same sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.form import form, phased, places_of, walked, window_axes
from burnish.codegen.gpu.operands import contracts
from burnish.codegen.gpu.parting import needed
from burnish.codegen.gpu.patches import WalkTurn, patch_of
from burnish.codegen.gpu.spelling import HALVES
from burnish.codegen.gpu.values import Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Accumulated, Argument, Call, Expr, renumbered
from burnish.tile.graph import Read, TensorType, TileOp, arguments_of
from burnish.tile.group import Group
from burnish.tile.index import Axis, at, axes_of, flatten

SUMMED = "summed"
"""The setting of kernels that begin a sum over what they write."""
MOST_TOGETHER = 2048
"""Elements of parts that one program adds up, unless even a few sums have more."""
BESIDE = 4
"""Sums that lie side by side in one load."""

Settings = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ImageSum:
    """A nest that writes an image, and the one that adds it up."""

    ops: tuple[TileOp, ...]
    """The nests that lead to the image, its own last."""
    total: TileOp
    kept: frozenset[int]
    """The dimensions of the image that its sums have, too."""

    @property
    def image(self) -> TileOp:
        """Return the nest that writes the image."""
        return self.ops[-1]


@dataclass(frozen=True, slots=True)
class ProgramSums:
    """What programs give of the sums over what they write: rows of them each, or part of one."""

    tensor: str
    rows: int
    """Of what all programs give: those of one image after those of another."""
    beside: int
    """Sums in a row."""
    lanes: int
    """Elements that a program writes side by side."""
    outside: tuple[int, ...]
    """The image's dimensions that its rows are counted by, outermost first."""
    inside: tuple[int, ...]
    """Those within a row."""

    @property
    def type(self) -> TensorType:
        """Return the type of what all programs give."""
        return TensorType("f32", (self.rows, self.beside))


def image_sum(group: Group) -> ImageSum | None:
    """Return what a group writes and adds up, where it does just that."""
    total = group.anchor
    if len(group.outputs) != 2 or total.combine != "sum" or total.fetches or total.coordinates:
        return None
    position = _summand(total.body)
    if position is None or total.body.dtype != "f32":
        return None
    read = total.reads[position]
    others = [each for each in group.ops if each.output == read.tensor != group.outputs[0]]
    readers = [op for op in group.ops if group.outputs[0] in op.inputs]
    later = {total.reads[each].tensor for each in arguments_of(total.finish or Accumulated("f32"))}
    if others or readers != [total] or read.guards or read.tensor != group.outputs[0]:
        return None
    if later & group.written:
        return None
    ops = needed(group, read.tensor, ())
    kept = _kept(total, read, ops[-1])
    if kept is None or any(contracts(op) for op in ops) or len(ops) + 1 != len(group.ops):
        return None
    return ImageSum(ops, total, kept)


def _summand(expr: Expr) -> int | None:
    """Return the read that is added up as it is; None: something is computed of it."""
    match expr:
        case Argument(position, _):
            return position
        case Call("cast", (Argument(position, dtype),), "f32") if dtype in HALVES:
            return position
    return None


def _kept(total: TileOp, read: Read, image: TileOp) -> frozenset[int] | None:
    """Return the dimensions of an image that are not summed over; None: not all of it is summed."""
    found = [axes_of(index) for index in read.index]
    plain = all(
        index == at(next(iter(axes))) and next(iter(axes)).extent == extent if axes else extent == 1
        for index, axes, extent in zip(read.index, found, image.shape, strict=True)
    )
    own = [axis for axes in found for axis in axes]
    if not plain or len(set(own)) != len(own) or not set(total.reduced) <= set(own):
        return None
    if {axis for axis in total.spatial if axis.extent > 1} - set(own):
        return None
    return frozenset(dim for dim, axes in enumerate(found) if axes & set(total.spatial))


def sums_of(
    found: ImageSum, orders: Mapping[str, tuple[int, ...]], settings: Settings
) -> ProgramSums | None:
    """Return what programs give under some blocks; None: they have no whole part of the sums."""
    anchor = found.image
    places = places_of(found.ops, anchor)
    whole = form(found.ops, anchor, walked(anchor, orders, settings), places)
    patch = patch_of(window_axes(found.ops, anchor, places), settings)
    if whole.columns or whole.whole or whole.multiplies or whole.batch:
        return None
    kept = {anchor.spatial[dim] for dim in found.kept}
    if any(axis in kept or axis.extent % count for axis, count in patch.counts.items()):
        return None
    shape, _ = phased(whole, patch.counts)
    ordered = [anchor.spatial.index(axis) for axis in whole.rows]
    long = [
        (dim, axis.extent, dim in found.kept)
        for dim, axis in zip(ordered, shape.rows, strict=True)
        if axis.extent > 1
    ]
    return _program_sums(f"{found.total.output}.parts", long, settings.get("m", 0))


def _program_sums(
    name: str, dims: Sequence[tuple[int, int, bool]], lanes: int
) -> ProgramSums | None:
    """Return the sums of programs with so many lanes, over dimensions with their extents."""
    summed = [place for place, (*_, own) in enumerate(dims) if not own]
    first, last = (summed[0], summed[-1] + 1) if summed else (0, 0)
    if any(own for *_, own in dims[first:last]) or not lanes:
        return None
    outer, between, inner = (
        math.prod(extent for _, extent, _ in each)
        for each in (dims[:first], dims[first:last], dims[last:])
    )
    if inner * between % lanes or (inner % lanes and lanes % inner):
        return None
    outside, inside = (tuple(dim for dim, *_ in each) for each in (dims[:first], dims[last:]))
    rows = outer * between * inner // max(lanes, inner)
    return ProgramSums(name, rows, inner, lanes, outside, inside)


def added_up(found: ImageSum, sums: ProgramSums) -> TileOp:
    """Return what adds up what programs give."""
    total, shape = found.total, found.image.shape
    read = next(each for each in total.reads if each.tensor == found.image.output)
    outside = math.prod(shape[dim] for dim in sums.outside)
    part = Axis("part", sums.rows // outside)
    row, column = (
        flatten([read.index[dim] for dim in dims], [shape[dim] for dim in dims])
        for dims in (sums.outside, sums.inside)
    )
    parts = Read(sums.tensor, (row * part.extent + at(part), column))
    after = sorted(arguments_of(total.finish)) if total.finish else []
    numbers = {old: new for new, old in enumerate(after, start=1)}
    return replace(
        total, reads=(parts, *(total.reads[old] for old in after)), body=Argument(0, "f32"),
        reduced=(part,), finish=renumbered(total.finish, numbers) if total.finish else None,
    )  # fmt: skip


def adding(sums: ProgramSums, count: int) -> Settings:
    """Return blocks for what adds up so many sums: a few side by side, and not too many parts."""
    parts = sums.rows * sums.beside // count
    beside = min(power_of_two(sums.beside), BESIDE)
    m = max(MOST_TOGETHER // power_of_two(parts), beside)
    return {"m": min(m, power_of_two(count)), "warps": 4, "stages": 1}


def summed_blocks(
    found: ImageSum, orders: Mapping[str, tuple[int, ...]], blocks: Iterable[Settings]
) -> Iterator[Settings]:
    """Yield those of the blocks of an image whose programs have whole parts of its sums."""
    for settings in blocks:
        if sums_of(found, orders, settings) is not None:
            yield {**settings, SUMMED: 1}


class ProgramSum:
    """The sum over what a program writes, in the making."""

    def __init__(self, writer: KernelWriter, sums: ProgramSums, *, looped: bool) -> None:
        self._writer, self._sums = writer, sums
        self._name = writer.fresh("part")
        self._begun = looped
        if looped:
            writer.line(f"{self._name} = tl.zeros([{sums.lanes}], tl.float32)")
            writer.tally.carried += sums.lanes

    def add(self, value: Value, turn: WalkTurn) -> None:
        """Write one more summand for each lane."""
        text = value.text if value.dtype == "f32" else f"{value.text}.to(tl.float32)"
        if not value.dims and self._sums.lanes > 1:
            text = f"tl.full([{self._sums.lanes}], 0, tl.float32) + {text}"
        if turn.ready:
            ready = self._writer.mask((), turn.ready, ())
            text = f"tl.where({ready}, {text}, 0.0)"
        before = f"{self._name} + " if self._begun else ""
        self._writer.line(f"{self._name} = {before}{text}")
        self._begun = True
        trips = self._writer.scopes[-1].trips
        self._writer.tally.work("add", self._sums.lanes, trips)

    def store(self, axis: Axis) -> None:
        """Write where the sum of the program's lanes goes; `axis` counts those of all programs."""
        writer, sums = self._writer, self._sums
        rows = sums.lanes // sums.beside
        place = f"{writer.pointer(sums.tensor)} + "
        if rows <= 1:
            text, place = self._name, place + writer.blocks[axis].name
        elif sums.beside == 1:
            text, place = f"tl.sum({self._name}, axis=0)", place + writer.starts[axis].place
        else:
            text = f"tl.sum(tl.reshape({self._name}, [{rows}, {sums.beside}]), axis=0)"
            start = f"{writer.starts[axis].place} * {sums.beside}"
            place += f"{start} + {writer.lanes(sums.beside)}"
        writer.line(f"tl.store({place}, {text})")
        writer.tally.work("add", sums.lanes, 2)
        writer.tally.store(sums.tensor, "f32", min(sums.beside, sums.lanes))
