"""The kinds of numbers that a model can be asked to compute in: one spelling, many understood."""

from __future__ import annotations

from collections.abc import Mapping

ELEMENT_TYPES: Mapping[str, str] = {
    "fp64": "f64", "fp32": "f32", "fp16": "f16", "bf16": "bf16",
    "int8": "i8", "int4": "i4",
}  # fmt: skip
"""What people are shown, and what tensors of it are called."""

_ALSO_WRITTEN: Mapping[str, str] = {
    "float64": "fp64", "double": "fp64", "float32": "fp32", "float": "fp32", "single": "fp32",
    "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "brain": "bf16",
    "qint8": "int8", "w8a8": "int8", "qint4": "int4", "w4a16": "int4",
}  # fmt: skip
MODES = ("tf32",)
"""How some engines compute in fp32 if they are asked: no tensor is of such a type."""
_SHOWN = {element: shown for shown, element in ELEMENT_TYPES.items()}


def precision_named(text: str) -> str:
    """Return the one name of a precision: `f16`, `float16` and `half` are fp16.

    What is none comes back in lower case, for whoever asked to refuse it.
    """
    name = text.strip().lower()
    return _ALSO_WRITTEN.get(name, _SHOWN.get(name, name))


def shown_as(element: str) -> str:
    """Return what people are shown for tensors of a type: f16 is fp16."""
    return _SHOWN.get(element, element)


def element_type(text: str) -> str:
    """Return what tensors of a precision are called, however it is written: `fp16` is f16."""
    name = precision_named(text)
    return ELEMENT_TYPES.get(name, name)
