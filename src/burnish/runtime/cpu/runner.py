"""Running kernels on the CPU: how a step starts one, and the threads that compute its tiles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from burnish.core import records
from burnish.core.arrays import Array
from burnish.core.backends import device_name
from burnish.hw import detect
from burnish.runtime.cpu.driver import LoopDriver
from burnish.runtime.cpu.loaded_image import Image, ImageTable, LoadedImage
from burnish.runtime.cpu.loop_table import LoopTable
from burnish.runtime.cpu.thread_pool import ThreadPool
from burnish.runtime.executable import Executable, HostExecutable, NoRoomError, Program
from burnish.runtime.folder import IMAGE, TABLE, damaged
from burnish.runtime.kernel_table import KernelTable
from burnish.runtime.plan import KernelStep, Plan
from burnish.runtime.runner import Runner
from burnish.store.compiled import KERNELS

INSTRUCTION_SETS = ("avx512", "avx2", "portable", "neon")
"""What kernels are compiled for."""

_MOST = 2**40
"""No kernel has as many tiles or takes as much scratch memory."""


@dataclass(frozen=True, slots=True)
class CpuLaunch:
    """How a step starts its kernel."""

    tiles: int
    """Parts that any thread may compute: tiles, or runs of tiles."""
    scratch_bytes: int
    """Memory of its own that each thread needs."""

    @property
    def fields(self) -> dict[str, int]:
        """Return it as a plan writes it down."""
        return {"tiles": self.tiles, "scratch_bytes": self.scratch_bytes}


@dataclass(frozen=True, slots=True)
class CpuCode:
    """How the machine code of a folder is loaded."""

    image: ImageTable | None = None
    """How the linked kernels are used; None: their object code could not be linked."""


def launch_of(step: KernelStep) -> CpuLaunch:
    """Return how a step of a sound plan starts its kernel."""
    return CpuLaunch(**step.launch)


class CpuRunner:
    """Runs kernels on this CPU."""

    def lacks(self, requires: Collection[str]) -> tuple[str, ...]:
        """Return the flags that kernels require and this CPU does not have.

        If they are for another family of processors, that is all there is to say.
        """
        here = detect.family()
        others = tuple(each for each in requires if each in detect.FAMILIES and each != here)
        if others:
            return others
        present = frozenset((here, *detect.cpu().flags))
        return tuple(flag for flag in requires if flag not in present)

    def launch_findings(self, target: str, launch: Mapping[str, int]) -> Iterator[str]:
        """Yield what is wrong with a number of tiles, or an amount of scratch memory."""
        if device_name(target) not in INSTRUCTION_SETS:
            yield f"{device_name(target)!r} is no kind of CPU"
        if set(launch) != {"tiles", "scratch_bytes"}:
            yield f"a CPU is told tiles and scratch_bytes, not {', '.join(launch) or 'nothing'}"
        for name, value in launch.items():
            if not 0 <= value <= _MOST:
                yield f"{name} is {value}"

    def load(self, folder: Path, table: KernelTable) -> CpuLoaded:
        """Return the machine code in a folder."""
        code: CpuCode = records.decode(CpuCode, dict(table.code))
        if code.image is None:
            return CpuLoaded(*_from_objects(folder, table))
        path = folder / IMAGE
        try:
            image = LoadedImage(Image(path.read_bytes(), code.image))
            addresses = {name: image.address(name) for name in table.calls}
            driver = LoopDriver(image.address)
        except (ValueError, KeyError) as error:
            raise damaged(f"{path}: is not what {TABLE} tells ({error})") from error
        return CpuLoaded(addresses, driver, image)


def _from_objects(folder: Path, table: KernelTable) -> tuple[dict[str, int], LoopDriver, Any]:
    """Return code that could not be linked: LLVM's own linker, which is no part of this, loads it.

    It is named and not imported, as nothing here may need a compiler to run what was linked.
    """
    compiler: Any = import_module("burnish.codegen.cpu.backend")
    paths = {name: folder / KERNELS / f"{name}.o" for name in table.calls}
    addresses, driver, kept = compiler.load_objects(paths, device_name(table.target))
    return addresses, driver, kept


@dataclass(frozen=True, slots=True)
class CpuLoaded:
    """Machine code in memory."""

    addresses: Mapping[str, int]
    """Where each kernel is."""
    driver: LoopDriver
    kept: Any = None
    """What owns the code."""

    def open(self, program: Program) -> Executable:
        """Return a plan with threads that run it."""
        return HostExecutable(program, CpuKernels(program.plan, self, program.threads))

    def close(self) -> None:
        """Do nothing: the code goes when nobody has it any more."""


class CpuKernels:
    """The kernels of a plan, and a pool of threads for them."""

    def __init__(self, plan: Plan, code: CpuLoaded, threads: int) -> None:
        self._plan = plan
        self._code = code
        scratch = max((launch_of(step).scratch_bytes for step in plan.kernel_steps), default=0)
        try:
            self._pool = ThreadPool(code.driver, threads, scratch)
        except MemoryError as error:
            raise NoRoomError(plan.arena_bytes + threads * scratch) from error

    def call(self) -> CpuCall:
        """Return the table of steps that the loop walks."""
        return CpuCall(self._plan, self._code, self._pool)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()


class CpuCall:
    """The table of a plan's steps, and the pool that walks it."""

    def __init__(self, plan: Plan, code: CpuLoaded, pool: ThreadPool) -> None:
        self._pool = pool
        self._table = LoopTable(plan, code.addresses, code.driver.chains, pool.threads)

    def point(self, name: str, array: Array) -> None:
        """Write an array's address wherever it is used."""
        self._table.point(name, array)

    def run(self, first: int, count: int) -> None:
        """Run `count` kernels from a step on."""
        address, rows = self._table.span(first, count)
        if rows:
            self._pool.run(address, rows)


RUNNER: Runner = CpuRunner()
