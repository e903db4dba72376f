"""A kernel as steps that a pool of threads runs: once, or many times in one native call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnish.codegen.cpu.compile import MachineCode
from burnish.codegen.tune.messages import BuiltKernel
from burnish.runtime.cpu.driver import STEP_WORDS
from burnish.runtime.cpu.loop_table import step_row
from burnish.runtime.cpu.runner import CpuLaunch
from burnish.runtime.cpu.thread_pool import ThreadPool
from burnish.runtime.host_memory import Bytes, Words, address_of

MOST_ROWS = 1024
"""Steps in one native call."""


class StepTable:
    """Rows for one kernel: a run is a row, with the barrier of a plan behind it.

    `addresses` has the arguments' addresses for one or more copies of the tensors; rows take them
    in turn, and a run begins where the last one ended.
    """

    def __init__(
        self,
        kernel: BuiltKernel,
        compiled: MachineCode,
        addresses: Sequence[Sequence[int]],
        threads: int,
        kept: Sequence[Bytes] = (),
    ) -> None:
        # code and memory whose addresses are in the table must live as long as it
        self._kept = (compiled, tuple(kept))
        self._addresses: Words = np.array([[*each, 0] for each in addresses], np.int64)
        self._copies = len(addresses)
        self._next = 0
        tiles = CpuLaunch(**kernel.launch).tiles
        self._rows: Words = np.zeros((MOST_ROWS + self._copies, STEP_WORDS), np.int64)
        self._rows[:] = step_row(compiled.address(kernel.name), 0, tiles, threads)
        places = [address_of(each) for each in self._addresses]
        self._rows[:, 1] = [places[row % self._copies] for row in range(len(self._rows))]

    def run(self, pool: ThreadPool, runs: int) -> None:
        """Run the kernel this often."""
        for start in range(0, runs, MOST_ROWS):
            count = min(runs - start, MOST_ROWS)
            pool.run(address_of(self._rows[self._next]), count)
            self._next = (self._next + count) % self._copies
