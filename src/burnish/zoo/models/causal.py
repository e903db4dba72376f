"""Decoders: text that is written one token after the other, with and without the past."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, ModelEntry, register
from burnish.zoo.pretrained import TOKENS, Architecture
from burnish.zoo.text import SMALL

_writer = partial(
    ModelEntry,
    family="decoder",
    inputs="input_ids, attention_mask: i64[batch, sequence]",
    understands=DECODER,
)
_gpt2 = partial(_writer, parameters=124_439_808, idea="Radford et al. 2019; MIT")

SMALL_GPT2 = {
    "vocab_size": 131, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_inner": 112, "n_positions": 64,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
SMALL_GROUPED: Mapping[str, int] = {**SMALL, "num_key_value_heads": 2}


def _gpt2_of(model: str, layers: int) -> Architecture:
    return Architecture("GPT2Config", model, {"n_layer": layers}, SMALL_GPT2, layers=("n_layer",))


OPT = Architecture(
    "OPTConfig",
    "OPTForCausalLM",
    {},
    {
        "vocab_size": 131, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "ffn_dim": 112, "word_embed_proj_dim": 64, "max_position_embeddings": 64,
    },
)  # fmt: skip
GPT_NEOX = Architecture(
    "GPTNeoXConfig",
    "GPTNeoXForCausalLM",
    {
        "vocab_size": 50304, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 2048,
    },
    SMALL,
)  # fmt: skip
LLAMA = Architecture(
    "LlamaConfig",
    "LlamaForCausalLM",
    {
        "vocab_size": 32000, "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5504,
        "max_position_embeddings": 4096,
    },
    SMALL_GROUPED,
    fixed=TOKENS,
)  # fmt: skip
MISTRAL = Architecture(
    "MistralConfig", "MistralForCausalLM", {}, {**SMALL_GROUPED, "sliding_window": 11}, fixed=TOKENS
)
PHI3 = Architecture("Phi3Config", "Phi3ForCausalLM", {}, SMALL_GROUPED, fixed=TOKENS)
QWEN2 = Architecture(
    "Qwen2Config",
    "Qwen2ForCausalLM",
    {
        "vocab_size": 151936, "hidden_size": 896, "num_hidden_layers": 24,
        "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
    },
    SMALL_GROUPED,
    fixed={**TOKENS, "tie_word_embeddings": True},
)  # fmt: skip

register(
    _gpt2(
        name="gpt2",
        summary="12 layers of 768 and logits: the yardstick for decoding with past state",
        build=partial(decoder, _gpt2_of("GPT2LMHeadModel", 12)),
    ),
    _gpt2(
        name="gpt2-model",
        summary="GPT-2 without its head: hidden states, so that layers are not drowned by logits",
        build=partial(decoder, _gpt2_of("GPT2Model", 12), output_name="last_hidden_state"),
    ),
    _writer(
        name="distilgpt2",
        summary="6 layers of 768 and logits: GPT-2 at half the depth, quick to export",
        parameters=81_912_576,
        idea="Sanh et al. 2019, arXiv:1910.01108; Apache-2.0",
        build=partial(decoder, _gpt2_of("GPT2LMHeadModel", 6)),
    ),
    _writer(
        name="opt",
        summary="12 layers of 768, the 125M size: ReLU instead of Gelu, biases everywhere",
        parameters=125_239_296,
        idea="Zhang et al. 2022, arXiv:2205.01068; MIT",
        build=partial(decoder, OPT),
    ),
    _writer(
        name="gpt-neox",
        summary="12 layers of 768, the 160M Pythia size: partial RoPE, attention beside MLP",
        parameters=162_322_944,
        idea="Black et al. 2022, arXiv:2204.06745; Apache-2.0",
        build=partial(decoder, GPT_NEOX),
    ),
    _writer(
        name="llama",
        summary="16 layers, 16 heads of 128: half a 7B each way; RMS norm, RoPE, SwiGLU",
        parameters=940_640_256,
        idea="Touvron et al. 2023, arXiv:2307.09288; Llama 2 Community Licence",
        build=partial(decoder, LLAMA),
    ),
    _writer(
        name="mistral",
        summary="32 layers of 4096 (29 GB in fp32: use --layers): grouped heads, a window",
        parameters=7_241_732_096,
        idea="Jiang et al. 2023, arXiv:2310.06825; Apache-2.0",
        build=partial(decoder, MISTRAL),
    ),
    _writer(
        name="phi3",
        summary="32 layers of 3072 (15 GB in fp32: use --layers): packed projections",
        parameters=3_821_079_552,
        idea="Abdin et al. 2024, arXiv:2404.14219; MIT",
        build=partial(decoder, PHI3),
    ),
    _writer(
        name="qwen2",
        summary="24 layers of 896, the 0.5B size: grouped heads, q/k/v biases, tied logits",
        parameters=494_032_768,
        idea="Yang et al. 2024, arXiv:2407.10671; Apache-2.0",
        build=partial(decoder, QWEN2),
    ),
)
