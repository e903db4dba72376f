"""What runs the kernels of a compiled folder: one runner per back end, found by a plan's target.

Both halves of a back end are named in `burnish.core.backends` and imported when they are asked for,
so that running a folder needs neither a compiler nor the other back ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from burnish.core.backends import backend_of
from burnish.runtime.executable import Executable, Program
from burnish.runtime.kernel_table import KernelTable


class LoadedCode(Protocol):
    """The code of a folder, loaded once for all of its plans."""

    def open(self, program: Program) -> Executable:
        """Return a plan of the folder, ready to run; `NoRoomError` where memory is short."""

    def close(self) -> None:
        """Free what lies on a device; plans are closed before."""


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


def half(target: str, which: Literal["runner", "compiler"]) -> Any:  # noqa: ANN401  (either half)
    """Return one half of the back end that a target names."""
    module, _, attribute = getattr(backend_of(target), which).partition(":")
    return getattr(import_module(module), attribute)
