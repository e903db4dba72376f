"""Arrays become tensors and come back unchanged."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.core.array_types import array_type
from burnish.engines.torch_values import TORCH_NAMES, array_of, short_name, tensor_of, torch_type

pytestmark = pytest.mark.torch
pytest.importorskip("torch")


@pytest.mark.parametrize("short", TORCH_NAMES)
def test_every_type_comes_back_as_it_went_in(short: str) -> None:
    array = np.array([[0, 1], [1, 0], [1, 1]]).astype(array_type(short))
    tensor = tensor_of(array, short, "cpu")
    assert tensor.dtype == torch_type(short)
    assert short_name(tensor) == short
    back = array_of(tensor)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_a_tensor_does_not_share_the_arrays_memory() -> None:
    array = np.zeros(2, np.float32)
    tensor_of(array, "f32", "cpu").fill_(1)
    assert array.tolist() == [0, 0]


def test_an_array_that_is_not_contiguous_keeps_its_order() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    assert tensor_of(array, "f32", "cpu").tolist() == array.tolist()
