"""A timeline: spans of time on tracks, some of which belong to nodes of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Confidence = Literal["exact", "correlation", "tensor", "pattern", "none"]
"""How a span's nodes are known, the surest first.

`exact`: the span carries the node's name. `correlation`: a launch id leads to the operator that
launched it, and module, kind, order and shape lead on to the node. `tensor`: the engine's own
graph leads back through the names of tensors. `pattern`: what such work is usually for. `none`:
not known.
"""

DEVICE = ("kernel", "copy")
"""Categories of what a device does."""
WORK = (*DEVICE, "node")
"""Categories of what does the model's work; the others start it, wait for it or name it."""

Fact = str | int | float | tuple[int, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time spent on one thing."""

    name: str
    category: str
    """`node` (an operator, the nodes of its body included), `kernel`, `copy`, `launch`, `sync`,
    `module` (of PyTorch), `range` (named by the engine), `run`, `other`."""
    start_s: float
    duration_s: float
    track: str
    """What it ran on: a thread or a device stream."""
    run: int
    """Which of the recorded inferences it belongs to, from 0; -1 outside all of them."""
    node: str | None = None
    """The node as the engine names it; None: the engine named none."""
    op_type: str | None = None
    provider: str | None = None
    nodes: tuple[str, ...] = ()
    """The model's own nodes whose work it did, by name; several where they are fused."""
    confidence: Confidence = "none"
    """How `nodes` is known."""
    parent: int | None = None
    """Where in `Trace.spans` the innermost span around it on its track is."""
    cause: int | None = None
    """Where in `Trace.spans` the span that launched it is."""
    device: int | None = None
    """The number of the device it ran on; None: the host."""
    stream: int | None = None
    attributes: Mapping[str, Fact] = field(default_factory=dict)
    """The few further facts that somebody uses: `bytes`, `shapes`, `graph` …"""

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
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The model's nodes behind each node of the graph that the engine made of it."""
    is_warm: bool = False
    """Whether inferences that only warmed up are known to be left out."""
    rank: int | None = None
    """Which rank of a distributed run it is of; None: it does not say."""
    world: int | None = None
    """How many ranks that run had."""
