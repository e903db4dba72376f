"""Stable Diffusion's UNet: convolutions, group norms, self- and cross-attention."""

from __future__ import annotations

from typing import Any

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, Module, NetworkOptions, Tensors, register
from burnish.zoo.flat import flat
from burnish.zoo.precision import in_precision

SIZES: dict[str, Any] = {"sample_size": 64, "cross_attention_dim": 768}
SMALL: dict[str, Any] = {
    "sample_size": 16,
    "cross_attention_dim": 48,
    "layers_per_block": 1,
    "block_out_channels": (32, 64),
    "norm_num_groups": 8,
    "attention_head_dim": 4,
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
}
BATCH, TOKENS = 2, 77
SMALL_TOKENS = 7


def _build(options: NetworkOptions) -> BuiltModel:
    import torch
    from diffusers import UNet2DConditionModel
    from diffusers.models.attention_processor import AttnProcessor

    sizes = SMALL if options.small else SIZES
    layers = {} if options.layers is None else {"layers_per_block": options.layers}
    module = weights.randomise(UNet2DConditionModel(**{**sizes, **layers}), seed=options.seed)
    if options.attention == "eager":
        module.set_attn_processor(AttnProcessor())
    edge, width = sizes["sample_size"], sizes["cross_attention_dim"]

    def inputs(batch: int, tokens: int, step: float) -> Tensors:
        generator = torch.Generator().manual_seed(options.seed)
        return {
            "sample": torch.randn(batch, 4, edge, edge, generator=generator),
            "timestep": torch.tensor([step]),
            "encoder_hidden_states": torch.randn(batch, tokens, width, generator=generator),
        }

    batch = options.batch or BATCH
    tokens = options.sequence or (SMALL_TOKENS if options.small else TOKENS)
    first = inputs(batch, tokens, 7.0)
    built = BuiltModel(
        module=flat(module, tuple(first), _noise),
        inputs=first,
        second_inputs=inputs(batch + 1, tokens + 2, 430.0),
        output_names=("noise",),
        dynamic_axes={
            "sample": {0: "batch"},
            "encoder_hidden_states": {0: "batch", 1: "sequence"},
        },
    )
    return in_precision(built, options.precision)


def _noise(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    return (module(*inputs.values(), return_dict=False)[0],)


register(
    ModelEntry(
        name="diffusion-unet",
        family="diffusion",
        summary="Stable Diffusion 1 at 64×64 latents: group norms, SiLU, self- and cross-attention",
        parameters=859_520_964,
        inputs="sample: f32[batch, 4, 64, 64]; timestep: f32[1]; "
        "encoder_hidden_states: f32[batch, sequence, 768]",
        idea="Rombach et al. 2021, arXiv:2112.10752; CreativeML Open RAIL-M",
        build=_build,
        understands=frozenset({"layers", "attention", "sequence"}),
    )
)
