"""The stages of an export, written down as they begin: a process that dies tells how far it got."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.core import records

Stage = Literal["start", "build", "run", "export", "write"]

STATUS = "status.jsonl"
OUTCOME = "outcome.json"


@dataclass(frozen=True, slots=True)
class StageTime:
    """How long one stage took."""

    stage: str
    seconds_s: float


@dataclass(frozen=True, slots=True)
class Workaround:
    """Something that was tried after what was asked for had failed."""

    what: str
    because: str
    """What the exporter said before."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a child has done."""

    exporter: str
    opset: int
    dynamic_axes: tuple[str, ...]
    """The names of the sizes that are only known when the model is fed."""
    workarounds: tuple[Workaround, ...] = ()
    notes: tuple[str, ...] = ()
    stages: tuple[StageTime, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a child gave up: where, and what was said there."""

    stage: str
    problem: str
    """Empty: the library failed, and `lines` are its own."""
    hint: str = ""
    kind: str = "ModelError"
    """The error's class in `burnish.core.errors`."""
    lines: tuple[str, ...] = ()


class StageLog:
    """Writes a line whenever a stage begins."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / STATUS
        self._times: list[StageTime] = []
        self.current: str = "start"

    @property
    def times(self) -> tuple[StageTime, ...]:
        """Return the stages that are finished."""
        return tuple(self._times)

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Note that a stage begins, and how long it took if it ends well."""
        self.current = name
        with self._path.open("a") as stream:
            stream.write(json.dumps({"stage": name}) + "\n")
        start = time.monotonic()
        yield
        self._times.append(StageTime(name, time.monotonic() - start))


def last_stage(folder: Path) -> str:
    """Return the stage that a process was in when it was last heard of."""
    path = folder / STATUS
    lines = path.read_text().splitlines() if path.is_file() else []
    return str(json.loads(lines[-1])["stage"]) if lines else "start"


def write_outcome(folder: Path, outcome: Outcome | Failure) -> None:
    """Leave what the parent is to know."""
    (folder / OUTCOME).write_text(records.text_of(records.encode(outcome)))


def read_outcome(folder: Path) -> Outcome | Failure | None:
    """Return what a child left; None: it left nothing."""
    path = folder / OUTCOME
    if not path.is_file():
        return None
    found: Outcome | Failure = records.decode(Failure | Outcome, json.loads(path.read_text()))
    return found
