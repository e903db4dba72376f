"""Random small tile-graphs, for laws that must hold for all of them.

Elements are whole numbers: sums are exact in any order, so that results can be compared for
equality.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.tile.expr import Argument, Coordinate, Expr, Guard, Inside, call
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at, fetched, floor_divide, number, remainder
from burnish.tile.semantics import NestBuilder, Reduction, axes_for, broadcast_index

DTYPE = "i64"
LARGEST = 400
"""Elements: nothing is made of what is larger, so that the judge is quick."""
Make = Callable[[st.DrawFn, NestBuilder, str, list[str]], str]
"""Adds one nest over a tensor (and perhaps others of the list); returns what it writes."""


@st.composite
def graphs(draw: st.DrawFn) -> tuple[TileGraph, dict[str, Array]]:
    """Return a graph of a few nests, and inputs for it."""
    shapes = [tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))) for _ in range(2)]
    builder = NestBuilder(
        {"x": TensorType(DTYPE, shapes[0]), "y": TensorType(DTYPE, shapes[1])}, {}
    )
    names = ["x", "y"]
    for _ in range(draw(st.integers(1, 8))):
        make = draw(st.sampled_from(_MAKERS))
        small = [name for name in names if builder.type(name).size <= LARGEST]
        names.append(make(draw, builder, draw(st.sampled_from(small)), names))
    written = [op.output for op in builder.ops]
    outputs = draw(st.lists(st.sampled_from(written), min_size=1, max_size=2, unique=True))
    outputs = list(dict.fromkeys([*outputs, written[-1]]))
    random = np.random.default_rng(draw(st.integers(0, 9)))
    inputs = {
        name: random.integers(-4, 5, shape, dtype=np.int64)
        for name, shape in zip(("x", "y"), shapes, strict=True)
    }
    tensors = builder.tensors
    graph = TileGraph(tensors, ("x", "y"), tuple(outputs), tuple(builder.ops), builder.constants)
    return graph, inputs


def _transpose(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    shape = builder.type(source).shape
    order = draw(st.permutations(range(len(shape))))
    axes = axes_for([shape[place] for place in order])
    index = [at(axes[order.index(place)]) for place in range(len(shape))]
    return builder.view(builder.fresh("transposed"), source, index, axes)


def _reshape(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    left = math.prod(builder.type(source).shape)
    shape: list[int] = []
    for _ in range(draw(st.integers(0, 2))):
        shape.append(draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0])))
        left //= shape[-1]
    return builder.reshape(builder.fresh("reshaped"), source, (*shape, left))


def _slice(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    ranges = []
    for extent in builder.type(source).shape:
        low = draw(st.integers(0, extent - 1))
        every = range(low, extent, draw(st.integers(1, 2)))
        ranges.append(draw(st.sampled_from([every, every[::-1], range(extent)])))
    axes = axes_for([len(each) for each in ranges])
    index = [at(axis) * each.step + each.start for axis, each in zip(axes, ranges, strict=True)]
    return builder.view(builder.fresh("part"), source, index, axes)


def _pad(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    shape = builder.type(source).shape
    before = [draw(st.integers(-1, 2)) for _ in shape]
    axes = axes_for([extent + draw(st.integers(0, 3)) for extent in shape])
    index = [at(axis) - less for axis, less in zip(axes, before, strict=True)]
    guards = tuple(Guard(part, 0, extent) for part, extent in zip(index, shape, strict=True))
    read = Read(source, tuple(index), guards, draw(st.sampled_from([0, 7])))
    return builder.add(builder.fresh("padded"), axes, [read], Argument(0, DTYPE))


def _repeat(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    shape = builder.type(source).shape
    times = draw(st.integers(1, 3))
    axes = axes_for([extent * times for extent in shape])
    inner = draw(st.booleans())
    index = [
        floor_divide(at(axis), times) if inner else remainder(at(axis), extent)
        for axis, extent in zip(axes, shape, strict=True)
    ]
    return builder.view(builder.fresh("repeated"), source, index, axes)


def _gather(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    first, *rest = builder.type(source).shape
    places = draw(st.lists(st.integers(-first, first - 1), min_size=1, max_size=4))
    table = builder.add_constant(np.asarray(places, np.int64), "places")
    axes = axes_for([len(places), *rest])
    index = [fetched(table, [at(axes[0])], first), *map(at, axes[1:])]
    return builder.view(builder.fresh("gathered"), source, index, axes)


def _unary(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    axes = axes_for(builder.type(source).shape)
    x = Argument(0, DTYPE)
    place: Expr = Coordinate(at(axes[-1]) * 2 + 1)
    inside = Inside((Guard(at(axes[0]), 1, axes[0].extent),))
    body = draw(
        st.sampled_from(
            [
                call("negative", x), call("multiply", x, x), call("add", x, place),
                call("where", inside, x, call("absolute", x)),
            ]
        )
    )  # fmt: skip
    return builder.add(builder.fresh("unary"), axes, [Read(source, tuple(map(at, axes)))], body)


def _binary(draw: st.DrawFn, builder: NestBuilder, source: str, names: list[str]) -> str:
    """Two tensors, the second with the first's shape or broadcast to it."""
    shape = builder.type(source).shape
    fitting = [name for name in names if _broadcasts(builder.type(name).shape, shape)]
    other = draw(st.sampled_from(fitting))
    axes = axes_for(shape)
    reads = [
        Read(source, tuple(map(at, axes))),
        Read(other, broadcast_index(builder.type(other).shape, axes)),
    ]
    function = draw(st.sampled_from(["add", "multiply", "maximum", "subtract"]))
    body = call(function, Argument(0, DTYPE), Argument(1, DTYPE))
    return builder.add(builder.fresh("binary"), axes, reads, body)


def _concat(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    """A tensor and itself, one after the other."""
    shape = builder.type(source).shape
    place = draw(st.integers(0, len(shape) - 1))
    axes = axes_for([e * 2 if i == place else e for i, e in enumerate(shape)])
    first = tuple(at(axis) for axis in axes)
    second = tuple(i - shape[place] if n == place else i for n, i in enumerate(first))
    before = Guard(first[place], 0, shape[place])
    behind = Guard(first[place], shape[place], 2 * shape[place])
    reads = [Read(source, first, (before,)), Read(source, second, (behind,))]
    body = call("where", Inside((before,)), Argument(0, DTYPE), Argument(1, DTYPE))
    return builder.add(builder.fresh("joined"), axes, reads, body)


def _reduce(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    shape = builder.type(source).shape
    axes = axes_for(shape)
    count = draw(st.integers(1, len(shape)))
    over = draw(st.permutations(axes))[:count]
    if all(axis.extent == 1 for axis in over):
        return _unary(draw, builder, source, [])
    keeps = draw(st.booleans()) or count == len(shape)
    kept = [
        Axis(axis.name, 1) if axis in over else axis for axis in axes if keeps or axis not in over
    ]
    reduced = [Axis(f"k{n}", axis.extent) for n, axis in enumerate(over)]
    places = dict(zip(over, reduced, strict=True))
    read = Read(source, tuple(at(places.get(axis, axis)) for axis in axes))
    combine = draw(st.sampled_from(["sum", "max", "min"]))
    reduction = Reduction(reduced, combine)
    return builder.add(builder.fresh("reduced"), kept, [read], Argument(0, DTYPE), reduction)


def _product(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    """The product of a tensor's rows with a constant matrix."""
    *rows, inner = builder.type(source).shape
    columns = draw(st.integers(1, 4))
    values = np.arange(inner * columns, dtype=np.int64).reshape(inner, columns) % 5 - 2
    weight = builder.add_constant(values, "weight")
    axes = axes_for([*rows, columns])
    k = Axis("k0", inner)
    reads = [
        Read(source, (*map(at, axes[:-1]), at(k))),
        Read(weight, (at(k), at(axes[-1]))),
    ]
    body = call("multiply", Argument(0, DTYPE), Argument(1, DTYPE))
    over = Reduction([k], "sum") if inner > 1 else None
    return builder.add(builder.fresh("product"), axes, reads, body, over)


def _window(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    """Sums of neighbours along the first dimension."""
    first, *rest = builder.type(source).shape
    reach = draw(st.integers(1, first))
    stride = draw(st.integers(1, 2))
    axes = axes_for([(first - reach) // stride + 1, *rest])
    k = Axis("k0", reach)
    read = Read(source, (at(axes[0]) * stride + at(k), *map(at, axes[1:])))
    over = Reduction([k], "sum", None) if reach > 1 else None
    return builder.add(builder.fresh("window"), axes, [read], Argument(0, DTYPE), over)


def _element(draw: st.DrawFn, builder: NestBuilder, source: str, _: list[str]) -> str:
    """One element, spread over a shape."""
    shape = builder.type(source).shape
    place = [number(draw(st.integers(0, extent - 1))) for extent in shape]
    axes = axes_for([draw(st.integers(1, 4)) for _ in range(2)])
    return builder.view(builder.fresh("element"), source, place, axes)


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    last = target[len(target) - len(shape) :]
    return all(extent in (1, wanted) for extent, wanted in zip(shape, last, strict=True))


_MAKERS: tuple[Make, ...] = (
    _transpose, _reshape, _reshape, _slice, _pad, _repeat, _gather, _unary, _unary, _binary,
    _binary, _concat, _reduce, _reduce, _product, _window, _element,
)  # fmt: skip
