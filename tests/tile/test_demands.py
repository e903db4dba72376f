"""What must be true of whole numbers that are only known when a model runs."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.tile.demands import Demand, demands, unmet
from burnish.tile.parse import parse

HEAD = "in a: i32[4]\nin pairs: i32[4, 2]\nin x: f32[9]\nin z: f32[4]\nconst c: i32[4]\nout y\n"
C = np.array([3, -7, 0, 2], np.int32)


def asked(text: str) -> tuple[Demand, ...]:
    return demands(parse(HEAD + text, {"c": C}))


def test_each_tensor_that_leads_somewhere_must_hold_places_that_exist() -> None:
    text = (
        "p: i32[i0=4] = a[i0] + a[i0]\n"
        "q: i32[i0=4] = modulo(a[i0], 4:i32)\n"
        "y: f32[i0=4] = x[fetch(p[i0], 9)] + z[fetch(p[i0], 4)] + z[fetch(q[i0], 4)]"
    )
    assert asked(text) == (Demand("p", 9), Demand("p", 4))


def test_of_a_table_of_places_each_column_is_asked_for_its_own() -> None:
    text = "y: f32[i0=4] = x[fetch(pairs[i0, 0], 9)] + z[fetch(pairs[i0, 1], 4)]"
    assert asked(text) == (Demand("pairs", 9, 0), Demand("pairs", 4, 1))


def test_places_in_another_shape_are_asked_where_they_came_from() -> None:
    text = (
        "p: i32[i0=2, i1=2] = a[2*i0 + i1]\n"
        "q: i32[i0=2, i1=2] = p[i1, i0]\n"
        "y: f32[i0=2, i1=2] = x[fetch(q[i0, i1], 9)]"
    )
    assert asked(text) == (Demand("a", 9),)


def test_a_part_of_places_is_asked_alone() -> None:
    assert asked("p: i32[i0=3] = a[i0 + 1]\ny: f32[i0=3] = x[fetch(p[i0], 9)]") == (Demand("p", 9),)


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("a[i0]", (Demand("by", None),)),
        ("c[i0]", (Demand("by", None),)),
        ("maximum(a[i0], 1:i32)", ()),
        ("minimum(a[i0], -1:i32)", ()),
    ],
)
@pytest.mark.parametrize("function", ["{} / {}", "modulo({}, {})"])
def test_a_divisor_of_whole_numbers_must_not_be_0(
    by: str, wanted: tuple[Demand, ...], function: str
) -> None:
    text = f"by: i32[i0=4] = {by} + 0:i32\ny: i32[i0=4] = {function.format('a[i0]', 'by[i0]')}"
    assert asked(text) == wanted


def test_other_nests_may_tell_more_of_the_same_tensor() -> None:
    text = "p: i32[i0=4] = {}\ny: f32[i0=4] = x[fetch(p[i0], 9)]"
    wanted = asked(text.format("a[i0] + 0:i32"))
    assert unmet(wanted, parse(HEAD + text.format("modulo(a[i0], 9:i32)"), {"c": C})) == ()
    assert wanted == (Demand("p", 9),)


def test_quotients_of_other_numbers_are_asked_nothing() -> None:
    assert asked("y: f32[i0=4] = z[i0] / z[i0]") == ()
