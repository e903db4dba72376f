"""A schedule: what the compiler chose for one group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Schedule:
    """Tile shape of the anchor, and what a back end may be told besides."""

    tile: tuple[int, ...]
    """One size per axis of the anchor."""
    carried: int | None = None
    """The axis of the anchor along which a thread walks its tiles in order and keeps what
    neighbouring tiles share; None: tiles are independent, and shared parts are recomputed."""
    run: int = 1
    """How many tiles along that axis one thread walks before it begins anew."""
    settings: Mapping[str, int] = field(default_factory=dict)
    """Choices that only one back end knows, by its own names."""

    def __str__(self) -> str:
        parts = [f"tile {'×'.join(map(str, self.tile)) or 'one'}"]
        if self.carried is not None:
            parts.append(f"runs of {self.run} along axis {self.carried}")
        parts += [f"{name} {value}" for name, value in sorted(self.settings.items())]
        return ", ".join(parts)
