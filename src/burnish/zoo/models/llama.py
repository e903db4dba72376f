"""LLaMA 2: RMS norm, rotary positions and gated SiLU."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL

ARCHITECTURE = Architecture(
    config="LlamaConfig",
    model="LlamaForCausalLM",
    sizes={
        "vocab_size": 32000,
        "hidden_size": 2048,
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "intermediate_size": 5504,
        "max_position_embeddings": 4096,
    },
    small={**SMALL, "num_key_value_heads": 2},
    fixed={"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return decoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="llama",
        family="decoder",
        summary="16 layers, 16 heads of 128: half a 7B each way; RMS norm, RoPE, SwiGLU",
        parameters=940_640_256,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Touvron et al. 2023, arXiv:2307.09288; Llama 2 Community Licence",
        build=_build,
        understands=DECODER,
    )
)
