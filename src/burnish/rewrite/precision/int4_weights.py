"""Weights in 4 bits, activations as they are: what pays where a product waits for its weights.

    MatMul(x, W) (+ b)  -->  MatMulNBits(x, packed, scales, , , b)

Each column is cut into blocks of 32 with a scale each. Of several scales the one is taken whose
rounded weights are nearest to the block's, so that one large weight does not cost the others.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.infer import walk
from burnish.infer.constants import constant_tensor
from burnish.rewrite import edit
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.precision.int8_dynamic import CONTRIB, Quantised, become
from burnish.rewrite.precision.keep import ASKED, Asked
from burnish.rewrite.precision.products import WeightedProduct, product_at
from burnish.rewrite.precision.report import ChangedNode, KeptNode

BLOCK = 32
_ZERO = 8
"""What stands for 0 among the numbers from 0 to 15."""
_SHRINKING = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75)
_COLUMNS = 256
"""How many columns are packed at a time, which bounds the memory that it takes."""

Floats = NDArray[np.float32]


def in_int4(model: ir.Model, *, keep: Collection[str] = ()) -> Quantised:
    """Return a copy whose products read weights of 4 bits; `keep` names what stays as it is."""
    copy = model.clone()
    asked = Asked(copy, keep)
    changed: list[ChangedNode] = []
    kept: list[KeptNode] = []
    replaced: set[ir.Value] = set()
    for graph in tuple(walk.graphs(copy)):
        for node in tuple(graph):
            place = product_at(node)
            if place is None or node.graph is None:
                continue
            if isinstance(place, str) or node in asked:
                reason = ASKED if node in asked else str(place)
                kept.append(KeptNode(node.name or "", node.op_type, reason))
                continue
            changed.append(ChangedNode(node.name or "", node.op_type, "MatMulNBits"))
            replaced.add(place.weights)
            _pack_into(copy, place, len(changed))
    for value in replaced:
        free = not value.uses() and not value.is_graph_input() and not value.is_graph_output()
        if free and value.is_initializer():
            copy.graph.initializers.pop(value.name or "", None)
    if changed:
        copy.opset_imports.setdefault(CONTRIB, 1)
    FixNames()(copy)
    return Quantised(copy, tuple(changed), tuple(kept))


def _pack_into(model: ir.Model, place: WeightedProduct, number: int) -> None:
    tensor = constant_tensor(place.weights)
    assert tensor is not None
    matrix = tensor.numpy().astype(np.float32, copy=False)
    rows = matrix if place.transposed else matrix.T
    packed, scales = packed_blocks(rows)
    depth, columns, stem = rows.shape[1], rows.shape[0], f"{place.weights.name}/int4/{number}"
    name = edit.add_initializer(model.graph, stem, packed)
    scale = edit.add_initializer(
        model.graph, f"{stem}/scale", scales.reshape(-1) * np.float32(place.factor)
    )
    sizes = {"K": depth, "N": columns, "bits": 4, "block_size": BLOCK}
    attributes = {key: ir.AttrInt64(key, int(size)) for key, size in sizes.items()}
    become(
        place.absorb(), "MatMulNBits", [place.activation, name, scale, None, None, place.bias],
        attributes,
    )  # fmt: skip


def packed_blocks(rows: Floats) -> tuple[Array, Floats]:
    """Return weights, one row for each column of a product, as bytes of two, and their scales."""
    columns, depth = rows.shape
    blocks = -(-depth // BLOCK)
    packed = np.zeros((columns, blocks, BLOCK // 2), np.uint8)
    scales = np.zeros((columns, blocks), np.float32)
    for start in range(0, columns, _COLUMNS):
        part = rows[start : start + _COLUMNS]
        padded = np.zeros((len(part), blocks * BLOCK), np.float32)
        padded[:, :depth] = part
        numbers, scale = _nearest(padded.reshape(len(part), blocks, BLOCK))
        packed[start : start + _COLUMNS] = numbers[..., 0::2] | (numbers[..., 1::2] << 4)
        scales[start : start + _COLUMNS] = scale
    return packed, scales


def _nearest(blocks: Floats) -> tuple[NDArray[np.uint8], Floats]:
    """Return blocks as numbers from 0 to 15, and the scales with which they are nearest."""
    at = np.abs(blocks).argmax(axis=-1)[..., None]
    # the largest weight becomes -8, which has no counterpart among the positive numbers
    largest = np.take_along_axis(blocks, at, axis=-1)[..., 0] / -_ZERO
    best = np.full(largest.shape, np.inf, np.float32)
    scales, numbers = np.ones_like(largest), np.full(blocks.shape, _ZERO, np.uint8)
    for factor in _SHRINKING:
        scale = np.where(largest != 0, largest * np.float32(factor), np.float32(1)).astype("f4")
        tried = np.clip(np.rint(blocks / scale[..., None]) + _ZERO, 0, 15)
        error = np.square((tried - _ZERO) * scale[..., None] - blocks).sum(axis=-1)
        better = error < best
        best = np.where(better, error, best)
        scales = np.where(better, scale, scales)
        numbers = np.where(better[..., None], tried, numbers).astype(np.uint8)
    return np.asarray(numbers), scales.astype(np.float32)
