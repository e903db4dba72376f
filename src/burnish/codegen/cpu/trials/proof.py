"""Seeing that a kernel is right: it writes everything once, nothing else, and the right values."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from burnish.codegen.cpu.compile import MachineCode
from burnish.codegen.cpu.trials.guarded import GuardedBlock
from burnish.codegen.cpu.trials.memory import GuardedMemory, as_array, copied, dense
from burnish.codegen.cpu.trials.steps import StepTable
from burnish.codegen.tune.check import Case, finding
from burnish.codegen.tune.messages import BuiltKernel, TensorMessage
from burnish.runtime.cpu.runner import CpuLaunch
from burnish.runtime.cpu.thread_pool import ThreadPool
from burnish.runtime.host_memory import Bytes, address_of

_SIGNATURE = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)
_FIRST, _SECOND = 0x5A, 0xC3
"""What outputs are filled with before two runs: an element that holds both was never written."""

Contents = Mapping[str, Bytes]


class GuardedRun:
    """One kernel on guarded memory."""

    def __init__(
        self,
        kernel: BuiltKernel,
        compiled: MachineCode,
        memory: GuardedMemory,
        outputs: Mapping[str, TensorMessage],
    ) -> None:
        self._kernel = kernel
        self._launch = CpuLaunch(**kernel.launch)
        self._compiled = compiled
        self._memory = memory
        self._outputs = outputs
        self._packed = {name: _block(array) for name, array in kernel.packed.items()}
        addresses = {name: address_of(block.bytes) for name, block in self._packed.items()}
        self._addresses = [
            addresses[name] if name in addresses else memory.address(name)
            for name in kernel.arguments
        ]

    def finding(self, case: Case, pool: ThreadPool) -> str:
        """Return what is wrong with the kernel; empty: nothing."""
        together = self._together(pool)
        alone, rest = self._apart()
        for name, tensor in self._outputs.items():
            size = _element_bytes(tensor)
            twice = _written(alone[name], size) & _written(rest[name], size)
            if twice.any():
                return f"{name}: {np.count_nonzero(twice):,} elements are computed by two tiles"
            merged = np.where(_written(alone[name], size)[:, None], *_rows(alone, rest, name, size))
            first = together[name].reshape(-1, size)
            left = (first == _FIRST).all(axis=1) & (merged == _SECOND).all(axis=1)
            if left.any():
                return f"{name}: {np.count_nonzero(left):,} elements are never written"
            if (first != merged).any():
                return f"{name}: holds something else when tiles run in another order"
        if findings := self._memory.findings() + self._packed_findings():
            return findings[0]
        values = {name: as_array(together[name], dense(t)) for name, t in self._outputs.items()}
        findings = [finding(name, values[name], case.outputs[name]) for name in values]
        return next(filter(None, findings), "")

    def _together(self, pool: ThreadPool) -> Contents:
        """Return the outputs of one run as a plan runs it, on all threads."""
        self._refill(_FIRST)
        table = StepTable(self._kernel, self._compiled, [self._addresses], pool.threads)
        table.run(pool, 1)
        return self._contents()

    def _apart(self) -> tuple[Contents, Contents]:
        """Return the outputs of one tile alone, and those of all the others."""
        tiles = self._launch.tiles
        middle = tiles // 2
        scratch = GuardedBlock(self._launch.scratch_bytes)
        scratch.bytes[:] = 0xFF
        self._refill(_SECOND)
        self._call(middle, min(middle + 1, tiles), scratch)
        alone = self._contents()
        self._refill(_SECOND)
        self._call(middle + 1, tiles, scratch)
        self._call(0, middle, scratch)
        return alone, self._contents()

    def _call(self, begin: int, end: int, scratch: GuardedBlock) -> None:
        function: Any = _SIGNATURE(self._compiled.address(self._kernel.name))
        pointers = np.array(self._addresses, np.int64)
        if begin < end:
            function(address_of(pointers), begin, end, address_of(scratch.bytes))

    def _refill(self, pattern: int) -> None:
        for name in self._outputs:
            self._memory.bytes(name)[:] = pattern

    def _contents(self) -> Contents:
        """Return the elements of all outputs, without the room that may be between them."""
        kept = {name: as_array(self._memory.bytes(name), t) for name, t in self._outputs.items()}
        return {name: copied(array) for name, array in kept.items()}

    def _packed_findings(self) -> list[str]:
        return [f"{n}: {found}" for n, block in self._packed.items() if (found := block.finding())]


def _rows(alone: Contents, rest: Contents, name: str, size: int) -> tuple[Bytes, Bytes]:
    return alone[name].reshape(-1, size), rest[name].reshape(-1, size)


def _written(content: Bytes, size: int) -> Any:  # noqa: ANN401  (an array of truth values)
    return (content.reshape(-1, size) != _SECOND).any(axis=1)


def _element_bytes(tensor: TensorMessage) -> int:
    from burnish.core.array_types import array_type

    return array_type(tensor.dtype).itemsize


def _block(array: Any) -> GuardedBlock:  # noqa: ANN401  (an array of any type)
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    block = GuardedBlock(content.nbytes)
    block.bytes[:] = content
    return block
