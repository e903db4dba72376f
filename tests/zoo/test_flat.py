from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest

from burnish.zoo.entry import Module
from burnish.zoo.flat import first_output, first_two_outputs, flat, only_output

pytestmark = pytest.mark.torch
Tensor = Any


def _difference() -> Module:
    import torch
    from torch import nn

    class Difference(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(2.0))

        def forward(self, left: Tensor, right: Tensor) -> tuple[Tensor, ...]:
            return self.scale * (left - right), left, right

    return Difference()


def test_inputs_go_in_by_name_or_by_position() -> None:
    import torch

    module = flat(_difference(), ("left", "right"), first_output)
    left, right = torch.tensor(5.0), torch.tensor(1.0)
    assert module(left, right)[0] == 8
    assert module(right=right, left=left)[0] == 8
    assert module(left, right=right)[0] == 8


def test_signature_names_the_inputs() -> None:
    module = flat(_difference(), ("left", "right"), first_output)
    assert list(inspect.signature(module.forward).parameters) == ["left", "right"]


def test_missing_input_is_an_error() -> None:
    module = flat(_difference(), ("left", "right"), first_output)
    with pytest.raises(TypeError, match="missing a required argument: 'right'"):
        module(1.0)


def test_copy_has_its_own_weights() -> None:
    import torch

    module = flat(_difference(), ("left", "right"), first_output)
    twin = copy.deepcopy(module)
    with torch.no_grad():
        twin.model.scale.fill_(10.0)
    assert module(1.0, 0.0)[0] == 2
    assert twin(1.0, 0.0)[0] == 10


def test_calls_choose_the_outputs() -> None:
    from torch import nn

    module = _difference()
    assert len(first_output(module, {"left": 3.0, "right": 1.0})) == 1
    assert first_two_outputs(module, {"left": 3.0, "right": 1.0})[1] == 3
    assert only_output(nn.Identity(), {"any": 7}) == (7,)
