"""ALBERT, one layer's weights used by all layers."""

from __future__ import annotations

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL, pooled_encoder

ARCHITECTURE = Architecture(
    config="AlbertConfig",
    model="AlbertModel",
    sizes={
        "embedding_size": 128,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
    small={**SMALL, "embedding_size": 32},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return pooled_encoder(ARCHITECTURE, options, has_segments=True)


register(
    ModelEntry(
        name="albert",
        family="text",
        summary="12 layers of 768 that share one set of weights, which a careless tool copies",
        parameters=11_683_584,
        inputs="input_ids, attention_mask, token_type_ids: i64[batch, sequence]",
        idea="Lan et al. 2019, arXiv:1909.11942; Apache-2.0",
        build=_build,
        understands=ENCODER,
    )
)
