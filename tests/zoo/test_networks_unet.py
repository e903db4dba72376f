from __future__ import annotations

from pathlib import Path

import pytest
import torch

import network_checks as checks
from burnish.zoo.networks.unet import UNet, Upsampling

pytestmark = pytest.mark.torch
INPUTS = {"image": checks.images(2, 3, 16, 24)}
OTHER = {"image": checks.images(3, 3, 16, 24, seed=1)}
UPSAMPLINGS = ["transposed", "bilinear"]


def test_parameters_are_those_that_were_published() -> None:
    # the widely used implementation with BatchNorm has 31,037,633 with one class
    assert checks.parameter_count(lambda: UNet(classes=1)) == 31_037_633
    assert checks.parameter_count(UNet) == 31_044_068


@pytest.mark.parametrize("upsampling", UPSAMPLINGS)
def test_every_pixel_gets_a_score_per_class(upsampling: Upsampling) -> None:
    network = checks.prepared(UNet.small(upsampling=upsampling), INPUTS)
    assert checks.outputs_of(network, INPUTS)[0].shape == (2, 5, 16, 24)
    checks.assert_order_one(network, INPUTS)


@pytest.mark.parametrize("upsampling", UPSAMPLINGS)
def test_every_parameter_matters(upsampling: Upsampling) -> None:
    network = checks.prepared(UNet.small(upsampling=upsampling), INPUTS)
    checks.assert_every_parameter_matters(network, INPUTS)


def test_skip_connections_carry_what_pooling_loses() -> None:
    network = checks.prepared(UNet.small(), INPUTS)
    (scores,) = checks.outputs_of(network, INPUTS)
    for up in network.ups:
        torch.nn.init.zeros_(up.weight)
    (from_skips,) = checks.outputs_of(network, INPUTS)
    assert (scores - from_skips).abs().max() > 0.01
    assert from_skips.std(dim=(2, 3)).min() > 0.01


@pytest.mark.parametrize("upsampling", UPSAMPLINGS)
@pytest.mark.parametrize(
    "exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)]
)
def test_exports_with_dynamic_batch(
    exporter: checks.Exporter, upsampling: Upsampling, tmp_path: Path
) -> None:
    network = checks.prepared(UNet.small(upsampling=upsampling), INPUTS)
    axes = {"image": {0: "batch"}}
    checks.assert_exports(network, [INPUTS, OTHER], axes=axes, exporter=exporter, folder=tmp_path)
