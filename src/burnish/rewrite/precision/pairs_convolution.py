"""Convolutions between pairs of QuantizeLinear and DequantizeLinear, as sums of the bytes inside.

    Conv(DequantizeLinear(x, s, p), DequantizeLinear(W, t, 0), b)
    -->  Cast(ConvInteger(x, W, p)) · (s·t) + b

Sums of integers are exact. Bytes are multiplied by fours: where the channels of a single group do
not come in fours (a picture's three), channels of zero points are added, which weights of zero
meet. What else is left over is faster in f32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import STANDARD_DOMAINS
from burnish.rewrite import edit
from burnish.rewrite.precision.int8_dynamic import become

_WORD, _LEAST = 4, 3
"""Bytes that are multiplied at once, and how many of them must be there."""
_TO_SIGNED = 128
"""The zero point of weights that are unsigned and symmetric."""


@dataclass(frozen=True, slots=True)
class DequantisedOperand:
    """What a DequantizeLinear reads; all but the bytes is constant."""

    node: ir.Node
    source: ir.Value
    step: NDArray[np.float32]
    zero: ir.Value | None
    zeros: NDArray[np.int32]


def operand_of(node: ir.Node | None) -> DequantisedOperand | None:
    """Return what a DequantizeLinear with constant scales reads; None: it is none."""
    if node is None or node.inputs[0] is None:
        return None
    step = None if node.inputs[1] is None else constant_tensor(node.inputs[1])
    zero = node.inputs[2] if len(node.inputs) > 2 else None
    known = None if zero is None else constant_tensor(zero)
    if step is None or (zero is not None and known is None):
        return None
    zeros = np.zeros(1, np.int32) if known is None else known.numpy().astype(np.int32)
    return DequantisedOperand(node, node.inputs[0], step.numpy().astype(np.float32), zero, zeros)


def convolution_of_bytes(
    node: ir.Node, operands: tuple[ir.Node | None, ir.Node | None], model: ir.Model
) -> bool:
    """Make a convolution between pairs one of bytes, in place; return whether it is one now."""
    data, weights = (operand_of(each) for each in operands)
    if data is None or weights is None or not _fits(node, data, weights):
        return False
    bias = _bias(node)
    if bias is None:
        return False
    given = node.inputs[2] if len(node.inputs) > 2 else None
    added_by = None if given is None else given.producer()
    name = node.name or node.outputs[0].name or ""
    maps = weights_shape(weights)[0]
    spatial = (1,) * (len(weights_shape(weights)) - 2)
    factor = np.broadcast_to(data.step.reshape(-1) * weights.step.reshape(-1), (maps,))
    image, kernel = _by_words(node, data, weights, model)
    summed = _before(
        node, "ConvInteger", [image, kernel, data.zero, weights.zero],
        ir.DataType.INT32, f"{name}/bytes", dict(node.attributes),
    )  # fmt: skip
    wide = _before(
        node, "Cast", [summed], ir.DataType.FLOAT, f"{name}/wide",
        {"to": ir.AttrInt64("to", int(ir.DataType.FLOAT))},
    )  # fmt: skip
    scale = _constant(model, f"{name}/factor", factor.reshape(maps, *spatial))
    scaled = _before(node, "Mul", [wide, scale], ir.DataType.FLOAT, f"{name}/scaled", {})
    added = _constant(model, f"{name}/bias", np.broadcast_to(bias, (maps,)).reshape(maps, *spatial))
    become(node, "Add", [scaled, added], {}, domain="")
    sources = (data.node, weights.node, added_by)
    edit.remove(one for one in sources if one is not None and edit.is_dead(one))
    return True


def weights_shape(weights: DequantisedOperand) -> tuple[int, ...]:
    """Return the sizes of constant weights: maps, channels of a group, and the window's."""
    tensor = constant_tensor(weights.source)
    assert tensor is not None
    return tuple(int(size) for size in tensor.shape.numpy())


def _fits(node: ir.Node, data: DequantisedOperand, weights: DequantisedOperand) -> bool:
    """Return whether there is one scale and zero point of data, and weights are symmetric."""
    tensor = constant_tensor(weights.source)
    if tensor is None or len(tensor.shape) < 3 or data.step.size != 1 or data.zeros.size != 1:
        return False
    maps, channels = weights_shape(weights)[:2]
    centre = _TO_SIGNED if tensor.dtype == ir.DataType.UINT8 else 0
    by_maps = weights.node.attributes.get_int("axis", 1) == 0 and weights.step.shape == (maps,)
    symmetric = bool((weights.zeros == centre).all())
    single = node.attributes.get_int("group", 1) == 1 and channels >= _LEAST
    by_fours = channels % _WORD == 0 or (single and data.source.shape is not None)
    return by_fours and symmetric and (weights.step.size == 1 or by_maps)


def _by_words(
    node: ir.Node, data: DequantisedOperand, weights: DequantisedOperand, model: ir.Model
) -> tuple[ir.Value, ir.Value]:
    """Return image and weights with channels in fours: those that are added give nothing."""
    shape, tensor = weights_shape(weights), constant_tensor(weights.source)
    missing = -shape[1] % _WORD
    if not missing or tensor is None or data.source.shape is None or data.source.dtype is None:
        return data.source, weights.source
    name, rank = node.name or node.outputs[0].name or "", len(shape)
    ends = np.zeros(2 * rank, np.int64)
    ends[rank + 1] = missing
    pads = edit.add_initializer(model.graph, f"{name}/words", ends)
    inputs = [data.source, pads, data.zero]
    image = _before(node, "Pad", inputs, data.source.dtype, f"{name}/by words", {})
    sizes = list(data.source.shape)
    image.shape = ir.Shape([sizes[0], shape[1] + missing, *sizes[2:]])
    stored = tensor.numpy()
    filled = np.full((shape[0], missing, *shape[2:]), weights.zeros.flat[0], stored.dtype)
    whole = np.ascontiguousarray(np.concatenate([stored, filled], axis=1))
    return image, edit.add_initializer(model.graph, f"{name}/weights", whole)


def _bias(node: ir.Node) -> Array | None:
    """Return what a convolution adds to each map, zeros for nothing; None: it is no constant."""
    value = node.inputs[2] if len(node.inputs) > 2 else None
    if value is None:
        return np.zeros(1, np.float32)
    plain = constant_tensor(value)
    if plain is not None:
        return plain.numpy()
    producer = value.producer()
    known = None
    if producer is not None and producer.op_type == "DequantizeLinear":
        known = operand_of(producer) if producer.domain in STANDARD_DOMAINS else None
    stored = None if known is None else constant_tensor(known.source)
    if known is None or stored is None:
        return None
    found: Array = ((stored.numpy().astype(np.int32) - known.zeros) * known.step).astype(np.float32)
    return found


def _before(
    reader: ir.Node,
    op_type: str,
    inputs: list[ir.Value | None],
    dtype: ir.DataType,
    name: str,
    attributes: dict[str, ir.Attr],
) -> ir.Value:
    made = ir.Node("", op_type, inputs, list(attributes.values()), name=name)
    result = made.outputs[0]
    result.name, result.type, result.shape = name, ir.TensorType(dtype), reader.outputs[0].shape
    graph = reader.graph
    assert graph is not None
    graph.insert_before(reader, made)
    return result


def _constant(model: ir.Model, name: str, array: Array) -> ir.Value:
    return edit.add_initializer(model.graph, name, np.ascontiguousarray(array, np.float32))
