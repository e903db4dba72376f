"""Reorder the tokens of an encoder, where that makes its attentions faster."""

from __future__ import annotations

from burnish.rewrite.fusions.tokens import lengths

RULES = lengths.RULES
