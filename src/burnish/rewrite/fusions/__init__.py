"""All fusions, in the order in which they are tried."""

from __future__ import annotations

from burnish.rewrite.fusions import (
    attention,
    bias_apart,
    bias_gelu,
    einsum,
    embedding,
    every_element,
    every_place,
    folded_weights,
    gelu,
    group_norm,
    group_norm_parts,
    hard_sigmoid,
    layer_norm,
    merged_axes,
    pad_conv,
    rms_norm,
    rotary,
    select,
    sigmoid,
    skip_bias,
    skip_norm,
    softmax,
    swish,
    tokens,
)
from burnish.rewrite.rule import Rule

FUSIONS: tuple[Rule, ...] = (
    *einsum.RULES,
    *select.RULES,
    *every_element.RULES,
    *every_place.RULES,  # before rotary, whose pairs may be written in place
    *softmax.RULES,  # before attention, which grows around it
    *rotary.RULES,
    *attention.RULES,
    *merged_axes.RULES,  # after attention, which reads most merged axes as they are
    *layer_norm.RULES,
    *rms_norm.RULES,
    *group_norm.RULES,
    *group_norm_parts.RULES,
    *gelu.RULES,
    *bias_gelu.RULES,  # after gelu, whose result it extends
    *sigmoid.RULES,
    *swish.RULES,
    *hard_sigmoid.RULES,
    *embedding.RULES,  # before skip-norm, which would take in its last sum
    *skip_norm.RULES,
    *skip_bias.RULES,  # after skip-norm, whose result it extends
    *pad_conv.RULES,
    *folded_weights.RULES,
    *tokens.RULES,  # after all that attentions and their surroundings are fused to
    *bias_apart.RULES,  # last: no rule looks for biases in this form
)
