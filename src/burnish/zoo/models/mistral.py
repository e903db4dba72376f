"""Mistral: LLaMA with grouped keys and a sliding window."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import BuildOptions, BuiltModel, ModelEntry, register
from burnish.zoo.pretrained import Architecture

ARCHITECTURE = Architecture(
    config="MistralConfig",
    model="MistralForCausalLM",
    sizes={},
    small={
        "vocab_size": 131,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 112,
        "max_position_embeddings": 64,
        "num_key_value_heads": 2,
        "sliding_window": 11,
    },
    fixed={"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
)


def _build(options: BuildOptions) -> BuiltModel:
    return decoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="mistral",
        family="decoder",
        summary="32 layers of 4096 (29 GB in fp32: use --layers): grouped heads, a window",
        parameters=7_241_732_096,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Jiang et al. 2023, arXiv:2310.06825; Apache-2.0",
        build=_build,
        has_past=True,
    )
)
