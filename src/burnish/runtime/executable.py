"""A plan that can be run: kernels and ONNX Runtime parts on memory that is set out once.

`Executable` is what every back end gives. `HostExecutable` is it for back ends whose kernels work
on this process's memory; how they are started is theirs, behind `HostKernels`.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol, runtime_checkable

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.runtime.buffers import SLACK_BYTES
from burnish.runtime.checked import check, check_indices
from burnish.runtime.host_memory import PAGE_BYTES, Bytes, address_of, aligned_bytes
from burnish.runtime.ort import BoundPart, LoosePart, OrtSession
from burnish.runtime.output_memory import OutputBlocks, array_in, output_bytes
from burnish.runtime.plan import (
    KernelStep,
    OrtStep,
    Plan,
    PlanTensor,
    TensorLook,
    condition_of,
    findings,
    loops,
)


class Executable(Protocol):
    """A plan, ready to run; to be closed."""

    @property
    def plan(self) -> Plan:
        """Return what is run."""

    @property
    def threads(self) -> int:
        """Return how many threads of the host work together."""

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are new arrays."""

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, with outputs whose memory stays."""

    def step_times(self, feeds: Arrays, *, warmup: int, runs: int) -> list[list[StepTime]]:
        """Return when each step of each of `runs` runs began, and how long it took."""

    def close(self) -> None:
        """Give back threads and memory."""


@runtime_checkable
class OnCard(Protocol):
    """An executable whose inputs and outputs may lie on a card."""

    def run_on_card(self, feeds: Mapping[str, Any], *, stream: Any = None) -> dict[str, Any]:  # noqa: ANN401
        """Run once on tensors of any library, in a stream of any library; see `LoadedModel`."""

    def times_s(
        self, feeds: Arrays, *, warmup: int, runs: int, repeats: int = 1
    ) -> tuple[float, ...]:
        """Return how long each of `runs` runs took on the card's own clock."""


@runtime_checkable
class Streamed(Protocol):
    """An executable whose tensors do not all fit where its kernels run."""

    @property
    def moved_bytes(self) -> int:
        """Return what is moved there and back in each run."""


@dataclass(frozen=True, slots=True)
class Program:
    """A plan and what it needs besides its kernels."""

    plan: Plan
    constants: Bytes
    """The folder's constants, mapped into memory."""
    sessions: Mapping[str, OrtSession]
    """The ONNX Runtime parts, by the file that they are from."""
    threads: int
    device_memory_bytes: int | None = None
    """The most of a card's memory that it may take, whatever its plan says; None: as that says."""
    lent: Mapping[str, int] = field(default_factory=dict)
    """Where on a card constants lie already, which who lends them keeps there."""


class NoRoomError(Exception):
    """There is not enough memory to set a plan out."""

    def __init__(self, needed_bytes: int) -> None:
        super().__init__(f"{needed_bytes} bytes of memory are needed")
        self.needed_bytes = needed_bytes


class HostCall(Protocol):
    """The kernels of a plan, pointed to the tensors of one call."""

    def point(self, name: str, array: Array) -> None:
        """Say where a tensor lies; it stays there until it is said anew."""

    def run(self, first: int, count: int) -> None:
        """Run `count` steps of the plan from `first` on, all of which are kernels."""


class HostKernels(Protocol):
    """The kernels of a plan that work on this process's memory."""

    def call(self) -> HostCall:
        """Return the kernels, to be pointed to tensors; calls run one after the other."""

    def close(self) -> None:
        """End their threads."""


class NoKernels:
    """The kernels of a plan that has none."""

    def call(self) -> NoKernels:
        """Return itself: there is nothing to point anywhere."""
        return self

    def point(self, name: str, array: Array) -> None:
        """Do nothing."""

    def run(self, first: int, count: int) -> None:
        """Raise: no step is a kernel."""
        raise ValueError(f"steps {first} to {first + count} are no kernels")

    def close(self) -> None:
        """Do nothing."""


class HostExecutable(Closing):
    """Runs a program on this process's memory; calls from several threads run in turn."""

    def __init__(self, program: Program, kernels: HostKernels) -> None:
        for finding in findings(program.plan):
            raise ValueError(finding)
        self._program = program
        self._kernels = kernels
        try:
            self._arena = aligned_bytes(program.plan.arena_bytes)
        except MemoryError as error:
            raise NoRoomError(program.plan.arena_bytes) from error
        self._lock = threading.Lock()
        self._call = self._new_call()
        self._outputs = OutputBlocks(program.plan)

    @property
    def plan(self) -> Plan:
        """Return what is run."""
        return self._program.plan

    @property
    def threads(self) -> int:
        """Return how many threads work together."""
        return self._program.threads

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are arrays that nobody else holds."""
        with self._lock:
            self._call.take(feeds)
            outputs = self._call.give(self._outputs.arrays())
            self._call.run()
            found = {**outputs, **self._call.loose_outputs()}
            self._call.forget()
        return {name: found[name] for name in self.plan.outputs}

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, with outputs whose memory stays."""
        call = self._prepared(feeds)

        def run() -> None:
            with self._lock:
                call.run()

        return run

    def step_times(self, feeds: Arrays, *, warmup: int, runs: int) -> list[list[StepTime]]:
        """Return when each step of each of `runs` runs began, and how long it took."""
        call = self._prepared(feeds)
        with self._lock:
            recorded = [list(call.step_by_step()) for _ in range(warmup + runs)]
        return recorded[warmup:]

    def close(self) -> None:
        """End the threads, when what they run is done; a later run starts new ones."""
        with self._lock:
            self._kernels.close()
            self._outputs = OutputBlocks(self.plan)

    def _prepared(self, feeds: Arrays) -> _Call:
        call = self._new_call()
        call.take(feeds)
        call.give(new_outputs(self.plan))
        return call

    def _new_call(self) -> _Call:
        return _Call(self._program, self._arena, self._kernels.call())


@dataclass(frozen=True, slots=True)
class StepTime:
    """One step of a run, on the clock of `time.perf_counter`."""

    start_s: float
    duration_s: float


def new_outputs(plan: Plan) -> dict[str, Array]:
    """Return memory for the outputs of fixed size."""
    return {
        name: array_in(output_bytes(tensor.bytes or 0), 0, tensor)
        for name in plan.outputs
        if (tensor := plan.tensors[name]).home == "output"
    }


def readable_beyond(array: Array) -> Array:
    """Return the array, or a copy where a vector load at its end could leave mapped memory.

    Memory is mapped in pages: a load that ends on the page of the last element is safe.
    """
    dense = np.ascontiguousarray(array).reshape(array.shape)
    last = address_of(dense) + max(dense.nbytes, 1) - 1
    if last // PAGE_BYTES == (last + SLACK_BYTES) // PAGE_BYTES:
        return dense
    moved = aligned_bytes(dense.nbytes + SLACK_BYTES)[: dense.nbytes].view(dense.dtype)
    moved[:] = dense.reshape(-1)
    return moved.reshape(dense.shape)


class _Call:
    """The tensors of one way to call a program; everything that kernels point to is kept."""

    def __init__(self, program: Program, arena: Bytes, kernels: HostCall) -> None:
        self._plan = program.plan
        self._kernels = kernels
        self._arrays: dict[str, Array] = {}
        self._values: dict[str, Any] = {}
        self._kept = program
        self._stages = tuple(_looking(self._plan))
        self._always = self._plan.fed_looks(s for s in self._plan.steps if not condition_of(s))
        self._indices = self._plan.indices
        self._parts = [
            _part(program.sessions[step.file], step, self._plan.tensors)
            if isinstance(step, OrtStep)
            else None
            for step in self._plan.steps
        ]
        self._bound = [part for part in self._parts if isinstance(part, BoundPart)]
        memory = {"arena": arena, "constant": program.constants}
        for name, tensor in self._plan.tensors.items():
            if tensor.home in memory:
                self._arrays[name] = array_in(memory[tensor.home], tensor.offset, tensor)
                self._point(name)

    def take(self, feeds: Arrays) -> None:
        """Point to the inputs; indices and lengths among them must be some."""
        for name, size in self._indices.items():
            check_indices(name, feeds[name], size)
        for look in self._always:
            check(look, feeds[look.tensor], is_computed=False)
        for name in self._plan.inputs:
            if self._plan.tensors[name].home == "value":
                self._values[name] = feeds[name]
            else:
                self._arrays[name] = readable_beyond(feeds[name])
                self._point(name)

    def give(self, outputs: dict[str, Array]) -> dict[str, Array]:
        """Point to memory for the outputs, and return it."""
        for name, array in outputs.items():
            self._arrays[name] = array
            self._point(name)
        return outputs

    def loose_outputs(self) -> dict[str, Any]:
        """Return the outputs that have no fixed place, as copies of their own."""
        loose = [name for name in self._plan.outputs if self._plan.tensors[name].home != "output"]
        return {name: copy.copy(ChainMap(self._values, self._arrays)[name]) for name in loose}

    def forget(self) -> None:
        """Let go of the caller's inputs and outputs; they are pointed to anew before a run."""
        self._values.clear()
        for name in (*self._plan.inputs, *self._plan.outputs):
            if self._plan.tensors[name].home in ("input", "output"):
                self._arrays.pop(name, None)

    def run(self) -> None:
        """Run all steps, and look at what they compute before its memory is another's."""
        for (first, count), looks in self._stages:
            if self._stage(first, count):
                for look in looks:
                    check(look, self._seen(look.tensor), is_computed=True)

    def step_by_step(self) -> Iterator[StepTime]:
        """Run the steps one by one, and tell how long each took."""
        for number in range(len(self._plan.steps)):
            start = time.perf_counter()
            self._stage(number, 1)
            yield StepTime(start, time.perf_counter() - start)

    def _stage(self, first: int, count: int) -> bool:
        """Run some steps; say whether they are to run at all."""
        if (when := condition_of(self._plan.steps[first])) is not None:
            if bool(self._arrays[when.tensor].item()) != when.holds:
                return False
            chosen = self._plan.steps[first : first + count]
            for name, size in self._plan.indices_of(chosen).items():
                check_indices(name, self._arrays[name], size)
            for look in self._plan.fed_looks(chosen):
                check(look, self._arrays[look.tensor], is_computed=False)
        match self._parts[first]:
            case None:
                self._kernels.run(first, count)
            case BoundPart() as part:
                part.run()
            case LoosePart() as part:
                self._run_loose(part)
        return True

    def _seen(self, name: str) -> Array:
        """Return a tensor with its dimensions in ONNX's order."""
        order = self._plan.tensors[name].layout
        found = self._arrays[name]
        return found if order is None else found.transpose(np.argsort(order))

    def _run_loose(self, part: LoosePart) -> None:
        for name, value in part.run({**self._arrays, **self._values}).items():
            if self._plan.tensors[name].home == "value":
                self._values[name] = value
                continue
            if value.shape != self._arrays[name].shape:
                raise part.unexpected(name, value.shape, self._arrays[name].shape)
            self._arrays[name][...] = value

    def _point(self, name: str) -> None:
        """Tell kernels and parts where an array is."""
        self._kernels.point(name, self._arrays[name])
        for part in self._bound:
            if name in part.names:
                part.bind(name, address_of(self._arrays[name]))


def _looking(plan: Plan) -> Iterator[tuple[tuple[int, int], tuple[TensorLook, ...]]]:
    """Yield each stretch of steps, and what is looked at behind it."""
    for first, count in _stages(plan):
        yield (first, count), plan.computed_looks(plan.steps[first : first + count])


def _stages(plan: Plan) -> Iterator[tuple[int, int]]:
    """Yield where each stretch of kernels begins and how long it is; parts are alone.

    All steps of a stretch run under the same condition, and nothing before the last of them, or
    before its loop, is computed that is to be looked at: others need the memory later.
    """
    kinds, looks = [], 0
    for numbers in loops(plan.steps):
        for number in numbers:
            step = plan.steps[number]
            kinds.append((isinstance(step, KernelStep), condition_of(step), looks))
        looks += bool(plan.computed_looks(plan.steps[numbers.start : numbers.stop]))
    for (is_kernel, *_), group in groupby(range(len(kinds)), key=kinds.__getitem__):
        alike = list(group)
        count = len(alike) if is_kernel else 1
        yield from ((number, count) for number in alike[::count])


def _part(
    session: OrtSession, step: OrtStep, tensors: Mapping[str, PlanTensor]
) -> BoundPart | LoosePart:
    border: Sequence[str] = (*step.inputs, *step.outputs)
    if any(tensors[name].home == "value" for name in border):
        return LoosePart(session, step)
    return BoundPart.of(session, step, tensors)
