"""Fuse looking up embeddings, adding and normalising them.

rewrite:
    LayerNormalization(Gather(words, ids) + Gather(positions, at) + Gather(types, kinds), …)
    -->
    EmbedLayerNormalization(ids, kinds, words, positions, types, …, at)

The third table may be missing. Gather counts negative indices from the end and the fused operator
does not, so those that may be negative are taken modulo the length of their table. Only where the
target's table of costs says that this is faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.constants import constant_tensor
from burnish.infer.shapes import shapes_of, stated
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite import costs, emission
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import Facts, static_sizes
from burnish.rewrite.fusions.attention.number_range import range_of
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.fusions.refusals import still_read
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

_FUSED = "EmbedLayerNormalization"
_WHOLE = ir.DataType.INT32


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Rows of a constant table."""

    node: ir.Node
    table: ir.Value
    indices: ir.Value


@dataclass(frozen=True, slots=True)
class _Embedding(Match):
    words: _Lookup | None = None
    positions: _Lookup | None = None
    types: _Lookup | None = None


def _find(norm: ir.Node, facts: Facts) -> Match | Refusal | None:
    total = norm.inputs[0]
    if not is_standard(norm, "LayerNormalization") or total is None or len(norm.inputs) != 3:
        return None
    sums, terms = _terms(total)
    lookups = [_lookup(term) for term in terms]
    found = [lookup for lookup in lookups if lookup is not None]
    if len(found) != len(terms) or len(terms) not in (2, 3):
        return None
    dtype = norm.outputs[0].dtype
    if not costs.is_faster(_FUSED, CONTRIB, dtype, facts.options.target):
        return None
    refusal = emission.refusal(_FUSED, CONTRIB, dtype, facts.options)
    if refusal is not None:
        return refusal
    nodes = (*(lookup.node for lookup in found), *reversed(sums), norm)
    roles = _roles(found, facts)
    if roles is None or norm.attributes.get_int("axis", -1) not in (-1, 2):
        return Refusal(
            f"the tables in front of LayerNormalization {norm.name!r} are not indexed by"
            " (batch, length) each, but one by (1, length), or it normalises more than rows",
            "give the axes of the graph's inputs names, the same for the same size",
        )
    words, positions, types = roles
    reader = still_read(sums[0], nodes, norm.outputs[0])
    values = {"words": words.indices, "positions": positions.indices}
    return reader or _Embedding(
        nodes, norm.outputs[0], values, words=words, positions=positions, types=types
    )


def _terms(total: ir.Value) -> tuple[list[ir.Node], list[ir.Value]]:
    """Return the sums of a value, the last one first, and what they add up."""
    sums: list[ir.Node] = []
    terms: list[ir.Value] = []
    waiting = [total]
    while waiting:
        value = waiting.pop()
        node = value.producer()
        if node is not None and is_standard(node, "Add", "Sum") and len(sums) < 3:
            sums.append(node)
            waiting.extend(source for source in node.inputs if source is not None)
        else:
            terms.append(value)
    return sums, terms


def _lookup(value: ir.Value) -> _Lookup | None:
    node = value.producer()
    if node is None or not is_standard(node, "Gather") or node.attributes.get_int("axis", 0) != 0:
        return None
    table, indices = node.inputs
    if table is None or indices is None or constant_tensor(table) is None:
        return None
    return _Lookup(node, table, indices) if len(static_sizes(table) or ()) == 2 else None


def _roles(found: list[_Lookup], facts: Facts) -> tuple[_Lookup, _Lookup, _Lookup | None] | None:
    """Return the lookups as words, positions and types; only positions may be one row for all."""
    shapes = shapes_of(facts)
    known = {lookup.node: shapes.of(lookup.indices) for lookup in found}
    short = [lookup for lookup in found if (known[lookup.node] or ())[:1] == (1,)]
    full = [lookup for lookup in found if lookup not in short]
    if not short and len(full) > 1:
        short = [full.pop(1)]
    if len(short) != 1 or not full:
        return None
    tokens = known[full[0].node]
    if tokens is None or len(tokens) != 2 or any(known[one.node] != tokens for one in full):
        return None
    if not _is_as_long(short[0].indices, tokens, facts):
        return None
    return full[0], short[0], full[1] if len(full) > 1 else None


def _is_as_long(indices: ir.Value, tokens: Shape, facts: Facts) -> bool:
    """Return whether there is a position for each token, or else their sum fails.

    A table's first positions, as many as there are tokens, are fewer only if the table is
    shorter: then neither form runs.
    """
    shapes = shapes_of(facts)
    shape = shapes.of(indices)
    if shape is None or len(shape) != 2:
        return False
    if shape[1] == tokens[1]:
        return True
    node = indices.producer()
    if node is None or not is_standard(node, "Slice") or len(node.inputs) < 4:
        return False
    whole = facts.array(node.inputs[0])
    steps = facts.integers(node.inputs[4]) if len(node.inputs) > 4 else (1,)
    from_start = facts.integers(node.inputs[1]) == (0,) and facts.integers(node.inputs[3]) == (1,)
    first = shapes.elements(node.inputs[2]) == (tokens[1],)
    return whole is not None and whole.shape[1] > 1 and from_start and first and steps == (1,)


def _replace(match: Match, builder: Builder) -> ir.Value:
    if not isinstance(match, _Embedding) or match.words is None or match.positions is None:
        raise ValueError("this match is not one of an embedding")
    norm = match.nodes[-1]
    make = SizedBuilder(builder, match.output.dtype or ir.DataType.FLOAT)
    words, positions, types = match.words, match.positions, match.types
    inputs = [
        _indices(words, make),
        None if types is None else _indices(types, make),
        words.table,
        positions.table,
        None if types is None else types.table,
        *norm.inputs[1:3],
        None,
        _indices(positions, make),
    ]
    attributes = {"epsilon": norm.attributes.get_float("epsilon", 1e-5) or 1e-5}
    tokens = make.shapes.of(words.indices) or ()
    shape = (*tokens, (static_sizes(words.table) or ())[-1])
    # The second result counts tokens by a mask, which is not given; it must have a name.
    likes = [
        ir.Value(type=ir.TensorType(make.dtype), shape=stated(shape)),
        ir.Value(type=ir.TensorType(_WHOLE), shape=stated(tokens[:1])),
    ]
    made = builder.outputs(_FUSED, inputs, likes=likes, domain=CONTRIB, attributes=attributes)
    make.shapes.state(made[0], shape)
    return made[0]


def _indices(lookup: _Lookup, make: SizedBuilder) -> ir.Value:
    """Return indices of 32 bits that are not negative."""
    value, facts = lookup.indices, make.builder.facts
    shape = make.shapes.of(value) or ()
    attributes = {"to": int(_WHOLE)}
    if value.dtype != _WHOLE:
        value = make.node("Cast", [value], shape, dtype=_WHOLE, attributes=attributes)
    numbers = range_of(lookup.indices, facts)
    if numbers is not None and numbers.lowest >= 0:
        return value
    count = (static_sizes(lookup.table) or (1,))[0]
    length = make.builder.constant("length", np.array(count, np.int32))
    return make.node("Mod", [value, length], shape, dtype=_WHOLE)


RULES = (
    Rule(
        "embedding",
        "LayerNormalization(sum of Gather(table, indices), …) --> EmbedLayerNormalization",
        anchors=frozenset({"LayerNormalization"}),
        find=_find,
        replace=_replace,
    ),
)
