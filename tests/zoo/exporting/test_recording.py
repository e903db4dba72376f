"""What exports are judged by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnish.zoo.entry import BuiltModel
from burnish.zoo.exporting.recording import judging, recorded

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


class Cancelling(torch.nn.Module):  # type: ignore[misc]
    """The identity, by way of numbers that f16 has half a unit apart; and its sum in f32."""

    def __init__(self, fussy: bool = False) -> None:
        super().__init__()
        self.far = torch.nn.Parameter(torch.tensor([1000.0]))
        self._fussy = fussy

    def forward(self, x: Any) -> tuple[Any, Any]:  # noqa: ANN401
        if self._fussy and x.dtype != torch.float16:
            raise TypeError("f16 only")
        return (x + self.far - self.far, x.float().sum())


def built(module: Any, **inputs: Any) -> BuiltModel:  # noqa: ANN401
    return BuiltModel(module.half(), inputs, inputs, ("y", "total"), {})


X = torch.linspace(-9, 9, 64).half()


def test_a_module_of_16_bits_is_computed_in_f32_and_rounded_once() -> None:
    model = built(Cancelling(), x=X)
    (found,) = judging(model, [model.inputs])
    assert np.array_equal(found.inputs["x"], X.numpy())
    assert found.outputs["y"].dtype == np.float16
    assert found.outputs["total"].dtype == np.float32
    assert np.abs(found.outputs["y"] - X.numpy()).max() < 0.001
    assert np.abs(recorded(model, model.inputs).outputs["y"] - X.numpy()).max() > 0.1
    assert model.module.far.dtype == torch.float16, "the module is as it was"


def test_a_module_that_wants_its_own_type_keeps_it() -> None:
    model = built(Cancelling(fussy=True), x=X)
    (found,) = judging(model, [model.inputs])
    assert np.array_equal(found.outputs["y"], recorded(model, model.inputs).outputs["y"])
    assert model.module.far.dtype == torch.float16


class Masked(Cancelling):
    def forward(self, x: Any, mask: Any) -> tuple[Any, Any]:  # noqa: ANN401
        return super().forward(x * mask.reshape(-1))


def test_where_masks_go_in_the_type_is_kept() -> None:
    model = built(Masked(), x=X, mask=torch.ones(1, 64, dtype=torch.int64))
    (found,) = judging(model, [model.inputs])
    assert np.abs(found.outputs["y"] - X.numpy()).max() > 0.1
