"""NAFNet, an image restorer without activation functions.

Chen, Chu, Zhang and Sun, "Simple Baselines for Image Restoration", ECCV 2022 (arXiv 2204.04676).
Good for: memory-bound convolutions, a LayerNorm over channels in NCHW, gates made of a split and a
product. Training starts from zero residual scales; here they start from one, or half the network
would not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional


class NafNet(nn.Module):
    """A U-shaped restorer: image in, image of the same shape out.

    Height and width must be multiples of 2 to the number of levels. The paper's networks have
    width 32 or 64; the defaults are the small one that compiler papers measure.
    """

    def __init__(
        self,
        *,
        width: int = 16,
        encoder_blocks: Sequence[int] = (1, 1, 1),
        middle_blocks: int = 1,
        decoder_blocks: Sequence[int] = (1, 1, 1),
        image_channels: int = 3,
    ) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(len(encoder_blocks) + 1)]
        self.intro = nn.Conv2d(image_channels, width, 3, padding=1)
        self.encoders = nn.ModuleList(map(_stage, widths, encoder_blocks))
        self.downs = nn.ModuleList(nn.Conv2d(c, d, 2, stride=2) for c, d in pairwise(widths))
        self.middle = _stage(widths[-1], middle_blocks)
        self.ups = nn.ModuleList(map(_upsampler, reversed(widths[1:])))
        self.decoders = nn.ModuleList(map(_stage, reversed(widths[:-1]), decoder_blocks))
        self.ending = nn.Conv2d(width, image_channels, 3, padding=1)

    @classmethod
    def small(cls) -> NafNet:
        """Return a network of two levels for tests."""
        return cls(width=4, encoder_blocks=(1, 2), decoder_blocks=(1, 1))

    def forward(self, image: Tensor) -> Tensor:
        """Return the restored `image` [batch, channels, height, width]."""
        features = self.intro(image)
        skips = []
        for encoder, down in zip(self.encoders, self.downs, strict=True):
            features = encoder(features)
            skips.append(features)
            features = down(features)
        features = self.middle(features)
        for up, decoder in zip(self.ups, self.decoders, strict=True):
            features = decoder(up(features) + skips.pop())
        return image + self.ending(features)


class NafBlock(nn.Module):
    """A gated depthwise half and a gated pointwise half, each a scaled residual."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.spatial_norm = ChannelNorm(channels)
        self.spatial = nn.Sequential(
            nn.Conv2d(channels, 2 * channels, 1),
            nn.Conv2d(2 * channels, 2 * channels, 3, padding=1, groups=2 * channels),
            SimpleGate(),
            ChannelAttention(channels),
            nn.Conv2d(channels, channels, 1),
        )
        self.beta = nn.Parameter(torch.ones(channels))
        self.pointwise_norm = ChannelNorm(channels)
        self.pointwise = nn.Sequential(
            nn.Conv2d(channels, 2 * channels, 1), SimpleGate(), nn.Conv2d(channels, channels, 1)
        )
        self.gamma = nn.Parameter(torch.ones(channels))

    def forward(self, features: Tensor) -> Tensor:
        """Return `features` plus both halves."""
        spatial = self.spatial(self.spatial_norm(features))
        features = features + spatial * _per_channel(self.beta)
        pointwise = self.pointwise(self.pointwise_norm(features))
        return features + pointwise * _per_channel(self.gamma)


class ChannelNorm(nn.Module):
    """LayerNorm over the channels of each pixel."""

    def __init__(self, channels: int, *, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.epsilon = epsilon

    def forward(self, features: Tensor) -> Tensor:
        """Return `features` with zero mean and unit variance at each pixel, then scaled."""
        centred = features - features.mean(dim=1, keepdim=True)
        variance = centred.square().mean(dim=1, keepdim=True)
        normed = centred / torch.sqrt(variance + self.epsilon)
        return normed * _per_channel(self.weight) + _per_channel(self.bias)


class SimpleGate(nn.Module):
    """The product of the two halves of the channels."""

    def forward(self, features: Tensor) -> Tensor:
        """Return half as many channels as `features` has."""
        first, second = features.chunk(2, dim=1)
        return first * second


class ChannelAttention(nn.Module):
    """Channels weighed by a linear map of their means."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weigh = nn.Conv2d(channels, channels, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Return `features` times one weight per channel."""
        return features * self.weigh(functional.adaptive_avg_pool2d(features, 1))


def _per_channel(values: Tensor) -> Tensor:
    return values.view(1, -1, 1, 1)


def _stage(channels: int, blocks: int) -> nn.Sequential:
    return nn.Sequential(*(NafBlock(channels) for _ in range(blocks)))


def _upsampler(channels: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(channels, 2 * channels, 1, bias=False), nn.PixelShuffle(2))
