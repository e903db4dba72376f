"""A kernel as steps that a team of threads runs: once, or many times in one native call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnish.codegen.cpu.compile import Compiled
from burnish.codegen.cpu.driver import STEP_WORDS
from burnish.codegen.cpu.team import Bytes, Team, Words, address_of
from burnish.codegen.executable import CHUNKS_PER_THREAD
from burnish.codegen.tune.messages import Image

MOST_ROWS = 1024
"""Steps in one native call."""


class StepTable:
    """Rows for one kernel, all the same: a run is a row, with the barrier of a plan behind it."""

    def __init__(
        self,
        image: Image,
        compiled: Compiled,
        addresses: Sequence[int],
        threads: int,
        kept: Sequence[Bytes] = (),
    ) -> None:
        # code and memory whose addresses are in the table must live as long as it
        self._kept = (compiled, tuple(kept))
        self._addresses: Words = np.array([*addresses, 0], np.int64)
        chunk = max(image.tiles // (threads * CHUNKS_PER_THREAD), 1)
        row = (compiled.address(image.name), address_of(self._addresses), image.tiles, chunk)
        self._rows: Words = np.zeros((MOST_ROWS, STEP_WORDS), np.int64)
        self._rows[:] = row

    def run(self, team: Team, runs: int) -> None:
        """Run the kernel this often."""
        for start in range(0, runs, MOST_ROWS):
            team.run(address_of(self._rows), min(runs - start, MOST_ROWS))
