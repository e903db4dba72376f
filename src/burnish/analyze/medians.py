"""How well the median of a few times is known."""

from __future__ import annotations

import math
from collections.abc import Sequence


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Return two of the samples between which the median of all possible ones lies, 19 of 20 times.

    Each sample is above or below that median with equal chance, whatever their distribution; so
    how many lie below it is known. Fewer than six samples tell no more than their extremes.
    """
    ordered = sorted(samples)
    if not ordered:
        return 0.0, 0.0
    number = len(ordered)
    # 0.98: half of 1.96, the standard deviation of how many lie below being half a root of all
    outside = max(0, math.floor(number / 2 - 0.98 * math.sqrt(number)))
    return ordered[outside], ordered[number - 1 - outside]
