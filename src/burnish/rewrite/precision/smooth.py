"""The spread of activations moved into weights, so that 8 bits serve all channels (SmoothQuant).

A tensor has one step for all of its channels, a weight one for each column. Where one channel is
far larger than the others, they share what is left of 256 steps. So channel j of what products read
is divided by s_j, and row j of their weights multiplied:

    MatMul(LayerNormalization(x, scale, bias), W)
        -->  MatMul(LayerNormalization(x, scale / s, bias / s), s * W)

Where a norm cannot take the division, because others read what it gives, a Mul does it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.infer.constants import constant_tensor
from burnish.rewrite import edit
from burnish.rewrite.precision.keep import Asked
from burnish.rewrite.precision.products import WeightedProduct, product_at

Tops = Mapping[str, NDArray[np.float32]]
"""The largest magnitude of each channel of a value, by its name."""
_NORMS = {
    "LayerNormalization": (1, 2),
    "RMSNormalization": (1,),
    "SimplifiedLayerNormalization": (1,),
    "SkipLayerNormalization": (2, 3),
    "SkipSimplifiedLayerNormalization": (2,),
}
"""Operators that end with factors and offsets for each channel, and where they read them."""
_LEAST = 1e-5


@dataclass(frozen=True, slots=True)
class Smoothing:
    """How far activations and weights are evened out."""

    tops: Tops
    strength: float
    """Which part of the spread goes into weights: 1 is all of it."""


def smoothed_values(model: ir.Model, keep: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of the values of whose channels the largest magnitudes must be known."""
    return tuple(value.name or "" for value in _readers(model, Asked(model, keep)))


def smoothed(model: ir.Model, how: Smoothing, keep: Collection[str] = ()) -> ir.Model:
    """Return a copy that computes the same, with even channels where products read them."""
    copy = model.clone()
    for value, places in _readers(copy, Asked(copy, keep)).items():
        tops = how.tops.get(value.name or "")
        if tops is not None and np.isfinite(tops).all() and tops.size == _depth(places[0]):
            _smooth(copy, value, places, _factors(tops, places, how.strength))
    return copy


def _readers(model: ir.Model, asked: Asked) -> dict[ir.Value, list[WeightedProduct]]:
    """Return the products with weights of their own that read each value."""
    found: dict[ir.Value, list[WeightedProduct]] = defaultdict(list)
    for node in model.graph:
        place = product_at(node)
        if isinstance(place, WeightedProduct) and node not in asked:
            weights = place.weights
            shared = len(tuple(weights.uses())) > 1 or weights.is_graph_output()
            if weights.is_initializer() and not weights.is_graph_input() and not shared:
                found[place.activation].append(place)
    return found


def _factors(
    tops: NDArray[np.float32], places: list[WeightedProduct], strength: float
) -> NDArray[np.float32]:
    """Return by what each channel is divided: 1 where nothing was seen in it."""
    weights = np.max([np.abs(_matrix(place)).max(axis=1) for place in places], axis=0)
    known = (tops > 0) & (weights > 0)
    spread = np.maximum(tops, _LEAST) ** strength / np.maximum(weights, _LEAST) ** (1 - strength)
    wanted = np.where(known, np.clip(spread, _LEAST, 1 / _LEAST), 1.0)
    # only how channels differ matters: their middle stays, so that no number gets extreme
    found: NDArray[np.float32] = (wanted / np.exp(np.mean(np.log(wanted)))).astype(np.float32)
    return found


def _smooth(
    model: ir.Model, value: ir.Value, places: list[WeightedProduct], by: NDArray[np.float32]
) -> None:
    for place in places:
        tensor = constant_tensor(place.weights)
        assert tensor is not None
        rows = by[None, :] if place.transposed else by[:, None]
        place.weights.const_value = ir.Tensor(
            (tensor.numpy() * rows).astype(np.float32), name=place.weights.name
        )
    if not _folded(model, value, places, by):
        inverse = edit.add_initializer(model.graph, f"{value.name}/even", 1 / by)
        made = ir.node("Mul", [value, inverse])
        made.name = made.outputs[0].name = f"{value.name}/smooth"
        made.outputs[0].type, made.outputs[0].shape = value.type, value.shape
        producer = value.producer()
        if producer is None:
            model.graph.insert_before(model.graph[0], made)
        else:
            model.graph.insert_after(producer, made)
        for place in places:
            place.node.replace_input_with(0, made.outputs[0])


def _folded(
    model: ir.Model, value: ir.Value, places: list[WeightedProduct], by: NDArray[np.float32]
) -> bool:
    """Divide what a norm multiplies by and adds; return False where that would change others."""
    norm = value.producer()
    if norm is None or norm.op_type not in _NORMS or value is not norm.outputs[0]:
        return False
    if len(tuple(value.uses())) != len(places) or value.is_graph_output():
        return False
    given = [norm.inputs[at] if at < len(norm.inputs) else None for at in _NORMS[norm.op_type]]
    tensors = [None if one is None else constant_tensor(one) for one in given]
    if any(
        one is not None and (tensor is None or tensor.shape.numpy() != by.shape)
        for one, tensor in zip(given, tensors, strict=True)
    ):
        return False
    for at, tensor in zip(_NORMS[norm.op_type], tensors, strict=True):
        if tensor is not None:
            name = f"{norm.name}/{at}/even"
            new = edit.add_initializer(model.graph, name, (tensor.numpy() / by).astype(np.float32))
            norm.replace_input_with(at, new)
    return True


def _matrix(place: WeightedProduct) -> NDArray[np.float32]:
    tensor = constant_tensor(place.weights)
    assert tensor is not None
    array: NDArray[np.float32] = tensor.numpy()
    return array.T if place.transposed else array


def _depth(place: WeightedProduct) -> int:
    return int(_matrix(place).shape[0])
