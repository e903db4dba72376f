"""Small graphs of nests for tests of the kernel generator."""

from __future__ import annotations

import numpy as np

from burnish.tile.expr import Argument, Constant, Guard, Inside, call
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at, floor_divide
from burnish.tile.semantics import NestBuilder, Reduction, axes_for

F32 = "f32"
A, B = Argument(0, F32), Argument(1, F32)


def product(rows: int, terms: int, columns: int, *, constant: bool = True) -> TileGraph:
    """Return `x[rows, terms] @ w[terms, columns]`."""
    weight = np.arange(terms * columns, dtype=np.float32).reshape(terms, columns)
    types = {"x": TensorType(F32, (rows, terms)), "w": TensorType(F32, (terms, columns))}
    builder = NestBuilder(types, {"w": weight} if constant else {})
    i, j = axes_for((rows, columns))
    k = Axis("k", terms)
    reads = [Read("x", (at(i), at(k))), Read("w", (at(k), at(j)))]
    builder.add("y", (i, j), reads, call("multiply", A, B), Reduction((k,), "sum"))
    inputs = ("x",) if constant else ("x", "w")
    return TileGraph(builder.tensors, inputs, ("y",), tuple(builder.ops), builder.constants)


def scores(rows: int, width: int) -> TileGraph:
    """Return `q · kᵀ`, whose second operand is read across."""
    types = {name: TensorType(F32, (rows, width)) for name in ("q", "k")}
    builder = NestBuilder(types, {})
    i, j = axes_for((rows, rows))
    d = Axis("d", width)
    reads = [Read("q", (at(i), at(d))), Read("k", (at(j), at(d)))]
    builder.add("y", (i, j), reads, call("multiply", A, B), Reduction((d,), "sum"))
    return TileGraph(builder.tensors, ("q", "k"), ("y",), tuple(builder.ops))


def blurred(rows: int, width: int) -> TileGraph:
    """Return relu, a border of zeros, and sums of three neighbours."""
    builder = NestBuilder({"x": TensorType(F32, (rows, width))}, {})
    axes = axes_for((rows, width))
    plain = tuple(at(axis) for axis in axes)
    builder.add("relu", axes, [Read("x", plain)], call("maximum", A, Constant(0.0, F32)))
    wide = axes_for((rows, width + 2))
    guard = Guard(at(wide[1]), 1, width + 1)
    read = Read("relu", (at(wide[0]), at(wide[1]) - 1), (guard,))
    builder.add("padded", wide, [read], A)
    k = Axis("k", 3)
    taps = Read("padded", (plain[0], plain[1] + at(k)))
    builder.add("y", axes, [taps], A, Reduction((k,), "sum"))
    return TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops))


def joined(rows: int, first: int, second: int) -> TileGraph:
    """Return two maps of one input side by side, negated."""
    builder = NestBuilder(
        {"a": TensorType(F32, (rows, first)), "b": TensorType(F32, (rows, second))}, {}
    )
    for name in ("a", "b"):
        axes = axes_for(builder.type(name).shape)
        read = Read(name, tuple(at(axis) for axis in axes))
        builder.add(f"half {name}", axes, [read], call("multiply", A, Constant(0.5, F32)))
    axes = axes_for((rows, first + second))
    here = [at(axis) for axis in axes]
    left, right = Guard(here[1], 0, first), Guard(here[1], first, first + second)
    reads = [
        Read("half a", tuple(here), (left,)),
        Read("half b", (here[0], here[1] - first), (right,)),
    ]
    builder.add("concat", axes, reads, call("where", Inside((left,)), A, B))
    builder.add("y", axes, [Read("concat", tuple(here))], call("negative", A))
    return TileGraph(builder.tensors, ("a", "b"), ("y",), tuple(builder.ops))


def windows(
    channels: tuple[int, int],
    size: tuple[int, int],
    taps: int,
    *,
    stride: int = 1,
    groups: int = 1,
    apart: tuple[int, int] = (1, 1),
) -> TileGraph:
    """Return a convolution of an image `x` that is large enough for all of its windows.

    `channels` are those that it takes and gives, `size` that of the result, and `apart` how far one
    tap is from the next.
    """
    taken, given = channels
    height, width = (
        stride * (extent - 1) + each * (taps - 1) + 1
        for extent, each in zip(size, apart, strict=True)
    )
    weight = np.random.default_rng(0).standard_normal((given, taken // groups, taps, taps))
    types = {
        "x": TensorType(F32, (1, taken, height, width)),
        "w": TensorType(F32, weight.shape),
    }
    builder = NestBuilder(types, {"w": weight.astype(np.float32)})
    axes = axes_for((1, given, *size))
    c, p, q = Axis("c", taken // groups), Axis("p", taps), Axis("q", taps)
    first = floor_divide(at(axes[1]), given // groups) * (taken // groups)
    rows = at(axes[2]) * stride + at(p) * apart[0]
    columns = at(axes[3]) * stride + at(q) * apart[1]
    place = (at(axes[0]), first + at(c), rows, columns)
    reads = [Read("x", place), Read("w", (at(axes[1]), at(c), at(p), at(q)))]
    reduced = tuple(axis for axis in (c, p, q) if axis.extent > 1)
    over = Reduction(reduced, "sum") if reduced else None
    builder.add("y", axes, reads, call("multiply", A, B), over)
    return TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops), builder.constants)
