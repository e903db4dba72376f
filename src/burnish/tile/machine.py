"""What scheduling must know of a device besides its rates: vectors, transactions, scratch."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.core.tensors import BITS
from burnish.hw.spec import HardwareSpec, MemoryLevel
from burnish.tile.traffic import Transactions, transactions

_VECTOR_BYTES = (("avx512f", 64), ("avx2", 32))
"""By the flag that says a CPU has them, the longest first."""

_SHORTEST_VECTOR_BYTES = 16
"""Every 64-bit CPU has vectors of this length."""

_WARP_LANES = 32

SCRATCH_PER_CACHE = 1.5
"""A CPU's scratch may exceed a core's own cache by this much: recomputing the halo of smaller tiles
was measured to cost more than the misses (a 780 KB ring in a 512 KB cache won)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A device as the scheduler sees it."""

    hw: HardwareSpec
    vector_bytes: int
    """What one instruction works on; of a GPU, a warp."""
    scratch_bytes: int
    """The most scratch memory that one tile may take."""
    transactions: Transactions

    @property
    def units(self) -> int:
        """Return how many tiles run at once: threads of a CPU, multiprocessors of a GPU."""
        return self.hw.compute_units

    @property
    def levels(self) -> tuple[MemoryLevel, ...]:
        """Return the kinds of memory, the fastest first."""
        return self.hw.memory

    def lanes(self, dtype: str) -> int:
        """Return how many elements one vector holds."""
        if self.hw.kind == "gpu":
            return _WARP_LANES
        return max(self.vector_bytes * 8 // BITS[dtype], 1)

    def peak_flops_per_s(self, dtype: str) -> float:
        """Return the rate of all units for an element type; of f32 where it has none of its own."""
        rates = self.hw.peak_flops_per_s
        return rates.get(dtype, rates.get("f32", max(rates.values())))


def machine(hw: HardwareSpec, vector_bytes: int | None = None) -> Machine:
    """Return a device as the scheduler sees it.

    Without `vector_bytes`, those that the device's description names; a probed CPU names none, and
    counts as one with 32.
    """
    own = [level.capacity_bytes for level in hw.memory if level.per_unit]
    largest = max(own, default=hw.memory[0].capacity_bytes)
    return Machine(
        hw=hw,
        vector_bytes=vector_bytes or _vector_bytes(hw),
        scratch_bytes=largest if hw.kind == "gpu" else int(SCRATCH_PER_CACHE * largest),
        transactions=transactions(hw),
    )


def _vector_bytes(hw: HardwareSpec) -> int:
    if hw.kind == "gpu":
        return 4 * _WARP_LANES
    if not hw.recognised_by:
        return 32
    fits = (length for flag, length in _VECTOR_BYTES if flag in hw.recognised_by)
    return next(fits, _SHORTEST_VECTOR_BYTES)
