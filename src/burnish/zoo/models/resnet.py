"""ResNets: convolutions, batch norms to fold, and skips."""

from __future__ import annotations

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.images import classifier
from burnish.zoo.pretrained import Architecture

SMALL = {"embedding_size": 16, "hidden_sizes": [32, 64], "depths": [2, 2]}
LABELS = {"num_labels": 1000}
RESNET18 = Architecture(
    "ResNetConfig",
    "ResNetForImageClassification",
    {"hidden_sizes": [64, 128, 256, 512], "depths": [2, 2, 2, 2]},
    SMALL,
    fixed={**LABELS, "layer_type": "basic"},
)
RESNET50 = Architecture("ResNetConfig", "ResNetForImageClassification", {}, SMALL, fixed=LABELS)


def _build_18(options: NetworkOptions) -> BuiltModel:
    return classifier(RESNET18, options, size=32 if options.small else 224)


def _build_50(options: NetworkOptions) -> BuiltModel:
    return classifier(RESNET50, options, size=32 if options.small else 224)


register(
    ModelEntry(
        name="resnet18",
        family="vision",
        summary="8 blocks of two 3×3 convolutions: batch norms to fold, bound by compute",
        parameters=11_689_512,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="He et al. 2015, arXiv:1512.03385; MIT",
        build=_build_18,
    )
)
register(
    ModelEntry(
        name="resnet50",
        family="vision",
        summary="16 bottleneck blocks: the usual yardstick for convolutional networks",
        parameters=25_557_032,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="He et al. 2015, arXiv:1512.03385; MIT",
        build=_build_50,
    )
)
