"""The stages of an export, told as they begin: of a process that dies one knows how far it got."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from burnish.process import serving

Stage = Literal["build", "run", "export", "write"]


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
class ExportOutcome:
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
    """Tells the parent whenever a stage begins."""

    def __init__(self) -> None:
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
        serving.stage(name)
        start = time.monotonic()
        yield
        self._times.append(StageTime(name, time.monotonic() - start))
