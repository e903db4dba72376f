"""What ONNX and ONNX Runtime say of an operator's inputs, outputs and attributes."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import onnx
import onnx_ir as ir

LARGEST_OPSET = 2**31 - 1
"""ONNX's own library takes no larger number."""
_OF_ONNX = ("", "ai.onnx")
_CONTRIB = "com.microsoft"


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
    """Return the rules of an operator; None: neither ONNX nor ONNX Runtime has any.

    Of ONNX Runtime's own operators, and of those of ONNX that it runs at opsets which did not
    have them yet, it is not said how many inputs and outputs they have at most.
    """
    domain = "" if domain == "ai.onnx" else domain
    if domain == _CONTRIB:
        return _contrib().get(op_type)
    if opset is not None and is_defined(op_type, opset, domain):
        schema = onnx.defs.get_schema(op_type, opset, domain)
        return None if schema.deprecated else _rules(schema)
    if domain == "":
        return _unbounded(op_type) or _contrib().get(op_type)
    return None


def _rules(schema: Any) -> OperatorRules:  # noqa: ANN401  (an OpSchema; onnx has no types)
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


def _unbounded(op_type: str) -> OperatorRules | None:
    """Return what the newest ONNX says of an operator that a model's opset does not have yet."""
    newest = onnx.defs.onnx_opset_version()
    if not onnx.defs.has(op_type, newest, ""):
        return None
    known = _rules(onnx.defs.get_schema(op_type, newest, ""))
    return OperatorRules(
        known.fewest_inputs, sys.maxsize, known.fewest_outputs, sys.maxsize,
        known.must_be_given, known.attribute_types, frozenset(),
    )  # fmt: skip


@cache
def _contrib() -> Mapping[str, OperatorRules]:
    text = (resources.files("burnish.store") / "contrib_operators.toml").read_text("utf-8")
    return {name: _of_table(table) for name, table in tomllib.loads(text).items()}


def _of_table(table: Mapping[str, Any]) -> OperatorRules:
    attributes: Mapping[str, str] = table["attributes"]
    return OperatorRules(
        fewest_inputs=table["inputs"],
        most_inputs=sys.maxsize,
        fewest_outputs=table["outputs"],
        most_outputs=sys.maxsize,
        must_be_given=frozenset(table["given"]),
        attribute_types={
            name: ir.AttributeType[kind.removesuffix("*")] for name, kind in attributes.items()
        },
        required_attributes=frozenset(k for k, kind in attributes.items() if kind.endswith("*")),
    )
