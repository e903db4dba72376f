"""Decoders that write one token after another, with and without the past: one path for all.

With past, keys and values of earlier tokens go in as `past_key_0`, `past_value_0` … and come out,
longer by the new tokens, as `present_key_0`, `present_value_0` …; `attention_mask` covers both,
and `position_ids` count the tokens that the mask leaves.
"""

from __future__ import annotations

from typing import Any

from burnish.zoo import text
from burnish.zoo.entry import BuiltModel, Module, NetworkOptions, Tensors
from burnish.zoo.flat import flat
from burnish.zoo.precision import in_precision
from burnish.zoo.pretrained import Architecture, module_of
from burnish.zoo.tokens import Side, ids, mask, positions

PAST, SECOND_PAST = 9, 14
NEW_TOKENS, SECOND_NEW_TOKENS = 3, 1


def decoder(
    architecture: Architecture, options: NetworkOptions, *, output_name: str = "logits"
) -> BuiltModel:
    """Return a decoder whose first output is called `output_name`."""
    if options.past:
        return with_past(module_of(architecture, options), options, output_name)
    return text.encoder(
        architecture,
        options,
        call=_without_cache,
        output_names=(output_name,),
        second_side="after-first",
    )


def _without_cache(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    return (module(**inputs, use_cache=False)[0],)


def with_past(module: Module, options: NetworkOptions, output_name: str) -> BuiltModel:
    """Return a causal model of `transformers` that takes and returns its past."""
    batch, new = options.batch or text.BATCH, options.sequence or NEW_TOKENS
    first = step_inputs(module, options, batch=batch, new=new, past=PAST, side="right")
    second = step_inputs(
        module, options, batch=batch + 1, new=SECOND_NEW_TOKENS, past=SECOND_PAST, side="left"
    )
    past_names = [name for name in first if name.startswith("past_")]
    axes = {
        "input_ids": {0: "batch", 1: "sequence"},
        "attention_mask": {0: "batch", 1: "total_sequence"},
        "position_ids": {0: "batch", 1: "sequence"},
    }
    built = BuiltModel(
        module=flat(module, tuple(first), _with_cache),
        inputs=first,
        second_inputs=second,
        output_names=(output_name, *(name.replace("past", "present") for name in past_names)),
        dynamic_axes=axes | {name: {0: "batch", 2: "past_sequence"} for name in past_names},
    )
    return in_precision(built, options.precision)


def step_inputs(
    module: Module, options: NetworkOptions, *, batch: int, new: int, past: int, side: Side
) -> Tensors:
    """Return new tokens after a past; a right-padded mask has its holes at the past's end."""
    import torch

    config = module.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    generator = torch.Generator().manual_seed(options.seed)
    whole = torch.cat([mask(batch, past, side=side), torch.ones(batch, new).long()], dim=1)
    return {
        "input_ids": ids(batch, new, vocabulary=config.vocab_size, seed=options.seed + new),
        "attention_mask": whole,
        "position_ids": positions(whole)[:, past:],
        **{
            f"past_{part}_{layer}": torch.randn(batch, heads, past, size, generator=generator)
            for layer in range(config.num_hidden_layers)
            for part in ("key", "value")
        },
    }


def _with_cache(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    """Return the first output, then keys and values of past and new tokens, layer by layer."""
    from transformers import DynamicCache

    given = {name: tensor for name, tensor in inputs.items() if not name.startswith("past_")}
    pairs = [
        (inputs[f"past_key_{layer}"], inputs[f"past_value_{layer}"])
        for layer in range(module.config.num_hidden_layers)
    ]
    cache = DynamicCache(pairs)
    outputs = module(**given, past_key_values=cache, use_cache=True)
    present = (tensor for layer in cache.layers for tensor in (layer.keys, layer.values))
    return (outputs[0], *present)
