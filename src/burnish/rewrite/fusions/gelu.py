"""Fuse GELU, exact and with tanh, however it is spelled.

rewrite:
    0.5·x·(1 + Erf(x / √2))
    -->
    Gelu(x)

    0.5·x·(1 + Tanh(√(2/π)·(x + 0.044715·x³)))
    -->
    Gelu(x, approximate = "tanh")

ONNX has Gelu from opset 20 on. Below that ONNX Runtime's own com.microsoft.Gelu and FastGelu
are written, which it has kernels for on CPU and CUDA; if only ONNX's operators are wanted, the
opset is raised.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.operators.record import STANDARD_DOMAINS
from burnish.rewrite import algebra
from burnish.rewrite.algebra import Polynomial, expand, power, product
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions import refusals
from burnish.rewrite.matched import in_order
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

FIRST_OPSET = 20
CONTRIB = "com.microsoft"

_ROOT_HALF = math.sqrt(0.5)
_TANH_LINEAR = math.sqrt(2 / math.pi)
_TANH_CUBIC = 0.044715 * _TANH_LINEAR
_CONSTANTS = "if GELU is meant, correct the constants in the source and export again"


def _argument(op_type: str, x: ir.Value) -> Polynomial:
    """Return what Erf or Tanh is applied to in the GELU of x."""
    if op_type == "Erf":
        return {power(x): _ROOT_HALF}
    return {power(x): _TANH_LINEAR, power(x, 3): _TANH_CUBIC}


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    argument = node.inputs[0]
    if node.domain not in STANDARD_DOMAINS or argument is None or argument.dtype not in FLOATS:
        return None
    relative = algebra.tolerance(argument)
    candidates = {
        x: expand(argument, [x], facts)
        for x in algebra.sources(argument)
        if facts.scalar(x) is None
    }
    refusal: Refusal | None = None
    for x, expansion in candidates.items():
        sign = _sign(expansion.polynomial, _argument(node.op_type, x), relative)
        if sign is None:
            continue
        answer = _around(node, _Half(x, sign, expansion.nodes), facts)
        if isinstance(answer, Match):
            return answer
        refusal = refusal or answer
    return refusal or _wrong_argument(
        node, {x: found.polynomial for x, found in candidates.items()}
    )


@dataclass(frozen=True, slots=True)
class _Half:
    """x, as found inside Erf or Tanh."""

    x: ir.Value
    sign: float
    """-1: the argument is that of -x; both functions are odd."""
    nodes: tuple[ir.Node, ...]


def _sign(found: Polynomial, expected: Polynomial, relative: float) -> float | None:
    """Return 1 if polynomials are equal, -1 if they are opposite, None otherwise."""
    for sign in (1.0, -1.0):
        signed = {term: sign * coefficient for term, coefficient in expected.items()}
        if algebra.equal(found, signed, relative):
            return sign
    return None


def _around(node: ir.Node, half: _Half, facts: Facts) -> Match | Refusal:
    """Look for 0.5·x + 0.5·x·f, with f the output of Erf or Tanh, or a multiple of it.

    Some optimisers multiply the weights behind a GELU by its 0.5.
    """
    x, curve = half.x, node.outputs[0]
    expected = {power(x): 0.5, product(power(x), power(curve)): 0.5 * half.sign}
    names = {x: "x", curve: node.op_type.lower()}
    nearest: tuple[ir.Value, Polynomial] | None = None
    multiple: Match | Refusal | None = None

    def only_x_and_curve(value: ir.Value) -> bool:
        terms = expand(value, [x, curve], facts).polynomial
        return all(atom in names for term in terms for atom, _ in term)

    for value in algebra.results(curve, only_x_and_curve):
        found = expand(value, [x, curve], facts)
        nearest = (value, found.polynomial)
        if value.dtype != x.dtype:
            continue
        factor = 2 * found.polynomial.get(power(x), 0.0)
        scaled = {term: factor * coefficient for term, coefficient in expected.items()}
        if factor and algebra.equal(found.polynomial, scaled, algebra.tolerance(x)):
            one = algebra.close(factor, 1.0, algebra.tolerance(x))
            nodes = in_order(half.nodes, [node], found.nodes)
            answer = _checked(node, x, value, nodes, 1.0 if one else factor)
            multiple = _opset_refusal(node, facts) or answer
            if one:
                return multiple
    if multiple is not None:
        return multiple
    reading = "" if nearest is None else algebra.text(nearest[1], names)
    at = "nothing that could be GELU" if nearest is None else f"{nearest[0].name!r} = {reading}"
    return Refusal(
        f"{node.op_type} {node.name!r} leads to {at}, expected {algebra.text(expected, names)}",
        _CONSTANTS,
    )


def _opset_refusal(node: ir.Node, facts: Facts) -> Refusal | None:
    """Return why ONNX's own Gelu, if nothing else is wanted, cannot be written; None: it can."""
    if facts.options.ops != "standard":
        return None
    obstacle = facts.opset_obstacle(FIRST_OPSET)
    if obstacle is None:
        return None
    return Refusal(
        f"Gelu for {node.op_type} {node.name!r} needs opset {FIRST_OPSET}: {obstacle}",
        f"export the model with opset {FIRST_OPSET} or later, or allow ONNX Runtime's own"
        " operators: --ops auto",
    )


def _checked(
    node: ir.Node, x: ir.Value, output: ir.Value, nodes: tuple[ir.Node, ...], factor: float
) -> Match | Refusal:
    refusal = refusals.still_read(node, nodes, output) or refusals.narrower_than(x, nodes)
    if refusal is not None:
        return refusal
    approximate = "none" if node.op_type == "Erf" else "tanh"
    return Match(nodes, output, {"x": x}, {"approximate": approximate, "factor": factor})


def _wrong_argument(node: ir.Node, candidates: Mapping[ir.Value, Polynomial]) -> Refusal | None:
    """Explain an argument that is not GELU's; None: this Tanh is just a Tanh."""
    wanted = {1.0} if node.op_type == "Erf" else {1.0, 3.0}
    expected = algebra.text(_argument(node.op_type, node.outputs[0]), {node.outputs[0]: "x"})
    for x, found in reversed(list(candidates.items())):
        powers = {exponent for term in found for _, exponent in term}
        if len(found) == len(wanted) and powers == wanted and _only(found, x):
            reading = algebra.text(found, {x: "x"})
            return Refusal(
                f"{node.op_type} {node.name!r} is applied to {reading} (x is {x.name!r}),"
                f" expected {expected}",
                _CONSTANTS,
            )
    return None


def _only(polynomial: Polynomial, x: ir.Value) -> bool:
    return all(len(term) == 1 and next(iter(term))[0] is x for term in polynomial)


def _replace(match: Match, builder: Builder) -> ir.Value:
    curve, factor = _curve(match, builder), float(match.attributes["factor"])
    dtype = match.output.dtype
    if factor == 1 or dtype is None:
        return curve
    times = builder.constant("factor", np.array(factor, dtype.numpy()))
    return builder.node("Mul", [curve, times], like=match.output)


def _curve(match: Match, builder: Builder) -> ir.Value:
    x, approximate = match.values["x"], match.attributes["approximate"]
    wanted = builder.facts.options.ops
    if wanted == "standard":
        builder.require_opset(FIRST_OPSET)
    if builder.opset >= FIRST_OPSET and wanted != "contrib":
        attributes = {} if approximate == "none" else {"approximate": approximate}
        return builder.node("Gelu", [x], like=match.output, attributes=attributes)
    op_type = "Gelu" if approximate == "none" else "FastGelu"
    return builder.node(op_type, [x], like=match.output, domain=CONTRIB)


RULES = (
    Rule(
        "gelu",
        "0.5·x·(1 + Erf(x / √2)), or with Tanh --> Gelu(x)",
        anchors=frozenset({"Erf", "Tanh"}),
        find=_find,
        replace=_replace,
    ),
)
