"""How long a pair of models is judged, and how much is done beyond what was asked for.

Two commands that are asked about one pair must not say different things because one of them had
less time: so the time to judge has its owner here, and is not what a search is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BUDGET_S = 30.0
"""How long differences are searched for, unless asked otherwise."""

JUDGING_S = 30.0
"""How long a model is evaluated in real numbers, and with noise, before it is judged without."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done beyond running the inputs that were asked for."""

    budget_s: float = BUDGET_S
    """For the search; 0: nothing is judged by its meaning, either."""
    search: bool = False
    """Whether inputs are looked for that tell the two apart."""
    fixed: Mapping[str, int] = field(default_factory=dict)
    """Dimensions whose size was asked for: they are not varied."""
    usual: Mapping[str, int] = field(default_factory=dict)
    """Sizes that are known to work, where those that names suggest do not."""
    seed: int = 0

    @property
    def judging_s(self) -> float:
        """Return how long meaning and roundings are judged: as long for every command, or more."""
        return max(JUDGING_S, self.budget_s) if self.budget_s > 0 else 0.0
