"""The back ends there are, by name: where the halves of each are, and what it can be asked for.

A target is written `cpu: avx512` or `cuda: sm_90`: the back end, then what it compiles for. This is
the only list of them. It names modules and imports none, so that options can be explained, and
folders run, without what compiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """Where a back end's two halves are, as `module:name`, and how people ask for it."""

    runner: str
    """A `burnish.runtime.runner.Runner`, which imports nothing that compiles."""
    compiler: str
    """A function of a device's name and threads that gives a `burnish.codegen.backend.Backend`."""
    devices: tuple[str, ...] = ()
    """Kinds of device whose name alone is a target: `sm_90` means `cuda: sm_90`."""
    engine: str = "burnish"
    """What runs its folders beside other engines."""
    repeats: bool = False
    """Whether its runner repeats steps, and leaves out those whose condition is not true."""


BACKENDS: Mapping[str, BackendEntry] = {
    "cpu": BackendEntry(
        "burnish.runtime.cpu.runner:RUNNER", "burnish.codegen.cpu.backend:open_cpu",
        devices=("neon",), repeats=True,
    ),
    "cuda": BackendEntry(
        "burnish.runtime.cuda.runner:RUNNER", "burnish.codegen.gpu.backend:open_gpu",
        devices=("sm_80", "sm_90", "sm_100"), engine="burnish-cuda",
    ),
}  # fmt: skip
"""One entry per back end."""

DEFAULT_TARGET = "cpu"
"""What models are compiled for if nobody says."""


def targets() -> tuple[str, ...]:
    """Return the names that a target can be asked for by."""
    return (*BACKENDS, *(device for entry in BACKENDS.values() for device in entry.devices))


def target_named(text: str) -> str:
    """Return a target as plans write it: `sm_90` is `cuda: sm_90`; its back end must be there."""
    written = text.strip()
    owner = next((name for name, entry in BACKENDS.items() if written in entry.devices), None)
    if owner is not None:
        return f"{owner}: {written}"
    backend_of(written)
    return written


def backend_of(target: str) -> BackendEntry:
    """Return the back end that a target names."""
    name = backend_name(target)
    if name not in BACKENDS:
        raise UsageError(f"{name!r} is no back end of burnish", hint=suggestion(name, targets()))
    return BACKENDS[name]


def backend_name(target: str) -> str:
    """Return the name of the back end in a target."""
    return target.partition(":")[0].strip()


def device_name(target: str) -> str:
    """Return what the kernels of a target are compiled for; empty: whatever is here."""
    return target.partition(":")[2].strip()
