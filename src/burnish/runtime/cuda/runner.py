"""Running kernels on NVIDIA cards: cubins of a folder, on the first card of this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from burnish.core import records
from burnish.core.backends import device_name
from burnish.cuda.cubin import code_findings
from burnish.cuda.driver import Driver
from burnish.cuda.kernel import CubinKernel, runs_on
from burnish.cuda.library import product_findings
from burnish.cuda.loaded import LoadedKernels
from burnish.cuda.nvidia import NvidiaDriver
from burnish.runtime.cuda.card_memory import CardMemory
from burnish.runtime.cuda.executable import CudaKernels, opened
from burnish.runtime.cuda.launch import launch_findings, launch_from
from burnish.runtime.executable import Executable, HostExecutable, Program
from burnish.runtime.folder import TABLE, damaged
from burnish.runtime.kernel_table import KernelTable
from burnish.store.compiled import KERNELS


@dataclass(frozen=True, slots=True)
class CudaCode:
    """How the cubins of a folder are loaded."""

    kernels: Mapping[str, CubinKernel] = field(default_factory=dict)
    """What must be known of each to start it, by name; its file is that name's."""


def cubin_path(name: str) -> str:
    """Return where a kernel's machine code is in a folder; its text lies beside it."""
    return f"{KERNELS}/{name}.cubin"


class CudaRunner:
    """Runs kernels on a card."""

    def lacks(self, requires: Collection[str]) -> tuple[str, ...]:
        """Return the architectures that kernels are for and the card here is not."""
        capability = open_driver().device.capability
        return tuple(each for each in requires if not runs_on(each, capability))

    def launch_findings(self, target: str, launch: Mapping[str, int]) -> Iterator[str]:
        """Yield what is wrong with a grid, or with memory that a step wants for itself."""
        if not device_name(target).startswith("sm_"):
            yield f"{device_name(target)!r} is no kind of NVIDIA card"
        yield from launch_findings(launch)

    def load(self, folder: Path, table: KernelTable) -> CudaLoaded:
        """Return the cubins of a folder, on the card."""
        code: CudaCode = records.decode(CudaCode, dict(table.code))
        for finding in call_findings(code, table):
            raise damaged(f"{folder / TABLE}: {finding}")
        contents = {}
        for name in table.calls:
            path = folder / cubin_path(name)
            contents[name] = path.read_bytes()
            for finding in code_findings(code.kernels[name], contents[name]):
                raise damaged(f"{path}: is not the kernel that is told: {finding}")
        driver = open_driver()
        used = {name: code.kernels[name] for name in table.calls}
        return CudaLoaded(driver, LoadedKernels(driver, used, contents, where=str(folder)), folder)


def call_findings(code: CudaCode, table: KernelTable) -> Iterator[str]:
    """Yield where a kernel is called in another way than its cubin can be."""
    for name, calls in table.calls.items():
        if name not in code.kernels or PurePosixPath(name).name != name:
            yield f"tells nothing of the kernel {name!r}"
            continue
        pointers, library = code.kernels[name].pointers, code.kernels[name].library
        for call in calls:
            types = tuple(each.dtype for each in call.arguments)
            launch = launch_from(call.launch)
            if pointers[: len(types)] != types:
                yield f"{name!r} is called with {', '.join(types)}, and takes {', '.join(pointers)}"
            if len(types) + len(launch.scratch_bytes) != len(pointers):
                yield f"{name!r} takes {len(pointers)} pointers, and is given another number"
            if max(launch.zeroed, default=0) >= len(pointers):
                yield f"{name!r} wants memory to be zero that it is not given"
            for finding in product_findings(library, call.arguments) if library else ():
                yield f"{name!r}: {finding}"


@dataclass(slots=True)
class CudaLoaded:
    """Cubins on a card; constants follow when the first plan is opened."""

    driver: Driver
    kernels: LoadedKernels
    folder: Path
    card: CardMemory | None = None

    def open(self, program: Program) -> Executable:
        """Return a plan on the card; one with ONNX Runtime parts goes back and forth."""
        if self.card is None:
            where = str(self.folder)
            self.card = CardMemory(self.driver, self.kernels, program.constants, where)
        if program.plan.ort_steps:
            return HostExecutable(program, CudaKernels(program, self.card))
        return opened(program, self.card)

    def close(self) -> None:
        """Let the card forget the cubins, and free the constants."""
        if self.card is not None:
            self.card.close()
        self.kernels.close()


def open_driver() -> Driver:
    """Return the card that models are run on: the first one."""
    if not _OPEN:
        _OPEN.append(NvidiaDriver())
    return _OPEN[0]


_OPEN: list[Driver] = []

RUNNER = CudaRunner()
