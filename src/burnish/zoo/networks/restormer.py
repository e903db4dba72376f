"""Restormer, an image restorer whose attention runs over channels instead of pixels.

Zamir, Arora, Khan, Hayat, Khan and Yang, "Restormer: Efficient Transformer for High-Resolution
Image Restoration", CVPR 2022 (arXiv 2111.09881).
Good for: attention with tiny score matrices and very long rows, L2-normalised queries and keys,
depthwise convolutions between projections and scores, both halves of PixelShuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

Norm = Literal["with-bias", "bias-free"]


class Restormer(nn.Module):
    """A U-shaped transformer: image in, image of the same shape out, sides multiples of 8.

    The defaults are the paper's network: 26.1 million parameters.
    """

    def __init__(
        self,
        *,
        width: int = 48,
        blocks: Sequence[int] = (4, 6, 6, 8),
        refinement_blocks: int = 4,
        heads: Sequence[int] = (1, 2, 4, 8),
        expansion: float = 2.66,
        norm: Norm = "with-bias",
    ) -> None:
        super().__init__()

        def stage(channels: int, level: int, count: int) -> nn.Sequential:
            made = (Block(channels, heads[level], expansion, norm) for _ in range(count))
            return nn.Sequential(*made)

        levels = range(len(blocks))
        widths = [width * 2**level for level in levels]
        self.embed = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.encoders = nn.ModuleList(stage(widths[i], i, blocks[i]) for i in levels)
        self.downs = nn.ModuleList(map(_downsampler, widths[:-1]))
        self.ups = nn.ModuleList(map(_upsampler, reversed(widths[1:])))
        # The last decoder keeps the concatenated channels, and so does the refinement after it.
        self.reduces = nn.ModuleList(
            nn.Conv2d(2 * widths[i], widths[i], 1, bias=False) if i else nn.Identity()
            for i in reversed(levels[:-1])
        )
        self.decoders = nn.ModuleList(
            stage(widths[i] if i else 2 * width, i, blocks[i]) for i in reversed(levels[:-1])
        )
        self.refinement = stage(2 * width, 0, refinement_blocks)
        self.output = nn.Conv2d(2 * width, 3, 3, padding=1, bias=False)

    @classmethod
    def small(cls, *, norm: Norm = "with-bias") -> Restormer:
        """Return a network of three levels for tests."""
        return cls(width=8, blocks=(1, 1, 2), refinement_blocks=1, heads=(1, 2, 4), norm=norm)

    def forward(self, image: Tensor) -> Tensor:
        """Return the restored `image` [batch, 3, height, width]."""
        features = self.embed(image)
        skips = []
        for encoder, down in zip(self.encoders[:-1], self.downs, strict=True):
            skips.append(encoder(features))
            features = down(skips[-1])
        features = self.encoders[-1](features)
        for up, reduce, decoder in zip(self.ups, self.reduces, self.decoders, strict=True):
            features = decoder(reduce(torch.cat([up(features), skips.pop()], dim=1)))
        return self.output(self.refinement(features)) + image


class Block(nn.Module):
    """Attention over channels and a gated feed-forward, each a residual."""

    def __init__(self, channels: int, heads: int, expansion: float, norm: Norm) -> None:
        super().__init__()
        self.attention_norm = PixelNorm(channels, norm)
        self.attention = TransposedAttention(channels, heads)
        self.feed_forward_norm = PixelNorm(channels, norm)
        self.feed_forward = GatedFeedForward(channels, int(channels * expansion))

    def forward(self, features: Tensor) -> Tensor:
        """Return `features` plus attention plus feed-forward."""
        features = features + self.attention(self.attention_norm(features))
        return features + self.feed_forward(self.feed_forward_norm(features))


class PixelNorm(nn.Module):
    """LayerNorm over the channels of each pixel, computed with the channels last.

    The bias-free form divides by the standard deviation without taking the mean away.
    """

    def __init__(self, channels: int, norm: Norm, *, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if norm == "with-bias" else None
        self.epsilon = epsilon

    def forward(self, features: Tensor) -> Tensor:
        """Return normalised `features`, in the shape they came in."""
        rows = features.permute(0, 2, 3, 1)
        centred = rows - rows.mean(dim=-1, keepdim=True)
        deviation = torch.sqrt(centred.square().mean(dim=-1, keepdim=True) + self.epsilon)
        if self.bias is None:
            normed = rows / deviation * self.weight
        else:
            normed = centred / deviation * self.weight + self.bias
        return normed.permute(0, 3, 1, 2)


class TransposedAttention(nn.Module):
    """Attention between the channels of a head, each an image long (MDTA)."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_channels = heads, channels // heads
        self.temperature = nn.Parameter(torch.ones(heads))
        self.project = nn.Sequential(
            nn.Conv2d(channels, 3 * channels, 1, bias=False),
            nn.Conv2d(3 * channels, 3 * channels, 3, padding=1, groups=3 * channels, bias=False),
        )
        self.output = nn.Conv2d(channels, channels, 1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Return, for each channel, a mixture of its head's channels."""
        per_head = (features.shape[0], self.heads, self.head_channels, -1)
        query, key, value = (
            part.reshape(per_head) for part in self.project(features).chunk(3, dim=1)
        )
        query = functional.normalize(query, dim=-1)
        key = functional.normalize(key, dim=-1)
        scores = query @ key.transpose(-1, -2) * self.temperature.view(-1, 1, 1)
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.output(mixed.reshape(features.shape))


class GatedFeedForward(nn.Module):
    """Two depthwise-filtered halves, one gating the other through GELU (GDFN)."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.expand = nn.Sequential(
            nn.Conv2d(channels, 2 * hidden, 1, bias=False),
            nn.Conv2d(2 * hidden, 2 * hidden, 3, padding=1, groups=2 * hidden, bias=False),
        )
        self.reduce = nn.Conv2d(hidden, channels, 1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Return as many channels as `features` has."""
        gate, gated = self.expand(features).chunk(2, dim=1)
        return self.reduce(functional.gelu(gate) * gated)


def _downsampler(channels: int) -> nn.Sequential:
    narrow = nn.Conv2d(channels, channels // 2, 3, padding=1, bias=False)
    return nn.Sequential(narrow, nn.PixelUnshuffle(2))


def _upsampler(channels: int) -> nn.Sequential:
    widen = nn.Conv2d(channels, 2 * channels, 3, padding=1, bias=False)
    return nn.Sequential(widen, nn.PixelShuffle(2))
