"""ConvNeXt: a convolutional network with a transformer's norms, Gelu and scales."""

from __future__ import annotations

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.images import classifier
from burnish.zoo.pretrained import Architecture

ARCHITECTURE = Architecture(
    config="ConvNextConfig",
    model="ConvNextForImageClassification",
    sizes={},
    small={"image_size": 32, "num_stages": 2, "hidden_sizes": [32, 64], "depths": [2, 2]},
    layers=(),
    fixed={"num_labels": 1000},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return classifier(ARCHITECTURE, options, size=32 if options.small else 224)


register(
    ModelEntry(
        name="convnext-t",
        family="vision",
        summary="18 blocks: 7×7 depthwise, LayerNorm on channels, layer scales",
        parameters=28_589_128,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Liu et al. 2022, arXiv:2201.03545; MIT",
        build=_build,
    )
)
