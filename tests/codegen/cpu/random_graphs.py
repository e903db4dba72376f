"""Random small tile-graphs: chains and joins of products, stencils, reductions and maps."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from burnish.tile.expr import Argument, Constant, Expr, Guard, Inside, call
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at, number, remainder
from burnish.tile.semantics import NestBuilder, Reduction, axes_for, broadcast_index

F32 = "f32"
_A, _B = Argument(0, F32), Argument(1, F32)


@dataclass
class _Growing:
    draw: st.DrawFn
    builder: NestBuilder
    made: list[str] = field(default_factory=list)

    def pick(self) -> str:
        return self.draw(st.sampled_from(self.made))

    def shape(self, name: str) -> tuple[int, ...]:
        return self.builder.type(name).shape

    def weight(self, *shape: int) -> str:
        import numpy as np

        seed = self.draw(st.integers(0, 99))
        array = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        return self.builder.add_constant(array, "w")

    def add(self, name: str) -> None:
        self.made.append(name)


@st.composite
def graphs(draw: st.DrawFn, most: int = 5) -> TileGraph:
    """Return a graph of up to `most` nests over one or two inputs."""
    shape = tuple(draw(st.lists(st.integers(1, 19), min_size=2, max_size=3)))
    builder = NestBuilder({"x": TensorType(F32, shape)}, {})
    growing = _Growing(draw, builder, ["x"])
    for _ in range(draw(st.integers(1, most))):
        draw(st.sampled_from(_STEPS))(growing)
    if not builder.ops:
        _map(growing)
    read = {name for op in builder.ops for name in op.inputs}
    outputs = [op.output for op in builder.ops if op.output not in read]
    extra = draw(st.sampled_from([None, builder.ops[0].output]))
    if extra and extra not in outputs:
        outputs.append(extra)
    constants = {n: a for n, a in builder.constants.items() if n in read}
    tensors = {n: t for n, t in builder.tensors.items() if n in read or n in outputs}
    return TileGraph(
        {"x": builder.type("x"), **tensors}, ("x",), tuple(outputs), tuple(builder.ops), constants
    )


def _map(growing: _Growing) -> None:
    source = growing.pick()
    axes = axes_for(growing.shape(source))
    body: Expr = call("maximum", call("multiply", _A, Constant(0.5, F32)), Constant(-0.3, F32))
    read = Read(source, tuple(at(axis) for axis in axes))
    growing.add(growing.builder.add(growing.builder.fresh("map"), axes, [read], body))


def _join(growing: _Growing) -> None:
    a, b = growing.pick(), growing.pick()
    if growing.shape(a) != growing.shape(b):
        b = growing.weight(*growing.shape(a)[1:])
    axes = axes_for(growing.shape(a))
    reads = [
        Read(a, broadcast_index(growing.shape(a), axes)),
        Read(b, broadcast_index(growing.shape(b), axes)),
    ]
    name = growing.builder.fresh("join")
    growing.add(growing.builder.add(name, axes, reads, call("subtract", _A, _B)))


def _product(growing: _Growing) -> None:
    source = growing.pick()
    *outer, inner = growing.shape(source)
    width = growing.draw(st.integers(1, 40))
    transposed = growing.draw(st.booleans())
    weight = growing.weight(width, inner) if transposed else growing.weight(inner, width)
    axes = axes_for((*outer, width))
    k = Axis("k", inner)
    place = (at(axes[-1]), at(k)) if transposed else (at(k), at(axes[-1]))
    reads = [Read(source, (*(at(axis) for axis in axes[:-1]), at(k))), Read(weight, place)]
    finish = call("add", _accumulated(), Constant(0.25, F32))
    name = growing.builder.fresh("product")
    over = Reduction((k,), "sum", finish)
    growing.add(growing.builder.add(name, axes, reads, call("multiply", _A, _B), over))


def _stencil(growing: _Growing) -> None:
    source = growing.pick()
    *outer, inner = growing.shape(source)
    taps, pad = growing.draw(st.integers(1, 3)), growing.draw(st.integers(0, 2))
    step = growing.draw(st.integers(1, 2))
    if inner + 2 * pad < taps:
        return
    axes = axes_for((*outer, inner + 2 * pad))
    shifted = at(axes[-1]) - pad
    guards = (Guard(shifted, 0, inner),) if pad else ()
    read = Read(source, (*(at(axis) for axis in axes[:-1]), shifted), guards, 0.75)
    padded = growing.builder.add(growing.builder.fresh("pad"), axes, [read], _A)
    size = (inner + 2 * pad - taps) // step + 1
    axes, k = axes_for((*outer, size)), Axis("k", taps)
    place = (*(at(axis) for axis in axes[:-1]), at(axes[-1]) * step + at(k))
    weight = growing.weight(taps)
    reads = [Read(padded, place), Read(weight, (at(k),))]
    name = growing.builder.fresh("stencil")
    over = Reduction((k,), "sum")
    growing.add(growing.builder.add(name, axes, reads, call("multiply", _A, _B), over))


def _reduce(growing: _Growing) -> None:
    source = growing.pick()
    shape = growing.shape(source)
    dimension = growing.draw(st.integers(0, len(shape) - 1))
    axes = axes_for([1 if d == dimension else size for d, size in enumerate(shape)])
    k = Axis("k", shape[dimension])
    place = tuple(at(k) if d == dimension else at(axis) for d, axis in enumerate(axes))
    combine = growing.draw(st.sampled_from(["sum", "max", "min"]))
    name = growing.builder.fresh("reduce")
    over = Reduction((k,), combine)
    small = growing.builder.add(name, axes, [Read(source, place)], _A, over)
    axes = axes_for(shape)
    reads = [
        Read(source, tuple(at(axis) for axis in axes)),
        Read(small, broadcast_index(growing.shape(small), axes)),
    ]
    name = growing.builder.fresh("centred")
    growing.add(growing.builder.add(name, axes, reads, call("subtract", _A, _B)))


def _turn(growing: _Growing) -> None:
    source = growing.pick()
    shape = growing.shape(source)
    order = growing.draw(st.permutations(range(len(shape))))
    axes = axes_for([shape[dimension] for dimension in order])
    by_dimension = dict(zip(order, axes, strict=True))
    index = [at(by_dimension[dimension]) for dimension in range(len(shape))]
    growing.add(growing.builder.view(growing.builder.fresh("turn"), source, index, axes))


def _flatten(growing: _Growing) -> None:
    source = growing.pick()
    shape = growing.shape(source)
    size = 1
    for extent in shape:
        size *= extent
    flat = growing.builder.reshape(growing.builder.fresh("flat"), source, (size,))
    axes = axes_for((2, size))
    index = [remainder(at(axes[1]) * 3 + number(1), size)]
    growing.add(growing.builder.view(growing.builder.fresh("mixed"), flat, index, axes))


def _concatenation(growing: _Growing) -> None:
    a, b = growing.pick(), growing.pick()
    shape = growing.shape(a)
    place = growing.draw(st.integers(0, len(shape) - 1))
    if len(growing.shape(b)) != len(shape) or any(
        one != other
        for d, (one, other) in enumerate(zip(shape, growing.shape(b), strict=True))
        if d != place
    ):
        b = growing.weight(*(3 if d == place else size for d, size in enumerate(shape)))
    first, second = shape[place], growing.shape(b)[place]
    axes = axes_for([first + second if d == place else size for d, size in enumerate(shape)])
    index = [at(axis) for axis in axes]
    behind = list(index)
    behind[place] = index[place] - first
    left, right = Guard(index[place], 0, first), Guard(behind[place], 0, second)
    reads = [Read(a, tuple(index), (left,)), Read(b, tuple(behind), (right,))]
    body = call("where", Inside((left,)), _A, _B)
    growing.add(growing.builder.add(growing.builder.fresh("concat"), axes, reads, body))


def _triangle(growing: _Growing) -> None:
    source = growing.pick()
    axes = axes_for(growing.shape(source))
    index = tuple(at(axis) for axis in axes)
    above = Guard(index[-1] - index[-2], growing.draw(st.integers(-1, 1)), axes[-1].extent)
    name = growing.builder.fresh("triangle")
    growing.add(growing.builder.add(name, axes, [Read(source, index, (above,))], _A))


def _accumulated() -> Expr:
    from burnish.tile.expr import Accumulated

    return Accumulated(F32)


_STEPS = (_map, _join, _product, _stencil, _reduce, _turn, _flatten, _concatenation, _triangle)
