"""A weight that is written is noticed, also where PyTorch does not count it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from burnish.integrations.torch_weights import WatchedWeights

pytestmark = pytest.mark.torch


def _by_array(weight: nn.Parameter) -> None:
    weight.detach().numpy()[:] += 1


@pytest.mark.parametrize(
    "write",
    [
        lambda weight: weight.data.mul_(2),
        lambda weight: weight.data[40:].zero_(),
        lambda weight: weight.requires_grad_(requires_grad=False).add_(1),
        _by_array,
    ],
    ids=["data", "rows", "counted", "array"],
)
@pytest.mark.parametrize("format_of", [torch.contiguous_format, torch.channels_last])
def test_a_change_is_seen(
    write: Callable[[nn.Parameter], object], format_of: torch.memory_format
) -> None:
    weight = nn.Parameter(torch.randn(64, 48, 3, 3).to(memory_format=format_of))
    watched = WatchedWeights()
    before = watched.state([weight])
    assert watched.state([weight]) == before
    write(weight)
    assert watched.state([weight]) != before


def test_types_that_numpy_lacks_and_tensors_of_any_layout_are_taken() -> None:
    weights = [torch.randn(4).bfloat16(), torch.zeros(0), torch.ones(1).expand(3), torch.tensor(2)]
    watched = WatchedWeights()
    before = watched.state(weights)
    weights[0].data.neg_()
    assert watched.state(weights) != before
