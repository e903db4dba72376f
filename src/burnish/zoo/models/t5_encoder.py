"""T5's encoder: relative-position biases, RMS norm, and attention without a scale."""

from __future__ import annotations

from burnish.zoo.entry import ENCODER, BuiltModel, ModelEntry, NetworkOptions, register
from burnish.zoo.pretrained import Architecture
from burnish.zoo.text import encoder

ARCHITECTURE = Architecture(
    config="T5Config",
    model="T5EncoderModel",
    sizes={},
    small={
        "vocab_size": 131, "d_model": 64, "d_kv": 16, "d_ff": 112, "num_layers": 2, "num_heads": 4,
        "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
    },
    layers=("num_layers",),
)  # fmt: skip


def _build(options: NetworkOptions) -> BuiltModel:
    import torch

    built = encoder(ARCHITECTURE, options)
    with torch.no_grad():
        for name, parameter in built.module.named_parameters():
            if name.endswith("SelfAttention.q.weight"):
                # trained T5 has the usual 1/√size in these weights: the graph does not divide
                parameter.mul_(built.module.model.config.d_kv**-0.5)
    return built


register(
    ModelEntry(
        name="t5-encoder",
        family="text",
        summary="6 layers of 512, the small size: a learned bias per distance of tokens",
        parameters=35_330_816,
        inputs="input_ids, attention_mask: i64[batch, sequence]",
        idea="Raffel et al. 2019, arXiv:1910.10683; Apache-2.0",
        build=_build,
        understands=ENCODER,
    )
)
