"""CLIP's text half: causal attention and a pooled last token."""

from __future__ import annotations

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL, pooled_encoder

ARCHITECTURE = Architecture(
    config="CLIPTextConfig",
    model="CLIPTextModel",
    sizes={},
    small=SMALL,
    fixed={"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return pooled_encoder(ARCHITECTURE, options, second_side="after-first")


register(
    ModelEntry(
        name="clip-text",
        family="text",
        summary="12 layers of 512, beside ViT-B/32: quick Gelu, a causal mask, a pooled token",
        parameters=63_165_952,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Radford et al. 2021, arXiv:2103.00020; MIT",
        build=_build,
        understands=ENCODER,
    )
)
