"""MobileNetV2: inverted residuals around depthwise convolutions."""

from __future__ import annotations

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.images import classifier
from burnish.zoo.pretrained import Architecture

ARCHITECTURE = Architecture(
    config="MobileNetV2Config",
    model="MobileNetV2ForImageClassification",
    sizes={},
    small={"image_size": 64, "depth_multiplier": 0.35},
    layers=(),
    fixed={"num_labels": 1000},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return classifier(ARCHITECTURE, options, size=64 if options.small else 224)


register(
    ModelEntry(
        name="mobilenet-v2",
        family="vision",
        summary="17 blocks: depthwise convolutions, Relu6 as Clip, bound by memory",
        parameters=3_504_872,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Sandler et al. 2018, arXiv:1801.04381; Apache-2.0",
        build=_build,
    )
)
