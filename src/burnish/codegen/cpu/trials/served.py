"""What the measuring process does when asked: one method per message.

Kernels run here and nowhere else while they are being tried: one that crashes or hangs takes this
process with it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from burnish.codegen.cpu.compile import MachineCode, load, object_code
from burnish.codegen.cpu.driver import driver
from burnish.codegen.cpu.target import InstructionSet, by_name
from burnish.codegen.cpu.trials.memory import (
    GuardedMemory,
    TimedMemory,
    as_array,
    copied,
    dense,
    fill,
)
from burnish.codegen.cpu.trials.proof import GuardedRun
from burnish.codegen.cpu.trials.steps import StepTable
from burnish.codegen.tune.check import finding
from burnish.codegen.tune.messages import (
    BuiltKernel,
    Compile,
    Forget,
    LoadPart,
    PlaceTensors,
    Prove,
    Time,
    Trials,
)
from burnish.core.backends import device_name
from burnish.process.scratch import scratch
from burnish.runtime.cpu.runner import CpuLaunch
from burnish.runtime.cpu.thread_pool import ThreadPool
from burnish.runtime.host_memory import Bytes, address_of
from burnish.runtime.ort import BoundPart
from burnish.runtime.ort import load as load_session
from burnish.runtime.plan import OrtStep, PlanTensor
from burnish.timing.stopwatch import WALL, timed

MOST_SESSIONS = 4
"""Each takes as long to load as the part has weights to pack."""

Run = Callable[[int], None]
"""Runs something this often."""


class CpuTrials(Trials):
    """Tensors of one group, and the kernels that have been loaded for it."""

    def __init__(self) -> None:
        # Python's garbage collector stays out of the timed runs
        gc.disable()
        self._place: PlaceTensors | None = None
        self._pool: ThreadPool | None = None
        self._scratch_bytes = 0
        self._loaded: dict[str, Run] = {}

    def compile(self, request: Compile) -> bytes:
        """Return the machine code of a kernel."""
        return object_code(request.source, _target(request.target))

    def place(self, request: PlaceTensors) -> None:
        """Lay out the tensors of a group."""
        self._loaded.clear()
        gc.collect()
        self._place = request
        self._guarded = GuardedMemory(request.inputs, request.outputs)
        fill(self._guarded, request.case.inputs, request.inputs)
        self._guarded.seal(request.inputs)
        self._timed = TimedMemory(request)
        self._plain: TimedMemory | None = None

    def prove(self, request: Prove) -> str:
        """Return what is wrong with a kernel; one that is right can be timed."""
        place, kernel = self._placed, request.kernel
        compiled = load(kernel.code, _target(place.target))
        pool = self._pool_for(kernel)
        found = GuardedRun(kernel, compiled, self._guarded, place.outputs).finding(place.case, pool)
        if found:
            return found
        self._loaded[request.key] = self._repeated(kernel, compiled)
        return ""

    def load_part(self, request: LoadPart) -> str:
        """Return what is wrong with a part of the model; one that is right can be timed."""
        place, memory = self._placed, self._for_parts()
        copies = min(memory.copies(request.outputs, len(request.model)), MOST_SESSIONS)
        with scratch("part") as folder:
            path = folder / "part.onnx"
            path.write_bytes(request.model)
            parts = [self._bound(request, path, copy) for copy in range(copies)]
        parts[0].run()
        for name, expected in place.case.outputs.items():
            content = as_array(memory.bytes(name), dense(place.outputs[name]))
            if found := finding(name, content, expected):
                return found
        turns = cycle(parts)

        def run(runs: int) -> None:
            for _ in range(runs):
                next(turns).run()

        self._loaded[request.key] = run
        return ""

    def time(self, request: Time) -> float:
        """Return the seconds of one run."""
        run = self._loaded[request.key]
        run(request.settling)
        # one thread's own time leaves out what else the machine was doing
        clock = time.process_time_ns if self._placed.threads == 1 else WALL
        return timed(lambda: run(request.runs), clock) / request.runs

    def forget(self, request: Forget) -> None:
        """Unload a kernel."""
        self._loaded.pop(request.key, None)

    def _repeated(self, kernel: BuiltKernel, compiled: MachineCode) -> Run:
        """Return runs of a kernel, each with the next copy of its constants and outputs."""
        size = sum(array.nbytes for array in kernel.packed.values())
        addresses: list[list[int]] = []
        kept: list[Bytes] = []
        for copy in range(self._timed.copies(kernel.arguments, size)):
            packed = {name: copied(array) for name, array in kernel.packed.items()}
            kept += packed.values()
            addresses.append(
                [
                    address_of(packed[name]) if name in packed else self._timed.address(name, copy)
                    for name in kernel.arguments
                ]
            )
        table = StepTable(kernel, compiled, addresses, self._placed.threads, kept)
        return lambda runs: table.run(self._pool_for(kernel), runs)

    def _bound(self, request: LoadPart, path: Path, copy: int) -> BoundPart:
        """Return a session of its own for a part, with weights of its own."""
        place = self._placed
        tensors = {
            name: PlanTensor(tensor.dtype, request.shapes.get(name, tensor.shape), "arena")
            for name, tensor in {**place.inputs, **place.outputs}.items()
        }
        step = OrtStep(path.name, request.inputs, request.outputs, ())
        part = BoundPart.of(load_session(path, place.threads), step, tensors)
        for name in part.names:
            part.bind(name, self._for_parts().address(name, copy))
        return part

    def _for_parts(self) -> TimedMemory:
        """Return memory as ONNX Runtime would have it in a plan: what it reads or writes is dense.

        It is that of the kernels, where theirs is.
        """
        place = self._placed
        given, made = ({n: dense(t) for n, t in k.items()} for k in (place.inputs, place.outputs))
        if (given, made) == (dict(place.inputs), dict(place.outputs)):
            return self._timed
        if self._plain is None:
            self._plain = TimedMemory(replace(place, inputs=given, outputs=made))
        return self._plain

    @property
    def _placed(self) -> PlaceTensors:
        assert self._place is not None, "tensors are placed first"
        return self._place

    def _pool_for(self, kernel: BuiltKernel) -> ThreadPool:
        """Return threads with enough scratch memory for a kernel."""
        place, scratch_bytes = self._placed, CpuLaunch(**kernel.launch).scratch_bytes
        enough = self._scratch_bytes >= scratch_bytes
        if self._pool is None or self._pool.threads != place.threads or not enough:
            if self._pool is not None:
                self._pool.close()
            self._scratch_bytes = max(self._scratch_bytes, scratch_bytes)
            loop = driver(_target(place.target))
            self._pool = ThreadPool(loop, place.threads, self._scratch_bytes)
        return self._pool


def _target(text: str) -> InstructionSet:
    return by_name(device_name(text))
