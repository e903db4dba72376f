"""Our short names of element types, and what NumPy, ONNX and ONNX Runtime call them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import ml_dtypes
import numpy as np

from burnish.core.arrays import Array

NUMPY: Mapping[str, np.dtype] = MappingProxyType(
    {
        "f64": np.dtype(np.float64), "f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
        "bf16": np.dtype(ml_dtypes.bfloat16),
        "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
        "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
        "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
        "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
        "f8e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
        "f4e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
        "i64": np.dtype(np.int64), "i32": np.dtype(np.int32), "i16": np.dtype(np.int16),
        "i8": np.dtype(np.int8), "i4": np.dtype(ml_dtypes.int4), "i2": np.dtype(ml_dtypes.int2),
        "u64": np.dtype(np.uint64), "u32": np.dtype(np.uint32), "u16": np.dtype(np.uint16),
        "u8": np.dtype(np.uint8), "u4": np.dtype(ml_dtypes.uint4), "u2": np.dtype(ml_dtypes.uint2),
        "bool": np.dtype(np.bool_), "c64": np.dtype(np.complex64), "c128": np.dtype(np.complex128),
    }
)  # fmt: skip
"""The array type by short name; text (`str`) has several and is not here."""

ONNX: Mapping[str, int] = MappingProxyType(
    {
        "f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "str": 8, "bool": 9,
        "f16": 10, "f64": 11, "u32": 12, "u64": 13, "c64": 14, "c128": 15, "bf16": 16,
        "f8e4m3fn": 17, "f8e4m3fnuz": 18, "f8e5m2": 19, "f8e5m2fnuz": 20, "u4": 21, "i4": 22,
        "f4e2m1": 23, "f8e8m0": 24, "u2": 25, "i2": 26,
    }
)  # fmt: skip
"""The number of `TensorProto.DataType`, by short name."""

ONNXRUNTIME: Mapping[str, str] = MappingProxyType(
    {
        "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "string": "str",
        "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "int4": "i4", "int2": "i2",
        "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "uint4": "u4",
        "uint2": "u2", "bool": "bool", "complex64": "c64", "complex128": "c128",
        "float8e4m3fn": "f8e4m3fn", "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2",
        "float8e5m2fnuz": "f8e5m2fnuz", "float8e8m0": "f8e8m0", "float4e2m1": "f4e2m1",
    }
)  # fmt: skip
"""The short name, by what stands in ONNX Runtime's `tensor(…)`."""

PACKED = frozenset({"i4", "u4", "f4e2m1", "i2", "u2"})
"""Several elements share a byte in ONNX, while NumPy spends one byte on each."""

_SHORT = {dtype: name for name, dtype in NUMPY.items()}


def name_of(array: Array) -> str:
    """Return the short name of an array's element type; text of any kind is `str`."""
    if array.dtype.kind in "OUST":
        return "str"
    return _SHORT.get(array.dtype, str(array.dtype))


def is_native(dtype: str) -> bool:
    """Return whether NumPy itself has this type, without `ml_dtypes`."""
    return dtype == "str" or NUMPY[dtype].isbuiltin == 1
