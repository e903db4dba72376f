"""GPT-2 and DistilGPT-2, with the head that predicts tokens and without it."""

from __future__ import annotations

from burnish.zoo.decoders import decoder
from burnish.zoo.entry import DECODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture

SMALL = {
    "vocab_size": 131, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_inner": 112, "n_positions": 64,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
INPUTS = "input_ids, attention_mask: i64[batch, sequence]"


def _architecture(model: str, layers: int) -> Architecture:
    return Architecture("GPT2Config", model, {"n_layer": layers}, SMALL, layers=("n_layer",))


def _build_gpt2(options: NetworkOptions) -> BuiltModel:
    return decoder(_architecture("GPT2LMHeadModel", 12), options)


def _build_gpt2_model(options: NetworkOptions) -> BuiltModel:
    return decoder(_architecture("GPT2Model", 12), options, output_name="last_hidden_state")


def _build_distilgpt2(options: NetworkOptions) -> BuiltModel:
    return decoder(_architecture("GPT2LMHeadModel", 6), options)


register(
    ModelEntry(
        name="gpt2",
        family="decoder",
        summary="12 layers of 768 and logits: the yardstick for decoding with past state",
        parameters=124_439_808,
        inputs=INPUTS,
        idea="Radford et al. 2019; MIT",
        build=_build_gpt2,
        understands=DECODER,
    )
)
register(
    ModelEntry(
        name="gpt2-model",
        family="decoder",
        summary="GPT-2 without its head: hidden states, so that layers are not drowned by logits",
        parameters=124_439_808,
        inputs=INPUTS,
        idea="Radford et al. 2019; MIT",
        build=_build_gpt2_model,
        understands=DECODER,
    )
)
register(
    ModelEntry(
        name="distilgpt2",
        family="decoder",
        summary="6 layers of 768 and logits: GPT-2 at half the depth, quick to export",
        parameters=81_912_576,
        inputs=INPUTS,
        idea="Sanh et al. 2019, arXiv:1910.01108; Apache-2.0",
        build=_build_distilgpt2,
        understands=DECODER,
    )
)
