"""CLIP's image half: a vision transformer with a norm before its layers."""

from __future__ import annotations

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.flat import first_two_outputs
from burnish.zoo.images import classifier
from burnish.zoo.pretrained import Architecture

ARCHITECTURE = Architecture(
    config="CLIPVisionConfig",
    model="CLIPVisionModel",
    sizes={},
    small={
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 112,
        "image_size": 32,
        "patch_size": 8,
    },
    layers=("num_hidden_layers",),
)


def _build(options: NetworkOptions) -> BuiltModel:
    return classifier(
        ARCHITECTURE,
        options,
        size=32 if options.small else 224,
        call=first_two_outputs,
        output_names=("last_hidden_state", "pooled"),
    )


register(
    ModelEntry(
        name="clip-vision",
        family="vision",
        summary="12 layers of 768 on 50 patches, ViT-B/32: quick Gelu, a norm up front",
        parameters=87_456_000,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Radford et al. 2021, arXiv:2103.00020; MIT",
        build=_build,
        understands=frozenset({"layers", "attention"}),
    )
)
