"""RoBERTa, BERT with positions that start after the padding token."""

from __future__ import annotations

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL, pooled_encoder

ARCHITECTURE = Architecture(
    config="RobertaConfig",
    model="RobertaModel",
    sizes={
        "vocab_size": 50265,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "layer_norm_eps": 1e-5,
    },
    small=SMALL,
    fixed={"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return pooled_encoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="roberta",
        family="text",
        summary="12 layers of 768: position ids are counted inside the graph (CumSum)",
        parameters=124_645_632,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Liu et al. 2019, arXiv:1907.11692; MIT",
        build=_build,
        understands=ENCODER,
    )
)
