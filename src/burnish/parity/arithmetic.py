"""What a model's graph says about how exactly its numbers can agree."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from burnish.parity.tolerances import ARITHMETIC, DYNAMIC_INT8, weaker
from burnish.store.element_types import SHORT_NAMES

_QUANTISING = frozenset({"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"})
_DYNAMIC_INT8 = frozenset({"MatMulInteger", "ConvInteger", "DynamicQuantizeLinear"})
_MOVES_ONLY = frozenset(
    {
        "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather",
        "Split", "Pad", "Expand", "Tile", "MaxPool",
    }
)  # fmt: skip

_NARROW = ("f16", "bf16")
"""Types that models really compute in; narrower ones only store weights."""


def arithmetic_of(model: ir.Model) -> str:
    """Return the weakest type that the arithmetic of a model is written in; f32 if none is weaker.

    A model with f32 inputs and outputs may compute in f16 between two casts.
    """
    found = "f32"
    for data_type in _types(model.graph):
        name = SHORT_NAMES.get(data_type, "")
        if name in _NARROW:
            found = weaker(found, name)
    if any(node.op_type in _DYNAMIC_INT8 for node in model.graph):
        found = weaker(found, DYNAMIC_INT8)
    return found


def weakest(*types: str) -> str:
    """Return the weakest of the types of arithmetic among `types`; f32 if none is weaker."""
    found = "f32"
    for name in types:
        if name in ARITHMETIC:
            found = weaker(found, name)
    return found


def quantised_values(model: ir.Model) -> frozenset[str]:
    """Return the values, outputs among them, that hold rounded real numbers as integers."""
    found: set[str] = set()
    for node in model.graph:
        name = node.outputs[0].name if node.outputs else None
        source = node.inputs[0].name if node.inputs and node.inputs[0] is not None else None
        moved = node.op_type in _MOVES_ONLY and source in found
        if name and (node.op_type in _QUANTISING or moved):
            found.update(value.name for value in node.outputs[: None if moved else 1] if value.name)
    return frozenset(found)


def _types(graph: ir.Graph) -> Iterator[ir.DataType]:
    for value in (*graph.inputs, *graph.outputs, *graph.initializers.values()):
        if value.dtype is not None:
            yield value.dtype
    for node in graph:
        if node.op_type == "Cast" and "to" in node.attributes:
            yield ir.DataType(node.attributes["to"].as_int())
