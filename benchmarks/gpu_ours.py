"""The launches of a plan over CUDA tensors: run, captured and timed by themselves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_plan import Others, emitted, names_of
from gpu_timing import captured, timed

Tensor = Plan = Kernel = Any
"""Of torch, and of what is imported only when it is needed."""
TIMES = 10
"""Launches of one kernel in a graph that times it."""


class Ours:
    """The launches of a plan over CUDA tensors."""

    def __init__(
        self, plan: Plan, inputs: dict[str, Tensor], folder: Path, compiled: dict[str, Any]
    ) -> None:
        from burnish.codegen.gpu.running import allocated

        self._folder, self._compiled = folder, compiled
        self._behind_library = False
        self.steps = [[self._fitted(launch) for launch in each] for each in plan.launches]
        self.tensors = allocated(plan, "cuda")
        for name, tensor in inputs.items():
            if name in self.tensors:
                self.tensors[name] = tensor.contiguous()
        self.outputs = plan.graph.outputs
        self._computed = {op.output for op in plan.graph.ops} & set(self.tensors)

    def _fitted(self, launch: Kernel) -> Kernel:
        stages = self._compiled.get(launch.name, {}).get("stages", launch.stages)
        return dataclasses.replace(launch, stages=stages)

    def _start(self, launches: Sequence[Any]) -> None:
        from burnish.codegen.gpu.running import by_library, start

        for launch in launches:
            # as the runtime does it: nothing starts early behind what a library does
            start(launch, self.tensors, self._folder, early=not self._behind_library)
            self._behind_library = by_library(launch)

    def __call__(self) -> tuple[Tensor, ...]:
        """Start every launch; return the outputs."""
        for launches in self.steps:
            self._start(launches)
        return self.found()

    def found(self) -> tuple[Tensor, ...]:
        """Return the outputs as they are."""
        return tuple(self.tensors[name] for name in self.outputs)

    def forget(self) -> None:
        """Overwrite all that was computed, so that nothing is right because it was."""
        for name in self._computed:
            tensor = self.tensors[name]
            tensor.fill_(math.nan if tensor.is_floating_point() else 0)

    def one_by_one(self) -> tuple[Tensor, ...]:
        """Start every launch once all before it have ended, so that a fault has a name."""
        import torch

        for number, launches in enumerate(self.steps):
            for launch in launches:
                try:
                    self._start([launch])
                    torch.cuda.synchronize()
                except Exception as error:
                    raise RuntimeError(f"step {number}, {launch.name}: {error}") from error
        return self.found()

    def microseconds(self, launches: Sequence[Any]) -> float:
        """Return what launches take one after the other, many times in a graph."""

        def repeat() -> None:
            for _ in range(TIMES):
                self._start(launches)

        return timed(captured(repeat), 5) / TIMES * 1e3

    def kernel_times(self) -> dict[str, float]:
        """Return what each kernel takes by itself, in microseconds."""
        unique = {launch.name: launch for launches in self.steps for launch in launches}
        return {name: self.microseconds([launch]) for name, launch in unique.items()}

    def tuned(self, plan: Plan, others: Others) -> list[dict[str, Any]]:
        """Take the fastest blocks of each group; return what every candidate took."""
        told, best = [], {}
        for key, rest in others.items():
            own = next((each for each in self.steps if names_of(each) == key), None)
            if own is None:
                continue
            least = chosen = self.microseconds(own)
            for price, settings, launches in rest:
                if any("stages" not in self._compiled[each.name] for each in launches):
                    continue
                took = self.microseconds(self._placed(launches))
                told.append({
                    "of": key, "kernels": names_of(launches), "settings": dict(settings),
                    "predicted_us": price * 1e6, "us": took, "chosen_us": chosen,
                })  # fmt: skip
                if took < least:
                    least, best[key] = took, settings
        for number, choice in enumerate(plan.choices):
            found = best.get(names_of(self.steps[number]))
            if found is not None:
                launches = emitted(plan, choice.group, found)[1]
                self.steps[number] = self._placed(launches)
        return told

    def _placed(self, launches: Sequence[Any]) -> list[Any]:
        """Return launches as they were compiled, with memory for what they hand to each other."""
        from burnish.codegen.gpu.running import scratch_of

        fits = [self._fitted(each) for each in launches]
        for launch in fits:
            for name, tensor in scratch_of(launch, "cuda").items():
                known = self.tensors.get(name)
                if known is None or known.numel() < tensor.numel():
                    self.tensors[name] = tensor
        return fits
