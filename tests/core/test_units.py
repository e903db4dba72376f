from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core import units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00143, "1.43 ms"), (1.0, "1.00 s"), (12.3456, "12.3 s"), (1234.0, "1234 s"),
        (2.5e-6, "2.50 µs"), (9.9999e-4, "1.00 ms"), (3e-9, "3.00 ns"), (0.0, "0 ns"),
        (math.nan, "–"),
    ],
)  # fmt: skip
def test_seconds(value: float, text: str) -> None:
    assert units.seconds(value) == text


def test_a_time_that_no_clock_could_tell_is_no_time_of_0() -> None:
    assert units.recorded(2e-6, 3) == "2.00 µs"
    assert units.recorded(0.0, 3) == "< 1 µs"
    assert units.recorded(0.0, 0) == units.recorded(1.14e-13, 0) == "none"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1023, "1023 B"), (2**20 * 4.2, "4.20 MiB"), (2**40, "1.00 TiB")],
)
def test_size(value: float, text: str) -> None:
    assert units.size(value) == text


def test_the_rest() -> None:
    assert units.ratio(1.434) == "1.43×"
    assert [units.ratio(value) for value in (0.0, 0.0023, 0.05)] == ["0.00×", "0.002×", "0.05×"]
    assert [units.ratio(value) for value in (286.4, 6223.3)] == ["286×", "6,223×"]
    assert units.share(0.1234) == "12.3 %"
    assert units.error(1.234e-7) == "1.2e-07"
    assert units.count(1, "node") == "1 node"
    assert units.count(1234, "node") == "1,234 nodes"


def test_small_gains_have_the_digits_to_be_told_apart() -> None:
    assert units.gain(1.005) == "1.005×"
    assert units.gain(22.66) == "22.66×"
    assert units.gain(float("inf")) == "∞"


@given(st.floats(min_value=1e-9, max_value=1e3))
def test_seconds_keep_three_digits(value: float) -> None:
    number, unit = units.seconds(value).split()
    factor = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
    assert math.isclose(float(number) * factor, value, rel_tol=0.006)
