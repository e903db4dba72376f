"""What a model's graph says about how exactly its numbers can agree."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from burnish.parity.tolerances import ARITHMETIC, weaker
from burnish.store.element_types import SHORT_NAMES

_QUANTISING = frozenset({"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"})
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
    return found


def weakest(*types: str) -> str:
    """Return the weakest of the types of arithmetic among `types`; f32 if none is weaker."""
    found = "f32"
    for name in types:
        if name in ARITHMETIC:
            found = weaker(found, name)
    return found


def quantised_outputs(model: ir.Model) -> frozenset[str]:
    """Return the outputs that hold rounded real numbers as integers."""
    return frozenset(
        value.name for value in model.graph.outputs if value.name and _is_quantised(value)
    )


def _types(graph: ir.Graph) -> Iterator[ir.DataType]:
    for value in (*graph.inputs, *graph.outputs, *graph.initializers.values()):
        if value.dtype is not None:
            yield value.dtype
    for node in graph:
        if node.op_type == "Cast" and "to" in node.attributes:
            yield ir.DataType(node.attributes["to"].as_int())


def _is_quantised(value: ir.Value | None) -> bool:
    while value is not None:
        node = value.producer()
        if node is None:
            return False
        if node.op_type in _QUANTISING:
            return value is node.outputs[0]
        if node.op_type not in _MOVES_ONLY:
            return False
        value = node.inputs[0]
    return False
