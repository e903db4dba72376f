from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.bench import student

PUBLISHED = [
    (0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 10, 2.228),
    (0.975, 30, 2.042), (0.99, 2, 6.965), (0.99, 4, 3.747), (0.995, 2, 9.925),
    (0.995, 4, 4.604), (0.8, 4, 0.941), (0.5, 3, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("probability", "degrees", "expected"), PUBLISHED)
def test_quantiles_are_the_published_ones(
    probability: float, degrees: int, expected: float
) -> None:
    assert student.quantile(probability, degrees) == pytest.approx(expected, abs=5.1e-4)


@given(st.floats(0.0, 50.0), st.integers(1, 40))
def test_the_tail_equals_the_integral_of_the_density(t: float, degrees: int) -> None:
    steps = 1000
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    constant /= math.sqrt(degrees * math.pi)
    width = t / steps
    inside = sum(
        constant * (1 + ((index + 0.5) * width) ** 2 / degrees) ** (-(degrees + 1) / 2) * width
        for index in range(steps)
    )
    assert student.two_sided(t, degrees) == pytest.approx(1 - 2 * inside, abs=2e-4)


@given(st.floats(0.5, 0.9999), st.integers(1, 40))
def test_quantile_and_tail_are_inverses(probability: float, degrees: int) -> None:
    t = student.quantile(probability, degrees)
    assert student.two_sided(t, degrees) == pytest.approx(2 * (1 - probability), abs=1e-8)


def test_an_infinite_t_has_no_tail() -> None:
    assert student.two_sided(math.inf, 4) == 0


def test_a_probability_outside_the_upper_half_is_refused() -> None:
    with pytest.raises(ValueError, match=r"probability 1.0 is not in \[0.5, 1\)"):
        student.quantile(1.0, 3)
