"""Swin: attention in windows that shift from layer to layer."""

from __future__ import annotations

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.images import classifier
from burnish.zoo.pretrained import Architecture

ARCHITECTURE = Architecture(
    config="SwinConfig",
    model="SwinForImageClassification",
    sizes={},
    small={
        "image_size": 32,
        "embed_dim": 32,
        "depths": [2, 2],
        "num_heads": [2, 4],
        "window_size": 4,
    },
    layers=(),
    fixed={"num_labels": 1000},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return classifier(ARCHITECTURE, options, size=32 if options.small else 224)


register(
    ModelEntry(
        name="swin-t",
        family="vision",
        summary="4 stages of 2, 2, 6, 2 layers: relative biases and shifted-window masks",
        parameters=28_288_354,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Liu et al. 2021, arXiv:2103.14030; MIT",
        build=_build,
        understands=frozenset({"attention"}),
    )
)
