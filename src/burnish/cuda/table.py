"""The kernels that run together on a card, and one plan of them per choice of sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.cuda.cubin import NotACubinError, facts
from burnish.cuda.kernel import CubinKernel, capability_of
from burnish.cuda.plan import DevicePlan


@dataclass(frozen=True, slots=True)
class FittedKernel:
    """A kernel, and what it must be given."""

    key: str
    """The sha256 of its machine code."""
    kernel: CubinKernel
    pointer_bytes: tuple[int, ...]
    """How much memory there must be behind each pointer."""


@dataclass(frozen=True, slots=True)
class DeviceTable:
    """All that is run on a card."""

    architecture: str
    """The cards that all kernels run on."""
    kernels: Mapping[str, FittedKernel]
    plans: tuple[DevicePlan, ...]
    constants_bytes: int
    """What must be brought to the card before the first run."""


def code_findings(told: CubinKernel, code: bytes) -> Iterator[str]:
    """Yield where a cubin is another one than is told."""
    try:
        found = facts(code)
    except NotACubinError as error:
        yield str(error)
        return
    pointers = len(told.pointers) + told.trailing
    pairs = {
        "kernel": (found.entry, told.entry),
        "capability": (found.capability, capability_of(told.architecture)),
        "parameters": (found.parameter_bytes, (8,) * pointers),
        "threads": (found.threads or told.threads, told.threads),
    }
    for what, (here, there) in pairs.items():
        if here != there:
            yield f"its {what}: {here}, and its table says {there}"
