"""Whole layers that PyTorch runs as one operation of its own, in operations that exporters know.

`torch.nn.TransformerEncoderLayer` becomes one where no gradients are wanted, before Dynamo sees it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Tensor = Any
"""`torch.Tensor`: torch is imported only where it is used."""


def spelled_out() -> Mapping[Any, Callable[..., Any]]:
    """Return what computes the same as such an operation, by operation."""
    import torch

    return {torch.ops.aten._transformer_encoder_layer_fwd.default: _encoder_layer}


def _encoder_layer(  # noqa: PLR0913, PLR0917  (PyTorch's own order)
    source: Tensor, width: int, heads: int,
    qkv_weight: Tensor, qkv_bias: Tensor, out_weight: Tensor, out_bias: Tensor,
    use_gelu: bool, norm_first: bool, epsilon: float,
    scale_1: Tensor, shift_1: Tensor, scale_2: Tensor, shift_2: Tensor,
    up_weight: Tensor, up_bias: Tensor, down_weight: Tensor, down_bias: Tensor,
    mask: Tensor | None = None, mask_type: int | None = None,
) -> Tensor:  # fmt: skip
    """Return a layer's output; a mask is true, or not zero, where a key is not to be seen."""
    from torch.nn import functional

    def attention(x: Tensor) -> Tensor:
        qkv = functional.linear(x, qkv_weight, qkv_bias)
        split = qkv.unflatten(-1, (3, heads, width // heads)).permute(2, 0, 3, 1, 4)
        scores = split[0] @ split[1].transpose(-1, -2) * (width // heads) ** -0.5
        if hidden is not None:  # where all keys are, PyTorch's own operation gives no number
            scores = scores.masked_fill(hidden, -math.inf)
        mixed = functional.softmax(scores, -1) @ split[2]
        return functional.linear(mixed.transpose(1, 2).flatten(2), out_weight, out_bias)

    def feed_forward(x: Tensor) -> Tensor:
        activation = functional.gelu if use_gelu else functional.relu
        wide = activation(functional.linear(x, up_weight, up_bias))
        return functional.linear(wide, down_weight, down_bias)

    def first(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (width,), scale_1, shift_1, epsilon)

    def second(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (width,), scale_2, shift_2, epsilon)

    hidden = None if mask is None else _in_four_dimensions(mask.bool(), mask_type)
    if norm_first:
        between = source + attention(first(source))
        return between + feed_forward(second(between))
    between = first(source + attention(source))
    return second(between + feed_forward(between))


def _in_four_dimensions(mask: Tensor, kind: int | None) -> Tensor:
    """Return a mask by row, head, query and key; `kind` is PyTorch's number for what it has."""
    if kind == 0:  # queries and keys
        return mask[None, None]
    if kind == 1:  # rows and keys
        return mask[:, None, None]
    return mask
