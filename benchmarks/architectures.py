"""More architectures for the shared coverage tool: none that a rule was written for.

python benchmarks/architectures.py WORK [--tool DIR] [options of the tool's export.py]

Registers small, randomly initialised models beside those of the tool and runs its `export.py` on
these alone (or on those of `--arch`); `benchmarks/coverage.py WORK` then measures them. What the
tool needs (transformers, timm) must be installed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fields
import kept_back

TOOL = Path(__file__).parents[2] / "shared" / "tools" / "coverage"
LAYERS, HIDDEN, HEADS = 2, 64, 4
Tool = Any
"""The tool's module `models`, which is not installed and has no types."""

BRANCHED = {"depths": [1, 1], "num_attention_heads": [1, 2], "hidden_sizes": [32, 64]}

ONE_PRODUCT = {"experts_implementation": "batched_mm"}
"""Experts as exporters can write them: the usual way groups tokens by what they are."""

FEW_EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1, **ONE_PRODUCT}

ENCODERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "mpnet": ("MPNet", {}),
    "camembert": ("Camembert", {}),
    "ernie": ("Ernie", {}),
    "squeezebert": ("SqueezeBert", {"embedding_size": 64}),
    "mobilebert": ("MobileBert", {"embedding_size": 32, "intra_bottleneck_size": 32}),
    "deberta-v2": (
        "DebertaV2",
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
    ),
    "roformer": ("RoFormer", {"embedding_size": 64}),
    "esm": ("Esm", {"position_embedding_type": "rotary", "pad_token_id": 1}),
    "layoutlm": ("LayoutLM", {}),
    "modernbert": (
        "ModernBert",
        {"pad_token_id": 0, "global_attn_every_n_layers": 2, "local_attention": 8},
    ),
    "nomic": ("NomicBert", {}),
    "siglip-text": ("SiglipText", {}),
    "big-bird": ("BigBird", {"attention_type": "original_full"}),
    "convbert": ("ConvBert", {"embedding_size": 64, "head_ratio": 2, "conv_kernel_size": 3}),
    "rembert": ("RemBert", {"input_embedding_size": 32, "output_embedding_size": 64}),
    "megatron-bert": ("MegatronBert", {}),
    "roberta-prelayernorm": ("RobertaPreLayerNorm", {}),
    "xlm-roberta-xl": ("XLMRobertaXL", {}),
    "data2vec-text": ("Data2VecText", {}),
    "deberta": ("Deberta", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "funnel": ("Funnel", {"num_hidden_layers": None, "d_model": 64, "n_head": 4,
                          "d_head": 16, "d_inner": 112, "block_sizes": [1, 1],
                          "num_decoder_layers": 1}),
    "xlnet": ("XLNet", {"max_position_embeddings": None, "d_model": 64, "n_layer": 2,
                        "n_head": 4, "d_inner": 112}),
    "xlm": ("XLM", {"emb_dim": 64, "n_layers": 2, "n_heads": 4}),
    "flaubert": ("Flaubert", {"emb_dim": 64, "n_layers": 2, "n_heads": 4}),
    "splinter": ("Splinter", {}),
    "ibert": ("IBert", {}),
    "markuplm": ("MarkupLM", {}),
    "eurobert": ("EuroBert", {"num_key_value_heads": 2, "pad_token_id": 0}),
    "jina-v3": ("JinaEmbeddingsV3", {}),
    "gte": ("Gte", {}),
    "canine": ("Canine", {"downsampling_rate": 4, "local_transformer_stride": 8}),
    "yoso": ("Yoso", {"use_expectation": True}),
    "esmc": ("Esmc", {}),
    "luke": ("Luke", {"entity_vocab_size": 20}),
    "roc-bert": ("RoCBert", {"pronunciation_vocab_size": 131, "shape_vocab_size": 131}),
    "xmod": ("Xmod", {"languages": ["en_XX"], "default_language": "en_XX"}),
    "nystromformer": ("Nystromformer", {"num_landmarks": 12, "segment_means_seq_len": 12,
                                        "conv_kernel_size": 3}),
    "mra": ("Mra", {}),
    "git": ("Git", {}),
}  # fmt: skip
"""Encoders of text: the stem of the names of configuration and model, and what differs."""

DECODERS: Mapping[str, tuple[str, int, Mapping[str, object]]] = {
    "gemma": ("Gemma", 4, {"head_dim": 16}),
    "gemma2": ("Gemma2", 4, {"head_dim": 16, "sliding_window": 8}),
    "gemma3": ("Gemma3", 4, {"head_dim": 16, "sliding_window": 8}),
    "qwen3": ("Qwen3", 4, {"head_dim": 16}),
    "olmo2": ("Olmo2", 4, {}),
    "falcon": ("Falcon", 4, {"new_decoder_architecture": True, "num_kv_heads": 2}),
    "mpt": ("Mpt", 0, {"d_model": 64, "n_heads": 4, "n_layers": 2, "max_seq_len": 64}),
    "bloom": ("Bloom", 0, {"n_layer": 2, "n_head": 4}),
    "gptj": ("GPTJ", 4, {"n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8}),
    "gpt-neo": ("GPTNeo", 0, {"num_layers": 2, "num_heads": 4, "window_size": 8,
                              "attention_types": [[["global", "local"], 1]]}),
    "cohere": ("Cohere", 4, {}),
    "stablelm": ("StableLm", 4, {}),
    "starcoder2": ("Starcoder2", 4, {}),
    "glm": ("Glm", 4, {"head_dim": 16}),
    "granite": ("Granite", 4, {}),
    "codegen": ("CodeGen", 4, {"n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8}),
    "biogpt": ("BioGpt", 0, {}),
    "persimmon": ("Persimmon", 4, {}),
    "nemotron": ("Nemotron", 4, {}),
    "phi": ("Phi", 4, {"partial_rotary_factor": 0.5}),
    "mixtral": ("Mixtral", 4, {"num_local_experts": 2, **ONE_PRODUCT}),
    "olmo": ("Olmo", 4, {}),
    "olmo3": ("Olmo3", 4, {"sliding_window": 8}),
    "qwen3-moe": ("Qwen3Moe", 4, {"head_dim": 16, "num_experts": 2, "num_experts_per_tok": 1,
                                  "moe_intermediate_size": 48, **ONE_PRODUCT}),
    "cohere2": ("Cohere2", 2, {"sliding_window": 8, "layer_types":
                               ["sliding_attention", "full_attention"]}),
    "glm4": ("Glm4", 4, {"head_dim": 16}),
    "helium": ("Helium", 4, {"head_dim": 16}),
    "gpt-bigcode": ("GPTBigCode", 0, {"n_embd": 64, "n_layer": 2, "n_head": 4}),
    "gpt-oss": ("GptOss", 4, {"head_dim": 16, "num_local_experts": 2, "num_experts_per_tok": 1,
                              "sliding_window": 8, **ONE_PRODUCT}),
    "xglm": ("XGLM", 0, {"d_model": 64, "num_layers": 2, "attention_heads": 4, "ffn_dim": 112}),
    "ctrl": ("CTRL", 0, {"n_embd": 64, "n_layer": 2, "n_head": 4, "dff": 112}),
    "openai-gpt": ("OpenAIGPT", 0, {"n_embd": 64, "n_layer": 2, "n_head": 4}),
    "smollm3": ("SmolLM3", 2, {"no_rope_layers": [1, 0]}),
    "exaone4": ("Exaone4", 4, {"sliding_window": 8}),
    "arcee": ("Arcee", 4, {}),
    "apertus": ("Apertus", 4, {}),
    "hunyuan": ("HunYuanDenseV1", 4, {"head_dim": 16}),
    "ernie4-5": ("Ernie4_5", 4, {"head_dim": 16}),
    "nanochat": ("NanoChat", 4, {}),
    "minicpm3": ("MiniCPM3", 4, {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
                                 "qk_rope_head_dim": 8, "v_head_dim": 16,
                                 "num_key_value_heads": 4}),
    "deepseek-v2": ("DeepseekV2", 4, {"q_lora_rank": 24, "kv_lora_rank": 16, "v_head_dim": 16,
                                      "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
                                      "first_k_dense_replace": 2, "num_key_value_heads": 4}),
    "deepseek-v3": ("DeepseekV3", 4, {"q_lora_rank": 24, "kv_lora_rank": 16, "v_head_dim": 16,
                                      "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
                                      "first_k_dense_replace": 2, "num_key_value_heads": 4}),
    "modernbert-decoder": ("ModernBertDecoder", 4, {"local_attention": 8}),
    "bitnet": ("BitNet", 4, {}),
    "diffllama": ("DiffLlama", 4, {}),
    "vaultgemma": ("VaultGemma", 4, {"head_dim": 16, "sliding_window": 8}),
    "granitemoe": ("GraniteMoe", 4, {"num_local_experts": 2, **ONE_PRODUCT}),
    "seed-oss": ("SeedOss", 4, {"head_dim": 16}),
    "jais2": ("Jais2", 4, {}),
    "olmoe": ("Olmoe", 4, {**FEW_EXPERTS, "num_experts": 2}),
    "phimoe": ("Phimoe", 4, FEW_EXPERTS),
    "jetmoe": ("JetMoe", 4, {"kv_channels": 16, **FEW_EXPERTS}),
    "glm4-moe": ("Glm4Moe", 4, {"head_dim": 16, "n_routed_experts": 2, "n_group": 1,
                                "first_k_dense_replace": 1, "moe_intermediate_size": 48,
                                "topk_group": 1, **FEW_EXPERTS}),
    "minimax-m2": ("MiniMaxM2", 4, {"head_dim": 16, **FEW_EXPERTS}),
    "flex-olmo": ("FlexOlmo", 4, {**FEW_EXPERTS, "num_experts": 2}),
    "ministral": ("Ministral", 4, {"head_dim": 16, "sliding_window": 8}),
    "cwm": ("Cwm", 4, {"head_dim": 16, "sliding_window": 8}),
    "doge": ("Doge", 4, {}),
    "granite-swa": ("GraniteSWA", 4, {"sliding_window": 8}),
    "mimo-v2-flash": ("MiMoV2Flash", 4, {"head_dim": 16, "v_head_dim": 16, "sliding_window": 8,
                                         "n_routed_experts": 2, **FEW_EXPERTS}),
    "youtu": ("Youtu", 4, {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
                           "qk_rope_head_dim": 8, "v_head_dim": 16, "num_key_value_heads": 4}),
    "hrm-text": ("HrmText", 4, {}),
    "gpt-neox-japanese": ("GPTNeoXJapanese", 4, {}),
    "mamba": ("Mamba", 0, {"state_size": 8}),
    "falcon-mamba": ("FalconMamba", 0, {"state_size": 8}),
    "jamba": ("Jamba", 0, {"attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 1,
                           "use_mamba_kernels": False}),
    "bamba": ("Bamba", 2, {"attn_layer_indices": [1], "mamba_n_heads": 8, "mamba_d_head": 16,
                           "mamba_d_state": 8, "mamba_chunk_size": 4}),
    "lfm2": ("Lfm2", 2, {"layer_types": ["conv", "full_attention"]}),
    "recurrent-gemma": ("RecurrentGemma", 2, {"block_types": ["recurrent", "attention"],
                                              "attention_window_size": 8, "lru_width": 64}),
    "rwkv": ("Rwkv", 0, {"context_length": 64}),
}  # fmt: skip
"""Decoders: the stem of the names, how many rotary embeddings there are, and what differs."""

HEADED = {"CTRL": "LMHeadModel", "OpenAIGPT": "LMHeadModel"}
"""How the class of a decoder ends, where not in `ForCausalLM`."""

VISION: Mapping[str, tuple[str, int, Mapping[str, object]]] = {
    "dinov2": ("Dinov2", 2, {}),
    "beit": ("Beit", 2, {"use_relative_position_bias": True}),
    "siglip-vision": ("SiglipVision", 3, {}),
    "yolos": ("Yolos", 2, {"num_detection_tokens": 5, "image_size": [32, 32]}),
    "vitdet": ("VitDet", 2, {"window_size": 2, "window_block_indices": [0],
                             "use_relative_position_embeddings": True}),
    "swinv2": ("Swinv2", 4, {"patch_size": 4, "embed_dim": 32, "depths": [2, 2],
                             "num_heads": [2, 4], "window_size": 4}),
    "donut-swin": ("DonutSwin", 4, {"patch_size": 4, "embed_dim": 32, "depths": [2, 2],
                                    "num_heads": [2, 4], "window_size": 4}),
    "segformer": ("Segformer", 2, {**BRANCHED, "num_encoder_blocks": 2, "sr_ratios": [2, 1],
                                   "patch_sizes": [7, 3], "strides": [4, 2],
                                   "mlp_ratios": [2, 2]}),
    "pvt": ("Pvt", 2, {**BRANCHED, "num_encoder_blocks": 2,
                       "sequence_reduction_ratios": [2, 1], "patch_sizes": [4, 2],
                       "strides": [4, 2], "mlp_ratios": [2, 2]}),
    "convnextv2": ("ConvNextV2", 0, {"num_stages": 2, "hidden_sizes": [32, 64],
                                     "depths": [2, 2]}),
    "hiera": ("Hiera", 2, {"embed_dim": 32, "depths": [1, 1], "num_heads": [1, 2],
                           "image_size": [32, 32], "masked_unit_size": [4, 4],
                           "query_stride": [2, 2], "num_query_pool": 1}),
    "ijepa": ("IJepa", 2, {}),
    "vit-msn": ("ViTMSN", 2, {}),
    "dinov2-registers": ("Dinov2WithRegisters", 2, {}),
    "dinov3": ("DINOv3ViT", 2, {}),
    "data2vec-vision": ("Data2VecVision", 2, {"use_relative_position_bias": True}),
    "aimv2": ("Aimv2Vision", 2, {}),
    "mlcd": ("MLCDVision", 2, {"num_key_value_groups": 1}),
    "blip-vision": ("BlipVision", 2, {}),
    "poolformer": ("PoolFormer", 0, {"depths": [1, 1], "hidden_sizes": [32, 64],
                                     "num_encoder_blocks": 2, "patch_sizes": [7, 3],
                                     "strides": [4, 2], "padding": [2, 1]}),
    "pvt-v2": ("PvtV2", 2, {**BRANCHED, "num_encoder_blocks": 2, "sr_ratios": [2, 1],
                            "patch_sizes": [7, 3], "strides": [4, 2], "mlp_ratios": [2, 2]}),
    "focalnet": ("FocalNet", 0, {"embed_dim": 32, "depths": [1, 1], "focal_levels": [2, 2],
                                 "focal_windows": [3, 3]}),
    "swin2sr": ("Swin2SR", 4, {"embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4],
                               "window_size": 4}),
    "sam-vision": ("SamVision", 2, {"window_size": 2, "global_attn_indexes": [1],
                                    "output_channels": 32}),
}  # fmt: skip
"""Vision models: the stem of the names, the number of attentions, and what differs."""
POOLED = ("Beit", "SiglipVision", "ConvNextV2", "Hiera", "Aimv2Vision", "MLCDVision")
"""Those whose last norm or attention leads to their second output alone."""

SPEECH: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "wav2vec2": ("Wav2Vec2", {}),
    "wav2vec2-conformer": ("Wav2Vec2Conformer", {"position_embeddings_type": "relative"}),
    "hubert": ("Hubert", {}),
    "wavlm": ("WavLM", {"num_buckets": 8, "max_bucket_distance": 20}),
    "unispeech-sat": ("UniSpeechSat", {}),
    "data2vec-audio": ("Data2VecAudio", {}),
    "sew": ("SEW", {"squeeze_factor": 2}),
}
"""Models of sound: the stem of the names, and what differs."""

STACKED = {"d_ff": 112, "d_kv": 16, "num_layers": 2, "num_heads": 4,
           "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20}  # fmt: skip
PAIRS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "pegasus": ("Pegasus", {}),
    "marian": ("Marian", {}),
    "mbart": ("MBart", {}),
    "blenderbot": ("Blenderbot", {}),
    "m2m-100": ("M2M100", {}),
    "plbart": ("PLBart", {}),
    "t5": ("T5", STACKED),
    "umt5": ("UMT5", STACKED),
    "prophetnet": ("ProphetNet", {"num_encoder_layers": 2, "num_decoder_layers": 2, "ngram": 2,
                                  "num_encoder_attention_heads": 4, "num_buckets": 8,
                                  "num_decoder_attention_heads": 4, "hidden_size": 64,
                                  "relative_max_distance": 20}),
    "led": ("LED", {"attention_window": 4, "max_encoder_position_embeddings": 64,
                    "max_decoder_position_embeddings": 64}),
    "pegasus-x": ("PegasusX", {"block_size": 4, "num_global_tokens": 4}),
}  # fmt: skip
"""Encoders with decoders: the stem of the names, and what differs."""


def register(tool: Tool) -> list[str]:
    """File all architectures of this module with the tool; return their names."""
    decoders, pairs = {**DECODERS, **kept_back.DECODERS}, {**PAIRS, **kept_back.PAIRS}
    for name, (stem, changes) in ENCODERS.items():
        tool.arch(name)(_encoder(tool, stem, changes))
    for name, (stem, rotary, changes) in decoders.items():
        tool.arch(name, group="decoder")(_decoder(tool, stem, rotary, changes))
    for name, (stem, attentions, changes) in VISION.items():
        tool.arch(name, group="vision")(_vision(tool, stem, attentions, changes))
    for name, (model, size, changes) in fields.TIMM.items():
        tool._timm(name, model, size=size, attn=None, **changes)
    for name, (stem, changes) in SPEECH.items():
        tool.arch(name, group="audio")(_speech(tool, stem, changes))
    for name, (stem, changes) in pairs.items():
        tool.arch(name)(_pairs(tool, stem, changes))
    others = fields.register(tool, _made, {**fields.FIELDS, **kept_back.FIELDS})
    others += kept_back.register(tool)
    return [*ENCODERS, *decoders, *VISION, *fields.TIMM, *SPEECH, *pairs, *others]


Build = Callable[..., Any]


def _made(tool: Tool, config: str, model: str, impl: str | None, fields: object) -> Any:  # noqa: ANN401
    """Return a model of transformers from its configuration."""
    library = tool.T()
    told = getattr(library, config)(**fields)  # type: ignore[arg-type]
    if impl:
        told._attn_implementation = impl
    return getattr(library, model)(told)


def _given(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields that have a value: some configurations refuse a common one."""
    return {name: value for name, value in fields.items() if value is not None}


def _encoder(tool: Tool, stem: str, changes: Mapping[str, object]) -> Build:
    def build(impl: str | None = None) -> Any:  # noqa: ANN401
        fields = _given({**tool.COMMON, **changes})
        return tool.text_case(_made(tool, f"{stem}Config", f"{stem}Model", impl, fields))

    return build


def _decoder(tool: Tool, stem: str, rotary: int, changes: Mapping[str, object]) -> Build:
    model = "Gemma3ForCausalLM" if stem == "Gemma3" else f"{stem}{HEADED.get(stem, 'ForCausalLM')}"
    config = "Gemma3TextConfig" if stem == "Gemma3" else f"{stem}Config"

    def build(impl: str | None = None) -> Any:  # noqa: ANN401
        own = {"num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
        fields = {**tool.COMMON, **own, **changes}
        made = _made(tool, config, model, impl, fields)
        return tool._causal(made, attn=LAYERS, rope=rotary)

    return build


def _vision(tool: Tool, stem: str, attentions: int, changes: Mapping[str, object]) -> Build:
    whole = "num_attention_heads" not in changes and "embed_dim" not in changes

    def build(impl: str | None = None) -> Any:  # noqa: ANN401
        fields = {**(tool.VIS if whole else {"image_size": tool.IMG}), **changes}
        made = _made(tool, f"{stem}Config", f"{stem}Model", impl, fields)
        if stem not in POOLED:
            return tool.image_case(made, attn=attentions)
        return tool.image_case(made, attn=attentions, fn=tool.both, outs=("output", "pooled"))

    return build


def _speech(tool: Tool, stem: str, changes: Mapping[str, object]) -> Build:
    layers = {"conv_dim": [32, 32], "conv_stride": [5, 2], "conv_kernel": [10, 3],
              "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8,
              "num_conv_pos_embedding_groups": 4}  # fmt: skip

    def build(impl: str | None = None) -> Any:  # noqa: ANN401
        made = _made(
            tool, f"{stem}Config", f"{stem}Model", impl, {**tool.COMMON, **layers, **changes}
        )
        given, other = ({"input_values": tool.rnd(2, length)} for length in (400, 555))
        return tool.case(made, given, other, {"input_values": {0: "batch", 1: "samples"}})

    return build


def _pairs(tool: Tool, stem: str, changes: Mapping[str, object]) -> Build:
    fields = {"vocab_size": 131, "d_model": HIDDEN, "encoder_layers": LAYERS,
              "decoder_layers": LAYERS, "encoder_attention_heads": HEADS,
              "decoder_attention_heads": HEADS, "encoder_ffn_dim": 112, "decoder_ffn_dim": 112,
              "max_position_embeddings": 64, "pad_token_id": 0}  # fmt: skip
    given = {**(fields if changes is not STACKED else {}), "vocab_size": 131, "d_model": HIDDEN}

    def build(impl: str | None = None) -> Any:  # noqa: ANN401
        made = _made(tool, f"{stem}Config", f"{stem}Model", impl, {**given, **changes})
        return tool._seq2seq(made, attn=3 * LAYERS)

    return build


def main() -> int:
    """Register, then let the tool export."""
    arguments = sys.argv[1:]
    where = TOOL
    if "--tool" in arguments:
        at = arguments.index("--tool")
        where = Path(arguments[at + 1])
        del arguments[at : at + 2]
    if not (where / "export.py").is_file():
        print(f"{where}: not there, nothing is exported", file=sys.stderr)
        return 0
    sys.path.insert(0, str(where))
    names = register(importlib.import_module("models"))
    if "--arch" not in arguments:
        arguments += ["--arch", ",".join(names)]
    sys.argv = ["export.py", *arguments]
    importlib.import_module("export").main()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
