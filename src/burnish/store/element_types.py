"""Our short names of element types, and what ONNX and NumPy call the same."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array

_BY_ONNX_NAME = {
    "FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "BFLOAT16": "bf16",
    "FLOAT8E4M3FN": "f8e4m3fn", "FLOAT8E4M3FNUZ": "f8e4m3fnuz", "FLOAT8E5M2": "f8e5m2",
    "FLOAT8E5M2FNUZ": "f8e5m2fnuz", "FLOAT8E8M0": "f8e8m0", "FLOAT4E2M1": "f4e2m1",
    "INT64": "i64", "INT32": "i32", "INT16": "i16", "INT8": "i8", "INT4": "i4", "INT2": "i2",
    "UINT64": "u64", "UINT32": "u32", "UINT16": "u16", "UINT8": "u8", "UINT4": "u4", "UINT2": "u2",
    "BOOL": "bool", "COMPLEX64": "c64", "COMPLEX128": "c128", "STRING": "str",
}  # fmt: skip

SHORT_NAMES: Mapping[ir.DataType, str] = {
    ir.DataType[onnx_name]: short
    for onnx_name, short in _BY_ONNX_NAME.items()
    if onnx_name in ir.DataType.__members__
}

DATA_TYPES: Mapping[str, ir.DataType] = {
    short: data_type for data_type, short in SHORT_NAMES.items()
}


def numpy_type(short: str) -> np.dtype[np.generic]:
    """Return the NumPy type of a short name; text is an array of Python objects."""
    return np.dtype(object) if short == "str" else np.dtype(DATA_TYPES[short].numpy())


def array_of(tensor: ir.TensorProtocol) -> Array:
    """Return the elements of a constant; text as engines give it, not as the bytes in a file."""
    array: Array = np.asarray(tensor.numpy())
    if tensor.dtype is not ir.DataType.STRING:
        return array
    texts = [t.decode(errors="replace") if isinstance(t, bytes) else t for t in array.flat]
    return np.array(texts, object).reshape(array.shape)
