"""Read the timeline that PyTorch's profiler writes (Kineto's chrome trace), plain or gzipped.

Work of a device is led back to the call that launched it by `correlation`; `External id` was
written wrongly for years and is not used. The process number of an event says nothing either:
Python functions too may have process 0. Times are microseconds, whole up to torch 2.2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from burnish.core import units
from burnish.core.errors import ModelError
from burnish.trace.events import DEVICE, Fact, Span, Trace
from burnish.trace.formats import FORMATS, TraceFormat
from burnish.trace.json_events import Arguments, EventStream, JsonEvent, paired
from burnish.trace.readers import named_tracks, onnxruntime_profile, own_timeline
from burnish.trace.span_table import UNMARKED, SpanRow, SpanTable

RUN = "burnish.run"
MODULE = "burnish.module:"
"""What Burnish names its own ranges when it records: an inference, and a module by its path."""

_STEP = "ProfilerStep#"
_PYTHON_MODULE = "nn.Module: "
_OPERATORS = ("cpu_op", "Operator")
_CALLS = ("_runtime", "_driver", "Runtime")
"""How kinds of calls end: `cuda_runtime`, `xpu_driver`, `privateuse1_runtime` …"""
_KERNELS = ("kernel", "Kernel", "hpu_op", "mtia_ccp_events")
_COPIES = ("gpu_memcpy", "gpu_memset", "Memcpy", "Memset")
_DEVICE_KINDS = frozenset((*_KERNELS, *_COPIES, "cuda_sync", "gpu_user_annotation"))
_NO_WORK = frozenset({"cuda_event", "cuda_profiler_range", "gpu_pm_counter", "collective_comm"})
"""What names a device and a stream, and takes none of their time."""
_LEGACY = "cpu functions"
"""The process of operators in traces of PyTorch's first profiler, which has no kinds of events."""
_NO_ARGUMENTS = Arguments()
_OWN_CATEGORY = re.compile(
    rb'"cat"\s*:\s*"(?:cpu_op|user_annotation|python_function|cuda_runtime|cuda_driver|gpu_memcpy)"'
    rb'|"pid"\s*:\s*"CPU [Ff]unctions"'
)
"""What nobody else calls events."""
_KEYS = (b'"traceEvents"', b'"deviceProperties"', b'"schemaVersion"', b'"baseTimeNanoseconds"')


def read(path: Path) -> Trace:
    """Return the timeline in a file; `notes` say what is missing and what has no cause."""
    stream, table, rows = EventStream(path), SpanTable(), _Rows()
    kinds, known = Counter[str](), 0
    for event in paired(stream):
        if event.ph != "X" or event.ts is msgspec.UNSET:
            continue
        if event.dur is msgspec.UNSET:
            stream.leave_out("it has no dur")
            continue
        row = rows.row(event, event.ts, event.dur)
        if row is not None:
            known += 1
            table.add(row)
        else:
            kinds[event.cat] += 1
    if kinds and not known:
        raise _unknown(path, kinds)
    found = table.timeline()
    about = stream.facts.get("distributedInfo")
    told = about if isinstance(about, dict) else {}
    return Trace(
        spans=found.spans,
        source=_source(stream.facts),
        runs=found.runs,
        notes=(*stream.notes, *found.notes, *_notes(found.spans)),
        rank=_whole(told.get("rank")),
        world=_whole(told.get("world_size")),
    )


def _unknown(path: Path, kinds: Counter[str]) -> ModelError:
    first = ", ".join(repr(kind) for kind, _ in kinds.most_common(3))
    return ModelError(
        f"{path}: none of its {units.count(kinds.total(), 'event')} is of a kind that PyTorch's"
        f" profiler writes (they are of {first})",
        hint="record one with torch.profiler, or with ONNX Runtime's enable_profiling; what"
        " --trace-out wrote before it could be read back must be written again",
    )


def _recognises(head: bytes) -> bool:
    text = head.lstrip()
    is_object = text.startswith(b"{") and any(key in text for key in _KEYS)
    # other programs keep the list alone
    is_list = text.startswith(b"[") and _OWN_CATEGORY.search(text) is not None
    others = (onnxruntime_profile.is_wrapped, named_tracks.is_named, own_timeline.is_own)
    if any(is_theirs(head) for is_theirs in others):
        return False
    return is_object or is_list


FORMATS.register("kineto")(TraceFormat(recognises=_recognises, read=read))


class _Rows:
    """Makes rows of events; tracks and facts that many share are made once."""

    def __init__(self) -> None:
        self._facts: dict[bytes, Mapping[str, Fact]] = {}
        self._none: Mapping[str, Fact] = {}

    def row(self, event: JsonEvent, ts: Decimal, dur: Decimal) -> SpanRow | None:
        """Return an event as a row; None for what no one asks about."""
        arguments = event.args or _NO_ARGUMENTS
        kind = event.cat or _kind_of_legacy(event.pid)
        category = _category(kind, event.name)
        if category is None and _is_work(kind, arguments):
            kind = category = "kernel"
        if category is None:
            return None
        device = stream = None
        if kind in _DEVICE_KINDS:
            device, stream = arguments.device, arguments.stream
            if device is None:
                device, stream = event.pid, event.tid
            track = _stream_track(device, stream)
        else:
            track = _thread_track(event.pid, event.tid)
        return SpanRow(
            name=_short(event.name),
            category=category,
            start_ns=round(ts * 1000),
            length_ns=round(dur * 1000),
            track=track,
            device=_number(device),
            stream=_stream(stream),
            key=_number(arguments.correlation),
            op_type=event.name if category == "node" else None,
            attributes=self._attributes(category, arguments),
        )

    def _attributes(self, category: str, arguments: Arguments) -> Mapping[str, Fact]:
        if category == "node":
            written = bytes(arguments.dims) or bytes(arguments.old_dims)
            if written not in self._facts:
                self._facts[written] = _shapes(written)
            return self._facts[written]
        facts: dict[str, Fact] = {}
        if category == "copy" and (size := _number(arguments.bytes)) is not None:
            facts["bytes"] = size
        if (source := _stream(arguments.wait_on_stream)) is not None:
            facts["wait_on_stream"] = source
        return facts or self._none


@cache
def _stream_track(device: object, stream: object) -> str:
    return f"GPU {device} stream {stream}"


@cache
def _thread_track(process: object, thread: object) -> str:
    return f"thread {process}/{thread}"


@cache
def _category(kind: str, name: str) -> str | None:
    if name.startswith(_STEP) and kind in ("user_annotation", *_OPERATORS):
        return "run"
    if kind in _OPERATORS:
        return "node"
    if kind.endswith(_CALLS):
        return "sync" if "ynchronize" in name else "launch"
    if kind in _KERNELS:
        return "kernel"
    if kind in _COPIES:
        return "copy"
    if kind == "python_function":
        return "module" if name.startswith(_PYTHON_MODULE) else None
    if kind == "user_annotation":
        return "run" if name == RUN else "module"
    return {"cuda_sync": "sync", "overhead": "other", "gpu_user_annotation": "other"}.get(kind)


def _kind_of_legacy(process: object) -> str:
    return "cpu_op" if str(process).lower() == _LEGACY else ""


def _is_work(kind: str, arguments: Arguments) -> bool:
    """Return whether an event of an unknown kind is work of a device: it names its stream."""
    told = arguments.device, arguments.stream, arguments.correlation
    return kind not in _NO_WORK and None not in told


def _short(name: str) -> str:
    return name.removeprefix(_PYTHON_MODULE).removeprefix(MODULE)


def _shapes(written: bytes) -> Mapping[str, Fact]:
    """Return the shapes of an operator's inputs, `2x3;3`; what is no tensor is empty."""
    try:
        shapes = msgspec.json.decode(written) if written else None
    except msgspec.DecodeError:
        shapes = None
    if not shapes or not isinstance(shapes, list):
        return {}
    told = ("x".join(map(str, dims)) if isinstance(dims, list) else "" for dims in shapes)
    return {"shapes": ";".join(told)}


def _number(value: object) -> int | None:
    if value is None or type(value) is int:
        return value
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError, OverflowError):
        return None


def _stream(value: object) -> int | None:
    """Return a stream's number; None: all streams, which a wait for a context says as -1."""
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _notes(spans: tuple[Span, ...]) -> tuple[str, ...]:
    if not spans:
        return ("the trace holds no events with a duration",)
    work = [span for span in spans if span.category in DEVICE]
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
    calls = [span for span in spans if span.category == "node" and span.parent is None]
    times = _times(calls) if any(span.name == UNMARKED for span in spans) else 1
    if times > 1:
        notes.append(
            f"no inference is marked and all of it counts as one, but it does the same {times:,}"
            " times over: of several inferences, end each with profiler.step()"
        )
    return tuple(notes)


def _times(calls: Sequence[Span]) -> int:
    """Return how many times over the same operators were called, one after the other."""
    names = [span.name for span in sorted(calls, key=lambda span: span.start_s)]
    lengths = (length for length in range(1, len(names) // 2 + 1) if len(names) % length == 0)
    for length in lengths:
        if names[length:] == names[:-length]:
            return len(names) // length
    return 1


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _source(facts: Mapping[str, Any]) -> str:
    listed = facts.get("deviceProperties")
    devices = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    names = dict.fromkeys(str(device["name"]) for device in devices if "name" in device)
    return f"torch profiler ({', '.join(names)})" if names else "torch profiler"
