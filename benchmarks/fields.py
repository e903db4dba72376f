"""Architectures of other fields for the shared coverage tool: sound, video, series, timm.

A part of `benchmarks/architectures.py`, which registers and exports them. Each is told by its
configuration, its class and its inputs: what kind of numbers, and their shape, in which `b` and `s`
are sizes that change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Tool = Any
"""The tool's module `models`, which is not installed and has no types."""

HIDDEN, HEADS, LAYERS, INNER = 64, 4, 2, 112
TEXT = {"vocab_size": 131, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": INNER,
        "max_position_embeddings": 64}  # fmt: skip
PICTURES = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "intermediate_size": INNER, "image_size": 32, "patch_size": 8}  # fmt: skip
PAIR = {"d_model": HIDDEN, "encoder_layers": LAYERS, "decoder_layers": LAYERS,
        "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS,
        "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER}  # fmt: skip
WAVES = {"conv_dim": [32, 32], "conv_stride": [5, 2], "conv_kernel": [10, 3],
         "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8,
         "num_conv_pos_embedding_groups": 4}  # fmt: skip
SERIES = {**PAIR, "prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2],
          "num_time_features": 2}  # fmt: skip

Size = int | str
Inputs = Mapping[str, tuple[Size, ...]]
"""What kind of numbers, then the shape."""

TOKENS: Inputs = {"input_ids": ("ids", "b", "s"), "attention_mask": ("mask", "b", "s")}
PAST: Inputs = {"past_values": ("numbers", "b", 10), "past_time_features": ("numbers", "b", 10, 2),
                "past_observed_mask": ("ones", "b", 10), "future_values": ("numbers", "b", 4),
                "future_time_features": ("numbers", "b", 4, 2)}  # fmt: skip


def _pictures(*shape: int) -> Inputs:
    return {"pixel_values": ("numbers", "b", *shape)}


@dataclass(frozen=True)
class Field:
    """One model."""

    config: str
    model: str
    fields: Mapping[str, object]
    inputs: Inputs
    rotary: int = 0


FIELDS: Mapping[str, Field] = {
    "wav2vec2-bert": Field(
        "Wav2Vec2BertConfig", "Wav2Vec2BertModel",
        {**TEXT, "feature_projection_input_dim": 40, "conv_depthwise_kernel_size": 5,
         "left_max_position_embeddings": 8, "right_max_position_embeddings": 4},
        {"input_features": ("numbers", "b", "s", 40), "attention_mask": ("mask", "b", "s")}),
    "speech-to-text": Field(
        "Speech2TextConfig", "Speech2TextModel",
        {**PAIR, "vocab_size": 131, "conv_channels": 48, "input_feat_per_channel": 16,
         "max_source_positions": 64, "max_target_positions": 64},
        {"input_features": ("numbers", "b", 24, 16), "decoder_input_ids": ("ids", "b", "s")}),
    "ast": Field(
        "ASTConfig", "ASTModel",
        {**TEXT, "max_length": 32, "num_mel_bins": 32, "patch_size": 8, "frequency_stride": 8,
         "time_stride": 8},
        {"input_values": ("numbers", "b", 32, 32)}),
    "clap-audio": Field(
        "ClapAudioConfig", "ClapAudioModel",
        {"spec_size": 32, "num_mel_bins": 16, "patch_size": 4, "patch_stride": [4, 4],
         "patch_embeds_hidden_size": 32, "hidden_size": 64, "depths": [1, 1],
         "num_attention_heads": [2, 4], "window_size": 4, "enable_fusion": False},
        {"input_features": ("numbers", "b", 1, 32, 16)}),
    "moonshine": Field(
        "MoonshineConfig", "MoonshineModel",
        {"vocab_size": 131, "hidden_size": HIDDEN, "intermediate_size": INNER,
         "encoder_num_hidden_layers": 2, "decoder_num_hidden_layers": 2,
         "encoder_num_attention_heads": 4, "decoder_num_attention_heads": 4,
         "max_position_embeddings": 64},
        {"input_values": ("numbers", "b", 2000), "decoder_input_ids": ("ids", "b", "s")}, 8),
    "parakeet": Field(
        "ParakeetEncoderConfig", "ParakeetEncoder",
        {**{key: value for key, value in TEXT.items() if key != "vocab_size"},
         "num_mel_bins": 16, "subsampling_conv_channels": 16, "conv_kernel_size": 5},
        {"input_features": ("numbers", "b", 64, 16)}),
    "sew-d": Field(
        "SEWDConfig", "SEWDModel",
        {**TEXT, **WAVES, "squeeze_factor": 2, "position_buckets": 8,
         "max_position_embeddings": 32},
        {"input_values": ("numbers", "b", 400)}),
    "unispeech": Field(
        "UniSpeechConfig", "UniSpeechModel", {**TEXT, **WAVES},
        {"input_values": ("numbers", "b", 400)}),
    "patchtst": Field(
        "PatchTSTConfig", "PatchTSTModel",
        {"num_input_channels": 3, "context_length": 32, "patch_length": 4, "patch_stride": 4,
         "num_hidden_layers": 2, "d_model": HIDDEN, "num_attention_heads": 4, "ffn_dim": INNER},
        {"past_values": ("numbers", "b", 32, 3)}),
    "patchtsmixer": Field(
        "PatchTSMixerConfig", "PatchTSMixerModel",
        {"num_input_channels": 3, "context_length": 32, "patch_length": 4, "patch_stride": 4,
         "num_layers": 2, "d_model": HIDDEN, "self_attn": True, "self_attn_heads": 4},
        {"past_values": ("numbers", "b", 32, 3)}),
    "timesfm": Field(
        "TimesFmConfig", "TimesFmModel",
        {"patch_length": 4, "context_length": 32, "horizon_length": 8, "hidden_size": HIDDEN,
         "intermediate_size": INNER, "head_dim": 16, "num_attention_heads": 4,
         "num_hidden_layers": 2},
        {"past_values": ("numbers", "b", 32), "past_values_padding": ("zeros", "b", 32),
         "freq": ("zeros", "b", 1)}),
    "time-series": Field(
        "TimeSeriesTransformerConfig", "TimeSeriesTransformerModel", SERIES, PAST),
    "videomae": Field(
        "VideoMAEConfig", "VideoMAEModel", {**PICTURES, "num_frames": 4, "tubelet_size": 2},
        _pictures(4, 3, 32, 32)),
    "vivit": Field(
        "VivitConfig", "VivitModel", {**PICTURES, "num_frames": 4, "tubelet_size": [2, 8, 8]},
        _pictures(4, 3, 32, 32)),
    "timesformer": Field(
        "TimesformerConfig", "TimesformerModel", {**PICTURES, "num_frames": 4},
        _pictures(4, 3, 32, 32)),
    "vjepa2": Field(
        "VJEPA2Config", "VJEPA2Model",
        {**PICTURES, "crop_size": 32, "frames_per_clip": 4, "tubelet_size": 2,
         "pred_hidden_size": 32, "pred_num_attention_heads": 2, "pred_num_hidden_layers": 1},
        {"pixel_values_videos": ("numbers", "b", 4, 3, 32, 32)}),
    "detr": Field(
        "DetrConfig", "DetrModel",
        {**PAIR, "num_queries": 7, "use_timm_backbone": False, "use_pretrained_backbone": False,
         "backbone_config": {"model_type": "resnet", "embedding_size": 16, "hidden_sizes": [32, 64],
                             "depths": [1, 1], "layer_type": "basic",
                             "out_features": ["stage2"]}},
        _pictures(3, 64, 64)),
    "levit": Field(
        "LevitConfig", "LevitModel",
        {"image_size": 64, "hidden_sizes": [32, 48, 64], "num_attention_heads": [2, 3, 4],
         "depths": [1, 1, 1], "key_dim": [8, 8, 8], "mlp_ratio": [2, 2, 2],
         "attention_ratio": [2, 2, 2]},
        _pictures(3, 64, 64)),
    "swiftformer": Field(
        "SwiftFormerConfig", "SwiftFormerModel",
        {"image_size": 64, "depths": [1, 1, 1, 1], "embed_dims": [16, 24, 32, 48]},
        _pictures(3, 64, 64)),
    "dpt": Field(
        "DPTConfig", "DPTModel", {**PICTURES, "backbone_out_indices": [0, 1], "is_hybrid": False},
        _pictures(3, 32, 32)),
    "vit-mae": Field(
        "ViTMAEConfig", "ViTMAEModel", {**PICTURES, "mask_ratio": 0.0}, _pictures(3, 32, 32)),
    "radio": Field("RadioConfig", "RadioModel", PICTURES, _pictures(3, 32, 32)),
    "pixio": Field("PixioConfig", "PixioModel", PICTURES, _pictures(3, 32, 32)),
    "visual-bert": Field(
        "VisualBertConfig", "VisualBertModel", {**TEXT, "visual_embedding_dim": 24},
        {**TOKENS, "visual_embeds": ("numbers", "b", 5, 24),
         "visual_attention_mask": ("ones", "b", 5)}),
    "lxmert": Field(
        "LxmertConfig", "LxmertModel",
        {**{key: value for key, value in TEXT.items() if key != "num_hidden_layers"},
         "l_layers": 2, "x_layers": 1, "r_layers": 1, "visual_feat_dim": 24},
        {**TOKENS, "visual_feats": ("numbers", "b", 5, 24), "visual_pos": ("numbers", "b", 5, 4)}),
    "qformer": Field(
        "Blip2QFormerConfig", "Blip2QFormerModel",
        {**TEXT, "encoder_hidden_size": 24, "cross_attention_frequency": 1},
        {"query_embeds": ("numbers", "b", "s", HIDDEN),
         "encoder_hidden_states": ("numbers", "b", 9, 24)}),
    "decision": Field(
        "DecisionTransformerConfig", "DecisionTransformerModel",
        {"state_dim": 5, "act_dim": 3, "hidden_size": HIDDEN, "max_ep_len": 64, "n_layer": 2,
         "n_head": 4, "n_inner": INNER},
        {"states": ("numbers", "b", "s", 5), "actions": ("numbers", "b", "s", 3),
         "rewards": ("numbers", "b", "s", 1), "returns_to_go": ("numbers", "b", "s", 1),
         "timesteps": ("zeros", "b", "s"), "attention_mask": ("mask", "b", "s")}),
    "perceiver": Field(
        "PerceiverConfig", "PerceiverModel",
        {"num_latents": 6, "d_latents": HIDDEN, "d_model": 32, "num_blocks": 1,
         "num_self_attends_per_block": 2, "num_self_attention_heads": 4,
         "num_cross_attention_heads": 4},
        {"inputs": ("numbers", "b", "s", 32)}),
    "imagegpt": Field(
        "ImageGPTConfig", "ImageGPTModel",
        {"vocab_size": 131, "n_positions": 64, "n_embd": HIDDEN, "n_layer": 2, "n_head": 4},
        {"input_ids": ("ids", "b", "s")}),
}  # fmt: skip
"""By their names."""


TIMM: Mapping[str, tuple[str, int, Mapping[str, object]]] = {
    "timm-xcit": ("xcit_nano_12_p16_224", 64, {}),
    "timm-maxvit": ("maxvit_rmlp_pico_rw_256", 64, {"img_size": 64}),
    "timm-efficientformer": ("efficientformer_l1", 224, {}),
    "timm-eva": ("eva02_tiny_patch14_224", 56, {"img_size": 56, "depth": 2}),
    "timm-mixer": ("mixer_s32_224", 224, {}),
    "timm-coat": ("coat_lite_tiny", 64, {"img_size": 64}),
    "timm-davit": ("davit_tiny", 64, {}),
    "timm-edgenext": ("edgenext_xx_small", 64, {}),
    "timm-beitv2": ("beitv2_base_patch16_224", 64, {"img_size": 64, "depth": 2}),
    "timm-botnet": ("botnet26t_256", 256, {}),
    "timm-cait": ("cait_xxs24_224", 64, {"img_size": 64, "depth": 2}),
    "timm-coatnet": ("coatnet_nano_rw_224", 64, {"img_size": 64}),
    "timm-convit": ("convit_tiny", 64, {"img_size": 64, "depth": 2}),
    "timm-crossvit": ("crossvit_tiny_240", 240, {}),
    "timm-efficientvit": ("efficientvit_b0", 64, {}),
    "timm-efficientvit-m": ("efficientvit_m0", 224, {}),
    "timm-fastvit": ("fastvit_t8", 64, {}),
    "timm-gcvit": ("gcvit_xxtiny", 224, {}),
    "timm-lambda": ("lambda_resnet26t", 256, {}),
    "timm-mobilenetv4": ("mobilenetv4_hybrid_medium", 256, {}),
    "timm-mvitv2": ("mvitv2_tiny", 64, {"img_size": 64}),
    "timm-nest": ("nest_tiny", 64, {"img_size": 64}),
    "timm-pit": ("pit_ti_224", 64, {"img_size": 64}),
    "timm-sequencer": ("sequencer2d_s", 64, {"img_size": 64}),
    "timm-shvit": ("shvit_s1", 64, {}),
    "timm-swinv2-cr": ("swinv2_cr_tiny_ns_224", 64, {"img_size": 64, "window_size": 4}),
    "timm-tiny-vit": ("tiny_vit_5m_224", 224, {}),
    "timm-tnt": ("tnt_s_legacy_patch16_224", 64, {"img_size": 64, "depth": 2}),
    "timm-twins": ("twins_svt_small", 64, {"img_size": 64}),
    "timm-visformer": ("visformer_tiny", 64, {"img_size": 64}),
    "timm-vitamin": ("vitamin_small_224", 64, {"img_size": 64}),
    "timm-vit-rope": ("vit_small_patch16_rope_224", 64, {"img_size": 64, "depth": 2}),
    "timm-vit-siglip": ("vit_base_patch16_siglip_224", 64, {"img_size": 64, "depth": 2}),
    "timm-vit-srelpos": ("vit_srelpos_small_patch16_224", 64, {"img_size": 64, "depth": 2}),
}
"""Models of timm: their names there, the size of the image, and what differs."""


def register(tool: Tool, made: Callable[..., Any], fields: Mapping[str, Field]) -> list[str]:
    """File some of them with the tool; `made` builds a model from its configuration."""
    for name, field in fields.items():
        tool.arch(name, group="field")(_build(tool, field, made))
    return list(fields)


def _build(tool: Tool, field: Field, made: Callable[..., Any]) -> Callable[..., Any]:
    def build(impl: str | None = None) -> Any:  # noqa: ANN401
        model = made(tool, field.config, field.model, impl, field.fields)
        return cased(tool, model, field.inputs, rope=field.rotary)

    return build


def cased(tool: Tool, model: Any, inputs: Inputs, **told: Any) -> Any:  # noqa: ANN401
    """Return a model with its inputs at two shapes, as the tool wants it."""
    first, second = (_made_up(tool, inputs, *sizes) for sizes in ((2, 12), (3, 16)))
    names = {"b": "batch", "s": "sequence"}
    dynamic = {
        name: {at: names[str(size)] for at, size in enumerate(shape) if size in names}
        for name, (_, *shape) in inputs.items()
    }
    return tool.case(model, first, second, dynamic, **told)


def _made_up(tool: Tool, inputs: Inputs, batch: int, length: int) -> dict[str, Any]:
    import torch

    makers: Mapping[str, Callable[..., Any]] = {
        "ids": tool.ids,
        "mask": tool.mask,
        "numbers": tool.rnd,
        "ones": torch.ones,
        "zeros": lambda *shape: torch.zeros(*shape, dtype=torch.int64),
        "step": lambda *shape: torch.full(shape, 7.0),
    }
    sizes = {"b": batch, "s": length}
    return {
        name: makers[str(kind)](*(sizes.get(str(size), size) for size in shape))
        for name, (kind, *shape) in inputs.items()
    }
