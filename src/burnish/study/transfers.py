"""What a plan moves over the link to the host, inside of a limit of a card's memory."""

from __future__ import annotations

import dataclasses

from burnish.codegen.backend import Backend
from burnish.codegen.pipeline import PlanOptions, plan
from burnish.codegen.place import BuiltPlan
from burnish.codegen.schedule import Predicted
from burnish.core.errors import MissingCapabilityError
from burnish.core.residency import Residency, SteppedWork, TooSmallError, residency
from burnish.core.units import size as size_text
from burnish.runtime.plan import Plan
from burnish.runtime.transfers import operators_of, work_of
from burnish.study.compile_report import TransferRow


def within(built: BuiltPlan, limit_bytes: int | None) -> BuiltPlan:
    """Return a plan that keeps to a limit of a card's memory; raise where it cannot."""
    if limit_bytes is None:
        return built
    if built.plan.kernels and not built.plan.ort_steps:
        _kept_to(built.plan, limit_bytes)
    limited = dataclasses.replace(built.plan, device_memory_bytes=limit_bytes)
    return dataclasses.replace(built, plan=limited)


def transfers(built: BuiltPlan, backend: Backend) -> TransferRow | None:
    """Return what one run of a plan moves, beside what its operators would one by one.

    None: it has no limit, or parts that ONNX Runtime runs on the host.
    """
    limit = built.plan.device_memory_bytes
    if limit is None or built.plan.ort_steps or not built.plan.kernels or built.prepared is None:
        return None
    work = work_of(built.plan)
    found = _kept_to(built.plan, limit)
    whole = residency(work, sum(work.sizes.values()))
    apart = plan(built.prepared, PlanOptions(backend, Predicted(backend, "none"), "none"))
    return TransferRow(
        limit_bytes=limit,
        needed_bytes=whole.bytes + work.bytes_of(tuple(whole.kept)),
        fetched_bytes=found.fetched_bytes,
        stored_bytes=found.stored_bytes,
        aside_bytes=sum(work.bytes_of(tuple(names)) for names in found.aside.values()),
        operators_bytes=_least_moved(operators_of(apart.plan), limit),
    )


def _kept_to(one: Plan, limit_bytes: int) -> Residency:
    try:
        return residency(work_of(one), limit_bytes)
    except TooSmallError as error:
        step = one.kernel_steps[error.step]
        raise MissingCapabilityError(
            f"--device-memory {size_text(limit_bytes)} is too little: the constants of one kernel"
            f" ({', '.join(step.nodes[:3])}) are {size_text(error.needed_bytes)}",
            hint=f"allow at least --device-memory {error.needed_bytes}",
        ) from error


def _least_moved(work: SteppedWork, limit_bytes: int) -> int:
    """Return what is moved in a limit, or in as much as the largest constants need."""
    try:
        return residency(work, limit_bytes).moved_bytes
    except TooSmallError as error:
        return _least_moved(work, error.needed_bytes)
