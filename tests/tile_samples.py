"""Small tile-graphs that the tests of scheduling share, built as lowering builds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from burnish.tile.expr import Accumulated, Argument, Constant, Expr, Guard, call
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.group import Group
from burnish.tile.index import Axis, at
from burnish.tile.semantics import NestBuilder, Reduction, axes_for
from burnish.tile.workload import NestFacts, workload

F32 = "f32"


def first() -> Expr:
    return Argument(0, F32)


def second() -> Expr:
    return Argument(1, F32)


class Sketch:
    """A graph under construction: each method adds nests and gives back the tensor's name."""

    def __init__(self, **inputs: Sequence[int]) -> None:
        self.inputs = tuple(inputs)
        types = {name: TensorType(F32, tuple(shape)) for name, shape in inputs.items()}
        self.builder = NestBuilder(types, {})

    def graph(self, *outputs: str) -> TileGraph:
        builder = self.builder
        return TileGraph(
            builder.tensors, self.inputs, outputs, tuple(builder.ops), builder.constants
        )

    def weight(self, *shape: int) -> str:
        rng = np.random.default_rng(len(self.builder.constants))
        return self.builder.add_constant(
            rng.standard_normal(shape).astype(np.float32) * 0.1, "weight"
        )

    def shape(self, name: str) -> tuple[int, ...]:
        return self.builder.type(name).shape

    def pointwise(self, function: str, *sources: str, name: str = "") -> str:
        axes = axes_for(self.shape(sources[0]))
        reads = [Read(source, tuple(map(at, axes))) for source in sources]
        body = call(function, *(Argument(k, F32) for k in range(len(sources))))
        return self._add(name or function, axes, reads, body)

    def matmul(self, left: str, right: str, name: str = "product") -> str:
        *batch, rows, depth = self.shape(left)
        columns = self.shape(right)[-1]
        axes = axes_for((*batch, rows, columns))
        k = Axis("k", depth)
        outer = [at(axis) for axis in axes[:-2]]
        same_rank = len(self.shape(right)) == len(self.shape(left))
        reads = [
            Read(left, (*outer, at(axes[-2]), at(k))),
            Read(right, (*(outer if same_rank else ()), at(k), at(axes[-1]))),
        ]
        body = call("multiply", first(), second())
        return self._add(name, axes, reads, body, Reduction((k,), "sum", Accumulated(F32)))

    def reduce_last(self, combine: str, source: str, name: str = "") -> str:
        *outer, last = self.shape(source)
        axes, k = axes_for(outer), Axis("k", last)
        reads = [Read(source, (*map(at, axes), at(k)))]
        return self._add(name or combine, axes, reads, first(), Reduction((k,), combine))

    def against_rows(self, function: str, source: str, rows: str, name: str = "") -> str:
        axes = axes_for(self.shape(source))
        reads = [Read(source, tuple(map(at, axes))), Read(rows, tuple(map(at, axes[:-1])))]
        return self._add(name or function, axes, reads, call(function, first(), second()))

    def softmax(self, source: str) -> str:
        greatest = self.reduce_last("max", source)
        axes = axes_for(self.shape(source))
        reads = [Read(source, tuple(map(at, axes))), Read(greatest, tuple(map(at, axes[:-1])))]
        body = call("exp", call("subtract", first(), second()))
        raised = self._add("exp", axes, reads, body)
        return self.against_rows("divide", raised, self.reduce_last("sum", raised))

    def pad(self, source: str, by: int) -> str:
        batch, channels, height, width = self.shape(source)
        axes = axes_for((batch, channels, height + 2 * by, width + 2 * by))
        y, x = at(axes[2]) - by, at(axes[3]) - by
        guards = (Guard(y, 0, height), Guard(x, 0, width))
        read = Read(source, (at(axes[0]), at(axes[1]), y, x), guards)
        return self._add("padded", axes, [read], first())

    def convolution(self, source: str, channels: int, size: int = 1) -> str:
        """Add a convolution that keeps height and width."""
        padded = self.pad(source, size // 2) if size > 1 else source
        batch, depth, height, width = self.shape(source)
        weight = self.weight(channels, depth, size, size)
        axes = axes_for((batch, channels, height, width))
        c, p, q = Axis("c", depth), Axis("p", size), Axis("q", size)
        data = Read(padded, (at(axes[0]), at(c), at(axes[2]) + at(p), at(axes[3]) + at(q)))
        reads = [data, Read(weight, (at(axes[1]), at(c), at(p), at(q)))]
        reduced = tuple(axis for axis in (c, p, q) if axis.extent > 1)
        over = Reduction(reduced, "sum") if reduced else None
        return self._add("convolved", axes, reads, call("multiply", first(), second()), over)

    def depthwise(self, source: str, size: int = 3) -> str:
        """Add a depthwise convolution that keeps height and width."""
        padded = self.pad(source, size // 2)
        shape = self.shape(source)
        weight = self.weight(shape[1], size, size)
        axes = axes_for(shape)
        p, q = Axis("p", size), Axis("q", size)
        place = (at(axes[0]), at(axes[1]), at(axes[2]) + at(p), at(axes[3]) + at(q))
        reads = [Read(padded, place), Read(weight, (at(axes[1]), at(p), at(q)))]
        body = call("multiply", first(), second())
        return self._add("depthwise", axes, reads, body, Reduction((p, q), "sum"))

    def gate(self, source: str) -> str:
        batch, channels, height, width = self.shape(source)
        axes = axes_for((batch, channels // 2, height, width))
        outer, inner = at(axes[0]), (at(axes[2]), at(axes[3]))
        reads = [
            Read(source, (outer, at(axes[1]), *inner)),
            Read(source, (outer, at(axes[1]) + channels // 2, *inner)),
        ]
        return self._add("gate", axes, reads, call("multiply", first(), second()))

    def channel_norm(self, source: str) -> str:
        """Add a layer normalisation over the channels of an image."""
        batch, channels, height, width = self.shape(source)
        axes, c = axes_for((batch, height, width)), Axis("c", channels)
        point = (at(axes[0]), at(c), at(axes[1]), at(axes[2]))
        share = call("multiply", Accumulated(F32), Constant(1 / channels, F32))
        mean = self._add(
            "mean", axes, [Read(source, point)], first(), Reduction((c,), "sum", share)
        )
        place = tuple(map(at, axes))
        off = call("subtract", first(), second())
        spread = self._add(
            "variance", axes, [Read(source, point), Read(mean, place)], call("multiply", off, off),
            Reduction((c,), "sum", share),
        )  # fmt: skip
        wide = axes_for((batch, channels, height, width))
        pixel = (at(wide[0]), at(wide[2]), at(wide[3]))
        reads = [Read(source, tuple(map(at, wide))), Read(mean, pixel), Read(spread, pixel)]
        root = call("sqrt", call("add", Argument(2, F32), Constant(1e-6, F32)))
        return self._add("normal", wide, reads, call("divide", off, root))

    def relu(self, source: str) -> str:
        axes = axes_for(self.shape(source))
        body = call("maximum", first(), Constant(0.0, F32))
        return self._add("relu", axes, [Read(source, tuple(map(at, axes)))], body)

    def transpose(self, source: str, order: Sequence[int]) -> str:
        shape = self.shape(source)
        axes = axes_for([shape[position] for position in order])
        index = [at(axes[list(order).index(position)]) for position in range(len(shape))]
        return self.builder.view(self.builder.fresh("moved"), source, index, axes)

    def reshape(self, source: str, shape: Sequence[int]) -> str:
        return self.builder.reshape(self.builder.fresh("reshaped"), source, shape)

    def _add(
        self,
        hint: str,
        axes: Sequence[Axis],
        reads: Iterable[Read],
        body: Expr,
        over: Reduction | None = None,
    ) -> str:
        return self.builder.add(self.builder.fresh(hint), axes, reads, body, over)


def whole(graph: TileGraph) -> Group:
    """Return all nests of a graph as one group."""
    return Group(graph.ops, graph.outputs)


def scores(rows: int, depth: int, columns: int) -> TileGraph:
    """Return the paper's example: a matrix product and the softmax of its rows."""
    sketch = Sketch(x=(rows, depth))
    return sketch.graph(sketch.softmax(sketch.matmul("x", sketch.weight(depth, columns))))


def feed_forward(channels: int, hidden: int, size: int) -> TileGraph:
    """Return a gated feed-forward of an image restorer: norm, 1×1, depthwise, gate, 1×1, sum."""
    sketch = Sketch(x=(1, channels, size, size))
    wide = sketch.convolution(sketch.channel_norm("x"), 2 * hidden)
    gated = sketch.gate(sketch.depthwise(wide))
    return sketch.graph(sketch.pointwise("add", sketch.convolution(gated, channels), "x"))


def chain_of_layers(rows: int, width: int, depth: int) -> TileGraph:
    """Return fully connected layers with ReLU, all of one width."""
    sketch = Sketch(x=(rows, width))
    value = "x"
    for _ in range(depth):
        value = sketch.relu(sketch.matmul(value, sketch.weight(width, width)))
    return sketch.graph(value)


def attention(heads: int, tokens: int, width: int) -> TileGraph:
    """Return softmax(q · k) · v, for each head."""
    sketch = Sketch(q=(heads, tokens, width), k=(heads, width, tokens), v=(heads, tokens, width))
    return sketch.graph(sketch.matmul(sketch.softmax(sketch.matmul("q", "k")), "v"))


def facts_of_nest(graph: TileGraph, output: str) -> NestFacts:
    """Return what is known of a nest among all others."""
    found = workload(whole(graph), graph).nests
    return next(nest for nest in found if nest.op.output == output)


def facts_alone(graph: TileGraph, output: str) -> NestFacts:
    """Return what is known of a nest in a kernel of its own."""
    op = next(op for op in graph.ops if op.output == output)
    return workload(Group((op,), (output,)), graph).nests[0]
