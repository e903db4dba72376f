"""Mistral: LLaMA with grouped keys and a sliding window."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL

ARCHITECTURE = Architecture(
    config="MistralConfig",
    model="MistralForCausalLM",
    sizes={},
    small={**SMALL, "num_key_value_heads": 2, "sliding_window": 11},
    fixed={"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
)


def _build(options: NetworkOptions) -> BuiltModel:
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
        understands=DECODER,
    )
)
