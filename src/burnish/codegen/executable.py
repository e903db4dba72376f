"""A plan that can be run: kernels and library parts on memory that is set out once."""

from __future__ import annotations

import copy
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import TracebackType
from typing import Any, Self

import numpy as np

from burnish.codegen.buffers import SLACK_BYTES
from burnish.codegen.cpu.driver import STEP_WORDS, Driver
from burnish.codegen.cpu.target import Target
from burnish.codegen.cpu.team import PAGE_BYTES, Bytes, Team, Words, address_of, aligned_bytes
from burnish.codegen.parts import BoundPart, LoosePart, OrtSession
from burnish.codegen.plan import KernelStep, LibraryStep, Plan, PlanTensor, findings
from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import UsageError

CHUNKS_PER_THREAD = 8
"""Tiles are taken in as many pieces: enough to even threads out, few enough to cost nothing."""


@dataclass(frozen=True, slots=True)
class Program:
    """A plan and what it refers to."""

    plan: Plan
    target: Target
    addresses: Mapping[str, int]
    """Where each kernel's machine code is."""
    constants: Bytes
    sessions: Mapping[str, OrtSession]
    """The library's parts, by the file that they are from."""
    loop: Driver | None = None
    """What runs the kernels, if it came with them; None: it is compiled here."""
    kept: tuple[Any, ...] = ()
    """What must live as long as the program: the owner of the machine code, temporary files."""


class Executable:
    """Runs a program on `threads` threads; calls from several threads run one after the other."""

    def __init__(self, program: Program, threads: int) -> None:
        for finding in findings(program.plan):
            raise ValueError(finding)
        self._program = program
        self._arena = aligned_bytes(program.plan.arena_bytes)
        self._team = Team(program.target, threads, program.plan.scratch_bytes, program.loop)
        self._lock = threading.Lock()
        self._call = _Call(program, self._arena, self._team)

    @property
    def plan(self) -> Plan:
        """Return what is run."""
        return self._program.plan

    @property
    def threads(self) -> int:
        """Return how many threads work together."""
        return self._team.threads

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are new arrays."""
        with self._lock:
            self._call.take(feeds)
            outputs = self._call.give(new_outputs(self.plan))
            self._call.run()
            found = {**outputs, **self._call.loose_outputs()}
            self._call.forget()
        return {name: found[name] for name in self.plan.outputs}

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, with outputs whose memory stays."""
        call = _Call(self._program, self._arena, self._team)
        call.take(feeds)
        call.give(new_outputs(self.plan))
        lock = self._lock

        def run() -> None:
            with lock:
                call.run()

        return run

    def step_times(self, feeds: Arrays, *, warmup: int, runs: int) -> list[list[StepTime]]:
        """Return when each step of each of `runs` runs began, and how long it took."""
        call = _Call(self._program, self._arena, self._team)
        call.take(feeds)
        call.give(new_outputs(self.plan))
        with self._lock:
            recorded = [list(call.step_by_step()) for _ in range(warmup + runs)]
        return recorded[warmup:]

    def close(self) -> None:
        """End the threads."""
        self._team.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class StepTime:
    """One step of a run, on the clock of `time.perf_counter`."""

    start_s: float
    duration_s: float


def new_outputs(plan: Plan) -> dict[str, Array]:
    """Return memory for the outputs of fixed size; later steps may read it as kernels read."""
    return {
        name: _array(aligned_bytes((plan.tensors[name].bytes or 0) + SLACK_BYTES), 0, tensor)
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
    """The tables that one way to call a program needs; everything that they point to is kept."""

    def __init__(self, program: Program, arena: Bytes, team: Team) -> None:
        self._plan = program.plan
        self._team = team
        self._arrays: dict[str, Array] = {}
        self._values: dict[str, Any] = {}
        self._kept = program
        self._tables(program, team.threads)
        self._parts = [
            _part(program.sessions[step.file], step, self._plan.tensors)
            if isinstance(step, LibraryStep)
            else None
            for step in self._plan.steps
        ]
        memory = {"arena": arena, "constant": program.constants}
        for name, tensor in self._plan.tensors.items():
            if tensor.home in memory:
                self._arrays[name] = _array(memory[tensor.home], tensor.offset, tensor)
                self._point(name)

    def take(self, feeds: Arrays) -> None:
        """Point to the inputs; indices among them must be some."""
        for name, size in self._plan.indices.items():
            _check_indices(name, feeds[name], size)
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
        values = {**self._arrays, **self._values}
        return {name: copy.copy(values[name]) for name in loose}

    def forget(self) -> None:
        """Let go of the caller's inputs and outputs; they are pointed to anew before a run."""
        self._values.clear()
        for name in (*self._plan.inputs, *self._plan.outputs):
            if self._plan.tensors[name].home in ("input", "output"):
                self._arrays.pop(name, None)

    def run(self) -> None:
        """Run all steps."""
        for first, count in self._stages:
            self._stage(first, count)

    def step_by_step(self) -> Iterator[StepTime]:
        """Run the steps one by one, and tell how long each took."""
        for number in range(len(self._plan.steps)):
            start = time.perf_counter()
            self._stage(number, 1)
            yield StepTime(start, time.perf_counter() - start)

    def _stage(self, first: int, count: int) -> None:
        match self._parts[first]:
            case None:
                row = self._rows[first]
                self._team.run(address_of(self._steps) + 8 * STEP_WORDS * row, count)
            case BoundPart() as part:
                part.run()
            case LoosePart() as part:
                self._run_loose(part)

    def _run_loose(self, part: LoosePart) -> None:
        for name, value in part.run({**self._arrays, **self._values}).items():
            if self._plan.tensors[name].home == "value":
                self._values[name] = value
                continue
            if value.shape != self._arrays[name].shape:
                raise part.unexpected(name, value.shape, self._arrays[name].shape)
            self._arrays[name][...] = value

    def _tables(self, program: Program, threads: int) -> None:
        """Set out the table of steps, and that of their arguments' addresses."""
        kernels = [(n, s) for n, s in enumerate(self._plan.steps) if isinstance(s, KernelStep)]
        total = sum(len(step.arguments) for _, step in kernels)
        self._addresses: Words = np.zeros(max(total, 1), np.int64)
        self._steps: Words = np.zeros((max(len(kernels), 1), STEP_WORDS), np.int64)
        self._rows = {number: row for row, (number, _) in enumerate(kernels)}
        self._places: dict[str, list[int]] = defaultdict(list)
        begin = 0
        for row, (_, step) in enumerate(kernels):
            for position, name in enumerate(step.arguments):
                self._places[name].append(begin + position)
            table = address_of(self._addresses) + 8 * begin
            chunk = max(step.tiles // (threads * CHUNKS_PER_THREAD), 1)
            self._steps[row] = (program.addresses[step.kernel], table, step.tiles, chunk)
            begin += len(step.arguments)
        self._stages = tuple(_stages(self._plan))

    def _point(self, name: str) -> None:
        """Write an array's address wherever it is used."""
        address = address_of(self._arrays[name])
        for place in self._places.get(name, ()):
            self._addresses[place] = address
        for part in self._parts:
            if isinstance(part, BoundPart) and name in part.names:
                part.bind(name, address)


def _check_indices(name: str, array: Array, size: int) -> None:
    """Raise if an input holds an index that is none; a kernel would read another element."""
    if array.dtype.kind not in "iu" or not array.size:
        return
    low, high = int(array.min()), int(array.max())
    if low < -size or high >= size:
        raise UsageError(
            f"input {name!r} holds {low if low < -size else high}, and what it points into has"
            f" {size:,} entries",
            hint=f"feed whole numbers from {-size} to {size - 1}",
        )


def _stages(plan: Plan) -> Iterator[tuple[int, int]]:
    """Yield where each stretch of kernels begins and how long it is; library steps are alone."""
    numbered = enumerate(plan.steps)
    for is_kernel, group in groupby(numbered, key=lambda pair: isinstance(pair[1], KernelStep)):
        numbers = [number for number, _ in group]
        if is_kernel:
            yield numbers[0], len(numbers)
        else:
            yield from ((number, 1) for number in numbers)


def _part(
    session: OrtSession, step: LibraryStep, tensors: Mapping[str, PlanTensor]
) -> BoundPart | LoosePart:
    border: Sequence[str] = (*step.inputs, *step.outputs)
    if any(tensors[name].home == "value" for name in border):
        return LoosePart(session, step)
    return BoundPart.of(session, step, tensors)


def _array(memory: Bytes, offset: int, tensor: PlanTensor) -> Array:
    """Return the tensor that lies at an offset of some memory."""
    size = tensor.bytes
    assert size is not None
    flat = memory[offset : offset + size].view(array_type(tensor.dtype))
    shape = tensor.shape or ()
    if tensor.layout is None:
        return flat.reshape(shape)
    return flat.reshape([shape[axis] for axis in tensor.layout])
