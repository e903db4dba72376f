"""The ledger: every measurement that was made here, in one SQLite file that only grows.

One table, `cells`, has one row per finished cell, the oldest first. A row is never changed nor
removed (triggers refuse it); who measures again appends. Its columns:

    id, task, session, measured_at       task: the content address of all the figures depend on;
                                         session: cells that took turns with each other
    status, reason                       ok, wrong, crashed, hung, no memory, unsupported, failed
    model, model_key, engine, precision, threads, bindings (JSON), baseline
    machine, environment                 the fingerprint of the hardware, and of all else
    figures, parity, notes               JSON of `Figures`, of `ParityMark` or null, of a list
    record                               zlib of the JSON of `Finished`: every sample of every
                                         process, placement, machine state

The view `latencies` has the figures as columns, for whoever opens the file with `sqlite3`.

Reading: `Ledger(path).rows(model=…, engine=…, machine=…, since=…)` gives `LedgerRow`s without
samples, `finished(row.id)` one cell with all of them, `newest(keys)` what is there of these tasks.
Two cells may be compared pair by pair (`TimedBlock.round`, `TimedBlock.cycle`) only within one
session.

A second table, `rounds`, has what was finished of groups that are not: a row for each cell of each
round, with the record of that round alone, the key of the code that measured it (`code`), and how
many rounds a verdict needs (`enough`). A group's rows go when all its cells have these in `cells`.

The file is in WAL mode: readers never wait, and a killed writer leaves the last finished state.
Its `user_version` is the number of migrations it has had.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from burnish.bench.begun import BegunGroup, joined
from burnish.bench.cells import Finished, LedgerRow
from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.sound import finding
from burnish.core import records
from burnish.core.documents import reason
from burnish.core.errors import ModelError

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE cells (
            id INTEGER PRIMARY KEY,
            task TEXT NOT NULL, session TEXT NOT NULL, measured_at TEXT NOT NULL,
            status TEXT NOT NULL, reason TEXT NOT NULL,
            model TEXT NOT NULL, model_key TEXT NOT NULL, engine TEXT NOT NULL,
            precision TEXT NOT NULL, threads INTEGER, bindings TEXT NOT NULL,
            machine TEXT NOT NULL, environment TEXT NOT NULL, baseline INTEGER NOT NULL,
            figures TEXT NOT NULL, parity TEXT NOT NULL, notes TEXT NOT NULL, record BLOB NOT NULL
        )""",
        "CREATE INDEX cells_by_task ON cells (task)",
        "CREATE INDEX cells_by_session ON cells (session)",
        "CREATE INDEX cells_by_model ON cells (model, measured_at)",
        """CREATE TRIGGER cells_are_not_changed BEFORE UPDATE ON cells
            BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END""",
        """CREATE TRIGGER cells_are_not_removed BEFORE DELETE ON cells
            BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END""",
        """CREATE VIEW latencies AS
            SELECT id, measured_at, model, engine, precision, threads, bindings, status,
                json_extract(figures, '$.median_s') AS median_s,
                json_extract(figures, '$.low_s') AS low_s,
                json_extract(figures, '$.high_s') AS high_s,
                json_extract(figures, '$.items_per_s') AS items_per_s,
                json_extract(figures, '$.peak_memory_bytes') AS peak_memory_bytes, machine
            FROM cells ORDER BY id""",
    ),
    (
        """CREATE TABLE rounds (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL, number INTEGER NOT NULL, task TEXT NOT NULL,
            measured_at TEXT NOT NULL, code TEXT NOT NULL, enough INTEGER NOT NULL,
            record BLOB NOT NULL
        )""",
        "CREATE UNIQUE INDEX rounds_by_place ON rounds (session, number, task)",
        "CREATE INDEX rounds_by_task ON rounds (task)",
    ),
)
"""Each brings a file one version further; what stands here is never edited, only followed."""

_FORGET_FINISHED = """DELETE FROM rounds WHERE session NOT IN (
    SELECT session FROM rounds AS begun WHERE NOT EXISTS (
        SELECT 1 FROM cells WHERE cells.task = begun.task AND cells.measured_at >= begun.measured_at
        AND (cells.status != 'ok' OR json_extract(cells.figures, '$.processes') >= begun.enough)
    )
)"""
"""Where a budget ended before there was enough for a verdict, the next one goes on."""
_HAS_ROUNDS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'rounds'"
_COLUMNS = (
    "id", "task", "session", "measured_at", "status", "reason", "model", "model_key", "engine",
    "precision", "threads", "bindings", "machine", "environment", "baseline", "figures", "parity",
    "notes",
)  # fmt: skip
_PATIENCE_S = 20.0
"""How long to wait for another command that is just writing."""
_AT_ONCE = 500
"""SQLite takes a limited number of values in one statement."""
_BROKEN = (sqlite3.Error, OSError)
_SENSELESS = (zlib.error, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What a damaged row raises when it is read."""


class Ledger:
    """The measurements in one file, which is made when the first is appended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged: set[int] = set()
        """The numbers of measurements that were asked for and cannot be read."""
        self.damaged_groups: set[str] = set()
        """The sessions of groups that were not finished, of which a round cannot be read."""

    def append(self, cells: Iterable[Finished]) -> None:
        """Add finished cells: all of them, or, if anything is in the way, none."""
        with self._raising(), closing(self._writable()) as connection, _at_once(connection):
            connection.executemany(
                f"INSERT INTO cells ({', '.join((*_COLUMNS, 'record'))}) "
                f"VALUES ({', '.join('?' * (len(_COLUMNS) + 1))})",
                [_values(cell) for cell in cells],
            )
            connection.execute(_FORGET_FINISHED)

    def append_round(self, number: int, parts: Iterable[Finished], *, code: str) -> None:
        """Add one round of a group that is not finished: a part of each cell, or none at all."""
        with self._raising(), closing(self._writable()) as connection, _at_once(connection):
            connection.executemany(
                "INSERT INTO rounds (session, number, task, measured_at, code, enough, record) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [_round_values(one, number, code) for one in parts],
            )

    def begun(self, *, task: str | None = None, code: str | None = None) -> tuple[BegunGroup, ...]:
        """Return what was finished of groups that are not, the oldest first.

        `task`: only of groups with this cell; `code`: only what this very code measured. A group
        that is damaged is left out, and remembered in `damaged_groups`.
        """
        groups: dict[str, dict[int, list[tuple[bytes, str]]]] = {}
        of_task = "session IN (SELECT session FROM rounds WHERE task = ?)"
        for session, number, record, key in self._read_rounds({of_task: task, "code = ?": code}):
            groups.setdefault(session, {}).setdefault(number, []).append((record, key))
        found = (self._begun(session, rounds) for session, rounds in groups.items())
        return tuple(one for one in found if one is not None)

    def _begun(
        self, session: str, rounds: Mapping[int, Sequence[tuple[bytes, str]]]
    ) -> BegunGroup | None:
        try:
            parts = [_finished(*one) for number in sorted(rounds) for one in rounds[number]]
            return BegunGroup(session, max(rounds) + 1, joined(parts))
        except _SENSELESS:
            self.damaged_groups.add(session)
            return None

    def _read_rounds(self, wanted: Mapping[str, str | None]) -> list[tuple[str, int, bytes, str]]:
        if not self.path.exists():
            return []
        with self._raising(), self._reading() as connection:
            # a file of an earlier version that nobody may write to has none
            if not connection.execute(_HAS_ROUNDS).fetchone():
                return []
            given = {words: value for words, value in wanted.items() if value is not None}
            where = f" WHERE {' AND '.join(given)}" if given else ""
            return connection.execute(
                f"SELECT session, number, record, task FROM rounds{where} ORDER BY id",
                [*given.values()],
            ).fetchall()

    def rows(
        self,
        *,
        model: str | None = None,
        engine: str | None = None,
        machine: str | None = None,
        since: str | None = None,
        session: str | None = None,
    ) -> tuple[LedgerRow, ...]:
        """Return what was measured, the oldest first.

        `model` is a name with or without its variant, or the key of its files; `since` a date.
        """
        wanted: dict[str, Any] = {
            "(model = ? OR model LIKE ? || '/%' OR model_key = ?)": model and (model,) * 3,
            "engine = ?": engine and (engine,),
            "machine = ?": machine and (machine,),
            "measured_at >= ?": since and (since,),
            "session = ?": session and (session,),
        }
        given = {condition: values for condition, values in wanted.items() if values}
        where = f" WHERE {' AND '.join(given)}" if given else ""
        return tuple(self._rows(where, [value for values in given.values() for value in values]))

    def newest(self, keys: Sequence[str]) -> dict[str, LedgerRow]:
        """Return by task what was measured of it last; a task that is not here has no entry."""
        found: dict[str, LedgerRow] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = list(keys[start : start + _AT_ONCE])
            places = ", ".join("?" * len(some))
            found |= {row.task: row for row in self._rows(f" WHERE task IN ({places})", some)}
        return found

    def finished(self, row_id: int) -> Finished:
        """Return one cell with all its samples."""
        with self._raising(), self._reading() as connection:
            found = connection.execute(
                "SELECT record, task FROM cells WHERE id = ?", (row_id,)
            ).fetchone()
        if found is None:
            raise ModelError(
                f"{self.path}: has no measurement {row_id}", hint="list them: burnish history MODEL"
            )
        try:
            return _finished(*found)
        except _SENSELESS as error:
            self.damaged.add(row_id)
            raise ModelError(
                f"{self.path}: measurement {row_id} is damaged ({reason(error)})",
                hint="measure it again: burnish bench MODEL --again",
            ) from error

    def _rows(self, where: str, values: Sequence[Any]) -> Iterator[LedgerRow]:
        """Yield rows, the oldest first; what cannot be read of them is left out and remembered."""
        for found in self._read(where, values):
            try:
                yield _row(found)
            except _SENSELESS:
                self.damaged.add(found[0])

    def _read(self, where: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        with self._raising(), self._reading() as connection:
            columns = ", ".join(_COLUMNS)
            return connection.execute(
                f"SELECT {columns} FROM cells{where} ORDER BY id", values
            ).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that changes nothing; an old file is brought up to date first."""
        self._require_file()
        uri = self.path.absolute().as_uri()
        try:
            with closing(_to_read(uri)) as connection:
                version = self._own_version(connection)
        except sqlite3.OperationalError:
            # a folder that nobody may write to has no room for WAL's index
            with closing(_opened(f"{uri}?mode=ro&immutable=1")) as connection:
                self._own_version(connection)
                yield connection
            return
        if version < len(MIGRATIONS):
            self._writable().close()
        with closing(_to_read(uri)) as connection:
            yield connection

    def _writable(self) -> sqlite3.Connection:
        """Return a connection to a file of the present version, which is made if need be."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._require_file()
        connection = _opened(f"{self.path.absolute().as_uri()}?mode=rwc")
        try:
            self._own_version(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_file(self) -> None:
        """Raise if there is something else than a file: a pipe would be waited for without end."""
        if self.path.exists() and not self.path.is_file():
            raise ModelError(
                f"{self.path}: cannot be used as a ledger (it is no file)",
                hint="choose another file with --ledger or BURNISH_LEDGER",
            )

    def _migrate(self, connection: sqlite3.Connection) -> None:
        while (version := self._own_version(connection)) < len(MIGRATIONS):
            with _at_once(connection):
                if _version(connection) == version:  # else another command came first
                    for statement in MIGRATIONS[version]:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {version + 1}")

    def _own_version(self, connection: sqlite3.Connection) -> int:
        """Return how far a ledger has come, 0 for an empty file; raise if it is none of ours."""
        version = _version(connection)
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        if tables and (not version or "cells" not in tables):
            raise ModelError(
                f"{self.path}: is a database of something else, with a table {tables[0]!r}",
                hint="choose another file with --ledger or BURNISH_LEDGER",
            )
        if version > len(MIGRATIONS):
            raise ModelError(
                f"{self.path}: has version {version} of the ledger, "
                f"this burnish knows {len(MIGRATIONS)}",
                hint="upgrade burnish, or choose another file with --ledger or BURNISH_LEDGER",
            )
        return version

    @contextmanager
    def _raising(self) -> Iterator[None]:
        try:
            yield
        except _BROKEN as error:
            raise ModelError(
                f"{self.path}: cannot be used as a ledger ({error})",
                hint="choose another file with --ledger or BURNISH_LEDGER",
            ) from error


def _opened(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=_PATIENCE_S, isolation_level=None)


def _to_read(uri: str) -> sqlite3.Connection:
    """Return a connection that writes no row; one that may not write leaves WAL's files behind."""
    connection = _opened(f"{uri}?mode=rw")
    connection.execute("PRAGMA query_only = 1")
    return connection


@contextmanager
def _at_once(connection: sqlite3.Connection) -> Iterator[None]:
    """Make all changes of the block one transaction, which no other writer is in meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _values(cell: Finished) -> tuple[Any, ...]:
    """Return a cell in the order of the columns; SQLite gives it its id."""
    task = cell.task
    return (
        None, task.key, cell.session, cell.measured_at, cell.status, cell.reason, cell.model,
        task.model_key, task.engine, task.precision, task.options.get("threads"),
        _json(task.bindings), task.machine, task.environment, int(cell.baseline),
        _json(cell.figures), _json(cell.parity), _json(cell.notes), _record(cell),
    )  # fmt: skip


def _round_values(part: Finished, number: int, code: str) -> tuple[Any, ...]:
    """Return a part of a cell in the order in which it is written."""
    enough = min(part.task.rounds, FEWEST_ROUNDS)
    return part.session, number, part.task.key, part.measured_at, code, enough, _record(part)


def _record(cell: Finished) -> bytes:
    return zlib.compress(_json(cell).encode())


def _json(value: Any) -> str:  # noqa: ANN401  (any record)
    return json.dumps(records.encode(value), ensure_ascii=False, allow_nan=False)


def _row(values: tuple[Any, ...]) -> LedgerRow:
    """Return a row; raise one of `_SENSELESS` where a column holds something else."""
    named = dict(zip(_COLUMNS, values, strict=True))
    texts = {name: json.loads(named[name]) for name in ("bindings", "figures", "parity", "notes")}
    row: LedgerRow = records.decode(
        LedgerRow, {**named, **texts, "baseline": bool(named["baseline"])}
    )
    return row


def _finished(record: bytes, task: str) -> Finished:
    """Return a cell; raise one of `_SENSELESS` where the record is another's, or is none."""
    decoded: Finished = records.decode(Finished, json.loads(zlib.decompress(record)))
    if decoded.task.key != task:
        raise ValueError("its samples are those of another task")
    if (found := finding(decoded.measurement)) is not None:
        raise ValueError(f"it {found}")
    return decoded
