"""Compiled models that nobody asked to keep: made when they are first run, found again later."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.codegen.backend import Backend, open_backend
from burnish.codegen.environment import about, compiler_version, tuning_cache, versions
from burnish.codegen.fitting import kept_unfit
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted, Scheduler
from burnish.codegen.tune.budget import TuningTime
from burnish.codegen.tune.cache import TuningCache
from burnish.codegen.tune.measure import OrtCandidate, TrialTask
from burnish.codegen.tune.measured import Measured, TuneOptions
from burnish.codegen.tune.recalled import Recalled
from burnish.codegen.tune.search import Tuner
from burnish.codegen.tune.trial import Trial
from burnish.codegen.write import write
from burnish.core import settings
from burnish.core.backends import DEFAULT_TARGET
from burnish.core.errors import BurnishError, MissingCapabilityError
from burnish.core.files import Kind
from burnish.core.hashing import value_key
from burnish.core.precisions import MODES
from burnish.runtime.load import LoadedModel, load, open_folder
from burnish.store import onnx_files
from burnish.store.compiled import is_compiled
from burnish.store.stored import StoredModel
from burnish.tile.schedule import Schedule

ENTRY = Kind("an entry of the cache", lambda _folder: None)
"""Whatever lies under a key of ours in the cache is ours, damaged or not."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model that is compiled when its sizes are known."""

    stored: StoredModel
    loaded: ir.Model
    precision: str
    threads: int
    target: str = DEFAULT_TARGET


def compiled_for(source: ModelSource, shapes: Mapping[str, tuple[int, ...]]) -> LoadedModel:
    """Return the model, compiled for inputs of these shapes; nothing is measured for it.

    Schedules are those that `burnish compile` found for equal groups, else predicted. It is kept
    in the user's cache; one that is there but damaged is made again.
    """
    backend = open_backend(source.target, source.threads)
    if source.precision in MODES:
        backend = backend.multiplying(source.precision)
    key = {
        "precision": source.precision,
        "content": onnx_files.content_key(source.stored.onnx),
        "shapes": {name: list(shape) for name, shape in shapes.items()},
        "threads": source.threads,
        "target": backend.target,
        "compiler": [compiler_version(), backend.compiler],
        "versions": versions(),
        "tuned": _stamp(),
    }
    place = settings.read().cache / "compiled" / value_key(key)[:24]
    found = _found(place, source.threads)
    if found is not None:
        return found
    loaded = with_shapes(source.loaded, shapes)
    prepared = prepare(loaded, {}, multiplies_bytes=backend.multiplies_bytes)
    scheduler = _scheduler(backend, prepared.model)
    built = plan(prepared, PlanOptions(backend, scheduler, buildable=True))
    told = dataclasses.replace(
        about(source.stored, source.loaded, source.precision, backend.device, ()),
        notes=kept_unfit(backend, built.kernels),
    )
    with _kept_in(place):
        write(place, told, [built], backend, replaces=ENTRY)
    return open_folder(place, threads=source.threads)


@contextmanager
def _kept_in(place: Path) -> Iterator[None]:
    """Say what to do where the cache, which nobody asked to write, cannot be written."""
    try:
        yield
    except BurnishError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        raise MissingCapabilityError(
            f"the compiled model cannot be kept: {error.problem}",
            hint="make room in the cache, or choose another: BURNISH_CACHE=FOLDER",
        ) from error


def _scheduler(backend: Backend, model: ir.Model) -> Scheduler:
    """Return what chooses by what was measured before, else by what the cost model predicts."""
    cache = TuningCache(tuning_cache())
    if not backend.trials:
        return Recalled(Predicted(backend), cache)
    tuner = Tuner(_Closed(), cache, backend)
    return Measured(tuner, TuneOptions(), TuningTime(0.0), model)


class _Closed:
    """A measurer in which nothing is tried."""

    def try_all(
        self, task: TrialTask, schedules: Sequence[Schedule], ort: OrtCandidate | None = None
    ) -> tuple[Trial, ...]:
        """Raise: the budget is nothing, so nobody asks."""
        raise AssertionError("without a budget nothing is tried")


def _stamp() -> list[str]:
    """Return what changes when something has been tuned."""
    place = f"file:{tuning_cache()}?mode=ro"
    try:
        with closing(sqlite3.connect(place, uri=True, timeout=5)) as connection:
            found = connection.execute("SELECT count(*), max(made_at) FROM results").fetchone()
    except sqlite3.Error:
        # no file, or one that the tuner will set aside: there is nothing to build on
        return []
    return [str(each) for each in found if each]


def with_shapes(model: ir.Model, shapes: Mapping[str, tuple[int, ...]]) -> ir.Model:
    """Return a copy whose inputs have these shapes."""
    copy = model.clone()
    for value in copy.graph.inputs:
        shape = shapes.get(value.name or "")
        if shape is not None:
            value.shape = ir.Shape(shape)
    return copy


def _found(place: Path, threads: int) -> LoadedModel | None:
    if not is_compiled(place):
        return None
    try:
        return load(place, threads=threads)
    except BurnishError:
        return None
