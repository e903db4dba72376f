"""Fuse root-mean-square normalisation over the last axes, however it is spelled.

rewrite:
    s = ReduceMean(x²) + epsilon
    x / √s · scale
    -->
    SimplifiedLayerNormalization(x, scale)      or RMSNormalization(x, scale), if only ONNX's own
                                                operators are wanted

SimplifiedLayerNormalization is ONNX Runtime's, though it has no domain of its own.
RMSNormalization is ONNX's from opset 23 on.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.rewrite import algebra, emission
from burnish.rewrite.algebra import Polynomial, expand, power, product
from burnish.rewrite.facts import FLOATS, Facts, rank
from burnish.rewrite.fusions import normalized, refusals
from burnish.rewrite.fusions.normalized import Affine
from burnish.rewrite.matched import in_order
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

FIRST_STANDARD_OPSET = 23
STANDARD, RUNTIME = "RMSNormalization", "SimplifiedLayerNormalization"


@dataclass(frozen=True, slots=True)
class _RmsNormSite:
    """The parts of a normalisation, found one after the other."""

    x: ir.Value
    average: ir.Node
    shifted: ir.Value
    """mean(x²) + epsilon"""
    epsilon: float
    nodes: tuple[ir.Node, ...]
    """What computes `shifted` from x."""


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    square = node.inputs[0] if is_standard(node, "ReduceMean") else None
    if square is None or square.dtype not in FLOATS:
        return None
    squaring = normalized.squared(square, facts)
    if squaring is None or _is_centred(squaring.root, facts):
        return None
    shifted = normalized.with_epsilon(node, "mean square", facts)
    if isinstance(shifted, Refusal):
        return _without_epsilon(node, squaring, shifted, facts) if _is_rooted(node) else None
    return _at(node, squaring, shifted, facts)


def _at(
    node: ir.Node, squaring: normalized.Squared, shifted: normalized.Shifted, facts: Facts
) -> Match | Refusal | None:
    nodes = in_order(squaring.nodes, [node], shifted.nodes)
    site = _RmsNormSite(squaring.root, node, shifted.value, shifted.epsilon, nodes)
    return normalized.axes_refusal((node,), site.x, facts) or _normalised(site, facts)


def _without_epsilon(
    node: ir.Node, squaring: normalized.Squared, refusal: Refusal, facts: Facts
) -> Match | Refusal:
    """Return x / √mean(x²): exporters drop an epsilon that is close to nothing, 1e-8 for one.

    A row of zeros is no number then, in either form.
    """
    found = _at(node, squaring, normalized.Shifted(node.outputs[0], 0.0, ()), facts)
    return found if isinstance(found, Match) else refusal


def _is_centred(root: ir.Value, facts: Facts) -> bool:
    """Return whether a mean is taken off what is squared: that is layer normalisation."""
    mean = normalized.mean_within(root)
    return mean is not None and power(mean.outputs[0]) in expand(root, [], facts).polynomial


def _is_rooted(node: ir.Node) -> bool:
    """Return whether a root of an average is taken, so that it looks like a normalisation."""
    found = algebra.results(node.outputs[0], lambda _: True, most=8)
    makers = [value.producer() for value in found]
    return any(maker is not None and maker.op_type in ("Pow", "Sqrt") for maker in makers)


def _normalised(site: _RmsNormSite, facts: Facts) -> Match | Refusal | None:
    """Return the largest value that is a normalisation of x and lets the average go."""
    atoms = (site.x, site.shifted)
    matches: list[Match] = []
    refusals: list[Refusal] = []
    nearest = ""

    def go_on(value: ir.Value) -> bool:
        terms = expand(value, atoms, facts).polynomial
        others = {atom for term in terms for atom, _ in term} - set(atoms)
        return len(terms) <= 1 and len(others) <= 1

    for value in algebra.results(site.shifted, go_on):
        found = expand(value, atoms, facts)
        affine = _scale(found.polynomial, site)
        if affine is None:
            names = {site.x: "x", site.shifted: "s"}
            nearest = nearest or f"{value.name!r} = {algebra.text(found.polynomial, names)}"
            continue
        answer = _checked(site, value, affine, in_order(site.nodes, found.nodes), facts)
        (matches if isinstance(answer, Match) else refusals).append(answer)  # type: ignore[arg-type]
    if matches:
        return max(matches, key=lambda match: len(match.nodes))
    if refusals:
        return refusals[0]
    return Refusal(
        f"the mean square in {site.average.name!r} leads to {nearest or 'nothing'}"
        f" (s is {site.shifted.name!r}), expected x·s^-0.5",
        "none: this is not a root-mean-square normalisation",
    )


def _scale(found: Polynomial, site: _RmsNormSite) -> Affine | None:
    """Return the scale if a polynomial is x·s^-½·scale."""
    if len(found) != 1:
        return None
    ((term, factor),) = found.items()
    if (site.x, 1.0) not in term or (site.shifted, -0.5) not in term:
        return None
    scale = product(term, power(site.x, -1.0), power(site.shifted, 0.5))
    return normalized.affine(scale, factor, {})


def _checked(
    site: _RmsNormSite, output: ir.Value, affine: Affine, nodes: tuple[ir.Node, ...], facts: Facts
) -> Match | Refusal:
    name = site.average.name or ""
    x = normalized.source_of_type(site.x, output.dtype)
    if x is None:
        return normalized.type_refusal(name, site.x, output)
    axes = normalized.reduced_axes(site.average, rank(site.x) or 0, facts) or ()
    refusal = (
        _operator_refusal(name, output.dtype, facts)
        or normalized.precision_refusal(nodes, output)
        or normalized.affine_refusal(affine, site.x, len(axes), output, facts)
    )
    if refusal is not None:
        return refusal
    refusal = refusals.still_read(site.average, nodes, output)
    if refusal is not None:
        return refusal
    values = {"x": x, "scale": affine.scale, "bias": None}
    numbers = {"factor": affine.factor, "offset": 0.0}
    return Match(nodes, output, values, {"axis": -len(axes), "epsilon": site.epsilon, **numbers})


def _operator_refusal(name: str, dtype: ir.DataType | None, facts: Facts) -> Refusal | None:
    standard = facts.options.ops == "standard"
    obstacle = facts.opset_obstacle(FIRST_STANDARD_OPSET) if standard else None
    if obstacle is not None:
        return Refusal(
            f"{STANDARD} for {name!r} needs opset {FIRST_STANDARD_OPSET}: {obstacle}",
            f"export the model with opset {FIRST_STANDARD_OPSET} or later, or allow ONNX"
            " Runtime's own operators: --ops auto",
        )
    return emission.refusal(STANDARD if standard else RUNTIME, "", dtype, facts.options)


def _replace(match: Match, builder: Builder) -> ir.Value:
    op_type = STANDARD if builder.facts.options.ops == "standard" else RUNTIME
    if op_type == STANDARD:
        builder.require_opset(FIRST_STANDARD_OPSET)
    axis, x = int(match.attributes["axis"]), match.values["x"]
    scale, _ = normalized.parameters(match, builder, normalized.inner_shape(x, axis))
    attributes = {"axis": axis, "epsilon": float(match.attributes["epsilon"])}
    return builder.node(op_type, [x, scale], like=match.output, attributes=attributes)


RULES = (
    Rule(
        "rms-norm",
        "x / √(mean(x²) + epsilon) · scale --> SimplifiedLayerNormalization(x, scale)",
        anchors=frozenset({"ReduceMean"}),
        find=_find,
        replace=_replace,
    ),
)
