"""Read chrome traces in which only the names of processes and threads say what ran where.

JAX and TensorFlow write them beside their profiles (`*.trace.json.gz`), TensorFlow 1 by its own
`Timeline`, PyTorch's port for Ascend as `trace_view.json`. A process is a device or the host, a
thread is a stream, the list of operators, or a sum of others, which is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from burnish.core.errors import ModelError
from burnish.trace import xla_lines
from burnish.trace.events import Trace
from burnish.trace.formats import FORMATS, TraceFormat
from burnish.trace.json_events import EventStream, JsonEvent, Number
from burnish.trace.span_table import SpanRow, SpanTable

_NAMED = re.compile(
    rb'"name"\s*:\s*"(?:/host:CPU|/(?:device|job|gpu|cpu):[^"]*|Ascend Hardware)[^"]*"',
    re.IGNORECASE,
)
_ASCEND = "Ascend Hardware"
_ALL_STREAMS, _COPIES = "stream:all", "/memcpy"
"""Where TensorFlow's `Timeline` keeps kernels, and copies; its other streams repeat them."""
_COMPUTE = re.compile(r"/cpu:\d+ Compute|device:CPU:\d+ Compute", re.IGNORECASE)


class _Timed(NamedTuple):
    """An event with a length, as it is written."""

    event: JsonEvent
    start_ns: int
    length_ns: int


class _Names:
    """What processes and threads are called."""

    def __init__(self) -> None:
        self.processes: dict[Number, str] = {}
        self.threads: dict[tuple[Number, Number], str] = {}

    def learn(self, event: JsonEvent) -> None:
        """Take what an event says of a process or a thread."""
        told = event.args.name if event.args is not None else None
        if not isinstance(told, str):
            return
        if event.name == "process_name":
            self.processes[event.pid] = told
        elif event.name == "thread_name":
            self.threads[event.pid, event.tid] = told

    def device(self, process: Number) -> int | None:
        """Return the number of the device that a process stands for; None: it is a host."""
        name = self.processes.get(process, "")
        if name == _ASCEND:
            return 0
        found = xla_lines.DEVICE.search(name)
        # TensorFlow calls by a device's name what its host does for it, too
        is_host = name.endswith(" Compute") and not self._is_work(name)
        return None if found is None or is_host else int(found["number"])

    def counts(self, process: Number, thread: Number) -> bool:
        """Return whether a device's thread is work or steps, and repeats no other."""
        name = self.processes.get(process, "")
        if name.endswith(" Compute"):
            return self._is_work(name)
        titles = [title for (owner, _), title in self.threads.items() if owner == process]
        has_streams = any(map(xla_lines.STREAM.search, titles))
        return xla_lines.counts(self.title(process, thread), has_streams=has_streams)

    def title(self, process: Number, thread: Number) -> str:
        """Return how a thread is called; its number where it has no name."""
        return self.threads.get((process, thread), str(thread))

    def _is_work(self, name: str) -> bool:
        return _ALL_STREAMS in name or _COPIES in name


def read(path: Path) -> Trace:
    """Return the timeline in a file; such traces tell no launches, so work has no causes."""
    stream, names, timed = EventStream(path), _Names(), list[_Timed]()
    for event in stream:
        if event.ph == "M":
            names.learn(event)
        elif event.ph == "X" and event.ts is not msgspec.UNSET:
            if event.dur is msgspec.UNSET:
                stream.leave_out("it has no dur")
                continue
            timed.append(_Timed(event, round(event.ts * 1000), round(event.dur * 1000)))
    table, kinds = SpanTable(), defaultdict[str, int](int)
    for row in _rows(timed, names):
        kinds[row.category] += 1
        table.add(row)
    if not any(kinds[kind] for kind in ("kernel", "copy", "node")):
        raise ModelError(
            f"{path}: holds no work of a device, and no operator of a host",
            hint="of JAX or TensorFlow, give the .xplane.pb that lies beside it",
        )
    found = table.timeline()
    devices = {names.processes[one] for one in names.processes if names.device(one) is not None}
    source = f"chrome trace ({', '.join(sorted(devices))})" if devices else "chrome trace"
    return Trace(found.spans, source, found.runs, (*stream.notes, *found.notes))


def is_named(head: bytes) -> bool:
    """Return whether processes have the names that XLA, TensorFlow and Ascend give them."""
    text = head.lstrip()
    return text[:1] in (b"{", b"[") and b'"process_name"' in text and bool(_NAMED.search(text))


FORMATS.register("named-tracks")(TraceFormat(recognises=is_named, read=read))


def _rows(timed: Iterable[_Timed], names: _Names) -> Iterator[SpanRow]:
    processes = {process: names.device(process) for process in names.processes}
    has_devices = any(number is not None for number in processes.values())
    threads = {
        (event.pid, event.tid)
        for event, _, _ in timed
        if processes.get(event.pid) is not None and names.counts(event.pid, event.tid)
    }
    has_steps = any(names.title(*thread) == xla_lines.STEPS for thread in threads)
    for one in timed:
        device = processes.get(one.event.pid)
        if device is None:
            yield _host_row(one, names, has_devices=has_devices, has_steps=has_steps)
        elif (one.event.pid, one.event.tid) in threads:
            yield _device_row(one, names, device)


def _device_row(one: _Timed, names: _Names, device: int) -> SpanRow:
    title = names.title(one.event.pid, one.event.tid)
    row = _row(one, f"GPU {device} {title}")
    if title == xla_lines.STEPS:
        return row._replace(category="run")
    is_copy = _COPIES in names.processes[one.event.pid]
    return row._replace(
        category="copy" if is_copy else xla_lines.kind_of_work(row.name),
        device=device,
        stream=xla_lines.stream(title),
        op_type=xla_lines.operator(row.name),
    )


def _host_row(one: _Timed, names: _Names, *, has_devices: bool, has_steps: bool) -> SpanRow:
    event, process = one.event, names.processes.get(one.event.pid, "")
    row = _row(one, f"thread {names.title(event.pid, event.tid)}")
    if event.args is not None and event.args.step is not None and not has_steps:
        return row._replace(category="run")
    if has_devices:
        return row._replace(category=xla_lines.kind_of_call(row.name))
    told = event.args.hlo_op if event.args is not None else None
    if told is None and not _COMPUTE.search(process):
        return row
    return row._replace(category="node", node=row.name, op_type=xla_lines.operator(event.name))


def _row(one: _Timed, track: str) -> SpanRow:
    return SpanRow(one.event.name, "other", one.start_ns, one.length_ns, track)
