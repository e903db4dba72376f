from __future__ import annotations

from pathlib import Path

import pytest
import torch

import network_checks as checks
from burnish.zoo.networks.bsrn import BlueprintConv, Bsrn, ContrastAttention

pytestmark = pytest.mark.torch
INPUTS = {"image": checks.images(2, 3, 20, 24)}
OTHER = {"image": checks.images(3, 3, 20, 24, seed=1)}


def test_parameters_are_those_that_were_published() -> None:
    # the paper's Table 4: 352 K for ×4
    assert checks.parameter_count(Bsrn) == 352_400


def test_image_grows_by_the_scale() -> None:
    network = checks.prepared(Bsrn.small(), INPUTS)
    assert checks.outputs_of(network, INPUTS)[0].shape == (2, 3, 40, 48)
    checks.assert_order_one(network, INPUTS)


def test_every_parameter_matters() -> None:
    checks.assert_every_parameter_matters(checks.prepared(Bsrn.small(), INPUTS), INPUTS)


def test_blueprint_convolution_is_a_dense_one_with_one_blueprint_per_output() -> None:
    features, convolution = checks.images(1, 4, 9, 9), BlueprintConv(4, 6, padding=0)
    pointwise, depthwise = convolution
    kernel = pointwise.weight * depthwise.weight
    reference = torch.nn.functional.conv2d(features, kernel, depthwise.bias)
    torch.testing.assert_close(convolution(features), reference)


def test_contrast_attention_sees_the_deviation_of_a_channel_without_a_mean() -> None:
    attention = ContrastAttention(16)
    flat, wavy = torch.zeros(1, 16, 4, 4), torch.ones(1, 16, 4, 4)
    wavy[..., ::2] = -1
    seen = []
    attention.weigh.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    attention(flat), attention(wavy)
    torch.testing.assert_close(seen[0], torch.zeros(1, 16, 1, 1))
    torch.testing.assert_close(seen[1], torch.ones(1, 16, 1, 1))


@pytest.mark.parametrize(
    "exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)]
)
def test_exports_with_dynamic_batch(exporter: checks.Exporter, tmp_path: Path) -> None:
    network = checks.prepared(Bsrn.small(), INPUTS)
    axes = {"image": {0: "batch"}}
    checks.assert_exports(network, [INPUTS, OTHER], axes=axes, exporter=exporter, folder=tmp_path)
