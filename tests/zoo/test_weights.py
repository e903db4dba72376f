from __future__ import annotations

import contextlib

import pytest

from burnish.zoo import weights
from burnish.zoo.entry import MODELS, NetworkOptions
from burnish.zoo.weights import calibrate_batch_norms, randomise, undrawn

pytestmark = pytest.mark.torch


def test_deep_linear_network_keeps_the_order_of_magnitude() -> None:
    import torch
    from torch import nn

    network = randomise(nn.Sequential(*(nn.Linear(64, 64, bias=False) for _ in range(12))), seed=0)
    values = torch.randn(200, 64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        assert 0.5 < network(values).std() < 2


def test_gain_makes_up_for_what_relu_takes() -> None:
    import torch
    from torch import nn

    layers = [part for _ in range(10) for part in (nn.Linear(64, 64, bias=False), nn.ReLU())]
    values = torch.randn(200, 64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        kept = randomise(nn.Sequential(*layers), seed=0, gain=2**0.5)(values).std()
        lost = randomise(nn.Sequential(*layers), seed=0)(values).std()
    assert kept > 0.3
    assert lost < 0.1


def test_biases_and_norm_weights_are_far_from_nothing() -> None:
    from torch import nn

    network = randomise(nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32)), seed=0)
    assert network[0].bias.abs().mean() > 0.1
    assert network[1].bias.abs().mean() > 0.1
    assert (network[1].weight - 1).abs().mean() > 0.1


def test_linear_layer_stored_input_first_counts_its_inputs() -> None:
    from transformers.pytorch_utils import Conv1D

    layer = randomise(Conv1D(64, 1024), seed=0)
    assert float(layer.weight.detach().std()) == pytest.approx(1024**-0.5, rel=0.1)


def test_same_seed_gives_the_same_weights() -> None:
    import torch
    from torch import nn

    first, again, other = (randomise(nn.Linear(4, 4), seed=seed).weight for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_shared_weight_is_drawn_once() -> None:
    import torch
    from torch import nn

    tied = nn.ModuleList([nn.Embedding(9, 4), nn.Linear(4, 9, bias=False)])
    tied[1].weight = tied[0].weight
    alone = randomise(nn.Embedding(9, 4), seed=0)
    assert torch.equal(randomise(tied, seed=0)[0].weight, alone.weight)


def test_scalar_parameters_keep_their_value() -> None:
    import torch
    from torch import nn

    module = nn.Module()
    module.temperature = nn.Parameter(torch.tensor(2.5))
    assert randomise(module, seed=0).temperature == 2.5


def test_calibrated_batch_norm_normalises_its_own_input() -> None:
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm2d(3, affine=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.norm(x)

    pixels = 5 + 3 * torch.randn(8, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    network = calibrate_batch_norms(Net(), {"x": pixels})
    result = network(pixels)
    assert abs(result.mean()) < 0.05
    assert abs(result.std() - 1) < 0.05
    assert not network.training
    assert network.norm.running_mean.equal(network.norm.running_mean.bfloat16().float())


def test_a_module_that_is_made_undrawn_is_zeros_where_it_would_be_drawn() -> None:
    from torch import nn

    with undrawn():
        network = nn.Sequential(nn.Linear(8, 8), nn.Conv2d(2, 2, 3), nn.LayerNorm(8))
        table = nn.init.normal_(nn.Parameter(nn.Linear(4, 4).weight + 1))
    drawn = [*network[0].parameters(), *network[1].parameters(), table]
    assert all(not parameter.any() for parameter in drawn)
    assert bool((network[2].weight == 1).all()), "what is set, and not drawn, is left alone"
    assert bool(nn.Linear(8, 8).weight.any()), "behind it all is as before"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_the_same_whether_its_module_drew_or_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    undrawn_first = MODELS[name].build(NetworkOptions(small=True)).module.state_dict()
    monkeypatch.setattr(weights, "undrawn", contextlib.nullcontext)
    drawn_first = MODELS[name].build(NetworkOptions(small=True)).module.state_dict()
    assert undrawn_first.keys() == drawn_first.keys()
    for part, values in drawn_first.items():
        assert torch.equal(undrawn_first[part], values), part
