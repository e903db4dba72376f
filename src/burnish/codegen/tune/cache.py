"""Tuning results on disk: one SQLite file that several processes may use at once.

Every operation opens the file anew, so nothing is held across forks or threads. A file that is
damaged is set aside; where the folder cannot be written, results are kept for this process only.
Neither stops anybody: what happened is in `notes`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from burnish.codegen.backend import Backend
from burnish.codegen.tune.trial import Tuned
from burnish.core import records
from burnish.core.backends import backend_of
from burnish.core.hashing import value_key
from burnish.version import __version__

_PACKAGE = Path(__file__).parents[2]
_GENERATOR = ("codegen/tune", "hw", "tile")
"""What turns a group and a schedule into code, and times it, beside the back end. How nests come to
be is not part of it: a group's signature holds what they are."""


@dataclass(frozen=True, slots=True)
class TuningConditions:
    """Where and with what a group was tuned."""

    device: str
    """The device's name."""
    features: tuple[str, ...]
    target: str
    """What the kernels are compiled for."""
    threads: int
    burnish: str
    generator: str
    """A hash of the sources that write and time kernels."""
    compiler: str


@dataclass(frozen=True, slots=True)
class Key:
    """What one result belongs to."""

    signature: str
    """Of the group; equal for repeated layers."""
    conditions: TuningConditions
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Dimensions of tensors in another order, by position among what the group reads and writes."""

    @property
    def text(self) -> str:
        """Return a text that only equal keys share."""
        places = {name: list(order) for name, order in self.layouts.items()}
        return value_key([self.signature, _conditions_text(self.conditions), places])


@lru_cache(maxsize=16)
def _conditions_text(found: TuningConditions) -> str:
    return value_key(asdict(found))


def conditions(backend: Backend) -> TuningConditions:
    """Return the conditions under which a back end tunes."""
    return TuningConditions(
        device=backend.device,
        features=backend.features,
        target=backend.target,
        threads=backend.machine.units,
        burnish=__version__,
        generator=generator_version(backend.target),
        compiler=backend.compiler,
    )


@lru_cache(maxsize=4)
def generator_version(target: str) -> str:
    """Return a hash of the sources that write and time kernels for a target."""
    digest = hashlib.sha256()
    entry = backend_of(target)
    halves = (half.partition(":")[0].split(".")[1:-1] for half in (entry.compiler, entry.runner))
    for folder in (*map("/".join, halves), *_GENERATOR):
        for path in sorted((_PACKAGE / folder).rglob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


SCHEMA = 1
WAIT_S = 30.0
"""How long to wait for another process that is writing."""

_TABLE = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY,
    signature TEXT NOT NULL,
    device TEXT NOT NULL,
    target TEXT NOT NULL,
    threads INTEGER NOT NULL,
    burnish TEXT NOT NULL,
    generator TEXT NOT NULL,
    seconds REAL,
    result TEXT NOT NULL,
    made_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
)
"""
_INSERT = """
INSERT OR REPLACE INTO results
    (key, signature, device, target, threads, burnish, generator, seconds, result)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

R = TypeVar("R")


class TuningCache:
    """Results by key. `path` None: nothing is read, and nothing outlives the object."""

    def __init__(self, path: Path | None) -> None:
        self.notes: list[str] = []
        self._path = path
        self._own: dict[str, Tuned] = {}
        self._absent: set[str] = set()

    def get(self, key: Key) -> Tuned | None:
        """Return what was found for this key; None: nobody has looked."""
        if key.text in self._own:
            return self._own[key.text]
        if key.text in self._absent:
            # asked again for every group that is decided on, and opening the file takes a while
            return None
        row = self._tried(lambda connection: _read(connection, key))
        if row is None:
            self._absent.add(key.text)
            return None
        found = _decoded(row)
        if found is None:
            self._note(f"{self._path}: the result of {key.signature[:12]} is not readable")
            return None
        self._own[key.text] = found
        return found

    def put(self, key: Key, result: Tuned) -> None:
        """Keep a result; one that stands there is replaced."""
        self._own[key.text] = result
        self._tried(lambda connection: _write(connection, key, result))

    def _tried(self, action: Callable[[sqlite3.Connection], R]) -> R | None:
        """Return what an action gives; None where the file does not let it."""
        if self._path is None:
            return None
        try:
            with _connected(self._path) as connection:
                return action(connection)
        except (OSError, sqlite3.OperationalError) as error:
            self._note(f"{self._path}: tuning results are not kept ({error})")
        except sqlite3.DatabaseError as error:
            self._set_aside(self._path, error)
        return None

    def _set_aside(self, path: Path, error: Exception) -> None:
        aside = next(
            name
            for number in range(1, 10_000)
            if not (name := path.with_name(f"{path.name}.damaged-{number}")).exists()
        )
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        try:
            path.rename(aside)
        except OSError as problem:
            self._note(f"{path}: is damaged and cannot be moved ({problem})")
            return
        self._note(f"{path}: was damaged ({error}); it is now {aside.name}, and a new one begins")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def default_path(cache: Path) -> Path:
    """Return where results lie in the folder for results that can be made again."""
    return cache / f"tuning-{SCHEMA}.sqlite"


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=WAIT_S)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(_TABLE)
        with connection:
            yield connection


def _read(connection: sqlite3.Connection, key: Key) -> str | None:
    row = connection.execute("SELECT result FROM results WHERE key = ?", (key.text,)).fetchone()
    return None if row is None else str(row[0])


def _write(connection: sqlite3.Connection, key: Key, result: Tuned) -> None:
    found = key.conditions
    columns = (
        key.text, key.signature, found.device, found.target, found.threads, found.burnish,
        found.generator, result.seconds, json.dumps(records.encode(result)),
    )  # fmt: skip
    connection.execute(_INSERT, columns)


def _decoded(text: str) -> Tuned | None:
    try:
        found: Tuned = records.decode(Tuned, json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return found
