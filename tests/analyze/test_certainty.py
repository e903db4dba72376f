from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.certainty import believed

SECONDS = st.floats(1e-6, 1e3)


@given(SECONDS, SECONDS)
def test_a_prediction_lies_between_what_is_believed_of_it(wall_s: float, baseline_s: float) -> None:
    for kinds in ({"remove"}, {"cuda-graph"}, {"remove", "cuda-graph"}):
        between = believed(wall_s, baseline_s, kinds)
        assert between is not None
        assert 0 < between[0] < wall_s < between[1]


@given(SECONDS, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_more_is_taken_away_the_less_is_sure(
    baseline_s: float, one: float, other: float
) -> None:
    little, much = sorted((one, other))
    widths = []
    for taken in (little, much):
        wall_s = baseline_s * (1 - taken)
        between = believed(wall_s, baseline_s, {"remove"})
        assert between is not None
        widths.append((between[1] - between[0]) / wall_s if wall_s else None)
    if None not in widths:
        assert widths[0] <= widths[1] * (1 + 1e-9)


@pytest.mark.parametrize(
    ("predicted", "measured"),
    [(7.1, 9.9), (3.0, 4.0), (9.19, 7.819), (4.574, 5.77), (3.602, 4.582), (1.445, 1.412)],
)
def test_what_was_measured_where_most_of_a_model_was_removed_lies_between(
    predicted: float, measured: float
) -> None:
    between = believed(1 / predicted, 1.0, {"remove"})
    assert between is not None
    assert between[0] <= 1 / measured <= between[1]


@pytest.mark.parametrize("kind", ["batch", "overlap"])
def test_nothing_is_claimed_of_changes_that_were_never_measured(kind: str) -> None:
    assert believed(1.0, 2.0, {"remove", kind}) is None
