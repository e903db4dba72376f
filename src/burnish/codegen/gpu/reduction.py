"""Reductions inside a kernel: products on tensor cores, rows in registers, taps, loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product as every

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.blocks import AxisBlock, power_of_two
from burnish.codegen.gpu.guards import Bind
from burnish.codegen.gpu.online import averaged, weighted
from burnish.codegen.gpu.operands import operands
from burnish.codegen.gpu.products import axes_in, summed
from burnish.codegen.gpu.values import Point, Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Argument, Call
from burnish.tile.functions import identity
from burnish.tile.graph import TileOp
from burnish.tile.index import Axis, Index, at, number, unflatten

UNROLLED = 32
"""Terms of a reduction that are written one after the other, as the taps of a window are."""
WINDOW = 9
"""The same where each term needs a reduction of its own, computed anew for each."""
MOST_LANES = 8192
"""Lanes of a block that a reduction makes for itself."""

_FOLD = {"sum": "{0} + {1}", "prod": "{0} * {1}"}
_WHOLE = {
    "sum": "tl.sum({0}, axis={1}",
    "max": "tl.max({0}, axis={1}",
    "min": "tl.min({0}, axis={1}",
}
_HELPER = {"max": "largest", "min": "smallest", "prod": "product"}


def reduced(writer: KernelWriter, point: Point) -> Value:
    """Return the combined body of a nest at a point, before its finish."""
    op = point.op
    terms = op.terms
    if not terms:
        assert op.combine is not None
        return Value(
            spelling.number(identity(op.combine, op.body.dtype), op.body.dtype), op.body.dtype
        )
    if op.output in writer.sums:
        return writer.sums[op.output](point)
    found = operands(writer, point)
    if found is not None:
        row = weighted(writer, point, found)
        return summed(writer, point, found) if row is None else averaged(writer, point, found, row)
    shared = _same_row(writer, point, terms)
    if shared is not None:
        bind = _bound(point.bind, op.reduced, at(shared))
        inside = Point(op, bind, point.frame)
        return _folded(writer, inside, shared, writer.expression(op.body, inside), keep=True)
    few = WINDOW if writer.held else terms
    if terms <= few and spelled_out(op, writer.ops) and point.frame:
        return _unrolled(writer, point)
    return _along_new_axis(writer, point, terms)


def spelled_out(op: TileOp, ops: Mapping[str, TileOp]) -> bool:
    """Say whether a nest's terms are written one after the other, among the nests of a kernel."""
    return op.terms <= (WINDOW if _reduces_inside(op, ops) else UNROLLED)


def _reduces_inside(op: TileOp, ops: Mapping[str, TileOp]) -> bool:
    """Say whether a nest reads what the same kernel reduces, be it through other nests."""
    waiting, seen = list(op.inputs), set[str]()
    while waiting:
        inner = ops.get(waiting.pop())
        if inner is None or inner.output in seen:
            continue
        if inner.reduced:
            return True
        seen.add(inner.output)
        waiting += inner.inputs
    return False


def _same_row(writer: KernelWriter, point: Point, terms: int) -> Axis | None:
    """Return a dimension of the frame that runs over just the terms: a row is there already."""
    used = axes_in(point.bind.values())
    for axis in reversed(point.frame):
        whole = axis.extent == terms and writer.blocks[axis].whole
        if axis not in used and whole and writer.knows(axis):
            return axis
    return None


def _unrolled(writer: KernelWriter, point: Point) -> Value:
    op = point.op
    depends = axes_in(point.bind.values())
    with writer.at(depends):
        total = writer.fresh("total")
        dims = writer.dims(depends, point.frame)
        first = True
        for place in every(*(range(axis.extent) for axis in op.reduced)):
            values = dict(zip(op.reduced, map(number, place), strict=True))
            inside = Point(op, {**point.bind, **values}, point.frame)
            text = writer.expression(op.body, inside).text
            writer.line(f"{total} = {text if first else joined(writer, op, total, text)}")
            writer.tally.work("add", writer.elements(dims), writer.scopes[-1].trips)
            first = False
        if _reduces_inside(op, writer.ops):
            # the compiler has them all in flight at once
            terms = op.terms
            writer.tally.held = max(writer.tally.held, terms * writer.elements(dims))
    return Value(total, op.body.dtype, dims, depends)


def _along_new_axis(writer: KernelWriter, point: Point, terms: int) -> Value:
    """Write a reduction along a dimension of its own, in a loop where it is long."""
    op = point.op
    writer.tally.add_up(op.output)
    depends = axes_in(point.bind.values())
    dims = writer.dims(depends, point.frame)
    free = next((k for k, axis in enumerate(point.frame) if axis not in dims), None)
    room = max(MOST_LANES // max(writer.elements(dims), 1), 1)
    block = min(power_of_two(terms), 1 << (room.bit_length() - 1))
    with writer.at(depends):
        known = _counted(writer, point, terms) if block >= terms else None
        axis = known or Axis(writer.fresh("r"), terms)
        name = axis.name
        writer.blocks[axis] = AxisBlock(axis, name, block)
        frame = (
            (*point.frame, axis)
            if free is None
            else ((*point.frame[:free], axis, *point.frame[free + 1 :]))
        )
        inside = Point(op, _bound(point.bind, op.reduced, at(axis)), frame)
        if block >= terms:
            if axis not in writer.counted:
                writer.count(writer.blocks[axis])
                writer.counted.append(axis)
            body = writer.expression(op.body, inside)
            return _folded(writer, inside, axis, body, keep=free is not None)
        total = writer.fresh("total")
        shape = writer.shape((*dims, axis), frame)
        start = f"tl.full({shape}, {spelling.digits(_start(op), op.body.dtype)}"
        writer.line(f"{total} = {start}, {spelling.TYPES[op.body.dtype]})")
        steps = -(-terms // block)
        step = writer.fresh("step")
        with writer.loop(f"for {step} in range({steps}):", (axis,), steps):
            lanes = f" + {writer.lanes(block)}" if block > 1 else ""
            writer.line(f"{name} = {writer.wide(step)} * {block}{lanes}")
            text = _masked(writer, inside, axis, writer.expression(op.body, inside))
            writer.line(f"{total} = {joined(writer, op, total, text)}")
            writer.tally.work("add", writer.elements((*dims, axis)), writer.scopes[-1].trips)
        whole = Value(total, op.body.dtype, dims | {axis}, depends)
        return _folded(writer, inside, axis, whole, keep=free is not None, masked=False)


def _counted(writer: KernelWriter, point: Point, terms: int) -> Axis | None:
    """Return an axis that counts so many terms already, all at once, and nothing else here."""
    used = {*point.frame, *axes_in(point.bind.values())}
    return next((a for a in writer.counted if a.extent == terms and a not in used), None)


def _folded(
    writer: KernelWriter, point: Point, axis: Axis, body: Value, *, keep: bool, masked: bool = True
) -> Value:
    """Write the reduction of a block along one of its dimensions."""
    op = point.op
    assert op.combine is not None
    if writer.blocks[axis].size == 1:
        return body
    text = _masked(writer, point, axis, body) if masked else body.text
    if axis not in body.dims or not body.dims:
        text = f"tl.broadcast_to({text}, {writer.shape(body.dims | {axis}, point.frame)})"
    small = body.dtype in ("bool", "i8", "i16", "u8", "u16")
    text = f"({text}).to(tl.int32)" if small else text
    alone = not body.dims - {axis}
    place = "None" if alone else point.frame.index(axis)
    kept = ", keep_dims=True" if keep and not alone else ""
    if op.combine == "sum" or (op.combine != "prod" and not _sees_nan(writer, op)):
        text = _WHOLE[op.combine].format(text, place) + f"{kept})"
    else:
        writer.helpers.add(_HELPER[op.combine])
        text = f"tl.reduce({text}, {place}, {_HELPER[op.combine]}{kept})"
    if small or body.dtype == "bool":
        text = spelling.casted(text, "i32", body.dtype)
    writer.tally.work("add", writer.elements(body.dims), 2 * writer.scopes[-1].trips)
    others = [writer.blocks[each] for each in body.dims - {axis}]
    handed = writer.sectors.handed_over(axis, others, writer.warps)
    writer.tally.lane_operations += handed * writer.scopes[-1].trips
    depends = body.depends - {axis}
    return writer.named(Value(text, body.dtype, body.dims - {axis}, depends), op.combine)


def _sees_nan(writer: KernelWriter, op: TileOp) -> bool:
    """Say whether a largest or smallest value must be NaN where one of the values is.

    Not of whole numbers; nor where it is taken away from each of them before an exponential, which
    keeps the NaN.
    """
    if op.body.dtype not in spelling.FLOATS:
        return False
    readers = [each for each in writer.ops.values() if op.output in each.inputs]
    return not readers or not all(_exponential(reader, op.output) for reader in readers)


def _exponential(op: TileOp, tensor: str) -> bool:
    match op.body:
        case Call("exp", (Call("subtract", (_, Argument(position, _)), _),), _):
            return op.reads[position].tensor == tensor
    return False


def _masked(writer: KernelWriter, point: Point, axis: Axis, body: Value) -> str:
    if not writer.blocks[axis].padded:
        return body.text
    start = spelling.number(_start(point.op), body.dtype)
    return f"tl.where({writer.arithmetic(point.frame).inside(axis)}, {body.text}, {start})"


def joined(writer: KernelWriter, op: TileOp, total: str, text: str) -> str:
    """Return one more term, combined with what there is."""
    if op.combine in _FOLD:
        return _FOLD[op.combine].format(total, text)
    function = "maximum" if op.combine == "max" else "minimum"
    return spelling.called(function, [total, text], op.body.dtype, writer.helpers)


def _start(op: TileOp) -> bool | int | float:
    assert op.combine is not None
    return identity(op.combine, op.body.dtype)


def _bound(bind: Bind, axes: Sequence[Axis], position: Index) -> dict[Axis, Index]:
    """Return the bindings with these axes counted by one position over all of them."""
    places = unflatten(position, tuple(axis.extent for axis in axes))
    return {**bind, **dict(zip(axes, places, strict=True))}
