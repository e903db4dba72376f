"""Write a timeline as the JSON that Perfetto and chrome://tracing open.

`burnish.trace.readers.own_timeline` reads it back: what those programs have no field for stands
among the arguments of events, and what is of the whole timeline before them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from burnish.core import records
from burnish.trace.events import Span, Trace
from burnish.version import __version__

SCHEMA = 1
"""Of what is written beyond the format's own fields."""


def text(trace: Trace) -> str:
    """Return a trace in Chrome's trace event format: lanes of spans that nest, microseconds."""
    lanes = _lanes(trace.spans)
    numbers = {lane: number for number, lane in enumerate(dict.fromkeys(lanes), 1)}
    names = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": _name(*lane)}}
        for lane, number in numbers.items()
    ]
    spans = zip(trace.spans, lanes, strict=True)
    events = [*names, *(_event(span, lane, numbers[lane]) for span, lane in spans)]
    about = {
        "burnish": __version__,
        "schema": SCHEMA,
        "source": trace.source,
        "runs": trace.runs,
        "notes": trace.notes,
        "origins": trace.origins,
    }
    # what is known of all of it comes first: readers look at how a file begins
    document = {
        "otherData": records.encode(about),
        "displayTimeUnit": "ms",
        "traceEvents": events,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _lanes(spans: Sequence[Span]) -> list[tuple[str, int]]:
    """Return the lane of each span: its track, and which of that track's.

    Perfetto drops a slice that begins inside another on its lane and ends outside of it, as
    kernels of one stream do that are launched early.
    """
    order = sorted(range(len(spans)), key=lambda at: (_ns(spans[at])[0], -_ns(spans[at])[1]))
    open_ends: dict[str, list[list[int]]] = {}
    found = [("", 0)] * len(spans)
    for at in order:
        begin, end = _ns(spans[at])
        lanes = open_ends.setdefault(spans[at].track, [])
        number = next((n for n, ends in enumerate(lanes) if _nests(ends, begin, end)), len(lanes))
        if number == len(lanes):
            lanes.append([])
        lanes[number].append(end)
        found[at] = (spans[at].track, number)
    return found


def _nests(ends: list[int], begin: int, end: int) -> bool:
    """Return whether a span lies inside what is open on a lane; what has ended is closed."""
    while ends and ends[-1] <= begin:
        ends.pop()
    return not ends or end <= ends[-1]


def _ns(span: Span) -> tuple[int, int]:
    """Return begin and end in whole nanoseconds, so that what followed another still does."""
    return round(span.start_s * 1e9), round((span.start_s + span.duration_s) * 1e9)


def _name(track: str, number: int) -> str:
    return f"{track} ({number + 1})" if number else track


def _event(span: Span, lane: tuple[str, int], number: int) -> dict[str, object]:
    facts = {
        "run": span.run,
        "node": span.node,
        "op_type": span.op_type,
        "provider": span.provider,
        "nodes": span.nodes or None,
        "confidence": None if span.confidence == "none" else span.confidence,
        "parent": span.parent,
        "cause": span.cause,
        "device": span.device,
        "stream": span.stream,
        "attributes": span.attributes or None,
        "track": span.track if _name(*lane) != span.track else None,
    }
    begin, end = _ns(span)
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.category,
        "pid": 1,
        "tid": number,
        "ts": begin / 1000,
        "dur": (end - begin) / 1000,
        "args": {key: records.encode(fact) for key, fact in facts.items() if fact is not None},
    }
