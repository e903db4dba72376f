"""The trace formats that can be read, and which of them a file is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from burnish.core.collecting import uncollected
from burnish.core.registry import Registry
from burnish.trace import foreign
from burnish.trace.chunks import Chunks
from burnish.trace.chunks import head as first_bytes
from burnish.trace.events import Trace


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A trace format: how to recognise it by a file's beginning, and how to read it."""

    recognises: Callable[[bytes], bool]
    read: Callable[[Path], Trace]


FORMATS: Registry[TraceFormat] = Registry("trace format", package="burnish.trace.readers")
"""Filled by the modules of `trace/readers`, one per format."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes, unpacked."""

    data: bytes
    note: str = ""
    """What was cut off; empty when the file is whole."""


_HEADS_BYTES = (4 << 10, 1 << 20, 64 << 20)
"""How much of a file is looked at, more only if less tells nothing: metadata may come first."""


def recognised(path: Path) -> TraceFormat | None:
    """Return the format that a file is in; None: none that is known."""
    for size in _HEADS_BYTES:
        head = first_bytes(path, size)
        for name in FORMATS:
            if FORMATS[name].recognises(head):
                return FORMATS[name]
        if len(head) < size:
            break
    return None


def read_any(path: Path) -> Trace:
    """Return the trace in a file, whichever known format it is in."""
    found = recognised(path)
    if found is not None:
        with uncollected():
            return found.read(path)
    raise foreign.unread(path, lambda: ", ".join(FORMATS))


def content(path: Path) -> Content:
    """Return a file's bytes; a gzip file that was cut off gives what can still be unpacked."""
    chunks = Chunks(path)
    data = b"".join(chunks)
    return Content(data, chunks.note)
