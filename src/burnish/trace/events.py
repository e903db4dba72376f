"""A timeline: spans of time on tracks, some of which belong to a node of the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time spent on one thing."""

    name: str
    category: str
    """`node` (an operator, the nodes of its body included), `kernel`, `copy`, `run`, `other`."""
    start_s: float
    duration_s: float
    track: str
    """What it ran on: a thread or a device stream."""
    run: int
    """Which of the recorded inferences it belongs to, from 0; -1 outside all of them."""
    node: str | None = None
    """The model's node, by name; None: not attributed."""
    op_type: str | None = None
    provider: str | None = None

    @property
    def end_s(self) -> float:
        """Return when it ended."""
        return self.start_s + self.duration_s


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything recorded of some runs of one model on one engine."""

    spans: tuple[Span, ...]
    source: str
    """The format and its writer's version, for instance `onnxruntime 1.31.1`."""
    runs: int
    notes: tuple[str, ...] = ()
    """What is missing or was mended while reading; empty when the trace is whole."""
