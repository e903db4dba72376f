from __future__ import annotations

import numpy as np
import pytest

from burnish.core.array_types import array_type, name_of
from burnish.core.tensors import BITS
from burnish.store.element_types import DATA_TYPES, SHORT_NAMES


def test_every_name_with_a_size_is_known_to_onnx() -> None:
    assert set(BITS) <= set(DATA_TYPES)


@pytest.mark.parametrize("short", [name for name in DATA_TYPES if name != "str"])
def test_names_types_and_sizes_agree(short: str) -> None:
    assert SHORT_NAMES[DATA_TYPES[short]] == short
    assert DATA_TYPES[short].bitwidth == BITS[short]
    assert name_of(np.zeros(1, array_type(short))) == short


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.array(["a"]), "str"),
        (np.array(["a"], object), "str"),
        (np.zeros(1, "datetime64[s]"), "datetime64[s]"),
    ],
)
def test_types_outside_of_onnx_have_a_name_too(array: np.ndarray, name: str) -> None:
    assert name_of(array) == name
