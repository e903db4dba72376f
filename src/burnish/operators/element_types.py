"""What ONNX's numbers of element types mean, in our short names; needs no framework."""

from __future__ import annotations

from collections.abc import Mapping

_FROM_ONE = (
    "f32", "u8", "i8", "u16", "i16", "i32", "i64", "str", "bool", "f16", "f64", "u32", "u64", "c64",
    "c128", "bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4", "i4", "f4e2m1",
    "f8e8m0", "u2", "i2",
)  # fmt: skip
SHORT_NAMES: Mapping[int, str] = dict(enumerate(_FROM_ONE, start=1))
"""By the number that the attributes `to`, `dtype` and `output_dtype` hold."""
