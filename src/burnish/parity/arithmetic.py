"""What a model's graph says about how exactly its numbers can agree, output by output."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import onnx_ir as ir

from burnish.closeness.tolerance import ARITHMETIC, DYNAMIC_INT8, weaker
from burnish.store.element_types import SHORT_NAMES

_QUANTISING = frozenset({"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"})
_DYNAMIC_INT8 = frozenset(
    {
        "MatMulInteger", "ConvInteger", "DynamicQuantizeLinear", "DynamicQuantizeMatMul",
        "MatMulIntegerToFloat", "QAttention",
    }
)  # fmt: skip
_MOVES_ONLY = frozenset(
    {
        "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather",
        "Split", "Pad", "Expand", "Tile", "MaxPool",
    }
)  # fmt: skip

_NARROW = ("f16", "bf16")
"""Types that models really compute in; narrower ones only store weights."""


def arithmetic_by_output(model: ir.Model) -> dict[str, str]:
    """Return for each output the weakest type that is computed in on the way to it.

    f32 if none is weaker, f64 if there is nothing else. A model with f32 inputs and outputs may
    compute in f16 between two casts; what leads to no output does not count.
    """
    return {
        value.name or "": weakest(_widest(value), *_types(value), *_integer_products(value))
        for value in model.graph.outputs
    }


def weakest(*types: str) -> str:
    """Return the weakest of the types of arithmetic among `types`; f32 if there is none."""
    known = [name for name in types if name in ARITHMETIC]
    return functools.reduce(weaker, known) if known else "f32"


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


def _types(output: ir.Value) -> Iterator[str]:
    """Yield the narrow types of all values that lead to an output."""
    for value in _before(output):
        name = "" if value.dtype is None else SHORT_NAMES.get(value.dtype, "")
        if name in _NARROW:
            yield name
        node = value.producer()
        if node is not None and node.op_type == "Cast" and "to" in node.attributes:
            to = SHORT_NAMES.get(ir.DataType(node.attributes["to"].as_int()), "")
            if to in _NARROW:
                yield to


def _widest(output: ir.Value) -> str:
    """Return f64 if all numbers that lead to an output begin as such, else f32.

    Numbers begin as inputs, as constants and as what a cast or an attribute makes of them; what
    lies between seldom says its type.
    """
    begun: set[ir.DataType] = set()
    for value in _before(output):
        node = value.producer()
        if node is None:
            begun |= {value.dtype} if value.dtype is not None else set()
        else:
            begun |= set(_named_types(node))
    numbers = {dtype for dtype in begun if dtype.is_floating_point()}
    return "f64" if numbers == {ir.DataType.DOUBLE} else "f32"


def _named_types(node: ir.Node) -> Iterator[ir.DataType]:
    """Yield the types that the attributes of a node name."""
    for attribute in node.attributes.values():
        if attribute.type is ir.AttributeType.TENSOR:
            yield attribute.as_tensor().dtype
        elif attribute.name in ("to", "dtype", "output_dtype") and not attribute.is_ref():
            yield ir.DataType(attribute.as_int())


def _integer_products(output: ir.Value) -> Iterator[str]:
    for value in _before(output):
        node = value.producer()
        if node is not None and node.op_type in _DYNAMIC_INT8:
            yield DYNAMIC_INT8


def _before(output: ir.Value) -> Iterator[ir.Value]:
    """Yield an output and every value that it is computed from."""
    waiting, seen = [output], {output}
    while waiting:
        value = waiting.pop()
        yield value
        node = value.producer()
        for source in () if node is None else node.inputs:
            if source is not None and source not in seen:
                seen.add(source)
                waiting.append(source)
