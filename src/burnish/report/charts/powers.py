"""An axis whose marks are powers of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PowerAxis:
    """Powers of ten from `low` to `high` between two places on the paper."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> PowerAxis:
        """Return the axis that holds all values, which are above zero."""
        low = math.floor(math.log10(min(values)))
        high = math.ceil(math.log10(max(values) * 1.05))
        return cls(low, max(high, low + 1), start, end)

    def place(self, value: float) -> float:
        """Return where a value lies on the paper."""
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    @property
    def powers(self) -> list[float]:
        """Return the values that have a mark: ten at most."""
        step = 1 + (self.high - self.low) // 9
        return [10.0**power for power in range(self.low, self.high + 1, step)]
