"""Read the profile that ONNX Runtime writes (`enable_profiling`), any version from 1.15.

A profile is a list with one event per line, in order of their ends, in whole microseconds. Names
are those of the graph as ONNX Runtime optimised it. Versions up to 1.30 write names unescaped, so
that a quote in one makes the file invalid JSON; such a file is read event by event, and every
name in it is taken literally. A process that was killed leaves a list without an end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.core import documents, units
from burnish.core.errors import ModelError
from burnish.trace import fields, runs
from burnish.trace.events import Span, Trace
from burnish.trace.formats import FORMATS, TraceFormat, content
from burnish.trace.json_events import LIST

Event = Mapping[str, Any]

EVENT_LIMIT = 1_000_000
"""ONNX Runtime records no more than this many events, and then stops without a word."""

_HINT = "record it again with burnish profile MODEL, and let it end by itself"
_CATEGORY = re.compile(rb'"cat"\s*:\s*"(?:Session|Node|Kernel|Api)"')
_OWN_CATEGORY = re.compile(rb'"cat"\s*:\s*"(?:Session|Node)"')
"""What nobody else calls events: kernels are called so by PyTorch's profiler, too."""
_BEGIN = re.compile(r'\{"cat" : "')
_BETWEEN_EVENTS = re.compile(r',?\n(?=\{"cat" : "|\]\s*\Z)')
_EVENT = re.compile(
    r'(?P<head>\{.*?),"name" :"(?P<name>.*)","args" : (?P<args>\{.*\})\}', re.DOTALL
)
_TEXT_ARGUMENT = re.compile(
    r'"(op_name|provider|parent_name)" : "(.*?)"(?=,"\w+" : |\})', re.DOTALL
)
_SESSION_BEGINS = "session_initialization"
_WORK = ("node", "kernel", "copy")
_DEVICE_PROVIDERS = re.compile(r"CUDA|Tensorrt|ROCM|MIGraphX|Dml|WebGpu|CoreML|QNN", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Events:
    events: tuple[Event, ...]
    notes: tuple[str, ...]


def read(path: Path) -> Trace:
    """Return the timeline in a profile; `notes` say what was mended and what is missing."""
    file = content(path)
    found = _last_session(_events(path, file.data.decode(errors="replace")))
    read_spans, lost = _spans(found.events)
    spans = runs.with_runs(read_spans)
    count = sum(span.category == "run" for span in spans)
    notes = (
        *((file.note,) if file.note else ()),
        *found.notes,
        *lost,
        *_missing(found.events, spans),
        *_host_times(spans),
    )
    return Trace(spans=spans, source=_source(found.events), runs=count, notes=notes)


def is_wrapped(head: bytes) -> bool:
    """Return whether a trace is an object around events of ONNX Runtime, as other tools write."""
    return head.lstrip().startswith(b"{") and _OWN_CATEGORY.search(head) is not None


def _recognises(head: bytes) -> bool:
    is_list = head.lstrip().startswith(b"[") and _CATEGORY.search(head) is not None
    return is_list or is_wrapped(head)


FORMATS.register("onnxruntime-profile")(TraceFormat(recognises=_recognises, read=read))


def _events(path: Path, text: str) -> _Events:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return _mended(path, text, f"line {error.lineno}, column {error.colno} ({error.msg})")
    except (RecursionError, ValueError) as error:
        return _mended(path, text, f"a place that is not known ({documents.reason(error)})")
    if isinstance(data, dict):
        data = data.get(LIST)
    if not isinstance(data, list) or not all(isinstance(event, dict) for event in data):
        raise ModelError(f"{path}: is not an ONNX Runtime profile (no list of events)", hint=_HINT)
    return _Events(tuple(data), ())


def _last_session(found: _Events) -> _Events:
    """Return the events of one session: medians over runs of unlike graphs would be of neither."""
    named = (event.get("name") for event in found.events)
    begins = [place for place, name in enumerate(named) if name == _SESSION_BEGINS]
    if len(begins) < 2:
        return found
    sessions = units.count(len(begins), "session")
    note = f"the file holds {sessions}, one after the other: the last is read"
    return _Events(found.events[begins[-1] :], (*found.notes, note))


def _mended(path: Path, text: str, where: str) -> _Events:
    """Return the events of a file that is not JSON, each read on its own."""
    begin = _BEGIN.search(text)
    chunks = _BETWEEN_EVENTS.split(text[begin.start() :].rstrip()) if begin else []
    cut_off = not chunks or chunks[-1] != "]"
    chunks = [chunk.rstrip(",") for chunk in chunks if chunk != "]"]
    whole = [chunk for chunk in chunks if chunk.endswith("}}")]
    as_json = [_json_event(chunk) for chunk in whole]
    literal = None in as_json
    events = [_literal_event(chunk) for chunk in whole] if literal else as_json
    readable = tuple(event for event in events if event is not None)
    if not readable:
        raise ModelError(
            f"{path}: nothing in it can be read as a profile; it stops making sense at {where}",
            hint=_HINT,
        )
    notes = []
    if cut_off:
        notes.append(
            f"the file ends early, at character {len(text):,} in line {text.count(chr(10)) + 1:,}:"
            f" {units.count(len(readable), 'event')} before that were read, later ones are missing"
        )
    if literal:
        notes.append(
            "names in the file are not escaped, as ONNX Runtime up to 1.30 writes them"
            " (invalid JSON): they were read literally"
        )
    lost = len(chunks) - len(readable) - (cut_off and len(chunks) > len(whole))
    if lost:
        notes.append(f"{units.count(lost, 'event')} cannot be read and left out")
    return _Events(readable, tuple(notes))


def _json_event(text: str) -> Event | None:
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _literal_event(text: str) -> Event | None:
    match = _EVENT.fullmatch(text)
    head = _json_event(match["head"] + "}") if match else None
    if match is None or head is None:
        return None
    return {**head, "name": match["name"], "args": _literal_arguments(match["args"])}


def _literal_arguments(text: str) -> Mapping[str, Any]:
    arguments = _json_event(text) or {}
    return {**arguments, **dict(_TEXT_ARGUMENT.findall(text))}


def _spans(events: Sequence[Event]) -> tuple[list[Span], tuple[str, ...]]:
    """Return the events as spans, and how many of them make no sense."""
    spans, odd = list[Span](), list[str]()
    for number, event in enumerate(events, 1):
        try:
            spans.append(_span(event))
        except fields.OddEventError as error:
            odd.append(f"event {number:,}: {error}")
    lost = units.count(len(odd), "event")
    return spans, (f"{lost} cannot be read and left out, the first {odd[0]}",) if odd else ()


def _span(event: Event) -> Span:
    arguments = fields.arguments(event)
    name, category, node = _identity(event, arguments)
    stream = arguments.get("stream")
    return Span(
        name=name,
        category=category,
        start_s=float(fields.microseconds(event, "ts")) * 1e-6,
        duration_s=float(fields.length(event)) * 1e-6,
        track=f"stream {stream}" if stream is not None else f"thread {event.get('tid')}",
        run=-1,
        node=node,
        op_type=fields.text(arguments.get("op_name")) if category in _WORK else None,
        provider=fields.text(arguments.get("provider")),
    )


def _identity(event: Event, arguments: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """Return an event's name without its suffix, its category, and its node."""
    name = str(event.get("name", ""))
    match event.get("cat"):
        case "Node" if name.endswith("_kernel_time"):
            node = name.removesuffix("_kernel_time")
            return node, "node", node
        case "Kernel":
            parent = str(arguments.get("parent_name") or "").removesuffix("_kernel_time")
            return name, "copy" if name.startswith("Memcpy") else "kernel", parent or None
        case "Session" if name == "model_run":
            return name, "run", None
        case _:
            return name, "other", None


def _missing(events: Sequence[Event], spans: Sequence[Span]) -> tuple[str, ...]:
    notes = []
    if len(events) >= EVENT_LIMIT:
        notes.append(
            f"ONNX Runtime stops recording after {EVENT_LIMIT:,} events: later runs are missing;"
            " record fewer runs"
        )
    outside = sum(span.run == -1 and span.category == "node" for span in spans)
    if outside:
        notes.append(
            f"{units.count(outside, 'node span')} of unfinished or overlapping runs left out"
        )
    return tuple(notes)


def _host_times(spans: Sequence[Span]) -> tuple[str, ...]:
    """Return a warning where nodes ran on a device and only their launches were timed."""
    if any(span.category == "kernel" for span in spans):
        return ()
    providers = {s.provider for s in spans if s.provider and _DEVICE_PROVIDERS.search(s.provider)}
    return tuple(
        f"times of {provider} nodes are how long the host took to launch them, not device time:"
        " this build of ONNX Runtime records no kernels"
        for provider in sorted(providers)
    )


def _source(events: Sequence[Event]) -> str:
    """Return the writer; its version shows only in which events and arguments there are."""
    nodes = [event for event in events if event.get("cat") == "Node"]
    if any(str(event.get("name", "")).endswith("_fence_before") for event in nodes):
        return "onnxruntime profile (1.20 or older)"
    arguments = (event.get("args") for event in nodes)
    if any("mem_in_use_peak" in found for found in arguments if isinstance(found, dict)):
        return "onnxruntime profile (1.27 or newer)"
    return "onnxruntime profile"
