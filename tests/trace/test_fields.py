"""Fields of events are what such fields must be, or the event is odd."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from burnish.trace import fields


@pytest.mark.parametrize("value", [0, 7, 1.5, Decimal("1700000000000000.123"), -3])
def test_a_time_is_any_number_that_a_clock_shows(value: Any) -> None:  # noqa: ANN401
    assert fields.microseconds({"ts": value}, "ts") == value


def test_a_time_that_is_not_there_is_zero() -> None:
    assert fields.microseconds({}, "ts") == 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None"), ("soon", "'soon'"), ([], "[]"), ({}, "{}"), (True, "True"),
        (float("nan"), "nan"), (float("inf"), "inf"), (Decimal("1e999999999"), "Decimal"),
        (10**400, "10000000000"), (10**18, "1000"),
    ],
)  # fmt: skip
def test_a_time_that_no_clock_shows(value: Any, shown: str) -> None:  # noqa: ANN401
    with pytest.raises(fields.OddEventError) as caught:
        fields.microseconds({"ts": value}, "ts")
    assert str(caught.value).startswith(f"its ts is {shown}")


def test_a_number_too_long_to_show_is_not_shown() -> None:
    with pytest.raises(fields.OddEventError, match="its ts is a int too long to show"):
        fields.microseconds({"ts": 10**5000}, "ts")


def test_nothing_takes_less_than_no_time() -> None:
    with pytest.raises(fields.OddEventError, match="its dur is -3"):
        fields.length({"dur": -3})


def test_arguments_are_a_table_or_nothing() -> None:
    assert fields.arguments({"args": {"a": 1}}) == {"a": 1}
    assert fields.arguments({"args": None}) == fields.arguments({}) == {}
    with pytest.raises(fields.OddEventError, match=r"its args are \[1\]"):
        fields.arguments({"args": [1]})


def test_text_is_text() -> None:
    assert fields.text("CPU") == "CPU"
    assert fields.text(3) is None


def test_a_time_that_is_written_as_text_counts() -> None:
    assert fields.microseconds({"ts": "17.125"}, "ts") == Decimal("17.125")
