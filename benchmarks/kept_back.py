"""Architectures that were kept back until the rules stood, for the shared coverage tool.

A part of `benchmarks/architectures.py`, which registers and exports them: decoders, encoders with
decoders, pictures, sound, and the transformers and autoencoders of diffusers. Told as in
`benchmarks/fields.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fields import HIDDEN, PAIR, PICTURES, TEXT, Field, Inputs, cased

Tool = Any
"""The tool's module `models`, which is not installed and has no types."""

ONE_PRODUCT = {"experts_implementation": "batched_mm"}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 48, **ONE_PRODUCT}
ROUTED = {"n_routed_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 48,
          "n_group": 1, "topk_group": 1, **ONE_PRODUCT}  # fmt: skip
LATENT = {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
          "v_head_dim": 16, "num_key_value_heads": 4}  # fmt: skip
SPACES = {"mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_chunk_size": 4}

DECODERS: Mapping[str, tuple[str, int, Mapping[str, object]]] = {
    "phi3": ("Phi3", 4, {}),
    "hunyuan-moe": ("HunYuanMoEV1", 4, {"head_dim": 16, "num_experts": 2, "moe_topk": [1, 1],
                                        **ONE_PRODUCT}),
    "exaone-moe": ("ExaoneMoe", 4, {"sliding_window": 8, "n_group": 1, "topk_group": 1,
                                    **EXPERTS}),
    "glm4-moe-lite": ("Glm4MoeLite", 4, {**LATENT, **ROUTED}),
    "ministral3": ("Ministral3", 4, {"head_dim": 16}),
    "granitemoe-shared": ("GraniteMoeShared", 4, {"shared_intermediate_size": 48,
                                                  "num_local_experts": 2,
                                                  "num_experts_per_tok": 1, **ONE_PRODUCT}),
    "granitemoe-hybrid": ("GraniteMoeHybrid", 2, {"layer_types": ["mamba", "attention"], **SPACES,
                                                  "shared_intermediate_size": 48,
                                                  "num_local_experts": 0}),
    "lfm2-moe": ("Lfm2Moe", 2, {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1,
                                **EXPERTS}),
    "minimax": ("MiniMax", 2, {"head_dim": 16, "block_size": 4, "num_local_experts": 2,
                               "layer_types": ["linear_attention", "full_attention"],
                               "num_experts_per_tok": 1, **ONE_PRODUCT}),
    "solar-open": ("SolarOpen", 4, {"head_dim": 16, **ROUTED}),
    "afmoe": ("Afmoe", 4, {"head_dim": 16, "sliding_window": 8, "num_dense_layers": 1,
                           **EXPERTS}),
    "qwen2-moe": ("Qwen2Moe", 4, {"shared_expert_intermediate_size": 48, **EXPERTS}),
    "mistral4": ("Mistral4", 4, {**LATENT, **ROUTED, "first_k_dense_replace": 1}),
    "hyperclovax": ("HyperCLOVAX", 4, {"head_dim": 16}),
    "axk1": ("AXK1", 4, {**LATENT, **ROUTED, "first_k_dense_replace": 1}),
    "laguna": ("Laguna", 4, {"head_dim": 16, **EXPERTS}),
    "hy-v3": ("HYV3", 4, {"head_dim": 16, **EXPERTS}),
}  # fmt: skip

PAIRS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "bigbird-pegasus": ("BigBirdPegasus", {"attention_type": "original_full"}),
    "mvp": ("Mvp", {}),
    "blenderbot-small": ("BlenderbotSmall", {}),
    "nllb-moe": ("NllbMoe", {"num_experts": 2, "encoder_sparse_step": 2, "decoder_sparse_step": 2,
                             "expert_capacity": 8}),
}  # fmt: skip

SMALL: Inputs = {"pixel_values": ("numbers", "b", 3, 32, 32)}
LARGE: Inputs = {"pixel_values": ("numbers", "b", 3, 64, 64)}
PATCHES = {**PICTURES, "image_size": [32, 32], "patch_size": [8, 8]}
HALF: tuple[int | str, ...] = ("numbers", "b", 3, 16, 16)
DETECTOR = {**PAIR, "num_queries": 7, "use_timm_backbone": False,
            "use_pretrained_backbone": False,
            "backbone_config": {"model_type": "resnet", "embedding_size": 16,
                                "hidden_sizes": [32, 64], "depths": [1, 1], "layer_type": "basic",
                                "out_features": ["stage2"]}}  # fmt: skip

FIELDS: Mapping[str, Field] = {
    "conditional-detr": Field("ConditionalDetrConfig", "ConditionalDetrModel", DETECTOR, LARGE),
    "table-transformer": Field("TableTransformerConfig", "TableTransformerModel", DETECTOR, LARGE),
    "dab-detr": Field(
        "DabDetrConfig", "DabDetrModel",
        {**{key: value for key, value in DETECTOR.items() if key != "d_model"},
         "hidden_size": HIDDEN}, LARGE),
    "metaclip2-vision": Field("MetaClip2VisionConfig", "MetaClip2VisionModel", PICTURES, SMALL),
    "altclip-vision": Field("AltCLIPVisionConfig", "AltCLIPVisionModel", PICTURES, SMALL),
    "clipseg-vision": Field("CLIPSegVisionConfig", "CLIPSegVisionModel", PICTURES, SMALL),
    "groupvit-vision": Field(
        "GroupViTVisionConfig", "GroupViTVisionModel",
        {**PICTURES, "depths": [1, 1, 0], "num_group_tokens": [4, 2, 0],
         "num_output_groups": [4, 2, 0]}, SMALL),
    "mgp-str": Field(
        "MgpstrConfig", "MgpstrModel",
        {**PICTURES, "image_size": [32, 32], "num_channels": 3, "max_token_length": 5}, SMALL),
    "internvl-vision": Field("InternVLVisionConfig", "InternVLVisionModel", PATCHES, SMALL),
    "janus-vision": Field("JanusVisionConfig", "JanusVisionModel", PICTURES, SMALL),
    "seggpt": Field(
        "SegGptConfig", "SegGptModel",
        {**PICTURES, "image_size": [32, 16], "merge_index": 0,
         "intermediate_hidden_state_indices": [1]},
        {"pixel_values": HALF, "prompt_pixel_values": HALF, "prompt_masks": HALF}),
    "lasr": Field(
        "LasrEncoderConfig", "LasrEncoder",
        {**{key: value for key, value in TEXT.items() if key != "vocab_size"},
         "num_mel_bins": 16, "subsampling_conv_channels": 16, "conv_kernel_size": 5},
        {"input_features": ("numbers", "b", 64, 16)}),
    "videoprism": Field(
        "VideoPrismVisionConfig", "VideoPrismVisionModel", {**PICTURES, "num_frames": 4},
        {"pixel_values_videos": ("numbers", "b", 4, 3, 32, 32)}),
}  # fmt: skip

HEADS = {"attention_head_dim": 16, "num_attention_heads": 4}
GUIDED: Inputs = {"hidden_states": ("numbers", "b", 4, 16, 16),
                  "encoder_hidden_states": ("numbers", "b", "s", 24),
                  "timestep": ("step", "b")}  # fmt: skip

DIFFUSERS: Mapping[str, tuple[str, Mapping[str, object], Inputs]] = {
    "sd3": ("SD3Transformer2DModel",
            {"sample_size": 16, "patch_size": 2, "in_channels": 4, "num_layers": 2, **HEADS,
             "joint_attention_dim": 24, "caption_projection_dim": HIDDEN, "out_channels": 4,
             "pooled_projection_dim": 24, "pos_embed_max_size": 24},
            {**GUIDED, "pooled_projections": ("numbers", "b", 24)}),
    "auraflow": ("AuraFlowTransformer2DModel",
                 {"sample_size": 16, "patch_size": 2, "in_channels": 4, "num_mmdit_layers": 1,
                  "num_single_dit_layers": 1, **HEADS, "joint_attention_dim": 24,
                  "caption_projection_dim": HIDDEN, "out_channels": 4, "pos_embed_max_size": 64},
                 GUIDED),
    "dit": ("DiTTransformer2DModel",
            {"sample_size": 16, "num_layers": 2, "patch_size": 2, **HEADS, "in_channels": 4,
             "out_channels": 8, "num_embeds_ada_norm": 11},
            {"hidden_states": ("numbers", "b", 4, 16, 16), "timestep": ("zeros", "b"),
             "class_labels": ("zeros", "b")}),
    "sana": ("SanaTransformer2DModel",
             {"sample_size": 16, "patch_size": 1, "in_channels": 4, "out_channels": 4,
              "num_layers": 2, **HEADS, "num_cross_attention_heads": 4,
              "cross_attention_head_dim": 16, "cross_attention_dim": HIDDEN,
              "caption_channels": 24}, GUIDED),
}  # fmt: skip
"""Models of diffusers: their class, configuration and inputs."""


def register(tool: Tool) -> list[str]:
    """File the models of diffusers with the tool; return their names."""
    for name, (model, fields, inputs) in DIFFUSERS.items():
        tool.arch(name, group="diffusion", lib="diffusers")(_build(tool, model, fields, inputs))
    return list(DIFFUSERS)


def _build(
    tool: Tool, model: str, fields: Mapping[str, object], inputs: Inputs
) -> Callable[..., Any]:
    def build(impl: str | None = None) -> Any:  # noqa: ANN401
        import diffusers

        made = getattr(diffusers, model)(**fields)
        return cased(tool, made, inputs, fn=lambda m, given: m(**given, return_dict=False)[:1])

    return build
