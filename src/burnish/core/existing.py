"""What is said of whole numbers that kernels have no answer for: of places that do not exist, say.

Kernels never stop: of such a place they take the nearest, and a number divided by 0 is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from burnish.core.errors import UsageError

LookKind = Literal["place", "divisor", "length"]
"""What a tensor is looked at for.

`place`: places of a dimension, mostly counted from its end as well. `divisor`: what whole
numbers are divided by. `length`: how many steps of a sequence are a row's.
"""

Held = tuple[int, int]
"""The least and the greatest number; of divisors, of 1 for each, and 0 for each that is 0."""


class EarlierRunError(UsageError):
    """An earlier run was led to what has no answer, and its results were handed out."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a tensor of whole numbers must hold."""

    name: str
    """What it is called where one reads of it."""
    kind: LookKind
    size: int = 0
    """How many places there are, or the steps of the longest row."""
    is_computed: bool = False
    """Whether the model computes it; else it is fed."""
    forward: bool = False
    """Whether places are not counted from the end."""

    def refusal(self, held: Held, when: str = "") -> UsageError | None:
        """Return what is wrong with what it holds; None: nothing.

        `when`: in which run it held that, where it is not the one that raises.
        """
        low, high = self._least, self._most
        if low <= held[0] and held[1] <= high:
            return None
        wrong = held[0] if held[0] < low else held[1]
        return (EarlierRunError if when else UsageError)(
            f"{'computed' if self.is_computed else 'input'} {self.name!r}"
            f" {'held' if when else 'holds'} {wrong}{when}, and {self._purpose}",
            hint=f"feed what makes {self._right} of it"
            if self.is_computed
            else f"feed {self._right}",
        )

    @property
    def _least(self) -> int:
        return {"place": 0 if self.forward else -self.size, "divisor": 1, "length": 0}[self.kind]

    @property
    def _most(self) -> int:
        return {"place": self.size - 1, "divisor": 1, "length": self.size}[self.kind]

    @property
    def _purpose(self) -> str:
        match self.kind:
            case "place":
                return f"what it points into has {self.size:,} entries"
            case "length":
                return f"the sequence has {self.size:,} steps"
            case "divisor":
                return "divides whole numbers"

    @property
    def _right(self) -> str:
        if self.kind == "divisor":
            return "whole numbers other than 0"
        return f"whole numbers from {self._least} to {self._most}"
