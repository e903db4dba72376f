"""VGG-16: thirteen 3×3 convolutions and three big products, with no norm between them."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, Module, NetworkOptions, register
from burnish.zoo.flat import only_output
from burnish.zoo.images import IMAGENET, from_module

STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""Channels and convolutions of each stage; a stage ends by halving the image."""
SMALL_STAGES = ((16, 1), (32, 2))


def _build(options: NetworkOptions) -> BuiltModel:
    stages, hidden, size = (SMALL_STAGES, 48, 32) if options.small else (STAGES, 4096, 224)
    module = weights.randomise(_network(stages, hidden, size), seed=options.seed, gain=2**0.5)
    return from_module(module, options, IMAGENET, call=only_output)


def _network(stages: tuple[tuple[int, int], ...], hidden: int, size: int) -> Module:
    from torch import nn

    layers: list[Module] = []
    channels = 3
    for width, convolutions in stages:
        for _ in range(convolutions):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
        layers.append(nn.MaxPool2d(2))
    features = channels * (size >> len(stages)) ** 2
    head = [nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), *head, nn.Linear(hidden, 1000))


register(
    ModelEntry(
        name="vgg16",
        family="vision",
        summary="13 convolutions and 3 products: bound by compute, half a gigabyte of weights",
        parameters=138_357_544,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Simonyan and Zisserman 2014, arXiv:1409.1556; CC BY 4.0",
        build=_build,
    )
)
