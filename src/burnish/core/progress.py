"""How long functions tell what they are doing; the command line decides how to draw it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told about every step that has been finished."""

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Note that `done` of `total` parts of `stage` are finished (0: nobody knows how many)."""


class Silent:
    """Progress that nobody watches."""

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Ignore it."""


SILENT = Silent()
