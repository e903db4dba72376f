"""What runs the kernels of a compiled folder: one runner per back end, found by a plan's target.

A target is written `cpu: avx512` or `cuda: sm_90`: the back end, then what it compiled for. Both
halves of a back end are named in `BACKENDS` and imported when they are asked for, so that running
a folder needs neither a compiler nor the other back ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.runtime.executable import Executable, Program
from burnish.runtime.kernel_table import KernelTable


@dataclass(frozen=True, slots=True)
class Halves:
    """Where a back end's two halves are, as `module:name`."""

    runner: str
    """A `Runner`, which imports nothing that compiles."""
    compiler: str
    """A function of a device's name and threads that gives a `burnish.codegen.backend.Backend`."""


BACKENDS: Mapping[str, Halves] = {
    "cpu": Halves("burnish.runtime.cpu.runner:RUNNER", "burnish.codegen.cpu.backend:open_cpu"),
    "cuda": Halves("burnish.runtime.cuda.runner:RUNNER", "burnish.codegen.gpu.backend:open_gpu"),
}
"""One line per back end."""


class LoadedCode(Protocol):
    """The code of a folder, loaded once for all of its plans."""

    def open(self, program: Program) -> Executable:
        """Return a plan of the folder, ready to run; `NoRoomError` where memory is short."""


class Runner(Protocol):
    """What a back end answers when a compiled folder is run."""

    def lacks(self, requires: Collection[str]) -> tuple[str, ...]:
        """Return what kernels require and the device here does not have."""

    def launch_findings(self, target: str, launch: Mapping[str, int]) -> Iterator[str]:
        """Yield what is wrong with how a step starts its kernel, or with the target's name."""

    def load(self, folder: Path, table: KernelTable) -> LoadedCode:
        """Return the code in a folder, after checking that it is what the table tells."""


def runner_for(target: str) -> Runner:
    """Return what runs plans for a target."""
    return cast("Runner", half(target, "runner"))


def half(target: str, which: str) -> Any:  # noqa: ANN401  (a runner, or what opens a compiler)
    """Return one half of the back end that a target names."""
    name = backend_name(target)
    if name not in BACKENDS:
        raise UsageError(f"{name!r} is no back end of burnish", hint=suggestion(name, BACKENDS))
    module, _, attribute = getattr(BACKENDS[name], which).partition(":")
    return getattr(import_module(module), attribute)


def backend_name(target: str) -> str:
    """Return the back end that a target names."""
    return target.partition(":")[0].strip()


def device_name(target: str) -> str:
    """Return what the kernels of a target are compiled for; empty: whatever is here."""
    return target.partition(":")[2].strip()
