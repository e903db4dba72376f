"""Pad: a frame around the data, constant or made of its elements; negative pads cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnish.operators.loops.parameters import integers, required
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import defined, nothing
from burnish.operators.size import Size, add
from burnish.tile.expr import Argument, Expr, Guard, Inside, Number, call
from burnish.tile.graph import Read
from burnish.tile.index import Index, at, fetched, remainder
from burnish.tile.pointwise import element_of_constant, positive_axis
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


def padded(
    builder: NestBuilder, source: str, before: Sequence[int], after: Sequence[int], value: Number
) -> str:
    """Return a tensor with `value` around the source's elements; the source where there is none."""
    if not any(before) and not any(after):
        return source
    name = builder.fresh(f"{source}.padded")
    return _framed(builder, name, source, (before, after), value)


def pad(builder: NestBuilder, node: Node) -> None:
    """Add a frame to some dimensions: a constant, or elements of the data by the mode."""
    source = required(node, 0)
    before, after = _amounts(builder, node, len(builder.type(source).shape))
    mode = node.attributes.get("mode", "constant")
    if mode != "constant":
        _mirrored(builder, node, (before, after), mode)
        return
    value = _value(builder, node)
    if isinstance(value, str):
        _framed_by_tensor(builder, node, (before, after), value)
    else:
        _framed(builder, node.outputs[0], source, (before, after), value)


Amounts = tuple[Sequence[int], Sequence[int]]


def _amounts(builder: NestBuilder, node: Node, rank: int) -> tuple[list[int], list[int]]:
    pads = integers(builder, node, 1, "paddings" if node.opset < 2 else "pads")
    if pads is None:
        raise NotCoveredError("it has no pads")
    axes = integers(builder, node, 3, "axes")
    places = range(rank) if axes is None else [positive_axis(axis, rank) for axis in axes]
    before, after = [0] * rank, [0] * rank
    for position, place in enumerate(places):
        before[place], after[place] = pads[position], pads[len(places) + position]
    return before, after


def _value(builder: NestBuilder, node: Node) -> Number | str:
    """Return the number of the frame, or the tensor that holds it."""
    name = node.input(2)
    if node.opset < 11 or name is None:
        value: Number = node.attributes.get("value", 0)
        dtype = builder.type(required(node, 0)).dtype
        return float(value) if dtype.startswith(("f", "bf")) else int(value)
    known = element_of_constant(builder, name)
    return name if known is None else known.value


def _framed(builder: NestBuilder, output: str, source: str, amounts: Amounts, value: Number) -> str:
    shape = builder.type(source).shape
    axes = axes_for(_grown(shape, amounts))
    index = [at(axis) - less for axis, less in zip(axes, amounts[0], strict=True)]
    read = Read(source, tuple(index), _guards(index, shape, amounts), value)
    return builder.add(output, axes, [read], Argument(0, builder.type(source).dtype))


def _framed_by_tensor(builder: NestBuilder, node: Node, amounts: Amounts, value: str) -> None:
    source = required(node, 0)
    kind = builder.type(source)
    axes = axes_for(_grown(kind.shape, amounts))
    index = [at(axis) - less for axis, less in zip(axes, amounts[0], strict=True)]
    guards = _guards(index, kind.shape, amounts)
    reads = [Read(source, tuple(index), guards)]
    reads.append(Read(value, tuple(Index() for _ in builder.type(value).shape)))
    body: Expr = Argument(0, kind.dtype)
    if guards:
        body = call("where", Inside(guards), body, Argument(1, kind.dtype))
    builder.add(node.outputs[0], axes, reads, body)


def _guards(index: Sequence[Index], shape: Sequence[int], amounts: Amounts) -> tuple[Guard, ...]:
    return tuple(
        Guard(part, 0, extent)
        for part, extent, less, more in zip(index, shape, *amounts, strict=True)
        if less > 0 or more > 0
    )


def _mirrored(builder: NestBuilder, node: Node, amounts: Amounts, mode: str) -> None:
    """Add the movement that fills the frame with elements of the data."""
    source = required(node, 0)
    shape = builder.type(source).shape
    axes = axes_for(_grown(shape, amounts))
    index: list[Index] = []
    for axis, extent, less, more in zip(axes, shape, *amounts, strict=True):
        place = at(axis) - less
        if less > 0 or more > 0:
            place = _place(builder, place, (axis.extent, extent, less), mode)
        index.append(place)
    builder.view(node.outputs[0], source, index, axes)


def _place(builder: NestBuilder, place: Index, sizes: tuple[int, int, int], mode: str) -> Index:
    grown, extent, less = sizes
    if mode == "wrap":
        return remainder(place, extent)
    wanted = np.arange(grown) - less
    if mode == "edge":
        table = np.clip(wanted, 0, extent - 1)
    elif mode == "reflect":
        period = max(2 * extent - 2, 1)
        table = np.mod(wanted, period)
        table = np.minimum(table, period - table) if extent > 1 else np.zeros_like(wanted)
    else:
        raise NotCoveredError(f"its mode is {mode!r}")
    name = builder.add_constant(table.astype(np.int64), f"{mode}.places")
    return fetched(name, [place + less], extent)


def _grown(shape: Sequence[int], amounts: Amounts) -> list[int]:
    return [extent + less + more for extent, less, more in zip(shape, *amounts, strict=True)]


def _shape(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    pads = at.ints("pads") or at.ints("paddings") or at.elements(1)
    if source is None or not pads or at.given(3):
        return [None if source is None else (None,) * len(source)]
    amounts = zip(source, pads[: len(source)], pads[len(source) :], strict=True)
    return [tuple(_longer(item, before, after) for item, before, after in amounts)]


def _longer(item: Size, before: Size | None, after: Size | None) -> Size | None:
    return None if before is None or after is None else add(item, add(before, after))


register({"Pad": Operator(shape=_shape, work=nothing, folds=defined, loops=pad)})
