"""GPT-NeoX, a decoder with rotary positions on a part of each head and parallel blocks."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL

ARCHITECTURE = Architecture(
    config="GPTNeoXConfig",
    model="GPTNeoXForCausalLM",
    sizes={
        "vocab_size": 50304,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 2048,
    },
    small=SMALL,
)


def _build(options: NetworkOptions) -> BuiltModel:
    return decoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="gpt-neox",
        family="decoder",
        summary="12 layers of 768, the 160M Pythia size: partial RoPE, attention beside MLP",
        parameters=162_322_944,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Black et al. 2022, arXiv:2204.06745; Apache-2.0",
        build=_build,
        understands=DECODER,
    )
)
