"""Read the profile that JAX and XLA write (`*.xplane.pb`), plain or gzipped.

A file is planes (a device, the host), these are lines (a stream, a thread), these are events whose
names stand apart. On a GPU every stream is a line; on a TPU the operators are one (`XLA Ops`); on a
CPU they are among the events of its threads, told by a statistic. Lines that sum others up are left
out, but for `Steps`, which are the inferences; without these, what the program marked as steps is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.core.errors import ModelError
from burnish.trace import wire, xla_lines
from burnish.trace.events import Trace
from burnish.trace.formats import FORMATS, TraceFormat, content
from burnish.trace.span_table import SpanRow, SpanTable

_PLANES, _PLANE_NAME, _LINES, _EVENT_NAMES, _STATISTIC_NAMES = 1, 2, 3, 4, 5
_LINE_NAME, _LINE_BEGIN_NS, _EVENTS, _LINE_SHOWN = 2, 3, 4, 11
_NAME_ID, _OFFSET_PS, _DURATION_PS, _STATISTICS = 1, 2, 3, 4
_KEY, _VALUE, _NAME, _SHOWN = 1, 2, 2, 4


@dataclass(frozen=True, slots=True)
class _Plane:
    """A device, or the host."""

    message: wire.ProtobufMessage
    name: str

    @property
    def device(self) -> int | None:
        """Return the number of a device; None: it is none."""
        found = xla_lines.DEVICE.search(self.name)
        return int(found["number"]) if found else None

    @property
    def lines(self) -> list[tuple[str, wire.ProtobufMessage]]:
        """Return streams or threads with their titles, without those that sum others up."""
        lines = list(self.message.messages(_LINES))
        titled = [(line.text(_LINE_SHOWN) or line.text(_LINE_NAME), line) for line in lines]
        if self.device is None:
            return titled
        has_streams = any(xla_lines.STREAM.search(title) for title, _ in titled)
        return [one for one in titled if xla_lines.counts(one[0], has_streams=has_streams)]

    def names(self, field: int) -> dict[int, str]:
        """Return what numbers of events or statistics stand for."""
        return {one.number(_KEY): _written_name(one) for one in self.message.messages(field)}


def read(path: Path) -> Trace:
    """Return the timeline in a file; XLA tells no launches, so work has no causes."""
    file, table = content(path), SpanTable()
    try:
        space = wire.read(memoryview(file.data))
        planes = [_Plane(one, one.text(_PLANE_NAME)) for one in space.messages(_PLANES)]
        names = _read_planes(planes, table)
    except wire.DamagedError as error:
        raise ModelError(
            f"{path}: cannot be read as a profile of XLA ({error})",
            hint="copy it again from where jax.profiler wrote it",
        ) from error
    found = table.timeline()
    notes = (*((file.note,) if file.note else ()), *found.notes)
    devices = f" ({', '.join(names)})" if names else ""
    return Trace(found.spans, f"XLA profile{devices}", found.runs, notes)


def _recognises(head: bytes) -> bool:
    # a message that begins with its first plane, whose names are paths
    return head.startswith(b"\n") and (b"/device:" in head or b"/host:" in head)


FORMATS.register("xplane")(TraceFormat(recognises=_recognises, read=read))


def _read_planes(planes: Sequence[_Plane], table: SpanTable) -> list[str]:
    """Take the rows of all planes; return the names of devices."""
    devices = [plane for plane in planes if plane.device is not None]
    has_steps = any(title == xla_lines.STEPS for plane in devices for title, _ in plane.lines)
    for plane in devices:
        for row in _device_rows(plane):
            table.add(row)
    for plane in planes:
        if plane.name.startswith(xla_lines.HOST):
            for row in _host_rows(plane, has_devices=bool(devices), has_steps=has_steps):
                table.add(row)
    return [plane.name.removeprefix("/device:") for plane in devices]


def _written_name(entry: wire.ProtobufMessage) -> str:
    told = entry.message(_VALUE)
    return told.text(_SHOWN) or told.text(_NAME)


def _device_rows(plane: _Plane) -> Iterator[SpanRow]:
    names = plane.names(_EVENT_NAMES)
    for title, line in plane.lines:
        for event in line.messages(_EVENTS):
            row = _row(line, event, names)._replace(track=f"GPU {plane.device} {title}")
            if title == xla_lines.STEPS:
                yield row._replace(category="run")
                continue
            yield row._replace(
                category=xla_lines.kind_of_work(row.name),
                device=plane.device,
                stream=xla_lines.stream(title),
                op_type=xla_lines.operator(row.name),
            )


def _host_rows(plane: _Plane, *, has_devices: bool, has_steps: bool) -> Iterator[SpanRow]:
    """Yield what threads did; operators that ran on them, where there is no device."""
    names, statistics = plane.names(_EVENT_NAMES), plane.names(_STATISTIC_NAMES)
    for title, line in plane.lines:
        for event in line.messages(_EVENTS):
            row = _row(line, event, names)._replace(track=f"thread {title}")
            told = {statistics.get(one.number(_KEY)) for one in event.messages(_STATISTICS)}
            if xla_lines.IS_STEP in told and not has_steps:
                yield row._replace(category="run")
            elif has_devices:
                yield row._replace(category=xla_lines.kind_of_call(row.name))
            elif xla_lines.IS_OPERATOR in told:
                operator = xla_lines.operator(row.name)
                yield row._replace(category="node", node=row.name, op_type=operator)
            else:
                yield row


def _row(line: wire.ProtobufMessage, event: wire.ProtobufMessage, names: dict[int, str]) -> SpanRow:
    begin_ps = line.number(_LINE_BEGIN_NS) * 1000
    return SpanRow(
        name=names.get(event.number(_NAME_ID), "?"),
        category="other",
        start_ns=(begin_ps + event.number(_OFFSET_PS)) // 1000,
        length_ns=max(0, event.number(_DURATION_PS)) // 1000,
        track="",
    )
