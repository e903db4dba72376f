"""What the steps of a plan touch, and what single operators would, as a small memory sees it."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.core.placing import aligned
from burnish.core.residency import SteppedWork, Touched
from burnish.runtime.plan import Plan, Step


def work_of(plan: Plan) -> SteppedWork:
    """Return what each step of a plan touches; all of it must have a fixed size."""
    return _work(plan, [Touched(step.inputs, step.outputs) for step in plan.steps])


def operators_of(plan: Plan) -> SteppedWork:
    """Return what each operator touches; `plan` was made without fusion.

    An operator may be several kernels there, and what passes between them counts as nothing, as if
    somebody had written one kernel by hand. What only looks at a tensor in another shape is no
    operator: kernels have its arithmetic in their indices.
    """
    runs: list[list[Step]] = []
    for step in plan.steps:
        if runs and set(runs[-1][-1].nodes) & set(step.nodes):
            runs[-1].append(step)
        else:
            runs.append([step])
    return _work(plan, [_together(plan, runs, number) for number in range(len(runs))])


def _together(plan: Plan, runs: Sequence[Sequence[Step]], number: int) -> Touched:
    """Return several steps as one: what only they touch is nobody's."""
    written = dict.fromkeys(name for step in runs[number] for name in step.outputs)
    read = dict.fromkeys(name for step in runs[number] for name in step.inputs)
    later = {name for run in runs[number + 1 :] for step in run for name in step.inputs}
    return Touched(
        tuple(name for name in read if name not in written),
        tuple(name for name in written if name in later or name in plan.outputs),
    )


def _work(plan: Plan, steps: Sequence[Touched]) -> SteppedWork:
    names = dict.fromkeys(name for step in steps for name in step.names)
    homes = {name: plan.tensors[name].home for name in names}
    constants = frozenset(name for name in names if homes[name] == "constant")
    return SteppedWork(
        steps=tuple(steps),
        sizes={name: aligned(plan.tensors[name].bytes or 0) for name in names},
        given=constants | {name for name in names if homes[name] == "input"},
        wanted=frozenset(name for name in names if homes[name] == "output"),
        fixed=constants,
        lasting=constants,
    )
