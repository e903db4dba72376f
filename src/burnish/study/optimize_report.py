"""What came of rewriting a model on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burnish.core.errors import CheckFailedError
from burnish.feeds.feed import Feeds
from burnish.parity.report import VerifyReport
from burnish.rewrite.result import RewriteReport
from burnish.study.accuracy import TaskAccuracy
from burnish.study.check import CheckReport
from burnish.study.conversion import ConversionReport
from burnish.study.deviation import DeviationReport
from burnish.study.int8_gain import Int8Gain
from burnish.study.repair import Repair

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """What was done to a model, where the result is, and whether it computes the same."""

    model: str
    source_key: str
    """The sha256 of the original's files."""
    target: Path
    target_key: str | None
    """The sha256 of what was written; None: nothing was."""
    rewrite: RewriteReport
    parity: VerifyReport | None
    """None: it was not asked for."""
    check: CheckReport | None = None
    """How the fusions fared that were tried on their own; None: it was not asked for."""
    conversion: ConversionReport | None = None
    """What else was changed; None: nothing was asked for."""
    deviation: DeviationReport | None = None
    """How far results moved, where that was asked for; then `parity` is of the model before."""
    gain: Int8Gain | None = None
    """What int8 was predicted to give on this machine; None: it was not asked for, or not known."""
    repair: Repair | None = None
    """What had to go back to f32 for results to be the same; None: nothing had to."""
    accuracy: TaskAccuracy | None = None
    """What both score on the user's labels; None: there are none."""
    source_bytes: int = 0
    """What the original takes on disk, weights included."""
    target_bytes: int = 0
    """What was written takes; 0: nothing was."""


class RewriteRejectedError(CheckFailedError):
    """The rewritten model does not compute the same, and was not written."""

    def __init__(
        self,
        problem: str,
        *,
        hint: str,
        report: OptimizeReport,
        fault: str = "",
        telling: Feeds | None = None,
    ) -> None:
        super().__init__(problem, hint=hint)
        self.report = report
        self.telling = telling
        """The inputs on which it was seen; None: none were, or nobody mends what they tell."""
        self.fault = fault
        """How the engine fails with it, where it is not a difference; empty: it is one."""
