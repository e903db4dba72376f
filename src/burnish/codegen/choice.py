"""What was chosen for a group of nests: a kernel with its tiles, or ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Choice:
    """How one group is run."""

    group: Group
    schedule: Schedule | None
    """None: ONNX Runtime runs the nodes of this group."""
    predicted_s: float | None = None
    predicted_bytes: float | None = None
    measured_s: float | None = None
    reason: str = ""
    """Why it is an ONNX Runtime part."""


Choose = Callable[[TileGraph], Sequence[Choice]]
"""Groups of a simplified graph, in an order in which they can run, and what was chosen."""
