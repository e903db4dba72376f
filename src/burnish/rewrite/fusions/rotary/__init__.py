"""Fuse rotary position embeddings, whole or partial, of halves or of neighbours.

rewrite:
    x · cos + Concat(-second half of x, first half of x) · sin
    -->
    RotaryEmbedding(x, positions, cos, sin)

The operator looks cosines and sines up by position. Here the rows that the model computed are
the table, and their own numbers the positions, so nothing is assumed of how they came about.
"""

from __future__ import annotations

from burnish.rewrite.fusions.rotary import replacement as table
from burnish.rewrite.fusions.rotary.plan import find
from burnish.rewrite.fusions.rotary.replacement import replace
from burnish.rewrite.rule import Rule

RULES = (
    Rule(
        "rotary",
        "x · cos + Concat(-x₂, x₁) · sin --> RotaryEmbedding(x, positions, cos, sin)",
        anchors=frozenset({"Neg", "Sub"}),
        find=find,
        replace=replace,
    ),
    Rule(
        "rotary-table",
        "RotaryEmbedding(x, cos of one sample, sin) --> RotaryEmbedding(x, positions, cos, sin)",
        anchors=frozenset({"RotaryEmbedding"}),
        find=table.find,
        replace=replace,
    ),
)
