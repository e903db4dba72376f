from __future__ import annotations

from pathlib import Path

import pytest
import torch

import network_checks as checks
from burnish.zoo.networks.nafnet import ChannelNorm, NafNet

pytestmark = pytest.mark.torch
INPUTS = {"image": checks.images(2, 3, 16, 24)}
OTHER = {"image": checks.images(3, 3, 16, 24, seed=1)}


def test_parameters_are_those_that_were_published() -> None:
    # NAFNet-SIDD-width32 and NAFNet-GoPro-width32, published as 29.16 M and 17.11 M
    assert checks.parameter_count(_sidd) == 29_159_715
    assert checks.parameter_count(_gopro) == 17_111_907
    assert checks.parameter_count(NafNet) == 288_691


def _sidd() -> NafNet:
    return NafNet(
        width=32, encoder_blocks=(2, 2, 4, 8), middle_blocks=12, decoder_blocks=(2, 2, 2, 2)
    )


def _gopro() -> NafNet:
    return NafNet(
        width=32, encoder_blocks=(1, 1, 1, 28), middle_blocks=1, decoder_blocks=(1, 1, 1, 1)
    )


def test_image_keeps_its_shape_and_scale() -> None:
    network = checks.prepared(NafNet.small(), INPUTS)
    assert checks.outputs_of(network, INPUTS)[0].shape == INPUTS["image"].shape
    checks.assert_order_one(network, INPUTS)


def test_every_parameter_matters() -> None:
    checks.assert_every_parameter_matters(checks.prepared(NafNet.small(), INPUTS), INPUTS)


def test_channel_norm_is_layer_norm_over_channels() -> None:
    features, norm = checks.images(2, 6, 3, 5), ChannelNorm(6)
    with torch.no_grad():
        norm.weight.copy_(checks.images(6, seed=1))
        norm.bias.copy_(checks.images(6, seed=2))
    rows = features.permute(0, 2, 3, 1)
    reference = torch.nn.functional.layer_norm(rows, (6,), norm.weight, norm.bias, eps=1e-6)
    torch.testing.assert_close(norm(features), reference.permute(0, 3, 1, 2))


@pytest.mark.parametrize(
    "exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)]
)
def test_exports_with_dynamic_batch(exporter: checks.Exporter, tmp_path: Path) -> None:
    network = checks.prepared(NafNet.small(), INPUTS)
    axes = {"image": {0: "batch"}}
    checks.assert_exports(network, [INPUTS, OTHER], axes=axes, exporter=exporter, folder=tmp_path)
