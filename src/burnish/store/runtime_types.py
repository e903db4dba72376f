"""What ONNX Runtime calls the element types of tensors; needs neither it nor onnx."""

from __future__ import annotations

from collections.abc import Mapping

SHORT_NAMES: Mapping[str, str] = {
    "float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "string": "str",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "bool": "bool",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8",
    "complex64": "c64", "complex128": "c128",
    "float8e4m3fn": "f8e4m3fn", "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2",
    "float8e5m2fnuz": "f8e5m2fnuz", "float8e8m0": "f8e8m0",
}  # fmt: skip
"""Our names of what stands in ONNX Runtime's `tensor(…)`.

Types of less than 8 bits are not here: ONNX Runtime packs several into a byte, NumPy does not.
"""


def short_name(text: str) -> str | None:
    """Return our name of the element type in `tensor(float)`; None: it is none that we know."""
    return SHORT_NAMES.get(text.removeprefix("tensor(").removesuffix(")"))
