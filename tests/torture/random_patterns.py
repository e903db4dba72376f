"""Steps of several nodes: what exporters write for one layer, and what only looks like it.

Each has its constants, axes and order drawn, so that now and then it is not the layer that a
fusion is after; whatever it is, it must stay what it was.
"""

from __future__ import annotations

import numpy as np

from torture.growing import Growing, NoNode


def _number(grow: Growing, value: float, name: str) -> str:
    """Return a constant of a tensor's type, in any of the shapes that broadcast to all."""
    shape = grow.choice((), (1,), (1, 1))
    return grow.constant(np.full(shape, value, grow.dtype(name)))


def _either(grow: Growing, op: str, a: str, b: str) -> str:
    return grow.add(op, a, b) if grow.chance(0.5) else grow.add(op, b, a)


def spelled_gelu(grow: Growing) -> object:
    """Return x · (1 + erf(x / √2)) / 2, its halves in any order, its constants nearly right."""
    x = grow.pick("float32")
    root = grow.choice(1.4142135, 1.4142135, 1.4142135, 1.5)
    half = grow.choice(0.5, 0.5, 0.5, 0.6)
    inner = grow.add("Div", x, _number(grow, root, x))
    turned = grow.add(grow.choice("Erf", "Erf", "Tanh"), inner)
    above = _either(grow, "Add", turned, _number(grow, 1.0, x))
    if grow.chance(0.5):
        return _either(grow, "Mul", _either(grow, "Mul", x, above), _number(grow, half, x))
    return _either(grow, "Mul", _either(grow, "Mul", above, _number(grow, half, x)), x)


def spelled_silu(grow: Growing) -> object:
    """Return x · σ(a x)."""
    x = grow.pick("float32")
    scaled = grow.add("Mul", x, _number(grow, 1.702, x)) if grow.chance(0.4) else x
    return _either(grow, "Mul", x, grow.add("Sigmoid", scaled))


def spelled_norm(grow: Growing) -> object:
    """Return layer and RMS normalisation, over the last axis mostly, with or without weights."""
    x = grow.pick("float32", least_rank=2)
    rank = len(grow.shape(x))
    axis = -1 if grow.chance(0.7) else grow.size(-rank, -1)
    axes = grow.constant([axis])
    centred = x
    if grow.chance(0.6):
        centred = grow.add("Sub", x, grow.add("ReduceMean", x, axes, keepdims=1))
    square = grow.choice("Pow", "Mul")
    other = _number(grow, 2.0, x) if square == "Pow" else centred
    spread = grow.add("ReduceMean", grow.add(square, centred, other), axes, keepdims=1)
    root = grow.add("Sqrt", grow.add("Add", spread, _number(grow, 1e-5, x)))
    if grow.chance(0.3):
        result = _either(grow, "Mul", centred, grow.add("Reciprocal", root))
    else:
        result = grow.add("Div", centred, root)
    if grow.chance(0.7):
        weight = grow.constant(grow.numbers(grow.shape(x)[grow.choice(-1, axis)]))
        result = _either(grow, "Mul", result, weight)
    if grow.chance(0.5):
        result = _either(grow, "Add", result, grow.constant(grow.numbers(grow.shape(x)[-1])))
    return result


def spelled_softmax(grow: Growing) -> object:
    """Return exp(x - max) / sum, its axes one or two."""
    x = grow.pick("float32", least_rank=1)
    axes = grow.constant([grow.size(-len(grow.shape(x)), -1)])
    above = grow.add("Sub", x, grow.add("ReduceMax", x, axes, keepdims=1))
    raised = grow.add("Exp", above if grow.chance(0.8) else x)
    return grow.add("Div", raised, grow.add("ReduceSum", raised, axes, keepdims=1))


def attention(grow: Growing) -> object:
    """Return heads of softmax(q kᵀ · scale + mask) v, from one tensor and random projections."""
    x = grow.pick("float32", least_rank=3, most_rank=3)
    batch, length, width = grow.shape(x)
    heads = grow.choice(1, 2, 4)
    size = grow.choice(4, 8)

    def projected(perm: list[int]) -> str:
        weight = grow.numbers(width, heads * size, scale=width**-0.5)
        y = grow.add("MatMul", x, grow.constant(weight))
        if grow.chance(0.6):
            y = _either(grow, "Add", y, grow.constant(grow.numbers(heads * size)))
        y = grow.add("Reshape", y, grow.constant([grow.choice(0, batch), -1, heads, size]))
        return grow.add("Transpose", y, perm=perm)

    q, k, v = projected([0, 2, 1, 3]), projected([0, 2, 3, 1]), projected([0, 2, 1, 3])
    if grow.chance(0.3):
        q = grow.add("Mul", q, _number(grow, size**-0.25, q))
    scores = grow.add("MatMul", q, k)
    scale = grow.choice(size**0.5, size**0.5, 2.0)
    scores = grow.add("Div", scores, _number(grow, scale, q))
    if grow.chance(0.5):
        mask = np.where(grow.random.random((length, length)) < 0.3, -1e4, 0).astype(np.float32)
        np.fill_diagonal(mask, 0)
        scores = _either(grow, "Add", scores, grow.constant(mask))
    weights = grow.add("Softmax", scores, axis=grow.choice(-1, -1, -1, 3, 2))
    mixed = grow.add("Transpose", grow.add("MatMul", weights, v), perm=[0, 2, 1, 3])
    return grow.add("Reshape", mixed, grow.constant([0, -1, heads * size]))


def scaled_convolution(grow: Growing) -> object:
    """Return a convolution with what often follows: a norm, a scale, an activation, a sum."""
    x = grow.pick("float32", least_rank=4, most_rank=4)
    channels = grow.shape(x)[1]
    weight = grow.constant(grow.numbers(channels, channels, 3, 3, scale=(9 * channels) ** -0.5))
    y = grow.add("Conv", x, weight, pads=[1, 1, 1, 1])
    if grow.chance(0.5):
        variance = np.abs(grow.numbers(channels)) + np.float32(0.5)
        held = [grow.constant(grow.numbers(channels)) for _ in range(3)]
        y = grow.add("BatchNormalization", y, *held, grow.constant(variance))
    else:
        y = _either(grow, "Mul", y, grow.constant(grow.numbers(channels, 1, 1)))
    y = grow.add(grow.choice("Relu", "HardSwish", "Sigmoid", "Identity"), y)
    return _either(grow, "Add", y, x)


def there_and_back(grow: Growing) -> object:
    """Return movements that undo each other, or nearly."""
    x = grow.pick("float32", "int64", least_rank=2)
    shape = grow.shape(x)
    perm = [int(place) for place in grow.random.permutation(len(shape))]
    back = [perm.index(place) for place in range(len(shape))]
    if grow.chance(0.3):
        back = perm
    y = grow.add("Transpose", grow.add("Transpose", x, perm=perm), perm=back)
    flat = grow.add("Reshape", y, grow.constant([-1]))
    again = grow.add("Reshape", flat, grow.constant(list(grow.shape(y))))
    if shape[-1] < 2:
        return again
    cut = grow.size(1, shape[-1] - 1)
    halves = grow.constant([cut, grow.shape(again)[-1] - cut])
    if min(grow.shape(again)[-1] - cut, cut) < 1:
        raise NoNode
    first = grow.add("Split", again, halves, outputs=2, axis=-1)
    pieces = (first, f"{first}_1") if grow.chance(0.6) else (f"{first}_1", first)
    return grow.add("Concat", *pieces, axis=-1)


def quantised(grow: Growing) -> object:
    """Return a tensor rounded to eight bits and back."""
    x = grow.pick("float32")
    kind = grow.choice("uint8", "int8")
    scale = grow.constant(np.array(0.05, np.float32))
    zero = grow.constant(np.array(grow.size(0, 9), kind))
    return grow.add("DequantizeLinear", grow.add("QuantizeLinear", x, scale, zero), scale, zero)


PATTERNS = {
    spelled_gelu: 1.5, spelled_silu: 1, spelled_norm: 2, spelled_softmax: 1, attention: 1.5,
    scaled_convolution: 1, there_and_back: 1, quantised: 0.3,
}  # fmt: skip
"""What may come next, and how often."""
