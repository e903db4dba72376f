"""Small models of several kinds, and errors that their engines could have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

from burnish.core.arrays import Array
from torture.bases import blocks
from torture.bases.blocks import Weights
from torture.draft import Draft

Plant = Callable[[onnx.ModelProto], None]
"""Spoils a model in place."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A model in f32, inputs for it, and what may be wrong with an engine that runs it."""

    name: str
    model: onnx.ModelProto
    feeds: Mapping[str, Array]
    plants: Mapping[str, Plant]

    def planted(self, name: str) -> onnx.ModelProto:
        """Return a spoilt copy."""
        copy = onnx.ModelProto()
        copy.CopyFrom(self.model)
        self.plants[name](copy)
        return copy


def changed(name: str, change: Callable[[Array], Array]) -> Plant:
    """Return a plant that changes a weight."""

    def plant(model: onnx.ModelProto) -> None:
        found = next(each for each in model.graph.initializer if each.name == name)
        array = np.array(change(numpy_helper.to_array(found).copy()), np.float32)
        found.CopyFrom(numpy_helper.from_array(array, name))

    return plant


def both(*plants: Plant) -> Plant:
    """Return a plant that is several."""

    def plant(model: onnx.ModelProto) -> None:
        for each in plants:
            each(model)

    return plant


def swapped(one: str, other: str) -> Plant:
    """Return a plant that takes one weight for another."""

    def plant(model: onnx.ModelProto) -> None:
        turned = {one: other, other: one}
        for node in model.graph.node:
            node.input[:] = [turned.get(name, name) for name in node.input]

    return plant


def attribute(operator: str, name: str, value: float) -> Plant:
    """Return a plant that changes an attribute of every node of a kind."""

    def plant(model: onnx.ModelProto) -> None:
        for node in model.graph.node:
            for each in node.attribute:
                if node.op_type == operator and each.name == name:
                    each.f = value

    return plant


def off_by_five(array: Array) -> Array:
    """Return 5 % more."""
    return np.asarray(array * np.float32(1.05))


def without_a_channel(axis: int) -> Callable[[Array], Array]:
    """Return a change that makes one channel zero."""

    def change(array: Array) -> Array:
        np.moveaxis(array, axis, 0)[5] = 0
        return array

    return change


def _one_off(array: Array) -> Array:
    array[2] += 0.25
    return array


def _rolled(axis: int) -> Callable[[Array], Array]:
    return lambda array: np.roll(array, 1, axis)


def _feeds(name: str, *shape: int) -> dict[str, Array]:
    return {name: np.random.default_rng(5).standard_normal(shape).astype(np.float32)}


def mlp(layers: int = 6, width: int = 48, batch: int = 16) -> Kind:
    """Return layers of products, sums and ReLU."""
    draft = Draft()
    w = Weights(draft, seed=1)
    x = draft.input("x", [batch, width])
    for index in range(layers):
        x = blocks.linear(draft, w, x, f"l{index}", (width, width), gain=1.4)
        x = draft.op("Relu", x) if index < layers - 1 else x
    draft.output(x, "y", [batch, width])
    plants = {
        "layer × 1.05": both(changed("l3.weight", off_by_five), changed("l3.bias", off_by_five)),
        "a bias × 1.05": changed("l3.bias", off_by_five),
        "channel of zeros": both(
            changed("l3.weight", without_a_channel(1)), changed("l3.bias", without_a_channel(0))
        ),
        "one wrong bias": changed("l3.bias", _one_off),
        "axis off by one": changed("l3.weight", _rolled(0)),
    }
    return Kind("MLP", draft.finish(), _feeds("x", batch, width), plants)


def cnn(depth: int = 5, channels: int = 12, size: int = 12) -> Kind:
    """Return convolutions with norms over batches, residual sums, and a head."""
    draft = Draft()
    w = Weights(draft, seed=2)
    x = draft.input("x", [2, channels, size, size])
    for index in range(depth):
        name = f"c{index}"
        weight = w.tensor(f"{name}.weight", channels, channels, 3, 3, gain=(9 * channels) ** -0.5)
        y = draft.op("Conv", x, weight, pads=[1, 1, 1, 1])
        terms = (
            w.vector(f"{name}.gamma", channels, around=1.0), w.vector(f"{name}.beta", channels),
            w.vector(f"{name}.mean", channels), w.put(f"{name}.variance", np.full(channels, 0.9)),
        )  # fmt: skip
        y = draft.op("BatchNormalization", y, *terms, epsilon=1e-5)
        x = draft.op("Relu", draft.op("Add", x, y) if index % 2 else y)
    pooled = draft.op("Reshape", draft.op("GlobalAveragePool", x), [0, -1])
    draft.output(blocks.linear(draft, w, pooled, "head", (channels, 20)), "y", [2, 20])
    plants = {
        "layer × 1.05": changed("c2.weight", off_by_five),
        "a bias × 1.05": changed("c2.beta", off_by_five),
        "channel of zeros": both(
            changed("c2.gamma", without_a_channel(0)), changed("c2.beta", without_a_channel(0))
        ),
        "one wrong bias": changed("c2.beta", _one_off),
        "axis off by one": changed("c2.weight", _rolled(3)),
        "gamma and beta swapped": swapped("c2.gamma", "c2.beta"),
        "epsilon": attribute("BatchNormalization", "epsilon", 1e-3),
    }
    return Kind("CNN", draft.finish(), _feeds("x", 2, channels, size, size), plants)


def transformer(layers: int = 3, width: int = 32, heads: int = 4) -> Kind:
    """Return layers of attention and GELU with norms."""
    draft = _transformer(layers, width, heads, tanh=False)
    plants = {
        "layer × 1.05": changed("1.up.weight", off_by_five),
        "a bias × 1.05": changed("1.down.bias", off_by_five),
        "channel of zeros": both(
            changed("1.up.weight", without_a_channel(1)), changed("1.up.bias", without_a_channel(0))
        ),
        "one wrong bias": changed("1.up.bias", _one_off),
        "axis off by one": changed("1.v.weight", _rolled(1)),
        "gamma and beta swapped": swapped("1.second.weight", "1.second.bias"),
        "no 1/√d": changed("1.root", np.ones_like),
        "epsilon": attribute("LayerNormalization", "epsilon", 1e-6),
        "tanh for erf": _gelu_by_tanh,
    }
    return Kind("transformer", draft.finish(), _feeds("x", 2, 10, width), plants)


def _transformer(layers: int, width: int, heads: int, *, tanh: bool) -> Draft:
    draft = Draft()
    w = Weights(draft, seed=3)
    x = draft.input("x", [2, 10, width])
    for index in range(layers):
        y = blocks.layer_norm(draft, w, x, f"{index}.first", width)
        q, k, v = (
            blocks.heads_first(
                draft,
                blocks.linear(draft, w, y, f"{index}.{part}", (width, width)),
                heads,
                width // heads,
            )
            for part in "qkv"
        )
        scores = draft.op("MatMul", q, draft.op("Transpose", k, perm=[0, 1, 3, 2]))
        root = w.put(f"{index}.root", np.full(1, (width / heads) ** -0.5))
        shares = draft.op("Softmax", draft.op("Mul", scores, root), axis=-1)
        mixed = draft.op("Transpose", draft.op("MatMul", shares, v), perm=[0, 2, 1, 3])
        joined = draft.op("Reshape", mixed, [0, 0, -1])
        out = blocks.linear(draft, w, joined, f"{index}.o", (width, width))
        x = draft.op("Add", x, out)
        y = blocks.layer_norm(draft, w, x, f"{index}.second", width)
        y = blocks.linear(draft, w, y, f"{index}.up", (width, 4 * width))
        y = draft.op("Gelu", y, approximate="tanh" if tanh else "none")
        x = draft.op("Add", x, blocks.linear(draft, w, y, f"{index}.down", (4 * width, width)))
    draft.output(blocks.layer_norm(draft, w, x, "last", width), "y", [2, 10, width])
    return draft


def _gelu_by_tanh(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        for each in node.attribute:
            if node.op_type == "Gelu" and each.name == "approximate":
                each.s = b"tanh"


def lstm(width: int = 24, steps: int = 12) -> Kind:
    """Return two LSTMs and a head."""
    draft = Draft()
    w = Weights(draft, seed=4)
    x = draft.input("x", [steps, 3, width])
    for index in range(2):
        name = f"r{index}"
        terms = (
            w.tensor(f"{name}.w", 1, 4 * width, width, gain=width**-0.5),
            w.tensor(f"{name}.r", 1, 4 * width, width, gain=width**-0.5),
            w.tensor(f"{name}.b", 1, 8 * width, gain=0.2),
        )
        y = draft.op("LSTM", x, *terms, hidden_size=width)
        x = draft.op("Squeeze", y, [1])
    draft.output(blocks.linear(draft, w, x, "head", (width, 10)), "y", [steps, 3, 10])
    plants = {
        "layer × 1.05": changed("r0.w", off_by_five),
        "a bias × 1.05": changed("r0.b", off_by_five),
        "channel of zeros": changed("r0.w", without_a_channel(1)),
        "one wrong bias": changed("r0.b", lambda b: b + np.eye(1, b.size, 70) * 0.25),
        "axis off by one": changed("r0.r", _rolled(2)),
    }
    return Kind("LSTM", draft.finish(), _feeds("x", steps, 3, width), plants)


def unet(channels: int = 8, size: int = 16) -> Kind:
    """Return a network that goes down and up again, with what it kept on the way."""
    draft = Draft()
    w = Weights(draft, seed=6)
    x = draft.input("x", [1, channels, size, size])

    def convolved(value: str, name: str, taken: int) -> str:
        shape = channels, taken, 3, 3
        weight = w.tensor(f"{name}.weight", *shape, gain=1.4 * (9 * taken) ** -0.5)
        bias = w.vector(f"{name}.bias", channels)
        return draft.op("Relu", draft.op("Conv", value, weight, bias, pads=[1, 1, 1, 1]))

    kept = []
    for index in range(2):
        x = convolved(x, f"down{index}", channels)
        kept.append(x)
        x = draft.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = convolved(x, "middle", channels)
    for index in reversed(range(2)):
        weight = w.tensor(f"up{index}.grow", channels, channels, 2, 2, gain=channels**-0.5)
        grown = draft.op("ConvTranspose", x, weight, strides=[2, 2])
        joined = draft.op("Concat", kept[index], grown, axis=1)
        x = convolved(joined, f"up{index}", 2 * channels)
    draft.output(x, "y", [1, channels, size, size])
    plants = {
        "layer × 1.05": changed("middle.weight", off_by_five),
        "a bias × 1.05": changed("down1.bias", off_by_five),
        "channel of zeros": both(
            changed("middle.weight", without_a_channel(0)),
            changed("middle.bias", without_a_channel(0)),
        ),
        "one wrong bias": changed("middle.bias", _one_off),
        "axis off by one": changed("up1.grow", _rolled(2)),
    }
    return Kind("U-Net", draft.finish(), _feeds("x", 1, channels, size, size), plants)


KINDS = (mlp, cnn, transformer, lstm, unet)
