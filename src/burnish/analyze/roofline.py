"""Work against the limits of a device: what holds it back, and how far it is from the limit."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from burnish.analyze.work import Work
from burnish.hw.spec import HardwareSpec, MemoryLevel


class Bound(enum.Enum):
    """What decides how fast a piece of work can be at best."""

    COMPUTE = "compute"
    MEMORY = "memory"
    LAUNCH = "launch"


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """A piece of work, how long it took, and how long it must take."""

    work: Work
    seconds_s: float
    compute_s: float
    """For its arithmetic at the peak rate; 0 where the device tells no rate for its type."""
    memory_s: float
    """For its bytes, from the smallest memory that can hold them."""
    memory_level: str
    launch_s: float
    """For starting it, which no roofline removes."""

    @property
    def limit_s(self) -> float:
        """Return the shortest time that the device's rates allow."""
        return max(self.compute_s, self.memory_s)

    @property
    def bound(self) -> Bound:
        """Return what decides: starting it, where that takes longer than doing it."""
        if self.launch_s > self.limit_s:
            return Bound.LAUNCH
        return Bound.COMPUTE if self.compute_s >= self.memory_s else Bound.MEMORY

    def at(self, fraction: float) -> float:
        """Return its time at a fraction of the limit; never more than it took."""
        return min(self.seconds_s, self.limit_s / fraction)


def roof(work: Work, seconds_s: float, device: HardwareSpec) -> RooflinePoint:
    """Return where a piece of work stands on a device."""
    rate = device.peak_flops_per_s.get(work.dtype)
    level = level_of(work.bytes_moved, device)
    return RooflinePoint(
        work=work,
        seconds_s=seconds_s,
        compute_s=work.flops / rate if rate else 0.0,
        memory_s=work.bytes_moved / level.bandwidth_bytes_per_s,
        memory_level=level.name,
        launch_s=device.launch_overhead_s,
    )


def level_of(bytes_moved: float, device: HardwareSpec) -> MemoryLevel:
    """Return the smallest memory that can hold what is moved from one operator to the next.

    On a GPU, what a compute unit keeps for itself is gone when the next kernel starts.
    """
    for level in device.memory[:-1]:
        if level.per_unit and device.kind == "gpu":
            continue
        units = device.compute_units if level.per_unit else 1
        if bytes_moved <= level.capacity_bytes * units:
            return level
    return device.memory[-1]


def precision_factor(work: Work, dtype: str, device: HardwareSpec) -> float | None:
    """Return how many times faster work is at best in another type; None: no rate is known."""
    rates = device.peak_flops_per_s
    if dtype not in rates or work.dtype not in rates:
        return None
    return rates[dtype] / rates[work.dtype]
