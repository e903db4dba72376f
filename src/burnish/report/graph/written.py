"""What `burnish graph` wrote and what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file, and how large it is."""

    path: Path
    size_bytes: int


@dataclass(frozen=True, slots=True)
class GraphReport:
    """A model's graph, how much of the time is on it, and where it was drawn."""

    label: str
    nodes: int
    files: tuple[WrittenFile, ...]
    engine: str | None
    """None: no times were asked for."""
    wall_s: float | None
    after_wall_s: float | None
    """What an inference would take after the change that was asked for."""
    coverage: float | None
    """The part of the recorded work that belongs to nodes of the model."""
    unattributed_s: float | None
    critical_nodes: int
    """How many nodes are on the longest chain if branches ran at the same time."""
    notes: tuple[str, ...] = ()
