"""Array types have the names that the rest of burnish gives them."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.core.array_types import array_type, name_of
from burnish.store.element_types import DATA_TYPES


@pytest.mark.parametrize("short", DATA_TYPES)
def test_every_onnx_type_has_its_short_name(short: str) -> None:
    assert name_of(np.zeros(1, array_type(short))) == short


def test_text_of_any_kind_is_str() -> None:
    assert name_of(np.array(["a"])) == name_of(np.array(["a"], object)) == "str"


def test_a_type_without_a_short_name_keeps_numpys() -> None:
    assert name_of(np.zeros(1, "datetime64[s]")) == "datetime64[s]"


@pytest.mark.parametrize("name", [name for name in DATA_TYPES if name != "str"])
def test_a_short_name_leads_to_the_type_that_onnx_has(name: str) -> None:
    assert array_type(name) == np.dtype(DATA_TYPES[name].numpy())
