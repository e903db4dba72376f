"""Phi-3: LLaMA with one projection for queries, keys and values and one for gate and up."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import SMALL

ARCHITECTURE = Architecture(
    config="Phi3Config",
    model="Phi3ForCausalLM",
    sizes={},
    small={**SMALL, "num_key_value_heads": 2},
    fixed={"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
)


def _build(options: NetworkOptions) -> BuiltModel:
    return decoder(ARCHITECTURE, options)


register(
    ModelEntry(
        name="phi3",
        family="decoder",
        summary="32 layers of 3072 (15 GB in fp32: use --layers): packed projections",
        parameters=3_821_079_552,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Abdin et al. 2024, arXiv:2404.14219; MIT",
        build=_build,
        understands=DECODER,
    )
)
