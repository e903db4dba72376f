"""The simulated inference as a timeline for ui.perfetto.dev and chrome://tracing."""

from __future__ import annotations

from burnish.analyze.simulate import simulate, trace_of
from burnish.core.errors import UsageError
from burnish.report.graph.picture import Picture
from burnish.trace import chrome


def timeline(picture: Picture) -> str:
    """Return one typical inference, after the change where there is one."""
    timing = picture.timing
    if timing is None:
        raise UsageError(
            f"{picture.label} has no times, so there is no timeline to write",
            hint="add --engine onnxruntime-cpu, or --trace FILE",
        )
    source = f"simulated from {timing.source}"
    if timing.change:
        source += f", after {timing.change}"
    return chrome.text(trace_of(simulate(timing.after or timing.events), source=source))
