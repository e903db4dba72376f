"""Load a compiled model and run it: `burnish.load(FOLDER).run(feeds)`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.backends import backend_name
from burnish.core.closing import Closing
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.core.units import size
from burnish.feeds import dimension
from burnish.feeds.check import check_feeds
from burnish.hw import detect
from burnish.runtime import folder as folders
from burnish.runtime import ort
from burnish.runtime.executable import (
    Executable,
    HostExecutable,
    NoKernels,
    NoRoomError,
    OnCard,
    Program,
)
from burnish.runtime.folder import CompiledModel
from burnish.runtime.host_memory import Bytes
from burnish.runtime.kernel_table import KernelTable
from burnish.runtime.open_plan import at_size, fitting_size, sizes_text
from burnish.runtime.ort import OrtSession
from burnish.runtime.plan import OrtStep, Plan
from burnish.runtime.runner import LoadedCode, runner_for
from burnish.runtime.signing import require_signature
from burnish.runtime.soundness import Surroundings, findings

MOST_THREADS = 1024
"""Of a plan: each has memory of its own, and waits for all others between two kernels."""
OPEN_SIZES = 8
"""Of one plan that are ready at the same time: each has memory of its own."""
_SHOWN = 500
"""Characters of a finding: a name in a plan may be as long as the plan."""


def load(
    folder: Path | str,
    *,
    threads: int | None = None,
    signed_by: Path | str | None = None,
    device_memory_bytes: int | None = None,
) -> LoadedModel:
    """Return the compiled model in a folder, after checking its files, its plans and the device.

    A folder is code: load those you trust. `threads`: None takes all cores that this process may
    use. `signed_by`: the public key (PEM) of who must have signed it. `device_memory_bytes`: the
    most of a card's memory that a plan may take; None: as it was compiled for.
    """
    path = _place(folder, "a compiled folder")
    folders.require_plan(path)
    if signed_by is not None:
        require_signature(path, _place(signed_by, "a public key"))
    folders.check_files(path)
    return open_folder(path, threads=threads, device_memory_bytes=device_memory_bytes)


def open_folder(
    path: Path, *, threads: int | None = None, device_memory_bytes: int | None = None
) -> LoadedModel:
    """Return the compiled model in a folder whose files were just written or checked."""
    compiled, table = folders.read(path), folders.read_table(path)
    check_device(compiled, table, path)
    check_plans(compiled, table, path)
    return LoadedModel(compiled, table, path, _threads(threads), device_memory_bytes)


def _place(given: Path | str, what: str) -> Path:
    """Return a path; raise where what was given is none."""
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise UsageError(
        f"{what} is a path, not {given!r}", hint="load what burnish compile wrote: load('FOLDER')"
    )


def _threads(asked: int | None) -> int:
    """Return how many threads are to work: a pool of none would be waited for without end."""
    if asked is None:
        return detect.cpu().usable_cores
    if not isinstance(asked, SupportsIndex) or not 1 <= index(asked) <= MOST_THREADS:
        raise UsageError(
            f"threads are a whole number from 1 to {MOST_THREADS:,}, not {asked!r}",
            hint=f"leave it out for all {detect.cpu().usable_cores} cores of this process",
        )
    return index(asked)


def check_device(compiled: CompiledModel, table: KernelTable, folder: Path) -> None:
    """Raise if the kernels need something that the device here lacks."""
    missing = runner_for(table.target).lacks(table.requires) if table.target else ()
    if missing:
        backend = backend_name(table.target)
        beside = folder.with_name(f"{folder.name}_{backend}")  # where it runs it is wanted yet
        raise MissingCapabilityError(
            f"{folder}: its kernels are for {table.target} (compiled on {compiled.about.device}),"
            f" and here there is no {', '.join(missing)}",
            hint=f"compile it again here: {compiled.command(beside, target=backend)}",
        )


def check_plans(compiled: CompiledModel, table: KernelTable, folder: Path) -> None:
    """Raise if a plan contradicts itself, or the kernels that it calls."""
    around = Surroundings(
        inputs=compiled.about.inputs,
        outputs=compiled.about.outputs,
        table=table,
        constants_bytes=(folder / folders.CONSTANTS).stat().st_size,
        files=[path.name for path in folder.glob("*.onnx")],
    )
    for number, plan in enumerate(compiled.plans):
        for finding in findings(plan, around):
            raise folders.damaged(f"{folder}: plan {number} cannot be run: {finding[:_SHOWN]}")


class LoadedModel(Closing):
    """A compiled model; the plan is chosen by the shapes that it is fed."""

    def __init__(
        self,
        compiled: CompiledModel,
        table: KernelTable,
        folder: Path,
        threads: int,
        device_memory_bytes: int | None = None,
    ) -> None:
        self.compiled = compiled
        self._device_memory_bytes = device_memory_bytes
        self.threads = threads
        self._table = table
        self._folder = folder
        self._constants: Bytes = np.memmap(folder / folders.CONSTANTS, np.uint8, mode="r")
        self._lent: Mapping[str, int] = {}
        self._code: LoadedCode | None = None
        self._executables: dict[tuple[int, int], Executable] = {}
        self._opening = threading.Lock()

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Return what the model takes; names in shapes are sizes that differ between plans."""
        return self.compiled.about.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Return what the model gives."""
        return self.compiled.about.outputs

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are new arrays."""
        return self.executable(feeds).run(feeds)

    def run_on_card(self, feeds: Mapping[str, Any], *, stream: Any = None) -> dict[str, Any]:  # noqa: ANN401
        """Run once on tensors of any library on a card; nothing is copied, and outputs stay there.

        `stream`: the outputs are ready in it, and the inputs must stay as they are until it has
        come so far; None: the outputs are ready on return.
        """
        shapes = {name: tuple(map(int, feed.shape)) for name, feed in feeds.items()}
        executable = self._for_shapes(shapes)
        if not isinstance(executable, OnCard):
            raise UsageError(
                f"{self._folder}: was compiled for {executable.plan.target}, has parts that ONNX"
                " Runtime runs, or is larger than the card: it takes no tensors on a card",
                hint="feed it arrays of NumPy: run",
            )
        return executable.run_on_card(feeds, stream=stream)

    @property
    def constants(self) -> Bytes:
        """Return the constants of all plans, as one block."""
        return self._constants

    def borrow(self, addresses: Mapping[str, int]) -> None:
        """Use constants, by name, where they lie on the card: they must stay there, as they are.

        To be called before the first run; a plan that is larger than the card has its own.
        """
        self._lent = addresses

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, with outputs whose memory stays."""
        return self.executable(feeds).prepare(feeds)

    def executable(self, feeds: Arrays) -> Executable:
        """Return what runs inputs of these shapes."""
        check_feeds(feeds, self.inputs)
        return self._for_shapes({name: feed.shape for name, feed in feeds.items()})

    def open_plan(self, number: int, size: int = 0) -> Executable:
        """Return what runs the plan with this number; `size`: the one that it leaves open.

        Of a plan with an open size, what was made for some sizes is kept, the last ones.
        """
        with self._opening:
            return self._plan_opened(number, size)

    def _plan_opened(self, number: int, size: int) -> Executable:
        plan = self.compiled.plans[number]
        if plan.open is not None:
            plan = at_size(plan, size or plan.open.most)
            self._make_room(number, size)
        if (number, size) not in self._executables:
            sessions = {step.file: self._session(step, plan) for step in plan.ort_steps}
            limit = self._device_memory_bytes
            program = Program(
                plan, self._constants, sessions, self.threads, limit, dict(self._lent)
            )
            try:
                self._executables[number, size] = self._opened(program)
            except NoRoomError as error:
                raise self._no_room(error.needed_bytes) from error
        return self._executables[number, size]

    def close(self) -> None:
        """End all threads, and free what lies on a device.

        Raises, when all is freed, where a run in a stream that nobody looked at since was wrong.
        """
        with ExitStack() as every:
            if self._code is not None:
                every.callback(self._code.close)
            for executable in self._executables.values():
                every.callback(executable.close)

    def _for_shapes(self, given: Mapping[str, tuple[int, ...]]) -> Executable:
        for number, plan in enumerate(self.compiled.plans):
            size = fitting_size(plan, given)
            if size is not None:
                return self.open_plan(number, size)
        raise self._no_plan(given)

    def _make_room(self, number: int, size: int) -> None:
        """Close what runs the size that was not used for longest, where there are too many."""
        kept = [key for key in self._executables if key[0] == number]
        if (number, size) in kept:
            self._executables[number, size] = self._executables.pop((number, size))
        elif len(kept) >= OPEN_SIZES:
            self._executables.pop(kept[0]).close()

    def _opened(self, program: Program) -> Executable:
        if not program.plan.kernels:
            return HostExecutable(program, NoKernels())
        if self._code is None:
            self._code = runner_for(self._table.target).load(self._folder, self._table)
        return self._code.open(program)

    def _session(self, step: OrtStep, plan: Plan) -> OrtSession:
        path = self._folder / step.file
        session = ort.load(path, self.threads)
        for finding in ort.findings(session, step, plan.tensors):
            raise folders.damaged(f"{path}: is not the part that its plan runs: {finding}")
        return session

    def _no_room(self, needed_bytes: int) -> MissingCapabilityError:
        return MissingCapabilityError(
            f"{self._folder}: needs {size(needed_bytes)} of memory, and there is less",
            hint="compile it for smaller sizes: burnish compile --shape",
        )

    def _no_plan(self, given: Mapping[str, tuple[int, ...]]) -> UsageError:
        asked = ", ".join(
            f"{spec.name}: {list(given.get(spec.name, ()))}" for spec in self.inputs if spec.symbols
        )
        known = "; ".join(map(sizes_text, self.compiled.plans))
        sizes = self._sizes(given)
        nothing = [name for name, size in sizes.items() if not size]
        command = self.compiled.command(self._folder, sizes)
        return UsageError(
            f"{self._folder}: was compiled for {known}, and is fed {asked}",
            hint=f"feed {' and '.join(nothing)} of at least 1: nothing is compiled for none"
            if nothing
            else f"compile it for these, too: {command}",
        )

    def _sizes(self, given: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
        """Return the sizes that inputs have, by name."""
        return {
            dim: size
            for spec in self.inputs
            for dim, size in zip(spec.shape, given.get(spec.name, ()), strict=False)
            if isinstance(dim, str) and dimension.atoms(dim) == (dim,)
        }
