"""The steps of a plan as rows, with the time that each takes here."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence

from burnish.codegen.backend import Backend
from burnish.codegen.place import BuiltPlan
from burnish.codegen.schedule import Predicted
from burnish.feeds.feed import Feeds
from burnish.parity.subject import JudgedSubject
from burnish.runtime.plan import KernelStep, Plan, Step
from burnish.runtime.tracing import label
from burnish.study.compile_report import MeasureRow, PlanReport, StepRow
from burnish.tile.candidates import Space
from burnish.tile.footprint import element_bytes
from burnish.tile.partition import Fusion
from burnish.tile.simplify import simplify

WARMUP, RUNS = 2, 7
"""Runs that are dropped, and runs whose median counts."""


_QUICK = Space(top=1, visits=24)
"""How far to look for the tiles of plans that are only compared with."""
LEVELS: tuple[Fusion, ...] = ("none", "element-wise", "full")


def step_seconds(plan: Plan, compiled: JudgedSubject, feeds: Feeds) -> list[float]:
    """Return how long each step of a plan takes, in a process of its own: a kernel may crash."""
    with compiled.open() as session:
        timeline = session.trace(feeds.arrays, warmup=WARMUP, runs=RUNS)
    taken: dict[str, list[float]] = defaultdict(list)
    for span in timeline.spans if timeline else ():
        taken[span.name].append(span.duration_s)
    return [statistics.median(taken[label(number, step)]) for number, step in enumerate(plan.steps)]


def plan_report(
    built: BuiltPlan, measured_s: Sequence[float] | None, backend: Backend, fusion: Fusion
) -> PlanReport:
    """Return a plan, with the seconds of its steps if they were timed."""
    plan = built.plan
    measured: Sequence[float | None] = measured_s or [None] * len(plan.steps)
    return PlanReport(
        sizes=plan.sizes,
        steps=step_rows(plan, measured),
        measures=measure_rows(built, backend, fusion),
        arena_bytes=plan.arena_bytes,
        constants_bytes=sum(array.nbytes for array in built.constants.values()),
        kernel_nodes=len({node for step in plan.kernel_steps for node in step.nodes}),
        ort_nodes=sum(len(step.nodes) for step in plan.ort_steps),
    )


def measure_rows(built: BuiltPlan, backend: Backend, fusion: Fusion) -> tuple[MeasureRow, ...]:
    """Return what fusing gives: each lesser degree as predicted, and the plan as it is."""
    if not built.graphs:
        return ()
    lesser = LEVELS[: LEVELS.index(fusion)]
    return (*(_predicted(built, backend, each) for each in lesser), planned_measures(built, fusion))


def _predicted(built: BuiltPlan, backend: Backend, fusion: Fusion) -> MeasureRow:
    """Return what another degree of fusion would give, at the prices that the plan has."""
    scheduler = Predicted(backend, fusion, _QUICK)
    graphs = [
        simplify(graph, fusion="none" if fusion == "none" else "element-wise")
        for graph in built.graphs
    ]
    found = [scheduler.schedule(scheduler.partition(graph), graph) for graph in graphs]
    choices = [
        (choice, times) for each, times in zip(found, built.times, strict=True) for choice in each
    ]
    written = {
        name: graph.tensors[name]
        for graph, each in zip(graphs, found, strict=True)
        for choice in each
        for name in choice.group.outputs
    }
    return MeasureRow(
        fusion=fusion,
        kernels=len(choices),
        intermediate_bytes=sum(element_bytes(t.dtype, t.size) for t in written.values()),
        traffic_bytes=sum(times * (choice.predicted_bytes or 0.0) for choice, times in choices),
        predicted_s=sum(times * (choice.predicted_s or 0.0) for choice, times in choices),
    )


def planned_measures(built: BuiltPlan, fusion: Fusion) -> MeasureRow:
    """Return what a plan needs, as it is."""
    steps = built.plan.kernel_steps
    written = {name for step in steps for name in step.outputs}
    return MeasureRow(
        fusion=fusion,
        kernels=len(steps),
        intermediate_bytes=sum(built.plan.tensors[name].bytes or 0 for name in written),
        traffic_bytes=sum(step.predicted_bytes or 0.0 for step in steps),
        predicted_s=sum(step.predicted_s or 0.0 for step in steps),
    )


def step_rows(plan: Plan, measured_s: Sequence[float | None]) -> tuple[StepRow, ...]:
    """Return the steps of a plan as rows."""
    pairs = zip(plan.steps, measured_s, strict=True)
    return tuple(_row(plan, number, step, s) for number, (step, s) in enumerate(pairs))


def _row(plan: Plan, number: int, step: Step, measured_s: float | None) -> StepRow:
    kernel = step if isinstance(step, KernelStep) else None
    return StepRow(
        number=number,
        kind="kernel" if kernel else "onnxruntime",
        name=step.kernel if isinstance(step, KernelStep) else step.file,
        nodes=step.nodes,
        operators=tuple(dict.fromkeys(plan.operators.get(node, node) for node in step.nodes)),
        tile=kernel.tile if kernel else (),
        run=kernel.run if kernel else 1,
        launch=kernel.launch if kernel else {},
        predicted_s=kernel.predicted_s if kernel else None,
        predicted_bytes=kernel.predicted_bytes if kernel else None,
        measured_s=measured_s,
        reasons={} if isinstance(step, KernelStep) else step.reasons,
    )
