"""A plan on a card, as whoever runs compiled models sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.cuda.executable import DeviceExecutable, Result
from burnish.cuda.feeding import Feed
from burnish.cuda.streamed import StreamedExecutable
from burnish.runtime.checked import check
from burnish.runtime.cuda.card_memory import CardMemory
from burnish.runtime.cuda.stretch import stretch
from burnish.runtime.executable import Program, StepTime
from burnish.runtime.plan import Plan


class _OnePlan:
    """A plan of kernels only, however it is run."""

    def __init__(self, program: Program, device: DeviceExecutable | StreamedExecutable) -> None:
        self._program = program
        self._runs = device

    @property
    def plan(self) -> Plan:
        """Return what is run."""
        return self._program.plan

    @property
    def threads(self) -> int:
        """Return how many threads of the host work: the one that calls."""
        return 1

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are new arrays of the host."""
        self._check(feeds)
        return self._runs.to_host(feeds)

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, which are on the card then."""
        self._check(feeds)
        return self._runs.prepare(feeds)

    def step_times(self, feeds: Arrays, *, warmup: int, runs: int) -> list[list[StepTime]]:
        """Return when each step of each of `runs` runs began, and how long it took."""
        self._check(feeds)
        found = []
        begin = time.perf_counter()
        for run in self._runs.step_times(feeds, warmup=warmup, runs=runs):
            steps = run[: len(self.plan.steps)]
            found.append([StepTime(begin + each.start_s, each.duration_s) for each in steps])
            begin += sum(each.duration_s for each in run)
        return found

    def close(self) -> None:
        """Free the card's memory."""
        self._runs.close()

    def _check(self, feeds: Arrays) -> None:
        for look in self.plan.fed_looks(self.plan.steps):
            check(look, np.asarray(feeds[look.tensor]), is_computed=False)


class CudaExecutable(_OnePlan):
    """A plan that fits: one graph on the card."""

    def __init__(self, program: Program, device: DeviceExecutable) -> None:
        super().__init__(program, device)
        self._device = device

    def run_on_card(self, feeds: Mapping[str, Feed], *, stream: Any = None) -> dict[str, Result]:  # noqa: ANN401
        """Run once on whatever has `__dlpack__`; see `DeviceExecutable.run`."""
        return self._device.run(feeds, stream=stream, on_card=True)

    def times_s(
        self, feeds: Arrays, *, warmup: int, runs: int, repeats: int = 1
    ) -> tuple[float, ...]:
        """Return how long each run took on the card's own clock; see `DeviceExecutable.times_s`."""
        self._check(feeds)
        return self._device.times_s(feeds, warmup=warmup, runs=runs, repeats=repeats)


class CudaStreamed(_OnePlan):
    """A plan that does not fit: tensors come and go while kernels run."""

    def __init__(self, program: Program, device: StreamedExecutable) -> None:
        super().__init__(program, device)
        self._device = device

    @property
    def moved_bytes(self) -> int:
        """Return what goes over the link in each run."""
        return self._device.residency.moved_bytes


class CudaKernels:
    """The kernels of a plan that has ONNX Runtime parts between them: tensors go there and back."""

    def __init__(self, program: Program, card: CardMemory) -> None:
        self._program = program
        self._card = card
        self._stretches: dict[tuple[int, int], DeviceExecutable | StreamedExecutable] = {}

    def call(self) -> CudaCall:
        """Return the kernels, to be pointed to tensors of the host."""
        return CudaCall(self)

    def stretch(self, first: int, count: int) -> DeviceExecutable | StreamedExecutable:
        """Return some steps as the card runs them."""
        if (first, count) not in self._stretches:
            plan = stretch(self._program.plan, first, count, self._card.kernels.kernels)
            self._stretches[first, count] = self._card.opened(plan, limit_of(self._program))
        return self._stretches[first, count]

    def close(self) -> None:
        """Free the card's memory."""
        for each in self._stretches.values():
            each.close()


class CudaCall:
    """Where the tensors of one call are on the host."""

    def __init__(self, kernels: CudaKernels) -> None:
        self._kernels = kernels
        self._arrays: dict[str, Array] = {}

    def point(self, name: str, array: Array) -> None:
        """Say where a tensor lies."""
        self._arrays[name] = array

    def run(self, first: int, count: int) -> None:
        """Run `count` kernels from a step on, and bring back what they wrote."""
        part = self._kernels.stretch(first, count)
        feeds = {name: self._shaped(name, part) for name in part.plan.inputs}
        for name, array in part.to_host(feeds).items():
            self._arrays[name][...] = array.reshape(self._arrays[name].shape)

    def _shaped(self, name: str, part: DeviceExecutable | StreamedExecutable) -> Array:
        """Return a tensor as it lies in memory, in the shape that the card's plan has for it."""
        return self._arrays[name].reshape(part.plan.buffers[name].shape)


def opened(program: Program, card: CardMemory) -> CudaExecutable | CudaStreamed:
    """Return a plan of kernels only, ready to run; streamed where it does not fit."""
    plan = stretch(program.plan, 0, len(program.plan.steps), card.kernels.kernels)
    match card.opened(plan, limit_of(program), program.lent):
        case DeviceExecutable() as device:
            return CudaExecutable(program, device)
        case StreamedExecutable() as streamed:
            return CudaStreamed(program, streamed)


def limit_of(program: Program) -> int | None:
    """Return the most of the card's memory that a program may take; None: nobody said."""
    return program.device_memory_bytes or program.plan.device_memory_bytes
