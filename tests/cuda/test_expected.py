"""Outputs are wrong where they are further off than they may be, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.cuda.expected import Expected, finding

WANTED = {"all": np.array([[1.0, 2.0], [np.inf, np.nan]])}
RULES = Expected((((0, 2), (0, 2)),), ("all",), relative=0.1, scale=1.0)


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([[1.0, 2.0], [np.inf, np.nan]], ""),
        ([[1.09, 2.0], [np.inf, np.nan]], ""),
        (
            [[1.3, 2.0], [np.inf, np.nan]],
            "y: 1 of 4 elements are wrong, the worst at [0, 0], by 0.3",
        ),
        (
            [[np.nan, 2.0], [np.inf, np.nan]],
            "y: 1 of 4 elements are wrong, the worst at [0, 0], by inf",
        ),
        ([[1.0, 2.0], [-np.inf, 0.0]], "y: 2 of 4 elements are wrong, the worst at [1, 0], by inf"),
    ],
)
def test_elements_are_judged_one_by_one(found: list[list[float]], problem: str) -> None:
    assert finding("y", np.array(found), RULES, WANTED) == problem


def test_parts_are_judged_where_they_lie() -> None:
    rules = Expected((((1, 2), (0, 1)),), ("part",), relative=0.0, scale=0.0)
    output = np.array([[5, 5], [7, 5]])
    assert not finding("y", output, rules, {"part": np.array([[7]])})
    assert finding("y", output, rules, {"part": np.array([[8]])})


def test_some_ties_may_fall_the_other_way() -> None:
    rules = Expected((((0, 100),),), ("all",), relative=0.0, scale=0.0, ties=0.01)
    wanted = {"all": np.zeros(100)}
    one = np.zeros(100)
    one[0] = 1
    assert not finding("y", one, rules, wanted)
    one[1] = 1
    assert finding("y", one, rules, wanted)
