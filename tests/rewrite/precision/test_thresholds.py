from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.options import Method
from burnish.rewrite.precision.thresholds import BINS, Histogram, span_of

METHODS: tuple[Method, ...] = get_args(Method)
NORMAL = np.random.default_rng(0).normal(size=100_000).astype(np.float32)


def histogram(elements: np.ndarray) -> Histogram:  # type: ignore[type-arg]
    return Histogram.empty(float(elements.min()), float(elements.max())).with_elements(elements)


def test_it_does_not_matter_in_which_pieces_elements_come() -> None:
    whole = histogram(NORMAL)
    pieces = Histogram.empty(whole.least, whole.largest)
    for start in range(0, NORMAL.size, 777):
        pieces = pieces.with_elements(NORMAL[start : start + 777])
    np.testing.assert_array_equal(pieces.counts, whole.counts)
    assert whole.counts.shape == (BINS,)
    assert whole.counts.sum() == NORMAL.size


@pytest.mark.parametrize("method", ["percentile", "entropy"])
def test_one_far_element_does_not_cost_the_others_their_bits(method: Method) -> None:
    least, largest = span_of(histogram(np.append(NORMAL, np.float32(40))), method)
    assert largest < 25
    assert -6 < least < -2
    whole = span_of(histogram(np.append(NORMAL, np.float32(40))), "minmax")
    assert whole[1] == 40


def test_the_span_of_least_error_has_less_of_it_than_the_whole() -> None:
    elements = np.append(NORMAL, np.float32(40)).astype(np.float64)

    def error(span: tuple[float, float]) -> float:
        step = (span[1] - span[0]) / 255
        rounded = np.rint((np.clip(elements, *span) - span[0]) / step) * step + span[0]
        return float(np.square(rounded - elements).sum())

    found = histogram(elements)
    assert error(span_of(found, "mse")) < error(span_of(found, "minmax"))


@settings(max_examples=50, deadline=None)
@given(
    elements=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50),
    method=st.sampled_from(METHODS),
)
def test_a_span_has_zero_in_it_and_is_no_wider_than_what_was_seen(
    elements: list[float], method: Method
) -> None:
    array = np.array(elements, np.float32)
    least, largest = span_of(histogram(array), method)
    assert least <= 0 <= largest
    assert least < largest
    if array.max() > array.min():
        assert least >= min(0.0, float(array.min())) * 1.0001
        assert largest <= max(0.0, float(array.max())) * 1.0001
