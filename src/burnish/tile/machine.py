"""What scheduling must know of a device besides its rates: vectors, transactions, scratch."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.core.tensors import BITS
from burnish.hw.spec import HardwareSpec, MemoryLevel
from burnish.hw.unit import UNITS, UnitSpec
from burnish.tile.traffic import Transactions, transactions

_WARP_LANES = 32


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
    def unit(self) -> UnitSpec:
        """Return how one compute unit runs code."""
        return self.hw.unit or UNITS[self.hw.kind]

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

    Without `vector_bytes`, those that the device's description names.
    """
    own = [level.capacity_bytes for level in hw.memory if level.per_unit]
    largest = max(own, default=hw.memory[0].capacity_bytes)
    unit = hw.unit or UNITS[hw.kind]
    return Machine(
        hw=hw,
        vector_bytes=vector_bytes or unit.vector_bytes,
        scratch_bytes=int(unit.scratch_share * largest),
        transactions=transactions(hw),
    )
