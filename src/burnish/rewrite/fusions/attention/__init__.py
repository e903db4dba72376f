"""Fuse attention, from its softmax outwards.

rewrite:
    Softmax(scale · query · key^T + mask + bias) · value
    -->
    MultiHeadAttention(query, key, value, attention_bias = mask + bias)

Queries, keys and values are taken as the products read them, (batch, heads, length, size), so
nothing need be known of where they come from: projections, rotary embeddings, caches. Where they
are plainly cut from values of shape (batch, length, heads · size) those are read instead. Masks
stay what the model computes; no padding side and no causality is assumed. Rows that are masked
throughout come out as they did: a guard against them is kept, behind the fused operator.
"""

from __future__ import annotations

from burnish.rewrite.fusions.attention import (
    joined_keys,
    key_bias,
    row_scale,
    shared_weights,
    sink_gate,
    standard,
    turned_weights,
    value_bias,
)
from burnish.rewrite.fusions.attention.plan import find
from burnish.rewrite.fusions.attention.replacement import replace
from burnish.rewrite.rule import Rule

RULES = (
    *turned_weights.RULES,  # these before attention, which takes one product on either side
    *sink_gate.RULES,
    *joined_keys.RULES,
    *shared_weights.RULES,
    *row_scale.RULES,
    Rule(
        "attention",
        "Softmax(scale · query · key^T + mask) · value --> MultiHeadAttention(query, key, value)",
        anchors=frozenset({"Softmax"}),
        find=find,
        replace=replace,
    ),
    Rule(
        "attention-heads",
        "Attention on split or repeated heads --> Attention on joined heads, keys not repeated",
        anchors=frozenset({"Attention"}),
        find=standard.find,
        replace=replace,
    ),
    *key_bias.RULES,
    *value_bias.RULES,
)
