"""Records of a benchmark: every raw sample, the machine it was taken on, and the verdicts."""

from __future__ import annotations

import enum
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from burnish.bench.results import KeptResults

SCHEMA = 1

GENERATE = "generate"
"""The size of a row that says how many tokens a call writes; 0: a call is one run."""

Setting = str | int | bool | None
"""The value of an engine option."""

Status = Literal[
    "ok", "wrong", "crashed", "hung", "no memory", "unsupported", "no time", "failed"
]  # fmt: skip
"""How a measurement ended. `wrong` was timed, and computes something else; `unsupported` cannot
be had, here or at all; `no time`: the budget ended before it; `failed` raised an error."""


@dataclass(frozen=True, slots=True)
class TimedBlock:
    """Calls timed back to back in one worker process, while all other workers slept."""

    round: int
    cycle: int
    """Blocks of one round with the same cycle are neighbours in time, hence comparable."""
    position: int
    """The place within the cycle, from 0; shuffled by the seed."""
    samples_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """Return the median call of the block."""
        return statistics.median(self.samples_s)


@dataclass(frozen=True, slots=True)
class ProcessStart:
    """What one fresh process paid before its calls were steady, and what it held."""

    round: int
    load_s: float
    """Importing the engine's library and opening the model."""
    first_call_s: float
    """With inputs from, and outputs to, host memory; compilation at the first call included."""
    warmup_calls: int
    warmup_s: float
    """From the end of the first call until the calls were steady."""
    converged: bool
    """False: the warm-up reached its limit before the calls were steady."""
    peak_memory_bytes: int | None = None
    """The most host memory the process held; None: it did not live to tell."""
    card_s: float | None = None
    """The median of a few runs between events on the card; None: there are none."""
    card_memory_bytes: int | None = None
    """What it held on the card when it was steady; None: the driver does not tell."""


@dataclass(frozen=True, slots=True)
class Placed:
    """What the engine really did with the request."""

    device: str
    precision: str
    nodes_by_provider: Mapping[str, int]
    threads: int | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measurement:
    """All that was measured of one model on one engine; `failure` says why there is no more."""

    subject: str
    model_key: str
    """The sha256 of the model's files."""
    engine: str
    options: Mapping[str, Setting]
    bindings: Mapping[str, int]
    launches: tuple[ProcessStart, ...]
    blocks: tuple[TimedBlock, ...]
    placement: Placed | None
    failure: str | None = None
    file: str = ""
    """Where the model was."""
    status: Status = "ok"
    items_per_call: int = 1
    """How many inputs one call takes: the batch, times the tokens that it writes of each."""
    model_bytes: int | None = None
    """The size of the model's files on disk."""
    model: str = ""
    """How people call the model; empty: as the subject says."""
    precision: str = ""
    """The type that was asked for: `f16`, `i8` …; empty: the model as it is."""
    measured_at: str = ""
    """ISO 8601, UTC; empty: within the benchmark whose report holds it."""
    cut_off: bool = False
    """Its group was ended before the last round: these are the rounds that were finished."""

    @property
    def samples_s(self) -> tuple[float, ...]:
        """Return every sample of every block, in the order they were taken."""
        return tuple(sample for block in self.blocks for sample in block.samples_s)

    @property
    def batch(self) -> int:
        """Return how many inputs one call takes."""
        return self.items_per_call // max(1, self.bindings.get(GENERATE, 0))

    @property
    def rounds(self) -> tuple[int, ...]:
        """Return the rounds that gave samples."""
        return tuple(dict.fromkeys(block.round for block in self.blocks))

    @property
    def load_s(self) -> float | None:
        """Return the median time to open the model in a fresh process."""
        return _median_of([launch.load_s for launch in self.launches])

    @property
    def first_call_s(self) -> float | None:
        """Return the median first call of a fresh process."""
        return _median_of([launch.first_call_s for launch in self.launches])

    @property
    def warmup_s(self) -> float | None:
        """Return the median time from the first call until the calls were steady."""
        return _median_of([launch.warmup_s for launch in self.launches])

    @property
    def converged(self) -> bool:
        """Return whether every process reached steady calls."""
        return bool(self.launches) and all(launch.converged for launch in self.launches)

    @property
    def peak_memory_bytes(self) -> int | None:
        """Return the most host memory that any of the processes held."""
        peaks = [launch.peak_memory_bytes for launch in self.launches]
        return max((peak for peak in peaks if peak is not None), default=None)

    @property
    def card_s(self) -> float | None:
        """Return the median time between events on the card."""
        return _median_of([one.card_s for one in self.launches if one.card_s is not None])

    @property
    def card_memory_bytes(self) -> int | None:
        """Return the most memory on the card that any of the processes held."""
        held = [launch.card_memory_bytes for launch in self.launches]
        return max((one for one in held if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class GpuState:
    """One GPU at one moment, as its driver tells it; None: it does not tell."""

    name: str
    driver: str
    clock_hz: float | None
    max_clock_hz: float | None
    temperature_celsius: float | None
    slowed_by: str
    """Why the driver holds the clock down; empty: it does not."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What changes on a machine; taken before and after. None: this system does not tell."""

    load_average: float | None
    """Processes that want a core, averaged over the last minute."""
    busy_s: float | None
    """Core-seconds of all processes since boot."""
    own_s: float
    """Core-seconds of this process and of the workers that have ended."""
    stolen_s: float | None
    """Core-seconds that the hypervisor gave to others since boot."""
    quota_stops: int | None
    """How often the container was stopped for having used up its quota."""
    thermal_stops: int | None
    """How often a core was slowed for being too hot."""
    on_battery: bool
    gpus: tuple[GpuState, ...]
    gpu_processes: int
    """Processes that hold memory on a GPU."""


@dataclass(frozen=True, slots=True)
class MachineState:
    """What a sceptic would ask about the machine; `warnings` say why to doubt the numbers."""

    cpu: str
    usable_cores: int
    quota_cores: float | None
    """The container's share of time, in cores; None: unlimited."""
    memory_bytes: int | None
    governor: str | None
    turbo: bool | None
    system: str
    python: str
    versions: Mapping[str, str]
    environment: Mapping[str, str]
    """The variables that change speed, as the workers saw them."""
    date: str
    elapsed_s: float
    before: Snapshot
    after: Snapshot
    warnings: tuple[str, ...]


class Verdict(enum.Enum):
    """What a comparison shows."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference shown"
    NOT_ENOUGH = "not enough data"


@dataclass(frozen=True, slots=True)
class SharedSpread:
    """How far processes of a whole group differ, as the variance of the difference of two."""

    variance: float
    degrees: int
    """Of freedom."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate against the baseline; ratios above 1 mean that the candidate is faster."""

    baseline: str
    candidate: str
    verdict: Verdict
    reason: str
    """Why there is not enough data; empty otherwise."""
    round_ratios: tuple[float, ...]
    """Baseline time over candidate time, one estimate for each round of fresh processes."""
    ratio: float | None
    low: float | None
    high: float | None
    """The interval that holds the true ratio with `confidence`."""
    confidence: float
    minimum_detectable_effect: float | None
    """The relative difference that four of five runs like this one would have shown."""
    group: SharedSpread | None = None
    """How far processes of all that took turns with these differ, in logarithms, which makes the
    interval wider where these differ less by chance; None: of two, that is in their own rounds."""


@dataclass(frozen=True, slots=True)
class ParityMark:
    """Whether a subject computed the same as the reference, on the inputs it was timed with."""

    passed: bool
    max_rel: float | None
    note: str = ""
    allowed: str = ""
    """The weaker type of arithmetic by whose tolerance it passed; empty: by the reference's."""

    @property
    def word(self) -> str:
        """Return `same`, `same as f16` or `WRONG`."""
        if not self.passed:
            return "WRONG"
        return f"same as {self.allowed}" if self.allowed else "same"


@dataclass(frozen=True, slots=True)
class BenchReport:
    """A whole benchmark; statistics are functions of its samples."""

    baseline: str
    measurements: tuple[Measurement, ...]
    comparisons: tuple[Comparison, ...]
    machine: MachineState
    seed: int
    inputs_key: str
    """The sha256 of the inputs, which were the same for all subjects."""
    notes: tuple[str, ...] = ()
    rerun: str = ""
    """The command that does it again."""
    parity: Mapping[str, ParityMark] = field(default_factory=dict)
    """By subject; a subject that is not here was not checked."""
    results: tuple[KeptResults, ...] = ()
    """What each group's reference gave, in reports that are kept in files."""

    def measurement(self, subject: str) -> Measurement:
        """Return what was measured of `subject`."""
        return next(one for one in self.measurements if one.subject == subject)

    def comparison(self, subject: str) -> Comparison | None:
        """Return how `subject` compares with the baseline; None for the baseline itself."""
        return next((one for one in self.comparisons if one.candidate == subject), None)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Return the subjects that did not compute the same as the reference."""
        return tuple(name for name, mark in self.parity.items() if not mark.passed)


def _median_of(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
