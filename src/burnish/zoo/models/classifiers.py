"""Networks of `transformers` that read images: classes or features out."""

from __future__ import annotations

from functools import partial

from burnish.zoo.entry import ModelEntry, register
from burnish.zoo.flat import first_two_outputs
from burnish.zoo.images import Edges, classifier
from burnish.zoo.pretrained import Architecture

_seer = partial(ModelEntry, family="vision", inputs="pixel_values: f32[batch, 3, 224, 224]")
_transformer = partial(_seer, understands=frozenset({"layers", "attention"}))
_resnet = partial(_seer, idea="He et al. 2015, arXiv:1512.03385; MIT")
_vit = partial(_transformer, idea="Dosovitskiy et al. 2020, arXiv:2010.11929; Apache-2.0")

LABELS = {"num_labels": 1000}
SMALL_RESNET = {"embedding_size": 16, "hidden_sizes": [32, 64], "depths": [2, 2]}
SMALL_VIT = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 112,
    "image_size": 32, "patch_size": 8,
}  # fmt: skip

RESNET18 = Architecture(
    "ResNetConfig",
    "ResNetForImageClassification",
    {"hidden_sizes": [64, 128, 256, 512], "depths": [2, 2, 2, 2]},
    SMALL_RESNET,
    fixed={**LABELS, "layer_type": "basic"},
)
RESNET50 = Architecture(
    "ResNetConfig", "ResNetForImageClassification", {}, SMALL_RESNET, fixed=LABELS
)
VIT_S32 = Architecture(
    "ViTConfig",
    "ViTForImageClassification",
    {
        "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6,
        "intermediate_size": 1536, "patch_size": 32,
    },
    SMALL_VIT,
    fixed=LABELS,
)  # fmt: skip
VIT_B16 = Architecture("ViTConfig", "ViTForImageClassification", {}, SMALL_VIT, fixed=LABELS)
CLIP_VISION = Architecture("CLIPVisionConfig", "CLIPVisionModel", {}, SMALL_VIT)
SWIN = Architecture(
    "SwinConfig",
    "SwinForImageClassification",
    {},
    {"image_size": 32, "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
    layers=(),
    fixed=LABELS,
)
CONVNEXT = Architecture(
    "ConvNextConfig",
    "ConvNextForImageClassification",
    {},
    {"image_size": 32, "num_stages": 2, "hidden_sizes": [32, 64], "depths": [2, 2]},
    layers=(),
    fixed=LABELS,
)
MOBILENET_V2 = Architecture(
    "MobileNetV2Config",
    "MobileNetV2ForImageClassification",
    {},
    {"image_size": 64, "depth_multiplier": 0.35},
    layers=(),
    fixed=LABELS,
)
MOBILEVIT = Architecture(
    "MobileViTConfig",
    "MobileViTForImageClassification",
    {},
    {
        "image_size": 64, "hidden_sizes": [32, 48, 64],
        "neck_hidden_sizes": [8, 12, 16, 24, 32, 40, 64],
    },
    layers=(),
    fixed=LABELS,
)  # fmt: skip

register(
    _resnet(
        name="resnet18",
        summary="8 blocks of two 3×3 convolutions: batch norms to fold, bound by compute",
        parameters=11_689_512,
        build=partial(classifier, RESNET18),
    ),
    _resnet(
        name="resnet50",
        summary="16 bottleneck blocks: the usual yardstick for convolutional networks",
        parameters=25_557_032,
        build=partial(classifier, RESNET50),
    ),
    _vit(
        name="vit-s32",
        summary="12 layers of 384 on 50 patches: tiny products, bound by launches",
        parameters=22_878_952,
        build=partial(classifier, VIT_S32),
    ),
    _vit(
        name="vit-b16",
        summary="12 layers of 768 on 197 patches: attention with neither mask nor padding",
        parameters=86_567_656,
        build=partial(classifier, VIT_B16),
    ),
    _transformer(
        name="clip-vision",
        summary="12 layers of 768 on 50 patches, ViT-B/32: quick Gelu, a norm up front",
        parameters=87_456_000,
        idea="Radford et al. 2021, arXiv:2103.00020; MIT",
        build=partial(
            classifier,
            CLIP_VISION,
            call=first_two_outputs,
            output_names=("last_hidden_state", "pooled"),
        ),
    ),
    _seer(
        name="swin-t",
        summary="4 stages of 2, 2, 6, 2 layers: relative biases and shifted-window masks",
        parameters=28_288_354,
        idea="Liu et al. 2021, arXiv:2103.14030; MIT",
        build=partial(classifier, SWIN),
        understands=frozenset({"attention"}),
    ),
    _seer(
        name="convnext-t",
        summary="18 blocks: 7×7 depthwise, LayerNorm on channels, layer scales",
        parameters=28_589_128,
        idea="Liu et al. 2022, arXiv:2201.03545; MIT",
        build=partial(classifier, CONVNEXT),
    ),
    _seer(
        name="mobilenet-v2",
        summary="17 blocks: depthwise convolutions, Relu6 as Clip, bound by memory",
        parameters=3_504_872,
        idea="Sandler et al. 2018, arXiv:1801.04381; Apache-2.0",
        build=partial(classifier, MOBILENET_V2, edges=Edges(224, 64)),
    ),
    _seer(
        name="mobilevit-s",
        summary="9 transformer layers between convolutions: SiLU, fold and unfold as reshapes",
        parameters=5_578_632,
        inputs="pixel_values: f32[batch, 3, 256, 256]",
        idea="Mehta and Rastegari 2021, arXiv:2110.02178; Apple sample code licence",
        build=partial(classifier, MOBILEVIT, edges=Edges(256, 64)),
    ),
)
