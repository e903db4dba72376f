"""All fusions, in the order in which they are tried."""

from __future__ import annotations

from burnish.rewrite.fusions import (
    attention,
    bias_gelu,
    einsum,
    folded_weights,
    gelu,
    group_norm,
    group_norm_parts,
    hard_sigmoid,
    layer_norm,
    pad_conv,
    rms_norm,
    rotary,
    sigmoid,
    skip_norm,
    swish,
)
from burnish.rewrite.rule import Rule

FUSIONS: tuple[Rule, ...] = (
    *einsum.RULES,
    *rotary.RULES,
    *attention.RULES,
    *layer_norm.RULES,
    *rms_norm.RULES,
    *group_norm.RULES,
    *group_norm_parts.RULES,
    *gelu.RULES,
    *bias_gelu.RULES,  # after gelu, whose result it extends
    *sigmoid.RULES,
    *swish.RULES,
    *hard_sigmoid.RULES,
    *skip_norm.RULES,
    *pad_conv.RULES,
    *folded_weights.RULES,
)
