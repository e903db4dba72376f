"""How much of a budget is left: in time of this process's own, so that a busy machine is no loss.

What else runs on a machine slows everything down; work that is measured in CPU time gets as far
as it would have got alone. Only when the clock on the wall has gone on for a multiple of the
budget does it end all the same.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

_PATIENCE = 4.0
"""How many times the budget may pass on the wall."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds that may be spent from now on."""

    seconds_s: float
    _worked_s: float = field(default_factory=lambda: time.process_time())
    _began_s: float = field(default_factory=lambda: time.monotonic())

    @property
    def is_spent(self) -> bool:
        """Return whether nothing is left."""
        worked = time.process_time() - self._worked_s
        passed = time.monotonic() - self._began_s
        return worked >= self.seconds_s or passed >= _PATIENCE * self.seconds_s
