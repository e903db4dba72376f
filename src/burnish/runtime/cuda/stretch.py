"""Kernels of a plan that run one after the other, as a card runs them: with a border of tensors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from burnish.core.existing import Wanted
from burnish.core.tensors import BITS
from burnish.cuda.kernel import CubinKernel
from burnish.cuda.memory import aligned
from burnish.cuda.plan import Buffer, Copy, CubinStep, DevicePlan
from burnish.runtime.cuda.launch import launch_of
from burnish.runtime.plan import KernelStep, Plan, told_looks


def stretch(plan: Plan, first: int, count: int, kernels: Mapping[str, CubinKernel]) -> DevicePlan:
    """Return `count` steps of a plan from `first` on, all of which are kernels.

    What comes from elsewhere is an input, and what is needed elsewhere an output.
    """
    steps = [step for step in plan.steps[first : first + count] if isinstance(step, KernelStep)]
    assert len(steps) == count
    around = (*plan.steps[:first], *plan.steps[first + count :])
    outside = {name for step in around for name in step.inputs}
    draft = _Draft(plan, kernels, steps, outside | set(plan.outputs))
    return draft.plan(whole=not around)


@dataclass(slots=True)
class _Draft:
    """A stretch in the making."""

    source: Plan
    kernels: Mapping[str, CubinKernel]
    steps: list[KernelStep]
    wanted: Collection[str]
    """What somebody outside reads."""
    buffers: dict[str, Buffer] = field(default_factory=dict)
    end: int = 0
    """Where the memory ends that steps share: behind tensors, the scratch memory of any step."""

    def plan(self, *, whole: bool) -> DevicePlan:
        written = dict.fromkeys(name for step in self.steps for name in step.outputs)
        read = dict.fromkeys(name for step in self.steps for name in step.inputs)
        inputs = self.source.inputs if whole else tuple(self._taken(read, written))
        results = self.source.outputs if whole else tuple(n for n in written if n in self.wanted)
        told = told_looks(self.steps)
        for name in (*inputs, *read, *written, *results):
            self._add(name, inputs, (*results, *told))
        shared = aligned(self.source.arena_bytes)
        self.end = shared
        steps = tuple(self._step(step, shared) for step in self.steps)
        copies = tuple(self._copy(name) for name in results if name not in written)
        given = {copy.source: copy.target for copy in copies}
        return DevicePlan(
            buffers=self.buffers,
            inputs=inputs,
            outputs=tuple(given.get(name, name) for name in results),
            steps=(*steps, *copies),
            arena_bytes=self.end,
            sizes=self.source.sizes,
            results=results,
            spans={
                name: Wanted(
                    look.name, look.kind, look.size, is_computed=True, forward=look.forward
                )
                for name, look in told.items()
            },
        )

    def _taken(self, read: Collection[str], written: Collection[str]) -> list[str]:
        homes = {name: self.source.tensors[name].home for name in read}
        return [name for name in read if name not in written and homes[name] != "constant"]

    def _add(self, name: str, inputs: Collection[str], results: Collection[str]) -> None:
        tensor = self.source.tensors[name]
        if name in inputs:
            self.buffers[name] = Buffer(tensor.dtype, tensor.shape or (), "input")
        elif tensor.home == "constant":
            self.buffers[name] = Buffer(tensor.dtype, tensor.shape or (), "constant", tensor.offset)
        elif name in results:
            self.buffers[name] = Buffer(tensor.dtype, tensor.shape or (), "output")
        else:
            self.buffers[name] = Buffer(tensor.dtype, tensor.shape or (), "arena", tensor.offset)

    def _step(self, step: KernelStep, shared: int) -> CubinStep:
        launch = launch_of(step)
        types = self.kernels[step.kernel].pointers[len(step.arguments) :]
        scratch, begin = [], shared
        for number, (dtype, size) in enumerate(zip(types, launch.scratch_bytes, strict=True)):
            name = f"scratch {number} of {step.outputs[0]}"
            self.buffers[name] = Buffer(dtype, (-(-8 * size // BITS[dtype]),), "arena", begin)
            scratch.append(name)
            begin += aligned(size)
        self.end = max(self.end, begin)
        pointers = (*step.arguments, *scratch)
        return CubinStep(
            kernel=step.kernel,
            arguments=pointers,
            outputs=(*step.outputs, *scratch),
            grid=launch.grid,
            zeroed=tuple(pointers[place] for place in sorted(launch.zeroed)),
            nodes=step.nodes,
        )

    def _copy(self, name: str) -> Copy:
        """Return how an input or a constant is given out."""
        tensor = self.source.tensors[name]
        target = f"{name} given out"
        self.buffers[target] = Buffer(tensor.dtype, tensor.shape or (), "output")
        return Copy(name, target)
