from __future__ import annotations

from pathlib import Path

import pytest
import torch

import network_checks as checks
from burnish.zoo.networks.longformer_attention import ExportableLongformer, slots
from burnish.zoo.weights import randomise

pytestmark = pytest.mark.torch

Rows = tuple[tuple[int, ...], ...]
WINDOW = 8
AXES = {
    name: {0: "batch", 1: "sequence"}
    for name in ("input_ids", "attention_mask", "global_attention_mask")
}


def _library_model(windows: tuple[int, ...] = (WINDOW, WINDOW)) -> torch.nn.Module:
    from transformers import LongformerConfig, LongformerModel

    config = LongformerConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=len(windows), num_attention_heads=4,
        intermediate_size=48, attention_window=list(windows), max_position_embeddings=80,
        pad_token_id=1,
    )  # fmt: skip
    return randomise(LongformerModel(config), seed=0)


def _tokens(length: int, missing: tuple[int, ...], global_tokens: Rows) -> checks.Inputs:
    """Return a row for each count of missing tokens: on the right if positive, else on the left."""
    generator = torch.Generator().manual_seed(length)
    position = torch.arange(length)
    exists = torch.stack(
        [position < length - n if n >= 0 else position >= -n for n in missing]
    ).long()
    ids = torch.randint(2, 100, exists.shape, generator=generator)
    is_global = torch.zeros_like(exists)
    for row, tokens in enumerate(global_tokens):
        is_global[row, list(tokens)] = 1
    return {
        "input_ids": ids * exists + (1 - exists),
        "attention_mask": exists,
        "global_attention_mask": is_global,
    }


SAMPLES = {
    "19 local": _tokens(19, (0, 3), ((), ())),
    "19 global": _tokens(19, (0, 3), ((0, 7), (15,))),
    "5 local": _tokens(5, (0, 0, -2), ((), (), ())),
    "5 global": _tokens(5, (0, 2), ((0, 1, 2, 3, 4), (1,))),
    "50 local": _tokens(50, (20,), ((),)),
    "50 global": _tokens(50, (0, 20, -20), ((0,), (3, 4, 5, 28), ())),
    "32 without padding": _tokens(32, (0,), ((0, 31),)),
    "one token": _tokens(1, (0,), ((0,),)),
    "global token that does not exist": _tokens(19, (4,), ((2, 18),)),
    "row without tokens": _tokens(11, (0, 11), ((1,), ())),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_numbers_are_those_of_transformers(sample: str) -> None:
    _assert_equal_to_library(_library_model(), SAMPLES[sample])


def test_layers_may_have_different_windows() -> None:
    _assert_equal_to_library(_library_model(windows=(4, 8)), SAMPLES["19 global"])


def _assert_equal_to_library(library: torch.nn.Module, inputs: checks.Inputs) -> None:
    with torch.no_grad():
        reference = library(**inputs)
    actual = checks.outputs_of(ExportableLongformer(library), inputs)
    expected = (reference.last_hidden_state, reference.pooler_output)
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


def test_global_tokens_and_padding_matter() -> None:
    network, inputs = ExportableLongformer(_library_model()), SAMPLES["50 global"]
    (hidden, _) = checks.outputs_of(network, inputs)
    for name, change in (("global_attention_mask", 0), ("attention_mask", 1)):
        changed = inputs | {name: torch.full_like(inputs[name], change)}
        (other, _) = checks.outputs_of(network, changed)
        assert (other - hidden).abs().max() > 0.1, name


def test_every_parameter_matters() -> None:
    network = ExportableLongformer(_library_model())
    checks.assert_every_parameter_matters(network, SAMPLES["50 global"])


def test_weights_are_shared_with_the_library_model() -> None:
    library = _library_model()
    network = ExportableLongformer(library)
    theirs = {id(parameter) for parameter in library.parameters()}
    assert {id(parameter) for parameter in network.parameters()} == theirs


def test_each_slot_picks_one_global_token() -> None:
    is_global = torch.tensor([[0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]]) > 0
    expected = [[[0, 1, 0, 0], [0, 0, 0, 1]], [[0, 0, 1, 0], [0] * 4], [[0] * 4, [0] * 4]]
    assert slots(is_global).int().tolist() == expected


def test_there_is_a_slot_even_without_global_tokens() -> None:
    assert slots(torch.zeros(2, 3, dtype=torch.bool)).int().tolist() == [[[0, 0, 0]]] * 2


@pytest.mark.parametrize(
    "exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)]
)
def test_exports_with_any_batch_length_and_global_tokens(
    exporter: checks.Exporter, tmp_path: Path
) -> None:
    samples = [SAMPLES["19 global"], *SAMPLES.values()]
    network = ExportableLongformer(_library_model())
    checks.assert_exports(network, samples, axes=AXES, exporter=exporter, folder=tmp_path)
