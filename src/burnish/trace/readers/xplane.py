"""Read the profile that JAX and XLA write (`*.xplane.pb`), plain or gzipped.

A file is planes (a device, the host), these are lines (a stream, a thread), these are events whose
names stand apart. On a GPU every stream is a line; on a TPU the operators are one (`XLA Ops`).
Lines that sum others up are left out, but for `Steps`, which are the inferences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from burnish.core.errors import ModelError
from burnish.trace import wire
from burnish.trace.events import Trace
from burnish.trace.formats import FORMATS, TraceFormat, content
from burnish.trace.span_table import SpanRow, SpanTable

_PLANES, _PLANE_NAME, _LINES, _EVENT_NAMES = 1, 2, 3, 4
_LINE_NAME, _LINE_BEGIN_NS, _EVENTS, _LINE_SHOWN = 2, 3, 4, 11
_NAME_ID, _OFFSET_PS, _DURATION_PS = 1, 2, 3
_KEY, _VALUE, _NAME, _SHOWN = 1, 2, 2, 4
_DEVICE = re.compile(r"/device:(?:GPU|TPU)[^:]*:(?P<number>\d+)")
_STREAM = re.compile(r"Stream #(?P<number>\d+)")
_OPERATORS, _STEPS = "XLA Ops", "Steps"
_COPY = re.compile("memcpy|memset|copy-start|copy-done", re.IGNORECASE)
_HOST = "/host:CPU"
_SYNC = re.compile("ynchronize|BlockHostUntil|Await", re.IGNORECASE)
_RUN = re.compile(r"PjitFunction|ExecuteHelper|::Execute$|ExecuteSharded")


def read(path: Path) -> Trace:
    """Return the timeline in a file; XLA tells no launches, so work has no causes."""
    file, table = content(path), SpanTable()
    try:
        space = wire.read(memoryview(file.data))
        names = [name for plane in space.messages(_PLANES) for name in _read_plane(plane, table)]
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


def _read_plane(plane: wire.ProtobufMessage, table: SpanTable) -> Iterator[str]:
    """Take the rows of a plane; yield its name if it is a device's."""
    name = plane.text(_PLANE_NAME)
    device = _DEVICE.search(name)
    if device is None and not name.startswith(_HOST):
        return
    events = {entry.number(_KEY): _event_name(entry) for entry in plane.messages(_EVENT_NAMES)}
    lines = list(plane.messages(_LINES))
    titles = [line.text(_LINE_SHOWN) or line.text(_LINE_NAME) for line in lines]
    has_streams = any(map(_STREAM.search, titles))
    for line, title in zip(lines, titles, strict=True):
        number = int(device["number"]) if device else None
        if number is not None and _counts(title, has_streams=has_streams):
            for row in _rows(line, events, title, number):
                table.add(row)
        elif number is None:
            for row in _rows(line, events, title, None):
                table.add(row)
    if device is not None:
        yield name.removeprefix("/device:")


def _counts(title: str, *, has_streams: bool) -> bool:
    if title == _STEPS:
        return True
    return _STREAM.search(title) is not None if has_streams else title == _OPERATORS


def _event_name(entry: wire.ProtobufMessage) -> str:
    told = entry.message(_VALUE)
    return told.text(_SHOWN) or told.text(_NAME)


def _rows(
    line: wire.ProtobufMessage, names: dict[int, str], title: str, device: int | None
) -> Iterator[SpanRow]:
    begin_ps = line.number(_LINE_BEGIN_NS) * 1000
    stream = _STREAM.search(title)
    track = f"thread {title}" if device is None else f"GPU {device} {title}"
    for event in line.messages(_EVENTS):
        name = names.get(event.number(_NAME_ID), "?")
        category = _category(name, title, on_device=device is not None)
        is_work = category in ("kernel", "copy")
        yield SpanRow(
            name=name,
            category=category,
            start_ns=(begin_ps + event.number(_OFFSET_PS)) // 1000,
            length_ns=max(0, event.number(_DURATION_PS)) // 1000,
            track=track,
            device=device if is_work else None,
            stream=int(stream["number"]) if stream and is_work else None,
            op_type=name.split(".")[0].lstrip("%") if is_work else None,
        )


def _category(name: str, title: str, *, on_device: bool) -> str:
    if on_device:
        if title == _STEPS:
            return "run"
        return "copy" if _COPY.search(name) else "kernel"
    if _SYNC.search(name):
        return "sync"
    return "module" if _RUN.search(name) else "other"
