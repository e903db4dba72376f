"""Run one subject in a fresh process, and turn every way it can go wrong into a reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from burnish.bench.measure import Status
from burnish.bench.subject import BenchSubject, WarmedUp, WorkerFailedError
from burnish.bench.worker import BlockRequest, CallSamples, Outputs, OutputsRequest, WorkerOpening
from burnish.core.arrays import Arrays
from burnish.core.errors import BurnishError, MissingCapabilityError, UsageError
from burnish.engines.base import ENGINES
from burnish.engines.model_facts import with_arithmetic
from burnish.process.child import Child, ChildEndedError, ChildRefusedError, ProcessLimits
from burnish.timing.stopwatch import WarmupLimit

A = TypeVar("A")

_WORKER = "burnish.bench.worker:Bench"
_NO_MEMORY = ("MemoryError", "bad_alloc", "out of memory", "allocate memory")
"""What libraries say when memory runs out; the system itself says nothing, and kills."""


@dataclasses.dataclass(frozen=True, slots=True)
class WorkerTerms:
    """What holds for every worker of a benchmark."""

    feeds: Arrays
    warmup: WarmupLimit
    limits: ProcessLimits
    notes: tuple[str, ...] = ()
    """Said in every row of this subject: for instance which malloc it ran with."""
    generate: int = 0
    """How many tokens a call writes; 0: it is one run."""


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, subject: BenchSubject, terms: WorkerTerms, *, entry: str = _WORKER) -> None:
        self._subject = subject
        self._terms = terms
        self._child = Child(entry, terms.limits)

    def ready(self) -> None:
        """Wait until the process has started and sleeps."""
        self._ask("ready", type(ENGINES[self._subject.engine]).__module__, type(None))

    def open(self) -> WarmedUp:
        """Load the model and call it until it is steady."""
        terms = self._terms
        options = with_arithmetic(self._subject.options, self._subject.model)
        subject = dataclasses.replace(self._subject, options=options)
        request = WorkerOpening(subject, terms.feeds, terms.warmup, terms.generate)
        opened = self._ask("open", request, WarmedUp)
        notes = (*opened.placement.notes, *self._terms.notes)
        return dataclasses.replace(
            opened, placement=dataclasses.replace(opened.placement, notes=notes)
        )

    def block(self, calls: int, settle_s: float) -> tuple[float, ...]:
        """Return the seconds of each of `calls` calls, after unrecorded ones for `settle_s`."""
        return self._ask("block", BlockRequest(calls, settle_s), CallSamples).samples_s

    def peak_memory_bytes(self) -> int | None:
        """Return the most memory that the process has held so far."""
        return self._ask("peak_memory_bytes", None, int)

    def outputs(self, known: Sequence[str], calls: int) -> Mapping[str, Arrays]:
        """Return what the model computes in this process, without what is known."""
        return self._ask("outputs", OutputsRequest(tuple(known), calls), Outputs).results

    def end(self) -> None:
        """End the process and all it started, whatever they are doing."""
        self._child.end()

    def _ask(self, method: str, request: Any, answer: type[A]) -> A:  # noqa: ANN401
        try:
            return self._child.ask(method, request, answer)
        except BurnishError as error:
            raise WorkerFailedError(f"{error.problem} ({error.hint})", _refused(error)) from error
        except ChildRefusedError as error:
            status: Status = "no memory" if _is_about_memory(str(error)) else "failed"
            raise WorkerFailedError(str(error), status) from error
        except ChildEndedError as error:
            remedy = "; --budget gives it longer" if error.hung else ""
            raise WorkerFailedError(f"the process {error}{remedy}", _ended(error)) from error


def _refused(error: BurnishError) -> Status:
    if _is_about_memory(error.problem):
        return "no memory"
    cannot = isinstance(error, MissingCapabilityError | UsageError)
    return "unsupported" if cannot else "failed"


def _ended(error: ChildEndedError) -> Status:
    """Return how a process ended; nobody but the system kills one that was not asked to end."""
    if error.hung:
        return "hung"
    starved = error.signal == "SIGKILL" or _is_about_memory(error.said)
    return "no memory" if starved else "crashed"


def _is_about_memory(text: str) -> bool:
    return any(words in text for words in _NO_MEMORY)
