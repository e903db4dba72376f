"""ELECTRA, BERT with embeddings narrower than its layers."""

from __future__ import annotations

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL, encoder

ARCHITECTURE = Architecture(
    config="ElectraConfig",
    model="ElectraModel",
    sizes={},
    small={**SMALL, "embedding_size": 32},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return encoder(ARCHITECTURE, options, has_segments=True)


register(
    ModelEntry(
        name="electra",
        family="text",
        summary="12 layers of 256, the small size: a projection after the embeddings",
        parameters=13_483_008,
        inputs="input_ids, attention_mask, token_type_ids: i64[batch, sequence]",
        idea="Clark et al. 2020, arXiv:2003.10555; Apache-2.0",
        build=_build,
        understands=ENCODER,
    )
)
