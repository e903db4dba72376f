from __future__ import annotations

from pathlib import Path

import pytest
import torch

import network_checks as checks
from burnish.zoo.networks.nerf import Nerf, RayPerceptron, SineEncoding

pytestmark = pytest.mark.torch


def _points(count: int) -> checks.Inputs:
    return {
        "positions": checks.images(count, 3),
        "directions": torch.nn.functional.normalize(checks.images(count, 3, seed=1), dim=-1),
    }


def test_parameters_are_those_that_were_published() -> None:
    # what the reference implementation with view directions has, for each of its two networks
    assert checks.parameter_count(Nerf) == 595_844
    # six square layers of 64 and one of 64 × 3
    assert checks.parameter_count(RayPerceptron) == 6 * 64 * 64 + 64 * 3


def test_density_is_not_negative_and_colours_lie_between_zero_and_one() -> None:
    network = checks.prepared(Nerf.small(), _points(500))
    density, colours = checks.outputs_of(network, _points(500))
    assert density.shape == (500, 1)
    assert colours.shape == (500, 3)
    assert (density >= 0).all()
    assert density.any()
    assert ((colours > 0) & (colours < 1)).all()


def test_density_does_not_depend_on_the_direction_but_colour_does() -> None:
    network, points = checks.prepared(Nerf.small(), _points(9)), _points(9)
    density, colours = checks.outputs_of(network, points)
    turned = points | {"directions": -points["directions"]}
    turned_density, turned_colours = checks.outputs_of(network, turned)
    torch.testing.assert_close(turned_density, density)
    assert (turned_colours - colours).abs().max() > 0.01


def test_every_parameter_matters() -> None:
    checks.assert_every_parameter_matters(checks.prepared(Nerf.small(), _points(99)), _points(99))


def test_outputs_are_of_order_one() -> None:
    checks.assert_order_one(checks.prepared(Nerf.small(), _points(99)), _points(99))
    rays = {"input": checks.images(99, 16)}
    checks.assert_order_one(checks.prepared(RayPerceptron.small(), rays), rays)


def test_encoding_is_the_coordinate_with_sines_and_cosines_of_doubling_frequency() -> None:
    coordinates = torch.tensor([[0.1, 0.2, 0.3]])
    angles = torch.tensor([0.1, 0.2, 0.2, 0.4, 0.3, 0.6])
    expected = torch.cat([coordinates[0], angles.sin(), angles.cos()])
    torch.testing.assert_close(SineEncoding(2)(coordinates)[0], expected)


@pytest.mark.parametrize(
    "exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)]
)
def test_exports_with_any_number_of_points(exporter: checks.Exporter, tmp_path: Path) -> None:
    network = checks.prepared(Nerf.small(), _points(9))
    axes = {"positions": {0: "points"}, "directions": {0: "points"}}
    samples = [_points(9), _points(14)]
    checks.assert_exports(network, samples, axes=axes, exporter=exporter, folder=tmp_path)


def test_ray_perceptron_exports_with_any_number_of_rays(tmp_path: Path) -> None:
    samples = [{"input": checks.images(9, 16)}, {"input": checks.images(14, 16)}]
    network = checks.prepared(RayPerceptron.small(), samples[0])
    axes = {"input": {0: "rays"}}
    checks.assert_exports(network, samples, axes=axes, exporter="torchscript", folder=tmp_path)
