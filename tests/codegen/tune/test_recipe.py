"""A recipe gives the same elements everywhere, of the kind that was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen.tune import recipe as recipes
from burnish.codegen.tune.recipe import Recipe, made
from burnish.core.array_types import name_of


def test_the_first_elements_are_known() -> None:
    found = made(Recipe("i64", (4,), seed=7, low=0, high=1000))
    assert found.tolist() == KNOWN


KNOWN = [666, 484, 796, 686]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i64", "u8", "bool"])
def test_elements_have_the_type_and_the_range(dtype: str) -> None:
    found = made(Recipe(dtype, (50, 40), seed=1, low=2, high=9))
    assert name_of(found) == dtype
    assert found.shape == (50, 40)
    values = found.astype(np.float64)
    if dtype == "bool":
        assert 0.4 < values.mean() < 0.6
        return
    assert values.min() >= 2
    assert values.max() <= 9
    whole = dtype in ("i64", "u8")
    assert not whole or np.unique(values).tolist() == list(range(2, 9))
    assert abs(values.mean() - (5 if whole else 5.5)) < 0.2


@given(st.integers(0, 2**40), st.integers(0, 2**40))
def test_seeds_tell_arrays_apart(one: int, other: int) -> None:
    equal = (made(Recipe("f64", (8,), one)) == made(Recipe("f64", (8,), other))).all()
    assert equal == (one == other)


def test_long_arrays_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = made(Recipe("f32", (100,), seed=5))
    monkeypatch.setattr(recipes, "_PIECE", 7)
    np.testing.assert_array_equal(made(Recipe("f32", (100,), seed=5)), whole)
