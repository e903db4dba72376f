from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burnish.trace.nesting import in_order, parents


def test_the_innermost_span_on_the_same_track_is_around_another() -> None:
    times = [(0, 100, "t"), (10, 60, "t"), (20, 25, "t"), (70, 75, "t"), (75, 80, "u")]
    starts, ends, tracks = zip(*times, strict=True)
    assert parents(starts, ends, tracks) == [None, 0, 1, 0, None]


def test_a_coarser_span_of_the_same_time_is_around_a_finer_one() -> None:
    same = np.zeros(3, np.int64)
    assert in_order(same, same + 9, ["launch", "node", "module"]).tolist() == [2, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from("tu"))))
def test_a_parent_comes_first_and_goes_on_when_its_child_begins(
    spans: list[tuple[int, int, str]],
) -> None:
    starts = np.array([start for start, _, _ in spans], np.int64)
    lengths = np.array([length for _, length, _ in spans], np.int64)
    order = in_order(starts, lengths, ["node"] * len(spans)).tolist()
    begins = [spans[at][0] for at in order]
    ends = [spans[at][0] + spans[at][1] for at in order]
    tracks = [spans[at][2] for at in order]
    for at, parent in enumerate(parents(begins, ends, tracks)):
        if parent is not None:
            assert parent < at
            assert tracks[parent] == tracks[at]
            assert begins[parent] <= begins[at] <= ends[parent]
