"""The U-Net for segmentation, with BatchNorm and convolutions that keep the size.

Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical Image Segmentation",
MICCAI 2015 (arXiv 1505.04597).
Good for: compute-bound convolutions with BatchNorm to fold, big skip connections, transposed
convolutions or bilinear resizing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

Upsampling = Literal["transposed", "bilinear"]


class UNet(nn.Module):
    """Class scores for every pixel; sides must be multiples of 2 to the number of levels.

    The defaults are the paper's network: 31.0 million parameters, most of them at the bottom.
    """

    def __init__(
        self,
        *,
        image_channels: int = 3,
        classes: int = 100,
        width: int = 64,
        levels: int = 4,
        upsampling: Upsampling = "transposed",
    ) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(levels + 1)]
        self.intro = DoubleConv(image_channels, width)
        self.encoders = nn.ModuleList(DoubleConv(narrow, wide) for narrow, wide in pairwise(widths))
        self.pool = nn.MaxPool2d(2)
        downwards = list(pairwise(reversed(widths)))
        self.ups = nn.ModuleList(_upsampler(wide, narrow, upsampling) for wide, narrow in downwards)
        self.decoders = nn.ModuleList(DoubleConv(wide, narrow) for wide, narrow in downwards)
        self.classify = nn.Conv2d(width, classes, 1)

    @classmethod
    def small(cls, *, upsampling: Upsampling = "transposed") -> UNet:
        """Return a network of two levels for tests."""
        return cls(classes=5, width=8, levels=2, upsampling=upsampling)

    def forward(self, image: Tensor) -> Tensor:
        """Return scores [batch, classes, height, width] for `image`."""
        features = self.intro(image)
        skips = []
        for encoder in self.encoders:
            skips.append(features)
            features = encoder(self.pool(features))
        for up, decoder in zip(self.ups, self.decoders, strict=True):
            features = decoder(torch.cat([skips.pop(), up(features)], dim=1))
        return self.classify(features)


class DoubleConv(nn.Sequential):
    """Twice a 3 × 3 convolution, BatchNorm and ReLU."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        )


def _upsampler(inputs: int, outputs: int, upsampling: Upsampling) -> nn.Module:
    if upsampling == "transposed":
        return nn.ConvTranspose2d(inputs, outputs, 2, stride=2)
    resize = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
    return nn.Sequential(resize, nn.Conv2d(inputs, outputs, 1))
