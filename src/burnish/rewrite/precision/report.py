"""What a conversion to fewer bits did to a model: records only."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class KeptNode:
    """A node that was left in f32."""

    node: str
    op_type: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChangedNode:
    """A node that computes in, or reads weights of, fewer bits now."""

    node: str
    op_type: str
    """What it was."""
    into: str
    """What does its work now; the same, where only types changed."""


@dataclass(frozen=True, slots=True)
class PrecisionReport:
    """What computes in fewer bits now, what does not, and why."""

    precision: str
    """`fp16`, `bf16`, `int8` or `int4`."""
    how: str
    """What else was chosen, for the model's history: `dynamic, per channel, 8 bits`."""
    changed: tuple[ChangedNode, ...]
    kept: tuple[KeptNode, ...]
    notes: tuple[str, ...] = ()

    @property
    def share_changed(self) -> float:
        """Return which part of the nodes that might have changed did."""
        total = len(self.changed) + len(self.kept)
        return len(self.changed) / total if total else 0.0
