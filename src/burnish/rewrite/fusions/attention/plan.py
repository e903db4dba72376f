"""Decide whether a softmax is that of an attention, and which operator can compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import onnx_ir as ir

from burnish.rewrite import emission
from burnish.rewrite.edit import ints, is_standard
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention import bias, scores, weighted
from burnish.rewrite.fusions.new_values import can_be_read
from burnish.rewrite.fusions.attention.operand import HEADS_LAST, Operand, without_repeats
from burnish.rewrite.fusions.attention.scores import Scores
from burnish.rewrite.fusions.attention.weighted import Weighted
from burnish.rewrite.region import in_order
from burnish.rewrite.rule import Match, Refusal
from burnish.rewrite.symbolic.shapes import Shape, shapes_of
from burnish.rewrite.symbolic.size import multiply

STANDARD_OPSET = 23
_LOWEST_BIAS = -1e30

Layout = Literal["heads", "split", "joined"]
"""(batch, heads, length, size), (batch, length, heads, size), (batch, length, heads · size)."""


@dataclass(frozen=True, slots=True)
class Plan(Match):
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
    guarded: bool = False
    clipped: bool = False
    """The bias is to be cut off at a number that the operator does not take for a mask."""
    layout: Layout = "heads"
    standard: bool = False


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return the attention around a softmax."""
    if not is_standard(node, "Softmax") or node.outputs[0].dtype not in FLOATS:
        return None
    after = weighted.read(node, facts)
    if after is None:
        return None
    before = scores.read(node, facts)
    if before is None or isinstance(before, Refusal):
        return before
    if isinstance(after, Refusal):
        return after
    shape = shapes_of(facts).of(node.inputs[0])
    axis = node.attributes.get_int("axis", -1)
    if shape is None or axis not in (-1, len(shape) - 1):
        return Refusal(
            f"Softmax {node.name!r} runs over axis {axis}, expected the last one",
            "none: attention is normalised over the keys",
        )
    return _shaped(node, before, after, facts)


def _shaped(node: ir.Node, before: Scores, after: Weighted, facts: Facts) -> Match | Refusal:
    query, key, value = (part.shape(facts) for part in (before.query, before.key, after.value))
    product = shapes_of(facts).of(before.product.outputs[0])
    if query is None or key is None or value is None or product is None:
        raise ValueError(f"the operands around {node.name} have no rank")
    if len(product) not in (3, 4):
        return Refusal(
            f"Softmax {node.name!r} is applied to scores of rank {len(product)}, expected 3 or 4",
            "merge the leading axes in the source",
        )
    dtype = before.query.value.dtype
    types = {part.value.dtype for part in (before.query, before.key, after.value)}
    if types != {after.output.dtype} or any(
        fit.value.dtype != dtype for fit in before.terms if fit.fill is None
    ):
        return Refusal(
            f"the operands of Softmax {node.name!r} have different types, expected one",
            "export the model in one floating type",
        )
    fits = []
    for term in before.terms:
        fitted = bias.fit(term, product, facts)
        if isinstance(fitted, Refusal):
            return fitted
        fits.append(fitted)
    return _chosen(node, before, after, tuple(fits), facts)


def _chosen(
    node: ir.Node, before: Scores, after: Weighted, fits: tuple[bias.Fit, ...], facts: Facts
) -> Match | Refusal:
    """Choose the operator: one that takes fewer heads of keys where those are repeated."""
    narrow = [without_repeats(part, facts) for part in (before.key, after.value)]
    standard = _standard(node, before, after, fits, facts, grouped=narrow[0] is not None)
    if not isinstance(standard, Refusal):
        key, value = narrow
        if key is None or value is None:
            key, value = before.key, after.value
        refusal = _heads_refusal(node, before.query, key, value, facts, grouped=True)
        if refusal is None:
            return _plan(node, before, after, fits, facts, key=key, value=value, clip=standard)
    refusal = _heads_refusal(node, before.query, before.key, after.value, facts, grouped=False)
    if refusal is not None:
        return refusal
    if before.softcap:
        return standard if isinstance(standard, Refusal) else _no_cap(node)
    dtype = after.output.dtype
    refusal = emission.refusal("MultiHeadAttention", CONTRIB, dtype, facts.options)
    return refusal or _plan(
        node, before, after, fits, facts, key=before.key, value=after.value, clip=None
    )


def _no_cap(node: ir.Node) -> Refusal:
    return Refusal(
        f"the scores of Softmax {node.name!r} are capped, and MultiHeadAttention cannot do that",
        "let burnish write Attention of opset 23: --ops auto",
    )


def _standard(
    node: ir.Node, before: Scores, after: Weighted, fits: tuple[bias.Fit, ...], facts: Facts,
    *, grouped: bool,
) -> bool | Refusal:  # fmt: skip
    """Return whether ONNX's Attention needs its bias cut off; a refusal: it cannot be used."""
    shape = shapes_of(facts).of(before.product.outputs[0]) or ()
    if not (facts.options.ops == "standard" or before.softcap or grouped) or len(shape) != 4:
        return Refusal(f"Softmax {node.name!r} has no need of ONNX's Attention", "--ops standard")
    obstacle = facts.opset_obstacle(STANDARD_OPSET)
    if obstacle is not None:
        return Refusal(
            f"Attention needs opset {STANDARD_OPSET}: {obstacle}",
            "export the model with a newer opset",
        )
    refusal = emission.refusal("Attention", "", after.output.dtype, facts.options)
    if refusal is not None:
        return refusal
    if bias.always_finite(before.terms, facts):
        return any((bias.lowest(term, facts) or 0.0) < _LOWEST_BIAS for term in before.terms)
    if after.guarded and all(bias.lowest(term, facts) == -np.inf for term in before.terms):
        return False
    return Refusal(
        f"what rows of Softmax {node.name!r} give that are masked throughout cannot be proven to"
        " be what Attention gives",
        "mask with -inf behind a guard, as torch's scaled_dot_product_attention does",
    )


def _heads_refusal(
    node: ir.Node, query: Operand, key: Operand, value: Operand, facts: Facts, *, grouped: bool
) -> Refusal | None:
    shapes = [part.shape(facts) for part in (query, key, value)]
    q, k, v = ((), (), ()) if None in shapes else shapes  # type: ignore[assignment]
    names = "batch and heads" if len(q) == 4 else "batch"
    if not grouped and q[:-2] == k[:-2] == v[:-2] and k[-2] == v[-2]:
        known = len(q) == 3 or isinstance(q[1], int)
        return None if known else Refusal(
            f"the number of heads of {query.value.name!r} is not known, expected a number",
            "state the number of heads as a constant in the source",
        )  # fmt: skip
    if grouped and len(q) == 4 and q[0] == k[0] == v[0] and k[1:3] == v[1:3]:
        if isinstance(q[1], int) and isinstance(k[1], int) and q[1] % k[1] == 0:
            return None
    return Refusal(
        f"{names} of queries {query.value.name!r}, keys {key.value.name!r} and values"
        f" {value.value.name!r} around Softmax {node.name!r} cannot be proven to be equal",
        "give the axes of the graph's inputs names, the same for the same size",
    )


def _plan(
    node: ir.Node, before: Scores, after: Weighted, fits: tuple[bias.Fit, ...], facts: Facts,
    *, key: Operand, value: Operand, clip: bool | None,
) -> Match | Refusal:  # fmt: skip
    shapes = shapes_of(facts)
    product = shapes.of(before.product.outputs[0]) or ()
    head = value.shape(facts) or ()
    unread = [size for fit in fits for size in (*fit.outer, *fit.inner)] + list(product[-2:])
    if fits and not can_be_read(tuple(unread), facts.model.graph):
        return Refusal(
            f"a size of the scores of Softmax {node.name!r} is not that of any input",
            "declare the shapes of the graph's inputs",
        )
    output, layout, tail = _absorbed(after.output, product, head, facts)
    nodes = in_order(key.nodes, value.nodes, before.nodes, [node], after.nodes, tail)
    return Plan(
        nodes=nodes, output=output, values=_values(before, key, value, fits),
        query=before.query, key=key, value=value, scale=before.scale, softcap=before.softcap,
        fits=fits, product=product, size=head[-1:],
        guarded=after.guarded and not bias.always_finite(before.terms, facts),
        clipped=bool(clip), layout=layout, standard=clip is not None,
    )  # fmt: skip


def _values(
    before: Scores, key: Operand, value: Operand, fits: tuple[bias.Fit, ...]
) -> dict[str, ir.Value | None]:
    named = {f"bias_{index}": fit.term.value for index, fit in enumerate(fits)}
    return {"query": before.query.value, "key": key.value, "value": value.value, **named}


def _absorbed(
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
