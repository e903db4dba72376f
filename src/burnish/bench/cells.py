"""Records of the matrix: what one cell is asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.bench.measure import MachineState, Measurement, ParityMark, Setting, Status
from burnish.core import records
from burnish.core.hashing import value_key

METHOD = 4
"""How cells are measured and judged; a change that makes old rows incomparable adds 1."""


@dataclass(frozen=True, slots=True)
class CellTask:
    """Everything that one cell's figures depend on; equal tasks have equal keys."""

    model_key: str
    """The sha256 of the files of the model that the user named."""
    precision: str
    """What was asked for: `f32`, `f16`, `i8` …; empty: the model as it is."""
    engine: str
    """As it is written: `onnxruntime-cpu`, `torch-compile:max-autotune`."""
    options: Mapping[str, Setting]
    bindings: Mapping[str, int]
    inputs_key: str
    verified: bool
    """Whether what was computed was compared with the reference."""
    rounds: int
    blocks: int
    machine: str
    """The fingerprint of the hardware."""
    environment: str
    """The key of the versions and variables that change speed."""
    method: int = METHOD
    copy: int = 0
    """Which of several equal cells of one session: a model against itself is two cells."""

    @property
    def key(self) -> str:
        """Return the task's address: the sha256 of all of the above."""
        return value_key(records.encode(self))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a row shows; made from the samples when they were taken. None: not known."""

    samples: int = 0
    processes: int = 0
    items_per_call: int = 1
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    """The interval of the median, with 95 % confidence."""
    p90_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None
    """Percentiles; None where there are too few samples to state them."""
    items_per_s: float | None = None
    """Throughput of one caller that waits for each answer."""
    load_s: float | None = None
    """Importing the engine's library and building or opening the model, in a fresh process."""
    first_call_s: float | None = None
    peak_memory_bytes: int | None = None
    """The most resident memory of any of the processes."""
    model_bytes: int | None = None
    """The size of the model's files on disk."""
    card_s: float | None = None
    """A run between events on the card's own clock."""
    card_memory_bytes: int | None = None
    """The most memory on the card of any of the processes."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished cell with all its samples: what is appended to a ledger."""

    task: CellTask
    session: str
    """Cells of one session took turns with each other, round by round; others did not."""
    measured_at: str
    """ISO 8601, UTC."""
    status: Status
    reason: str
    """Why there are no figures, or why they are wrong; empty: all is well."""
    model: str
    """How people call it: `bert/dynamo`, or a file's stem."""
    figures: Figures
    measurement: Measurement
    machine: MachineState
    parity: ParityMark | None = None
    """None: it was not checked."""
    baseline: bool = False
    """Whether the others of the session are compared with it."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A finished cell as a ledger lists it: without samples, which are asked for by its id."""

    id: int
    task: str
    session: str
    measured_at: str
    status: Status
    reason: str
    model: str
    model_key: str
    engine: str
    precision: str
    threads: int | None
    bindings: Mapping[str, int]
    machine: str
    environment: str
    baseline: bool
    figures: Figures
    parity: ParityMark | None = None
    notes: tuple[str, ...] = field(default=())
