"""Fuse the logistic function where it is spelled with an exponential.

rewrite:
    n / (1 + Exp(-z))
    -->
    n · Sigmoid(z)          Sigmoid(z) alone if n is 1
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.rewrite import algebra
from burnish.rewrite.algebra import ONE, expand, power
from burnish.rewrite.edit import is_standard
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.region import in_order, other_reader
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    exponent, growth = node.inputs[0], node.outputs[0]
    if not is_standard(node, "Exp") or exponent is None or exponent.dtype not in FLOATS:
        return None
    for value in algebra.results(growth, lambda _: True, most=4):
        shifted = expand(value, [growth], facts)
        if not algebra.equal(shifted.polynomial, {ONE: 1.0, power(growth): 1.0}, 1e-9):
            continue
        for reader, index in value.uses():
            if _divides(reader, index):
                return _checked(node, reader, in_order([node], shifted.nodes, [reader]), facts)
    return None


def _divides(reader: ir.Node, index: int) -> bool:
    return is_standard(reader, "Reciprocal") or (is_standard(reader, "Div") and index == 1)


def _checked(
    node: ir.Node, division: ir.Node, nodes: tuple[ir.Node, ...], facts: Facts
) -> Match | Refusal:
    negated = _negated(node, facts)
    if negated is None:
        return Refusal(
            f"the exponent of Exp {node.name!r} is {_reading(node, facts)},"
            " expected one that is negated, -z, so that 1 / (1 + exp(-z)) is the logistic function",
            "write it as sigmoid(z) in the source",
        )
    z, minus = negated
    nodes = in_order(minus, nodes)
    output = division.outputs[0]
    reader = other_reader(nodes, output, node)
    if reader is not None:
        return Refusal(
            f"Exp {node.name!r} must stay: {reader}",
            "nothing to gain here, unless the other reader can go",
        )
    by_division = is_standard(division, "Div") and facts.scalar(division.inputs[0]) != 1
    numerator = division.inputs[0] if by_division else None
    return Match(nodes, output, {"z": z, "numerator": numerator})


def _negated(node: ir.Node, facts: Facts) -> tuple[ir.Value, tuple[ir.Node, ...]] | None:
    """Return z if the exponent is -z, with the node that negates it."""
    exponent = node.inputs[0]
    if exponent is None:
        return None
    for z in algebra.sources(exponent):
        found = expand(exponent, [z], facts)
        if z is not exponent and dict(found.polynomial) == {power(z): -1.0}:
            return z, found.nodes
    return None


def _reading(node: ir.Node, facts: Facts) -> str:
    exponent = node.inputs[0]
    return "" if exponent is None else algebra.text(expand(exponent, [], facts).polynomial, {})


def _replace(match: Match, builder: Builder) -> ir.Value:
    curve = builder.node("Sigmoid", [match.values["z"]], like=match.output)
    numerator = match.values["numerator"]
    if numerator is None:
        return curve
    return builder.node("Mul", [numerator, curve], like=match.output)


RULES = (
    Rule(
        "sigmoid",
        "n / (1 + Exp(-z)) --> n · Sigmoid(z)",
        anchors=frozenset({"Exp"}),
        find=_find,
        replace=_replace,
    ),
)
