"""What a tensor is: its name, element type and shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Dim = int | str
"""A size, or the name of one that is only known when the model is fed."""

BITS: Mapping[str, int] = {
    "f64": 64, "f32": 32, "f16": 16, "bf16": 16, "f8e4m3fn": 8, "f8e4m3fnuz": 8, "f8e5m2": 8,
    "f8e5m2fnuz": 8, "f8e8m0": 8, "f4e2m1": 4, "i64": 64, "i32": 32, "i16": 16, "i8": 8,
    "i4": 4, "i2": 2, "u64": 64, "u32": 32, "u16": 16, "u8": 8, "u4": 4, "u2": 2,
    "bool": 8, "c64": 64, "c128": 128,
}  # fmt: skip
"""Bits per element, by our short name; `str` (text) has no fixed size and is not here."""

_FROM_ONE = (
    "f32", "u8", "i8", "u16", "i16", "i32", "i64", "str", "bool", "f16", "f64", "u32", "u64", "c64",
    "c128", "bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4", "i4", "f4e2m1",
    "f8e8m0", "u2", "i2",
)  # fmt: skip
ONNX_NUMBERS: Mapping[int, str] = dict(enumerate(_FROM_ONE, start=1))
"""Our short names, by the numbers that files and attributes (`to`, `dtype`) hold."""

FLOATS = frozenset(name for name in BITS if name[0] in "fb" and name != "bool")


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor's name, element type and shape; a `str` in the shape is a symbolic size."""

    name: str
    dtype: str
    shape: tuple[Dim, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return the symbolic sizes, in order, each once."""
        return tuple(dict.fromkeys(dim for dim in self.shape if isinstance(dim, str)))

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"
