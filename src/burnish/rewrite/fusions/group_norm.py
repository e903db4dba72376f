"""Fuse group normalisation that is spelled with InstanceNormalization, where ONNX's own is wanted.

rewrite:
    n = InstanceNormalization(Reshape(x, [batch, groups, -1]), 1, 0)
    Reshape(n, shape of x) · scale + bias
    -->
    GroupNormalization(x, scale, bias, num_groups = groups)

ONNX Runtime has no kernel for GroupNormalization on a CPU and runs its definition instead, which
takes 1.6 to 2 times as long as InstanceNormalization, Mul and Add (1.31.1, x86-64, 2 threads,
(1, 64, 16, 16) and (1, 320, 32, 32)). So the rule fires for `--ops standard` only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.constants import sizes
from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.rewrite import algebra
from burnish.rewrite.algebra import Polynomial, expand, power, product
from burnish.rewrite.facts import Facts, static_sizes
from burnish.rewrite.fusions import normalized
from burnish.rewrite.fusions.normalized import Affine
from burnish.rewrite.matched import in_order, other_reader
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

FIRST_OPSET = 21


@dataclass(frozen=True, slots=True)
class _GroupNormSite:
    """A normalisation in groups, before scale and bias."""

    x: ir.Value
    groups: int
    channels: int
    norm: ir.Node
    restored: ir.Value
    """The normalised value in the shape of x."""
    nodes: tuple[ir.Node, ...]


def _find(norm: ir.Node, facts: Facts) -> Match | Refusal | None:
    split = None if norm.inputs[0] is None else norm.inputs[0].producer()
    if not is_standard(norm, "InstanceNormalization") or split is None:
        return None
    if not is_standard(split, "Reshape") or split.inputs[0] is None:
        return None
    readers = [use.node for use in norm.outputs[0].uses()]
    if len(readers) != 1 or not is_standard(readers[0], "Reshape"):
        return None
    site = _site(norm, split, readers[0], facts)
    if not isinstance(site, _GroupNormSite):
        return site
    return _operator_refusal(site, facts) or _with_parameters(site, facts)


def _site(
    norm: ir.Node, split: ir.Node, join: ir.Node, facts: Facts
) -> _GroupNormSite | Refusal | None:
    x, grouped, restored = split.inputs[0], split.outputs[0], join.outputs[0]
    shapes = shapes_of(facts)
    whole, parts = shapes.of(x), shapes.of(grouped)
    if x is None or whole is None or parts is None or len(whole) < 3 or len(parts) < 3:
        return None
    channels, groups = whole[1], parts[1]
    if not isinstance(channels, int) or not isinstance(groups, int) or channels % groups:
        return Refusal(
            f"InstanceNormalization {norm.name!r} has groups of {sizes(grouped)} from {sizes(x)},"
            " expected known numbers of channels and of groups that divide them",
            "declare the number of channels of the graph's inputs",
        )
    if whole[0] != parts[0] or shapes.of(restored) != whole:
        return Refusal(
            f"around InstanceNormalization {norm.name!r} shapes are {sizes(x)}, {sizes(grouped)},"
            f" {sizes(restored)}, expected the same batch throughout and the first shape again",
            "declare the sizes of the graph's inputs by names or numbers",
        )
    if facts.scalar(norm.inputs[1]) != 1 or facts.scalar(norm.inputs[2]) != 0:
        return Refusal(
            f"InstanceNormalization {norm.name!r} scales or shifts its groups,"
            " expected a scale of 1 and a bias of 0 for each",
            "apply scale and bias per channel in the source",
        )
    return _GroupNormSite(x, groups, channels, norm, restored, (split, norm, join))


def _operator_refusal(site: _GroupNormSite, facts: Facts) -> Refusal | None:
    if facts.options.ops != "standard":
        return Refusal(
            f"GroupNormalization for {site.norm.name!r} has no kernel and runs as its definition,"
            " slower than InstanceNormalization as it is",
            "fuse in spite of that: --ops standard",
        )
    obstacle = facts.opset_obstacle(FIRST_OPSET)
    if obstacle is None:
        return None
    return Refusal(
        f"GroupNormalization for {site.norm.name!r} needs opset {FIRST_OPSET}: {obstacle}",
        f"export the model with opset {FIRST_OPSET} or later",
    )


def _with_parameters(site: _GroupNormSite, facts: Facts) -> Match | Refusal:
    """Return the largest value that is the normalised one times a scale plus a bias."""
    best = _match(site, site.restored, Affine(None, 1.0, None, 0.0), site.nodes)

    def go_on(value: ir.Value) -> bool:
        return len(expand(value, [site.restored], facts).polynomial) == 1

    for value in algebra.results(site.restored, go_on, most=6):
        found = expand(value, [site.restored], facts)
        affine = _affine(found.polynomial, site.restored)
        nodes = in_order(site.nodes, found.nodes)
        if affine is None or not _fits(affine, site, facts):
            continue
        if value.dtype == site.x.dtype and other_reader(nodes, value, site.norm) is None:
            best = _match(site, value, affine, nodes)
    return best


def _affine(found: Polynomial, restored: ir.Value) -> Affine | None:
    """Return scale and bias if a polynomial is restored·scale + bias."""
    scaled = [term for term in found if (restored, 1.0) in term]
    if len(scaled) != 1:
        return None
    scale = product(scaled[0], power(restored, -1.0))
    rest = {term: number for term, number in found.items() if term != scaled[0]}
    return normalized.affine(scale, found[scaled[0]], rest)


def _fits(affine: Affine, site: _GroupNormSite, facts: Facts) -> bool:
    axes = len(sizes(site.x) or ())
    return all(
        value is None
        or (
            value.dtype == site.x.dtype
            and normalized.per_channel(value, site.channels, axes, facts) is not None
        )
        for value in (affine.scale, affine.bias)
    )


def _match(
    site: _GroupNormSite, output: ir.Value, affine: Affine, nodes: tuple[ir.Node, ...]
) -> Match:
    values = {"x": site.x, "scale": affine.scale, "bias": affine.bias}
    attributes = {
        "epsilon": site.norm.attributes.get_float("epsilon", 1e-5), "num_groups": site.groups,
        "factor": affine.factor, "offset": affine.offset,
    }  # fmt: skip
    return Match(nodes, output, values, attributes)


def _replace(match: Match, builder: Builder) -> ir.Value:
    builder.require_opset(FIRST_OPSET)
    x = match.values["x"]
    channels = (sizes(x) or ())[1] if x is not None else None
    parameters = [
        _parameter(match, builder, role, number, channels)
        for role, number in (("scale", "factor"), ("bias", "offset"))
    ]
    attributes = {name: match.attributes[name] for name in ("epsilon", "num_groups")}
    return builder.node(
        "GroupNormalization", [x, *parameters], like=match.output, attributes=attributes
    )


def _parameter(
    match: Match, builder: Builder, role: str, number: str, channels: int | str | None
) -> ir.Value:
    value, dtype = match.values[role], match.output.dtype
    if dtype is None or not isinstance(channels, int):
        raise ValueError(f"type or channels of {match.output.name} are not known")
    if value is not None and static_sizes(value) == (channels,):
        return value
    array = None if value is None else builder.facts.array(value)
    if array is not None:
        return builder.constant(role, array.reshape(-1))
    return builder.constant(role, np.full(channels, match.attributes[number], dtype.numpy()))


RULES = (
    Rule(
        "group-norm",
        "InstanceNormalization of groups of channels, · scale + bias --> GroupNormalization",
        anchors=frozenset({"InstanceNormalization"}),
        find=_find,
        replace=_replace,
    ),
)
