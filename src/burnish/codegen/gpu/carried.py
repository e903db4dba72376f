"""Windows with many taps: a program walks down an image and adds each row where it belongs.

Keeping all rows that a window of 7 by 7 reads takes more registers than a thread has. Here a turn
has one row of them, and adds it to the sums of all outputs that read it, each with its own row of
taps: these sums are carried on, and one of them is complete after each turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product as every

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.form import Places
from burnish.codegen.gpu.operands import contracts
from burnish.codegen.gpu.patches import Patch
from burnish.codegen.gpu.products import axes_in
from burnish.codegen.gpu.reduction import UNROLLED, joined
from burnish.codegen.gpu.values import Point, Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Call
from burnish.tile.functions import identity
from burnish.tile.graph import TileOp
from burnish.tile.index import Axis, at, axes_of, coefficient, number

CARRIED = "carried"
"""The setting of blocks whose sums are carried on."""
WIDE, NARROWER = (7, 8, 6), 4
"""Neighbours that a thread computes at once: the first of these that divides a row, or fewer."""
MOST_CARRIED = 128
"""Taps of a window whose sums are carried: 81 take 226 registers at eight neighbours, and 121 take
232 at four; 169 do not fit."""
MANY_TAPS = 16
"""Taps from which on sums are carried: 25 take 53 us instead of 63 (64 images of 56 by 56 with 144
channels), 49 take 33 instead of 201 (32 with 96); nine take 40 instead of 38."""
BESIDE = 0.3
"""Instructions beside each product: conversions, loads, conditions (127 for 343 products)."""
BUSY = 132 * 2 * 32
"""Threads with which every multiprocessor of a card has two warps."""
FEW_TURNS = 8
"""Turns of programs that would leave a card idle with more."""


@dataclass(frozen=True, slots=True)
class CarriedWindow:
    """A nest that adds up windows, its axis that a program walks along, and the taps there."""

    op: TileOp
    walked: Axis
    taps: Axis

    @property
    def lead(self) -> int:
        """Return the turns before the first output is complete."""
        return self.taps.extent - 1


def carry(writer: KernelWriter, anchor: TileOp, places: Places, patch: Patch) -> int:
    """Let a writer carry sums on, where it can; return the turns before the first is complete."""
    window = _carried_by(tuple(writer.ops.values()), anchor, places, patch)
    if window is None:
        return 0
    writer.sums[window.op.output] = partial(_carried_sum, writer, window)
    return window.lead


def _carried_by(
    ops: Sequence[TileOp], anchor: TileOp, places: Places, patch: Patch
) -> CarriedWindow | None:
    """Return the nest whose sums a walking program can carry on; None: there is none.

    It is the only one whose windows slide that way, and is read in the row that the anchor
    computes; each row of the image meets as many rows of outputs as there are taps. Nor is it read
    within a further sum: in the loop of that one, what was carried would be another term's.
    """
    walked = patch.walked
    if walked is None or patch.turns == 1 or patch.phases.get(walked, 1) > 1:
        return None
    found = []
    for op in ops:
        if op.combine is None or contracts(op) or op.output not in places:
            continue
        own = {
            axis
            for index in places[op.output]
            for axis, part in zip(op.spatial, index, strict=True)
            if walked in axes_of(part)
        }
        taps = {axis for each in own for axis in _taps(op, each)}
        if taps:
            found.append((op, own, taps))
    if len(found) != 1 or len(found[0][1]) != 1 or len(found[0][2]) != 1:
        return None
    op, (own_axis,), (tap,) = found[0]
    place = op.spatial.index(own_axis)
    read = places[op.output]
    alike = all(index[place] == at(walked) for index in read)
    alone = all(axes_of(part) <= set(anchor.spatial) for index in read for part in index)
    fits = alike and alone and op.terms <= MOST_CARRIED
    return CarriedWindow(op, own_axis, tap) if fits else None


def _taps(op: TileOp, axis: Axis) -> set[Axis]:
    """Return the reduced axes that move what is read just as one of a nest's own axes does."""
    found = set()
    for tap in op.reduced:
        both = {axis, tap}
        moved = [part for read in op.reads for part in read.index if both <= axes_of(part)]
        alike = all(coefficient(part, tap) == coefficient(part, axis) == 1 for part in moved)
        if moved and alike and tap.extent > 1:
            found.add(tap)
    return found


def _carried_sum(writer: KernelWriter, window: CarriedWindow, point: Point) -> Value:
    """Write a turn's part of every sum that it belongs to; return the one that is complete."""
    op, count = point.op, window.taps.extent
    assert op.combine is not None
    depends = axes_in(point.bind.values())
    dims = writer.dims(depends, point.frame)
    with writer.at(depends):
        names = [writer.fresh("carried") for _ in range(count - 1)]
        nothing, total = writer.fresh("nothing"), writer.fresh("total")
        begin = spelling.digits(identity(op.combine, op.body.dtype), op.body.dtype)
        kind, shape = spelling.TYPES[op.body.dtype], writer.shape(dims, point.frame)
        outside = writer.scopes[-2].lines
        outside.append(f"{nothing} = tl.full({shape}, {begin}, {kind})")
        outside += [f"{name} = {nothing}" for name in names]
        # the one that is complete first: each takes over what the next one still has
        for tap, name in reversed(tuple(enumerate([*names, total]))):
            row = point.bind[window.walked] + (count - 1 - tap)
            bind = {**point.bind, window.walked: row, window.taps: number(tap)}
            before = names[tap - 1] if tap else nothing
            writer.line(f"{name} = {_row(writer, Point(op, bind, point.frame), window, before)}")
        _tell(writer, op, writer.elements(dims), count)
    return Value(total, op.body.dtype, dims, depends)


def carried_blocks(
    ops: Sequence[TileOp], sliding: Sequence[Axis], outputs: int
) -> Iterator[dict[str, int]]:
    """Yield blocks whose sums are carried on: of windows with more taps than are kept by name.

    A thread has one channel of long windows, and two of shorter ones: what is kept of more sums
    and taps does not fit its registers. Where a card would not be busy, short windows stay as they
    are, and programs take few turns.
    """
    taps = max(op.terms for op in ops if op.combine is not None and not contracts(op))
    if len(sliding) < 2 or not MANY_TAPS < taps <= MOST_CARRIED:
        return
    inner, outer = sliding[0].extent, sliding[1].extent
    long = taps > UNROLLED
    lengths = [n for n in range(outer, 1 if long else FEW_TURNS, -1) if outer % n == 0]
    warps = 2 if long else 1
    widths = dict.fromkeys([*[count for count in WIDE if inner % count == 0][:1], NARROWER])
    found = [
        (across, turns)
        for across in widths
        for turns in [n for n in lengths if outputs // (across * n) >= BUSY][:3]
    ]
    if not found and long:
        across = NARROWER if inner > 2 * NARROWER else 1
        found = [(across, turns) for turns in lengths if turns <= FEW_TURNS]
    for across, turns in found:
        yield {"m": 64, "across": across, "turns": turns, "warps": warps, "stages": 1, CARRIED: 1}


def _tell(writer: KernelWriter, op: TileOp, elements: int, rows: int) -> None:
    """Count what was written: a product and its sum are one instruction, and taps are kept."""
    trips = writer.scopes[-1].trips
    match op.body:
        case Call("multiply", _, _):
            writer.tally.lane_operations += BESIDE * op.terms * elements * trips
        case _:
            writer.tally.work("add", elements, op.terms * trips)
    kept = 0 if writer.tally.carried else op.terms
    writer.tally.carried += (kept + rows) * elements
    writer.tally.ahead = trips


def _row(writer: KernelWriter, point: Point, window: CarriedWindow, before: str) -> str:
    """Return one row of taps, added to what was summed up before."""
    rest = [axis for axis in point.op.reduced if axis != window.taps]
    text = before
    for place in every(*(range(axis.extent) for axis in rest)):
        values = dict(zip(rest, map(number, place), strict=True))
        inside = Point(point.op, {**point.bind, **values}, point.frame)
        term = writer.expression(point.op.body, inside).text
        text = joined(writer, point.op, text, term)
    return text
