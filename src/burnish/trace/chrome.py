"""Write a timeline as the JSON that Perfetto and chrome://tracing open."""

from __future__ import annotations

import json

from burnish.trace.events import Span, Trace


def text(trace: Trace) -> str:
    """Return a trace in Chrome's trace event format: one lane per track, microseconds."""
    tracks = {track: number for number, track in enumerate(dict.fromkeys(_tracks(trace)), 1)}
    names = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": track}}
        for track, number in tracks.items()
    ]
    events = [*names, *(_event(span, tracks[span.track]) for span in trace.spans)]
    document = {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {"source": trace.source, "notes": list(trace.notes)},
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _tracks(trace: Trace) -> list[str]:
    return [span.track for span in trace.spans]


def _event(span: Span, lane: int) -> dict[str, object]:
    facts = {
        "run": span.run,
        "node": span.node,
        "op_type": span.op_type,
        "provider": span.provider,
    }
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.category,
        "pid": 1,
        "tid": lane,
        "ts": round(span.start_s * 1e6, 3),
        "dur": round(span.duration_s * 1e6, 3),
        "args": {key: value for key, value in facts.items() if value is not None},
    }
