"""How long tuning may take."""

from __future__ import annotations

import time
from collections.abc import Callable


class TuningTime:
    """Seconds from now on; None: as long as it takes."""

    def __init__(
        self, seconds: float | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._began = clock()

    def allows(self, share: float = 1.0) -> bool:
        """Say whether less than this share of the time has passed."""
        return self._seconds is None or self._clock() - self._began < share * self._seconds
