"""Between which numbers elements lie: never narrower than they do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.tile.parse import parse
from burnish.tile.ranges import ranges
from burnish.tile.reference import evaluate
from tile_strategies import UNHURRIED

HEAD = "in a: i32[5]\nin x: f32[9]\nconst c: i32[5]\nout y\n"
C = np.array([-3, 7, 0, 2, 11], np.int32)


def range_of(body: str, dtype: str = "i32", behind: str = "") -> tuple[int, int]:
    text = f"{HEAD}p: {dtype}[i0=5] = {body}{behind}\ny: f32[i0=5] = x[fetch(p[i0], 9)]"
    return ranges(parse(text, {"c": C}))["p"]


CASES = {
    "c[i0]": (-3, 11),
    "c[i0] + c[i0]": (-6, 22),
    "c[i0] - 1:i32": (-4, 10),
    "c[i0] * c[i0]": (-33, 121),
    "maximum(minimum(a[i0], 8:i32), 0:i32)": (0, 8),
    "modulo(a[i0], 9:i32)": (0, 8),
    "where(a[i0] < 0:i32, c[i0], 20:i32)": (-3, 20),
    "where(a[i0] < 0:i32, 0:i32, a[i0])": (0, 2**31 - 1),
    "where(8:i32 < a[i0], 8:i32, a[i0])": (-(2**31), 8),
    "a[i0]": (-(2**31), 2**31 - 1),
    "c[i0] * 2147483647:i32": (-(2**31), 2**31 - 1),
    "i32(coordinate(i0))": (0, 4),
    "c[i0 | 0 <= i0 < 2 else -9]": (-9, 11),
}


@pytest.mark.parametrize(("body", "expected"), CASES.items())
def test_what_is_known_of_an_expression(body: str, expected: tuple[int, int]) -> None:
    assert range_of(body) == expected


def test_sums_grow_and_others_do_not() -> None:
    assert range_of("sum(k=4) c[i0]") == (-12, 44)
    assert range_of("max(k=4) c[i0]") == (-3, 11)
    assert range_of("prod(k=4) c[i0]")[1] == 2**31 - 1
    assert range_of("max(k=4) c[i0]", behind=" then maximum(acc, 0:i32)") == (0, 11)


@UNHURRIED
@given(st.sampled_from(list(CASES)), st.lists(st.integers(-50, 50), min_size=5, max_size=5))
def test_nothing_lies_outside(body: str, fed: list[int]) -> None:
    graph = parse(f"{HEAD.replace('out y', 'out p')}p: i32[i0=5] = {body}", {"c": C})
    values = evaluate(graph, {"a": np.array(fed, np.int32), "x": np.zeros(9, np.float32)})["p"]
    low, high = range_of(body)
    assert low <= values.min()
    assert values.max() <= high
