"""What was cut out of a model, what that saves, and how far its results have moved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burnish.parity.report import VerifyReport
from burnish.study.accuracy import TaskAccuracy

SCHEMA = 1
SYNTHETIC = "synthetic: accuracy not proven"


@dataclass(frozen=True, slots=True)
class CutAxis:
    """One set of weight axes that were cut together."""

    name: str
    """Of the product that sums it away."""
    kind: str
    before: int
    after: int
    error: float
    """Of what the products that read it give, relative to its norm, on the calibration inputs."""
    error_unfitted: float
    """The same without fitting what is left."""


@dataclass(frozen=True, slots=True)
class OutputError:
    """How far one output is from the original's."""

    name: str
    relative: float
    """The norm of the difference over the norm of what it was."""
    max_abs: float
    cosine: float
    top1_agreement: float | None
    """The share of rows whose largest element is the same one; None: not a tensor of scores."""
    relative_unfitted: float | None = None
    """The relative error of the same model with what is left not fitted; None: not measured."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """On which inputs it was decided what matters, and on which the error was measured."""

    samples: int
    judged: int
    source: str
    """Where the inputs came from; made ones prove no accuracy."""
    held_out: bool
    """Whether the error was measured on inputs that nothing was fitted to."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a model is made of."""

    flops: float | None
    parameters: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class MeasuredLatency:
    """Seconds of an inference, the two taking turns."""

    before_s: float
    after_s: float
    ratio: float
    """How many times as fast: the median over runs side by side."""
    predicted: float
    """What the table of latencies promised."""


@dataclass(frozen=True, slots=True)
class PruneReport:
    """A smaller model, and what it cost."""

    model: str
    source_key: str
    target: Path
    target_key: str
    method: str
    before: Size
    after: Size
    cut: tuple[CutAxis, ...]
    errors: tuple[OutputError, ...]
    calibration: Calibration
    parity: VerifyReport | None
    """Of the smaller model with its twin, which has zeros in place of what was cut."""
    latency: MeasuredLatency | None = None
    accuracy: TaskAccuracy | None = None
    """What both score on the user's labels; None: there are none."""
    notes: tuple[str, ...] = ()
