"""Text encoders: token ids and a mask in, hidden states or logits out, any batch and length."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.zoo.entry import BuiltModel, NetworkOptions, Tensors
from burnish.zoo.flat import Call, first_output, first_two_outputs, flat
from burnish.zoo.precision import in_precision
from burnish.zoo.pretrained import Architecture, module_of
from burnish.zoo.tokens import Side, ids, mask, segments

BATCH, SEQUENCE = 2, 16
SMALL_SEQUENCE = 12
"""Unlike any size of the small copies, so that a tool that guesses an axis guesses wrong."""
SMALL: Mapping[str, int] = {
    "vocab_size": 131, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 112, "max_position_embeddings": 64,
}  # fmt: skip
"""A small copy's sizes, under the names that most configurations share."""


def encoder(
    architecture: Architecture,
    options: NetworkOptions,
    *,
    has_segments: bool = False,
    call: Call = first_output,
    output_names: tuple[str, ...] = ("last_hidden_state",),
    second_side: Side = "left",
) -> BuiltModel:
    """Return an encoder of `input_ids`, `attention_mask` and, where it has them, segments."""
    module = module_of(architecture, options)
    vocabulary = module.config.vocab_size

    def inputs(batch: int, length: int, side: Side) -> Tensors:
        tensors = {
            "input_ids": ids(batch, length, vocabulary=vocabulary, seed=options.seed + length),
            "attention_mask": mask(batch, length, side=side),
        }
        return tensors | ({"token_type_ids": segments(batch, length)} if has_segments else {})

    batch = options.batch or BATCH
    length = options.sequence or (SMALL_SEQUENCE if options.small else SEQUENCE)
    first = inputs(batch, length, "right")
    built = BuiltModel(
        module=flat(module, tuple(first), call),
        inputs=first,
        second_inputs=inputs(batch + 1, length + 5, second_side),
        output_names=output_names,
        dynamic_axes={name: {0: "batch", 1: "sequence"} for name in first},
    )
    return in_precision(built, options.precision)


def pooled_encoder(
    architecture: Architecture,
    options: NetworkOptions,
    *,
    has_segments: bool = False,
    second_side: Side = "left",
) -> BuiltModel:
    """Return an encoder that also gives back one pooled vector per sequence."""
    return encoder(
        architecture,
        options,
        has_segments=has_segments,
        call=first_two_outputs,
        output_names=("last_hidden_state", "pooled"),
        second_side=second_side,
    )
