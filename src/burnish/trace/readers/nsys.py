"""Read the SQLite file that Nsight Systems exports (`nsys export --type sqlite`), any schema.

Tables and columns are there only if something was recorded in them, so each is asked for first.
Times are nanoseconds. Correlation ids repeat between processes: a kernel's launch is the call
with its correlation id in its process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.core import units
from burnish.core.errors import ModelError
from burnish.trace import nesting
from burnish.trace.events import Span, Trace
from burnish.trace.formats import FORMATS, Format
from burnish.trace.inferences import with_inferences

_MAGIC = b"SQLite format 3\x00"
_HINT = "export it again: nsys export --type sqlite REPORT.nsys-rep"
_KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
_CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
_COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
_FILLS = "CUPTI_ACTIVITY_KIND_MEMSET"
_WAITS = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
_GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_RANGES = (59, 60)
"""Pushed and popped ranges, and ranges with a start and an end of their own."""
_PROCESS = ~0xFFFFFF
"""What of a thread's number tells its process."""
_DIRECTIONS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}


@dataclass(frozen=True, slots=True)
class _Found:
    span: Span
    begin_ns: int
    key: tuple[int, int] | None = None
    """The process and correlation id that lead from a call to what it launched."""


def read(path: Path) -> Trace:
    """Return the timeline in a file; `notes` say what it does not show."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            tables = _Tables(database)
            found = [*_calls(tables), *_device_work(tables), *_ranges(tables)]
            graphs = tables.count(_GRAPHS)
            version = tables.version()
    except sqlite3.Error as error:
        raise ModelError(
            f"{path}: cannot be read as an export of Nsight Systems ({error})", hint=_HINT
        ) from error
    spans = with_inferences(_linked(found))
    return Trace(
        spans=spans,
        source=f"nsys export, schema {version}",
        runs=1 + max((span.run for span in spans), default=-1),
        notes=_notes(spans, graphs),
    )


FORMATS.register("nsys")(Format(recognises=lambda head: head.startswith(_MAGIC), read=read))


class _Tables:
    """A database of which any table or column may be absent."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.row_factory = sqlite3.Row
        database.text_factory = lambda raw: raw.decode(errors="replace")
        names = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        self._names = {row["name"] for row in names}
        self._strings = {row["id"]: row["value"] for row in self.rows("StringIds")}

    def rows(self, table: str) -> Iterator[sqlite3.Row]:
        """Yield the rows of a table; none where it is absent."""
        if table in self._names:
            yield from self._database.execute(f'SELECT * FROM "{table}"')

    def count(self, table: str) -> int:
        if table not in self._names:
            return 0
        found = self._database.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()
        return int(found[0])

    def text(self, row: sqlite3.Row, *columns: str) -> str:
        """Return the first of some columns that names something."""
        for column in columns:
            value = row[column] if column in row.keys() else None  # noqa: SIM118  (a Row is no dict)
            if isinstance(value, str):
                return value
            if value in self._strings:
                return str(self._strings[value])
        return ""

    def version(self) -> str:
        for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            for row in self.rows(table):
                if row["name"] == "EXPORT_SCHEMA_VERSION":
                    return str(row["value"])
        return "unknown"


def _calls(tables: _Tables) -> Iterator[_Found]:
    for row in tables.rows(_CALLS):
        name = tables.text(row, "nameId", "name")
        thread = row["globalTid"]
        yield _found(
            row,
            name=name.rpartition("_v")[0] or name,
            category="sync" if "ynchronize" in name else "launch",
            track=_thread(thread),
            key=(thread & _PROCESS, row["correlationId"]),
        )


def _device_work(tables: _Tables) -> Iterator[_Found]:
    for row in tables.rows(_KERNELS):
        name = tables.text(row, "demangledName", "shortName", "mangledName")
        yield _on_device(row, name=name, category="kernel")
    for row in tables.rows(_COPIES):
        direction = _DIRECTIONS.get(row["copyKind"], "other")
        yield _on_device(row, name=f"Memcpy {direction}", category="copy")
    for row in tables.rows(_FILLS):
        yield _on_device(row, name="Memset", category="copy")
    for row in tables.rows(_GRAPHS):
        yield _on_device(row, name="CUDA graph", category="kernel")
    for row in tables.rows(_WAITS):
        yield _on_device(row, name="wait", category="sync")


def _ranges(tables: _Tables) -> Iterator[_Found]:
    for row in tables.rows("NVTX_EVENTS"):
        if row["eventType"] in _RANGES and row["end"] is not None:
            name, track = tables.text(row, "text", "textId"), _thread(row["globalTid"])
            yield _found(row, name=name, category="range", track=track)


def _on_device(row: sqlite3.Row, *, name: str, category: str) -> _Found:
    track = f"GPU {row['deviceId']} stream {row['streamId']}"
    key = (row["globalPid"], row["correlationId"])
    found = _found(row, name=name, category=category, track=track, key=key)
    facts = {"bytes": row["bytes"]} if "bytes" in row.keys() else {}  # noqa: SIM118
    span = replace(found.span, device=row["deviceId"], stream=row["streamId"], attributes=facts)
    return replace(found, span=span)


def _found(
    row: sqlite3.Row, *, name: str, category: str, track: str, key: tuple[int, int] | None = None
) -> _Found:
    length_s = max(0, row["end"] - row["start"]) * 1e-9
    return _Found(Span(name, category, 0.0, length_s, track, run=-1), row["start"], key)


def _thread(number: int) -> str:
    return f"thread {number // 0x1000000 % 0x1000000}/{number % 0x1000000}"


def _linked(found: list[_Found]) -> tuple[Span, ...]:
    first_ns = min((each.begin_ns for each in found), default=0)
    placed = [replace(e.span, start_s=(e.begin_ns - first_ns) * 1e-9) for e in found]
    order = nesting.in_order(placed)
    spans = [placed[at] for at in order]
    keys = [found[at].key for at in order]
    calls = {key: at for at, key in enumerate(keys) if spans[at].device is None and key}
    causes = [
        calls.get(key) if span.device is not None and key else None
        for span, key in zip(spans, keys, strict=True)
    ]
    launching = set(causes)
    return tuple(
        replace(
            span,
            category="other"
            if span.category == "launch" and at not in launching
            else span.category,
            parent=parent,
            cause=causes[at],
        )
        for at, (span, parent) in enumerate(zip(spans, nesting.parents(spans), strict=True))
    )


def _notes(spans: tuple[Span, ...], graphs: int) -> tuple[str, ...]:
    notes = []
    if graphs:
        notes.append(
            f"{units.count(graphs, 'CUDA graph')} shown whole, without kernels: record again with"
            " nsys profile --cuda-graph-trace=node"
        )
    if not any(span.category in ("kernel", "copy") for span in spans):
        notes.append("the file holds no work of a device: record with nsys profile --trace=cuda")
    return tuple(notes)
