"""Vision transformers: patches as tokens, attention without a mask."""

from __future__ import annotations

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.images import classifier
from burnish.zoo.pretrained import Architecture

SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 112,
    "image_size": 32,
    "patch_size": 8,
}
LABELS = {"num_labels": 1000}
S32 = Architecture(
    "ViTConfig",
    "ViTForImageClassification",
    {
        "hidden_size": 384,
        "num_hidden_layers": 12,
        "num_attention_heads": 6,
        "intermediate_size": 1536,
        "patch_size": 32,
    },
    SMALL,
    fixed=LABELS,
)
B16 = Architecture("ViTConfig", "ViTForImageClassification", {}, SMALL, fixed=LABELS)


def _build_s32(options: NetworkOptions) -> BuiltModel:
    return classifier(S32, options, size=32 if options.small else 224)


def _build_b16(options: NetworkOptions) -> BuiltModel:
    return classifier(B16, options, size=32 if options.small else 224)


register(
    ModelEntry(
        name="vit-s32",
        family="vision",
        summary="12 layers of 384 on 50 patches: tiny products, bound by launches",
        parameters=22_878_952,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Dosovitskiy et al. 2020, arXiv:2010.11929; Apache-2.0",
        build=_build_s32,
        understands=frozenset({"layers", "attention"}),
    )
)
register(
    ModelEntry(
        name="vit-b16",
        family="vision",
        summary="12 layers of 768 on 197 patches: attention with neither mask nor padding",
        parameters=86_567_656,
        inputs="pixel_values: f32[batch, 3, 224, 224]",
        idea="Dosovitskiy et al. 2020, arXiv:2010.11929; Apache-2.0",
        build=_build_b16,
        understands=frozenset({"layers", "attention"}),
    )
)
