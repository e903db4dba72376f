"""Read the timeline that PyTorch's profiler writes (Kineto's chrome trace), plain or gzipped.

Work of a device is led back to the call that launched it by `correlation`; `External id` was
written wrongly for years and is not used. The process number of an event says nothing either:
Python functions too may have process 0. Times are microseconds, whole up to torch 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from burnish.core import units
from burnish.trace import fields, nesting
from burnish.trace.events import Fact, Span, Trace
from burnish.trace.formats import FORMATS, Format
from burnish.trace.inferences import with_inferences
from burnish.trace.json_events import Event, EventStream

RUN = "burnish.run"
MODULE = "burnish.module:"
"""What Burnish names its own ranges when it records: an inference, and a module by its path."""

_STEP = "ProfilerStep#"
_PYTHON_MODULE = "nn.Module: "
_OPERATORS = ("cpu_op", "Operator")
_CALLS = ("cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "xpu_driver", "mtia_runtime")
_KERNELS = ("kernel", "Kernel")
_COPIES = ("gpu_memcpy", "gpu_memset", "Memcpy", "Memset")
_ON_DEVICE = ("kernel", "copy")


@dataclass(frozen=True, slots=True)
class _Found:
    """A span, with what leads from it to others."""

    span: Span
    correlation: int | None


def read(path: Path) -> Trace:
    """Return the timeline in a file; `notes` say what is missing and what has no cause."""
    stream = EventStream(path)
    found = list(_all_found(stream))
    spans, notes = _linked(found)
    spans = with_inferences(spans)
    return Trace(
        spans=spans,
        source=_source(stream.facts),
        runs=1 + max((span.run for span in spans), default=-1),
        notes=(*stream.notes, *notes),
    )


def _recognises(head: bytes) -> bool:
    text = head.lstrip()
    known = (b'"traceEvents"', b'"deviceProperties"', b'"schemaVersion"', b'"baseTimeNanoseconds"')
    return text.startswith(b"{") and any(key in text for key in known)


FORMATS.register("kineto")(Format(recognises=_recognises, read=read))


def _all_found(stream: EventStream) -> Iterator[_Found]:
    """Yield the spans; their times count from the first of them, which may not be the earliest."""
    first_ns: int | None = None
    for event in stream:
        if event.get("ph") != "X" or "ts" not in event:
            continue
        try:
            begin_ns = _nanoseconds(fields.microseconds(event, "ts"))
            found = _found(event, begin_ns - (begin_ns if first_ns is None else first_ns))
        except fields.OddEventError as error:
            stream.leave_out(error)
            continue
        first_ns = begin_ns if first_ns is None else first_ns
        if found is not None:
            yield found


def _found(event: Event, start_ns: int) -> _Found | None:
    """Return an event as a span; None for what no one asks about."""
    name, arguments = str(event.get("name", "")), fields.arguments(event)
    category = _category(str(event.get("cat", "")), name)
    if category is None:
        return None
    on_device = category in _ON_DEVICE or event.get("cat") in ("cuda_sync", "gpu_user_annotation")
    device, stream = arguments.get("device"), arguments.get("stream")
    if on_device and device is None:
        device, stream = event.get("pid"), event.get("tid")
    thread = f"{event.get('pid')}/{event.get('tid')}"
    span = Span(
        name=_short(name),
        category=category,
        start_s=start_ns * 1e-9,
        duration_s=_nanoseconds(fields.length(event)) * 1e-9,
        track=f"GPU {device} stream {stream}" if on_device else f"thread {thread}",
        run=-1,
        op_type=name if category == "node" else None,
        device=_number(device) if on_device else None,
        stream=_stream(stream) if on_device else None,
        attributes=_facts(category, arguments),
    )
    return _Found(span, _number(arguments.get("correlation")))


def _category(kind: str, name: str) -> str | None:
    if kind in _OPERATORS:
        return "node"
    if kind in _CALLS:
        return "sync" if "ynchronize" in name else "launch"
    if kind in _KERNELS:
        return "kernel"
    if kind in _COPIES:
        return "copy"
    if kind == "python_function":
        return "module" if name.startswith(_PYTHON_MODULE) else None
    if kind == "user_annotation":
        return "run" if name == RUN or name.startswith(_STEP) else "module"
    return {"cuda_sync": "sync", "overhead": "other", "gpu_user_annotation": "other"}.get(kind)


def _short(name: str) -> str:
    return name.removeprefix(_PYTHON_MODULE).removeprefix(MODULE)


def _facts(category: str, arguments: Mapping[str, Any]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    shapes = arguments.get("Input Dims", arguments.get("Input dims"))
    if category == "node" and shapes and isinstance(shapes, list):
        facts["shapes"] = ";".join(_shape(shape) for shape in shapes)
    if category == "copy" and (size := _number(arguments.get("bytes"))) is not None:
        facts["bytes"] = size
    if (source := _stream(arguments.get("wait_on_stream"))) is not None:
        facts["wait_on_stream"] = source
    return facts


def _shape(dims: object) -> str:
    """Return `2x3`; a scalar or what is no tensor is empty."""
    return "x".join(map(str, dims)) if isinstance(dims, list) else ""


def _nanoseconds(microseconds: float | Decimal) -> int:
    return round(microseconds * 1000)


def _number(value: object) -> int | None:
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError, OverflowError):
        return None


def _stream(value: object) -> int | None:
    """Return a stream's number; None: all streams, which a wait for a context says as -1."""
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _linked(found: list[_Found]) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    """Return the spans in order with parents and causes, and what could not be linked."""
    found = [found[index] for index in nesting.in_order([each.span for each in found])]
    spans = [each.span for each in found]
    around = nesting.parents(spans)
    calls: dict[int | None, int] = {
        each.correlation: index
        for index, each in enumerate(found)
        if each.correlation is not None and each.span.device is None
    }
    causes = [
        calls.get(each.correlation) if each.span.device is not None else None for each in found
    ]
    launching = {
        cause for span, cause in zip(spans, causes, strict=True) if span.category != "sync"
    }
    earliest_s = spans[0].start_s if spans else 0.0
    linked = tuple(
        replace(
            span,
            start_s=span.start_s - earliest_s,
            category=_settled(span, index in launching),
            parent=parent,
            cause=cause,
            op_type=span.op_type or _launcher(spans, around, cause),
        )
        for index, (span, parent, cause) in enumerate(zip(spans, around, causes, strict=True))
    )
    return linked, _notes(linked)


def _settled(span: Span, launches: bool) -> str:
    """Return the category; a call that launched nothing (a query, an attribute) is another."""
    return "other" if span.category == "launch" and not launches else span.category


def _launcher(spans: list[Span], around: list[int | None], cause: int | None) -> str | None:
    """Return the innermost operator around the call that launched something."""
    at = around[cause] if cause is not None else None
    while at is not None and spans[at].category != "node":
        at = around[at]
    return spans[at].op_type if at is not None else None


def _notes(spans: tuple[Span, ...]) -> tuple[str, ...]:
    if not spans:
        return ("the trace holds no events with a duration",)
    work = [span for span in spans if span.category in _ON_DEVICE]
    orphans = [span for span in work if span.cause is None]
    in_graphs = [s for s in work if s.cause is not None and "GraphLaunch" in spans[s.cause].name]
    notes = []
    if orphans:
        notes.append(
            f"{len(orphans):,} of {len(work):,} kernels and copies have no launch in the"
            " trace: they were launched before it began, or launches were not recorded"
        )
    if in_graphs:
        launches = len({span.cause for span in in_graphs})
        notes.append(
            f"{units.count(len(in_graphs), 'kernel')} ran in {units.count(launches, 'CUDA graph')},"
            " where nothing says which operator a kernel is of"
        )
    return tuple(notes)


def _source(facts: Mapping[str, Any]) -> str:
    listed = facts.get("deviceProperties")
    devices = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    names = dict.fromkeys(str(device["name"]) for device in devices if "name" in device)
    return f"torch profiler ({', '.join(names)})" if names else "torch profiler"
