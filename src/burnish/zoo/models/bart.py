"""BART: an encoder, and a decoder that attends to it."""

from __future__ import annotations

from typing import Any

from burnish.zoo.entry import (
    ENCODER,
    BuiltModel,
    ModelEntry,
    Module,
    NetworkOptions,
    Tensors,
    register,
)
from burnish.zoo.flat import flat
from burnish.zoo.precision import in_precision
from burnish.zoo.pretrained import Architecture, module_of
from burnish.zoo.text import BATCH, SEQUENCE, SMALL_SEQUENCE
from burnish.zoo.tokens import Side, ids, mask

ARCHITECTURE = Architecture(
    config="BartConfig",
    model="BartForConditionalGeneration",
    sizes={
        "d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12,
        "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072,
    },
    small={
        "vocab_size": 131, "d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 112,
        "decoder_ffn_dim": 112, "max_position_embeddings": 64,
    },
    layers=("encoder_layers", "decoder_layers"),
)  # fmt: skip
DECODER_TOKENS = 9


def _build(options: NetworkOptions) -> BuiltModel:
    module = module_of(ARCHITECTURE, options)
    vocabulary = module.config.vocab_size

    def inputs(batch: int, length: int, decoded: int, side: Side) -> Tensors:
        return {
            "input_ids": ids(batch, length, vocabulary=vocabulary, seed=options.seed + length),
            "attention_mask": mask(batch, length, side=side),
            "decoder_input_ids": ids(batch, decoded, vocabulary=vocabulary, seed=options.seed + 1),
        }

    batch = options.batch or BATCH
    length = options.sequence or (SMALL_SEQUENCE if options.small else SEQUENCE)
    first = inputs(batch, length, DECODER_TOKENS, "right")
    built = BuiltModel(
        module=flat(module, tuple(first), _logits),
        inputs=first,
        second_inputs=inputs(batch + 1, length + 5, DECODER_TOKENS - 2, "left"),
        output_names=("logits",),
        dynamic_axes={
            "input_ids": {0: "batch", 1: "sequence"},
            "attention_mask": {0: "batch", 1: "sequence"},
            "decoder_input_ids": {0: "batch", 1: "decoder_sequence"},
        },
    )
    return in_precision(built, options.precision)


def _logits(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    return (module(**inputs, use_cache=False)[0],)


register(
    ModelEntry(
        name="bart",
        family="text",
        summary="6 + 6 layers of 768, the base size: self-, causal and cross-attention",
        parameters=139_420_416,
        inputs="input_ids, attention_mask: i64[batch, sequence]; "
        "decoder_input_ids: i64[batch, decoder_sequence]",
        idea="Lewis et al. 2019, arXiv:1910.13461; MIT",
        build=_build,
        understands=ENCODER,
    )
)
