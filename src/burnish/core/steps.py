"""Finished steps of a long run, kept on disk so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from burnish.core import files, records
from burnish.core.files import Kind

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class StepMark:
    """One step of a run: how long it took when it was made, and whether it was made just now."""

    name: str
    seconds_s: float
    resumed: bool


def _refusal(path: Path) -> str | None:
    """Return why a file is not a step's; a broken one may be."""
    with suppress(OSError, ValueError, RecursionError):
        stored = json.loads(path.read_text())
        if isinstance(stored, dict) and "key" not in stored:
            return "it holds no step of a run"
    return None


STEP = Kind("a step of a run", _refusal)


class StepLog:
    """The steps of one run, each a record in `folder` under the key of all it depends on."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._clock = clock
        self._marks: list[StepMark] = []

    @property
    def marks(self) -> tuple[StepMark, ...]:
        """Return the steps so far, in order."""
        return tuple(self._marks)

    def noted(self, name: str) -> dict[str, Any] | None:
        """Return the record of a step as it is stored, whatever its key; None: there is none."""
        stored = _stored(self._folder / f"{name}.json")
        record = stored.get("record") if stored is not None else None
        return record if isinstance(record, dict) else None

    def once(
        self,
        name: str,
        make: Callable[[], R],
        *,
        key: str,
        kind: type[R],
        holds: Callable[[R], bool] = lambda _record: True,
    ) -> R:
        """Return the record of a step: the stored one if `key` is the same, else a new one.

        `holds` says whether what the stored record speaks of is still there.
        """
        path = self._folder / f"{name}.json"
        stored = _read(path, key)
        step = _decoded(stored, kind) if stored is not None else None
        if step is not None and holds(step[0]):
            self._marks.append(StepMark(name, step[1], resumed=True))
            return step[0]
        start = self._clock()
        made = make()
        seconds = self._clock() - start
        content = {"key": key, "seconds_s": seconds, "record": records.encode(made)}
        files.write_text(path, records.text_of(content), STEP)
        self._marks.append(StepMark(name, seconds, resumed=False))
        return made


def _read(path: Path, key: str) -> dict[str, Any] | None:
    """Return a stored step, or None: there is none, it is broken, or it has another key."""
    stored = _stored(path)
    return stored if stored is not None and stored.get("key") == key else None


def _stored(path: Path) -> dict[str, Any] | None:
    try:
        stored = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return stored if isinstance(stored, dict) else None


def _decoded(stored: Mapping[str, Any], kind: type[R]) -> tuple[R, float] | None:
    """Return a stored record and how long it took; None: it is broken."""
    try:
        return records.decode(kind, stored["record"]), float(stored["seconds_s"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
