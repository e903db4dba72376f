"""Which spans of a trace are counted as work, and on whose clock."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.trace.events import DEVICE, Span, Trace
from burnish.trace.own_time import own_seconds


@dataclass(frozen=True, slots=True)
class Timed:
    """The spans that count, each with the time in which nothing inside it ran."""

    clock: str
    """`host`, or `device` where the trace has kernels."""
    own: tuple[tuple[Span, float], ...]


def timed(trace: Trace) -> Timed:
    """Return the spans that count: kernels and copies where there are any, else nodes.

    A node that has kernels ran on a device, and its own span is only the launch.
    """
    inside = [span for span in trace.spans if span.run >= 0]
    kernels = [span for span in inside if span.category in DEVICE]
    launched = {span.node for span in kernels if span.node is not None}
    nodes = [s for s in inside if s.category == "node" and s.node not in launched]
    clock, counted = "host", nodes
    if kernels:
        clock = "device"
        counted = kernels + [s for s in nodes if (s.provider or "").startswith("CPU")]
    return Timed(clock, tuple(zip(counted, own_seconds(counted), strict=True)))
