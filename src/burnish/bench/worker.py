"""The worker process: opens one model on one engine and times it on command."""

from __future__ import annotations

import gc
import importlib
import resource
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from burnish.bench.measure import Placed
from burnish.bench.on_card import alone_on, card_bytes, card_seconds
from burnish.bench.subject import BenchSubject, WarmedUp
from burnish.core import records
from burnish.core.arrays import Array
from burnish.core.hashing import arrays_key
from burnish.engines.base import ENGINES, Session
from burnish.engines.generation import continuation, require_generating
from burnish.timing import stopwatch
from burnish.timing.resting import rested_s


@dataclass(frozen=True, slots=True)
class WorkerOpening:
    """What to open, and how long to warm it up at most."""

    subject: BenchSubject
    feeds: Mapping[str, Array]
    warmup: stopwatch.WarmupLimit
    generate: int = 0
    """How many tokens a call writes; 0: it is one run."""


@dataclass(frozen=True, slots=True)
class BlockRequest:
    """A block of calls to time, after unrecorded ones for a while."""

    calls: int
    settle_s: float


@dataclass(frozen=True, slots=True)
class CallSamples:
    """The seconds of each call."""

    samples_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class OutputsRequest:
    """Results to tell: of so many calls, without those that are known by their keys."""

    known: tuple[str, ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the model computed, by the key of its content: equal results once."""

    results: Mapping[str, Mapping[str, Array]]


class Bench:
    """One session and its prepared call; each method answers one request."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._call: stopwatch.Call | None = None
        self._feeds: Mapping[str, Array] = {}
        self._device = "cpu"

    def ready(self, module: str) -> None:
        """Import an engine: what follows is its own time."""
        _be_first_to_go()
        importlib.import_module(module)

    def open(self, request: WorkerOpening) -> WarmedUp:
        """Open the model, call it once, then until it is steady."""
        subject, self._feeds = request.subject, request.feeds
        engine = ENGINES[subject.engine]
        opened: list[Session] = []
        load_s = stopwatch.timed(lambda: opened.append(engine.open(subject.model, subject.options)))
        session = self._session = opened[0]
        first_call_s = stopwatch.timed(lambda: session.run(self._feeds))
        self._call = _prepared(session, request)
        _silence_collector()
        self._device = session.placement.device
        with alone_on(self._device):
            warmup = stopwatch.warm_up(self._call, request.warmup)
            one_run = self._device != "cpu" and not request.generate
            card_s = card_seconds(session, self._feeds) if one_run else None
        return WarmedUp(
            load_s=load_s,
            first_call_s=first_call_s,
            warmup_calls=warmup.calls,
            warmup_s=warmup.seconds,
            converged=warmup.converged,
            call_s=warmup.call_s,
            placement=records.decode(Placed, records.encode(session.placement)),
            card_s=card_s,
            card_memory_bytes=card_bytes() if self._device != "cpu" else None,
            rest_s=rested_s(),
        )

    def block(self, request: BlockRequest) -> CallSamples:
        """Time a block of calls, and answer when the threads are asleep: others are timed next."""
        assert self._call is not None, "open comes first"
        with alone_on(self._device):
            samples_s = stopwatch.sampled(
                self._call, calls=request.calls, settle_s=request.settle_s
            )
        rested_s()
        return CallSamples(samples_s)

    def peak_memory_bytes(self) -> int:
        """Tell the most memory that this process has held."""
        return peak_memory_bytes()

    def outputs(self, request: OutputsRequest) -> Outputs:
        """Run a few times more, and tell what came of it that is new."""
        assert self._session is not None, "open comes first"
        results: dict[str, Mapping[str, Array]] = {}
        for _ in range(request.calls):
            found = self._session.run(self._feeds)
            if (key := arrays_key(found)) not in (*request.known, *results):
                # an engine may give out its own memory, which the next call writes over
                results[key] = {name: array.copy() for name, array in found.items()}
        return Outputs(results)


def _prepared(session: Session, request: WorkerOpening) -> stopwatch.Call:
    if not request.generate:
        return session.prepare(request.feeds)
    from burnish.store import onnx_files

    subject = request.subject
    how = continuation(onnx_files.interface(onnx_files.read(subject.model.onnx)), request.generate)
    return require_generating(session, subject.engine).prepare_generation(request.feeds, how)


def peak_memory_bytes() -> int:
    """Return the most resident memory this process has held."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _be_first_to_go() -> None:
    """If the system runs out of memory, have it end this process and not one beside it."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _silence_collector() -> None:
    """Keep Python's garbage collector out of the timed calls."""
    gc.collect()
    gc.freeze()
    gc.disable()
