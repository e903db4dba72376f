"""Plan models for devices that need not be here, and count what each plan needs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from burnish.bench.machine import usable_cores
from burnish.codegen.backend import Backend, open_backend
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.place import PreparedModel
from burnish.codegen.schedule import Predicted
from burnish.core.errors import MissingCapabilityError
from burnish.core.hashing import value_key
from burnish.core.progress import SILENT, Progress
from burnish.core.steps import StepLog
from burnish.engines.sizes import fitting
from burnish.report.plans import PlannedRow
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.compiled_steps import LEVELS, planned_measures
from burnish.tile.partition import Fusion
from burnish.version import __version__

CPU = "cpu"
"""The processor that is here; cards are named as in the catalog."""
_GPU = "cuda"
Sizes = Mapping[str, int]


def plans(
    models: Iterable[tuple[StoredModel, Sequence[Sizes]]],
    devices: Sequence[str],
    log: StepLog,
    progress: Progress = SILENT,
) -> tuple[tuple[PlannedRow, ...], dict[str, str]]:
    """Return each model's plans at its sizes, for every device and degree of fusion.

    The second are devices that no plan can be made for here, each with the reason.
    """
    found: list[PlannedRow] = []
    refused: dict[str, str] = {}
    for model, every in models:
        for sizes in every:
            prepared, written = _prepared(model, sizes)
            for device in (one for one in devices if one not in refused):
                progress.step("plan", 0, 0, f"{model.label} {written} on {device}")
                try:
                    found += log.once(
                        f"plan-{model.label.replace('/', '-')}-{written}-{device}",
                        lambda: _for_device(model.label, written, prepared, device),  # noqa: B023
                        key=value_key([onnx_files.content_key(model.onnx), __version__, device]),
                        kind=tuple[PlannedRow, ...],
                    )
                except MissingCapabilityError as error:
                    refused[device] = f"{error.problem} ({error.hint})"
    return tuple(found), refused


def _prepared(model: StoredModel, sizes: Sizes) -> tuple[PreparedModel, str]:
    bound = fitting(model, bindings=sizes)[0].bindings
    written = ",".join(f"{name}={size}" for name, size in bound.items())
    return prepare(onnx_files.read(model.onnx), bound), written


def _for_device(
    label: str, sizes: str, prepared: PreparedModel, device: str
) -> tuple[PlannedRow, ...]:
    backend = open_backend(device if device == CPU else f"{_GPU}: {device}", usable_cores())
    return tuple(_row(label, sizes, device, prepared, backend, fusion) for fusion in LEVELS)


def _row(
    label: str, sizes: str, device: str, prepared: PreparedModel, backend: Backend, fusion: Fusion
) -> PlannedRow:
    start = time.perf_counter()
    built = plan(prepared, PlanOptions(backend, Predicted(backend, fusion), fusion))
    took_s = time.perf_counter() - start
    needs = planned_measures(built, fusion)
    return PlannedRow(
        model=label,
        sizes=sizes,
        device=device,
        fusion=fusion,
        kernels=needs.kernels,
        left_nodes=sum(len(step.nodes) for step in built.plan.ort_steps),
        intermediate_bytes=round(needs.intermediate_bytes),
        traffic_bytes=needs.traffic_bytes,
        predicted_s=needs.predicted_s,
        planning_s=took_s,
    )
