"""Read what `burnish profile --trace-out` wrote: a timeline with all that was known of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.core import documents, records
from burnish.core.errors import ModelError
from burnish.trace import fields
from burnish.trace.chrome import SCHEMA
from burnish.trace.events import Span, Trace
from burnish.trace.formats import FORMATS, TraceFormat, content
from burnish.trace.json_events import LIST

_BEGIN = re.compile(rb'\s*\{\s*"otherData"\s*:\s*\{\s*"burnish"\s*:')
_HINT = "write it again with burnish profile MODEL --trace-out FILE"
_ODD = (KeyError, TypeError, ValueError, AttributeError, OverflowError, fields.OddEventError)


@dataclass(frozen=True, slots=True)
class _About:
    """What the file says of the whole timeline."""

    schema: int
    source: str
    runs: int
    notes: tuple[str, ...] = ()
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read(path: Path) -> Trace:
    """Return the timeline in a file, as it was; times are in whole nanoseconds."""
    data = documents.parse_json(content(path).data, str(path), hint=_HINT)
    try:
        about: _About = records.decode(_About, data["otherData"])
        if about.schema != SCHEMA:
            raise ValueError(f"its schema is {about.schema}, and {SCHEMA} is known")
        spans = tuple(_spans(data[LIST]))
        for place in (place for span in spans for place in (span.parent, span.cause)):
            if place is not None and not 0 <= place < len(spans):
                raise ValueError(f"an event is inside of, or started by, number {place}")
    except _ODD as error:
        raise ModelError(f"{path}: is no timeline of burnish ({error})", hint=_HINT) from error
    return Trace(spans, about.source, about.runs, about.notes, about.origins, is_warm=True)


def is_own(head: bytes) -> bool:
    """Return whether a file begins as those that burnish writes."""
    return _BEGIN.match(head) is not None


FORMATS.register("burnish-timeline")(TraceFormat(recognises=is_own, read=read))


def _spans(events: list[Mapping[str, Any]]) -> Iterator[Span]:
    """Yield the spans, in the order in which others name them."""
    lanes = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    for event in (event for event in events if event["ph"] == "X"):
        known = {
            "track": lanes[event["tid"]],
            **fields.arguments(event),
            "name": event["name"],
            "category": event["cat"],
            "start_s": _seconds(fields.microseconds(event, "ts")),
            "duration_s": _seconds(fields.length(event)),
        }
        yield records.decode(Span, known)


def _seconds(microseconds: Any) -> float:  # noqa: ANN401  (any number)
    return round(float(microseconds) * 1000) / 1e9
