"""`device.json`: the kernels of a compiled folder for a card, and one plan per choice of sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.cuda.cubin import NotACubinError, facts
from burnish.cuda.kernel import CubinKernel, capability_of
from burnish.cuda.plan import DevicePlan

SCHEMA = 1

TABLE = "device.json"
CONSTANTS = "device.bin"
KERNELS = "kernels"
"""The folder in a folder where cubins are."""


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A kernel, and where its machine code is."""

    file: str
    """In the folder."""
    key: str
    """The sha256 of its content."""
    kernel: CubinKernel
    pointer_bytes: tuple[int, ...]
    """How much memory there must be behind each pointer."""


@dataclass(frozen=True, slots=True)
class DeviceTable:
    """All that is run on a card."""

    architecture: str
    """The cards that all kernels run on."""
    kernels: Mapping[str, KernelFile]
    plans: tuple[DevicePlan, ...]
    constants_bytes: int
    """What must be brought to the card before the first run."""
    constants_key: str
    """The sha256 of that."""


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
            yield f"its {what}: {here}, and {TABLE} says {there}"
