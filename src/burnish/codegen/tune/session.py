"""Tuning as the compiler uses it: one measuring process, one cache and one budget for a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import onnx_ir as ir

from burnish.codegen.cpu.target import Target
from burnish.codegen.tune.budget import Budget
from burnish.codegen.tune.cache import TuningCache, default_path
from burnish.codegen.tune.key import conditions
from burnish.codegen.tune.measure import Bench, Terms
from burnish.codegen.tune.measured import Measured, TuneOptions
from burnish.codegen.tune.search import Tuner
from burnish.core.progress import SILENT, Progress
from burnish.hw.detect import cpu
from burnish.tile.machine import Machine


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """What is tuned for, and how far."""

    target: Target
    machine: Machine
    threads: int
    options: TuneOptions = field(default_factory=TuneOptions)
    budget_s: float | None = None
    """Seconds that measuring may take in all; None: as long as it takes."""
    cache: Path | None = None
    """The folder for results that can be made again; None: nothing is kept."""


class TuningSession:
    """Chooses by measuring; to be closed, as it keeps a process."""

    def __init__(self, request: TuneRequest, *, progress: Progress = SILENT) -> None:
        self._request = request
        self._progress = progress
        self._bench = Bench(Terms(request.target, request.threads))
        path = default_path(request.cache) if request.cache is not None else None
        self._cache = TuningCache(path)
        self._budget = Budget(request.budget_s)
        self._tuner = Tuner(
            self._bench,
            self._cache,
            conditions(cpu(), request.target, request.threads),
            request.machine,
            request.options.top,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the user should know of the cache."""
        return tuple(self._cache.notes)

    def chooser(self, model: ir.Model) -> Measured:
        """Return what chooses for the graphs of a static model; the library competes with it."""
        return Measured(
            self._tuner, self._request.options, self._budget, model, progress=self._progress
        )

    def close(self) -> None:
        """End the measuring process."""
        self._bench.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
