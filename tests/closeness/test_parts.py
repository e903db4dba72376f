"""Whoever judges parts judges them as whole tensors are judged: there is one comparator."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from burnish.closeness.apart import scale_of
from burnish.closeness.parts import Allowed, Box, finding
from burnish.closeness.tolerance import EXACT, Tolerance
from burnish.parity.compare import compare_tensor

NUMBERS = st.floats(-1e3, 1e3, width=32) | st.sampled_from([np.nan, np.inf, -np.inf])
PAIRS = hnp.array_shapes(min_dims=1, max_dims=3, max_side=5).flatmap(
    lambda shape: st.tuples(
        *[hnp.arrays(np.float32, shape, elements=NUMBERS) for _ in range(2)], st.integers(0, 4)
    )
)
TOLERANCE = Tolerance(0.0, 1e-2, "as a test has it")


def _cut(array: np.ndarray, at: int) -> list[tuple[Box, np.ndarray]]:
    """Return an array as two parts of it, along its first axis."""
    middle = min(at, len(array))
    rest = tuple((0, extent) for extent in array.shape[1:])
    ends = [(0, middle), (middle, len(array))]
    return [(((low, high), *rest), array[low:high]) for low, high in ends]


@given(PAIRS)
def test_parts_that_make_up_a_tensor_are_wrong_where_the_tensor_is(
    pair: tuple[np.ndarray, np.ndarray, int],
) -> None:
    right, found, at = pair
    allowed = Allowed(TOLERANCE, scale_of(right))
    told = finding("y", found, _cut(right, at), allowed)
    diff = compare_tensor("y", right, found, TOLERANCE)
    assert bool(told) is not diff.passed
    if told:
        assert f"the worst at {list(diff.worst_index)}," in told


def test_a_place_is_told_as_that_in_the_whole_output() -> None:
    right = np.zeros((4, 4), np.int64)
    found = right.copy()
    found[2, 3] = 5
    part = [(((2, 4), (2, 4)), right[2:, 2:])]
    assert finding("y", found, part, Allowed(EXACT, 0.0)) == (
        "y: 1 of 4 elements are wrong, the worst at [2, 3], by 5"
    )
    assert finding("y", found, part, Allowed(EXACT, 0.0, ties=0.5)) == ""


def test_no_part_is_never_wrong() -> None:
    assert finding("y", np.ones(3), [], Allowed(EXACT, 0.0)) == ""
