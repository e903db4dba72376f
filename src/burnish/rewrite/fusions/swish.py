"""Fuse x·Sigmoid(α·x), however it is spelled: SiLU for α = 1, the quick GELU for α = 1.702.

rewrite:
    x · Sigmoid(α·x)
    -->
    QuickGelu(x, alpha = α)

A further factor, as in SwiGLU's u·x·Sigmoid(x), is multiplied afterwards, in whatever order the
three were multiplied before.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.rewrite import algebra, emission
from burnish.rewrite.algebra import Monomial, Polynomial, expand, power, product
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions import refusals
from burnish.rewrite.matched import in_order
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


@dataclass(frozen=True, slots=True)
class _SigmoidArgument:
    """x, as found inside Sigmoid."""

    x: ir.Value
    alpha: float
    nodes: tuple[ir.Node, ...]


@dataclass(frozen=True, slots=True)
class _Product:
    """A value that is x·Sigmoid(α·x), times one more value at most."""

    value: ir.Value
    argument: _SigmoidArgument
    factor: ir.Value | None
    nodes: tuple[ir.Node, ...]


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    inner, curve = node.inputs[0], node.outputs[0]
    if not is_standard(node, "Sigmoid") or inner is None or inner.dtype not in FLOATS:
        return None
    arguments = list(_arguments(inner, facts))
    products = list(_products(curve, arguments, facts))
    if not products:
        return _explained(node, inner, facts)
    best = min(products, key=lambda found: (found.factor is not None, len(found.nodes)))
    return _checked(node, best, facts)


def _arguments(inner: ir.Value, facts: Facts) -> list[_SigmoidArgument]:
    """Return every x of which the argument is a positive multiple."""
    found = []
    for x in algebra.sources(inner):
        if facts.scalar(x) is not None:
            continue
        expansion = expand(inner, [x], facts)
        alpha = expansion.polynomial.get(power(x), 0.0)
        if len(expansion.polynomial) == 1 and alpha > 0:
            found.append(_SigmoidArgument(x, alpha, expansion.nodes))
    return found


def _products(curve: ir.Value, arguments: list[_SigmoidArgument], facts: Facts) -> list[_Product]:
    xs = [argument.x for argument in arguments]
    atoms = [*xs, curve]
    found = []

    def go_on(value: ir.Value) -> bool:
        terms = expand(value, atoms, facts).polynomial
        return len(terms) == 1 and all(len(term) <= 2 for term in terms)

    for value in algebra.results(curve, go_on, most=12):
        expansion = expand(value, atoms, facts)
        for argument in arguments:
            rest = _rest(expansion.polynomial, product(power(argument.x), power(curve)))
            if rest is not None and len(rest) <= 1 and value.dtype == argument.x.dtype:
                factor = next((atom for atom, _ in rest), None)
                found.append(_Product(value, argument, factor, expansion.nodes))
    return found


def _rest(found: Polynomial, wanted: Monomial) -> Monomial | None:
    """Return what a single product has besides the wanted factors; None: it lacks some."""
    if len(found) != 1:
        return None
    ((term, coefficient),) = found.items()
    if not wanted <= term or not algebra.close(coefficient, 1.0, 1e-9):
        return None
    rest = term - wanted
    return rest if all(exponent == 1 for _, exponent in rest) else None


def _checked(node: ir.Node, found: _Product, facts: Facts) -> Match | Refusal:
    x = found.argument.x
    nodes = in_order(found.argument.nodes, [node], found.nodes)
    refusal = emission.refusal("QuickGelu", CONTRIB, x.dtype, facts.options)
    if refusal is not None:
        return refusal
    refusal = refusals.still_read(node, nodes, found.value) or refusals.narrower_than(x, nodes)
    if refusal is not None:
        return refusal
    values = {"x": x, "factor": found.factor}
    return Match(nodes, found.value, values, {"alpha": found.argument.alpha})


def _explained(node: ir.Node, inner: ir.Value, facts: Facts) -> Refusal | None:
    """Say why a Sigmoid that is multiplied by part of its argument is no swish.

    None: it is a gate, multiplied by something else.
    """
    curve = node.outputs[0]
    origins = {origin for origin in algebra.sources(inner) if facts.scalar(origin) is None}
    for value in algebra.results(curve, lambda _: False, most=4):
        terms = expand(value, [*origins, curve], facts).polynomial
        atoms = {atom for term in terms for atom, _ in term}
        x = next((origin for origin in origins if origin in atoms), None)
        if x is None or not any((curve, 1.0) in term for term in terms):
            continue
        names = {x: "x", curve: "sigmoid"}
        argument = algebra.text(expand(inner, [x], facts).polynomial, names)
        return Refusal(
            f"Sigmoid {node.name!r} is applied to {argument} and leads to {value.name!r} ="
            f" {algebra.text(terms, names)} (x is {x.name!r}), expected x·sigmoid(α·x) with α > 0",
            "if SiLU is meant, correct the formula in the source and export again",
        )
    return None


def _replace(match: Match, builder: Builder) -> ir.Value:
    attributes = {"alpha": float(match.attributes["alpha"])}
    x, factor = match.values["x"], match.values["factor"]
    like = match.output if factor is None or x is None else x
    curve = builder.node("QuickGelu", [x], like=like, domain=CONTRIB, attributes=attributes)
    if factor is None:
        return curve
    return builder.node("Mul", [curve, factor], like=match.output)


RULES = (
    Rule(
        "swish",
        "x · Sigmoid(α·x) --> QuickGelu(x, alpha = α)",
        anchors=frozenset({"Sigmoid"}),
        find=_find,
        replace=_replace,
    ),
)
