"""Small models with everything that can be cut: encoders, decoders, images, fused and not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from burnish.infer.graph_of import graph_of
from burnish.prune.flow import Flow
from rewriting import Graph

HIDDEN, HEADS, SIZE, NEURONS = 16, 4, 4, 24
MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Sample:
    """A model, and what can be cut out of it: how many units of which kind."""

    make: Callable[[], ir.Model]
    axes: tuple[tuple[str, int], ...]


class Weights:
    """Seeded weights, all of them of some use."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)

    def __call__(self, *shape: int) -> npt.NDArray[np.float32]:
        fan = shape[0] if len(shape) == 2 else max(int(np.prod(shape[1:])), 1)
        return (self.rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)


def _norm(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    return g.op("LayerNormalization", x, 1 + w(HIDDEN), w(HIDDEN))


def _mlp(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    inner = g.op("Add", g.op("MatMul", x, w(HIDDEN, NEURONS)), w(NEURONS))
    active = g.op("Mul", inner, g.op("Sigmoid", inner))
    return g.op("Add", g.op("MatMul", active, w(NEURONS, HIDDEN)), w(HIDDEN))


def _in_heads(g: Graph, x: ir.Value, heads: int = HEADS) -> ir.Value:
    apart = g.op("Reshape", x, np.array([0, 0, heads, SIZE]))
    return g.op("Transpose", apart, perm=[0, 2, 1, 3])


def _attend(g: Graph, q: ir.Value, k: ir.Value, v: ir.Value) -> ir.Value:
    scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), 0.5)
    mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
    return g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), np.array([0, 0, HIDDEN]))


def _around(attention: Callable[[Graph, ir.Value, Weights], ir.Value]) -> Callable[[], ir.Model]:
    """Return what makes a block with this attention, a norm and a perceptron."""

    def make() -> ir.Model:
        g, w = Graph(), Weights()
        x = g.input("x", ["batch", "sequence", HIDDEN])
        mixed = g.op("MatMul", attention(g, x, w), w(HIDDEN, HIDDEN))
        y = _norm(g, g.op("Add", x, mixed), w)
        y = g.op("Add", y, _mlp(g, y, w))
        y.shape = ir.Shape(["batch", "sequence", HIDDEN])
        return g.model(y)

    return make


def _separate(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    parts = [g.op("Add", g.op("MatMul", x, w(HIDDEN, HIDDEN)), w(HIDDEN)) for _ in range(3)]
    return _attend(g, *(_in_heads(g, part) for part in parts))


def _computed_shapes(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    """As exporters write it: shapes put together from those of inputs."""
    sizes = [
        g.op("Unsqueeze", g.op("Gather", g.op("Shape", x), np.array(i)), np.array([0]))
        for i in (0, 1)
    ]
    apart = g.op("Concat", *sizes, np.array([HEADS]), np.array([SIZE]), axis=0)
    parts = []
    for _ in range(3):
        split = g.op("Reshape", g.op("MatMul", x, w(HIDDEN, HIDDEN)), apart)
        parts.append(g.op("Transpose", split, perm=[0, 2, 1, 3]))
    scores = g.op("MatMul", parts[0], g.op("Transpose", parts[1], perm=[0, 1, 3, 2]))
    mixed = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores), parts[2]), perm=[0, 2, 1, 3])
    return g.op("Reshape", mixed, g.op("Concat", *sizes, np.array([HIDDEN]), axis=0))


def _packed(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    """As in GPT-2: one product for queries, keys and values."""
    both = g.op("Add", g.op("MatMul", x, w(HIDDEN, 3 * HIDDEN)), w(3 * HIDDEN))
    parts = g.ops("Split", both, np.array([HIDDEN] * 3), outputs=3, axis=-1)
    return _attend(g, *(_in_heads(g, part) for part in parts))


def _sliced(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    both = g.op("MatMul", x, w(HIDDEN, 3 * HIDDEN))
    parts = [
        g.op("Slice", both, np.array([i * HIDDEN]), np.array([(i + 1) * HIDDEN]), np.array([2]))
        for i in range(3)
    ]
    return _attend(g, *(_in_heads(g, part) for part in parts))


def _unbound(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    """As vision transformers do: an axis of three, of which each takes one."""
    both = g.op("MatMul", x, w(HIDDEN, 3 * HIDDEN))
    apart = g.op("Reshape", both, np.array([0, 0, 3, HEADS, SIZE]))
    moved = g.op("Transpose", apart, perm=[2, 0, 3, 1, 4])
    return _attend(g, *(g.op("Gather", moved, np.array(i), axis=0) for i in range(3)))


def _fused(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    weight, bias = w(HIDDEN, 3 * HIDDEN), w(3 * HIDDEN)
    return g.op("Attention", x, weight, bias, domain=MICROSOFT, num_heads=HEADS)


def _multi_head(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    parts = [g.op("MatMul", x, w(HIDDEN, HIDDEN)) for _ in range(3)]
    bias = w(3 * HIDDEN)
    return g.op("MultiHeadAttention", *parts, bias, domain=MICROSOFT, num_heads=HEADS)


def _grouped(g: Graph, x: ir.Value, w: Weights) -> ir.Value:
    """As in Llama: two heads of queries share one of keys, which is turned and repeated."""
    q = _in_heads(g, g.op("MatMul", x, w(HIDDEN, HIDDEN)))
    k, v = (_in_heads(g, g.op("MatMul", x, w(HIDDEN, HIDDEN // 2)), HEADS // 2) for _ in range(2))
    half = np.array([SIZE // 2])

    def turned(one: ir.Value) -> ir.Value:
        low = g.op("Slice", one, np.array([0]), half, np.array([3]))
        high = g.op("Slice", one, half, np.array([2**31 - 1]), np.array([3]))
        other = g.op("Concat", g.op("Neg", high), low, axis=-1)
        return g.op("Add", g.op("Mul", one, 0.8), g.op("Mul", other, 0.6))

    def repeated(one: ir.Value) -> ir.Value:
        apart = g.op("Unsqueeze", one, np.array([2]))
        stretched = g.op("Expand", apart, np.array([1, HEADS // 2, 2, 1, SIZE]))
        shape = g.op("Concat", np.array([0]), np.array([HEADS]), np.array([-1]), np.array([SIZE]),
                     axis=0)  # fmt: skip
        return g.op("Reshape", stretched, shape)

    return _attend(g, turned(q), repeated(turned(k)), repeated(v))


def gated() -> ir.Model:
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", HIDDEN])
    gate, up = (g.op("MatMul", x, w(HIDDEN, NEURONS)) for _ in range(2))
    active = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
    y = g.op("Gemm", active, w(HIDDEN, NEURONS), w(HIDDEN), transB=1)
    y.shape = ir.Shape(["batch", HIDDEN])
    return g.model(y)


def convolutions() -> ir.Model:
    """A stem, a residual block that shares its channels, a depth-wise one, and a classifier."""
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", 3, 9, 9])

    def normed(value: ir.Value, channels: int) -> ir.Value:
        parameters = (1 + w(channels), w(channels), w(channels), 1 + np.abs(w(channels)))
        return g.op("BatchNormalization", value, *parameters)

    pads = [1, 1, 1, 1]
    stem = g.op("Relu", normed(g.op("Conv", x, w(8, 3, 3, 3), w(8), pads=pads, strides=[2, 2]), 8))
    inner = g.op("Relu", g.op("Conv", stem, w(12, 8, 3, 3), w(12), pads=pads))
    block = g.op("Relu", g.op("Add", stem, normed(g.op("Conv", inner, w(8, 12, 1, 1)), 8)))
    wide = g.op("Clip", g.op("Conv", block, w(16, 8, 1, 1), w(16)), 0.0, 6.0)
    deep = g.op("Conv", wide, w(16, 1, 3, 3), w(16), group=16, pads=pads)
    narrow = g.op("Conv", deep, w(6, 16, 1, 1))
    flat = g.op("Flatten", g.op("GlobalAveragePool", narrow))
    y = g.op("Gemm", flat, w(6, 5), w(5))
    y.shape = ir.Shape(["batch", 5])
    return g.model(y)


_BLOCK = (("heads", HEADS), ("neurons", NEURONS))
SAMPLES: Mapping[str, Sample] = {
    "separate products": Sample(_around(_separate), _BLOCK),
    "computed shapes": Sample(_around(_computed_shapes), _BLOCK),
    "packed as in GPT-2": Sample(_around(_packed), _BLOCK),
    "packed and sliced": Sample(_around(_sliced), _BLOCK),
    "unbound as in ViT": Sample(_around(_unbound), _BLOCK),
    "fused with its weights": Sample(_around(_fused), _BLOCK),
    "fused without": Sample(_around(_multi_head), _BLOCK),
    "grouped as in Llama": Sample(_around(_grouped), (("heads", 2), ("neurons", NEURONS))),
    "gated": Sample(gated, (("neurons", NEURONS),)),
    "convolutions": Sample(
        convolutions, (("channels", 8), ("channels", 12), ("channels", 16), ("neurons", 6))
    ),
}


def feeds(model: ir.Model, seed: int = 0, batch: int = 2, sequence: int = 5) -> dict[str, Any]:
    """Return inputs, correlated as those of real models are."""
    rng = np.random.default_rng(seed)
    sizes = {"batch": batch, "sequence": sequence}
    result = {}
    for value in model.graph.inputs:
        shape = [d if isinstance(d, int) else sizes[str(d.value)] for d in value.shape or ()]
        result[value.name or ""] = rng.standard_normal(shape).astype(np.float32)
    return result


def followed(model: ir.Model, **sizes: int) -> Flow:
    """Return the flow of a model at the sizes of its `feeds`."""
    shapes = {name: array.shape for name, array in feeds(model, **sizes).items()}
    return Flow(model, graph_of(model, {}, shapes=shapes))
