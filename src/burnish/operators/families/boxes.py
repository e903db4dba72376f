"""Boxes of images: RoiAlign, which averages samples of each part of a box.

Along each dimension a sample stands for two elements, each with a place and a weight, as in
GridSample. Both are tensors of their own: channels share them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.operators.loops.parameters import required
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import each_output
from burnish.tile.expr import Accumulated, Argument, Coordinate, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at, fetched, number
from burnish.tile.pointwise import above, below, like, wide, wide_type
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, Reduction, axes_for

_TAPS = 2
LARGEST = {"f32": 3.4028234e38, "f64": 1.7976931348623157e308}
"""Numbers from here on are no sides of a box."""


@dataclass(frozen=True, slots=True)
class _BoxSide:
    """One dimension of the image, and how boxes are cut along it."""

    place: int
    """Of the box's begin among its four numbers; its end is two further."""
    size: int
    parts: int
    samples: int
    scale: float
    offset: float
    """Of the centre of the first element, in elements."""

    def coordinate(self, begin: Expr, end: Expr, part: Expr, sample: Expr) -> Expr:
        """Return where a sample of a part lies, in elements."""
        first, last = (self._scaled(each) for each in (begin, end))
        length = call("subtract", last, first)
        if not self.offset:
            length = above(length, like(length, 1.0))
        step = call("divide", length, like(length, float(self.parts)))
        half = call("add", sample, like(sample, 0.5))
        within = call("multiply", half, step)
        within = call("divide", within, like(within, float(self.samples)))
        return call("add", call("add", first, call("multiply", part, step)), within)

    def _scaled(self, given: Expr) -> Expr:
        where = call("multiply", given, like(given, self.scale))
        return call("subtract", where, like(where, self.offset)) if self.offset else where

    def tap(self, where: Expr, tap: Expr) -> tuple[Expr, Expr]:
        """Return the place of a tap, and its weight: none where the sample is off the image."""
        last = like(where, float(self.size - 1))
        off = call(
            "or", call("less", where, like(where, -1.0)),
            call("less", like(where, float(self.size)), where),
        )  # fmt: skip
        inside = below(above(where, like(where, 0.0)), last)
        low = call("floor", inside)
        part = call("subtract", inside, low)
        first = call("equal", tap, like(tap, 0.0))
        weight = call("where", first, call("subtract", like(part, 1.0), part), part)
        place = below(call("add", low, tap), last)
        return place, call("where", off, like(weight, 0.0), weight)


def roi_align(builder: NestBuilder, node: Node) -> None:
    """Add the mean over samples of the elements around each, with their weights."""
    image, boxes, which = (required(node, place) for place in range(3))
    batch, channels, *_ = builder.type(image).shape
    kind, count = builder.type(image).dtype, builder.type(boxes).shape[0]
    if builder.type(boxes).dtype != kind:
        raise NotCoveredError(f"its image is {kind}, and its boxes are not")
    sides = _sides(builder, node)
    tables = [_tapped(builder, node, side) for side in sides]
    n, c = Axis("n", count), Axis("c", channels)
    parts = [Axis(f"p{place}", side.parts) for place, side in enumerate(sides)]
    samples = [Axis(f"s{place}", side.samples) for place, side in enumerate(sides)]
    taps = [Axis(f"t{place}", _TAPS) for place in range(len(sides))]
    index = [(at(n), *map(at, each)) for each in zip(parts, samples, taps, strict=True)]
    places = [
        fetched(place, where, side.size)
        for (place, _), where, side in zip(tables, index, sides, strict=True)
    ]
    reads = [Read(image, (fetched(which, (at(n),), batch, forward=True), at(c), *places))]
    reads += [Read(weight, where) for (_, weight), where in zip(tables, index, strict=True)]
    wider = wide_type(kind)
    weight = call("multiply", Argument(1, wider), Argument(2, wider))
    body = call("multiply", wide(Argument(0, kind)), weight)
    total = sides[0].samples * sides[1].samples
    added = Accumulated(wider)
    mean = cast(call("divide", added, like(added, float(total))), kind)
    over = [axis for axis in (*samples, *taps) if axis.extent != 1]
    builder.add(node.outputs[0], (n, c, *parts), reads, body, Reduction(over, "sum", mean))


def _sides(builder: NestBuilder, node: Node) -> list[_BoxSide]:
    given = node.attributes
    if str(given.get("mode", "avg")) != "avg":
        raise NotCoveredError("of the largest sample engines make the largest of weighted elements")
    ratio = int(given.get("sampling_ratio", 0))
    if ratio <= 0:
        raise NotCoveredError("a box has as many samples as it is large")
    default = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    said = str(given.get("coordinate_transformation_mode", default))
    offset = 0.5 if said == "half_pixel" else 0.0
    scale = float(given.get("spatial_scale", 1.0))
    _, _, rows, columns = builder.type(required(node, 0)).shape
    height, width = (int(given.get(name, 1)) for name in ("output_height", "output_width"))
    return [_BoxSide(1, rows, height, ratio, scale, offset),
            _BoxSide(0, columns, width, ratio, scale, offset)]  # fmt: skip


def _tapped(builder: NestBuilder, node: Node, side: _BoxSide) -> tuple[str, str]:
    """Add the places and the weights along one dimension, and return their names."""
    boxes = required(node, 1)
    kind = builder.type(boxes)
    axes = axes_for((kind.shape[0], side.parts, side.samples, _TAPS))
    row = at(axes[0])
    reads = [Read(boxes, (row, number(place))) for place in (side.place, side.place + 2)]
    begin, end = (wide(Argument(position, kind.dtype)) for position in range(2))
    part, sample, tap = (cast(Coordinate(at(axis)), begin.dtype) for axis in axes[1:])
    place, weight = side.tap(side.coordinate(begin, end, part, sample), tap)
    which = required(node, 2)
    image = Argument(2, builder.type(which).dtype)
    none = _is_none(begin, end, image)
    weight = call("where", none, like(weight, math.nan), weight)
    place = call("where", none, like(place, 0.0), place)
    reads.append(Read(which, (row,)))
    places, weights = (
        builder.add(builder.fresh(f"{node.outputs[0]}.{name}"), axes, reads, made)
        for name, made in {"places": cast(place, "i64"), "along": weight}.items()
    )
    return places, weights


def _is_none(begin: Expr, end: Expr, image: Expr) -> Expr:
    """Return whether a box has no finite side, or no image: runtimes refuse it.

    Kernels cannot refuse: they say that what comes of it is no number.
    """
    largest = LARGEST[begin.dtype]
    ends = [call("absolute", each) for each in (begin, end)]
    known = call("and", *(call("less", each, like(each, largest)) for each in ends))
    return call("or", call("not", known), call("less", image, like(image, 0)))


def _shape(at: Operands) -> Sequence[Partial | None]:
    image, boxes = at.shape(0), at.shape(1)
    if image is None or boxes is None:
        return [None]
    sides = at.number("output_height", 1), at.number("output_width", 1)
    return [(boxes[0], image[1], *sides)]


register({"RoiAlign": Operator(_shape, work=each_output(16), loops=roi_align)})
