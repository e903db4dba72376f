"""Sort tokens so that those behind a mask come last, and give attentions lengths for the mask.

rewrite:
    encoder(x, mask)
    -->
    unsorted(encoder(sorted(x), lengths))

Between two reorderings all operators treat tokens alike: products with weights, norms, sums,
activations, and attentions in which every token looks at the same keys. Where the masked keys lie
then makes no difference, so they may lie at the end, on whichever side or wherever in between the
padding was. In a sample of padding alone, where the mask adds the same to all scores and cancels,
every key counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import Size, multiply
from burnish.rewrite import costs
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.fused import read
from burnish.rewrite.fusions.new_values import SizedBuilder, can_be_read
from burnish.rewrite.fusions.tokens.key_mask import KeyMask, key_mask
from burnish.rewrite.fusions.tokens.token_wise import TokenRegion, TokenRegions
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

_WHOLE = ir.DataType.INT32
"""Sums of it have a kernel of their own on GPUs; those of 64 bits are computed as f64."""


@dataclass(frozen=True, slots=True)
class TokenOrder:
    """Where tokens go; all tokens of a batch are counted in one go, sample after sample."""

    lengths: ir.Value
    """(batch,): how many tokens of each sample count."""
    sources: ir.Value
    """(batch, length): the token that comes here."""
    places: ir.Value
    """(batch, length): where this token has gone."""


def order_of(mask: KeyMask, tokens: Shape, make: SizedBuilder) -> TokenOrder:
    """Return the order for a mask; in a sample of which no token counts, all do."""
    flat = _by_sample(mask.condition, tokens, make)
    if not mask.keeps:
        flat = make.node("Not", [flat], tokens, dtype=ir.DataType.BOOL)
    each = (tokens[0], 1)
    some = make.over_axes("ReduceSum", _counted(flat, tokens, make), [1], each)
    zero = make.builder.constant("zero", np.array(0, np.int32))
    none = make.node("Equal", [some, zero], each, dtype=ir.DataType.BOOL)
    kept = make.node("Or", [flat, none], tokens, dtype=ir.DataType.BOOL)
    ones = _counted(kept, tokens, make)
    lengths = make.over_axes("ReduceSum", ones, [1], each)
    numbers, numbers_by_sample = _numbers(tokens, make)
    places = _places(kept, ones, lengths, numbers_by_sample, make)
    joined = make.node("Reshape", [places, make.numbers([-1])], (_total(tokens),), dtype=_WHOLE)
    sources = make.node(
        "ScatterElements", [numbers, joined, numbers], (_total(tokens),), dtype=_WHOLE
    )
    return TokenOrder(
        make.over_axes("Squeeze", lengths, [1], tokens[:1]),
        make.node("Reshape", [sources, make.shape(tokens)], tokens, dtype=_WHOLE),
        places,
    )


def _by_sample(condition: ir.Value, tokens: Shape, make: SizedBuilder) -> ir.Value:
    """Return a condition of shape (batch, 1, 1, length) without its ones: before it got them."""
    value: ir.Value | None = condition
    while value is not None:
        if make.shapes.of(value) == tokens:
            return value
        node = value.producer()
        reshapes = node is not None and is_standard(node, "Reshape", "Unsqueeze", "Squeeze")
        value = node.inputs[0] if node is not None and reshapes else None
    return make.over_axes("Squeeze", condition, [1, 2], tokens)


def _counted(condition: ir.Value, tokens: Shape, make: SizedBuilder) -> ir.Value:
    attributes = {"to": int(_WHOLE)}
    return make.node("Cast", [condition], tokens, dtype=_WHOLE, attributes=attributes)


def _total(tokens: Shape) -> Size:
    return multiply(tokens[0], tokens[1])


def _numbers(tokens: Shape, make: SizedBuilder) -> tuple[ir.Value, ir.Value]:
    """Return 0, 1, 2, … for all tokens of a batch, in a row and by sample."""
    total = _total(tokens)
    wide = ir.DataType.INT64
    end = make.node("Squeeze", [make.shape((total,))], (), dtype=wide)
    start, step = (
        make.builder.constant(role, np.array(n)) for role, n in (("start", 0), ("step", 1))
    )
    counted = make.node("Range", [start, end, step], (total,), dtype=wide)
    numbers = make.node("Cast", [counted], (total,), dtype=_WHOLE, attributes={"to": int(_WHOLE)})
    return numbers, make.node("Reshape", [numbers, make.shape(tokens)], tokens, dtype=_WHOLE)


def _places(
    kept: ir.Value, ones: ir.Value, lengths: ir.Value, numbers: ir.Value, make: SizedBuilder
) -> ir.Value:
    """Return where each token goes: behind those that count before it, or behind all that count.

    Of a token with number n in the batch, s of the first in its sample, before which c tokens
    count, this is s + c if it counts, and s + length + (n - s - c) if it does not.
    """
    tokens = make.shapes.of(kept) or ()
    axis = make.builder.constant("axis", np.array(1))
    before = make.node("CumSum", [ones, axis], tokens, dtype=_WHOLE, attributes={"exclusive": 1})
    bounds = [make.numbers([n]) for n in (0, 1, 1)]
    first = make.node("Slice", [numbers, *bounds], (tokens[0], 1), dtype=_WHOLE)
    front = make.node("Add", [first, before], tokens, dtype=_WHOLE)
    later = make.node("Sub", [numbers, before], tokens, dtype=_WHOLE)
    back = make.node("Add", [later, lengths], tokens, dtype=_WHOLE)
    return make.node("Where", [kept, front, back], tokens, dtype=_WHOLE)


def moved(value: ir.Value, sources: ir.Value, make: SizedBuilder) -> ir.Value:
    """Return the tokens that an order names."""
    shape = make.shapes.of(value) or ()
    rows = (multiply(shape[0], shape[1]), shape[2])
    joined = make.node("Reshape", [value, make.shape((-1, shape[2]))], rows, dtype=value.dtype)
    attributes = {"axis": 0}
    return make.node("Gather", [joined, sources], shape, dtype=value.dtype, attributes=attributes)


WITH_LENGTHS = "MultiHeadAttention with lengths"
"""As the tables of costs call it: against the same with a bias of the scores."""
_LENGTHS_INPUT = 4
_OPSET = 13
_LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True, slots=True)
class _LengthsSite(Match):
    """An encoder, and the mask of its attentions."""

    region: TokenRegion | None = None
    mask: KeyMask | None = None
    tokens: Shape = ()


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    attention = read(node)
    if (
        attention is None
        or node.domain != CONTRIB
        or not attention.is_plain
        or not _pays(node, facts)
    ):
        return None
    bias, shapes = attention.scores_bias, shapes_of(facts)
    query, key = shapes.of(node.inputs[0]), shapes.of(node.inputs[1])
    if bias is None or query is None or key is None or query[:2] != key[:2]:
        return None
    mask = key_mask(bias, (query[0], 1, 1, query[1]), facts)
    if mask is None:
        return Refusal(
            f"what is added to the scores of MultiHeadAttention {node.name!r}, {bias.name!r}, is"
            " not a mask of keys with 0 and the lowest number, the same for all queries and heads",
            "mask keys alone, with torch.finfo(dtype).min: lengths are faster than a bias here",
        )
    region = TokenRegions(bias, query[:2], facts).around(node)
    refusal = _refusal(node, region, query[:2], facts)
    if refusal is not None:
        return refusal
    values = {f"entry_{index}": value for index, value in enumerate(region.entries)}
    return _LengthsSite(
        region.nodes, region.exits[0], {**values, "mask": mask.condition},
        region=region, mask=mask, tokens=query[:2],
    )  # fmt: skip


def _pays(node: ir.Node, facts: Facts) -> bool:
    query = node.inputs[0]
    dtype = None if query is None else query.dtype
    return costs.is_faster(WITH_LENGTHS, CONTRIB, dtype, facts.options.target)


def _refusal(node: ir.Node, region: TokenRegion, tokens: Shape, facts: Facts) -> Refusal | None:
    sorting = len(region.entries) + len(region.exits)
    sharing = {use.node for use in region.bias.uses()}
    if len(region.exits) != 1 or sorting > len(region.attentions):
        return Refusal(
            f"around MultiHeadAttention {node.name!r} {len(region.entries)} values would have to be"
            f" sorted and {len(region.exits)} to be put back for {len(region.attentions)}"
            " attentions, expected one result and not more sorting than attention",
            "do not ask the model for the results of its layers: output_hidden_states=False",
        )
    if sharing != set(region.attentions):
        return Refusal(
            f"{len(sharing)} nodes read the mask {region.bias.name!r}, and {len(region.attentions)}"
            f" of them are attentions connected with {node.name!r}, expected all",
            "none: the mask would have to be computed in both forms",
        )
    obstacle = facts.opset_obstacle(_OPSET)
    if obstacle is not None:
        return Refusal(
            f"sorting tokens for MultiHeadAttention {node.name!r} needs opset {_OPSET}: {obstacle}",
            "export the model with a newer opset",
        )
    if not can_be_read(tokens, facts):
        return Refusal(
            f"the number of tokens of MultiHeadAttention {node.name!r} is not that of any input",
            "declare the shapes of the graph's inputs",
        )
    return None


def _replace(match: Match, builder: Builder) -> ir.Value:
    if not isinstance(match, _LengthsSite) or match.region is None or match.mask is None:
        raise ValueError("this match is not one of an encoder")
    builder.require_opset(_OPSET)
    make = SizedBuilder(builder, match.output.dtype or ir.DataType.FLOAT)
    order = order_of(match.mask, match.tokens, make)
    known = {value: moved(value, order.sources, make) for value in match.region.entries}
    for node in match.region.nodes:
        inputs = [None if value is None else known.get(value, value) for value in node.inputs]
        if node in match.region.attentions:
            inputs[_LENGTHS_INPUT:] = [order.lengths]
            made = builder.copy(node, inputs, {"mask_filter_value": _LOWEST})
        else:
            made = builder.copy(node, inputs)
        for old, new in zip(node.outputs, made, strict=True):
            known[old] = new
            make.shapes.state(new, make.shapes.of(old) or ())
    return moved(known[match.output], order.places, make)


RULES = (
    Rule(
        "attention-lengths",
        "encoder(x, mask) --> unsorted(encoder(sorted(x), lengths))",
        anchors=frozenset({"MultiHeadAttention"}),
        find=_find,
        replace=_replace,
    ),
)
