"""What is benchmarked, how thoroughly, and what a worker process is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from burnish.bench.measure import Placed, Status
from burnish.core.arrays import Arrays
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel


@dataclass(frozen=True, slots=True)
class BenchSubject:
    """A model on an engine, under a name that is unique within the benchmark."""

    label: str
    model: StoredModel
    engine: str
    options: EngineOptions = field(default_factory=EngineOptions)


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How thoroughly to measure."""

    rounds: int = 20
    """The most fresh processes per subject; three are the fewest that allow a verdict."""
    blocks: int = 24
    """The most blocks per round; fewer where the budget is short or a round has said enough."""
    budget_s: float = 60.0
    """After the third, no round is begun that would probably end later than this."""
    ends_s: float | None = None
    """When it must be over: after the first round, only those go on whose next rounds still fit.
    None: three rounds are run however long they take."""
    whole_budget_s: float | None = None
    """What the user gave, of which the budget is a share; None: it is all of it."""
    block_s: float = 0.02
    """Short, so that subjects alternate faster than a machine's mood changes."""
    visible: float = 0.05
    """After six rounds a subject goes on only until a difference of this size would show."""
    baseline: str | None = None
    """The label all others are compared with; None: the first."""
    seed: int = 0
    items_per_call: int = 1
    """How many inputs one call takes, or tokens it writes, for throughput."""
    generate: int | None = None
    """How many tokens a call writes; 0: it is one run; None: nobody asked."""
    limit_s: float = 600.0
    """A worker that does not answer within this time is ended, and its row says so."""

    @property
    def budget_named(self) -> str:
        """Return the budget in words: a share of a larger one is said to be that."""
        seconds = f"{self.budget_s:.3g} s"
        if self.whole_budget_s is None:
            return f"the budget of {seconds}"
        return f"a group's share of the budget, {seconds},"

    def budget_for(self, needed_s: float) -> int:
        """Return what the user would have to give, in seconds, for this to take so long."""
        share = self.budget_s / self.whole_budget_s if self.whole_budget_s else 1.0
        return math.ceil(needed_s / share) if share else math.ceil(needed_s)


@dataclass(frozen=True, slots=True)
class WarmedUp:
    """A worker's answer once its calls are steady."""

    load_s: float
    first_call_s: float
    warmup_calls: int
    warmup_s: float
    converged: bool
    call_s: float
    placement: Placed
    card_s: float | None = None
    """The median of runs on the card's own clock; None: on no card, or the engine has none."""
    card_memory_bytes: int | None = None
    """What the process held on a card then; None: nothing, or the driver does not tell."""
    rest_s: float = 0.0
    """How long its threads go on when a call has returned."""


class WorkerFailedError(Exception):
    """A worker crashed, did not answer in time, or says what is wrong; the text is the reason."""

    def __init__(self, reason: str, status: Status = "failed") -> None:
        super().__init__(reason)
        self.status: Status = status


class Worker(Protocol):
    """One subject in one fresh process; every method may raise `WorkerFailedError`."""

    def ready(self) -> None:
        """Wait until the process has started and sleeps."""

    def open(self) -> WarmedUp:
        """Load the model and call it until it is steady."""

    def block(self, calls: int, settle_s: float) -> tuple[float, ...]:
        """Return the seconds of each of `calls` calls, after unrecorded ones for `settle_s`."""

    def peak_memory_bytes(self) -> int | None:
        """Return the most memory that the process has held so far."""

    def outputs(self, known: Sequence[str], calls: int) -> Mapping[str, Arrays]:
        """Return what the model computes in this process: each result once, by its key.

        What has a key among `known` is not told again.
        """

    def end(self) -> None:
        """End the process, whatever it is doing; never raises."""
