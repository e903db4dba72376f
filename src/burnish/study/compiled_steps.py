"""The steps of a plan as rows, with the time that each takes here."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from burnish.codegen.built import Built
from burnish.codegen.load import open_folder
from burnish.codegen.plan import KernelStep, Plan, Step
from burnish.feeds.feed import Feeds
from burnish.study.compile_report import PlanReport, StepRow

WARMUP, RUNS = 2, 7
"""Runs that are dropped, and runs whose median counts."""


def plan_report(built: Built, folder: Path, number: int, feeds: Feeds, threads: int) -> PlanReport:
    """Return the steps of a plan that is written in a folder, timed one by one."""
    with open_folder(folder, threads=threads) as loaded:
        executable = loaded.executable(feeds.arrays)
        times = executable.step_times(feeds.arrays, warmup=WARMUP, runs=RUNS)
    measured = [
        statistics.median(run[step].duration_s for run in times)
        for step in range(len(built.plan.steps))
    ]
    plan = loaded.compiled.plans[number]
    return PlanReport(
        sizes=plan.sizes,
        steps=step_rows(plan, measured),
        measures=(),
        arena_bytes=plan.arena_bytes,
        constants_bytes=sum(array.nbytes for array in built.constants.values()),
        kernel_nodes=len({node for step in plan.kernel_steps for node in step.nodes}),
        library_nodes=sum(len(step.nodes) for step in plan.library_steps),
    )


def step_rows(plan: Plan, measured_s: Sequence[float]) -> tuple[StepRow, ...]:
    """Return the steps of a plan as rows."""
    pairs = zip(plan.steps, measured_s, strict=True)
    return tuple(_row(plan, number, step, s) for number, (step, s) in enumerate(pairs))


def _row(plan: Plan, number: int, step: Step, measured_s: float) -> StepRow:
    kernel = step if isinstance(step, KernelStep) else None
    return StepRow(
        number=number,
        kind="kernel" if kernel else "library",
        name=step.kernel if isinstance(step, KernelStep) else step.file,
        nodes=step.nodes,
        operators=tuple(dict.fromkeys(plan.operators.get(node, node) for node in step.nodes)),
        tile=kernel.tile if kernel else (),
        tiles=kernel.tiles if kernel else 0,
        scratch_bytes=kernel.scratch_bytes if kernel else 0,
        predicted_s=kernel.predicted_s if kernel else None,
        predicted_bytes=kernel.predicted_bytes if kernel else None,
        measured_s=measured_s,
        reasons={} if isinstance(step, KernelStep) else step.reasons,
    )
