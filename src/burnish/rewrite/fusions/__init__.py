"""All fusions, in the order in which they are tried."""

from __future__ import annotations

from burnish.rewrite.fusions import gelu, layer_norm
from burnish.rewrite.rule import Rule

FUSIONS: tuple[Rule, ...] = (
    *layer_norm.RULES,
    *gelu.RULES,
)
