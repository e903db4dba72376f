"""Whisper's encoder: two convolutions over a spectrogram, then a transformer."""

from __future__ import annotations

from burnish.zoo import weights
from burnish.zoo.entry import BuiltModel, ModelEntry, Module, NetworkOptions, Tensors, register
from burnish.zoo.flat import first_output, flat
from burnish.zoo.precision import in_precision

SMALL = {
    "d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 112,
    "num_mel_bins": 20, "max_source_positions": 25,
}  # fmt: skip
BATCH = 2


def _build(options: NetworkOptions) -> BuiltModel:
    import torch

    encoder = _encoder(options)
    # every recording is padded to 30 s before it comes here: the length never changes
    shape = (encoder.config.num_mel_bins, 2 * encoder.config.max_source_positions)

    def inputs(batch: int, seed: int) -> Tensors:
        generator = torch.Generator().manual_seed(seed)
        return {"input_features": torch.randn(batch, *shape, generator=generator)}

    batch = options.batch or BATCH
    first = inputs(batch, options.seed)
    built = BuiltModel(
        module=flat(encoder, tuple(first), first_output),
        inputs=first,
        second_inputs=inputs(batch + 1, options.seed + 1),
        output_names=("last_hidden_state",),
        dynamic_axes={"input_features": {0: "batch"}},
    )
    return in_precision(built, options.precision)


def _encoder(options: NetworkOptions) -> Module:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    layers = {} if options.layers is None else {"encoder_layers": options.layers}
    config = WhisperConfig(**{**(SMALL if options.small else {}), **layers})
    config._attn_implementation = options.attention
    return weights.randomise(WhisperEncoder(config), seed=options.seed)


register(
    ModelEntry(
        name="whisper-encoder",
        family="audio",
        summary="4 layers of 384, the tiny size, on 1500 frames: long attention without a mask",
        parameters=8_208_384,
        inputs="input_features: f32[batch, 80, 3000]",
        idea="Radford et al. 2022, arXiv:2212.04356; MIT",
        build=_build,
        understands=frozenset({"layers", "attention"}),
    )
)
