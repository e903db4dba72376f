"""Constants in f16: weights, and what attributes hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite.precision.f16_types import NARROW, WIDE

LARGEST = 65504.0
"""The largest finite number of f16."""
_EAGER_BYTES = 1 << 20
"""Larger weights are converted when they are written, one at a time."""
_PIECE = 1 << 20
_TYPED_BY = {
    "Cast": "to", "RandomNormal": "dtype", "RandomUniform": "dtype",
    "HannWindow": "output_datatype", "HammingWindow": "output_datatype",
    "BlackmanWindow": "output_datatype", "MelWeightMatrix": "output_datatype",
}  # fmt: skip
"""Operators whose attribute says what they give; but for Cast's, it is f32 where it is missing."""


def narrowed(tensor: ir.TensorProtocol) -> Array | ir.LazyTensor:
    """Return a tensor in f16; finite numbers beyond its range become its ends."""
    if tensor.nbytes <= _EAGER_BYTES:
        return _in_f16(tensor.numpy())
    shape = ir.Shape(tensor.shape.numpy())
    return ir.LazyTensor(lambda: ir.Tensor(_in_f16(tensor.numpy())), dtype=NARROW, shape=shape)


def clipping_notes(name: str, tensor: ir.TensorProtocol) -> Iterator[str]:
    """Yield what must be known of a constant that f16 cannot hold."""
    flat = tensor.numpy().reshape(-1)
    pieces = (flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE))
    if any(bool((np.isfinite(piece) & (np.abs(piece) > LARGEST)).any()) for piece in pieces):
        yield (
            f"the constant {name!r} has numbers beyond {LARGEST:,.0f}, where f16 ends;"
            " they became its ends"
        )


def convert_attributes(node: ir.Node) -> Iterator[str]:
    """Make a node say f16 where it says f32; yield what must be known of that."""
    if is_standard(node, "Constant"):
        tensor = constant_tensor(node.outputs[0])
        if tensor is not None:
            node.attributes.clear()
            yield from _set_value(node, tensor)
        return
    if is_standard(node, "ConstantOfShape"):
        given = node.attributes.get("value")
        zero = ir.Tensor(np.zeros(1, np.float32))
        yield from _set_value(node, zero if given is None else given.as_tensor())
        return
    named = _TYPED_BY.get(node.op_type)
    if named is not None:
        node.attributes[named] = ir.AttrInt64(named, int(NARROW))
    elif "dtype" in node.attributes and node.attributes["dtype"].value == WIDE:
        node.attributes["dtype"] = ir.AttrInt64("dtype", int(NARROW))


def _set_value(node: ir.Node, tensor: ir.TensorProtocol) -> Iterator[str]:
    node.attributes["value"] = ir.AttrTensor("value", ir.Tensor(_in_f16(tensor.numpy())))
    yield from clipping_notes(node.outputs[0].name or "", tensor)


def _in_f16(array: Array) -> Array:
    clipped = np.where(np.isfinite(array), np.clip(array, -LARGEST, LARGEST), array)
    return np.ascontiguousarray(clipped.astype(np.float16))
