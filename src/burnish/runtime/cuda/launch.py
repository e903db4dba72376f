"""How a step starts its kernel on a card, in numbers that a plan writes down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.runtime.plan import KernelStep

_GRID = ("grid_x", "grid_y", "grid_z")
_MOST_PROGRAMS = (2**31 - 1, 65_535, 65_535)
"""What the driver takes along each dimension."""
_ZEROED, _SCRATCH = "zeroed", "scratch_"
_MOST_SCRATCH = 16
_MOST_BYTES = 2**46
"""No buffer is as large."""


@dataclass(frozen=True, slots=True)
class CudaLaunch:
    """How many programs of a kernel are started, and the memory that they share."""

    grid: tuple[int, int, int]
    scratch_bytes: tuple[int, ...] = ()
    """Of each short-lived buffer, whose pointers stand behind the tensors'."""
    zeroed: frozenset[int] = frozenset()
    """Which pointers, by position, are to memory that must be zero before."""

    @property
    def fields(self) -> dict[str, int]:
        """Return it as a plan writes it down."""
        scratch = {f"{_SCRATCH}{n}": size for n, size in enumerate(self.scratch_bytes)}
        bits = sum(1 << place for place in self.zeroed)
        return {**dict(zip(_GRID, self.grid, strict=True)), _ZEROED: bits, **scratch}


def launch_of(step: KernelStep) -> CudaLaunch:
    """Return how a step of a sound plan starts its kernel."""
    return launch_from(step.launch)


def launch_from(told: Mapping[str, int]) -> CudaLaunch:
    """Return a launch from the fields of a sound plan."""
    x, y, z = (told[name] for name in _GRID)
    count = sum(name.startswith(_SCRATCH) for name in told)
    bits = told[_ZEROED]
    return CudaLaunch(
        grid=(x, y, z),
        scratch_bytes=tuple(told[f"{_SCRATCH}{n}"] for n in range(count)),
        zeroed=frozenset(n for n in range(bits.bit_length()) if bits >> n & 1),
    )


def launch_findings(launch: Mapping[str, int]) -> Iterator[str]:
    """Yield what is wrong with the fields of a launch."""
    scratch = [name for name in launch if name.startswith(_SCRATCH)]
    known = [*_GRID, _ZEROED, *(f"{_SCRATCH}{n}" for n in range(min(len(scratch), _MOST_SCRATCH)))]
    if set(launch) != set(known):
        yield f"a card is told {', '.join(known)}, not {', '.join(launch) or 'nothing'}"
        return
    for name, most in zip(_GRID, _MOST_PROGRAMS, strict=True):
        if not 1 <= launch[name] <= most:
            yield f"{name} is {launch[name]}"
    for name in scratch:
        if not 0 <= launch[name] <= _MOST_BYTES:
            yield f"{name} is {launch[name]}"
    if launch[_ZEROED] < 0:
        yield f"{_ZEROED} is {launch[_ZEROED]}"
