"""What the process that exports does when asked.

Builds the module, runs it, exports it, and writes the model with what PyTorch computed. Anything
may go wrong here, up to the death of the process: each stage is told before it begins.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.core import records
from burnish.core.errors import BurnishError
from burnish.core.hashing import value_key
from burnish.store import datasets, layout, onnx_files
from burnish.store.datasets import DataSet
from burnish.store.history import History, HistoryStep
from burnish.zoo.entry import BuiltModel, Tensors
from burnish.zoo.exporting import attempts, past
from burnish.zoo.exporting.functions import kept_as_functions
from burnish.zoo.exporting.last_lines import first_cause, raised_at
from burnish.zoo.exporting.name import writer_of
from burnish.zoo.exporting.past import Generation
from burnish.zoo.exporting.recording import judging
from burnish.zoo.exporting.request import ExportRequest
from burnish.zoo.exporting.sources import build
from burnish.zoo.exporting.stages import ExportOutcome, Failure, StageLog


@dataclass(frozen=True, slots=True)
class Order:
    """What to export, and where to."""

    request: ExportRequest
    target: Path


@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """What came of it: a model and, of a decoder, what PyTorch writes; or why there is none."""

    outcome: ExportOutcome | None = None
    generation: Generation | None = None
    failure: Failure | None = None


def export(order: Order) -> ExportAnswer:
    """Export into a file and beside it."""
    log = StageLog()
    warnings.simplefilter("ignore")  # both exporters warn about their own insides
    logging.disable(logging.WARNING)
    try:
        return _export(order.request, order.target, log)
    except BurnishError as error:
        kind = type(error).__name__
        return ExportAnswer(failure=Failure(log.current, error.problem, error.hint, kind))
    except Exception as error:
        lines = (*first_cause(error), raised_at(error))
        return ExportAnswer(failure=Failure(log.current, "", lines=lines))


def _export(request: ExportRequest, target: Path, log: StageLog) -> ExportAnswer:
    with log.stage("build"):
        built = build(request)
    with log.stage("run"):
        data = judging(built.model, _inputs(built.model, request))
        generation = past.generate(built.model) if request.options.past else None
    with log.stage("export"):
        success = attempts.export(request, built, data)
    with log.stage("write"):
        model = success.exported.model
        lost = kept_as_functions(model) if request.functions else ()
        onnx_files.write(model, target, history=_history(request))
        _write_data(target, data)
        layout.write_source(target, success.built.torch)
    axes = built.model.dynamic_axes.values()
    outcome = ExportOutcome(
        exporter=writer_of(request),
        opset=model.opset_imports[""],
        dynamic_axes=tuple(dict.fromkeys(symbol for named in axes for symbol in named.values())),
        workarounds=success.workarounds,
        notes=(*built.notes, *success.exported.notes, *lost),
        stages=log.times,
    )
    return ExportAnswer(outcome, generation)


def _inputs(built: BuiltModel, request: ExportRequest) -> list[Tensors]:
    """Return all inputs to record: of two shapes if sizes are dynamic, of more with a past."""
    if not built.dynamic_axes:
        return [built.inputs]
    further = past.further_inputs(built, request.options) if request.options.past else ()
    return [built.inputs, built.second_inputs, *further]


def _write_data(target: Path, data: Sequence[DataSet]) -> None:
    interface = onnx_files.interface(onnx_files.read(target))
    for number, one in enumerate(data):
        datasets.write(target.parent / f"test_data_set_{number}", one, interface)


def _history(request: ExportRequest) -> History:
    """Return how the model came to be; there is no file before it, so the request is its key."""
    import torch

    detail = f"{request.exporter} of torch {torch.__version__}, opset {request.chosen_opset}"
    return History(value_key(records.encode(request)), (HistoryStep("export", detail),))
