"""Images read at places that another tensor tells: GridSample, in any number of dimensions.

Along each dimension a coordinate stands for some elements (taps), each with a place and a weight;
the result is the sum over all of them. Both are tensors of their own: channels share them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.operators.loops.parameters import required
from burnish.operators.record import Operator, register
from burnish.operators.rules import each_output
from burnish.tile.expr import Accumulated, Argument, Coordinate, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at, fetched, number
from burnish.tile.pointwise import above, below, like, wide, wide_type
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, Reduction, axes_for

_TAPS = {"nearest": 1, "linear": 2, "bilinear": 2, "cubic": 4, "bicubic": 4}
_SHARPNESS = -0.75
"""Of cubic weights, as ONNX says."""

Pad = Callable[[Expr], Expr]


@dataclass(frozen=True, slots=True)
class Sampled:
    """One dimension of the image, and how it is read."""

    size: int
    taps: int
    corners: bool
    """Whether -1 and 1 are the centres of the outermost elements, not their outer edges."""
    padding: str

    @property
    def padded(self) -> Pad:
        """Return what becomes of a coordinate outside of the image."""
        return {"zeros": lambda x: x, "border": self._clamped, "reflection": self._reflected}[
            self.padding
        ]

    def coordinate(self, given: Expr) -> Expr:
        """Return where a number between -1 and 1 lies, in elements."""
        shifted = call("add", given, like(given, 1.0))
        if self.corners:
            half = call("divide", shifted, like(given, 2.0))
            return call("multiply", half, like(given, float(self.size - 1)))
        edges = call("multiply", shifted, like(given, float(self.size)))
        less = call("subtract", edges, like(given, 1.0))
        return call("divide", less, like(given, 2.0))

    def place(self, given: Expr, tap: Expr) -> tuple[Expr, Expr]:
        """Return the place of a tap, and its weight; both are numbers like the coordinate."""
        where = self.coordinate(given)
        if self.taps == 1:
            place, weight = call("round", where), like(where, 1.0)
        else:
            # cubic weights are those of the coordinate as it is, whatever lies outside
            where = where if self.taps == 4 else self.padded(where)
            low = call("floor", where)
            part = call("subtract", where, low)
            shift = call("subtract", tap, like(where, 1.0)) if self.taps == 4 else tap
            place, weight = call("add", low, shift), self._weight(part, tap, shift)
        if self.padding == "zeros":
            outside = call("not", call("equal", place, self._clamped(place)))
            weight = call("where", outside, like(weight, 0.0), weight)
        return self._clamped(self.padded(place)), weight

    def _weight(self, part: Expr, tap: Expr, shift: Expr) -> Expr:
        one = like(part, 1.0)
        if self.taps == 2:
            first = call("equal", tap, like(tap, 0.0))
            return call("where", first, call("subtract", one, part), part)
        away = call("absolute", call("subtract", part, shift))
        near = _polynomial(away, _SHARPNESS + 2, -(_SHARPNESS + 3), 0.0, 1.0)
        far = _polynomial(away, _SHARPNESS, -5 * _SHARPNESS, 8 * _SHARPNESS, -4 * _SHARPNESS)
        return call("where", call("less_equal", away, one), near, far)

    def _clamped(self, x: Expr) -> Expr:
        return below(above(x, like(x, 0.0)), like(x, float(self.size - 1)))

    def _reflected(self, x: Expr) -> Expr:
        low, high = (0.0, self.size - 1.0) if self.corners else (-0.5, self.size - 0.5)
        if high == low:
            return like(x, low)
        span = like(x, high - low)
        away = call("absolute", call("subtract", x, like(x, low)))
        turns = call("floor", call("divide", away, span))
        rest = call("subtract", away, call("multiply", turns, span))
        half = call("floor", call("divide", turns, like(x, 2.0)))
        even = call("equal", turns, call("multiply", half, like(x, 2.0)))
        there, back = call("add", rest, like(x, low)), call("subtract", like(x, high), rest)
        return call("where", even, there, back)


def _polynomial(x: Expr, *factors: float) -> Expr:
    result = like(x, factors[0])
    for factor in factors[1:]:
        result = call("add", call("multiply", result, x), like(x, factor))
    return result


def grid_sample(builder: NestBuilder, node: Node) -> None:
    """Add the sum of the elements around each place of the grid, with their weights."""
    image, grid = required(node, 0), required(node, 1)
    shape = builder.type(image).shape
    batch, channels, *sizes = shape
    outer = builder.type(grid).shape[1:-1]
    if builder.type(grid).shape != (batch, *outer, len(sizes)) or len(outer) != len(sizes):
        raise NotCoveredError("its grid does not fit its image")
    mode = str(node.attributes.get("mode", "linear"))
    padding = str(node.attributes.get("padding_mode", "zeros"))
    corners = bool(node.attributes.get("align_corners", 0))
    kind = builder.type(image).dtype
    how = [Sampled(size, _TAPS[mode], corners, padding) for size in sizes]
    tables = [_tapped(builder, node, each, dimension) for dimension, each in enumerate(how)]
    taps = [Axis(f"t{dimension}", each.taps) for dimension, each in enumerate(how)]
    axes = axes_for((batch, channels, *outer))
    front = (at(axes[0]), *map(at, axes[2:]))
    places = [
        fetched(place, (*front, at(tap)), each.size)
        for (place, _), tap, each in zip(tables, taps, how, strict=True)
    ]
    weights = _together(builder, node, [weight for _, weight in tables])
    reads = [
        Read(image, (at(axes[0]), at(axes[1]), *places)),
        Read(weights, (*front, *map(at, taps))),
    ]
    weight = cast(Argument(1, builder.type(weights).dtype), wide_type(kind))
    body = call("multiply", wide(Argument(0, kind)), weight)
    if mode == "nearest":
        builder.add(node.outputs[0], axes, reads, cast(body, kind))
        return
    total = cast(Accumulated(body.dtype), kind)
    builder.add(node.outputs[0], axes, reads, body, Reduction(taps, "sum", total))


def _together(builder: NestBuilder, node: Node, weights: Sequence[str]) -> str:
    """Add the weight of every choice of taps: channels need not multiply them again."""
    *outer, taps = builder.type(weights[0]).shape
    axes = axes_for((*outer, *(taps for _ in weights)))
    front = tuple(map(at, axes[: len(outer)]))
    reads = [
        Read(name, (*front, at(axis)))
        for name, axis in zip(weights, axes[len(outer) :], strict=True)
    ]
    body: Expr = Argument(0, builder.type(weights[0]).dtype)
    for position in range(1, len(reads)):
        body = call("multiply", body, Argument(position, body.dtype))
    return builder.add(builder.fresh(f"{node.outputs[0]}.weights"), axes, reads, body)


def _tapped(builder: NestBuilder, node: Node, how: Sampled, dimension: int) -> tuple[str, str]:
    """Add the places and the weights along one dimension, and return their names."""
    grid = required(node, 1)
    kind = builder.type(grid)
    axes = axes_for((*kind.shape[:-1], how.taps))
    # the grid tells the innermost dimension first
    component = number(kind.shape[-1] - 1 - dimension)
    read = Read(grid, (*map(at, axes[:-1]), component))
    given = wide(Argument(0, kind.dtype))
    place, weight = how.place(given, cast(Coordinate(at(axes[-1])), given.dtype))
    made: Mapping[str, Expr] = {"places": cast(place, "i64"), "along": weight}
    places, weights = (
        builder.add(builder.fresh(f"{node.outputs[0]}.{name}"), axes, [read], body)
        for name, body in made.items()
    )
    return places, weights


register({"GridSample": Operator(work=each_output(8), loops=grid_sample)})
