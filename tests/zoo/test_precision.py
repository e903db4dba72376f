"""Weights that are exported in other numbers than their own are told of."""

from __future__ import annotations

import pytest
import torch

from burnish.zoo.entry import BuiltModel
from burnish.zoo.precision import in_precision, other_numbers

pytestmark = pytest.mark.torch


def built(dtype: torch.dtype) -> BuiltModel:
    """Return a layer with weights of a type."""
    inputs = {"x": torch.ones(2, 4)}
    return BuiltModel(torch.nn.Linear(4, 3).to(dtype), inputs, inputs, ("y",), {})


def test_a_module_in_half_that_is_exported_in_full_is_told_of() -> None:
    (note,) = other_numbers(built(torch.float16), "fp32")
    assert note == "weights in float16 were exported in fp32; `burnish export -p fp16` keeps them"
    (note,) = other_numbers(built(torch.float64), "fp32")
    assert note == "weights in float64 were exported in fp32"
    assert other_numbers(built(torch.float16), "fp16") == ()
    assert other_numbers(built(torch.float32), "fp32") == ()


def test_a_model_in_another_precision_has_its_weights_and_inputs() -> None:
    model = in_precision(built(torch.float32), "bf16")
    assert model.module.weight.dtype == model.inputs["x"].dtype == torch.bfloat16
