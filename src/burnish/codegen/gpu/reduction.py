"""Reductions inside a kernel: products on tensor cores, rows in registers, taps, loops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product as every

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.blocks import AxisBlock, power_of_two
from burnish.codegen.gpu.guards import Bind
from burnish.codegen.gpu.operands import ProductOperands, narrow, operands
from burnish.codegen.gpu.writer import KernelWriter, Point, Value
from burnish.tile.expr import Argument, Call, Expr
from burnish.tile.graph import TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, axes_of, number, unflatten
from burnish.tile.reference import identity

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
    terms = math.prod(axis.extent for axis in op.reduced)
    if not terms:
        assert op.combine is not None
        return Value(
            spelling.number(identity(op.combine, op.body.dtype), op.body.dtype), op.body.dtype
        )
    found = operands(writer, point)
    if found is not None:
        return _product(writer, point, found)
    shared = _same_row(writer, point, terms)
    if shared is not None:
        bind = _bound(point.bind, op.reduced, at(shared))
        inside = Point(op, bind, point.frame)
        return _folded(writer, inside, shared, writer.expression(op.body, inside), keep=True)
    if terms <= (UNROLLED if not _reduces_inside(writer, op) else WINDOW) and point.frame:
        return _unrolled(writer, point)
    return _along_new_axis(writer, point, terms)


def _reduces_inside(writer: KernelWriter, op: TileOp) -> bool:
    """Say whether a nest reads what the same kernel reduces, be it through other nests."""
    waiting, seen = list(op.inputs), set[str]()
    while waiting:
        inner = writer.ops.get(waiting.pop())
        if inner is None or inner.output in seen:
            continue
        if inner.reduced:
            return True
        seen.add(inner.output)
        waiting += inner.inputs
    return False


def _product(writer: KernelWriter, point: Point, sides: ProductOperands) -> Value:
    """Write the loop over the terms of a sum of products."""
    op = point.op
    depends = _axes(point.bind.values())
    with writer.at(depends):
        outer, inner = _depth_axes(writer, point, sides)
        terms = math.prod(axis.extent for axis in inner)
        block = writer.depth(terms)
        chunks = -(-terms // block)
        steps = math.prod(axis.extent for axis in outer) * chunks
        total = writer.fresh("total")
        sizes = f"{writer.blocks[sides.rows].size}, {writer.blocks[sides.columns].size}"
        writer.line(f"{total} = tl.zeros([{sizes}], dtype=tl.float32)")
        name = writer.fresh("k")
        k = Axis(name, terms)
        writer.blocks[k] = AxisBlock(k, name, block)
        scalars = [Axis(writer.fresh("tap"), axis.extent) for axis in outer]
        for axis in scalars:
            writer.blocks[axis] = AxisBlock(axis, axis.name, 1)
        bind = _bound(point.bind, inner, at(k))
        bind |= {axis: at(new) for axis, new in zip(outer, scalars, strict=True)}
        if steps == 1:
            writer.count(writer.blocks[k])
            _multiply(writer, replace(point, bind=bind, done={}), sides, k, total)
        else:
            step = writer.fresh("step")
            writer.tally.multiplied_sums += writer.multiplying
            if writer.scopes[-1].trips > 1:
                writer.tally.nested += writer.scopes[-1].trips * steps
            with writer.loop(f"for {step} in range({steps}):", (k, *scalars), steps):
                _count(writer, step, chunks, scalars, name, block)
                _multiply(writer, replace(point, bind=bind, done={}), sides, k, total)
    return Value(total, op.body.dtype, frozenset(point.frame), depends)


def _count(
    writer: KernelWriter, step: str, chunks: int, scalars: Sequence[Axis], name: str, block: int
) -> None:
    """Write what a step of the loop is: one of each outer axis, and a block of the inner."""
    writer.line(
        f"{name} = {step} {f'% {chunks} ' if scalars else ''}* {block} + {writer.lanes(block)}"
    )
    rest, less = step, chunks
    for axis in reversed(scalars):
        text = f"{rest} // {less}" if less > 1 else rest
        writer.line(f"{axis.name} = {writer.wide(f'{text} % {axis.extent}')}")
        less *= axis.extent


def _multiply(
    writer: KernelWriter, point: Point, sides: ProductOperands, k: Axis, total: str
) -> None:
    texts = []
    before, outer = writer.tally.loads, writer.multiplying
    writer.multiplying = True
    for side, frame in ((sides.left, (sides.rows, k)), (sides.right, (k, sides.columns))):
        inside = replace(point, frame=frame, done={})
        texts.append(_operand(writer, side, inside, k, sides.dtype))
    writer.multiplying = outer
    rows, columns, depth = (writer.blocks[axis].size for axis in (sides.rows, sides.columns, k))
    plain = all(_loaded(writer, each, point.op) for each in (sides.left, sides.right))
    trips = writer.scopes[-1].trips
    # outside of a loop all loads are in flight at once
    loads = writer.tally.loads - before if trips > 1 else 2
    ahead = plain and trips > 1
    writer.tally.product(sides.dtype, (rows, columns, depth), trips, ahead=ahead, loads=loads)
    precise = f', input_precision="{writer.precision}"' if sides.dtype == "f32" else ""
    writer.line(f"{total} = tl.dot({texts[0]}, {texts[1]}, {total}{precise})")


def _operand(writer: KernelWriter, side: Expr, point: Point, k: Axis, dtype: str) -> str:
    """Return one side of a product in the type that is multiplied, zero behind the last term."""
    inner = narrow(side)
    value = writer.expression(inner, point)
    text = spelling.casted(value.text, value.dtype, dtype)
    frame = point.frame
    if writer.blocks[k].padded and not _zero_outside(writer, inner, point.op):
        kept = f"tl.where({writer.arithmetic(frame).inside(k)}, {text}, 0.0)"
        text = f"{kept}.to({spelling.TYPES[dtype]})"
    if not value.dims >= set(frame):
        text = f"tl.broadcast_to({text}, {writer.shape(frame, frame)})"
    return text


def _loaded(writer: KernelWriter, side: Expr, op: TileOp) -> bool:
    """Say whether a side is nothing but a load."""
    inner = narrow(side)
    return isinstance(inner, Argument) and op.reads[inner.position].tensor not in writer.ops


def _zero_outside(writer: KernelWriter, side: Expr, op: TileOp) -> bool:
    """Say whether a side is a load that gives zero outside of its tensor."""
    if not isinstance(side, Argument):
        return False
    read = op.reads[side.position]
    return read.tensor not in writer.ops and (not read.guards or read.otherwise == 0)


def _depth_axes(
    writer: KernelWriter, point: Point, sides: ProductOperands
) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """Return the reduced axes that are counted one by one, and those that are cut into blocks."""
    op = point.op
    order = sorted(op.reduced, key=lambda axis: -_stride(writer, point, sides, axis))
    inner = order[-1]
    block = writer.depth(inner.extent)
    if len(order) == 1 or (inner.extent >= 32 and inner.extent % block == 0):
        return tuple(order[:-1]), (inner,)
    return (), tuple(order)


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


def _same_row(writer: KernelWriter, point: Point, terms: int) -> Axis | None:
    """Return a dimension of the frame that runs over just the terms: a row is there already."""
    used = _axes(point.bind.values())
    for axis in reversed(point.frame):
        whole = axis.extent == terms and writer.blocks[axis].whole
        if axis not in used and whole and writer.knows(axis):
            return axis
    return None


def _unrolled(writer: KernelWriter, point: Point) -> Value:
    op = point.op
    depends = _axes(point.bind.values())
    with writer.at(depends):
        total = writer.fresh("total")
        dims = writer.dims(depends, point.frame)
        first = True
        for place in every(*(range(axis.extent) for axis in op.reduced)):
            values = dict(zip(op.reduced, map(number, place), strict=True))
            inside = Point(op, {**point.bind, **values}, point.frame)
            text = writer.expression(op.body, inside).text
            writer.line(f"{total} = {text if first else _joined(writer, op, total, text)}")
            writer.tally.work("add", writer.elements(dims), writer.scopes[-1].trips)
            first = False
        if _reduces_inside(writer, op):
            # the compiler has them all in flight at once
            terms = math.prod(axis.extent for axis in op.reduced)
            writer.tally.held = max(writer.tally.held, terms * writer.elements(dims))
    return Value(total, op.body.dtype, dims, depends)


def _along_new_axis(writer: KernelWriter, point: Point, terms: int) -> Value:
    """Write a reduction along a dimension of its own, in a loop where it is long."""
    op = point.op
    depends = _axes(point.bind.values())
    dims = writer.dims(depends, point.frame)
    free = next((k for k, axis in enumerate(point.frame) if axis not in dims), None)
    room = max(MOST_LANES // max(writer.elements(dims), 1), 1)
    block = min(power_of_two(terms), 1 << (room.bit_length() - 1))
    with writer.at(depends):
        name = writer.fresh("r")
        axis = Axis(name, terms)
        writer.blocks[axis] = AxisBlock(axis, name, block)
        frame = (
            (*point.frame, axis)
            if free is None
            else ((*point.frame[:free], axis, *point.frame[free + 1 :]))
        )
        inside = Point(op, _bound(point.bind, op.reduced, at(axis)), frame)
        if block >= terms:
            writer.count(writer.blocks[axis])
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
            writer.line(f"{total} = {_joined(writer, op, total, text)}")
            writer.tally.work("add", writer.elements((*dims, axis)), writer.scopes[-1].trips)
        whole = Value(total, op.body.dtype, dims | {axis}, depends)
        return _folded(writer, inside, axis, whole, keep=free is not None, masked=False)


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


def _joined(writer: KernelWriter, op: TileOp, total: str, text: str) -> str:
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


def _axes(indices: Iterable[Index]) -> frozenset[Axis]:
    return frozenset(axis for index in indices for axis in axes_of(index))
