"""What `burnish compile` did: the steps of each plan, Welder's measures, and the proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.parity.report import VerifyReport
from burnish.study.optimize_report import OptimizeReport

SCHEMA = 4


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a plan."""

    number: int
    kind: Literal["kernel", "onnxruntime"]
    name: str
    """The kernel, or the file of the ONNX Runtime part."""
    nodes: tuple[str, ...]
    operators: tuple[str, ...]
    """Of the nodes, each once."""
    tile: tuple[int, ...]
    run: int
    launch: Mapping[str, int]
    """How its back end starts it."""
    predicted_s: float | None
    predicted_bytes: float | None
    measured_s: float | None
    """Of this step by itself, in the finished plan."""
    reasons: Mapping[str, str]
    """Why nodes are with ONNX Runtime, by node."""


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """What Welder measures of a plan, for one way to fuse."""

    fusion: str
    kernels: int
    intermediate_bytes: float
    """Of all tensors that kernels write, outputs included; weights and inputs excluded."""
    traffic_bytes: float
    """Predicted between memory and caches."""
    predicted_s: float


@dataclass(frozen=True, slots=True)
class TransferRow:
    """What goes over the link to the host in one run, inside of a limit of a card's memory."""

    limit_bytes: int
    needed_bytes: int
    """Where nothing would be moved but inputs and outputs."""
    fetched_bytes: int
    """To the card; inputs are part of it, and constants where they cannot stay there."""
    stored_bytes: int
    """From the card; outputs are part of it."""
    aside_bytes: int
    """Of both: what kernels read and write where it lies, in the host's memory, if only once."""
    operators_bytes: int
    """What running operator by operator would move both ways, by the same rules."""

    @property
    def moved_bytes(self) -> int:
        """Return what is moved both ways."""
        return self.fetched_bytes + self.stored_bytes


@dataclass(frozen=True, slots=True)
class PlanReport:
    """One plan of a compiled model."""

    sizes: Mapping[str, int]
    steps: tuple[StepRow, ...]
    measures: tuple[MeasureRow, ...]
    arena_bytes: int
    constants_bytes: int
    kernel_nodes: int
    ort_nodes: int
    transfers: TransferRow | None = None
    """None: it may take as much of a card's memory as it needs."""


@dataclass(frozen=True, slots=True)
class RaceRow:
    """A plan against an engine with the whole model, in fresh processes that took turns."""

    sizes: Mapping[str, int]
    engine: str
    verdict: str
    """Of the plan: faster, slower, no difference shown, not enough data."""
    ratio: float | None
    """The engine's time over the plan's: above 1, the plan is faster."""
    low: float | None
    high: float | None
    """The interval that holds the true ratio with `confidence`."""
    confidence: float
    reason: str = ""
    """Why there is not enough data; empty otherwise."""

    def __str__(self) -> str:
        if self.ratio is None:
            return f"not compared with {self.engine}: {self.reason or self.verdict}"
        about = f"{self.ratio:.2f} times as fast as {self.engine}"
        if self.low is not None and self.high is not None:
            about += f" ({self.low:.2f} to {self.high:.2f})"
        return about if self.verdict == "faster" else f"{about}, {self.verdict}"


@dataclass(frozen=True, slots=True)
class CompiledKernelTime:
    """What a kernel was predicted to take, and what it took in the finished plan."""

    name: str
    predicted_s: float | None
    measured_s: float | None


@dataclass(frozen=True, slots=True)
class CompileReport:
    """What was compiled, for what, and how near it is to the model it was made from."""

    model: str
    source_key: str
    folder: Path
    target: str
    """The back end and the device of its kernels: `cpu: avx512`, `cuda: sm_90`."""
    device: str
    threads: int
    fusion: str
    plans: tuple[PlanReport, ...]
    parity: VerifyReport | None
    """None: it was not run."""
    seconds: float
    """What compiling took."""
    race: tuple[RaceRow, ...] = ()
    """Each plan against each engine that is installed; empty: nothing was timed."""
    unproven: str = ""
    """Why nothing shows that it computes the same: it cannot be run here."""
    notes: tuple[str, ...] = ()
    rewritten: OptimizeReport | None = None
    """How the model's numbers were changed before it was compiled; None: they were not."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What stands in a compiled folder's proof.json."""

    model: str
    source_key: str
    date: str
    device: str
    seed: int
    versions: Mapping[str, str]
    parity: VerifyReport
    race: tuple[RaceRow, ...] = ()
    """Each plan against each engine that was installed; empty: nothing was timed."""
    warnings: tuple[str, ...] = ()
    """Why to doubt the times of the race."""
    kernels: tuple[CompiledKernelTime, ...] = ()
