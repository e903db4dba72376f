"""Steps that are layers of networks: products with many terms, blocks, heads, gates, poolings."""

from __future__ import annotations

import math

import numpy as np

from torture.growing import MOST_ELEMENTS, Growing, NoNode
from torture.random_steps import Step


def weighted(grow: Growing) -> str:
    """A product with a wide weight, an offset and an activation or a residual."""
    x = grow.pick("float32", least_rank=2, most_rank=4)
    *rows, terms = grow.shape(x)
    same = grow.chance(0.4)
    columns = terms if same else grow.choice(16, 24, 64, 100, 130, 256)
    _require(int(np.prod(rows)) * columns)
    y = _product(grow, x, terms, columns)
    if grow.chance(0.7):
        y = grow.add("Add", y, grow.constant(grow.numbers(columns)))
    if grow.chance(0.5):
        y = grow.add(grow.choice("Relu", "Gelu", "Sigmoid", "Tanh", "HardSwish"), y)
    return grow.add("Add", y, x) if same and grow.chance(0.7) else y


def perceptron(grow: Growing) -> str:
    """A norm, a product, an activation or a gate, a product, a residual."""
    x = grow.pick("float32", least_rank=2, most_rank=3)
    *rows, width = grow.shape(x)
    inner = grow.choice(32, 48, 128, 200)
    _require(int(np.prod(rows)) * inner)
    n = x
    if grow.chance(0.6):
        weights = [grow.constant(grow.numbers(width)) for _ in range(grow.size(1, 2))]
        n = grow.add("LayerNormalization", x, *weights, axis=-1)
    h = _product(grow, n, width, inner)
    if grow.chance(0.3):
        gate = _product(grow, n, width, inner)
        h = grow.add("Mul", grow.add(grow.choice("Sigmoid", "Tanh", "Gelu"), gate), h)
    else:
        h = grow.add(grow.choice("Relu", "Gelu", "Mish"), h)
    y = _product(grow, h, inner, width)
    return grow.add("Add", x, y) if grow.chance(0.7) else y


def heads(grow: Growing) -> str:
    """Attention over given queries, keys and values, with masks, groups and odd lengths."""
    batch, count = grow.choice(1, 2), grow.choice(1, 2, 3, 4)
    size = grow.choice(8, 16, 24, 32, 40, 64)
    queries, keys = grow.choice(1, 5, 16, 33, 64), grow.choice(1, 7, 16, 49, 65, 130)
    _require(batch * count * max(queries * size, keys * size, queries * keys))
    q, k, v = (grow.input(grow.numbers(batch, count, length, size, scale=0.7))
               for length in (queries, keys, keys))  # fmt: skip
    turned = grow.add("Transpose", k, perm=[0, 1, 3, 2])
    scores = grow.add("MatMul", q, turned)
    scale = grow.constant(np.array(size**-0.5, np.float32))
    scores = grow.add("Mul", scores, scale)
    if grow.chance(0.5):
        shape = grow.choice((batch, 1, 1, keys), (1, count, queries, keys), (queries, keys))
        scores = grow.add("Add", scores, grow.constant(grow.numbers(*shape)))
    if grow.chance(0.2):
        scores = grow.add("Tanh", scores)
    weights = grow.add("Softmax", scores, axis=-1)
    mixed = grow.add("MatMul", weights, v)
    if grow.chance(0.3):
        return mixed
    moved = grow.add("Transpose", mixed, perm=[0, 2, 1, 3])
    return grow.add("Reshape", moved, grow.constant([0, 0, count * size]))


def block(grow: Growing) -> str:
    """Convolutions as networks have them: plain, of groups, by channel, 1 x 1, side by side."""
    x = grow.pick("float32", least_rank=4, most_rank=4)
    _, channels, high, wide = grow.shape(x)
    inner = grow.choice(channels, 8, 16, 32, 2 * channels)
    _require(inner * high * wide)
    y = _convolved(grow, x, channels, inner, 1) if grow.chance(0.6) else x
    inner = grow.shape(y)[1]
    group = inner if grow.chance(0.5) else grow.choice(*[g for g in (1, 2, 4) if inner % g == 0])
    y = _convolved(grow, y, inner, inner, grow.choice(3, 3, 5, 7), group)
    if grow.chance(0.4):
        y = _squeezed(grow, y)
    y = _convolved(grow, y, inner, channels, 1)
    if grow.shape(y) != grow.shape(x):
        return y
    if grow.chance(0.3):
        return grow.add("Concat", x, y, axis=1)
    return grow.add("Add", y, x)


def sliding(grow: Growing) -> str:
    """Windows by channel of many taps, uneven in all that a convolution may be uneven in."""
    x = grow.pick("float32", least_rank=3, most_rank=4)
    _, channels, *space = grow.shape(x)
    taps = [grow.choice(*[k for k in (1, 2, 3, 5, 7, 9, 13, 31) if k <= size]) for size in space]
    if math.prod(taps) < 2 or math.prod(taps) > 100:
        raise NoNode
    pads = [grow.size(0, k // 2) for k in (*taps, *taps)]
    strides = [grow.choice(1, 1, 1, 2, 3) for _ in taps]
    if grow.chance(0.3):
        op = grow.choice("MaxPool", "AveragePool")
        y = grow.add(op, x, kernel_shape=taps, pads=pads, strides=strides)
    else:
        each = grow.choice(1, 1, 1, 2)
        shape = (channels * each, 1, *taps)
        weight = grow.constant(grow.numbers(*shape, scale=math.prod(taps) ** -0.5))
        more = [grow.constant(grow.numbers(channels * each))] if grow.chance(0.5) else []
        wide = [grow.choice(1, 1, 1, 2) for _ in taps]
        y = grow.add("Conv", x, weight, *more, group=channels, pads=pads, strides=strides,
                     dilations=wide)  # fmt: skip
    return grow.add(grow.choice("Relu", "HardSwish", "Sigmoid"), y) if grow.chance(0.5) else y


def long_rows(grow: Growing) -> str:
    """Norms, softmax and sums along rows that are long, and what reads them."""
    rows, length = grow.choice(1, 2, 5), grow.choice(700, 1025, 2048, 3000, 5000)
    _require(rows * length)
    x = grow.input(grow.numbers(rows, length))
    match grow.choice("norm", "softmax", "sum", "instance"):
        case "norm":
            weights = [grow.constant(grow.numbers(length)) for _ in range(2)]
            return grow.add("LayerNormalization", x, *weights, axis=-1)
        case "softmax":
            return grow.add("Softmax", x, axis=-1)
        case "sum":
            how = grow.choice("ReduceMean", "ReduceMax", "ReduceL2")
            y = grow.add(how, grow.add("Abs", x), grow.constant([1]))
            return grow.add("Div", x, grow.add("Add", y, grow.constant(np.ones(1, np.float32))))
        case _:
            y = grow.add("Unsqueeze", x, grow.constant([0]))
            weights = [grow.constant(grow.numbers(rows)) for _ in range(2)]
            return grow.add("InstanceNormalization", y, *weights)


def _product(grow: Growing, x: str, terms: int, columns: int) -> str:
    weight = grow.numbers(terms, columns, scale=terms**-0.5)
    return grow.add("MatMul", x, grow.constant(weight))


def _convolved(grow: Growing, x: str, channels: int, made: int, side: int, group: int = 1) -> str:
    scale = (channels // group * side * side) ** -0.5
    weight = grow.constant(grow.numbers(made, channels // group, side, side, scale=scale))
    more = [grow.constant(grow.numbers(made))] if grow.chance(0.5) else []
    strides = grow.choice([1, 1], [1, 1], [2, 2]) if side > 1 else [1, 1]
    pads = [side // 2] * 4
    y = grow.add("Conv", x, weight, *more, group=group, pads=pads, strides=strides)
    if grow.chance(0.6):
        y = grow.add(grow.choice("Relu", "HardSwish", "Sigmoid", "LeakyRelu"), y)
    return y


def _squeezed(grow: Growing, x: str) -> str:
    """Channels scaled by what their averages say."""
    channels = grow.shape(x)[1]
    pooled = grow.add("GlobalAveragePool", x)
    few = max(channels // 4, 1)
    h = grow.add("Relu", _convolved(grow, pooled, channels, few, 1))
    gate = grow.add("Sigmoid", _convolved(grow, h, few, channels, 1))
    return grow.add("Mul", x, gate)


def _require(elements: int) -> None:
    if elements > MOST_ELEMENTS:
        raise NoNode


WIDE: dict[Step, float] = {
    weighted: 3,
    perceptron: 3,
    heads: 3,
    block: 4,
    sliding: 4,
    long_rows: 1.5,
}
"""What may come next, and how often."""
