"""OPT, a decoder with ReLU and learned positions counted from the mask."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture

ARCHITECTURE = Architecture(
    config="OPTConfig",
    model="OPTForCausalLM",
    sizes={},
    small={
        "vocab_size": 131,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "ffn_dim": 112,
        "word_embed_proj_dim": 64,
        "max_position_embeddings": 64,
    },
)


def _build(options: NetworkOptions) -> BuiltModel:
    return decoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="opt",
        family="decoder",
        summary="12 layers of 768, the 125M size: ReLU instead of Gelu, biases everywhere",
        parameters=125_239_296,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Zhang et al. 2022, arXiv:2205.01068; MIT",
        build=_build,
        understands=DECODER,
    )
)
