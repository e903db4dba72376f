"""What became of groups, kept: blocks and seconds by signature, as text that travels.

A search that was made once, or times that a card told, spare another process the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.codegen.gpu.choose import Blocked
from burnish.tile.schedule import Schedule

Told = Mapping[str, Any]
"""By signature: a reason, or shape, settings, seconds and bytes of memory; as JSON has it."""


def remembered(known: Mapping[str, Blocked | str]) -> dict[str, Any]:
    """Return what a search knows of groups, ready to be written as JSON."""
    return {name: each if isinstance(each, str) else _told(each) for name, each in known.items()}


def recalled(told: Told) -> dict[str, Blocked | str]:
    """Return what was written, for a search to begin with."""
    return {name: each if isinstance(each, str) else _blocked(*each) for name, each in told.items()}


def _told(found: Blocked) -> list[Any]:
    schedule = found.schedule
    return [list(schedule.tile), dict(schedule.settings), found.seconds, found.memory_bytes]


def _blocked(
    tile: list[int], settings: dict[str, int], seconds: float, memory_bytes: float
) -> Blocked:
    return Blocked(Schedule(tuple(tile), settings=settings), seconds, memory_bytes)
