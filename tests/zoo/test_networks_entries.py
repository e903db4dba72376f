"""The zoo's entries of the hand-written networks export as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

import network_checks as checks
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.factory import build

pytestmark = pytest.mark.torch
WRITTEN_HERE = [
    "bsrn", "conformer", "longformer", "nafnet", "nerf", "nerf-mlp", "restormer", "unet",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN_HERE)
@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_small_copy_exports_and_agrees_at_both_shapes(
    name: str, exporter: checks.Exporter, tmp_path: Path
) -> None:
    built = build(name, NetworkOptions(small=True))
    checks.assert_exports(
        built.module,
        [built.inputs, built.second_inputs],
        axes=built.dynamic_axes,
        exporter=exporter,
        folder=tmp_path,
    )


def test_longformer_rows_have_different_numbers_of_global_tokens_that_exist() -> None:
    built = build("longformer", NetworkOptions(small=True, batch=3))
    for inputs in (built.inputs, built.second_inputs):
        is_global, exists = inputs["global_attention_mask"], inputs["attention_mask"]
        assert (is_global <= exists).all()
        assert is_global.sum(1).tolist() == list(range(1, len(is_global) + 1))


def test_conformer_has_padding_at_both_shapes() -> None:
    built = build("conformer", NetworkOptions(small=True))
    for inputs in (built.inputs, built.second_inputs):
        assert inputs["lengths"].max() == inputs["frames"].shape[1]
        assert inputs["lengths"].min() < inputs["frames"].shape[1]


def test_layers_reach_the_networks_that_have_them() -> None:
    assert len(build("bsrn", NetworkOptions(small=True, layers=3)).module.model.blocks) == 3
    assert len(build("conformer", NetworkOptions(small=True, layers=3)).module.model.layers) == 3
    assert len(build("longformer", NetworkOptions(small=True, layers=3)).module.layers) == 3
