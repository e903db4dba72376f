"""The trace formats that can be read, and which of them a file is in."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from burnish.core.errors import ModelError
from burnish.core.registry import Registry
from burnish.trace.events import Trace

_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Format:
    """A trace format: how to recognise it by a file's first bytes, and how to read it."""

    recognises: Callable[[bytes], bool]
    read: Callable[[Path], Trace]


FORMATS: Registry[Format] = Registry("trace format", package="burnish.trace.readers")
"""Filled by the modules of `trace/readers`, one per format."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes, unpacked."""

    data: bytes
    note: str = ""
    """What was cut off; empty when the file is whole."""


def read_any(path: Path) -> Trace:
    """Return the trace in a file, whichever known format it is in."""
    head = content(path).data[:_HEAD_BYTES]
    for name in FORMATS:
        if FORMATS[name].recognises(head):
            return FORMATS[name].read(path)
    raise ModelError(
        f"{path}: is in no known trace format (it starts with {head[:24]!r})",
        hint=f"known: {', '.join(FORMATS)}; record one with burnish profile MODEL",
    )


def content(path: Path) -> Content:
    """Return a file's bytes; a gzip file that was cut off gives what can still be unpacked."""
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read ({error.strerror})",
            hint="record a trace with burnish profile MODEL",
        ) from error
    if not packed.startswith(b"\x1f\x8b"):
        return Content(packed)
    unpacking = zlib.decompressobj(wbits=31)  # 31: a gzip header and trailer
    try:
        data = unpacking.decompress(packed)
    except zlib.error as error:
        raise ModelError(
            f"{path}: is a damaged gzip file ({error})", hint="copy it again from where it was made"
        ) from error
    cut = f"the gzip file ends early, after {len(packed):,} bytes"
    return Content(data, "" if unpacking.eof else cut)
