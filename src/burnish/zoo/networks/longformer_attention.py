"""Longformer's attention in plain dynamic-shape operators, for a model of the transformers library.

Beltagy, Peters and Cohan, "Longformer: The Long-Document Transformer", 2020 (arXiv 2004.05150).
Good for: attention in a sliding window, with tokens that see, and are seen by, all others. The
library's own module reads overlapping windows through strides and finds global tokens with
`nonzero`: one exporter fails on it, and the other freezes the example's sizes. This one gives the
same numbers with the same weights for any batch, length and set of global tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Longformer = Any
"""A `transformers.LongformerModel` or a part of one, which come without types."""


class ExportableLongformer(nn.Module):
    """A view of a `LongformerModel` that exports: the same weights, the same numbers.

    The attention's dropout is left out: this is for inference. The model must have its pooler.
    """

    def __init__(self, model: Longformer) -> None:
        super().__init__()
        self.embeddings = model.embeddings
        self.layers = nn.ModuleList(map(ExportableLayer, model.encoder.layer))
        self.pooler = model.pooler
        # Layers may differ in reach, and all of them must cut the sequence without a rest.
        self.multiple = math.lcm(*(layer.attention.reach for layer in self.layers))
        self.train(model.training)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, global_attention_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the last hidden state [batch, sequence, width] and the pooled first token.

        The masks are 1 where a token exists, and 1 where it has global attention; a token that
        does not exist is never global.
        """
        length = input_ids.shape[1]
        padding = -length % self.multiple
        hidden = functional.pad(self.embeddings(input_ids=input_ids), (0, 0, 0, padding))
        exists = functional.pad(attention_mask, (0, padding)) > 0
        is_global = exists & (functional.pad(global_attention_mask, (0, padding)) > 0)
        tokens = Tokens(exists, is_global, slots(is_global))
        for layer in self.layers:
            hidden = layer(hidden, tokens)
        hidden = hidden[:, :length]
        return hidden, self.pooler(hidden)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the tokens of a batch are, the same for every layer."""

    exists: Tensor
    """bool [batch, sequence]"""
    is_global: Tensor
    """bool [batch, sequence]"""
    slots: Tensor
    """bool [batch, slots, sequence], see `slots`"""


def slots(is_global: Tensor) -> Tensor:
    """Return [batch, slots, sequence]: slot k of a row picks its k-th global token, or nothing.

    There are as many slots as the row with most global tokens needs, and at least one. A slot
    times the hidden states gathers its token, and its transpose puts a result back; unlike an
    index, it needs no `nonzero`, whose result has a size that no exporter follows further.
    """
    ordinal = is_global.long().cumsum(dim=1)
    wanted = torch.arange(_slot_count(ordinal), device=is_global.device) + 1
    return is_global.unsqueeze(1) & (ordinal.unsqueeze(1) == wanted[None, :, None])


def _slot_count(ordinal: Tensor) -> Any:  # noqa: ANN401  (a tensor where one is traced, else a size)
    largest = ordinal.max().clamp(min=1)
    if torch.jit.is_tracing():
        return largest
    count = largest.item()
    torch._check(count >= 1)
    torch._check(count <= ordinal.shape[1])
    return count


class ExportableLayer(nn.Module):
    """A `LongformerLayer` around the attention below."""

    def __init__(self, layer: Longformer) -> None:
        super().__init__()
        self.attention = WindowAttention(layer.attention.self)
        self.attention_output = layer.attention.output
        self.intermediate = layer.intermediate
        self.output = layer.output

    def forward(self, hidden: Tensor, tokens: Tokens) -> Tensor:
        """Return `hidden` after attention and feed-forward."""
        attended = self.attention_output(self.attention(hidden, tokens), hidden)
        return self.output(self.intermediate(attended), attended)


class WindowAttention(nn.Module):
    """Attention within `reach` tokens either way, and with global tokens at any distance.

    The sequence is cut into blocks of `reach` tokens: a query finds all keys of its window in its
    own block and the two beside it.
    """

    def __init__(self, attention: Longformer) -> None:
        super().__init__()
        self.heads = attention.num_heads
        self.head_width = attention.head_dim
        self.scale = 1.0 / math.sqrt(self.head_width)
        self.reach = attention.one_sided_attn_window_size
        self.query, self.key, self.value = attention.query, attention.key, attention.value
        self.query_global = attention.query_global
        self.key_global, self.value_global = attention.key_global, attention.value_global
        offset = torch.arange(3 * self.reach) - torch.arange(self.reach).unsqueeze(1)
        in_window = (offset >= 0) & (offset <= 2 * self.reach)
        self.register_buffer("in_window", in_window, persistent=False)

    def forward(self, hidden: Tensor, tokens: Tokens) -> Tensor:
        """Return attended `hidden`, zero where no token exists; sequence a multiple of `reach`."""
        picks = tokens.slots.to(hidden.dtype)
        selected = picks @ hidden
        local = self._local(hidden, selected, tokens)
        everywhere = picks.transpose(1, 2) @ self._global(hidden, selected, tokens)
        attended = torch.where(tokens.is_global.unsqueeze(-1), everywhere, local)
        return attended.masked_fill(~tokens.exists.unsqueeze(-1), 0.0)

    def _local(self, hidden: Tensor, selected: Tensor, tokens: Tokens) -> Tensor:
        """Return what each token gathers from its window and from the `selected` tokens."""
        query = self._blocks(self._per_head(self.query(hidden)) * self.scale)
        key = self._windows(self._per_head(self.key(hidden)))
        value = self._windows(self._per_head(self.value(hidden)))
        # Global tokens have columns of their own, so that none is counted twice.
        usable = self._windows((tokens.exists & ~tokens.is_global)[:, None, :, None])
        near = _masked(query @ key.transpose(-1, -2), self.in_window & usable.transpose(-1, -2))
        far_key = self._per_head(self.key(selected)).unsqueeze(2)
        far_value = self._per_head(self.value(selected)).unsqueeze(2)
        filled = tokens.slots.any(dim=-1)[:, None, None, None, :]
        far = _masked(query @ far_key.transpose(-1, -2), filled)
        weights = _softmax(torch.cat([near, far], dim=-1))
        gathered = weights[..., : 3 * self.reach] @ value
        gathered = gathered + weights[..., 3 * self.reach :] @ far_value
        return self._joined(gathered)

    def _global(self, hidden: Tensor, selected: Tensor, tokens: Tokens) -> Tensor:
        """Return what each of the `selected` tokens gathers from all tokens."""
        query = self._per_head(self.query_global(selected)) * self.scale
        key = self._per_head(self.key_global(hidden))
        value = self._per_head(self.value_global(hidden))
        scores = _masked(query @ key.transpose(-1, -2), tokens.exists[:, None, None, :])
        return self._joined(_softmax(scores) @ value)

    def _per_head(self, rows: Tensor) -> Tensor:
        return rows.view(rows.shape[0], -1, self.heads, self.head_width).transpose(1, 2)

    def _joined(self, per_head: Tensor) -> Tensor:
        """Return [batch, sequence, width] of [batch, heads, …, head width], in blocks or not."""
        batch = per_head.shape[0]
        rows = per_head.reshape(batch, self.heads, -1, self.head_width).transpose(1, 2)
        return rows.reshape(batch, -1, self.heads * self.head_width)

    def _blocks(self, rows: Tensor) -> Tensor:
        """Return [batch, heads, blocks, reach, size] of [batch, heads, sequence, size]."""
        batch, heads, _, size = rows.shape
        return rows.reshape(batch, heads, -1, self.reach, size)

    def _windows(self, rows: Tensor) -> Tensor:
        """Return [batch, heads, blocks, 3 × reach, size]: each block with its neighbours."""
        padded = self._blocks(functional.pad(rows, (0, 0, self.reach, self.reach)))
        return torch.cat([padded[:, :, :-2], padded[:, :, 1:-1], padded[:, :, 2:]], dim=3)


def _masked(scores: Tensor, allowed: Tensor) -> Tensor:
    # The lowest number, not minus infinity: a row without any key must not become NaN.
    return scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)


def _softmax(scores: Tensor) -> Tensor:
    """Return weights in the type of `scores`, computed in single precision as the library does."""
    return torch.softmax(scores, dim=-1, dtype=torch.float32).to(scores.dtype)
