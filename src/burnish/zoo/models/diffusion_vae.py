"""Stable Diffusion's image decoder: from latents to pixels."""

from __future__ import annotations

from typing import Any

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, Module, NetworkOptions, Tensors, register
from burnish.zoo.flat import flat
from burnish.zoo.precision import in_precision

SIZES: dict[str, Any] = {"block_out_channels": (128, 256, 512, 512), "layers_per_block": 2}
SMALL: dict[str, Any] = {
    "block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8,
}  # fmt: skip
BATCH, EDGE, SMALL_EDGE = 1, 64, 8


def _build(options: NetworkOptions) -> BuiltModel:
    import torch
    from diffusers import AutoencoderKL
    from diffusers.models.attention_processor import AttnProcessor

    layers = {} if options.layers is None else {"layers_per_block": options.layers}
    sizes = {**(SMALL if options.small else SIZES), **layers}
    stages = len(sizes["block_out_channels"])
    autoencoder = AutoencoderKL(
        latent_channels=4,
        down_block_types=("DownEncoderBlock2D",) * stages,
        up_block_types=("UpDecoderBlock2D",) * stages,
        **sizes,
    )
    del autoencoder.encoder, autoencoder.quant_conv
    module = weights.randomise(autoencoder, seed=options.seed)
    if options.attention == "eager":
        module.set_attn_processor(AttnProcessor())
    edge = SMALL_EDGE if options.small else EDGE

    def inputs(batch: int, seed: int) -> Tensors:
        generator = torch.Generator().manual_seed(seed)
        return {"latent_sample": torch.randn(batch, 4, edge, edge, generator=generator)}

    batch = options.batch or BATCH
    first = inputs(batch, options.seed)
    built = BuiltModel(
        module=flat(module, tuple(first), _pixels),
        inputs=first,
        second_inputs=inputs(batch + 1, options.seed + 1),
        output_names=("sample",),
        dynamic_axes={"latent_sample": {0: "batch"}},
    )
    return in_precision(built, options.precision)


def _pixels(module: Module, inputs: Tensors) -> tuple[Any, ...]:
    return (module.decode(inputs["latent_sample"], return_dict=False)[0],)


register(
    ModelEntry(
        name="diffusion-vae",
        family="diffusion",
        summary="Stable Diffusion's decoder from 64×64 latents to 512×512 pixels: big convolutions",
        parameters=49_490_199,
        inputs="latent_sample: f32[batch, 4, 64, 64]",
        idea="Rombach et al. 2021, arXiv:2112.10752; CreativeML Open RAIL-M",
        build=_build,
        understands=frozenset({"layers", "attention"}),
    )
)
