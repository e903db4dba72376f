"""What the process does in which sessions of an engine live: one method per request."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from burnish.core.arrays import Array
from burnish.engines.base import ENGINES, EngineOptions, Placement, Session
from burnish.engines.recording import Recording, Repeats, record
from burnish.store.stored import StoredModel
from burnish.timing.turns import Rounds, Turns, take_turns


@dataclass(frozen=True, slots=True)
class SessionOpening:
    """What to open, and where the one who asks is."""

    engine: str
    module: str
    """Where the engine is defined: it need not be one of ours."""
    model: StoredModel
    options: EngineOptions
    folder: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """The number of a session, and what was obtained."""

    session: int
    placement: Placement


@dataclass(frozen=True, slots=True)
class FedInputs:
    """Inputs for a session."""

    session: int
    feeds: Mapping[str, Array]
    repeats: Repeats = field(default_factory=Repeats)
    """How often, where that is not once."""


@dataclass(frozen=True, slots=True)
class SessionRun:
    """What a session gave; some know only now how they divide the work."""

    outputs: Mapping[str, Array]
    placement: Placement


@dataclass(frozen=True, slots=True)
class TurnsRequest:
    """Who takes turns with which inputs, and how often."""

    fed: tuple[FedInputs, ...]
    turns: Turns


@dataclass(frozen=True, slots=True)
class RoundSamples:
    """The seconds of each one's calls, by round."""

    samples_s: tuple[Rounds, ...]


class Host:
    """Sessions, and calls that were prepared, by number."""

    def __init__(self) -> None:
        self._numbers = count()
        self._sessions: dict[int, Session] = {}
        self._calls: dict[int, Callable[[], None]] = {}

    def ready(self, module: str) -> None:
        """Import an engine: what follows is about models."""
        importlib.import_module(module)

    def open(self, request: SessionOpening) -> OpenedSession:
        """Load a model."""
        os.chdir(request.folder)
        if request.environment != os.environ:
            os.environ.clear()
            os.environ.update(request.environment)
        importlib.import_module(request.module)
        session = ENGINES[request.engine].open(request.model, request.options)
        number = next(self._numbers)
        self._sessions[number] = session
        return OpenedSession(number, session.placement)

    def run(self, request: FedInputs) -> SessionRun:
        """Run a model once."""
        session = self._sessions[request.session]
        return SessionRun(session.run(request.feeds), session.placement)

    def prepare(self, request: FedInputs) -> int:
        """Put inputs in their place; return the number of a call that runs with them."""
        number = next(self._numbers)
        self._calls[number] = self._sessions[request.session].prepare(request.feeds)
        return number

    def call(self, number: int) -> None:
        """Run what was prepared."""
        self._calls[number]()

    def record(self, request: FedInputs) -> Recording:
        """Run a model often, with and without a timeline."""
        return record(self._sessions[request.session], request.feeds, request.repeats)

    def take_turns(self, request: TurnsRequest) -> RoundSamples:
        """Time several models in turns."""
        calls = [self._sessions[fed.session].prepare(fed.feeds) for fed in request.fed]
        return RoundSamples(take_turns(calls, request.turns))

    def close(self, number: int) -> None:
        """Unload a model."""
        self._sessions.pop(number).__exit__(None, None, None)
