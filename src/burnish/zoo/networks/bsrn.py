"""BSRN, a small super-resolution network of blueprint separable convolutions.

Li, Liu, Gu, Cai, Chen and Qiao, "Blueprint Separable Residual Network for Efficient Image
Super-Resolution", CVPR Workshops 2022 (arXiv 2205.05996).
Good for: pointwise-then-depthwise pairs, many concatenations, pooled attention that is resized
back, and one PixelShuffle that moves everything.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Bsrn(nn.Module):
    """An upscaler: image in, image `scale` times as high and wide out; at least 17 pixels a side.

    The defaults are the paper's network: 352 thousand parameters.
    """

    COPIES = 4
    """How often the image is repeated along the channels before the first convolution."""

    def __init__(
        self, *, features: int = 64, layers: int = 8, scale: int = 4, image_channels: int = 3
    ) -> None:
        super().__init__()
        self.shallow = BlueprintConv(self.COPIES * image_channels, features)
        self.blocks = nn.ModuleList(DistillationBlock(features) for _ in range(layers))
        self.gather = nn.Sequential(
            nn.Conv2d(layers * features, features, 1), nn.GELU(), BlueprintConv(features, features)
        )
        self.upsample = nn.Sequential(
            nn.Conv2d(features, image_channels * scale**2, 3, padding=1), nn.PixelShuffle(scale)
        )

    @classmethod
    def small(cls, *, layers: int = 2) -> Bsrn:
        """Return a network of narrow blocks for tests."""
        return cls(features=32, layers=layers, scale=2)

    def forward(self, image: Tensor) -> Tensor:
        """Return `image` [batch, channels, height, width] upscaled."""
        shallow = self.shallow(torch.cat([image] * self.COPIES, dim=1))
        features, all_features = shallow, []
        for block in self.blocks:
            features = block(features)
            all_features.append(features)
        return self.upsample(self.gather(torch.cat(all_features, dim=1)) + shallow)


class BlueprintConv(nn.Sequential):
    """A 1 × 1 convolution without bias, then a 3 × 3 depthwise one (BSConv-U)."""

    def __init__(self, inputs: int, outputs: int, *, stride: int = 1, padding: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 1, bias=False),
            nn.Conv2d(outputs, outputs, 3, stride=stride, padding=padding, groups=outputs),
        )


class DistillationBlock(nn.Module):
    """Three refinements, each sending half its channels ahead, then both attentions (ESDB)."""

    def __init__(self, features: int) -> None:
        super().__init__()
        distilled = features // 2
        self.distill = nn.ModuleList(nn.Conv2d(features, distilled, 1) for _ in range(3))
        self.refine = nn.ModuleList(BlueprintConv(features, features) for _ in range(3))
        self.last = BlueprintConv(features, distilled)
        self.fuse = nn.Conv2d(4 * distilled, features, 1)
        self.spatial = SpatialAttention(features)
        self.channel = ContrastAttention(features)

    def forward(self, features: Tensor) -> Tensor:
        """Return `features` plus what the block adds."""
        refined, sent = features, []
        for distill, refine in zip(self.distill, self.refine, strict=True):
            sent.append(functional.gelu(distill(refined)))
            refined = functional.gelu(refine(refined) + refined)
        sent.append(functional.gelu(self.last(refined)))
        return self.channel(self.spatial(self.fuse(torch.cat(sent, dim=1)))) + features


class SpatialAttention(nn.Module):
    """Every pixel weighed by what is around it, seen at a sixth of the resolution (ESA)."""

    def __init__(self, features: int) -> None:
        super().__init__()
        narrow = features // 4
        self.reduce = nn.Conv2d(features, narrow, 1)
        self.coarse = nn.Sequential(
            BlueprintConv(narrow, narrow, stride=2, padding=0),
            nn.MaxPool2d(kernel_size=7, stride=3),
            BlueprintConv(narrow, narrow),
            nn.GELU(),
            BlueprintConv(narrow, narrow),
            nn.GELU(),
            BlueprintConv(narrow, narrow),
        )
        self.fine = nn.Conv2d(narrow, narrow, 1)
        self.expand = nn.Conv2d(narrow, features, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Return `features` times one weight per element."""
        reduced = self.reduce(features)
        around = functional.interpolate(
            self.coarse(reduced), size=features.shape[2:], mode="bilinear", align_corners=False
        )
        return features * torch.sigmoid(self.expand(around + self.fine(reduced)))


class ContrastAttention(nn.Module):
    """Channels weighed by their mean plus their standard deviation (CCA)."""

    def __init__(self, features: int, *, reduction: int = 16) -> None:
        super().__init__()
        self.weigh = nn.Sequential(
            nn.Conv2d(features, features // reduction, 1),
            nn.ReLU(),
            nn.Conv2d(features // reduction, features, 1),
            nn.Sigmoid(),
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return `features` times one weight per channel."""
        mean = features.mean(dim=(2, 3), keepdim=True)
        deviation = (features - mean).square().mean(dim=(2, 3), keepdim=True).sqrt()
        return features * self.weigh(mean + deviation)
