"""Read the SQLite file that Nsight Systems exports (`nsys export --type sqlite`), any schema.

Tables and columns are there only if something was recorded in them, so each is asked for first.
Times are nanoseconds. Correlation ids repeat between processes: a kernel's launch is the call
with its correlation id in its process.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from burnish.core import units
from burnish.core.errors import ModelError
from burnish.trace.events import Fact, Span, Trace
from burnish.trace.fields import shown
from burnish.trace.formats import FORMATS, TraceFormat
from burnish.trace.span_table import SpanRow, SpanTable

R = TypeVar("R")

_MAGIC = b"SQLite format 3\x00"
_HINT = "export it again: nsys export --type sqlite REPORT.nsys-rep"
_KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
_CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
_COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
_FILLS = "CUPTI_ACTIVITY_KIND_MEMSET"
_WAITS = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
_GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_OWN_TABLES = ("StringIds", "NVTX_EVENTS", "META_DATA_EXPORT", "EXPORT_META_DATA", "OSRT_API")
_RANGES = (59, 60)
"""Pushed and popped ranges, and ranges with a start and an end of their own."""
_PROCESS = ~0xFFFFFF
"""What of a thread's number tells its process."""
_STEPS, _STEPS_PER_BYTE = 1_000_000, 100
"""Of SQLite's machine: reading a row of some fifty bytes takes it about as many."""
_ALL_STREAMS = (-1, 0xFFFFFFFF)
"""What stands for the stream of a wait that is for all of them."""
_WAIT_KINDS = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}
_FORWARD = re.compile(r"Batch-\S* Forward")
_NODE = re.compile(r"(?P<op>\w+)\.(?P<index>\d+)\((?P<name>.*)\)")
"""How ONNX Runtime names its ranges: an inference, and a node (`MatMul.7(/layer/MatMul)`)."""
_DIRECTIONS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}


def read(path: Path) -> Trace:
    """Return the timeline in a file; `notes` say what it does not show."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            _limit(database, path.stat().st_size)
            tables, table = _Tables(database), SpanTable()
            tables.require_known(path)
            for row in (*_calls(tables), *_device_work(tables), *_ranges(tables)):
                table.add(row)
            graphs = tables.count(_GRAPHS)
            version = tables.version()
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise ModelError(
            f"{path}: cannot be read as an export of Nsight Systems ({error})", hint=_HINT
        ) from error
    found = table.timeline()
    return Trace(
        spans=found.spans,
        source=f"nsys export, schema {version}",
        runs=found.runs,
        notes=(*tables.notes(), *found.notes, *_notes(found.spans, graphs)),
    )


FORMATS.register("nsys")(TraceFormat(recognises=lambda head: head.startswith(_MAGIC), read=read))


def _limit(database: sqlite3.Connection, size_bytes: int) -> None:
    """Let nothing take more steps than reading all of a file does: a view may count for ever."""
    most, done = _STEPS + size_bytes * _STEPS_PER_BYTE, 0

    def is_too_much() -> bool:
        nonlocal done
        done += _STEPS
        return done > most

    database.set_progress_handler(is_too_much, _STEPS)


class _OddRowError(Exception):
    """A row that lacks what no row can lack."""


class _Tables:
    """A database of which any table or column may be absent."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.row_factory = sqlite3.Row
        database.text_factory = lambda raw: raw.decode(errors="replace")
        names = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        self._names = {row["name"] for row in names}
        self._lost: dict[str, list[str]] = {}
        self._strings = dict(self.made("StringIds", lambda row: (_value(row, "id"), _text(row))))

    def rows(self, table: str) -> Iterator[sqlite3.Row]:
        """Yield the rows of a table; none where it is absent."""
        if table in self._names:
            yield from self._database.execute(f'SELECT * FROM "{table}"')

    def made(self, table: str, make: Callable[[sqlite3.Row], R]) -> Iterator[R]:
        """Yield what is made of each row of a table; rows that make no sense are counted."""
        for row in self.rows(table):
            try:
                yield make(row)
            except _OddRowError as error:
                self._lost.setdefault(table, []).append(str(error))

    def notes(self) -> tuple[str, ...]:
        """Return which rows were left out, and why."""
        return tuple(
            f"{units.count(len(why), 'row')} of {table} cannot be read and left out: {why[0]}"
            for table, why in self._lost.items()
        )

    def require_known(self, path: Path) -> None:
        """Refuse a database that another program keeps; an export has at least one of these."""
        if not any(name in _OWN_TABLES or name.startswith("CUPTI_") for name in self._names):
            first = ", ".join(sorted(self._names)[:3]) or "no table"
            raise ModelError(
                f"{path}: is a database of another program than Nsight Systems (it holds {first})",
                hint=_HINT,
            )

    def count(self, table: str) -> int:
        if table not in self._names:
            return 0
        found = self._database.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()
        return int(found[0])

    def text(self, row: sqlite3.Row, *columns: str) -> str:
        """Return the first of some columns that names something."""
        for column in columns:
            value = _value(row, column)
            if isinstance(value, str):
                return value
            if value in self._strings:
                return str(self._strings[value])
        return ""

    def version(self) -> str:
        for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            for row in self.rows(table):
                if _value(row, "name") == "EXPORT_SCHEMA_VERSION":
                    return str(_value(row, "value"))
        return "unknown"


def _calls(tables: _Tables) -> Iterator[SpanRow]:
    def made(row: sqlite3.Row) -> SpanRow:
        name, thread = tables.text(row, "nameId", "name"), _number(row, "globalTid")
        correlation = _value(row, "correlationId")
        return _row(
            row,
            name=name.rpartition("_v")[0] or name,
            category="sync" if "ynchronize" in name else "launch",
            track=_thread(thread),
            key=(thread & _PROCESS, correlation) if isinstance(correlation, int) else None,
        )

    return tables.made(_CALLS, made)


def _device_work(tables: _Tables) -> Iterator[SpanRow]:
    def kernel(row: sqlite3.Row) -> SpanRow:
        name = tables.text(row, "demangledName", "shortName", "mangledName")
        return _on_device(row, name=name, category="kernel")

    def copy(row: sqlite3.Row) -> SpanRow:
        direction = _DIRECTIONS.get(_value(row, "copyKind"), "other")
        return _on_device(row, name=f"Memcpy {direction}", category="copy")

    def wait(row: sqlite3.Row) -> SpanRow:
        kind = _WAIT_KINDS.get(_value(row, "syncType"), "wait")
        return _on_device(row, name=kind, category="sync")

    def other(name: str, category: str) -> Callable[[sqlite3.Row], SpanRow]:
        return lambda row: _on_device(row, name=name, category=category)

    yield from tables.made(_KERNELS, kernel)
    yield from tables.made(_COPIES, copy)
    yield from tables.made(_FILLS, other("Memset", "copy"))
    yield from tables.made(_GRAPHS, other("CUDA graph", "kernel"))
    yield from tables.made(_WAITS, wait)


def _ranges(tables: _Tables) -> Iterator[SpanRow]:
    def made(row: sqlite3.Row) -> SpanRow | None:
        if _value(row, "eventType") not in _RANGES or _value(row, "end") is None:
            return None
        name, track = tables.text(row, "text", "textId"), _thread(_number(row, "globalTid"))
        if _FORWARD.fullmatch(name):
            return _row(row, name=name, category="run", track=track)
        found = _row(row, name=name, category="range", track=track)
        if node := _NODE.fullmatch(name):
            own = node["name"] or f"{node['op']}_{node['index']}"
            return found._replace(node=own, op_type=node["op"])
        return found

    return (found for found in tables.made("NVTX_EVENTS", made) if found is not None)


def _on_device(row: sqlite3.Row, *, name: str, category: str) -> SpanRow:
    device, stream = _number(row, "deviceId"), _number(row, "streamId")
    process, correlation = _value(row, "globalPid"), _value(row, "correlationId")
    known = isinstance(process, int) and isinstance(correlation, int)
    size = _value(row, "bytes")
    facts: dict[str, Fact] = {"bytes": size} if isinstance(size, int) else {}
    return _row(
        row,
        name=name,
        category=category,
        track=f"GPU {device} stream {stream}",
        key=(process, correlation) if known else None,
    )._replace(device=device, stream=None if stream in _ALL_STREAMS else stream, attributes=facts)


def _row(
    row: sqlite3.Row, *, name: str, category: str, track: str, key: tuple[int, int] | None = None
) -> SpanRow:
    begin_ns, end_ns = _number(row, "start"), _number(row, "end")
    return SpanRow(name, category, begin_ns, max(0, end_ns - begin_ns), track, key=key)


def _value(row: sqlite3.Row, column: str) -> Any:  # noqa: ANN401  (whatever SQLite holds)
    """Return what a column holds; None where the table has no such column."""
    return row[column] if column in row.keys() else None  # noqa: SIM118  (a Row is no dict)


def _number(row: sqlite3.Row, column: str) -> int:
    value = _value(row, column)
    if not isinstance(value, int):
        raise _OddRowError(f"{column} is {shown(value)}")
    return value


def _text(row: sqlite3.Row) -> str:
    return str(_value(row, "value"))


def _thread(number: int) -> str:
    return f"thread {number // 0x1000000 % 0x1000000}/{number % 0x1000000}"


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
