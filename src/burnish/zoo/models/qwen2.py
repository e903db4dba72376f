"""Qwen2: LLaMA with biases on queries, keys and values."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL

ARCHITECTURE = Architecture(
    config="Qwen2Config",
    model="Qwen2ForCausalLM",
    sizes={
        "vocab_size": 151936,
        "hidden_size": 896,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "intermediate_size": 4864,
    },
    small={**SMALL, "num_key_value_heads": 2},
    fixed={"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": True},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return decoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="qwen2",
        family="decoder",
        summary="24 layers of 896, the 0.5B size: grouped heads, q/k/v biases, tied logits",
        parameters=494_032_768,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Yang et al. 2024, arXiv:2407.10671; Apache-2.0",
        build=_build,
        understands=DECODER,
    )
)
