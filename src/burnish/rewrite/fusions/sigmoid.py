"""Fuse the logistic function where it is spelled with an exponential.

rewrite:
    n / (1 + Exp(-a·z))
    -->
    n · Sigmoid(a·z)        Sigmoid alone if n is 1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.rewrite import algebra
from burnish.rewrite.algebra import ONE, expand, power
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.matched import in_order, other_reader
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
    nodes = in_order(negated.nodes, nodes)
    output = division.outputs[0]
    reader = other_reader(nodes, output, node)
    if reader is not None:
        return Refusal(
            f"Exp {node.name!r} must stay: {reader}",
            "nothing to gain here, unless the other reader can go",
        )
    by_division = is_standard(division, "Div") and facts.scalar(division.inputs[0]) != 1
    numerator = division.inputs[0] if by_division else None
    return Match(nodes, output, {"z": negated.z, "numerator": numerator}, {"slope": negated.slope})


@dataclass(frozen=True, slots=True)
class _Negated:
    """An exponent that is -slope·z."""

    z: ir.Value
    slope: float
    nodes: tuple[ir.Node, ...]


def _negated(node: ir.Node, facts: Facts) -> _Negated | None:
    """Return what an exponent is a negative multiple of; -z itself is the best."""
    exponent, found = node.inputs[0], []
    for z in () if exponent is None else algebra.sources(exponent):
        expansion = expand(exponent, [z], facts) if exponent is not None else None
        if expansion is None or z is exponent or facts.scalar(z) is not None:
            continue
        slope = -expansion.polynomial.get(power(z), 0.0)
        if len(expansion.polynomial) == 1 and slope > 0:
            found.append(_Negated(z, slope, expansion.nodes))
    return min(found, key=lambda negated: negated.slope != 1, default=None)


def _reading(node: ir.Node, facts: Facts) -> str:
    exponent = node.inputs[0]
    return "" if exponent is None else algebra.text(expand(exponent, [], facts).polynomial, {})


def _replace(match: Match, builder: Builder) -> ir.Value:
    z, slope = match.values["z"], float(match.attributes["slope"])
    if slope != 1 and z is not None and z.dtype is not None:
        number = builder.constant("slope", np.array(slope, z.dtype.numpy()))
        z = builder.node("Mul", [z, number], like=z)
    curve = builder.node("Sigmoid", [z], like=z or match.output)
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
