"""What an export did and how it was checked: records only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burnish.parity.report import VerifyReport
from burnish.rewrite.result import RewriteReport
from burnish.zoo.exporting.stages import StageTime, Workaround

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Check:
    """A comparison with what PyTorch computed, after one of the steps."""

    after: str
    """`export`, `optimize` or `int8`."""
    parity: VerifyReport


@dataclass(frozen=True, slots=True)
class GenerationCheck:
    """The tokens that PyTorch and the exported model write after the same prompt."""

    expected: tuple[int, ...]
    written: tuple[int, ...]
    agreeing: int
    """How many tokens the model also chooses when it is made to follow PyTorch's."""
    max_abs: float
    """The largest difference between logits then."""
    deviation: float
    """The standard deviation of PyTorch's logits: what `max_abs` is to be compared with."""
    largest_regret: float
    """How much less PyTorch thinks of the worst choice than of its own."""

    @property
    def identical(self) -> bool:
        """Return whether both wrote the same."""
        return self.expected == self.written


@dataclass(frozen=True, slots=True)
class ExportReport:
    """A model that was exported, checked, and put into a store."""

    model: str
    onnx: Path
    exporter: str
    opset: int
    precision: str
    dynamic_axes: tuple[str, ...]
    stages: tuple[StageTime, ...]
    workarounds: tuple[Workaround, ...]
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
    generation: GenerationCheck | None
    """None: not a decoder with past, or not asked for."""
    rewrite: RewriteReport | None
    """None: optimising was not asked for."""
