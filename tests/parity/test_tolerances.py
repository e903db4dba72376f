from __future__ import annotations

import pytest

from burnish.closeness.tolerance import ARITHMETIC, EXACT, OFF_BY_ONE, ROUNDING, Tolerance, weaker
from burnish.core.errors import UsageError
from burnish.core.tensors import BITS, FLOATS
from burnish.parity.tolerances import Tolerances


@pytest.mark.parametrize("dtype", [*BITS, "str"])
def test_every_element_type_has_a_tolerance_with_a_reason(dtype: str) -> None:
    tolerance = Tolerances().of("y", dtype)
    assert tolerance.reason
    assert (tolerance != EXACT) == (dtype in FLOATS or dtype.startswith("c"))


def test_strictest_first() -> None:
    relative = [tolerance.relative for tolerance in ARITHMETIC.values()]
    assert relative == sorted(relative)


@pytest.mark.parametrize("dtype", ARITHMETIC)
def test_a_tolerance_allows_more_than_a_single_rounding(dtype: str) -> None:
    assert ARITHMETIC[dtype].relative > ROUNDING[dtype]


def test_the_weaker_of_model_type_and_arithmetic_counts() -> None:
    assert Tolerances(arithmetic="f16").of("y", "f32") == ARITHMETIC["f16"]
    assert Tolerances(arithmetic="f32").of("y", "bf16") == ARITHMETIC["bf16"]
    assert weaker("bf16", "f16") == "bf16"


def test_what_the_user_asks_for_replaces_the_default() -> None:
    asked = Tolerances(relative=0.5)
    assert asked.of("y", "f32") == Tolerance(ARITHMETIC["f32"].absolute, 0.5, "asked for")
    assert Tolerances(absolute=0.1).of("y", "f32").relative == ARITHMETIC["f32"].relative
    assert asked.of("y", "i64") == EXACT


def test_integers_are_exact_unless_they_are_quantised() -> None:
    tolerances = Tolerances(arithmetic="f16", quantised=frozenset({"q"}))
    assert tolerances.of("q", "u8") == OFF_BY_ONE
    assert tolerances.of("ids", "i64") == EXACT


def test_an_unknown_type_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no tolerance for 'fp16'") as caught:
        Tolerances(arithmetic="fp16")
    assert caught.value.hint.startswith("did you mean 'f16'?")


def test_a_negative_tolerance_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="a tolerance is not negative"):
        Tolerance(-1.0, 0.0, "wrong")


@pytest.mark.parametrize(("dtype", "least"), [("f32", 1e-39), ("f64", 1e-309), ("f16", 5e-8)])
def test_what_a_type_cannot_hold_may_be_zero(dtype: str, least: float) -> None:
    allowed = Tolerances(near_zero=False).of("y", dtype)
    assert least < allowed.allowance(0.0) < 4000 * least
