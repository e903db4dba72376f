from __future__ import annotations

import pytest

from burnish.core import records
from burnish.core.errors import UsageError
from burnish.store.stored import TorchSource
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.exporting.sources import built_again
from burnish.zoo.factory import build, source_of


@pytest.mark.parametrize(
    ("name", "options", "choice"),
    [
        ("bert-mini", NetworkOptions(past=True), "past"),
        ("resnet18", NetworkOptions(layers=2), "layers"),
        ("vit-s32", NetworkOptions(sequence=5), "sequence"),
        ("resnet18", NetworkOptions(attention="eager"), "attention"),
    ],
)
def test_choice_that_a_model_cannot_follow_is_refused(
    name: str, options: NetworkOptions, choice: str
) -> None:
    with pytest.raises(UsageError, match=f"{name} cannot follow --{choice}") as raised:
        build(name, options)
    assert raised.value.hint.startswith(f"leave --{choice} away; models that can: ")
    assert name not in raised.value.hint.split()


def test_model_needs_a_layer() -> None:
    with pytest.raises(UsageError, match="0 layers make no model") as raised:
        build("bert-mini", NetworkOptions(layers=0))
    assert raised.value.hint == "give --layers 1 or more"


def test_source_names_only_what_differs_from_the_defaults() -> None:
    source = source_of("gpt2", NetworkOptions(layers=2, past=True))
    assert source == TorchSource("zoo", "gpt2", {"layers": 2, "past": True})


def test_source_survives_its_json_form() -> None:
    source = source_of("gpt2", NetworkOptions(precision="fp16", small=True, seed=3))
    assert records.decode(TorchSource, records.encode(source)) == source


@pytest.mark.slow
@pytest.mark.torch
def test_source_builds_the_same_weights_and_inputs_again() -> None:
    import torch

    options = NetworkOptions(small=True, layers=1, seed=5)
    built = build("bert-mini", options)
    again = built_again(source_of("bert-mini", options), "bert-mini")
    with torch.inference_mode():
        found, wanted = again.module(**again.inputs)[0], built.module(**built.inputs)[0]
    assert torch.equal(found, wanted)
