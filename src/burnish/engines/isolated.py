"""Sessions in a process of their own: an engine that crashes, hangs or eats all memory is an error.

One process per engine is started when it is first needed and kept, so that many small models one
after the other cost one start. Where it ends, whatever comes next finds a fresh one.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError
from burnish.engines.base import ENGINES, LEVELS, EngineOptions, GraphLevel, Placement
from burnish.engines.crash import Crash
from burnish.engines.host import (
    FedInputs,
    OpenedSession,
    RoundSamples,
    SessionOpening,
    SessionRun,
    TurnsRequest,
)
from burnish.engines.model_facts import with_arithmetic
from burnish.engines.onnxruntime_errors import is_about_memory
from burnish.engines.recording import Recording, Repeats
from burnish.process.child import Child, ChildEndedError, ChildRefusedError, ProcessLimits
from burnish.store.stored import StoredModel
from burnish.timing.turns import Rounds, Turns, flat
from burnish.trace.events import Trace

A = TypeVar("A")

_WITH_LEVELS = "onnxruntime-"
"""How the names begin of engines that can be told to optimise less."""
_HOST = "burnish.engines.host:Host"
_READY = "ready"
_DOING = {_READY: "starting for", "open": "loading", "record": "profiling"}
_ANOTHER = "use another engine that `burnish doctor` lists"
_SAID = 160
_LOWER_S = 120.0
"""How long a lower level may take to be found out: it only makes an error say more."""


class EngineCrashedError(ModelError):
    """The process of an engine ended with a model in it."""

    def __init__(self, crash: Crash, *, hint: str) -> None:
        super().__init__(str(crash), hint=hint)
        self.crash = crash


class EngineHungError(MissingCapabilityError):
    """The process of an engine gave no answer in time, and was ended."""


class _Process:
    """The process of one engine; sessions in it take turns."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.module = type(ENGINES[engine]).__module__
        self.lock = threading.RLock()
        self._child: Child | None = None
        self._is_ready = False

    def start(self) -> Child:
        """Return the process, which may still be importing; one that is no more is replaced."""
        if self._child is None or not self._child.runs:
            self.end()
            self._child, self._is_ready = Child(_HOST), False
            self._child.send(_READY, self.module)
        return self._child

    def ready(self) -> Child:
        """Return the process, ready to be asked."""
        child = self.start()
        if not self._is_ready:
            child.receive(type(None))
            self._is_ready = True
        return child

    def end(self) -> None:
        """End the process, if there is one."""
        if self._child is not None:
            self._child.end()


_PROCESSES: dict[str, _Process] = {}
os.register_at_fork(after_in_child=_PROCESSES.clear)


def _process(engine: str) -> _Process:
    return _PROCESSES.setdefault(engine, _Process(engine))


def start(engine: str) -> None:
    """Start an engine's process, and go on while it imports: it will be wanted soon."""
    process = _process(engine)
    with process.lock, suppress(ChildEndedError):  # whoever wants it will be told
        process.start()


def end_all() -> None:
    """End the processes of all engines; the next session starts a new one."""
    for process in list(_PROCESSES.values()):
        with process.lock:
            process.end()


def open_session(
    engine: str, model: StoredModel, options: EngineOptions, *, limit_s: float | None = None
) -> IsolatedSession:
    """Return a session like that of `ENGINES[engine]`, in a process of its own.

    One answer may take `limit_s`; None: as long as any engine might need.
    """
    return IsolatedSession(_process(engine), model, options, limit_s or ProcessLimits().answer_s)


def take_turns(
    sessions: Sequence[IsolatedSession], feeds: Sequence[Arrays], turns: Turns
) -> tuple[tuple[float, ...], ...]:
    """Return the seconds of the calls of sessions of one engine, which take turns there."""
    return tuple(map(flat, take_rounds(sessions, feeds, turns)))


def take_rounds(
    sessions: Sequence[IsolatedSession], feeds: Sequence[Arrays], turns: Turns
) -> tuple[Rounds, ...]:
    """Return the same by round: what ran side by side was disturbed alike."""
    fed = [FedInputs(one.number, own) for one, own in zip(sessions, feeds, strict=True)]
    last, request = sessions[-1], TurnsRequest(tuple(fed), turns)
    found = last.asked("take_turns", request, RoundSamples, feeds[-1])
    return tuple(found.samples_s)


class IsolatedSession(Closing):
    """A loaded model in the process of its engine; leaving it as a context unloads it."""

    def __init__(
        self,
        process: _Process,
        model: StoredModel,
        options: EngineOptions,
        limit_s: float,
        *,
        tries_lower: bool = True,
    ) -> None:
        self._process = process
        self._model = model
        self._options = options
        self._limit_s = limit_s
        self._tries_lower = tries_lower and process.engine.startswith(_WITH_LEVELS)
        self._open()

    @property
    def engine(self) -> str:
        """Return whose process it is in."""
        return self._process.engine

    @property
    def threads(self) -> int | None:
        """Return how many threads it was asked to use; None: as many as the engine likes."""
        return self._options.threads

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""
        return self._placement

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once with inputs from, and outputs to, host memory."""
        ran = self._fed("run", feeds, SessionRun)
        self._placement = ran.placement
        return dict(ran.outputs)

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one blocking run; asking for it takes some 0.1 ms, so time with `record`."""
        number = self._fed("prepare", feeds, int)
        return lambda: self.asked("call", number, type(None), feeds)

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline of `runs` runs after `warmup` dropped ones; None: cannot."""
        return self.record(feeds, Repeats(warmup, runs)).trace

    def record(self, feeds: Arrays, repeats: Repeats) -> Recording:
        """Return a timeline, and the times of runs without one, taken in the engine's process."""
        return self._fed("record", feeds, Recording, repeats)

    def close(self) -> None:
        """Unload the model; the process stays for the next one."""
        with self._process.lock, suppress(ChildEndedError):  # then it is unloaded, too
            self._child.ask("close", self.number, type(None))

    def _open(self) -> None:
        request = SessionOpening(
            self._process.engine,
            self._process.module,
            self._model,
            with_arithmetic(self._options, self._model),
            Path.cwd(),
            dict(os.environ),
        )
        with self._process.lock:
            try:
                self._child = self._process.ready()
            except ChildEndedError as ended:
                raise self._explained(ended, None) from ended
            opened = self.asked("open", request, OpenedSession, None)
        self.number, self._placement = opened.session, opened.placement

    def _fed(
        self,
        method: str,
        feeds: Arrays,
        answer: type[A],
        repeats: Repeats = Repeats(),  # noqa: B008  (frozen)
    ) -> A:
        if not self._child.runs:
            self._open()  # another session of this engine has ended the process meanwhile
        return self.asked(method, FedInputs(self.number, feeds, repeats), answer, feeds)

    def asked(self, method: str, request: Any, answer: type[A], feeds: Arrays | None) -> A:  # noqa: ANN401
        """Return an answer of the engine's process; `feeds` are those that might end it."""
        try:
            with self._process.lock:
                return self._child.ask(method, request, answer, self._limit_s)
        except ChildEndedError as ended:
            raise self._explained(ended, feeds) from ended

    def _explained(self, ended: ChildEndedError, feeds: Arrays | None) -> BurnishError:
        """Return what the user should read of the end of an engine."""
        engine, model = self._process.engine, self._model.label
        level = self._options.graph_level if engine.startswith(_WITH_LEVELS) else None
        doing = _DOING.get(ended.stage, "running")
        if ended.hung:
            at = f" at level {level}" if level else ""
            return EngineHungError(
                f"{engine} hangs{at} while {doing} {model}: {ended.how}",
                hint=f"bind smaller sizes with --shape, or {_ANOTHER}",
            )
        said = ended.said.splitlines()[-1:]
        how = ": ".join([ended.signal or ended.how.removeprefix("ended with "), *said])[:_SAID]
        crash = Crash(engine, model, doing, how, level)
        if ended.signal == "SIGKILL" or is_about_memory(how):
            return EngineCrashedError(
                dataclasses.replace(crash, how=f"{how} (as when memory runs out)"),
                hint="bind smaller sizes with --shape, or use a machine with more memory",
            )
        if self._tries_lower and ended.stage != _READY:
            lower = self._lower_level(feeds)
            everywhere = lower is None and level != LEVELS[-1]
            crash = dataclasses.replace(crash, runs_at=lower, everywhere=everywhere)
        return EngineCrashedError(
            crash,
            hint=f"it is the engine's fault: report it to its makers, or {_ANOTHER}",
        )

    def _lower_level(self, feeds: Arrays | None) -> GraphLevel | None:
        """Return the highest level below at which the same does not end the process."""
        for level in LEVELS[LEVELS.index(self._options.graph_level) + 1 :]:
            options = dataclasses.replace(self._options, graph_level=level)
            with suppress(BurnishError, ChildRefusedError):
                limit_s = min(self._limit_s, _LOWER_S)
                lower = IsolatedSession(
                    self._process, self._model, options, limit_s, tries_lower=False
                )
                with lower:
                    if feeds is not None:
                        lower.run(feeds)
                return level
        return None
