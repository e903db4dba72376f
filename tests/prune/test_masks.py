"""Masks keep what matters most, as much as asked for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burnish.prune.masks import by_output, largest, two_of_four


@given(st.integers(0, 99), st.sampled_from([0.25, 0.5, 0.75]))
def test_each_output_keeps_its_share_of_what_matters_most(seed: int, keep: float) -> None:
    rng = np.random.default_rng(seed)
    weight, norms = rng.standard_normal((8, 3)), rng.uniform(0.1, 2.0, 8)
    mask = by_output(weight, norms, keep)
    worth = np.abs(weight) * norms[:, None]
    assert (mask.sum(axis=0) == 8 * keep).all()
    for column in range(3):
        assert worth[mask[:, column], column].min() >= worth[~mask[:, column], column].max()
    assert largest(weight, keep).sum() == weight.size * keep


@given(st.integers(0, 99))
def test_two_of_each_four_are_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = two_of_four(rng.standard_normal((12, 5)), np.ones(12))
    assert mask is not None
    assert (mask.reshape(3, 4, 5).sum(axis=1) == 2).all()


def test_there_are_no_fours_in_six() -> None:
    assert two_of_four(np.ones((6, 2)), np.ones(6)) is None
