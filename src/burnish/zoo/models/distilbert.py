"""DistilBERT, half of BERT's layers and no segments."""

from __future__ import annotations

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import encoder

ARCHITECTURE = Architecture(
    config="DistilBertConfig",
    model="DistilBertModel",
    sizes={},
    small={
        "vocab_size": 131,
        "dim": 64,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 112,
        "max_position_embeddings": 64,
    },
    layers=("n_layers",),
)


def _build(options: NetworkOptions) -> BuiltModel:
    return encoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="distilbert",
        family="text",
        summary="6 layers of 768: the usual small encoder in production; only ids and mask go in",
        parameters=66_362_880,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Sanh et al. 2019, arXiv:1910.01108; Apache-2.0",
        build=_build,
        understands=ENCODER,
    )
)
