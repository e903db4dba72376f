"""Longformer, with its attention rewritten so that both exporters take it."""

from __future__ import annotations

from typing import Any

from burnish.zoo.entry import BuiltModel, ModelEntry, NetworkOptions, Tensors, register
from burnish.zoo.precision import in_precision
from burnish.zoo.pretrained import Architecture, module_of
from burnish.zoo.text import SMALL
from burnish.zoo.tokens import Side, ids, mask

ARCHITECTURE = Architecture(
    config="LongformerConfig",
    model="LongformerModel",
    sizes={
        "vocab_size": 50265,
        "max_position_embeddings": 4098,
        "type_vocab_size": 1,
        "layer_norm_eps": 1e-5,
        "attention_window": 512,
    },
    small={**SMALL, "attention_window": 8},
    fixed={"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
)
BATCH = 2
SEQUENCE, SMALL_SEQUENCE = 600, 19
"""Longer than a window, and no multiple of one."""


def _build(options: NetworkOptions) -> BuiltModel:
    from burnish.zoo.networks.longformer_attention import ExportableLongformer

    model = module_of(ARCHITECTURE, options)

    def inputs(batch: int, length: int, side: Side) -> Tensors:
        vocabulary = model.config.vocab_size
        exists = mask(batch, length, side=side)
        return {
            "input_ids": ids(batch, length, vocabulary=vocabulary, seed=options.seed + length),
            "attention_mask": exists,
            "global_attention_mask": _global_tokens(exists),
        }

    batch = options.batch or BATCH
    length = options.sequence or (SMALL_SEQUENCE if options.small else SEQUENCE)
    first = inputs(batch, length, "right")
    built = BuiltModel(
        module=ExportableLongformer(model),
        inputs=first,
        second_inputs=inputs(batch + 1, length + 5, "left"),
        output_names=("last_hidden_state", "pooled"),
        dynamic_axes={name: {0: "batch", 1: "sequence"} for name in first},
    )
    return in_precision(built, options.precision)


def _global_tokens(exists: Any) -> Any:  # noqa: ANN401  (torch.Tensors)
    """Return a mask of the first token of the first row, the first two of the second, and so on."""
    import torch

    rows = torch.arange(1, exists.shape[0] + 1).unsqueeze(1)
    return (exists.cumsum(1) <= rows).long() * exists


register(
    ModelEntry(
        name="longformer",
        family="text",
        summary="12 layers of 768 with windows of 512 and global tokens, padded inside the graph",
        parameters=148_659_456,
        inputs="input_ids, attention_mask, global_attention_mask: i64[batch, sequence]",
        idea="Beltagy et al. 2020, arXiv:2004.05150; Apache-2.0",
        build=_build,
        understands=frozenset({"layers", "sequence"}),
    )
)
