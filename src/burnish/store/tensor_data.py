"""Whether the data that a model holds for a tensor is what the tensor's type and shape need.

ONNX IR believes a tensor: it gives zeros for one without data, and fails where somebody asks for
the values of one with too few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto

from burnish.core.errors import ModelError
from burnish.store.element_types import SHORT_NAMES

HINT = "export the model again: its file contradicts itself"
MOST_DIMENSIONS = 64
"""What an array of NumPy can have."""
_LARGE_BYTES = 1 << 15
"""Protobuf copies data when its length is asked for; more than this is not looked at early."""
_BITS = {int(dtype): dtype.bitwidth for dtype in SHORT_NAMES if dtype is not ir.DataType.STRING}
_FIELDS: Mapping[int, str] = {
    TensorProto.FLOAT: "float_data", TensorProto.COMPLEX64: "float_data",
    TensorProto.DOUBLE: "double_data", TensorProto.COMPLEX128: "double_data",
    TensorProto.INT64: "int64_data", TensorProto.UINT64: "uint64_data",
    TensorProto.UINT32: "uint64_data", TensorProto.STRING: "string_data",
}  # fmt: skip
"""Where values lie that are not raw bytes; those of all other types lie in `int32_data`."""
_ALL_FIELDS = frozenset({*_FIELDS.values(), "int32_data"})


def is_large(tensor: ir.TensorProtocol) -> bool:
    """Return whether a tensor's own data is more than can be looked at early."""
    return type(tensor) is ir.TensorProtoTensor and _needed_bytes(tensor.raw) >= _LARGE_BYTES


def flaw(tensor: ir.TensorProtocol) -> str | None:
    """Return what is wrong with a tensor: its type, its sizes, or how much data it has.

    Data beside the model is not looked at.
    """
    if type(tensor) is ir.TensorProtoTensor and _is_sound(tensor.raw):
        return None
    if type(tensor) is ir.TensorProtoTensor and tensor.raw.data_type not in _BITS:
        return f"has the element type {tensor.raw.data_type}, which nobody knows"
    if tensor.dtype not in SHORT_NAMES:
        return f"has the element type {tensor.dtype}"
    sizes = tensor.shape.numpy()
    if len(sizes) > MOST_DIMENSIONS:
        return f"has {len(sizes)} dimensions, and arrays have {MOST_DIMENSIONS} at most"
    if any(size < 0 for size in sizes):
        return f"has the shape {list(sizes)}"
    found, needed, unit = _amounts(tensor, math.prod(sizes))
    return None if found == needed else _mismatch(found, needed, unit, tensor)


def drop_strays(tensor: ir.TensorProtocol) -> None:
    """Clear data of other types than a tensor's own: runtimes ignore it, ONNX IR takes it."""
    if type(tensor) is not ir.TensorProtoTensor or tensor.raw.HasField("raw_data"):
        return
    own = _FIELDS.get(tensor.raw.data_type, "int32_data")
    for field in _ALL_FIELDS - {own}:
        if len(getattr(tensor.raw, field)):
            tensor.raw.ClearField(field)


class LateTensor(ir.TensorProtoTensor):
    """A large tensor of a model, whose data is compared with its shape when it is asked for."""

    __slots__ = ("_about",)

    def __init__(self, proto: onnx.TensorProto, about: str) -> None:
        super().__init__(proto)
        self._about = about

    def numpy(self) -> np.ndarray:
        """Return the values, or say that there are too few or too many."""
        self._require_whole()
        return super().numpy()

    def tobytes(self) -> bytes:
        """Return the data, or say that there is too little or too much."""
        self._require_whole()
        return super().tobytes()

    def _require_whole(self) -> None:
        found, needed = len(self.raw.raw_data), _needed_bytes(self.raw)
        if found != needed:
            raise ModelError(f"{self._about} {_mismatch(found, needed, 'byte', self)}", hint=HINT)


def _needed_bytes(proto: onnx.TensorProto) -> int:
    """Return how long raw data must be; -1: the tensor has none, or its type or shape is wrong."""
    bits = _BITS.get(proto.data_type)
    if bits is None or not proto.HasField("raw_data"):
        return -1
    sizes = tuple(proto.dims)
    if len(sizes) > MOST_DIMENSIONS or (sizes and min(sizes) < 0):
        return -1
    bytes_needed: int = -(-math.prod(sizes) * bits // 8)
    return bytes_needed


def _is_sound(proto: onnx.TensorProto) -> bool:
    """Return whether raw data is as long as it must be: for most tensors, that is all to ask."""
    needed = _needed_bytes(proto)
    return needed >= 0 and len(proto.raw_data) == needed


def _mismatch(found: int, needed: int, unit: str, tensor: ir.TensorProtocol) -> str:
    have = "no data" if not found else f"{found:,} {unit}{'s' * (found != 1)}"
    return f"has {have}, its type and shape {list(tensor.shape.numpy())} need {needed:,}"


def _amounts(tensor: ir.TensorProtocol, count: int) -> tuple[int, int, str]:
    """Return how much data a tensor has, how much `count` elements need, and what is counted."""
    if isinstance(tensor, ir.StringTensor):
        return len(tensor.string_data()), count, "text"
    if not isinstance(tensor, ir.TensorProtoTensor):
        return 0, 0, ""
    proto, dtype = tensor.raw, tensor.dtype
    packed = -(-count * dtype.bitwidth // 8)
    if proto.HasField("raw_data"):
        return len(proto.raw_data), packed, "byte"
    found = len(getattr(proto, _FIELDS.get(int(dtype), "int32_data")))
    if dtype in (ir.DataType.COMPLEX64, ir.DataType.COMPLEX128):
        return found, 2 * count, "value"
    return found, packed if dtype.bitwidth in (2, 4) else count, "value"
