"""Ordinary networks that the compiler was not built on, for `burnish export --module`.

Each function returns a module with seeded weights and its inputs, at batch 1. Those that
`transformers` has come from its configurations; the others are written here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Built = tuple[nn.Module, tuple[Tensor, ...]]
Factory = Callable[[], Built]


def seeded(make: Factory) -> Factory:
    """Return the factory with the same weights every time, and statistics that are not all one."""

    @functools.wraps(make)
    def built() -> Built:
        torch.manual_seed(0)
        network, inputs = make()
        for part in network.modules():
            if isinstance(part, nn.BatchNorm2d):
                nn.init.uniform_(part.weight, 0.5, 1.5)
                nn.init.normal_(part.bias, std=0.1)
                nn.init.normal_(part.running_mean, std=0.1)  # type: ignore[arg-type]
                nn.init.uniform_(part.running_var, 0.5, 1.5)  # type: ignore[arg-type]
        return network.eval(), inputs

    return built


class First(nn.Module):
    """A network of `transformers` that gives one tensor: logits, or the last hidden state."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, given: Tensor) -> Tensor:
        """Return what the network gives first."""
        found: Tensor = self.network(given, return_dict=False)[0]
        return found


def published(network: str, configuration: str, **settings: Any) -> nn.Module:  # noqa: ANN401
    """Return a network of `transformers` by its names there."""
    import transformers

    config = getattr(transformers, configuration)(**settings)
    return First(getattr(transformers, network)(config))


def image(size: int = 224, channels: int = 3) -> tuple[Tensor, ...]:
    """Return one image."""
    return (torch.randn(1, channels, size, size),)


@seeded
def segformer_b0() -> Built:
    """Return SegFormer-B0."""
    network = published(
        "SegformerForSemanticSegmentation", "SegformerConfig", num_labels=150,
        attn_implementation="eager",
    )  # fmt: skip
    return network, image(256)


@seeded
def efficientnet_b0() -> Built:
    """Return EfficientNet-B0."""
    network = published(
        "EfficientNetForImageClassification", "EfficientNetConfig", num_labels=1000,
        width_coefficient=1.0, depth_coefficient=1.0, image_size=224, hidden_dim=1280,
    )  # fmt: skip
    return network, image()


@seeded
def regnet_y_008() -> Built:
    """Return RegNetY-008."""
    network = published(
        "RegNetForImageClassification", "RegNetConfig", num_labels=1000, layer_type="y",
        depths=[1, 3, 8, 2], hidden_sizes=[64, 128, 320, 768], groups_width=16,
    )  # fmt: skip
    return network, image()


@seeded
def poolformer_s12() -> Built:
    """Return PoolFormer-S12."""
    network = published("PoolFormerForImageClassification", "PoolFormerConfig", num_labels=1000)
    return network, image()


class DenseLayer(nn.Module):
    """Normalise, 1×1, normalise, 3×3: 32 channels more."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, 128, 1, bias=False),
            nn.BatchNorm2d(128), nn.ReLU(), nn.Conv2d(128, 32, 3, padding=1, bias=False),
        )  # fmt: skip

    def forward(self, given: Tensor) -> Tensor:
        """Return what was there, and what is new."""
        return torch.cat([given, self.body(given)], 1)


@seeded
def densenet121() -> Built:
    """Return DenseNet-121."""
    parts: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
    ]  # fmt: skip
    width = 64
    for block, layers in enumerate((6, 12, 24, 16)):
        for _ in range(layers):
            parts.append(DenseLayer(width))
            width += 32
        if block < 3:
            parts += [nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width // 2, 1, bias=False)]
            parts.append(nn.AvgPool2d(2))
            width //= 2
    parts += [nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*parts, nn.Linear(width, 1000)), image()


def two_convolutions(inside: int, outside: int) -> nn.Sequential:
    """Return twice 3×3, normalised."""
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(),
        nn.Conv2d(outside, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(),
    )  # fmt: skip


class UNet(nn.Module):
    """Down by pooling, up by transposed convolutions, with what was there beside it."""

    def __init__(self, widths: Sequence[int] = (32, 64, 128, 256, 512)) -> None:
        super().__init__()
        pairs = list(pairwise(widths))
        self.first = two_convolutions(3, widths[0])
        self.down = nn.ModuleList(two_convolutions(a, b) for a, b in pairs)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(pairs))
        self.joined = nn.ModuleList(two_convolutions(2 * a, a) for a, _ in reversed(pairs))
        self.last = nn.Conv2d(widths[0], 2, 1)

    def forward(self, given: Tensor) -> Tensor:
        """Return two classes for each pixel."""
        kept = [self.first(given)]
        for down in self.down:
            kept.append(down(functional.max_pool2d(kept[-1], 2)))
        found = kept.pop()
        for up, joined in zip(self.up, self.joined, strict=True):
            found = joined(torch.cat([kept.pop(), up(found)], 1))
        result: Tensor = self.last(found)
        return result


@seeded
def unet() -> Built:
    """Return a U-Net of five levels."""
    return UNet(), image(128)


class MixerLayer(nn.Module):
    """Two perceptrons: across places, then across channels."""

    def __init__(self, places: int, width: int) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.across = self._perceptron(places, width // 2)
        self.along = self._perceptron(width, 4 * width)

    @staticmethod
    def _perceptron(width: int, hidden: int) -> nn.Sequential:
        return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, given: Tensor) -> Tensor:
        """Return the same shape."""
        mixed = given + self.across(self.before(given).transpose(1, 2)).transpose(1, 2)
        result: Tensor = mixed + self.along(self.between(mixed))
        return result


class Mixer(nn.Module):
    """MLP-Mixer."""

    def __init__(self, width: int = 512, layers: int = 8, patch: int = 16) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        places = (224 // patch) ** 2
        self.layers = nn.Sequential(*(MixerLayer(places, width) for _ in range(layers)))
        self.last = nn.Linear(width, 1000)
        self.norm = nn.LayerNorm(width)

    def forward(self, given: Tensor) -> Tensor:
        """Return logits."""
        found = self.layers(self.patches(given).flatten(2).transpose(1, 2))
        result: Tensor = self.last(self.norm(found).mean(1))
        return result


@seeded
def mlp_mixer() -> Built:
    """Return MLP-Mixer-S/16."""
    return Mixer(), image()


class Residual(nn.Module):
    """3×3, ReLU, 3×3, added to what was there."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, given: Tensor) -> Tensor:
        """Return the same shape."""
        result: Tensor = given + self.second(torch.relu(self.first(given)))
        return result


class Edsr(nn.Module):
    """EDSR's baseline: 16 residual blocks, then twice the size."""

    def __init__(self, width: int = 64, blocks: int = 16) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(*(Residual(width) for _ in range(blocks)))
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.up = nn.Conv2d(width, 4 * width, 3, padding=1)
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, given: Tensor) -> Tensor:
        """Return an image of twice the size."""
        start = self.first(given)
        found = start + self.second(self.body(start))
        result: Tensor = self.last(functional.pixel_shuffle(self.up(found), 2))
        return result


@seeded
def edsr() -> Built:
    """Return EDSR's baseline on 48×48 pixels."""
    return Edsr(), image(48)


class Tagger(nn.Module):
    """Embedding, two LSTM layers in both directions, and a label for each token."""

    def __init__(self, width: int = 128, hidden: int = 256) -> None:
        super().__init__()
        self.words = nn.Embedding(10000, width)
        self.body = nn.LSTM(width, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.last = nn.Linear(2 * hidden, 17)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return scores of 17 labels for each token."""
        result: Tensor = self.last(self.body(self.words(tokens))[0])
        return result


@seeded
def lstm_tagger() -> Built:
    """Return a tagger on 64 tokens."""
    return Tagger(), (torch.randint(0, 10000, (1, 64)),)


class Gated(nn.Module):
    """A dilated convolution with a gate, for the next layer and for the sum of all."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.both = nn.Conv1d(width, 2 * width, 2, dilation=dilation)
        self.out = nn.Conv1d(width, width, 1)
        self.skip = nn.Conv1d(width, 2 * width, 1)
        self.dilation = dilation

    def forward(self, given: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the next layer reads, and this one's share of the sum."""
        wide, gate = self.both(functional.pad(given, (self.dilation, 0))).chunk(2, 1)
        found = torch.tanh(wide) * torch.sigmoid(gate)
        return given + self.out(found), self.skip(found)


class WaveNet(nn.Module):
    """WaveNet with dilations 1 … 512, twice."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.layers = nn.ModuleList(Gated(width, 2**step) for _ in range(2) for step in range(10))
        self.last = nn.Sequential(
            nn.ReLU(), nn.Conv1d(2 * width, 2 * width, 1), nn.ReLU(), nn.Conv1d(2 * width, 256, 1)
        )

    def forward(self, given: Tensor) -> Tensor:
        """Return scores of 256 values for each sample."""
        found, total = self.first(given), torch.zeros(())
        for layer in self.layers:
            found, share = layer(found)
            total = total + share
        result: Tensor = self.last(total)
        return result


@seeded
def wavenet() -> Built:
    """Return WaveNet on 2,048 samples."""
    return WaveNet(), (torch.randn(1, 1, 2048),)
