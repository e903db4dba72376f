from __future__ import annotations

from pathlib import Path

import pytest
import torch

import network_checks as checks
from burnish.zoo.networks.restormer import Norm, PixelNorm, Restormer, TransposedAttention

pytestmark = pytest.mark.torch
INPUTS = {"image": checks.images(2, 3, 16, 24)}
OTHER = {"image": checks.images(3, 3, 16, 24, seed=1)}


def test_parameters_are_those_that_were_published() -> None:
    # published as 26.13 M with biases (deblurring, deraining) and 26.11 M without (denoising)
    assert checks.parameter_count(Restormer) == 26_126_644
    assert checks.parameter_count(lambda: Restormer(norm="bias-free")) == 26_111_668


@pytest.mark.parametrize("norm", ["with-bias", "bias-free"])
def test_image_keeps_its_shape_and_scale(norm: Norm) -> None:
    network = checks.prepared(Restormer.small(norm=norm), INPUTS)
    assert checks.outputs_of(network, INPUTS)[0].shape == INPUTS["image"].shape
    checks.assert_order_one(network, INPUTS)


def test_every_parameter_matters() -> None:
    checks.assert_every_parameter_matters(checks.prepared(Restormer.small(), INPUTS), INPUTS)


def test_norm_with_bias_is_layer_norm_over_channels() -> None:
    features, norm = checks.images(2, 6, 3, 5), PixelNorm(6, "with-bias")
    rows = features.permute(0, 2, 3, 1)
    reference = torch.nn.functional.layer_norm(rows, (6,), eps=1e-5).permute(0, 3, 1, 2)
    torch.testing.assert_close(norm(features), reference)


def test_norm_without_bias_keeps_the_mean() -> None:
    features = checks.images(2, 6, 3, 5)
    deviation = torch.sqrt(features.var(dim=1, keepdim=True, correction=0) + 1e-5)
    torch.testing.assert_close(PixelNorm(6, "bias-free")(features), features / deviation)


def test_attention_mixes_the_channels_of_one_head_only() -> None:
    attention = TransposedAttention(8, heads=2)
    torch.nn.init.dirac_(attention.output.weight)
    features = checks.images(1, 8, 4, 4)
    with torch.no_grad():
        filtered = attention.project(features)
        query, key, value = (part.flatten(2)[0, 4:] for part in filtered.chunk(3, dim=1))
        query, key = (rows / rows.norm(dim=1, keepdim=True) for rows in (query, key))
        reference = torch.softmax(query @ key.T, dim=1) @ value
        actual = attention(features)[0, 4:].flatten(1)
    torch.testing.assert_close(actual, reference)


@pytest.mark.parametrize(
    "exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)]
)
def test_exports_with_dynamic_batch(exporter: checks.Exporter, tmp_path: Path) -> None:
    network = checks.prepared(Restormer.small(), INPUTS)
    axes = {"image": {0: "batch"}}
    checks.assert_exports(network, [INPUTS, OTHER], axes=axes, exporter=exporter, folder=tmp_path)
