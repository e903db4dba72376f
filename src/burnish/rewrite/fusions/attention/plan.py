"""Decide whether a softmax is that of an attention, and which operator can compute it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import ints, is_standard
from burnish.operators.record import Shape
from burnish.operators.size import multiply, text, total
from burnish.rewrite import emission
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention import bias, scores, weighted
from burnish.rewrite.fusions.attention.operand import HEADS_LAST, Operand, splits, without_repeats
from burnish.rewrite.fusions.attention.scores import Scores
from burnish.rewrite.fusions.attention.weighted import Weighted
from burnish.rewrite.fusions.new_values import can_be_read
from burnish.rewrite.matched import in_order, other_reader
from burnish.rewrite.rule import Match, Refusal

STANDARD_OPSET = 23
_LOWEST_BIAS = -1e30
_FEW_ROWS = 256
_MOVES = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Expand", "Flatten", "Identity")

Layout = Literal["heads", "split", "joined"]
"""(batch, heads, length, size), (batch, length, heads, size), (batch, length, heads · size)."""


@dataclass(frozen=True, slots=True)
class AttentionPlan(Match):
    """An attention, and how to write it."""

    query: Operand | None = None
    key: Operand | None = None
    value: Operand | None = None
    scale: float = 1.0
    softcap: float = 0.0
    fits: tuple[bias.Fit, ...] = ()
    product: Shape = ()
    """The shape of the scores: (batch, heads, rows, columns), or without heads."""
    size: Shape = ()
    """Of one head's result."""
    split: Shape = ()
    """The leading axes of the scores, where those are merged for the operator."""
    guarded: bool = False
    """Rows that are masked throughout are to be made zero behind the operator; ONNX's Attention
    does that itself on the CPU, and is not known to elsewhere."""
    clipped: bool = False
    """The bias is to be cut off at a number that the operator does not take for a mask."""
    layout: Layout = "heads"
    standard: bool = False
    mask: ir.Value | None = None
    """A mask that ONNX's Attention has had before, of any type."""
    causal: bool = False


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return the attention around a softmax."""
    if not is_standard(node, "Softmax") or node.outputs[0].dtype not in FLOATS:
        return None
    before = scores.read(node, facts)
    if before is None:
        return None
    after = weighted.read(node, facts)
    if after is None:
        return _unweighted(node, before, facts)
    if isinstance(before, Refusal):
        return before
    if isinstance(after, Refusal):
        return after
    shape = shapes_of(facts).of(node.inputs[0])
    axis = node.attributes.get_int("axis", -1)
    if axis != -1 and (shape is None or axis != len(shape) - 1):
        return Refusal(
            f"Softmax {node.name!r} runs over axis {axis}, expected the last one",
            "none: attention is normalised over the keys",
        )
    if after.cleared is not None:
        guarded = _cleared(node, before, after, after.cleared, facts)
        if isinstance(guarded, Refusal):
            return guarded
        before, after = guarded
    return _shaped(node, before, after, facts)


def _cleared(
    node: ir.Node, before: Scores, after: Weighted, cleared: weighted.Cleared, facts: Facts
) -> tuple[Scores, Weighted] | Refusal:
    """Return an attention that fills with -inf and has a guard, if that is what clearing does.

    Masked weights are 0 anyway, but for rows that are masked throughout: those become 0, too.
    """
    product = shapes_of(facts).of(before.product.outputs[0])
    at = [
        index
        for index, term in enumerate(before.terms)
        if term.fill is not None
        and (term.value, term.filled) == (cleared.condition, cleared.filled)
        and (product if term.inside is None else term.inside[0]) == cleared.shape
    ]
    if not at:
        return Refusal(
            f"the weights of Softmax {node.name!r} are made zero where {cleared.condition.name!r}"
            f" is {str(cleared.filled).lower()}, expected where its scores are masked",
            "none: a fused operator does not change its weights",
        )
    terms = tuple(
        replace(term, fill=-np.inf) if index in at else term
        for index, term in enumerate(before.terms)
    )
    return replace(before, terms=terms), replace(after, guarded=True)


def _unweighted(node: ir.Node, before: Scores | Refusal, facts: Facts) -> Refusal:
    """Return why the result of a softmax that looks like weights weighs no values."""
    readers = [use.node for use in node.outputs[0].uses()]
    choice = next((reader for reader in readers if is_standard(reader, "Where")), None)
    if choice is not None:
        return _stretched(before, facts) or Refusal(
            f"Where {choice.name!r} puts something in place of weights of Softmax {node.name!r},"
            " and that it is 0 and stretches none of their axes cannot be proven",
            "give the axes of the graph's inputs names, the same for the same size, or fix their"
            " sizes",
        )
    names = [f"{reader.op_type} {reader.name!r}" for reader in readers]
    moved = bool(readers) and all(is_standard(reader, *_MOVES) for reader in readers)
    return Refusal(
        f"the weights of Softmax {node.name!r} are read by"
        f" {' and '.join(names) or 'nobody in the graph'}, expected a product with values",
        "give the axes of the graph's inputs names, so that reshapes can be followed"
        if moved
        else "none: a fused operator gives no weights to anybody else",
    )


def _stretched(before: Scores | Refusal, facts: Facts) -> Refusal | None:
    """Return which mask or bias leaves it open what shape scores have."""
    product = (
        None if isinstance(before, Refusal) else shapes_of(facts).of(before.product.outputs[0])
    )
    if isinstance(before, Refusal) or product is None:
        return None
    fits = (bias.fit(term, product, product, facts) for term in before.terms)
    return next((fitted for fitted in fits if isinstance(fitted, Refusal)), None)


@dataclass(frozen=True, slots=True)
class _AttentionSite:
    """All that was found around a softmax."""

    node: ir.Node
    before: Scores
    after: Weighted
    fits: tuple[bias.Fit, ...]
    product: Shape
    merged: Shape
    facts: Facts


def _shaped(node: ir.Node, before: Scores, after: Weighted, facts: Facts) -> Match | Refusal:
    product = shapes_of(facts).of(before.product.outputs[0]) or ()
    if len(product) < 3 or len(after.value.perm) != len(product):
        return Refusal(
            f"Softmax {node.name!r} weighs values of rank {len(after.value.perm)} by scores from a"
            f" product of rank {len(product)}, expected the same, 3 or more",
            "declare the shapes of the graph's inputs",
        )
    merged = product if len(product) < 5 else (total(product[:-2]), *product[-2:])
    used = [part.value.dtype for part in (before.query, before.key, after.value)]
    used += [term.value.dtype for term in before.terms if term.fill is None]
    odd = next((dtype for dtype in used if dtype != after.output.dtype), None)
    if odd is not None:
        return Refusal(
            f"the attention of Softmax {node.name!r} reads {odd} and gives {after.output.dtype},"
            " expected one type",
            "export the model in one floating type",
        )
    fits = []
    for term in before.terms:
        fitted = bias.fit(term, product, merged, facts)
        if isinstance(fitted, Refusal):
            return fitted
        fits.append(fitted)
    if shapes_of(facts).of(after.weights) != product:
        return Refusal(
            f"the scores of Softmax {node.name!r} have another shape in the product"
            f" {before.product.name!r} than where they weigh values, expected one",
            "declare the shapes of the graph's inputs",
        )
    if before.floored and not bias.always_finite(before.terms, facts):
        return Refusal(
            f"the scores of Softmax {node.name!r} are limited from below, and may be -inf",
            "mask with the lowest number once, not with -inf",
        )
    return _chosen(_AttentionSite(node, before, after, tuple(fits), product, merged, facts))


def _chosen(site: _AttentionSite) -> Match | Refusal:
    """Choose the operator: one that takes fewer heads of keys where those are repeated."""
    before, after, facts = site.before, site.after, site.facts
    narrow = [without_repeats(part, facts) for part in (before.key, after.value)]
    key, value = narrow[0] or before.key, narrow[1] or after.value
    grouped = _heads_fit(before.query, key, value, facts, grouped=True)
    fewer = (key.shape(facts) or ())[:-2] != (before.query.shape(facts) or ())[:-2]
    standard = _standard(site, grouped=grouped and fewer)
    if not isinstance(standard, Refusal) and grouped:
        return _plan(site, key, value, clip=standard)
    if not _heads_fit(before.query, before.key, after.value, facts, grouped=False):
        return Refusal(
            f"around Softmax {site.node.name!r},"
            f" queries {_rows(before.query, facts)}, keys {_rows(before.key, facts)} and values"
            f" {_rows(after.value, facts)} are not proven to have one batch and number of heads,"
            " and as many keys as values",
            "say how many heads there are where they are split, and give the axes of the graph's"
            " inputs names, the same for the same size",
        )
    if before.softcap and isinstance(standard, Refusal):
        return standard
    dtype = after.output.dtype
    refusal = emission.refusal("MultiHeadAttention", CONTRIB, dtype, facts.options)
    return refusal or _plan(site, before.key, after.value, clip=None)


def _rows(part: Operand, facts: Facts) -> str:
    sizes = ", ".join(text(size) for size in (part.shape(facts) or ())[:-1])
    return f"{part.value.name!r} of ({sizes})"


def _standard(site: _AttentionSite, *, grouped: bool) -> bool | Refusal:
    """Return whether ONNX's Attention needs its bias cut off; a refusal: it cannot be used."""
    terms, facts, name = site.before.terms, site.facts, site.node.name
    wanted = facts.options.ops == "standard" or site.before.softcap or grouped or _faster(site)
    if not wanted or len(site.product) != 4:
        return Refusal(f"Softmax {name!r} has no need of ONNX's Attention", "--ops standard")
    obstacle = facts.opset_obstacle(STANDARD_OPSET)
    if obstacle is not None:
        return Refusal(
            f"Attention needs opset {STANDARD_OPSET}: {obstacle}",
            "export the model with a newer opset",
        )
    refusal = emission.refusal("Attention", "", site.after.output.dtype, facts.options)
    if refusal is not None:
        return refusal
    single = site.after.output.dtype == ir.DataType.FLOAT
    if bias.always_finite(terms, facts) and (single or not terms):
        return any((bias.lowest(term, facts) or 0.0) < _LOWEST_BIAS for term in terms)
    if site.after.guarded and all(bias.lowest(term, facts) == -np.inf for term in terms):
        return False
    return Refusal(
        f"what rows of Softmax {name!r} give that are masked throughout cannot be proven to be"
        " what Attention gives",
        "mask with -inf behind a guard, as torch's scaled_dot_product_attention does",
    )


def _faster(site: _AttentionSite) -> bool:
    """Return whether ONNX's Attention is known to be faster than MultiHeadAttention.

    Measured with ONNX Runtime 1.31 on an x86-64 CPU: with a bias it takes 0.5 to 1.05 times as
    long, without one 0.65 to 0.95 times up to 200 rows, and 1.1 to 1.2 times from 512 rows on.
    """
    options, rows = site.facts.options, site.product[-2]
    short = isinstance(rows, int) and rows <= _FEW_ROWS
    return options.target == "cpu" and options.ops == "auto" and (bool(site.fits) or short)


def _heads_fit(
    query: Operand, key: Operand, value: Operand, facts: Facts, *, grouped: bool
) -> bool:
    """Return whether batch and heads are proven to be equal, or heads to be groups of others."""
    shapes = [part.shape(facts) for part in (query, key, value)]
    q, k, v = (shape or () for shape in shapes)
    if k[-2] != v[-2] or k[:-2] != v[:-2] or q[0] != k[0]:
        return False
    if len(q) != 4:
        return not grouped and q[:-2] == k[:-2]
    heads, groups = q[1], k[1]
    if not isinstance(heads, int) or not isinstance(groups, int):
        return False
    return heads % groups == 0 if grouped else heads == groups


def _plan(
    site: _AttentionSite, key: Operand, value: Operand, *, clip: bool | None
) -> Match | Refusal:
    before, after, facts, fits = site.before, site.after, site.facts, site.fits
    head = value.shape(facts) or ()
    read = [size for fit in fits for size in (*fit.outer, *fit.inner)] + list(site.product[-2:])
    if len(site.product) > 4:
        read += [*site.product, *head]
    values = _values(before, key, value, fits)
    if (fits or len(site.product) > 4) and not can_be_read(tuple(read), facts, values.values()):
        return Refusal(
            f"a size of the scores of Softmax {site.node.name!r} is not that of any input, nor one"
            " of queries, keys, values or masks",
            "give the axes of the graph's inputs names, the same for the same size",
        )
    output, layout, tail = absorbed(after.output, site.product, head, facts)
    cuts = splits((before.query, key, value), facts)
    nodes = in_order(cuts, key.nodes, value.nodes, before.nodes, [site.node], after.nodes, tail)
    reader = other_reader(nodes, output, before.product)
    if reader is not None:
        return Refusal(
            f"{before.product.op_type} {before.product.name!r} must stay: {reader}",
            "nothing to gain here, unless the other reader can go",
        )
    return AttentionPlan(
        nodes=nodes, output=output, values=values,
        query=before.query, key=key, value=value, scale=before.scale, softcap=before.softcap,
        fits=fits, product=site.merged, size=head[-1:], layout=layout,
        split=site.product[:-2] if len(site.product) > 4 else (),
        guarded=after.guarded
        and not bias.always_finite(before.terms, facts)
        and (clip is None or facts.options.target != "cpu"),
        clipped=bool(clip), standard=clip is not None,
    )  # fmt: skip


def _values(
    before: Scores, key: Operand, value: Operand, fits: tuple[bias.Fit, ...]
) -> dict[str, ir.Value | None]:
    named = {f"bias_{index}": fit.term.value for index, fit in enumerate(fits)}
    return {"query": before.query.value, "key": key.value, "value": value.value, **named}


def absorbed(
    output: ir.Value, product: Shape, head: Shape, facts: Facts
) -> tuple[ir.Value, Layout, tuple[ir.Node, ...]]:
    """Return the value to replace: behind the joining of heads, if nobody reads before it."""
    if len(product) != 4:
        return output, "joined", ()
    swap = _only_reader(output, "Transpose")
    if swap is None or ints(swap, "perm") != HEADS_LAST:
        return output, "heads", ()
    split = swap.outputs[0]
    join = _only_reader(split, "Reshape")
    whole = (product[0], product[2], multiply(product[1], head[-1]))
    if join is None or shapes_of(facts).of(join.outputs[0]) != whole:
        return split, "split", (swap,)
    return join.outputs[0], "joined", (swap, join)


def _only_reader(value: ir.Value, op_type: str) -> ir.Node | None:
    uses = value.uses()
    if value.is_graph_output() or len(uses) != 1:
        return None
    node = next(iter(uses)).node
    return node if is_standard(node, op_type) and node.inputs[0] is value else None
