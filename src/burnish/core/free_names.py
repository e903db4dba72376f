"""Names that nothing has yet."""

from __future__ import annotations

from collections.abc import Iterable


class FreeNames:
    """Names in use, and how far the numbering of each stem has come.

    Numbers are never tried twice, so that a thousand things of one name take a thousand steps.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._last: dict[str, int] = {}

    def unused(self, stem: str) -> str:
        """Return `stem` with a number that makes it new; it is in use from now on."""
        number = self._last.get(stem, 1) + 1
        while f"{stem}_{number}" in self.taken:
            number += 1
        self._last[stem] = number
        self.taken.add(f"{stem}_{number}")
        return f"{stem}_{number}"
