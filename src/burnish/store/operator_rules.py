"""What ONNX says of an operator's inputs, outputs and attributes, ready to be compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import onnx
import onnx_ir as ir

_OF_ONNX = ("", "ai.onnx")
LARGEST_OPSET = 2**31 - 1
"""ONNX's own library takes no larger number."""


@dataclass(frozen=True, slots=True)
class OperatorRules:
    """How many inputs and outputs an operator has, and which attributes, of which types."""

    fewest_inputs: int
    most_inputs: int
    fewest_outputs: int
    most_outputs: int
    must_be_given: frozenset[int]
    """Places of inputs that cannot be left out."""
    attribute_types: Mapping[str, ir.AttributeType]
    required_attributes: frozenset[str]


def opset_of(domain: str, imports: Mapping[str, int]) -> int | None:
    """Return the opset that a domain's operators are of; None: the model does not say.

    The domain of ONNX has two names, and without either, runtimes take the newest they know.
    """
    if domain not in _OF_ONNX:
        return imports.get(domain)
    known = (imports[name] for name in _OF_ONNX if name in imports)
    return next(known, onnx.defs.onnx_opset_version())


def is_defined(op_type: str, opset: int, domain: str) -> bool:
    """Return whether ONNX has an operator; no operator is of an opset that cannot be."""
    return 1 <= opset <= LARGEST_OPSET and bool(onnx.defs.has(op_type, opset, domain))


@cache
def rules_of(domain: str, op_type: str, opset: int | None) -> OperatorRules | None:
    """Return the rules of an operator; None: ONNX has none of that name at that opset."""
    domain = "" if domain == "ai.onnx" else domain
    if opset is None or not is_defined(op_type, opset, domain):
        return None
    schema = onnx.defs.get_schema(op_type, opset, domain)
    if schema.deprecated:
        return None
    single = onnx.defs.OpSchema.FormalParameterOption.Single
    return OperatorRules(
        fewest_inputs=schema.min_input,
        most_inputs=schema.max_input,
        fewest_outputs=schema.min_output,
        most_outputs=schema.max_output,
        must_be_given=frozenset(
            place for place, formal in enumerate(schema.inputs) if formal.option == single
        ),
        attribute_types={
            name: ir.AttributeType(int(attribute.type))
            for name, attribute in schema.attributes.items()
        },
        required_attributes=frozenset(
            name for name, attribute in schema.attributes.items() if attribute.required
        ),
    )
