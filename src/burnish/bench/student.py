"""Student's t distribution: what a mean of few rounds allows to say.

With x = n / (n + t²) and I the regularised incomplete beta function, the chance that |T| exceeds
|t| for n degrees of freedom is I_x(n/2, 1/2).
"""

from __future__ import annotations

import functools
import math


def two_sided(t: float, degrees: int) -> float:
    """Return the chance that |T| is at least |t|: the p-value of a two-sided test."""
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


@functools.lru_cache(maxsize=4096)
def quantile(probability: float, degrees: int) -> float:
    """Return the t that T stays below with `probability`, which must lie in [0.5, 1)."""
    if not 0.5 <= probability < 1:
        raise ValueError(f"probability {probability} is not in [0.5, 1)")
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while two_sided(high, degrees) > tail:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if two_sided(middle, degrees) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    # The fraction converges fast only on this side of the mean; the other side is 1 minus it.
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(x, a, b) / a
    return 1 - front * _continued_fraction(1 - x, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of I_x(a, b), evaluated forwards (Lentz's way)."""
    tiny = 1e-300  # stands for 0 in a denominator without changing any digit of the result
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1), tiny)
    result = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _away_from_zero(1 + step * d, tiny)
            c = _away_from_zero(1 + step / c, tiny)
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
