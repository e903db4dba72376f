"""What each part of a model is worth: the error without it, against what it would save."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from burnish.study.prune_report import Calibration

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Trade:
    """One thing that could be taken away."""

    what: Literal["whole", "axis", "block"]
    """All axes together, one of them cut to half, or a residual branch left out."""
    name: str
    detail: str
    saved: float
    """The share of the operations that it should save."""
    error: float
    """Of the worst output, relative to its norm: measured, with what is left fitted."""
    on_front: bool
    """Whether nothing else saves as much with a smaller error."""


@dataclass(frozen=True, slots=True)
class SensitivityReport:
    """What could be taken away from a model, and what each would cost."""

    model: str
    trades: tuple[Trade, ...]
    calibration: Calibration
    chart: Path | None
    notes: tuple[str, ...] = ()
