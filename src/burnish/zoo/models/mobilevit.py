"""MobileViT: convolutions and small transformers over unfolded patches."""

from __future__ import annotations

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.images import classifier
from burnish.zoo.pretrained import Architecture

ARCHITECTURE = Architecture(
    config="MobileViTConfig",
    model="MobileViTForImageClassification",
    sizes={},
    small={
        "image_size": 64,
        "hidden_sizes": [32, 48, 64],
        "neck_hidden_sizes": [8, 12, 16, 24, 32, 40, 64],
    },
    layers=(),
    fixed={"num_labels": 1000},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return classifier(ARCHITECTURE, options, size=64 if options.small else 256)


register(
    ModelEntry(
        name="mobilevit-s",
        family="vision",
        summary="9 transformer layers between convolutions: SiLU, fold and unfold as reshapes",
        parameters=5_578_632,
        inputs="pixel_values: f32[batch, 3, 256, 256]",
        idea="Mehta and Rastegari 2021, arXiv:2110.02178; Apple sample code licence",
        build=_build,
    )
)
