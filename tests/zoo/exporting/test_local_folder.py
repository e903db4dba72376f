from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.store.stored import TorchSource
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.exporting.local_folder import build_from_folder
from burnish.zoo.exporting.sources import built_again

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
PLAIN = NetworkOptions()
SIZES = {"vocab_size": 99, "n_embd": 32, "n_layer": 1, "n_head": 2}


@pytest.fixture
def gpt2(tmp_path: Path) -> Path:
    import transformers

    config = transformers.GPT2Config(**SIZES, bos_token_id=1, eos_token_id=2)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "own")
    return tmp_path / "own"


def _refused(folder: Path, *, trust_pickle: bool = False) -> str:
    with pytest.raises((ModelError, UsageError)) as raised:
        build_from_folder(folder, PLAIN, trust_pickle=trust_pickle)
    assert raised.value.hint
    return raised.value.problem


def test_inputs_follow_the_configuration(gpt2: Path) -> None:
    built = build_from_folder(gpt2, NetworkOptions(batch=3, sequence=7), trust_pickle=False)
    assert built.input_names == ("input_ids", "attention_mask")
    assert built.inputs["input_ids"].shape == (3, 7)
    assert built.inputs["input_ids"].max() < 99
    assert built.output_names[0] == "logits"
    assert built.dynamic_axes["input_ids"] == {0: "batch", 1: "sequence"}


def test_a_decoder_takes_its_past(gpt2: Path) -> None:
    built = build_from_folder(gpt2, NetworkOptions(past=True), trust_pickle=False)
    assert "past_key_0" in built.input_names
    assert built.output_names == ("logits", "present_key_0", "present_value_0")


def test_the_source_builds_the_same_module_again(gpt2: Path) -> None:
    import torch

    built = build_from_folder(gpt2, PLAIN, trust_pickle=False)
    again = built_again(TorchSource("folder", str(gpt2), {}), str(gpt2))
    assert torch.equal(again.module(**again.inputs)[0], built.module(**built.inputs)[0])


def test_a_pickle_needs_trust_and_gives_the_same_weights(gpt2: Path) -> None:
    import torch
    from safetensors.torch import load_file

    expected = build_from_folder(gpt2, PLAIN, trust_pickle=False)
    weights = gpt2 / "model.safetensors"
    torch.save(load_file(weights), gpt2 / "pytorch_model.bin")
    weights.unlink()
    assert "its weights are a pickle (pytorch_model.bin), which can run any code" in _refused(gpt2)
    built = build_from_folder(gpt2, PLAIN, trust_pickle=True)
    found, wanted = built.module(**built.inputs)[0], expected.module(**expected.inputs)[0]
    assert torch.equal(found, wanted)


def test_what_is_wrong_with_a_folder_is_said(gpt2: Path, tmp_path: Path) -> None:
    assert "config.json: cannot be read (No such file or directory)" in _refused(tmp_path)
    config = json.loads((gpt2 / "config.json").read_text())
    for names, problem in (
        ([], "config.json: names no architecture"),
        (["NoSuchModel"], "has no model class 'NoSuchModel'"),
        (["AutoModel"], "has no model class 'AutoModel'"),
        (["pipeline"], "has no model class 'pipeline'"),
        (["GPT2ForTokenClassification"], "lacks 2 weights of GPT2ForTokenClassification"),
    ):
        (gpt2 / "config.json").write_text(json.dumps({**config, "architectures": names}))
        assert problem in _refused(gpt2)
    (gpt2 / "model.safetensors").unlink()
    assert "holds no weights" in _refused(gpt2)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "config.json: is not JSON (it is nested too deeply)"),
        ("[1]", "config.json: names no architecture"),
        ('{"architectures": 3}', "config.json: names no architecture"),
    ],
)
def test_a_configuration_of_any_content(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert problem in _refused(tmp_path)


def test_only_decoders_have_a_past(tmp_path: Path) -> None:
    import transformers

    config = transformers.BertConfig(
        vocab_size=99, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=48,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(tmp_path)
    built = build_from_folder(tmp_path, PLAIN, trust_pickle=False)
    assert built.input_names == ("input_ids", "attention_mask", "token_type_ids")
    with pytest.raises(UsageError, match="BertModel cannot follow --past: it writes no text"):
        build_from_folder(tmp_path, NetworkOptions(past=True), trust_pickle=False)


def _saved(folder: Path, kind: str, **config: object) -> Path:
    import transformers

    model = getattr(transformers, f"{kind}Model")
    model(getattr(transformers, f"{kind}Config")(**config)).save_pretrained(folder)
    return folder


LAYERS = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64,
}  # fmt: skip
BOTH = {
    "vocab_size": 99, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}  # fmt: skip
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}


@pytest.mark.parametrize(
    ("kind", "config", "shapes", "dynamic"),
    [
        ("ViT", {**LAYERS, "image_size": 32, "patch_size": 16},
         {"pixel_values": (2, 3, 32, 32)}, {"batch"}),
        ("AST", {**LAYERS, "max_length": 48, "num_mel_bins": 16},
         {"input_values": (2, 48, 16)}, {"batch"}),
        ("Wav2Vec2", {**LAYERS, "conv_dim": (16, 16), "conv_stride": (5, 4), "conv_kernel": (10, 8),
                      "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4,
                      "num_conv_pos_embedding_groups": 2},
         {"input_values": (2, 16000)}, {"batch", "samples"}),
        ("Wav2Vec2Bert", {**LAYERS, "feature_projection_input_dim": 20},
         {"input_features": (2, 200, 20)}, {"batch", "frames"}),
        ("Whisper", {**BOTH, **SPECIAL, "max_source_positions": 50, "num_mel_bins": 16},
         {"input_features": (2, 16, 100), "decoder_input_ids": (2, 5)},
         {"batch", "decoder_sequence"}),
        ("T5", {"vocab_size": 99, "d_model": 32, "d_ff": 64, "num_layers": 1, "num_heads": 2,
                "d_kv": 16},
         {"input_ids": (2, 16), "attention_mask": (2, 16), "decoder_input_ids": (2, 5)},
         {"batch", "sequence", "decoder_sequence"}),
    ],
    ids=["images", "spectrograms", "samples", "frames", "audio and text", "text and text"],
)  # fmt: skip
def test_every_family_has_inputs_that_its_module_takes(
    tmp_path: Path,
    kind: str,
    config: dict[str, object],
    shapes: dict[str, tuple[int, ...]],
    dynamic: set[str],
) -> None:
    built = build_from_folder(_saved(tmp_path, kind, **config), PLAIN, trust_pickle=False)
    assert {name: tuple(tensor.shape) for name, tensor in built.inputs.items()} == shapes
    assert {name for axes in built.dynamic_axes.values() for name in axes.values()} == dynamic
    assert built.module(**built.second_inputs)
