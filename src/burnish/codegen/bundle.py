"""Candidates for the groups of models, as a folder that travels: built here, timed elsewhere.

Every group is a compiled folder whose plans are its candidates, and beside it lies a file with what
they are fed and what must come of it. Groups of many models lie side by side, equal ones once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from burnish.codegen.backend import Backend, EmittedKernel
from burnish.codegen.place import BuiltPlan, canonical_name, with_places
from burnish.codegen.tune.check import (
    Case,
    ExpectedOutput,
    ExpectedPart,
    case_of,
    group_inputs,
    mostly_numbers,
)
from burnish.codegen.tune.measure import TrialTask
from burnish.codegen.tune.recipe import Recipe, made
from burnish.codegen.tune.trial import Trial
from burnish.codegen.write import write
from burnish.core.array_types import name_of
from burnish.core.arrays import Array
from burnish.core.errors import BurnishError, ModelError
from burnish.core.files import write_bytes
from burnish.core.tensors import FLOATS, TensorSpec
from burnish.process import wire
from burnish.runtime.folder import About
from burnish.runtime.plan import Home, KernelStep, Plan, PlanTensor
from burnish.tile.candidates import Candidate, Space
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileGraph

SUFFIX = ".case"
_STORED_ELEMENTS = 1 << 12
"""Constants with fewer elements are taken as they are: they may be bounds, or near zero."""
_RANGES = ((-1.0, 1.0), (0.5, 2.0))
"""What elements are drawn from; of the second there are roots and logarithms, too."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BundledGroup:
    """What is computed, and every way of doing so that is to be timed."""

    target: str
    requires: tuple[str, ...]
    drawn: Mapping[str, Recipe]
    """Inputs whose elements do not matter, as they lie in memory."""
    stored: Mapping[str, Array]
    """Those whose elements do: small constants, indices."""
    outputs: Mapping[str, ExpectedOutput]
    trials: tuple[Trial, ...]
    """Those without a failure are the plans of the group's folder, in their order."""

    @property
    def inputs(self) -> dict[str, Array]:
        """Return what candidates are fed: the same anywhere."""
        return {**{name: made(each) for name, each in self.drawn.items()}, **self.stored}


def bundle(
    built: Sequence[BuiltPlan], backend: Backend, folder: Path, about: About, *, most: int
) -> int:
    """Add up to `most` candidates of each group to a bundle; return how many groups are new."""
    tasks = {
        task.key: task for task in _tasks(built) if not (folder / f"{task.key}{SUFFIX}").exists()
    }
    space = Space(top=most)
    drafts = {
        key: [
            _drafted(task, candidate, backend)
            for candidate in backend.candidates(task.group, task.graph, space).candidates
        ]
        for key, task in tasks.items()
    }
    plans = [plan for drafted in drafts.values() for _, plan in drafted if plan is not None]
    # all at once: what builds them works on several side by side, and remembers
    unfit = backend.unfit({name: text for plan in plans for name, text in plan.kernels.items()})
    for key, task in tasks.items():
        fits = [_fitting(trial, plan, unfit) for trial, plan in drafts[key]]
        _write(folder / key, task, fits, backend, about)
    return len(tasks)


def read(path: Path) -> BundledGroup:
    """Return a group of a bundle."""
    try:
        return wire.read(BundledGroup, path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise ModelError(
            f"{path}: is no group of a bundle ({error})",
            hint="make it again: burnish compile MODEL --bundle FOLDER",
        ) from error


def _tasks(built: Sequence[BuiltPlan]) -> Iterator[TrialTask]:
    for region in (region for each in built for region in each.regions):
        assert region.simple is not None
        for choice in region.choices:
            if choice.schedule is not None:
                yield TrialTask(choice.group, region.simple, region.layouts)


def _drafted(
    task: TrialTask, candidate: Candidate, backend: Backend
) -> tuple[Trial, BuiltPlan | None]:
    trial = Trial(candidate.schedule, predicted_s=candidate.cost.seconds)
    try:
        kernels = backend.emit(task.group, candidate.schedule, task.graph, layouts=task.layouts)
    except (NoGroupError, BurnishError) as error:
        return replace(trial, failure=f"cannot be generated ({error})"), None
    return trial, _plan(kernels, task, backend)


def _fitting(
    trial: Trial, plan: BuiltPlan | None, unfit: Mapping[str, str]
) -> tuple[Trial, BuiltPlan | None]:
    """Return a candidate without its plan if that cannot be run, or is not worth it."""
    reasons = [unfit[name] for name in (plan.kernels if plan is not None else ()) if name in unfit]
    return (replace(trial, failure=reasons[0]), None) if reasons else (trial, plan)


def _write(
    folder: Path,
    task: TrialTask,
    candidates: Sequence[tuple[Trial, BuiltPlan | None]],
    backend: Backend,
    about: About,
) -> None:
    drawn, stored, case = _case(task)
    plans = [plan for _, plan in candidates if plan is not None]
    if plans:
        specs = {name: _spec(name, task) for name in (*task.group.inputs, *task.group.outputs)}
        own = replace(
            about,
            inputs=tuple(specs[name] for name in task.group.inputs),
            outputs=tuple(specs[name] for name in task.group.outputs),
        )
        write(folder, own, plans, backend)
    outputs = {name: _as_it_lies(each, task, name) for name, each in case.outputs.items()}
    trials = tuple(trial for trial, _ in candidates)
    group = BundledGroup(backend.target, backend.requires, drawn, stored, outputs, trials)
    write_bytes(folder.with_name(folder.name + SUFFIX), wire.written(group))


def _plan(kernels: Sequence[EmittedKernel], task: TrialTask, backend: Backend) -> BuiltPlan:
    """Return kernels as a plan of their own; whatever they read is an input, weights as well."""
    group = task.group
    called = [(canonical_name(each, ()), each) for each in kernels]
    names = dict.fromkeys(name for each in kernels for name in each.arguments)
    scratch = {name: kind for each in kernels for name, kind in each.scratch.items()}
    homes: dict[str, Home] = dict.fromkeys((*group.inputs, *names, *group.outputs), "arena")
    homes |= dict.fromkeys(group.outputs, "output")
    homes |= dict.fromkeys(group.inputs, "input")
    tensors = {}
    for name, home in homes.items():
        kind = scratch.get(name) or task.graph.tensors[name]
        tensors[name] = PlanTensor(kind.dtype, _lying(kind.shape, task.layouts.get(name)), home)
    steps = tuple(
        KernelStep(name, each.arguments, each.outputs, each.launch, (), indices=each.indices)
        for name, each in called
    )
    placed, arena_bytes = with_places(tensors, steps)
    requires = dict.fromkeys(need for each in kernels for need in each.requires)
    plan = Plan(
        target=backend.target,
        requires=(*backend.requires, *requires),
        tensors=placed,
        inputs=group.inputs,
        outputs=group.outputs,
        steps=steps,
        arena_bytes=arena_bytes,
    )
    return BuiltPlan(plan, {name: each.named(name) for name, each in called})


def _case(task: TrialTask) -> tuple[dict[str, Recipe], dict[str, Array], Case]:
    """Return inputs as they lie in memory, and what must come of them."""
    tries = (_fed(task, low, high) for low, high in _RANGES)
    return mostly_numbers(tries, lambda each: each[2])


def _fed(
    task: TrialTask, low: float, high: float
) -> tuple[dict[str, Recipe], dict[str, Array], Case]:
    drawn: dict[str, Recipe] = {}
    stored: dict[str, Array] = {}
    arrays: dict[str, Array] = {}
    for number, (name, array) in enumerate(group_inputs(task.group, task.graph).items(), 1):
        order = task.layouts.get(name) or tuple(range(array.ndim))
        if name_of(array) in FLOATS and not _matters(name, array, task.graph):
            drawn[name] = Recipe(name_of(array), _lying(array.shape, order), number, low, high)
            arrays[name] = made(drawn[name]).transpose(np.argsort(order))
        else:
            stored[name] = np.ascontiguousarray(array.transpose(order))
            arrays[name] = array
    return drawn, stored, case_of(task.group, task.graph, arrays)


def _matters(name: str, array: Array, graph: TileGraph) -> bool:
    return name in graph.constants and array.size < _STORED_ELEMENTS


def _as_it_lies(output: ExpectedOutput, task: TrialTask, name: str) -> ExpectedOutput:
    """Return what an output must hold, its dimensions in the order in which they lie in memory."""
    order = task.layouts.get(name)
    if order is None:
        return output
    parts = tuple(
        ExpectedPart(_lying(part.box, order), part.values.transpose(order)) for part in output.parts
    )
    return replace(output, parts=parts)


def _spec(name: str, task: TrialTask) -> TensorSpec:
    kind = task.graph.tensors[name]
    return TensorSpec(name, kind.dtype, _lying(kind.shape, task.layouts.get(name)))


def _lying(dimensions: tuple[T, ...], order: tuple[int, ...] | None) -> tuple[T, ...]:
    return dimensions if order is None else tuple(dimensions[axis] for axis in order)
