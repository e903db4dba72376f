"""What `burnish compile` did: the steps of each plan, Welder's measures, and the proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.parity.report import VerifyReport

SCHEMA = 3


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
class PlanReport:
    """One plan of a compiled model."""

    sizes: Mapping[str, int]
    steps: tuple[StepRow, ...]
    measures: tuple[MeasureRow, ...]
    arena_bytes: int
    constants_bytes: int
    kernel_nodes: int
    ort_nodes: int


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
    unproven: str = ""
    """Why nothing shows that it computes the same: it cannot be run here."""
    notes: tuple[str, ...] = ()


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
